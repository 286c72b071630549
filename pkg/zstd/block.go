package zstd

// compressed reads a block of literals and of sequences, which say how these alternate
// with what was there before.
func (r *Reader) compressed(data []byte) error {
	data, err := r.readLiterals(data)
	if err != nil {
		return err
	}
	if len(data) == 0 {
		return damaged("a block has no sequences")
	}
	count, used := int(data[0]), 1
	switch {
	case count >= 128 && len(data) < 3:
		return damaged("a block is cut off")
	case count == 255:
		count, used = int(data[1])+int(data[2])<<8+0x7F00, 3
	case count >= 128:
		count, used = (count-128)<<8+int(data[1]), 2
	}
	if count > 0 {
		return r.sequences(data[used:], count)
	}
	if len(data) != used {
		return damaged("a block holds more than it says")
	}
	r.out = append(r.out, r.literals...)
	return nil
}

// readLiterals reads the literals of a block, and returns what follows them.
func (r *Reader) readLiterals(data []byte) ([]byte, error) {
	r.literals = r.literals[:0]
	if len(data) == 0 {
		return nil, damaged("a block is empty")
	}
	kind, format := data[0]&3, int(data[0]>>2&3)
	head, width, streams := 0, 0, 1
	if kind < 2 {
		head, width = []int{1, 2, 1, 3}[format], []int{5, 12, 5, 20}[format]
	} else {
		head, width = []int{3, 3, 4, 5}[format], []int{10, 10, 14, 18}[format]
		if format > 0 {
			streams = 4
		}
	}
	if len(data) < head {
		return nil, damaged("a block is cut off")
	}
	var v uint64
	for i, b := range data[:head] {
		v |= uint64(b) << (8 * i)
	}
	data = data[head:]
	if kind < 2 {
		return r.plainLiterals(data, kind == 1, int(v>>(8*head-width)))
	}
	mask := uint64(1)<<width - 1
	size, packed := int(v>>4&mask), int(v>>(4+width)&mask)
	if size > maxBlock || packed > len(data) {
		return nil, damaged("literals are too large")
	}
	stream, rest := data[:packed], data[packed:]
	if kind == 2 {
		h, used, err := readHuffman(stream)
		if err != nil {
			return nil, err
		}
		r.huffman, stream = h, stream[used:]
	}
	if r.huffman == nil {
		return nil, damaged("literals need a table that there is not")
	}
	return rest, r.codedLiterals(stream, size, streams)
}

// plainLiterals are those that stand there, or one again and again.
func (r *Reader) plainLiterals(data []byte, same bool, size int) ([]byte, error) {
	have := size
	if same {
		have = 1
	}
	if size > maxBlock || have > len(data) {
		return nil, damaged("literals are too large")
	}
	if !same {
		r.literals = append(r.literals, data[:size]...)
	}
	for same && len(r.literals) < size {
		r.literals = append(r.literals, data[0])
	}
	return data[have:], nil
}

// codedLiterals are those of one stream, or of four that follow their three lengths.
func (r *Reader) codedLiterals(stream []byte, size, streams int) (err error) {
	if streams == 1 {
		r.literals, err = r.huffman.decode(r.literals, stream, size)
		return err
	}
	if len(stream) < 6 {
		return damaged("literals are cut off")
	}
	lengths, stream, part := stream[:6], stream[6:], (size+3)/4
	for i := range 4 {
		n := len(stream)
		if i < 3 {
			n = int(lengths[2*i]) + int(lengths[2*i+1])<<8
		} else {
			part = size - 3*part
		}
		if n > len(stream) || part < 0 {
			return damaged("literals are cut off")
		}
		if r.literals, err = r.huffman.decode(r.literals, stream[:n], part); err != nil {
			return err
		}
		stream = stream[n:]
	}
	return nil
}

// The kinds of codes that a sequence has.
const (
	literalLengths = iota
	offsets
	matchLengths
)

// usualShares are the distributions that need not be told.
func usualShares(kind int) (log int, share []int16) {
	switch kind {
	case literalLengths:
		return 6, []int16{4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1}
	case offsets:
		return 5, []int16{1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1}
	}
	return 6, []int16{
		1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		-1, -1, -1, -1, -1, -1, -1,
	}
}

