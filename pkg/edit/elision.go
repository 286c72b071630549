package edit

import "strings"

// isElision reports whether a line stands for lines that the call leaves out:
// "...", "// ... existing code ...", "# rest of the file …" and the like.
func isElision(line string) bool {
	s := strings.TrimSpace(line)
	if !strings.Contains(s, "...") && !strings.Contains(s, "\u2026") || len(s) > 100 {
		return false
	}
	if strings.HasPrefix(s, "...") && len(s) > 3 && isWord(s[3]) {
		return false // a spread or a variadic, not an elision
	}
	s = cutAny(s, "//", "#", "--", ";", "/*", "<!--", "{/*")
	s = cutEnd(s, "-->", "*/}", "*/")
	s = cutEnd(cutAny(s, "[", "("), "]", ")")
	s = cutEnd(cutAny(s, "...", "\u2026"), "...", "\u2026")
	return s == "" || elisionWords(s)
}

// cutAny drops the first prefix that fits and the blanks behind it.
func cutAny(s string, prefixes ...string) string {
	for _, p := range prefixes {
		if r, ok := strings.CutPrefix(s, p); ok {
			return strings.TrimLeft(r, " \t")
		}
	}
	return s
}

func cutEnd(s string, suffixes ...string) string {
	for _, p := range suffixes {
		if r, ok := strings.CutSuffix(s, p); ok {
			return strings.TrimRight(r, " \t")
		}
	}
	return s
}

// elisionWords reports whether s is what people write between the dots.
func elisionWords(s string) bool {
	if len(s) > 60 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isWord(c) && !strings.ContainsRune(" ,'-", rune(c)) {
			return false
		}
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(strings.ToLower(s), "the "), " ")
	switch strings.TrimRight(first, ",") {
	case "rest", "remaining", "remainder", "existing", "unchanged", "previous", "other", "same", "keep", "omitted":
		return true
	}
	return false
}

// elidesCode reports whether a line of the new text says that code is left out.
func elidesCode(line string) bool {
	if !isElision(line) {
		return false
	}
	for _, w := range [...]string{"existing", "rest", "unchanged", "remaining", "omitted"} {
		if strings.Contains(line, w) {
			return true
		}
	}
	return false
}
