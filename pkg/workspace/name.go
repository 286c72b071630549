package workspace

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxName = 255 // bytes (Linux) or characters of one component

// badName says why no system could take name as a path; "" when one can.
func badName(name string) string {
	switch {
	case name == "":
		return "it is empty"
	case strings.IndexByte(name, 0) >= 0:
		return "it holds a NUL byte"
	case len(name) > maxPath:
		return "it is longer than " + strconv.Itoa(maxPath) + " bytes"
	}
	return badVolume(name)
}

// badComponent says why c cannot name a file in a directory. The system says
// it too, but only where the directory exists.
func badComponent(c string) string {
	if len(c) > maxName && (nameInBytes || utf8.RuneCountInString(c) > maxName) {
		return "one name in it is longer than " + strconv.Itoa(maxName) + " bytes"
	}
	return badFileName(c)
}

// foreignName says why name is surely meant as something else than the path
// it literally is; "" when it is not. The reason says what to write instead.
func foreignName(name string) string {
	first, _, _ := strings.Cut(name, "/")
	if len(name) >= 5 && strings.EqualFold(name[:5], "file:") {
		return "it is a file URL: write the plain path"
	}
	if !backslashSeparates && strings.HasPrefix(name, `\\`) {
		return "it is a network name of another system"
	}
	if !backslashSeparates && (strings.HasPrefix(name, `..\`) || strings.Contains(name, `\..\`)) {
		return "directories are separated by slashes here"
	}
	if len(first) > 1 && first[0] == '~' && isIdentifier(first[1:]) {
		return "other users' home directories are not known: write the path out, or ./" + first + " for a file of that name"
	}
	if v, ok := strings.CutPrefix(first, "$"); ok {
		v = strings.TrimSuffix(strings.TrimPrefix(v, "{"), "}")
		if isIdentifier(v) && v == strings.ToUpper(v) {
			return "variables are not expanded: write the path out, or ./" + first + " for a file of that name"
		}
	}
	return ""
}

func isIdentifier(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

// oddName says why a person who reads name may take it for another path; ""
// when it is plain. Bytes that are not UTF-8 are plain: old names have them.
func oddName(name string) string {
	if isPlain(name) {
		return ""
	}
	for _, r := range name {
		switch {
		case r == utf8.RuneError:
		case unicode.IsControl(r):
			return "its name holds control characters"
		case unicode.Is(unicode.Cf, r):
			return "its name holds invisible characters"
		case strings.ContainsRune("\u2024\u2025\u2044\u2215\u2216\u29f5\u29f8\u29f9\ufe52\ufe68\uff0e\uff0f\uff3c", r):
			return "its name holds characters that look like a dot or a slash"
		}
	}
	low := strings.ToLower(name)
	for _, code := range []string{"%2e", "%2f", "%5c", "%00"} {
		if strings.Contains(low, code) {
			return "its name is percent-encoded, which paths are not"
		}
	}
	for dirs := name; dirs != ""; {
		c, rest, more := strings.Cut(dirs, "/")
		blank := strings.ContainsAny(c, " \t")
		if strings.HasPrefix(c, "..") && c != ".." && strings.Trim(c, ". \t") == "" && (more || blank) {
			return "its name holds a directory that looks like \"..\""
		}
		dirs = rest
	}
	return ""
}

// isPlain reports quickly that a name holds nothing that oddName looks for.
func isPlain(name string) bool {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c >= 0x7f || c == '%' || c == '.' && i+1 < len(name) && name[i+1] == '.' {
			return false
		}
	}
	return true
}

// quote shows a name in a message, shortened where nobody would read it.
func quote(name string) string {
	const most = 200
	if len(name) > most {
		return strconv.Quote(name[:most]) + "…"
	}
	return strconv.Quote(name)
}
