package edit

import (
	"slices"
	"strings"
)

// change makes the hunk's change at line i; the last drop lines of context
// are not there.
func (pl *placer) change(h *Hunk, i, drop int) ([]change, *Refusal) {
	old, added, ops := h.side('+'), h.side('-'), h.ops()
	if drop > 0 {
		old, added = old[:len(old)-drop], added[:len(added)-drop]
		last := &ops[len(ops)-1]
		last.i2, last.j2 = last.i2-drop, last.j2-drop
	}
	ss, strategy, conflict := pl.replaced(i, old, added, ops, pl.endings(h))
	if conflict != nil {
		return nil, &Refusal{Code: Conflict, Message: conflict.reason + ", line " + itoa(i+1), Hint: "read the file again", Places: []Place{{Lines: [2]int{i + 1, i + len(old)}, Text: pl.text.excerpt(i, i+len(old)), Similarity: 1}}}
	}
	if len(ss) == 0 && h.oldNoEOL == h.newNoEOL {
		return nil, alreadyApplied([2]int{i + 1, i + len(old)})
	}
	return []change{{ss, Hit{Strategy: strategy, Similarity: 1, Margin: 1, Lines: [2]int{i + 1, i + len(old)}}}}, nil
}

// replaced makes the changes from old to added at line i.
func (pl *placer) replaced(i int, old, added []string, ops []op, eols []string) ([]splice, string, *conflict) {
	if pl.verbatim(i, old, added) {
		return pl.text.spliced(i, added, ops, eols), Exact, nil
	}
	return pl.merged(i, old, added, ops, eols)
}

// verbatim reports whether the file has the old lines as they are, before its last
// line, and no line stands for others: then there is nothing to merge.
func (pl *placer) verbatim(i int, old, added []string) bool {
	return i+len(old) < pl.text.lines() && !slices.ContainsFunc(old, isElision) && !slices.ContainsFunc(added, isElision) && pl.text.has(i, old)
}

// spliced puts the added lines in the place of lines that are as the hunk has them.
func (t *text) spliced(i int, added []string, ops []op, eols []string) []splice {
	var out []splice
	for _, o := range ops {
		if o.equal {
			continue
		}
		var b strings.Builder
		for j := o.j1; j < o.j2; j++ {
			b.WriteString(added[j])
			if eols != nil {
				b.WriteString(eols[j])
			} else { // that of the line in whose place it is, or of the one before
				b.WriteString(t.ending(i + max(min(o.i1+j-o.j1, o.i2-1), 0)))
			}
		}
		s := splice{t.starts[i+o.i1], t.starts[i+o.i2], b.String(), i + o.i1 + 1}.shrink(t.src)
		if s.start < s.end || s.text != "" {
			s.line = min(s.line, max(i+ops[len(ops)-1].i2, 1))
			out = append(out, s)
		}
	}
	return out
}

// merged makes the changes where the file's lines differ from the hunk's.
func (pl *placer) merged(i int, old, added []string, ops []op, eols []string) ([]splice, string, *conflict) {
	call, news := newForms(old), newForms(added)
	at := place{score: 1, start: i, end: i + len(call)}
	strategy := Exact
	for k, f := range call {
		g := pl.text.line(i + k)
		at.pairs = append(at.pairs, pair{k, k + 1, i + k, i + k + 1, similarOrBlank(f, g)})
		strategy = looser(strategy, f, g)
	}
	m := newMerger(pl.index, call, news, at)
	m.ops, m.eols = ops, eols
	if x := m.run(false); x != nil {
		return nil, "", x
	}
	return m.splices(), strategy, nil
}

func similarOrBlank(a, b *form) float64 {
	if a.blank && b.blank {
		return 1
	}
	return similar(a, b)
}

// looser is the rung of two lines, when it is below the one so far.
func looser(strategy string, a, b *form) string {
	rungs := [...]string{Exact, LineTrimmed, IndentationFlexible, WhitespaceNormalized}
	n := 0
	switch {
	case a.text == b.text || a.blank && b.blank:
	case a.lead == b.lead && a.ws() == b.ws():
		n = 1
	case a.ws() == b.ws():
		n = 2
	default:
		n = 3
	}
	return rungs[max(n, slices.Index(rungs[:], strategy))]
}
