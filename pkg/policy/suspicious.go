package policy

import (
	"strings"
	"unicode/utf8"
)

// Limits of what a path may be; longer ones no system opens.
const (
	maxPath = 4096
	maxName = 255
)

// unusable says why no file can be reached by a path; "" when one can.
func unusable(p string) string {
	switch {
	case strings.IndexByte(p, 0) >= 0:
		return "the path holds a NUL byte"
	case len(p) > maxPath:
		return "the path is too long"
	case p[0] != '/' && !isDrive(slashed(p)) && !strings.HasPrefix(p, `\\`):
		return "the path is not absolute"
	}
	for rest := slashed(p); rest != ""; {
		name, tail, _ := strings.Cut(rest, "/")
		if len(name) > maxName && (!foldsCase || utf8.RuneCountInString(name) > maxName) { // Linux counts bytes
			return "a name in the path is too long"
		}
		rest = tail
	}
	return ""
}

// suspiciousName says why a path inside the root may not be what it looks like: it
// was written for a program that decodes it once more. The verdict is the
// strictness that this deserves: what would be an escape if it were decoded
// must not be written.
func suspiciousName(rel string, write bool) (why string, v Verdict) {
	first := true
	for rest := rel; rest != ""; first = false {
		name, tail, more := strings.Cut(rest, "/")
		if why, hard := suspiciousPart(name, first, more); why != "" {
			if write && hard {
				return why, Deny
			}
			return why, Ask
		}
		rest = tail
	}
	return "", Allow
}

// suspiciousPart looks at one name. hard tells that, decoded, it leaves the root.
func suspiciousPart(name string, first, more bool) (why string, hard bool) {
	plain := true
	for i := 0; i < len(name) && plain; i++ {
		c := name[i]
		plain = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' && i > 0
	}
	switch {
	case plain:
		return "", false
	case strings.Contains(name, `\`):
		return "a backslash may separate directories", true
	case first && name[0] == '~' && (more || name == "~") && isUserName(name[1:]):
		return "a tilde may mean a home directory", true
	case first && more && isScheme(name):
		return "the name may be a URL", true
	case first && more && isVariable(name):
		return "the name may be a variable", false
	case more && len(name) > 2 && strings.Trim(name, ".") == "":
		return "a name of dots may mean a parent directory", false
	case looksLikeParent(name):
		return "the name may mean the parent directory", false
	case hasEscape(name):
		return "an escaped separator or dot may be decoded", false
	case strings.ContainsFunc(name, hidden) || strings.ContainsFunc(name, slashAlike) || !utf8.ValidString(name):
		return "the name holds characters that do not look like what they are", false
	}
	return "", false
}

func isUserName(s string) bool {
	return strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789_-.+") == ""
}

func isScheme(s string) bool {
	s, ok := strings.CutSuffix(s, ":")
	return ok && s != "" && isUserName(s)
}

func isVariable(s string) bool {
	s, ok := strings.CutPrefix(s, "$")
	s = strings.Trim(s, "{}")
	return ok && s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == "" || strings.HasPrefix(s, "%") && strings.HasSuffix(s, "%") && len(s) > 2
}

// looksLikeParent: ".." with blanks or invisible characters around it.
func looksLikeParent(name string) bool {
	if name[0] != '.' && name[0] != ' ' && name[0] < 0x80 {
		return false
	}
	bare := strings.Map(func(r rune) rune {
		if r == ' ' || r >= 0x80 && ignorable(r) {
			return -1
		}
		return r
	}, name)
	return bare != name && (bare == ".." || bare == ".")
}

func hasEscape(name string) bool {
	for i := strings.IndexByte(name, '%'); i >= 0 && i+2 < len(name); {
		switch strings.ToLower(name[i+1 : i+3]) {
		case "2e", "2f", "5c", "00", "25", "c0":
			return true
		}
		next := strings.IndexByte(name[i+1:], '%')
		if next < 0 {
			return false
		}
		i += 1 + next
	}
	return false
}

// slashAlike reports the characters that look like a slash or backslash.
func slashAlike(r rune) bool {
	switch r {
	case '\u2044', '\u2215', '\u2216', '\u29f5', '\u29f8', '\u29f9', '\ufe68', '\uff0f', '\uff3c', '\u2024', '\u2025', '\uff0e':
		return true
	}
	return false
}
