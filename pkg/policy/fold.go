package policy

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// foldPath returns a path as the most forgiving of the common file systems
// compares it: case-folded, composed (NFC), without the characters that HFS+
// ignores, without the blanks and dots that Windows drops from the end of a
// name, and without alternate data streams. A plain path is returned as it is.
func foldPath(p string) string {
	if plainFold(p) {
		return p
	}
	parts := strings.Split(p, "/")
	for i, name := range parts {
		parts[i] = foldName(name)
	}
	return strings.Join(parts, "/")
}

// plainFold reports whether folding changes nothing.
func plainFold(p string) bool {
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c >= 0x80, c >= 'A' && c <= 'Z', c == ':':
			return false
		case (c == '.' || c == ' ') && (i+1 == len(p) || p[i+1] == '/'):
			return false
		}
	}
	return true
}

func foldName(name string) string {
	if strings.Trim(name, ".") == "" {
		return name
	}
	if i := strings.IndexByte(name, ':'); i > 1 { // not a drive letter
		name = name[:i]
	}
	name = strings.Map(foldRune, norm.NFC.String(name))
	if cut := strings.TrimRight(name, ". "); cut != "" {
		name = cut
	}
	return norm.NFC.String(name)
}

// foldRune maps a character to the smallest of those it equals but for case,
// in lower case where that is ASCII; -1 drops it.
func foldRune(r rune) rune {
	if r < 0x80 {
		return unicode.ToLower(r)
	}
	if ignorable(r) {
		return -1
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if least < 0x80 {
		return unicode.ToLower(least)
	}
	return unicode.ToLower(r)
}

// ignorable reports the characters that HFS+ ignores in names (Apple TN1150)
// and those that a reader cannot see.
func ignorable(r rune) bool {
	switch {
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	case r == 0xfeff, r == 0x00ad, r == 0x180e, r == 0x034f, r == 0x061c, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0:
		return true
	case r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe007f, r >= 0xfe00 && r <= 0xfe0f:
		return true
	}
	return false
}

// visible escapes what a reader would not see, or what a terminal would act on.
func visible(s string) string {
	if !strings.ContainsFunc(s, hidden) && validText(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == unicode.ReplacementChar && s[i] != 0xef:
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[i])|0x100, 16)[1:])
		case hidden(r):
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func hidden(r rune) bool {
	return isControl(r) || r >= 0x80 && (ignorable(r) || !unicode.IsPrint(r)) || r == unicode.ReplacementChar
}

func validText(s string) bool { return !strings.ContainsRune(s, unicode.ReplacementChar) }

// isShort reports whether name has the form of a Windows 8.3 name, such as
// GIT~1, and returns what comes before the tilde.
func isShort(name string) (stem string, ok bool) {
	stem, tail, ok := strings.Cut(name, "~")
	if !ok || stem == "" || len(stem) > 6 || tail == "" || tail[0] < '0' || tail[0] > '9' {
		return "", false
	}
	return stem, true
}

// shortStem returns the part before the tilde of the 8.3 name that Windows
// gives to name: its first six characters but for dots and blanks.
func shortStem(name string) string {
	name = strings.TrimLeft(name, ". ")
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	name = strings.NewReplacer(".", "", " ", "").Replace(name)
	return name[:min(6, len(name))]
}
