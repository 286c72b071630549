package edit

import (
	"fmt"
	"strconv"
	"strings"
)

// parseEnvelope reads the sections between *** Begin Patch and *** End Patch.
func (p *Patch) parseEnvelope(lines []string) *Refusal {
	for i := 0; i < len(lines); {
		l := lines[i]
		if blankLine(l) || isBegin(l) {
			i++
			continue
		}
		verb, name, ok := fileHeader(l)
		if !ok {
			return badPatch(fmt.Sprintf("line %d of the patch is no file header: %q", i+2, clip(strings.TrimSpace(l))))
		}
		n := 1
		for i+n < len(lines) && !startsSection(lines[i+n]) {
			n++
		}
		body := lines[i+1 : i+n]
		if r := p.section(verb, name, body, i+3); r != nil {
			return r
		}
		i += n
	}
	if len(p.Files) == 0 {
		return badPatch("the patch is empty: no files would be modified")
	}
	return nil
}

// startsSection reports whether a line is the header of the next file. Lines
// of hunks begin with a mark, so a header does not.
func startsSection(l string) bool {
	if l == "" || l[0] != '*' && l[0] != ' ' {
		return false
	}
	verb, _, ok := fileHeader(l)
	return ok && verb != "move to" && verb != "rename to" && (l[0] == '*' || isVerb(verb))
}

func isVerb(verb string) bool {
	switch verb {
	case "add", "create", "new", "delete", "remove", "update", "modify", "edit":
		return true
	}
	return false
}

// section reads one file; line is where its body begins in the patch.
func (p *Patch) section(verb, name string, body []string, line int) *Refusal {
	if name == "" && verb != "environment id" {
		return badPatch(fmt.Sprintf("line %d of the patch names no file", line-1))
	}
	switch verb {
	case "environment id":
	case "add", "create", "new":
		p.Files = append(p.Files, FilePatch{Action: Add, Path: name, Content: p.added(body)})
	case "delete", "remove":
		p.Files = append(p.Files, FilePatch{Action: Delete, Path: name})
	case "update", "modify", "edit":
		return p.update(name, body, line)
	default:
		return badPatch(fmt.Sprintf("line %d of the patch: there is no *** %s File:, only Add, Delete and Update", line-1, verb))
	}
	return nil
}

// added is the content of a new file. Blank lines may lack their +; those at
// the end only part the sections.
func (p *Patch) added(body []string) string {
	for len(body) > 0 && blankLine(body[len(body)-1]) && !strings.HasPrefix(body[len(body)-1], "+") {
		body = body[:len(body)-1]
	}
	var b strings.Builder
	for _, l := range body {
		s, ok := strings.CutPrefix(l, "+")
		if !ok && !blankLine(l) {
			p.warn("lines of a new file lacked their +")
		}
		b.WriteString(s + "\n")
	}
	return b.String()
}

// update reads the hunks of one file.
func (p *Patch) update(name string, body []string, line int) *Refusal {
	f := FilePatch{Action: Update, Path: name}
	for len(body) > 0 {
		verb, to, ok := fileHeader(body[0])
		if ok && (verb == "move to" || verb == "rename to") {
			f.Action, f.From, f.Path = Move, name, to
		} else if !blankLine(body[0]) {
			break
		}
		body, line = body[1:], line+1
	}
	if len(body) > 1 && strings.HasPrefix(body[0], "--- ") && strings.HasPrefix(body[1], "+++ ") {
		p.warn("the headers of a unified diff inside the envelope were ignored")
		body, line = body[2:], line+2
	}
	var h *Hunk
	for i, l := range body {
		switch {
		case strings.HasPrefix(l, "@@"):
			if h == nil || len(h.Lines) > 0 {
				f.Hunks = append(f.Hunks, Hunk{})
				h = &f.Hunks[len(f.Hunks)-1]
			}
			h.anchor(l)
		case marker(l) == "*** end of file" && !strings.HasPrefix(l, "+") && !strings.HasPrefix(l, "-"):
			if h != nil {
				h.EndOfFile = true
			}
		case strings.HasPrefix(l, `\ `):
			if h != nil {
				h.noEOL()
			}
		case strings.HasPrefix(l, "***") && !blankLine(strings.Trim(l, "* ")) && strings.HasSuffix(strings.TrimSpace(l), ":"):
			return badPatch(fmt.Sprintf("line %d of the patch is no line of a hunk: %q", line+i, clip(l)))
		default:
			if h == nil {
				f.Hunks = append(f.Hunks, Hunk{})
				h = &f.Hunks[0]
			}
			h.line(l)
		}
	}
	for i := range f.Hunks {
		f.Hunks[i].trim()
	}
	f.Hunks = withoutEmpty(f.Hunks)
	if len(f.Hunks) == 0 && f.Action == Update {
		return badPatch(fmt.Sprintf("the update of %s has no hunk", name))
	}
	p.Files = append(p.Files, f)
	return nil
}

