package rg

import "slices"

import "unicode/utf8"

type instKind uint8

const (
	instFail instKind = iota
	instMatch
	instSplit // out, then arg
	instLook  // out when the assertion look holds
	instByte  // out when the byte is lo..hi
	instSet   // a state of a byteSet
)

type inst struct {
	kind   instKind
	lo, hi byte
	look   look
	out    int32
	arg    int32 // the other branch of a split; the state within a set
	base   int32 // the instruction of the set's first state
	set    *byteSet
}

// A program is a pattern as an automaton over bytes.
type program struct {
	insts []inst
	start int32
	looks look
	tree  *node
	first [256]bool // the bytes a match can begin with
	empty bool      // a match may take no byte, or first is not known
}

const maxInsts = 400_000

type compiler struct {
	p        *program
	sets     map[string]*byteSet
	lineMode bool // a text is one line: its start and end are the line's
	full     bool
}

// compile makes the program of a pattern. In line mode the program sees one
// line at a time.
func compile(tree *node, lineMode bool) (*program, bool) {
	c := &compiler{p: &program{tree: tree}, sets: map[string]*byteSet{}, lineMode: lineMode}
	end := c.emit(inst{kind: instMatch})
	c.p.start = c.node(tree, end)
	if c.full {
		return nil, false
	}
	c.p.findFirst()
	return c.p, true
}

func (c *compiler) emit(in inst) int32 {
	if len(c.p.insts) >= maxInsts {
		c.full = true
		return 0
	}
	c.p.insts = append(c.p.insts, in)
	return int32(len(c.p.insts) - 1)
}

// node emits n followed by the instruction next, and gives where it begins.
func (c *compiler) node(n *node, next int32) int32 {
	if c.full {
		return 0
	}
	switch n.op {
	case opSet:
		return c.set(n.set, next)
	case opLook:
		kind := n.look
		if c.lineMode && kind == lookTextStart {
			kind = lookLineStart
		}
		if c.lineMode && kind == lookTextEnd {
			kind = lookLineEnd
		}
		c.p.looks |= kind
		return c.emit(inst{kind: instLook, look: kind, out: next})
	case opConcat:
		for _, v := range slices.Backward(n.subs) {
			next = c.node(v, next)
		}
		return next
	case opAlt:
		at := c.node(n.subs[len(n.subs)-1], next)
		for i := len(n.subs) - 2; i >= 0; i-- {
			at = c.emit(inst{kind: instSplit, out: c.node(n.subs[i], next), arg: at})
		}
		return at
	case opRepeat:
		return c.repeat(n, next)
	}
	return next
}

func (c *compiler) repeat(n *node, next int32) int32 {
	sub := n.subs[0]
	if n.max < 0 {
		if sub.nullable() && n.min == 0 { // x* as (x+)?, or an empty x would end the loop too early
			return c.split(c.plus(sub, n.lazy, next), next, n.lazy)
		}
		if n.min == 0 {
			loop := c.emit(inst{kind: instSplit})
			c.patch(loop, c.node(sub, loop), next, n.lazy)
			return loop
		}
		next = c.plus(sub, n.lazy, next)
		for i := 1; i < n.min && !c.full; i++ {
			next = c.node(sub, next)
		}
		return next
	}
	after := next
	for i := n.min; i < n.max && !c.full; i++ {
		next = c.split(c.node(sub, next), after, n.lazy)
	}
	for i := 0; i < n.min && !c.full; i++ {
		next = c.node(sub, next)
	}
	return next
}

func (c *compiler) plus(sub *node, lazy bool, next int32) int32 {
	loop := c.emit(inst{kind: instSplit})
	body := c.node(sub, loop)
	c.patch(loop, body, next, lazy)
	return body
}

func (c *compiler) split(body, next int32, lazy bool) int32 {
	at := c.emit(inst{kind: instSplit})
	c.patch(at, body, next, lazy)
	return at
}

func (c *compiler) patch(at, body, next int32, lazy bool) {
	if c.full {
		return
	}
	in := &c.p.insts[at]
	in.out, in.arg = body, next
	if lazy {
		in.out, in.arg = next, body
	}
}

// setKey tells sets apart.
func setKey(set runeSet) string {
	key := make([]byte, 0, 3*len(set))
	for _, r := range set {
		key = append(key, byte(r), byte(r>>8), byte(r>>16))
	}
	return string(key)
}

func (c *compiler) set(set runeSet, next int32) int32 {
	if len(set) == 2 && set[1] < utf8.RuneSelf {
		return c.emit(inst{kind: instByte, lo: byte(set[0]), hi: byte(set[1]), out: next})
	}
	key := setKey(set)
	auto, ok := c.sets[key]
	if !ok {
		auto = newByteSet(set)
		c.sets[key] = auto
	}
	base := int32(len(c.p.insts))
	for state := range auto.states {
		c.emit(inst{kind: instSet, set: auto, arg: int32(state), base: base, out: next})
	}
	return base
}

// step gives the instruction that b leads to from in; dead where there is none.
func (in *inst) step(b byte) int32 {
	if in.kind == instByte {
		if in.lo <= b && b <= in.hi {
			return in.out
		}
		return dead
	}
	s := in.set.step(in.arg, b)
	switch s {
	case dead:
		return dead
	case accept:
		return in.out
	}
	return in.base + s
}

// findFirst fills first and empty.
func (p *program) findFirst() {
	seen := make([]bool, len(p.insts))
	stack := []int32{p.start}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[at] {
			continue
		}
		seen[at] = true
		in := &p.insts[at]
		switch in.kind {
		case instMatch:
			p.empty = true
		case instSplit:
			stack = append(stack, in.out, in.arg)
		case instLook:
			stack = append(stack, in.out)
		case instByte:
			for b := int(in.lo); b <= int(in.hi); b++ {
				p.first[b] = true
			}
		case instSet:
			for _, r := range in.set.states[in.arg] {
				for b := int(r.lo); b <= int(r.hi); b++ {
					p.first[b] = true
				}
			}
		}
	}
}
