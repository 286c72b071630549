package edit

import (
	"cmp"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

const devNull = "/dev/null"

// unifiedFile collects the headers of one file of a unified diff.
type unifiedFile struct {
	git                bool
	gitOld, gitNew     string // from "diff --git"
	old, new           string // from --- and +++
	from, to           string // from rename and copy
	copied             bool
	added, deleted     bool
	binary, bytes      bool   // the change is binary; the diff holds it
	special            string // aLink or aSubmodule
	becomes            bool   // it is that after the change only
	mode               fs.FileMode
	hunks              []Hunk
	hasNames, hasHunks bool
	ended              bool // its headers have ended
}

// parseUnified reads a unified diff.
func (p *Patch) parseUnified(lines []string) *Refusal {
	var f *unifiedFile
	finish := func() *Refusal {
		if f == nil {
			return nil
		}
		return p.finish(f)
	}
	for i := 0; i < len(lines); {
		l := lines[i]
		next := ""
		if i+1 < len(lines) {
			next = lines[i+1]
		}
		switch {
		case strings.HasPrefix(l, "diff --cc "), strings.HasPrefix(l, "diff --combined "), strings.HasPrefix(l, "@@@ -"):
			return f.combined()
		case strings.HasPrefix(l, "diff --git "):
			if r := finish(); r != nil {
				return r
			}
			f = &unifiedFile{git: true}
			f.gitOld, f.gitNew = gitNames(strings.TrimPrefix(l, "diff --git "))
		case strings.HasPrefix(l, "--- ") && strings.HasPrefix(next, "+++ "):
			if f == nil || f.hasNames || f.hasHunks {
				if r := finish(); r != nil {
					return r
				}
				f = &unifiedFile{}
			}
			f.hasNames = true
			f.old, f.new = fileName(l[4:]), fileName(next[4:])
			i++
		case isContextHeader(lines[i:]):
			if r := finish(); r != nil {
				return r
			}
			f = &unifiedFile{hasNames: true, old: fileName(l[4:]), new: fileName(next[4:])}
			i++
		case strings.HasPrefix(l, "@@"), strings.HasPrefix(l, contextHunk):
			if f == nil {
				return badPatch(fmt.Sprintf("line %d of the patch is a hunk of no file", i+1))
			}
			parse := parseHunk
			if l[0] == '*' {
				parse = parseContextHunk
			}
			h, n := parse(lines[i:])
			if len(h.Lines) > 0 {
				f.hunks = append(f.hunks, h)
			}
			f.hasHunks = true
			i += n - 1
		case f != nil && f.git && (l == "" || strings.TrimRight(l, " ") == "--"):
			f.ended = true // what follows is no header: the next mail
		case f != nil && !f.hasHunks && !f.ended:
			f.header(strings.TrimSuffix(l, "\r"))
		}
		i++
	}
	if r := finish(); r != nil {
		return r
	}
	if len(p.Files) == 0 {
		return badPatch("the diff changes no file")
	}
	return nil
}

// header reads an extended header of git; other lines mean nothing.
func (f *unifiedFile) header(l string) {
	mode := func(s string) fs.FileMode {
		n, err := strconv.ParseUint(strings.TrimSpace(s), 8, 32)
		switch {
		case err != nil:
			return 0
		case n&0o170000 == 0o120000:
			f.special = aLink
		case n&0o170000 == 0o160000:
			f.special = aSubmodule
		}
		f.becomes = f.special != "" && strings.HasPrefix(l, "new ")
		return fs.FileMode(n) & fs.ModePerm
	}
	for _, h := range [...]struct {
		prefix string
		take   func(string)
	}{
		{"new mode ", func(s string) { f.mode = mode(s) }},
		{"new file mode ", func(s string) { f.mode, f.added = mode(s), true }},
		{"old mode ", func(s string) { mode(s) }},
		{"index ", func(s string) { mode(s[strings.LastIndexByte(s, ' ')+1:]) }},
		{"deleted file mode ", func(s string) { mode(s); f.deleted = true }},
		{"rename from ", func(s string) { f.from = fileName(s) }},
		{"rename to ", func(s string) { f.to = fileName(s) }},
		{"copy from ", func(s string) { f.from, f.copied = fileName(s), true }},
		{"copy to ", func(s string) { f.to, f.copied = fileName(s), true }},
		{"GIT binary patch", func(string) { f.binary, f.bytes = true, true }},
		{"Binary files ", func(string) { f.binary = true }},
	} {
		if s, ok := strings.CutPrefix(l, h.prefix); ok {
			h.take(s)
		}
	}
}

// finish makes a FilePatch of the headers and hunks.
func (p *Patch) finish(f *unifiedFile) *Refusal {
	old, new := f.old, f.new
	if !f.hasNames {
		old, new = f.gitOld, f.gitNew
		if f.added {
			old = devNull
		}
		if f.deleted {
			new = devNull
		}
	}
	if a, b := stripGit(old, new); a != old || b != new {
		old, new, p.prefixed = a, b, true
	}
	out := FilePatch{Action: Update, Path: new, Mode: f.mode, Hunks: f.hunks}
	if new == devNull {
		out.Path = old
	}
	if r := f.unsuited(cmp.Or(out.Path, f.to)); r != nil {
		return r
	}
	switch {
	case f.from != "" && f.to != "":
		out.Action, out.From, out.Path = Move, f.from, f.to
		if f.copied {
			out.Action = Add
		}
	case old == devNull && new == devNull:
		return badPatch("the diff names no file")
	case old == devNull:
		out.Action, out.Hunks = Add, nil
		out.Content = newContent(f.hunks)
	case new == devNull:
		out.Action = Delete
	case f.git && f.hasNames && old != new:
		out.Action, out.From = Move, old
	case old != new && strings.HasSuffix(old, ".orig"):
	case old != new && !strings.HasSuffix(new, ".orig"):
		out.Path = shorter(old, new)
	}
	if out.Action == Update && len(out.Hunks) == 0 && out.Mode == 0 {
		return badPatch("the diff of " + out.Path + " has no hunk")
	}
	tellEdges(out.Hunks, f.git)
	p.Files = append(p.Files, out)
	return nil
}

// shorter is the name that the diff means when its two differ and git did not
// write it: the one without a suffix such as .bak or .new.
func shorter(old, new string) string {
	if strings.HasPrefix(new, old) {
		return old
	}
	return new
}

// newContent is the content of a new file.
func newContent(hs []Hunk) string {
	var b strings.Builder
	for i, h := range hs {
		last := -1
		for k, l := range h.Lines {
			if l.Op != '-' {
				last = k
			}
		}
		for k, l := range h.Lines {
			if l.Op == '-' {
				continue
			}
			b.WriteString(l.Text)
			if k < last || !h.newNoEOL || i < len(hs)-1 {
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

// stripGit takes a/ and b/ off, or what git writes for other pairs.
func stripGit(old, new string) (string, string) {
	for _, c := range [...][2]string{{"a/", "b/"}, {"i/", "w/"}, {"c/", "i/"}, {"c/", "w/"}, {"o/", "w/"}, {"1/", "2/"}, {"b/", "a/"}} {
		a, ok1 := strings.CutPrefix(old, c[0])
		b, ok2 := strings.CutPrefix(new, c[1])
		switch {
		case ok1 && ok2:
			return a, b
		case ok1 && new == devNull:
			return a, new
		case ok2 && old == devNull:
			return old, b
		}
	}
	return old, new
}

// fileName is a name in a header: without the time behind a tab, and without
// the quotes of git.
func fileName(s string) string {
	s = strings.TrimRight(s, "\r")
	if strings.HasPrefix(s, `"`) {
		if name, _, ok := unquoteC(s); ok {
			return name
		}
	}
	s, _, _ = strings.Cut(s, "\t")
	return strings.TrimSpace(s)
}

// gitNames splits "a/x b/y"; with blanks in them the two names must be equal.
func gitNames(s string) (old, new string) {
	s = strings.TrimRight(s, "\r ")
	if strings.HasPrefix(s, `"`) {
		if a, rest, ok := unquoteC(s); ok {
			return a, fileName(strings.TrimSpace(rest))
		}
	}
	if n := len(s) / 2; len(s)%2 == 1 && s[n] == ' ' && len(s) > 4 && s[2:n] == s[n+3:] {
		return s[:n], s[n+1:]
	}
	if a, b, ok := strings.Cut(s, " b/"); ok {
		return a, "b/" + b
	}
	a, b, _ := strings.Cut(s, " ")
	return a, b
}

// unquoteC reads a name in quotes with the escapes of C, and what follows.
func unquoteC(s string) (name, rest string, ok bool) {
	var b []byte
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return string(b), s[i+1:], true
		case c != '\\' || i+1 == len(s):
			b = append(b, c)
		case i+3 < len(s) && s[i+1] >= '0' && s[i+1] <= '3':
			n, err := strconv.ParseUint(s[i+1:i+4], 8, 8)
			if err != nil {
				return "", "", false
			}
			b = append(b, byte(n))
			i += 3
		default:
			i++
			if at := strings.IndexByte("ntrabfv", s[i]); at >= 0 {
				b = append(b, "\n\t\r\a\b\f\v"[at])
			} else {
				b = append(b, s[i])
			}
		}
	}
	return "", "", false
}

// parseHunk reads one hunk and says how many lines it has. The counts of its
// header are believed as long as the lines agree.
func parseHunk(lines []string) (h Hunk, used int) {
	n, section, ok := hunkNumbers(lines[0])
	if ok {
		h.OldLine, h.section, h.counted = n.oldLine, section, true
		if n.oldCount == 0 {
			h.OldLine++ // an empty range names the line before it
		}
	} else {
		h.anchor(lines[0])
	}
	used = 1
	for ; used < len(lines); used++ {
		l := lines[used]
		counted := ok && (n.oldCount > 0 || n.newCount > 0)
		if !counted && (endsHunk(lines[used:]) || ok && (l == "" || !strings.ContainsRune(" +-\\\r", rune(l[0])))) {
			break
		}
		if counted && endsFile(lines[used:]) || ok && !counted && strings.TrimRight(l, " ") == "--" {
			break // the latter begins the signature of a mail
		}
		if strings.HasPrefix(l, `\`) {
			h.noEOL()
			continue
		}
		h.line(l)
		switch h.Lines[len(h.Lines)-1].Op {
		case ' ':
			n.oldCount, n.newCount = n.oldCount-1, n.newCount-1
		case '-':
			n.oldCount--
		case '+':
			n.newCount--
		}
	}
	if n.oldCount != 0 || n.newCount != 0 {
		h.counted = false
		h.trim()
	}
	return h, used
}

// endsHunk reports whether another hunk or file begins.
func endsHunk(lines []string) bool {
	return strings.HasPrefix(lines[0], "@@") || endsFile(lines)
}

func endsFile(lines []string) bool {
	l := lines[0]
	return strings.HasPrefix(l, "diff --git ") || strings.HasPrefix(l, "@@ -") ||
		strings.HasPrefix(l, "--- ") && len(lines) > 2 && strings.HasPrefix(lines[1], "+++ ") && strings.HasPrefix(lines[2], "@@")
}
