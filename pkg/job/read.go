package job

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"sort"
	"strconv"
)

// A Query says which part of a log to read.
type Query struct {
	Offset    int64          // where to start; negative: so many bytes before the end
	SinceLast bool           // start where the last such Read of anybody ended; Offset does not count
	Lines     int            // only the last so many lines; 0 for all
	Grep      *regexp.Regexp // only lines that match; nil for all
	Origin    Origin         // only what came from there
	Max       int            // bytes to return at most; 0 for 1 MiB
}

// A Chunk is what Read found.
type Chunk struct {
	Data   []byte
	Offset int64 // of the first byte looked at
	Next   int64 // where to go on reading
	Total  int64 // bytes that the command has printed
	Lost   int64 // bytes between Offset and Next that the log no longer holds
	More   bool  // there is more after Next
}

const defaultMax = 1 << 20

// Read reads the job's output. With Lines or Grep it looks at everything from
// the start on and returns the last Max bytes of what it chose; otherwise it
// returns the first Max bytes, and More says that there are others.
func (j *Job) Read(ctx context.Context, q Query) (Chunk, error) {
	var c Chunk
	i, err := j.Info()
	if err != nil {
		return c, err
	}
	if q.Max <= 0 {
		q.Max = defaultMax
	}
	if !q.SinceLast {
		return j.read(q, i)
	}
	err = j.reg.Session.Update(ctx, j.file(cursorFile), func(old []byte) ([]byte, error) {
		q.Offset = cursor(old)
		var err error
		c, err = j.read(q, i)
		return strconv.AppendInt(nil, c.Next, 10), err
	})
	return c, err
}

// Tail returns the last bytes of the output, at most so many.
func (j *Job) Tail(most int) (Chunk, error) {
	i, err := j.Info()
	if err != nil {
		return Chunk{}, err
	}
	// What is lost stands before what is last.
	return j.read(Query{Offset: max(i.Total-int64(most), i.LostTo, 0), Max: most}, i)
}

// Seen has the output up to at count as read.
func (j *Job) Seen(ctx context.Context, at int64) error {
	return j.reg.Session.Update(ctx, j.file(cursorFile), func(old []byte) ([]byte, error) {
		return strconv.AppendInt(nil, max(at, cursor(old)), 10), nil
	})
}

// read reads again when meanwhile a part was forgotten that it has read.
func (j *Job) read(q Query, i Info) (c Chunk, err error) {
	for range 4 {
		if c, err = j.readOnce(q, i); err != nil || i.State != Running && !i.Kept {
			return c, err
		}
		now, err := j.stored()
		if err != nil || now.LostTo == i.LostTo || c.Offset >= now.LostTo {
			return c, err
		}
		i = now
	}
	return c, err
}

func (j *Job) readOnce(q Query, i Info) (Chunk, error) {
	r, err := j.openLog(i)
	if err != nil {
		return Chunk{}, err
	}
	defer r.close()
	c := Chunk{Total: r.total}
	c.Offset = q.Offset
	if c.Offset < 0 {
		c.Offset += r.total
	}
	c.Offset = min(max(c.Offset, 0), r.total)
	if q.Lines > 0 || q.Grep != nil {
		c.Data, c.Next, err = r.choose(q, c.Offset)
	} else {
		c.Data, c.Next, err = r.plain(q, c.Offset)
	}
	c.Lost = max(0, min(c.Next, r.to)-max(c.Offset, r.from))
	c.More = c.Next < c.Total
	return c, err
}

// logReader is a log and its index, as far as they had come when it was opened.
type logReader struct {
	log      *os.File
	index    *os.File
	marks    []byte
	total    int64
	from, to int64 // not kept
}

func (j *Job) openLog(i Info) (*logReader, error) {
	f, err := j.reg.Session.OpenFile(j.file(logFile), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %q has no log", ErrNotFound, j.id)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the log of job %s: %w", j.id, err)
	}
	r := &logReader{log: f}
	if r.index, err = j.reg.Session.OpenFile(j.file(indexFile), os.O_RDONLY); err == nil {
		err = r.refresh(i)
	}
	if err != nil {
		r.close()
		return nil, fmt.Errorf("reading the log of job %s: %w", j.id, err)
	}
	return r, nil
}

