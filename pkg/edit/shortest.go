package edit

// mostEdits is how many differences are looked for from either end before the best way
// so far is taken. It bounds the time: so many steps for each line.
const mostEdits = 256

// shortest finds the fewest differences of a[i1:i2] and b[j1:j2], or few where they are
// very many. Lines that only one of the two has are left out first: they are
// differences in any case.
func (c *comparer) shortest(i1, i2, j1, j2 int) {
	for _, x := range c.a[i1:i2] {
		c.seen[x].inA = 1
	}
	for _, x := range c.b[j1:j2] {
		c.seen[x].inB = 1
	}
	common := func(from []int32, at, to int) (values, places []int32) {
		for ; at < to; at++ {
			if s := &c.seen[from[at]]; s.inA+s.inB == 2 {
				values, places = append(values, from[at]), append(places, int32(at))
			}
		}
		return values, places
	}
	var m myers
	var inOld, inNew []int32
	m.a, inOld = common(c.a, i1, i2)
	m.b, inNew = common(c.b, j1, j2)
	c.forget(i1, i2, j1, j2)
	m.found = func(i, j, n int) {
		for k := range n {
			c.add(int(inOld[i+k]), int(inNew[j+k]), 1)
		}
	}
	limit := min(mostEdits, (len(m.a)+len(m.b)+1)/2)
	m.forward, m.backward = newFrontier(limit), newFrontier(limit)
	m.match(0, len(m.a), 0, len(m.b))
}

// myers finds a shortest way from a to b in little memory: it goes from both ends until
// the ways meet, and does the same with both parts (Myers 1986, section 4b).
type myers struct {
	a, b              []int32
	found             func(i, j, n int) // is called with each equal stretch
	forward, backward frontier
}

// A frontier is how far the best ways with so many differences have come on each
// diagonal k, which is what they took of a less what they took of b; -1 where none is.
type frontier struct {
	far   []int32
	limit int
}

func newFrontier(limit int) frontier { return frontier{make([]int32, 2*limit+3), limit} }

func (f *frontier) at(k int) *int32 { return &f.far[k+f.limit+1] }

// step takes one more difference on diagonal k, the d-th, within n and m lines; the
// lines that are equal behind it are not taken yet. It is -1 where there is no way.
func (f *frontier) step(d, k, n, m int) int {
	if d == 0 {
		return 0
	}
	x := -1
	if before := *f.at(k - 1); before >= 0 && int(before) < n {
		x = int(before) + 1
	}
	if before := int(*f.at(k + 1)); before > x && before-k <= m {
		x = before
	}
	return x
}

// best is the place to which the ways with d differences have come the furthest.
func (f *frontier) best(d int) (x, y int) {
	for k := -d; k <= d; k += 2 {
		if far := int(*f.at(k)); far >= 0 && 2*far-k > x+y {
			x, y = far, far-k
		}
	}
	return x, y
}

// match finds the equal stretches of a[i1:i2] and b[j1:j2].
func (m *myers) match(i1, i2, j1, j2 int) {
	for {
		head, tail := equalEnds(m.a[i1:i2], m.b[j1:j2])
		m.found(i1, j1, head)
		i1, i2, j1, j2 = i1+head, i2-tail, j1+head, j2-tail
		m.found(i2, j2, tail)
		if i1 == i2 || j1 == j2 {
			return
		}
		i, j := m.split(i1, i2, j1, j2)
		switch i + j {
		case i1 + j1, i2 + j2:
			return // which cannot be, and would not end
		}
		if i-i1+j-j1 < i2-i+j2-j { // the smaller part first, so that few wait for their turn
			m.match(i1, i, j1, j)
			i1, j1 = i, j
		} else {
			m.match(i, i2, j, j2)
			i2, j2 = i, j
		}
	}
}

// split is a place on a shortest way, or on the one that came the furthest.
func (m *myers) split(i1, i2, j1, j2 int) (i, j int) {
	n, l := i2-i1, j2-j1
	delta := n - l
	fw, bw := &m.forward, &m.backward
	for d := 0; d <= fw.limit; d++ {
		for _, f := range [...]*frontier{fw, bw} {
			*f.at(-d - 1), *f.at(d + 1) = -1, -1
		}
		for k := -d; k <= d; k += 2 {
			x := fw.step(d, k, n, l)
			for x >= 0 && x < n && x-k < l && m.a[i1+x] == m.b[j1+x-k] {
				x++
			}
			*fw.at(k) = int32(x)
			if other := delta - k; x >= 0 && delta&1 != 0 && other >= 1-d && other <= d-1 {
				if back := int(*bw.at(other)); back >= 0 && x+back >= n {
					return i1 + x, j1 + x - k
				}
			}
		}
		for k := -d; k <= d; k += 2 {
			x := bw.step(d, k, n, l)
			for x >= 0 && x < n && x-k < l && m.a[i2-x-1] == m.b[j2-x+k-1] {
				x++
			}
			*bw.at(k) = int32(x)
			if other := delta - k; x >= 0 && delta&1 == 0 && other >= -d && other <= d {
				if ahead := int(*fw.at(other)); ahead >= 0 && x+ahead >= n {
					return i2 - x, j2 - x + k
				}
			}
		}
	}
	x, y := fw.best(fw.limit)
	if back, up := bw.best(bw.limit); back+up > x+y {
		return i2 - back, j2 - up
	}
	return i1 + x, j1 + y
}
