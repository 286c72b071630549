package edit

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// placer finds the places of hunks in one file.
type placer struct {
	planner *planner
	text    *text
	index   *index
	hunks   int
	exact   []uint64       // hash of each line; nil until a hunk is not where it says
	tight   []uint64       // of its tight form, 0 for a blank one
	single  map[uint64]int // once of the text, once asked for
	runs    *chains        // where each hash of exact and of tight is; nil for a few hunks
	offset  int            // how far the last hunk with a line number lay from it
	last    int            // the line behind the last hunk that was placed; -1 when they are not in order
	doubt   *Refusal       // of a hunk that was placed by the order of the hunks
	told    bool           // the hunks tell CRLF from LF
	warns   []string
}

func newPlacer(file []byte, hunks int) *placer {
	pl := &placer{planner: &planner{file: file}, hunks: hunks}
	pl.text = pl.planner.text()
	pl.index = &index{text: pl.text, blind: true}
	return pl
}

// read hashes the lines of the file, when they are first asked for.
func (pl *placer) read() {
	if pl.exact != nil {
		return
	}
	pl.tight = newIndex(pl.text).hashes
	pl.exact = make([]uint64, pl.text.lines())
	for i := range pl.exact {
		pl.exact[i] = hashBytes(pl.text.raw(i))
	}
	if pl.hunks > manyHunks {
		pl.runs = newChains(pl.exact, pl.tight)
	}
}

// chains tell in which lines a hash is, the exact one or the tight one.
type chains struct {
	heads []int32 // by the low bits of the hash: the first entry, from 1
	all   []chained
}

type chained struct {
	hash uint64
	line int32
	next int32
}

func newChains(exact, tight []uint64) *chains {
	c := &chains{heads: make([]int32, 1<<bits.Len(uint(2*len(exact)))), all: make([]chained, 0, 2*len(exact))}
	for i, e := range slices.Backward(exact) { // the first line ends up in front
		if tight[i] != e {
			c.add(tight[i], i)
		}
		c.add(e, i)
	}
	return c
}

func (c *chains) head(hash uint64) *int32 { return &c.heads[mix(hash)&uint64(len(c.heads)-1)] }

func (c *chains) add(hash uint64, line int) {
	head := c.head(hash)
	c.all = append(c.all, chained{hash, int32(line), *head})
	*head = int32(len(c.all))
}

// lines are the lines with a hash, the first limit of them.
func (c *chains) lines(hash uint64, limit int) []int32 {
	var out []int32
	for n := *c.head(hash); n > 0 && len(out) < limit; n = c.all[n-1].next {
		if c.all[n-1].hash == hash {
			out = append(out, c.all[n-1].line)
		}
	}
	return out
}

func hashBytes(b []byte) uint64 {
	h := uint64(hashStart)
	for _, c := range b {
		h = (h ^ uint64(c)) * hashPrime
	}
	return h
}

// place finds what a hunk changes. What is found nowhere, or has been changed by
// others meanwhile, is merged.
func (pl *placer) place(h *Hunk) ([]change, *Refusal) {
	cs, r := pl.find(h)
	if r == nil && !pl.offEdge(h, cs) || r != nil && r.Code == Ambiguous {
		return cs, r
	}
	if merged, made := pl.merge(h); merged != nil || made != nil {
		return merged, made
	}
	return cs, r
}

// offEdge reports whether a hunk that changes the first or the last lines of a file
// was found elsewhere.
func (pl *placer) offEdge(h *Hunk, cs []change) bool {
	head, tail := h.context()
	return len(cs) > 0 && (h.begins && head == 0 && cs[0].hit.Lines[0] > 1 || h.ends && tail == 0 && !pl.atEnd(cs[0].hit.Lines[1]))
}

