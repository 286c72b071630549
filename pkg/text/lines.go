package text

import (
	"bytes"
	"errors"
	"io"
	"iter"
)

// DefaultMaxLine is how much of a line a LineReader gives by default.
const DefaultMaxLine = 64 << 10

// readSize is how much is read at once.
const readSize = 256 << 10

// A Line is one line of a file.
type Line struct {
	Text   []byte // without the terminator, at most MaxLine bytes; valid until the next call
	End    string // "\n", "\r\n", "\r", or "" for a last line without one
	Offset int64  // of its first byte in the stream
	Length int64  // bytes without the terminator, also when Text has fewer
	Number int64  // from 1
}

// LineOptions say how lines end and how much of them is wanted.
type LineOptions struct {
	// CR makes a lone carriage return end a line, for files that have nothing
	// else (Newline says "cr"). Otherwise it is a byte like any other.
	CR bool

	// MaxLine bounds Line.Text; 0 means DefaultMaxLine. Memory is bounded by it
	// and by one read buffer.
	MaxLine int
}

// A LineReader reads the lines of a stream one by one, whatever their length.
type LineReader struct {
	r      io.Reader
	o      LineOptions
	end    byte   // the last byte of a terminator
	buf    []byte // what was read
	rest   []byte // the part of buf not looked at
	held   []byte // the start of a line that spans reads
	offset int64  // of rest
	number int64  // of the last line
	err    error  // why no more can be read
}

// NewLineReader returns a LineReader for the bytes of an encoding that is an ASCII
// superset; decode others first.
func NewLineReader(r io.Reader, o LineOptions) *LineReader {
	if o.MaxLine <= 0 {
		o.MaxLine = DefaultMaxLine
	}
	l := &LineReader{r: r, o: o, end: '\n'}
	if o.CR {
		l.end = '\r'
	}
	return l
}

// LinesOf returns a LineReader for bytes that are there already; no line spans reads.
func LinesOf(data []byte, o LineOptions) *LineReader {
	l := NewLineReader(nil, o)
	l.rest, l.err = data, io.EOF
	return l
}

// Lines iterates over the lines of r. An error other than the end of the stream
// comes last, with the part of a line that was read before it.
func Lines(r io.Reader, o LineOptions) iter.Seq2[Line, error] {
	return NewLineReader(r, o).All()
}

// All iterates over the lines that are left.
func (l *LineReader) All() iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for {
			line, err := l.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// Next returns the next line, or io.EOF after the last one. With another error the
// Line is what was read of it.
func (l *LineReader) Next() (Line, error) {
	line := Line{Offset: l.offset, Number: l.number + 1}
	l.held = l.held[:0]
	var last byte // of the line so far
	for {
		if len(l.rest) == 0 {
			if l.fill(); len(l.rest) == 0 {
				return l.finish(line)
			}
		}
		i := bytes.IndexByte(l.rest, l.end)
		if i < 0 {
			line.Length += int64(len(l.rest))
			last = l.rest[len(l.rest)-1]
			l.hold(l.rest)
			l.advance(len(l.rest))
			continue
		}
		l.number++
		part := l.rest[:i]
		if i > 0 {
			last = part[i-1]
		}
		line.Length += int64(i)
		line.End = "\n"
		if l.o.CR {
			line.End = "\r"
		}
		line.Text = part
		if len(l.held) > 0 {
			l.hold(part)
			line.Text = l.held
		}
		l.advance(i + 1)
		if !l.o.CR && line.Length > 0 && last == '\r' {
			line.End = "\r\n"
			line.Length--
		}
		line.Text = line.Text[:min(int64(len(line.Text)), line.Length, int64(l.o.MaxLine))]
		return line, nil
	}
}

// finish returns a last line without a terminator, or why there is none.
func (l *LineReader) finish(line Line) (Line, error) {
	line.Text = l.held[:min(len(l.held), l.o.MaxLine)]
	if !errors.Is(l.err, io.EOF) {
		return line, l.err
	}
	if line.Length == 0 {
		return Line{}, io.EOF
	}
	l.number++
	return line, nil
}

// Skip passes over up to n lines faster than Next would and returns how many there
// were; a last line without a terminator counts. The error is io.EOF when the
// stream ended before n lines.
func (l *LineReader) Skip(n int64) (int64, error) {
	var done int64
	open := false // bytes of an unfinished line were passed
	for done < n {
		if len(l.rest) == 0 {
			if l.fill(); len(l.rest) == 0 {
				if errors.Is(l.err, io.EOF) && open {
					l.number++
					done++
				}
				if done == n {
					return done, nil
				}
				return done, l.err
			}
		}
		count := int64(bytes.Count(l.rest, []byte{l.end}))
		if done+count < n {
			done += count
			l.number += count
			open = l.rest[len(l.rest)-1] != l.end
			l.advance(len(l.rest))
			continue
		}
		for ; done < n; done++ {
			l.number++
			l.advance(bytes.IndexByte(l.rest, l.end) + 1)
		}
	}
	return done, nil
}

// hold keeps the start of a line; one byte more than wanted tells a CR at the end
// of the wanted part from the terminator.
func (l *LineReader) hold(p []byte) {
	if k := l.o.MaxLine + 1 - len(l.held); k > 0 {
		l.held = append(l.held, p[:min(k, len(p))]...)
	}
}

// advance passes over n bytes.
func (l *LineReader) advance(n int) {
	l.rest = l.rest[n:]
	l.offset += int64(n)
}

// fill reads more. Reads that give nothing are repeated a few times.
func (l *LineReader) fill() {
	if l.buf == nil && l.err == nil {
		l.buf = make([]byte, readSize)
	}
	for tries := 0; l.err == nil && len(l.rest) == 0; tries++ {
		if tries == 100 {
			l.err = io.ErrNoProgress
			return
		}
		n, err := l.r.Read(l.buf)
		l.rest, l.err = l.buf[:n], err
	}
}
