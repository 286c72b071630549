package rg

import (
	"slices"
	"unicode/utf8"
	"unsafe"
)

// A verdict is how a run of the lazy automaton ended.
type verdict uint8

const (
	noMatch verdict = iota
	matched
	unsure // only the simulator can tell, because of what stands at the position
)

// An entry of the transition table is where the row of the next state begins,
// in bytes so that the next look-up has nothing to work out, and flags.
const (
	entryUnknown uint32 = 1 << 31
	entryMatch   uint32 = 1 << 30 // the text before this byte ends a match
	entryUnsure  uint32 = 1 << 29
	entryStart   uint32 = 1 << 28 // the next state has no match under way
	entryRow     uint32 = 1<<28 - 1
)

const (
	rowSize   = 256
	entrySize = 4
	rowBytes  = rowSize * entrySize
	endOfText = 256
	maxStates = 3000 // 3 MB of rows
)

// Flags of a state: what stands before its position.
const (
	afterLineBreak uint8 = 1 << iota
	afterWord
	atTextStart
)

type lazyState struct {
	set    []int32
	before uint8
	looks  look // the assertions still to be decided
}

// A lazyDFA finds whether a program matches, building states as the text
// demands them. It is for one goroutine.
type lazyDFA struct {
	p        *program
	lineMode bool // each line is a text of its own
	rows     []uint32
	states   []lazyState
	index    map[string]uint32
	mark     []uint32
	gen      uint32
	stack    []int32
	work     [2][]int32
	key      []byte
	starts   [8]uint32 // by flags; entryUnknown until made
	resets   int       // how often the table grew too large
	skip     finder    // where a match can begin; nil when that is no faster
	startSet []int32
	matters  uint8 // the flags that some assertion looks at
}

// newLazyDFA makes the automaton of p. Prefix finds what every match begins
// with; nil where that is not known.
func newLazyDFA(p *program, lineMode bool, prefix finder) *lazyDFA {
	d := &lazyDFA{p: p, lineMode: lineMode, mark: make([]uint32, len(p.insts))}
	if p.looks&^(lookLineStart|lookLineEnd|lookTextStart|lookTextEnd) != 0 {
		d.matters |= afterWord
	}
	if p.looks&lookLineStart != 0 {
		d.matters |= afterLineBreak | atTextStart
	}
	if p.looks&lookTextStart != 0 {
		d.matters |= atTextStart
	}
	d.reset()
	switch {
	case prefix != nil:
		d.skip = prefix
	case !p.empty:
		if f := newByteFinder(&p.first); f != nil {
			d.skip = f
		}
	}
	return d
}

func (d *lazyDFA) reset() {
	d.rows = d.rows[:0]
	d.states = d.states[:0]
	d.index = make(map[string]uint32)
	for i := range d.starts {
		d.starts[i] = entryUnknown
	}
	d.nextGen()
	d.startSet = d.close(nil, d.p.start, 0)
	slices.Sort(d.startSet)
}

func (d *lazyDFA) nextGen() {
	d.gen++
	if d.gen == 0 {
		clear(d.mark)
		d.gen = 1
	}
}

// startAt is the state at a position that follows what before says.
func (d *lazyDFA) startAt(before uint8) uint32 {
	if d.starts[before] == entryUnknown {
		d.starts[before] = d.intern(d.startSet, before)
	}
	return d.starts[before]
}

// close adds to set what can be reached from at without a byte; holds are the
// assertions known to be true, others stay in the set until they are decided.
func (d *lazyDFA) close(set []int32, at int32, holds look) []int32 {
	d.stack = append(d.stack[:0], at)
	for len(d.stack) > 0 {
		at := d.stack[len(d.stack)-1]
		d.stack = d.stack[:len(d.stack)-1]
		if d.mark[at] == d.gen {
			continue
		}
		d.mark[at] = d.gen
		in := &d.p.insts[at]
		switch in.kind {
		case instFail:
		case instSplit:
			d.stack = append(d.stack, in.arg, in.out)
		case instLook:
			if holds&in.look != 0 {
				d.stack = append(d.stack, in.out)
			} else {
				set = append(set, at)
			}
		default:
			set = append(set, at)
		}
	}
	return set
}

// intern gives the row of the state with these instructions.
func (d *lazyDFA) intern(set []int32, before uint8) uint32 {
	var looks look
	for _, at := range set {
		if in := &d.p.insts[at]; in.kind == instLook {
			looks |= in.look
		}
	}
	if looks == 0 {
		before = 0
	}
	before &= d.matters // assertions may stand behind those of the set
	d.key = append(d.key[:0], before)
	for _, at := range set {
		d.key = append(d.key, byte(at), byte(at>>8), byte(at>>16))
	}
	if row, ok := d.index[string(d.key)]; ok {
		return row
	}
	row := uint32(len(d.states)) * rowBytes
	d.states = append(d.states, lazyState{slices.Clone(set), before, looks})
	d.rows = slices.Grow(d.rows, rowSize)[:len(d.rows)+rowSize]
	fresh := d.rows[len(d.rows)-rowSize:]
	for i := range fresh {
		fresh[i] = entryUnknown
	}
	d.index[string(d.key)] = row
	return row
}