// find finds where a hunk stands.
func (pl *placer) find(h *Hunk) ([]change, *Refusal) {
	old := h.side('+')
	if len(old) == 0 {
		return pl.insert(h)
	}
	if !slices.ContainsFunc(h.Lines, func(l HunkLine) bool { return l.Op != ' ' }) {
		return nil, nil
	}
	if i, ok := pl.stands(h, old); ok {
		return pl.change(h, i, 0)
	}
	if f, ok := pl.edge(h); ok && h.git && pl.near(h, f.start) {
		return pl.inPlace(h, f)
	}
	for drop := range 2 {
		if last := h.Lines[len(h.Lines)-1]; drop == 1 && (len(old) < 2 || last.Op != ' ' || !blankLine(last.Text)) {
			break
		}
		for _, level := range [...]func([]string) []int{pl.findExact, pl.findTight} {
			at := level(old[:len(old)-drop])
			if len(at) == 0 {
				continue
			}
			offset := pl.offset
			i, headed, r := pl.choose(h, at, len(old)-drop)
			if r == nil && !headed {
				r = pl.contested(h, i, h.OldLine-1+offset)
			}
			if r != nil {
				return nil, r
			}
			if h, r = pl.withoutMade(h, i, i+len(old)-drop); r != nil {
				return nil, r
			}
			return pl.change(h, i, drop)
		}
	}
	if cs, r := pl.trimmed(h); cs != nil || r != nil {
		return cs, r
	}
	return pl.like(h)
}

