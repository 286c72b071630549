// Package zstd reads what is compressed as Zstandard (RFC 8878).
//
// It reads bodies of the web: without dictionaries, in a window that the caller
// bounds. The checksum behind a frame is passed over. Nothing is set up before the
// first Reader is made, which is why it is here: the usual library computes tables
// whenever a program starts that holds it.
package zstd

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ErrDamaged is the cause of every error that is about what is read.
var ErrDamaged = errors.New("damaged zstd data")

func damaged(what string) error { return fmt.Errorf("%w: %s", ErrDamaged, what) }

const (
	frameMagic    = 0xFD2FB528
	skippable     = 0x184D2A50 // to 0x184D2A5F
	maxBlock      = 128 << 10
	smallestFrame = 1 << 10 // the least window that a frame can ask for
)

// A Reader decompresses a stream of frames.
type Reader struct {
	in        *bufio.Reader
	maxWindow int

	out  []byte // what was decompressed and may still be referred to, then what was not read yet
	read int    // of out
	err  error

	frame  bool // inside of one
	last   bool // its last block was read
	check  bool // a checksum follows it
	window int
	left   int64 // bytes that its header promises; -1 where it does not

	buf      []byte // of a block
	literals []byte
	huffman  *huffman
	tables   [3]*fse // literals, offsets, matches
	repeated [3]int
}

// NewReader returns a Reader of in that keeps at most so many bytes to refer to.
func NewReader(in io.Reader, maxWindow int) *Reader {
	return &Reader{in: bufio.NewReader(in), maxWindow: maxWindow}
}

// Read implements io.Reader. What is damaged ends it with ErrDamaged, what is cut off
// with io.ErrUnexpectedEOF.
func (r *Reader) Read(p []byte) (int, error) {
	for r.read == len(r.out) && r.err == nil {
		r.err = r.next()
	}
	if r.read == len(r.out) {
		return 0, r.err
	}
	n := copy(p, r.out[r.read:])
	r.read += n
	return n, nil
}

// next reads a frame's header, a block, or what is behind the last one.
func (r *Reader) next() error {
	switch {
	case !r.frame:
		return r.begin()
	case r.last:
		r.frame = false
		if r.left > 0 {
			return damaged("a frame is shorter than it says")
		}
		if r.check {
			_, err := r.in.Discard(4)
			return cut(err)
		}
		return nil
	}
	return r.block()
}

// cut makes an end in the middle of something an error.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// number reads a little-endian number of n bytes.
func (r *Reader) number(n int) (uint64, error) {
	var b [8]byte
	_, err := io.ReadFull(r.in, b[:n])
	return binary.LittleEndian.Uint64(b[:]), cut(err)
}

// begin reads the header of a frame, or passes over one that is to be skipped. The
// stream may end in front of it.
func (r *Reader) begin() error {
	if _, err := r.in.Peek(1); err != nil {
		return err
	}
	magic, err := r.number(4)
	switch {
	case err != nil:
		return err
	case magic&^0xF == skippable:
		n, err := r.number(4)
		if err == nil {
			_, err = io.CopyN(io.Discard, r.in, int64(n))
		}
		return cut(err)
	case magic != frameMagic:
		return damaged("this is no frame")
	}
	flags, err := r.number(1)
	if err != nil {
		return err
	}
	single, window := flags&0x20 != 0, uint64(0)
	if !single {
		w, err := r.number(1)
		if err != nil {
			return err
		}
		window = 1 << (10 + w>>3)
		window += window / 8 * (w & 7)
	}
	dictionary, err := r.number([]int{0, 1, 2, 4}[flags&3])
	switch {
	case err != nil:
		return err
	case dictionary != 0:
		return damaged("it needs a dictionary")
	case flags&0x08 != 0:
		return damaged("a reserved bit is set")
	}
	r.left = -1
	if size := flags >> 6; size > 0 || single {
		n, err := r.number(1 << size)
		if size == 1 {
			n += 256
		}
		switch {
		case err != nil:
			return err
		case n > 1<<62:
			return damaged("a frame is too large")
		}
		r.left = int64(n)
		if single {
			window = n
		}
	}
	if window > uint64(max(r.maxWindow, smallestFrame)) {
		return damaged(fmt.Sprintf("it refers to %d bytes back, and at most %d are kept", window, r.maxWindow))
	}
	r.frame, r.last, r.check, r.window = true, false, flags&4 != 0, int(window)
	r.huffman, r.tables, r.repeated = nil, [3]*fse{}, [3]int{1, 4, 8}
	r.out, r.read = r.out[:0], 0
	return nil
}

// block reads one block of a frame.
func (r *Reader) block() error {
	header, err := r.number(3)
	if err != nil {
		return err
	}
	r.last = header&1 != 0
	size := int(header >> 3)
	if keep := r.window; len(r.out) > keep+1<<20 { // all of it has been read
		r.out = append(r.out[:0], r.out[len(r.out)-keep:]...)
		r.read = len(r.out)
	}
	most := min(maxBlock, max(r.window, 1))
	before := len(r.out)
	if size > most && header>>1&3 != 1 || size > maxBlock {
		return damaged("a block is too large")
	}
	switch header >> 1 & 3 {
	case 0:
		r.out = append(r.out, make([]byte, size)...)
		if _, err = io.ReadFull(r.in, r.out[before:]); err != nil {
			r.out = r.out[:before]
		}
	case 1:
		var b byte
		if b, err = r.in.ReadByte(); err == nil {
			for range size {
				r.out = append(r.out, b)
			}
		}
	case 2:
		if cap(r.buf) < size {
			r.buf = make([]byte, maxBlock)
		}
		r.buf = r.buf[:size]
		if _, err = io.ReadFull(r.in, r.buf); err == nil {
			err = r.compressed(r.buf)
		}
	default:
		return damaged("a block of no kind")
	}
	if err != nil {
		return cut(err)
	}
	if n := int64(len(r.out) - before); n > maxBlock {
		return damaged("a block becomes too large")
	} else if r.left >= 0 {
		if r.left -= n; r.left < 0 {
			return damaged("a frame is longer than it says")
		}
	}
	return nil
}