func withoutEmpty(hs []Hunk) []Hunk {
	out := hs[:0]
	for _, h := range hs {
		if len(h.Lines) > 0 {
			out = append(out, h)
		}
	}
	return out
}

// anchor reads what stands behind @@: line numbers, or the text of a line.
func (h *Hunk) anchor(l string) {
	s := strings.TrimSpace(strings.TrimPrefix(l, "@@"))
	if at, section, ok := hunkNumbers(l); ok {
		h.OldLine, h.section = at.oldLine, section
		return
	}
	s = strings.TrimSpace(strings.TrimSuffix(s, "@@"))
	leftOut := func(s string) bool { return s == "" || s == "..." || s == "…" } // the numbers, as Aider asks for
	if numbers, heading, ok := strings.Cut(s, "@@"); ok && leftOut(strings.TrimSpace(numbers)) {
		s = strings.TrimSpace(heading)
	}
	if !leftOut(s) {
		h.Anchors = append(h.Anchors, s)
	}
}

// line reads one line of a hunk. One without a mark is context.
func (h *Hunk) line(l string) {
	switch {
	case l == "":
		h.Lines = append(h.Lines, HunkLine{' ', ""})
	case l[0] == ' ' || l[0] == '+' || l[0] == '-':
		h.Lines = append(h.Lines, HunkLine{l[0], l[1:]})
	default:
		h.Lines = append(h.Lines, HunkLine{' ', l})
	}
}

// noEOL notes that the line before has no line ending.
func (h *Hunk) noEOL() {
	if n := len(h.Lines); n > 0 {
		h.oldNoEOL = h.oldNoEOL || h.Lines[n-1].Op != '+'
		h.newNoEOL = h.newNoEOL || h.Lines[n-1].Op != '-'
	}
}

// trim drops blank context at the end that was only there to part hunks.
func (h *Hunk) trim() {
	for n := len(h.Lines); n > 0 && h.Lines[n-1] == (HunkLine{' ', ""}); n-- {
		h.Lines = h.Lines[:n-1]
	}
}

// numbers are what stands between the @@ of a unified diff.
type numbers struct{ oldLine, oldCount, newLine, newCount int }

// hunkNumbers reads "@@ -1,2 +3,4 @@ section".
func hunkNumbers(l string) (n numbers, section string, ok bool) {
	s, ok := strings.CutPrefix(l, "@@ -")
	if !ok {
		return n, "", false
	}
	ranges, section, ok := strings.Cut(s, "@@")
	if !ok {
		ranges, section = s, ""
	}
	olds, news, ok := strings.Cut(strings.TrimSpace(ranges), " +")
	if !ok {
		return n, "", false
	}
	var ok1, ok2 bool
	n.oldLine, n.oldCount, ok1 = lineCount(olds)
	n.newLine, n.newCount, ok2 = lineCount(news)
	return n, strings.TrimSpace(section), ok1 && ok2
}

func lineCount(s string) (line, count int, ok bool) {
	a, b, two := strings.Cut(strings.TrimSpace(s), ",")
	line, err := strconv.Atoi(a)
	count = 1
	if err == nil && two {
		count, err = strconv.Atoi(b)
	}
	return line, count, err == nil && line >= 0 && count >= 0
}
