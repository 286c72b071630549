package zstd

import (
	"encoding/binary"
	"math/bits"
)

// A backward reader reads bits from the end of what it has to its beginning. Behind the
// last one there is a bit that is set, and then zeros.
type backward struct {
	data []byte
	left int // bits; less than 0 when more were read
}

func newBackward(data []byte) (*backward, error) {
	if len(data) == 0 || data[len(data)-1] == 0 {
		return nil, damaged("a stream of bits has no end")
	}
	return &backward{data, len(data)*8 - 9 + bits.Len8(data[len(data)-1])}, nil
}

// peek returns the next n bits, at most 56; what lies before the beginning is 0.
func (b *backward) peek(n int) uint64 {
	at := b.left - n
	if at < 0 {
		if b.left <= 0 {
			return 0
		}
		return b.bits(0, b.left) << -at
	}
	return b.bits(at, n)
}

func (b *backward) bits(at, n int) uint64 {
	from := at >> 3
	var v uint64
	if from+8 <= len(b.data) {
		v = binary.LittleEndian.Uint64(b.data[from:])
	} else {
		for i, c := range b.data[from:] {
			v |= uint64(c) << (8 * i)
		}
	}
	return v >> (at & 7) & (1<<n - 1)
}

func (b *backward) take(n int) uint64 {
	v := b.peek(n)
	b.left -= n
	return v
}

// A state of a table for finite-state entropy coding: what it stands for, and where the
// next bits lead from there.
type state struct {
	symbol uint8
	bits   uint8
	base   uint16
}

// An fse is such a table.
type fse struct {
	log    int
	states []state
}

// newFSE makes the table of a distribution: how many of 1<<log states each symbol has,
// -1 for one that is rarer than that.
func newFSE(log int, share []int16) *fse {
	size := 1 << log
	t := &fse{log, make([]state, size)}
	next := make([]int, len(share))
	high := size - 1
	for s, n := range share {
		next[s] = int(n)
		if n == -1 {
			next[s] = 1
			t.states[high].symbol = uint8(s)
			high--
		}
	}
	at, step := 0, size>>1+size>>3+3
	for s, n := range share {
		for range n {
			t.states[at].symbol = uint8(s)
			for at = (at + step) & (size - 1); at > high; {
				at = (at + step) & (size - 1)
			}
		}
	}
	for i := range t.states {
		st := &t.states[i]
		n := next[st.symbol]
		next[st.symbol]++
		st.bits = uint8(log - bits.Len(uint(n)) + 1)
		st.base = uint16(n<<st.bits - size)
	}
	return t
}

// single is the table of one symbol that takes no bits.
func single(symbol byte) *fse { return &fse{0, []state{{symbol: symbol}}} }

// readFSE reads a distribution and makes its table, and returns how many bytes it took.
func readFSE(data []byte, maxLog, maxSymbol int) (*fse, int, error) {
	at := 0
	take := func(n int) int {
		v := 0
		for i := range n {
			if at>>3 < len(data) {
				v |= int(data[at>>3]>>(at&7)&1) << i
			}
			at++
		}
		return v
	}
	log := take(4) + 5
	if log > maxLog {
		return nil, 0, damaged("a table is too large")
	}
	left := 1 << log
	var share []int16
	for left > 0 && len(share) <= maxSymbol {
		// A value up to left+1 takes as many bits as that has; the lowest ones one less.
		width := bits.Len(uint(left + 1))
		spare := 1<<width - 1 - (left + 1)
		v := take(width - 1)
		if v >= spare {
			if v += take(1) << (width - 1); v >= 1<<(width-1) {
				v -= spare
			}
		}
		n := v - 1
		share = append(share, int16(n))
		left -= max(n, -n)
		for again := 3; n == 0 && again == 3; {
			again = take(2)
			share = append(share, make([]int16, again)...)
		}
	}
	used := (at + 7) / 8
	if left != 0 || len(share) > maxSymbol+1 || used > len(data) {
		return nil, 0, damaged("a table's shares make no whole")
	}
	return newFSE(log, share), used, nil
}

// A huffman is a table that finds a symbol by the bits that come.
type huffman struct {
	log   int
	codes []code
}

type code struct{ symbol, bits uint8 }

const maxHuffman = 11

// readHuffman reads a table, and returns how many bytes it took.
func readHuffman(data []byte) (*huffman, int, error) {
	if len(data) == 0 {
		return nil, 0, damaged("a table is missing")
	}
	n, used := int(data[0]), 1
	var weights []uint8
	if n >= 128 {
		n -= 127
		if used += (n + 1) / 2; used > len(data) {
			return nil, 0, damaged("a table is cut off")
		}
		for i := range n {
			weights = append(weights, data[1+i/2]>>(4-4*(i&1))&15)
		}
	} else {
		if used += n; used > len(data) {
			return nil, 0, damaged("a table is cut off")
		}
		var err error
		if weights, err = codedWeights(data[1:used]); err != nil {
			return nil, 0, err
		}
	}
	h, err := newHuffman(weights)
	return h, used, err
}

// codedWeights reads weights that two states take turns in telling.
func codedWeights(data []byte) (weights []uint8, err error) {
	t, used, err := readFSE(data, 6, 255)
	if err != nil {
		return nil, err
	}
	b, err := newBackward(data[used:])
	if err != nil {
		return nil, err
	}
	now, next := t.states[b.take(t.log)], t.states[b.take(t.log)]
	for len(weights) < 254 {
		weights = append(weights, now.symbol)
		at := int(now.base) + int(b.take(int(now.bits)))
		if b.left < 0 {
			return append(weights, next.symbol), nil
		}
		now, next = next, t.states[at]
	}
	return nil, damaged("a table has too many weights")
}

// newHuffman makes the table of weights; that of the last symbol follows from the others.
func newHuffman(weights []uint8) (*huffman, error) {
	sum := 0
	for _, w := range weights {
		if w > maxHuffman {
			return nil, damaged("a weight is too large")
		}
		sum += 1 << w >> 1
	}
	log := bits.Len(uint(sum))
	rest := 1<<log - sum
	if sum == 0 || log > maxHuffman || rest&(rest-1) != 0 || len(weights) > 255 {
		return nil, damaged("a table's weights make no whole")
	}
	weights = append(weights, uint8(bits.Len(uint(rest))))
	h := &huffman{log, make([]code, 0, 1<<log)}
	for w := 1; w <= log; w++ {
		for s, own := range weights {
			if int(own) != w {
				continue
			}
			for range 1 << (w - 1) {
				h.codes = append(h.codes, code{uint8(s), uint8(log + 1 - w)})
			}
		}
	}
	if len(h.codes) != 1<<log {
		return nil, damaged("a table's weights make no whole")
	}
	return h, nil
}

// decode appends n symbols that a stream holds, no more and no less.
func (h *huffman) decode(out, stream []byte, n int) ([]byte, error) {
	b, err := newBackward(stream)
	if err != nil {
		return nil, err
	}
	for range n {
		c := h.codes[b.peek(h.log)]
		out = append(out, c.symbol)
		b.left -= int(c.bits)
	}
	if b.left != 0 {
		return nil, damaged("literals do not end where their stream does")
	}
	return out, nil
}