// trimmed places a hunk whose outer lines of context are not there, where the
// rest is as it says: the nearer a line is to the change, the more it tells.
func (pl *placer) trimmed(h *Hunk) ([]change, *Refusal) {
	found := pl.trimmedPlaces(h)
	if f, ok := pl.edge(h); ok {
		if g, ok := pl.rival(h, f, found); !ok {
			return pl.inPlace(h, f)
		} else if !pl.near(h, g.start) {
			return nil, pl.ambiguous([]int{g.start, f.start}, len(h.side('+')))
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	var at []int
	for _, f := range found {
		at = append(at, f.start)
	}
	slices.Sort(at)
	i, _, r := pl.choose(h, slices.Compact(at), len(h.side('+')))
	if r != nil {
		return nil, r
	}
	f := found[slices.IndexFunc(found, func(f trimmedPlace) bool { return f.start == i })]
	return pl.inPlace(h, f)
}

// inPlace makes the change of a hunk where only a part of it stands.
func (pl *placer) inPlace(h *Hunk, f trimmedPlace) ([]change, *Refusal) {
	if at, ok := pl.insertedAlready(&f.rest, f.start+f.head); ok {
		return nil, alreadyApplied(at)
	}
	if h.OldLine > 0 {
		pl.offset = f.start - (h.OldLine - 1)
	}
	cs, r := pl.change(&f.rest, f.start+f.head, 0)
	for i := range cs {
		cs[i].hit.Strategy = ContextAware
		cs[i].hit.Similarity = Similarity(tight(strings.Join(h.side('+'), "\n")), tight(strings.Join(f.rest.side('+'), "\n")))
	}
	return cs, r
}

// contested refuses a place that is far from the line that the hunk names, when
// another is near that lacks no more than outer lines of context.
func (pl *placer) contested(h *Hunk, at, line int) *Refusal {
	far := func(i int) int { return max(i-line, line-i) }
	if h.OldLine == 0 || far(at) <= nearTrimmed {
		return nil
	}
	near := pl.trimmedPlaces(h)
	if f, ok := pl.edge(h); ok {
		near = append(near, f)
	}
	for _, f := range near {
		if 3*far(f.start) < far(at) {
			return pl.ambiguous([]int{f.start, at}, len(h.side('+')))
		}
	}
	return nil
}

// A trimmedPlace is where a part of a hunk stands.
type trimmedPlace struct {
	rest  Hunk
	head  int // lines that are left out before it
	start int // where the whole hunk would begin
}

// trimmedPlaces are the places of a hunk without its outer lines of context:
// with as few left out as can be, or all of them where the hunk has a line
// number to choose among them.
func (pl *placer) trimmedPlaces(h *Hunk) []trimmedPlace {
	var out, weak []trimmedPlace
	left := 0
	for _, t := range trims(h.context()) {
		if t[0]+t[1] > left && len(out) > 0 && h.OldLine == 0 {
			break
		}
		left = t[0] + t[1]
		f := trimmedPlace{rest: *h, head: t[0]}
		f.rest.Lines = h.Lines[t[0] : len(h.Lines)-t[1]]
		old := f.rest.side('+')
		if len(old) == 0 {
			continue
		}
		tells := tellsPlace(old) && (h.OldLine > 0 || mostOf(old, h.side('+')))
		at := pl.findExact(old)
		tells = tells || len(at) == 1 && h.git && h.counted && tellsAlone(old)
		for _, i := range at {
			f.start = i - t[0]
			if tells && (h.OldLine > 0 || pl.tellsKept(h, t, i)) {
				out = append(out, f)
			} else if h.OldLine > 0 && f.start == h.OldLine-1+pl.offset {
				weak = append(weak, f)
			}
		}
	}
	if len(out) == 0 {
		return weak
	}
	return out
}

// tellsKept reports whether what is kept of a hunk without outer lines of context tells
// that it belongs at line i.
func (pl *placer) tellsKept(h *Hunk, left [2]int, i int) bool {
	pl.read()
	old, news := h.side('+'), h.side('-')
	beside := pl.text.beside(i, i+len(old)-left[0]-left[1])
	return keptOf(old, left, news[left[0]:len(news)-left[1]], beside).tells(&index{hashes: pl.tight})
}

// context is how many lines of context a hunk begins and ends with.
func (h *Hunk) context() (head, tail int) {
	for head < len(h.Lines) && h.Lines[head].Op == ' ' {
		head++
	}
	for tail < len(h.Lines)-head && h.Lines[len(h.Lines)-1-tail].Op == ' ' {
		tail++
	}
	return head, tail
}

// stands reports whether the lines are just where the hunk's number says. That
// decides whatever else is like them, so nothing else need be looked at.
func (pl *placer) stands(h *Hunk, old []string) (at int, ok bool) {
	at = h.OldLine - 1 + pl.offset
	if h.OldLine == 0 || len(h.Anchors) > 0 || h.EndOfFile {
		return 0, false
	}
	return at, pl.text.has(at, old)
}

// findExact is where the lines stand one after the other, as they are.
func (pl *placer) findExact(lines []string) []int {
	pl.read()
	want := make([]uint64, len(lines))
	for i, l := range lines {
		want[i] = hashString(l)
	}
	at := pl.run(pl.exact, want)
	return slices.DeleteFunc(at, func(i int) bool {
		for k, l := range lines {
			if string(pl.text.raw(i+k)) != l {
				return true
			}
		}
		return false
	})
}

// findTight is where they stand but for white space and typography.
func (pl *placer) findTight(lines []string) []int {
	pl.read()
	want := make([]uint64, len(lines))
	solid := false
	for i, l := range lines {
		if !blank(l) {
			want[i], solid = hashString(tight(l)), true
		}
	}
	if !solid {
		return nil
	}
	return pl.run(pl.tight, want)
}

// mostChained is how many lines may have a hash for it to be rare.
const mostChained = 64

// run is findRun, by the index where one of the lines is rare.
func (pl *placer) run(all, want []uint64) []int {
	if pl.runs == nil {
		return findRun(all, want)
	}
	rare, at := 0, pl.runs.lines(want[0], mostChained)
	for k, h := range want {
		if len(at) < 2 {
			break
		}
		if other := pl.runs.lines(h, mostChained); len(other) < len(at) {
			rare, at = k, other
		}
	}
	if len(at) == mostChained {
		return findRun(all, want)
	}
	var out []int
	for _, i := range at {
		from := int(i) - rare
		if from >= 0 && from+len(want) <= len(all) && slices.Equal(all[from:from+len(want)], want) {
			out = append(out, from)
		}
	}
	return out
}

// findRun is where want occurs in all (Knuth, Morris and Pratt).
func findRun(all, want []uint64) []int {
	back := make([]int, len(want)+1)
	back[0] = -1
	for i, k := 0, -1; i < len(want); i++ {
		for k >= 0 && want[i] != want[k] {
			k = back[k]
		}
		k++
		back[i+1] = k
	}
	var out []int
	k := 0
	for i, h := range all {
		for k >= 0 && (k == len(want) || h != want[k]) {
			k = back[k]
		}
		k++
		if k == len(want) && len(out) < mostRuns {
			out = append(out, i-k+1)
		}
	}
	return out
}

// choose takes the place that the hunk's own anchor decides on, or its line
// number, or the order of the hunks; headed tells that its heading decided
// against the number.
func (pl *placer) choose(h *Hunk, at []int, size int) (i int, headed bool, r *Refusal) {
	inBlock := false
	if len(h.Anchors) > 0 {
		anchors := pl.anchors(h.Anchors)
		if behind := pl.behind(anchors, at); len(behind) > 0 {
			at = behind
			inBlock = pl.last > 0 && slices.ContainsFunc(anchors, func(a int) bool { return a < pl.last && pl.last <= pl.blockEnd(a) })
		} else {
			pl.warns = append(pl.warns, fmt.Sprintf("the line behind @@, %q, is not before the change", clip(h.Anchors[len(h.Anchors)-1])))
		}
	}
	if h.EndOfFile {
		if last := slices.IndexFunc(at, func(i int) bool { return pl.atEnd(i + size) }); last >= 0 {
			at = at[last : last+1]
		}
	}
	if h.OldLine > 0 {
		if i, ok := pl.nearest(at, h.OldLine-1+pl.offset); ok {
			if j, r := pl.byHeading(h, at, i, size); r != nil || j != i {
				return j, true, r
			}
			pl.offset = i - (h.OldLine - 1)
			return i, false, nil
		}
	}
	if len(at) > 1 && h.section != "" {
		if behind := pl.behind(pl.anchors([]string{h.section}), at); len(behind) == 1 {
			at = behind
		}
	}
	if len(at) == 1 {
		return at[0], false, nil
	}
	r = pl.ambiguous(at, size)
	if x, _ := slices.BinarySearch(at, pl.last); x < len(at) && pl.last > 0 && h.OldLine == 0 && (len(h.Anchors) == 0 || inBlock) {
		pl.doubt = r // unless a later hunk stands before this one
		return at[x], false, nil
	}
	return 0, false, r
}

// byHeading is place i, which is nearest to the hunk's line number, or the one
// place below the hunk's heading where i is not there and not at that very
// line. It refuses to choose among several below the heading.
func (pl *placer) byHeading(h *Hunk, at []int, i, size int) (int, *Refusal) {
	line := h.OldLine - 1 + pl.offset
	if h.section == "" || len(at) < 2 || i == line {
		return i, nil
	}
	anchors := pl.anchors([]string{h.section})
	var below []int
	for _, x := range at {
		if pl.headed(anchors, x) {
			below = append(below, x)
		}
	}
	if len(below) == 0 || slices.Contains(below, i) {
		return i, nil
	}
	if len(below) > 1 {
		return 0, pl.ambiguous(below, size)
	}
	pl.warns = append(pl.warns, fmt.Sprintf("applied at line %d, below %q, and not at line %d, which is nearer to the number behind @@", below[0]+1, clip(h.section), i+1))
	return below[0], nil
}

// headed reports whether place i is in the block of one of the headings, or one
// of them is the nearest line above that git would take for a heading.
func (pl *placer) headed(headings []int, i int) bool {
	if slices.ContainsFunc(headings, func(a int) bool { return a <= i && i < pl.blockEnd(a) }) {
		return true
	}
	for k := i - 1; k >= 0; k-- {
		if l := pl.text.raw(k); len(l) > 0 && (isWord(l[0]) && (l[0] < '0' || l[0] > '9') || l[0] == '$') {
			return slices.Contains(headings, k)
		}
	}
	return false
}

// placed notes where a hunk goes. Hunks that are in order need not say more
// than that; the refusal is that of a hunk that was placed by the order, when
// this one breaks it.
func (pl *placer) placed(at, size int) *Refusal {
	if at < pl.last && pl.doubt != nil {
		return pl.doubt
	}
	if pl.last >= 0 && at >= pl.last {
		pl.last = at + size
	} else {
		pl.last = -1
	}
	return nil
}

// nearest is the place at a line, or the one that is clearly nearer to it than
// any other.
func (pl *placer) nearest(at []int, line int) (int, bool) {
	best, second := -1, -1
	far := func(i int) int { return max(i-line, line-i) }
	for _, i := range at {
		switch {
		case best < 0 || far(i) < far(best):
			best, second = i, best
		case second < 0 || far(i) < far(second):
			second = i
		}
	}
	if second < 0 || far(best) == 0 || 3*far(best) < far(second) {
		return best, true
	}
	return 0, false
}

// atEnd reports whether nothing but blank lines follows line i.
func (pl *placer) atEnd(i int) bool { return !pl.text.solidBetween(i, pl.text.lines()) }

// anchors are the lines behind which a change may lie: those of the last
// anchor that follow the ones before it.
func (pl *placer) anchors(lines []string) []int {
	var at []int
	for k, l := range lines {
		found := pl.linesLike(l)
		if k == 0 {
			at = found
			continue
		}
		var next []int
		for _, a := range at {
			x, _ := slices.BinarySearch(found, a+1)
			if x < len(found) && (len(next) == 0 || next[len(next)-1] != found[x]) {
				next = append(next, found[x])
			}
		}
		at = next
	}
	return at
}

// linesLike are the lines that say the same, or that begin so where none does.
func (pl *placer) linesLike(l string) []int {
	pl.read()
	want := hashString(tight(l))
	var same, begin []int
	if pl.runs != nil {
		for _, i := range pl.runs.lines(want, len(pl.tight)) {
			if pl.tight[i] == want {
				same = append(same, int(i))
			}
		}
		if len(same) > 0 {
			return same
		}
	}
	t := []byte(strings.TrimSpace(l))
	for i, h := range pl.tight {
		if h == want {
			same = append(same, i)
		} else if bytes.HasPrefix(bytes.TrimSpace(pl.text.raw(i)), t) {
			begin = append(begin, i)
		}
	}
	if len(same) > 0 {
		return same
	}
	return begin
}

// behind are the places in the blocks that the anchors begin, or where there
// are none the places behind them.
func (pl *placer) behind(anchors, at []int) []int {
	var inside, behind []int
	for _, i := range at {
		if slices.ContainsFunc(anchors, func(a int) bool { return a <= i && i < pl.blockEnd(a) }) {
			inside = append(inside, i)
		}
		if len(anchors) > 0 && i >= anchors[0] {
			behind = append(behind, i)
		}
	}
	if len(inside) > 0 {
		return inside
	}
	return behind
}

// blockEnd is the line behind the block that line a begins: what is indented
// deeper, and what closes it.
func (pl *placer) blockEnd(a int) int {
	width := func(i int) int { return len(lead(string(pl.text.raw(i)))) }
	for i := a + 1; i < pl.text.lines(); i++ {
		l := strings.TrimSpace(string(pl.text.raw(i)))
		switch {
		case l == "" || width(i) > width(a):
		case width(i) < width(a):
			return i
		case strings.ContainsAny(l[:1], "})]") && !strings.HasSuffix(l, "{") || l == "end":
			return i + 1
		case strings.ContainsAny(l[:1], "{})]"), slices.Contains([]string{"else", "elif", "elsif", "except", "finally", "catch", "rescue", "ensure"}, strings.TrimRight(strings.Fields(l)[0], ":")):
		default:
			return i
		}
	}
	return pl.text.lines()
}

func (pl *placer) ambiguous(at []int, size int) *Refusal {
	r := &Refusal{Code: Ambiguous, Hint: "add lines of context to the hunk, or name the function or class before it behind @@"}
	var lines []string
	for _, i := range at[:min(len(at), mostEqual)] {
		lines = append(lines, itoa(i+1))
		r.Places = append(r.Places, Place{Lines: [2]int{i + 1, i + size}, Text: pl.text.excerpt(i, min(i+size, pl.text.lines())), Similarity: 1})
	}
	more := ""
	if len(at) > mostEqual {
		more = ", …"
	}
	r.Message = fmt.Sprintf("the old lines occur %d times, at lines %s%s", len(at), strings.Join(lines, ", "), more)
	return r
}