// refresh takes in what has come since.
func (r *logReader) refresh(i Info) error {
	st, err := r.log.Stat()
	if err != nil {
		return err
	}
	r.total, r.from, r.to = st.Size(), i.LostFrom, i.LostTo
	// The index is read after the size: it knows about all of it.
	for {
		var buf [512 * markSize]byte
		n, err := r.index.ReadAt(buf[:], int64(len(r.marks)))
		r.marks = append(r.marks, buf[:n-n%markSize]...)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

func (r *logReader) close() {
	_ = r.log.Close()
	if r.index != nil {
		_ = r.index.Close()
	}
}

// A part is a piece of the log of one origin.
type part struct {
	from, to int64
	origin   Origin
}

// parts yields the pieces from an offset to the end, without what is lost.
func (r *logReader) parts(at int64, yield func(part) bool) {
	n := len(r.marks) / markSize
	mark := func(i int) (int64, Origin) {
		if i >= n {
			return r.total, Any
		}
		v := binary.LittleEndian.Uint64(r.marks[i*markSize:])
		return int64(v >> 2), Origin(v & 3)
	}
	first := sort.Search(n, func(i int) bool { from, _ := mark(i); return from > at }) - 1
	for i := max(first, 0); i < n && at < r.total; i++ {
		_, origin := mark(i)
		end, _ := mark(i + 1)
		for at < min(end, r.total) {
			p := part{from: at, to: min(end, r.total), origin: origin}
			if p.from >= r.from && p.from < r.to {
				at = min(r.to, p.to)
				continue
			}
			if p.from < r.from && r.to > r.from {
				p.to = min(p.to, r.from)
			}
			if !yield(p) {
				return
			}
			at = p.to
		}
	}
}

// plain reads from at on.
func (r *logReader) plain(q Query, at int64) (out []byte, next int64, err error) {
	next = at
	r.parts(at, func(p part) bool {
		if q.Origin != Any && p.origin != q.Origin {
			next = p.to
			return true
		}
		n := min(p.to-p.from, int64(q.Max-len(out)))
		start := len(out)
		out = append(out, make([]byte, n)...)
		var got int
		got, err = r.log.ReadAt(out[start:], p.from)
		out = out[:start+got]
		next = p.from + int64(got)
		return err == nil && len(out) < q.Max
	})
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if len(out) < q.Max && err == nil {
		next = r.total
	}
	return out, next, err
}

// choose reads lines from at to the end and keeps the last ones that fit. Of
// a line that is longer than Max only the end is kept.
func (r *logReader) choose(q Query, at int64) ([]byte, int64, error) {
	var kept [][]byte
	size := 0
	end := func(line []byte) {
		if q.Grep != nil && !q.Grep.Match(bytes.TrimRight(line, "\r\n")) {
			return
		}
		kept = append(kept, bytes.Clone(line))
		size += len(line)
		for len(kept) > 1 && (size > q.Max || q.Lines > 0 && len(kept) > q.Lines) {
			size -= len(kept[0])
			kept = kept[1:]
		}
	}
	var line []byte
	buf := make([]byte, 64<<10)
	var failed error
	r.parts(at, func(p part) bool {
		if q.Origin != Any && p.origin != q.Origin {
			return true
		}
		for p.from < p.to {
			n, err := r.log.ReadAt(buf[:min(int64(len(buf)), p.to-p.from)], p.from)
			p.from += int64(n)
			for rest := buf[:n]; len(rest) > 0; {
				i := bytes.IndexByte(rest, '\n') + 1
				if i == 0 {
					line = append(line, rest...)
					if len(line) > 2*q.Max {
						line = append(line[:0], line[len(line)-q.Max:]...)
					}
					break
				}
				line = append(line, rest[:i]...)
				end(line)
				line, rest = line[:0], rest[i:]
			}
			if err != nil && n == 0 {
				failed = err
				return false
			}
		}
		return true
	})
	if len(line) > 0 {
		end(line)
	}
	out := bytes.Join(kept, nil)
	return out[max(0, len(out)-q.Max):], r.total, failed
}