// next computes the entry of row for byte b, or for the end of the text.
func (d *lazyDFA) next(row uint32, b int) uint32 {
	state := &d.states[row/rowBytes]
	if b >= utf8.RuneSelf && b != endOfText && d.p.looks&lookUnicode != 0 {
		d.rows[row/entrySize+uint32(b)] = entryUnsure
		return entryUnsure
	}
	set := state.set
	if state.looks != 0 {
		holds := d.around(state.before, b).holds()
		d.nextGen()
		decided := d.work[0][:0]
		for _, at := range set {
			decided = d.close(decided, at, holds)
		}
		d.work[0], set = decided, decided
	}
	isMatch := false
	d.nextGen()
	out := d.work[1][:0]
	for _, at := range set {
		in := &d.p.insts[at]
		switch in.kind {
		case instMatch:
			isMatch = true
		case instByte, instSet:
			if b == endOfText {
				continue
			}
			if to := in.step(byte(b)); to != dead {
				out = d.close(out, to, 0)
			}
		}
	}
	if d.lineMode && b == '\n' {
		out = out[:0]
		d.nextGen()
	}
	fresh := len(out) == 0 && (d.skip != nil || !d.lineMode && !slices.Equal(state.set, d.startSet))
	out = d.close(out, d.p.start, 0)
	slices.Sort(out)
	d.work[1] = out
	var before uint8
	if b == '\n' {
		before |= afterLineBreak
	}
	if b < utf8.RuneSelf && isWordByte(byte(b)) {
		before |= afterWord
	}
	entry := d.intern(out, before)
	if isMatch {
		entry |= entryMatch
	}
	if fresh {
		entry |= entryStart
	}
	if b != endOfText {
		d.rows[row/entrySize+uint32(b)] = entry
	}
	return entry
}

// around describes a position after what before says and before byte b.
func (d *lazyDFA) around(before uint8, b int) place {
	s := place{
		lineStart: before&(afterLineBreak|atTextStart) != 0,
		textStart: before&atTextStart != 0,
		textEnd:   b == endOfText,
		lineEnd:   b == endOfText || b == '\n',
		word:      before&afterWord != 0,
	}
	s.byteWord = s.word
	if b < utf8.RuneSelf {
		s.wordNext = isWordByte(byte(b))
		s.byteWordNext = s.wordNext
	}
	return s
}

// find runs over text[pos:] and stops where a match ends: at is that end, or
// the position of doubt. No match begins before safe. A text that does not end
// here (more of it follows) has no end to match at.
func (d *lazyDFA) find(text []byte, pos int, ends bool) (at, safe int, v verdict) {
	if len(d.states) > maxStates {
		d.resets++
		d.reset()
	}
	i, row, v := d.begin(text, pos)
	if v != matched {
		return i, i, v
	}
	for safe = i; ; {
		var entry uint32
		n := 0
		n, row, entry = follow(unsafe.Pointer(unsafe.SliceData(d.rows)), text[i:], row)
		if i += n; i == len(text) {
			break
		}
		if entry == entryUnknown {
			if len(d.states) > maxStates {
				return i, safe, unsure
			}
			entry = d.next(row, int(text[i]))
		}
		if entry&entryMatch != 0 {
			return i, safe, matched
		}
		if entry&entryUnsure != 0 {
			return i, safe, unsure
		}
		row = entry & entryRow
		i++
		if entry&entryStart != 0 {
			safe = i
			if d.skip != nil {
				if i, row, v = d.begin(text, i); v != matched {
					return i, i, v
				}
				safe = i
			}
		}
	}
	if ends && d.next(row, endOfText)&entryMatch != 0 {
		return len(text), safe, matched
	}
	return 0, 0, noMatch
}

// follow takes the transitions for text, from row on, up to the first whose
// entry has a flag: the bytes taken, the row then, and that entry; 0 at the
// end of the text. Rows is a table with rowSize entries from every row on.
//
// The loop is a function by itself so that all of it stays in registers, and
// it adds the column first: only the row has to be waited for.
//
//go:noinline
func follow(rows unsafe.Pointer, text []byte, row uint32) (n int, at, entry uint32) {
	at = row
	for i, b := range text {
		entry = *(*uint32)(unsafe.Add(unsafe.Add(rows, uintptr(b)*entrySize), at))
		if entry >= entryStart {
			return i, at, entry
		}
		at = entry
	}
	return len(text), at, 0
}

// begin skips to where a match can begin and gives the state there. The
// verdict is matched when there is such a place.
func (d *lazyDFA) begin(text []byte, pos int) (at int, row uint32, v verdict) {
	if d.skip != nil {
		if pos = d.skip.index(text, pos); pos < 0 {
			return 0, 0, noMatch
		}
	}
	if pos > 0 && text[pos-1] >= utf8.RuneSelf && d.p.looks&lookUnicode != 0 {
		return pos, 0, unsure
	}
	if d.matters == 0 {
		return pos, d.startAt(0), matched
	}
	return pos, d.startAt(d.flagsAt(text, pos)), matched
}

func (d *lazyDFA) flagsAt(text []byte, pos int) uint8 {
	if pos == 0 {
		return atTextStart | afterLineBreak
	}
	c := text[pos-1]
	switch {
	case c == '\n':
		return afterLineBreak
	case isWordByte(c):
		return afterWord
	}
	return 0
}
