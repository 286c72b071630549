package edit

import (
	"fmt"
	"strings"
)

// mask stands for the characters that an edit is not to see. No line of a
// text begins or ends with it, so nothing that is looked for is like it.
const mask = '\x01'

// planWithin makes an edit in the lines it is limited to: all of them become
// the new text, or the old text is looked for in them alone.
func (p *planner) planWithin(e Edit) ([]change, *Refusal) {
	at, r := p.lineSpan(e.Within)
	if r != nil {
		return nil, r
	}
	if e.Old == "" {
		return p.replaceLines(e, at)
	}
	e.Within = [2]int{}
	cs, r := p.blotted(at).plan(e)
	if r != nil {
		return nil, r
	}
	_, end := lineEnd(p.file, at.end) // a line that goes takes its ending along
	for _, c := range cs {
		for _, s := range c.splices {
			if s.start < at.start || s.end > end {
				return nil, p.noMatch("the old text reaches beyond "+lineRange([2]int{p.line(at.start) + 1, p.line(at.end) + 1}), nil)
			}
		}
	}
	return cs, nil
}

// lineSpan is where lines begin and end, without the last one's ending.
func (p *planner) lineSpan(lines [2]int) (span, *Refusal) {
	t := p.text()
	if lines[0] < 1 || lines[1] < lines[0] || lines[1] > t.lines() {
		return span{}, &Refusal{
			Code: BadInput, Message: fmt.Sprintf("the file has lines 1 to %d, not %d to %d", t.lines(), lines[0], lines[1]),
			Hint: "read the file again and name lines that it has",
		}
	}
	end, _ := lineEnd(p.file, t.starts[lines[1]-1])
	return span{t.starts[lines[0]-1], end}, nil
}

// blotted is a planner of the same file that can read nothing but the span:
// offsets, line numbers and line endings stay what they are.
func (p *planner) blotted(at span) *planner {
	file := append([]byte(nil), p.file...)
	for _, part := range [][]byte{file[bodyStart(file):max(at.start, bodyStart(file))], file[at.end:]} {
		for i, c := range part {
			if c != '\n' && c != '\r' {
				part[i] = mask
			}
		}
	}
	return &planner{file: file, options: p.options}
}

// replaceLines makes the new text of whole lines.
func (p *planner) replaceLines(e Edit, at span) ([]change, *Refusal) {
	old := unixLines(string(p.file[at.start:at.end]))
	new := p.fitted(at, old, strings.TrimRight(unixLines(e.New), "\n"), false)
	if new == old {
		return nil, &Refusal{Code: AlreadyApplied, Message: lineRange(e.Within) + " are the new text already", Hint: "nothing is left to do"}
	}
	if new == "" { // no line stays, not an empty one either
		_, at.end = lineEnd(p.file, at.end)
		old += "\n"
	}
	return []change{p.replace(at, old, new)}, nil
}
