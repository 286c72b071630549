package edit

import (
	"encoding/json"
	"slices"
	"strings"
)

// marker is the line without outer blanks, in lower case, when it begins with "***".
func marker(l string) string {
	if l = strings.TrimSpace(l); !strings.HasPrefix(l, "***") {
		return ""
	}
	return lower(l)
}

// blankLine reports whether a line of a patch holds nothing; with CRLF it ends in a carriage return.
func blankLine(l string) bool { return blank(strings.TrimSuffix(l, "\r")) }

func isBegin(l string) bool { return strings.TrimRight(marker(l), " *") == "*** begin patch" }
func isEnd(l string) bool   { return strings.TrimRight(marker(l), " *") == "*** end patch" }

// fileHeader splits "*** Update File: path" into its verb and its path.
func fileHeader(l string) (verb, name string, ok bool) {
	s := strings.TrimSpace(l)
	rest, ok := strings.CutPrefix(s, "***")
	if !ok {
		return "", "", false
	}
	verb, name, ok = strings.Cut(strings.TrimLeft(rest, " "), ":")
	verb = lower(strings.TrimSpace(verb))
	if !ok || !strings.HasSuffix(verb, " file") && verb != "move to" && verb != "rename to" && verb != "environment id" {
		return "", "", false
	}
	return strings.TrimSuffix(verb, " file"), unquotePath(strings.TrimSpace(name)), true
}

// unquotePath takes quotes off that enclose a path.
func unquotePath(s string) string {
	for _, q := range [...]string{`"`, "'", "`"} {
		if len(s) > 2 && strings.HasPrefix(s, q) && strings.HasSuffix(s, q) {
			return s[1 : len(s)-1]
		}
	}
	return s
}

// unwrap finds the patch in a text and cuts it into lines.
func (p *Patch) unwrap(text string) ([]string, *Refusal) {
	text = strings.TrimPrefix(text, bom)
	if s, ok := fromJSON(text); ok {
		p.warn("the patch was inside JSON")
		text = s
	}
	lines := splitPatch(text)
	from, unified := startOfPatch(lines)
	if from < 0 && strings.Contains(text, `\n`) {
		if s, ok := unescapeJSON(strings.TrimSpace(text)); ok {
			p.warn("the patch was escaped")
			lines = splitPatch(s)
			from, unified = startOfPatch(lines)
		}
	}
	if from < 0 {
		return nil, otherKind(lines)
	}
	p.unified = unified
	for _, l := range lines[:from] {
		if !blankLine(l) && !isWrapping(l) {
			p.warn("text before the patch was ignored")
		}
	}
	word := heredocWord(lines[:from])
	lines = lines[from:]
	if unified {
		return cutWrapping(lines, word), nil
	}
	return p.envelope(lines, word), nil
}

// splitPatch cuts into lines; CRLF counts as LF where every line has it.
func splitPatch(text string) []string {
	text = strings.TrimRight(text, "\n") + "\n"
	if n := strings.Count(text, "\n"); strings.Count(text, "\r\n") >= n-1 {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for len(lines) > 1 && strings.Trim(lines[len(lines)-1], "\r") == "" {
		lines = lines[:len(lines)-1]
	}
	for i, l := range lines {
		if marker(l) != "" || strings.HasPrefix(l, "@@") || strings.HasPrefix(l, "diff --git ") {
			lines[i] = strings.TrimSuffix(l, "\r")
		}
	}
	return lines
}

// startOfPatch is the line where the patch begins, -1 when there is none.
func startOfPatch(lines []string) (at int, unified bool) {
	for i, l := range lines {
		if isBegin(l) {
			return i, false
		}
	}
	for i, l := range lines {
		if verb, _, ok := fileHeader(l); ok && isVerb(verb) {
			return i, false
		}
		if isContextHeader(lines[i:]) || strings.HasPrefix(l, "diff --git ") || strings.HasPrefix(l, "--- ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+++ ") {
			return i, true
		}
	}
	return -1, false
}

// fromJSON takes the patch out of a JSON string, an object such as
// {"input": …}, or a list such as ["apply_patch", …].
func fromJSON(text string) (string, bool) {
	t := strings.TrimSpace(text)
	if t == "" || !strings.ContainsRune(`{["`, rune(t[0])) {
		return "", false
	}
	var v any
	if json.Unmarshal([]byte(t), &v) != nil {
		return "", false
	}
	return patchString(v)
}

func patchString(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		if at, _ := startOfPatch(splitPatch(v)); at >= 0 {
			return v, true
		}
		return fromJSON(v)
	case []any:
		for _, x := range v {
			if s, ok := patchString(x); ok {
				return s, true
			}
		}
	case map[string]any:
		for _, k := range [...]string{"input", "patch", "patch_text", "patchText", "diff", "content", "command", "arguments"} {
			if s, ok := patchString(v[k]); ok {
				return s, true
			}
		}
	}
	return "", false
}

// heredocWord is the word that ends the heredoc in which the patch stands.
func heredocWord(before []string) string {
	for _, b := range slices.Backward(before) {
		_, word, ok := strings.Cut(b, "<<")
		if word = strings.Trim(strings.TrimPrefix(word, "-"), " \t'\"\\"); ok && word != "" && !strings.ContainsAny(word, " \t<") {
			return word
		}
	}
	return ""
}

// isWrapping reports whether a line is only there to enclose the patch.
func isWrapping(l string) bool {
	s := strings.TrimSpace(l)
	return strings.HasPrefix(s, "```") || strings.HasPrefix(s, "~~~") || strings.Contains(s, "<<")
}

// cutWrapping drops what closes a heredoc or a fence.
func cutWrapping(lines []string, word string) []string {
	for i, line := range slices.Backward(lines) {
		s := strings.TrimSpace(line)
		switch {
		case word != "" && s == word, s == "```", s == "~~~":
			return cutWrapping(lines[:i], "")
		case s != "":
			return lines
		}
	}
	return lines
}

// envelope is what lies between the markers, freed of indentation that the
// markers have too.
func (p *Patch) envelope(lines []string, word string) []string {
	pad := ""
	if isBegin(lines[0]) {
		pad = lead(lines[0])
		lines = lines[1:]
	} else {
		p.warn("*** Begin Patch was missing")
	}
	end := -1
	for i, l := range lines {
		if isEnd(l) && !strings.HasPrefix(l, "+") && !strings.HasPrefix(l, "-") {
			end = i
			break
		}
	}
	if end >= 0 {
		for _, l := range lines[end+1:] {
			if !blankLine(l) && !isWrapping(l) && strings.TrimSpace(l) != word && strings.TrimSpace(l) != "EOF" {
				p.warn("text after the patch was ignored")
			}
		}
		lines = lines[:end]
	} else {
		p.warn("*** End Patch was missing")
		lines = cutWrapping(lines, word)
	}
	if pad != "" {
		for _, l := range lines {
			if !blankLine(l) && !strings.HasPrefix(l, pad) {
				return lines
			}
		}
		for i, l := range lines {
			lines[i] = strings.TrimPrefix(l, pad)
		}
	}
	return lines
}
