package shellparse

import (
	"regexp"
	"strings"
)

// ApplyPatchPowerShell is [ApplyPatch] for a command line that PowerShell reads, whose
// texts of several lines are here-strings:
//
//	apply_patch @'
//	*** Begin Patch
//	…
//	'@
//
// or the here-string first, then | apply_patch; both also after cd DIR &&. One between
// @" and "@ is recognised where it holds nothing that PowerShell would expand, so neither
// $ nor a backtick.
func ApplyPatchPowerShell(command string) (dir, patch string, ok bool) {
	if len(command) > maxPatchCommand || !strings.Contains(command, "apply") {
		return "", "", false
	}
	rest := strings.TrimSpace(strings.ReplaceAll(command, "\r\n", "\n"))
	if m := psChange().FindStringSubmatch(rest); m != nil {
		dir, rest = m[1]+m[2]+m[3], rest[len(m[0]):]
		if dir == "" || dir[0] == '-' {
			return "", "", false
		}
	}
	name, text, first := strings.Cut(rest, "@")
	if name = strings.TrimSpace(name); !first || name != "" && !isApplyPatch(name) {
		return "", "", false
	}
	patch, after, ok := hereString(text)
	if after = strings.Trim(after, " \t"); name == "" {
		var piped bool
		if after, piped = strings.CutPrefix(after, "|"); !piped || !isApplyPatch(strings.TrimSpace(after)) {
			return "", "", false
		}
		after = ""
	}
	if !ok || after != "" {
		return "", "", false
	}
	return dir, patch, true
}

// psChange finds a change of the directory before a command: a plain word, or one in quotes
// in which nothing is expanded.
func psChange() *regexp.Regexp {
	return regexp.MustCompile("^cd[ \\t]+(?:'([^'\u2018-\u201b\\n]+)'|\"([^\"\u201c-\u201e$`\\n]+)\"|([A-Za-z0-9_./\\\\:-]+))[ \\t]*&&\\s*")
}

// hereString reads a here-string behind its @. It begins on the next line, and ends before
// the first line that begins with its quote and @; PowerShell takes typographic quotes for it.
func hereString(text string) (body, after string, ok bool) {
	quotes, expands := "'\u2018\u2019\u201a\u201b", ""
	if strings.HasPrefix(text, `"`) {
		quotes, expands = "\"\u201c\u201d\u201e", "$`"
	}
	opening, lines, found := strings.Cut(text, "\n")
	if !found || strings.TrimRight(opening, " \t") != quotes[:1] {
		return "", "", false
	}
	var b strings.Builder
	for line := range strings.Lines(lines) {
		end := strings.TrimLeft(line, quotes)
		if len(end) < len(line) && strings.HasPrefix(end, "@") {
			if !strings.HasPrefix(line, quotes[:1]+"@") {
				return "", "", false // it ends there for PowerShell, which is not what was meant
			}
			_, after, _ = strings.Cut(lines[b.Len():], "@")
			return b.String(), after, true
		}
		if strings.ContainsAny(line, expands) {
			return "", "", false
		}
		b.WriteString(line)
	}
	return "", "", false
}
