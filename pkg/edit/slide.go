package edit

import "slices"

// slide moves insertions and removals along equal lines to where the file has
// room for them: inserting "b a" between "a" and "c" is the same as inserting
// "a b" before "a", and the file may have other lines at the one place but
// not at the other.
func (m *merger) slide(ops []op, call, news []string) []op {
	n, j := len(call), len(news)
	ops = slices.Concat([]op{{equal: true}}, ops, []op{{true, n, n, j, j}})
	for x := range ops {
		o := &ops[x]
		if o.equal || o.i1 < o.i2 && o.j1 < o.j2 || m.fits(*o) {
			continue
		}
		up, down := ops[x-1].i2-ops[x-1].i1-1, ops[x+1].i2-ops[x+1].i1-1
		if by := m.room(*o, call, news, up, down); by != 0 {
			o.i1, o.i2, o.j1, o.j2 = o.i1+by, o.i2+by, o.j1+by, o.j2+by
			ops[x-1].i2, ops[x-1].j2 = ops[x-1].i2+by, ops[x-1].j2+by
			ops[x+1].i1, ops[x+1].j1 = ops[x+1].i1+by, ops[x+1].j1+by
		}
	}
	return ops
}

// room is how far o has to move to fit, 0 if nowhere: up is negative. It
// moves at most up lines up and down lines down, and never to a border.
func (m *merger) room(o op, call, news []string, up, down int) int {
	lines, a, b := news, o.j1, o.j2
	if o.j1 == o.j2 {
		lines, a, b = call, o.i1, o.i2
	}
	for by := -1; by >= -up && lines[a+by] == lines[b+by]; by-- {
		if m.fits(op{false, o.i1 + by, o.i2 + by, o.j1 + by, o.j2 + by}) {
			return by
		}
	}
	for by := 1; by <= down && lines[a+by-1] == lines[b+by-1]; by++ {
		if m.fits(op{false, o.i1 + by, o.i2 + by, o.j1 + by, o.j2 + by}) {
			return by
		}
	}
	return 0
}

// fits reports whether the file has the lines that o removes, one after the
// other, and nothing between the lines around an insertion.
func (m *merger) fits(o op) bool {
	for k := o.i1; k < o.i2; k++ {
		if m.of[k] < 0 {
			return false
		}
	}
	l, ok1 := m.holds(m.neighbour(o.i1-1, -1))
	r, ok2 := m.holds(m.neighbour(o.i2, 1))
	if o.i1 < o.i2 {
		return true
	}
	return ok1 && ok2 && !m.text.solidBetween(l.i1, r.i0)
}
