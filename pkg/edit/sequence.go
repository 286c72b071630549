package edit

import (
	"cmp"
	"slices"
)

// block says that a[i:i+n] equals b[j:j+n].
type block struct{ i, j, n int }

// op says what becomes of a[i1:i2]: it is b[j1:j2]. equal says that nothing
// changed there.
type op struct {
	equal          bool
	i1, i2, j1, j2 int
}

// compareStrings is compare for strings.
func compareStrings(a, b []string) []op {
	ids := make(map[string]int32, len(a)) // from 1
	was, is := make([]int32, len(a)), make([]int32, len(b))
	for i, x := range a {
		id, ok := ids[x]
		if !ok {
			id = int32(len(ids) + 1)
			ids[x] = id
		}
		was[i] = id
	}
	for i, x := range b {
		is[i] = ids[x] // 0 for what equals nothing in a
	}
	return compare(was, is)
}

// compare is how a becomes b: longest common stretches first where the two
// are small, lines that are unique in both first where they are not, so that
// the time stays near linear.
func compare(a, b []int32) []op {
	c := comparer{a: a, b: b}
	if len(a) > 0 && len(b) > 0 {
		c.seen = make([]seen, max(slices.Max(a), slices.Max(b))+1)
		c.match(0, len(a), 0, len(b))
	}
	slices.SortFunc(c.blocks, func(x, y block) int { return cmp.Compare(x.i, y.i) })
	var ops []op
	i, j := 0, 0
	for _, m := range append(c.blocks, block{len(a), len(b), 0}) {
		if i < m.i || j < m.j {
			ops = append(ops, op{false, i, m.i, j, m.j})
		}
		if m.n > 0 {
			if k := len(ops) - 1; k >= 0 && ops[k].equal {
				ops[k].i2, ops[k].j2 = m.i+m.n, m.j+m.n
			} else {
				ops = append(ops, op{true, m.i, m.i + m.n, m.j, m.j + m.n})
			}
		}
		i, j = m.i+m.n, m.j+m.n
	}
	return ops
}

type comparer struct {
	a, b   []int32
	blocks []block
	small  bool   // match takes the longest stretches first
	seen   []seen // by value, scratch of anchors and shortest
}

// seen is how often a value is in two stretches, and where in the second.
type seen struct{ inA, inB, j int32 }

const (
	smallCompare = 1 << 16 // cells up to which the longest stretch is looked for
)

func (c *comparer) add(i, j, n int) {
	if n > 0 {
		c.blocks = append(c.blocks, block{i, j, n})
	}
}

// equalEnds is how many values are the same at the beginning of both, and how many
// of the rest at the end.
func equalEnds(a, b []int32) (head, tail int) {
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}

// match finds the common stretches of a[i1:i2] and b[j1:j2].
func (c *comparer) match(i1, i2, j1, j2 int) {
	for {
		head, tail := equalEnds(c.a[i1:i2], c.b[j1:j2])
		c.add(i1, j1, head)
		i1, i2, j1, j2 = i1+head, i2-tail, j1+head, j2-tail
		c.add(i2, j2, tail)
		if i1 == i2 || j1 == j2 {
			return
		}
		if (i2-i1)*(j2-j1) > smallCompare {
			if !c.anchors(i1, i2, j1, j2) {
				c.shortest(i1, i2, j1, j2)
			}
			return
		}
		if !c.small {
			c.either(i1, i2, j1, j2)
			return
		}
		m := c.longest(i1, i2, j1, j2)
		if m.n == 0 {
			return
		}
		c.add(m.i, m.j, m.n)
		c.match(i1, m.i, j1, m.j)
		i1, j1 = m.i+m.n, m.j+m.n
	}
}

// either takes the longest stretches first, which read best, unless the fewest
// differences are by far fewer, as they are where lines repeat.
func (c *comparer) either(i1, i2, j1, j2 int) {
	at := len(c.blocks)
	c.small = true
	c.match(i1, i2, j1, j2)
	c.small = false
	readable := slices.Clone(c.blocks[at:])
	c.blocks = c.blocks[:at]
	c.shortest(i1, i2, j1, j2)
	differ := func(blocks []block) int {
		n := i2 - i1 + j2 - j1
		for _, b := range blocks {
			n -= 2 * b.n
		}
		return n
	}
	if few := differ(c.blocks[at:]); differ(readable) <= few+few/4+few/8 {
		c.blocks = append(c.blocks[:at], readable...)
	}
}

// longest is the longest common stretch, the first of several.
func (c *comparer) longest(i1, i2, j1, j2 int) block {
	best := block{i1, j1, 0}
	row := make([]int, j2-j1+1)
	for i := i1; i < i2; i++ {
		diagonal := 0
		for j := j1; j < j2; j++ {
			up := row[j-j1+1]
			n := 0
			if c.a[i] == c.b[j] {
				n = diagonal + 1
			}
			row[j-j1+1], diagonal = n, up
			if n > best.n {
				best = block{i - n + 1, j - n + 1, n}
			}
		}
	}
	return best
}

// anchors splits at what is unique on both sides, in the longest chain that
// is in order (patience). It reports whether there was any.
func (c *comparer) anchors(i1, i2, j1, j2 int) bool {
	for i := i1; i < i2; i++ {
		c.seen[c.a[i]].inA++
	}
	for j := j1; j < j2; j++ {
		s := &c.seen[c.b[j]]
		s.inB, s.j = s.inB+1, int32(j)
	}
	var pairs []block
	for i := i1; i < i2; i++ {
		if s := &c.seen[c.a[i]]; s.inA == 1 && s.inB == 1 {
			pairs = append(pairs, block{i, int(s.j), 1})
		}
	}
	c.forget(i1, i2, j1, j2)
	if len(pairs) == 0 {
		return false
	}
	for _, p := range risingChain(pairs) {
		c.add(p.i, p.j, 1)
		c.match(i1, p.i, j1, p.j)
		i1, j1 = p.i+1, p.j+1
	}
	c.match(i1, i2, j1, j2)
	return true
}

// forget clears what was seen in two stretches.
func (c *comparer) forget(i1, i2, j1, j2 int) {
	for _, x := range c.a[i1:i2] {
		c.seen[x] = seen{}
	}
	for _, x := range c.b[j1:j2] {
		c.seen[x] = seen{}
	}
}

// risingChain is the longest part of pairs, ordered by i, that rises in j too.
func risingChain(pairs []block) []block {
	var tops []int // tops[k]: the pair with the smallest j that ends a chain of k+1
	prev := make([]int, len(pairs))
	for x, p := range pairs {
		k, _ := slices.BinarySearchFunc(tops, p.j, func(t, j int) int { return cmp.Compare(pairs[t].j, j) })
		prev[x] = -1
		if k > 0 {
			prev[x] = tops[k-1]
		}
		if k == len(tops) {
			tops = append(tops, x)
		} else {
			tops[k] = x
		}
	}
	chain := make([]block, len(tops))
	for x, k := tops[len(tops)-1], len(tops)-1; k >= 0; x, k = prev[x], k-1 {
		chain[k] = pairs[x]
	}
	return chain
}