// A length is what a code for one stands for: the least, and how many bits say what is
// to be added.
type length struct{ base, bits int }

// longer are the lengths of the codes that have bits: those of literals from 16 on, of
// matches from 32 on.
func longer(kind int) (first, least int, bits []int) {
	if kind == literalLengths {
		return 16, 16, []int{1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	}
	return 32, 35, []int{1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
}

// lengths are those of all codes of a kind. The table of the first that have bits says
// where the others begin, but for the gaps that the format has.
func lengths(kind int) []length {
	first, base, widths := longer(kind)
	var list []length
	for i := range first {
		list = append(list, length{i + base - first, 0})
	}
	for i, bits := range widths {
		if kind == literalLengths && bits == 6 {
			base = 64
		}
		list = append(list, length{base, bits})
		base += 1 << widths[i]
	}
	return list
}

// table is the table for a kind of codes, as the block says, and how many bytes that took.
func (r *Reader) table(kind int, mode byte, data []byte) (used int, err error) {
	maxLog, maxSymbol := []int{9, 8, 9}[kind], []int{35, 31, 52}[kind]
	switch mode {
	case 0:
		r.tables[kind] = newFSE(usualShares(kind))
	case 1:
		if len(data) == 0 || int(data[0]) > maxSymbol {
			return 0, damaged("a code is too large")
		}
		r.tables[kind], used = single(data[0]), 1
	case 2:
		r.tables[kind], used, err = readFSE(data, maxLog, maxSymbol)
	default:
		if r.tables[kind] == nil {
			err = damaged("sequences need a table that there is not")
		}
	}
	return used, err
}

// sequences carries out those of a block.
func (r *Reader) sequences(data []byte, count int) error {
	if len(data) == 0 || data[0]&3 != 0 {
		return damaged("sequences are cut off")
	}
	modes := data[0]
	data = data[1:]
	for kind := range r.tables {
		used, err := r.table(kind, modes>>(6-2*kind)&3, data)
		if err != nil {
			return err
		}
		data = data[used:]
	}
	b, err := newBackward(data)
	if err != nil {
		return err
	}
	literalCodes, matchCodes := lengths(literalLengths), lengths(matchLengths)
	var at [3]state
	for kind, t := range r.tables {
		at[kind] = t.states[b.take(t.log)]
	}
	start, rest := len(r.out), r.literals
	for n := range count {
		far := int(at[offsets].symbol)
		far = 1<<far + int(b.take(far))
		match := matchCodes[at[matchLengths].symbol]
		size := match.base + int(b.take(match.bits))
		literal := literalCodes[at[literalLengths].symbol]
		own := literal.base + int(b.take(literal.bits))
		if n < count-1 {
			for _, kind := range [...]int{literalLengths, matchLengths, offsets} {
				at[kind] = r.tables[kind].states[int(at[kind].base)+int(b.take(int(at[kind].bits)))]
			}
		}
		if b.left < 0 || own > len(rest) || len(r.out)-start+own+size > maxBlock {
			return damaged("a sequence goes too far")
		}
		r.out, rest = append(r.out, rest[:own]...), rest[own:]
		if err := r.repeat(r.back(far, own == 0), size); err != nil {
			return err
		}
	}
	if b.left != 0 {
		return damaged("sequences do not end where their stream does")
	}
	r.out = append(r.out, rest...)
	return nil
}

// back is how far a sequence goes back: so far, or as one of the last three did.
func (r *Reader) back(far int, noLiterals bool) int {
	which := far - 1
	if noLiterals {
		which++
	}
	switch {
	case far > 3:
		far, which = far-3, 2
	case which == 3:
		far, which = r.repeated[0]-1, 2
	default:
		far = r.repeated[which]
	}
	copy(r.repeated[1:which+1], r.repeated[:which])
	r.repeated[0] = far
	return far
}

// repeat appends size bytes from so far back.
func (r *Reader) repeat(far, size int) error {
	from := len(r.out) - far
	if far <= 0 || from < 0 || far > max(r.window, smallestFrame) {
		return damaged("a sequence goes back too far")
	}
	for far < size { // the end is repeated while it grows
		r.out = append(r.out, r.out[from:from+far]...)
		size -= far
		from += far
	}
	r.out = append(r.out, r.out[from:from+size]...)
	return nil
}
