package truncate

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

// ErrClosed is returned by a Write after Close.
var ErrClosed = errors.New("writing to a closed output")

// Small writes are gathered, so that a byte costs the same in any size of write.
const (
	smallWrite = 4 << 10
	gather     = 32 << 10
)

// A Writer receives an output and holds what a Result may need of it. Its methods
// may be called from several goroutines.
type Writer struct {
	mu      sync.Mutex
	o       Options
	store   store
	clean   *cleaner // nil without Options.Clean
	pending []byte   // gathered small writes

	total    int64  // raw bytes
	raw      []byte // all raw bytes so far, while no spill is open and one may be needed
	rawMax   int    // raw bytes held at most
	spill    SpillFile
	spilled  int64  // bytes the spill holds
	path     string // of the spill
	opened   bool   // Spill was called
	spillErr error  // why it lacks the rest

	closed bool
	result Result
}

// New returns a Writer for one output.
func New(o Options) *Writer {
	w := &Writer{o: o}
	lim := o.Limits.Resolved()
	w.store.init(lim, o.Shape)
	w.rawMax = noLimit
	if w.store.cap < noLimit/4 {
		w.rawMax = w.store.cap*4 + gather
	}
	if o.Clean {
		w.clean = &cleaner{out: &w.store}
	}
	return w
}

// Write takes the next bytes of the output. It takes all of them and fails only
// after Close; trouble with the spill is told in the Result.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return 0, ErrClosed
	}
	if len(p) >= smallWrite {
		w.flush()
		w.take(p)
		return len(p), nil
	}
	if len(w.pending)+len(p) > gather {
		w.flush()
	}
	w.pending = append(w.pending, p...)
	return len(p), nil
}

// WriteString is Write for a string.
func (w *Writer) WriteString(s string) (int, error) { return w.Write([]byte(s)) }

// ReadFrom writes all of r. It makes io.Copy use one buffer of 256 KiB.
func (w *Writer) ReadFrom(r io.Reader) (int64, error) {
	buf := make([]byte, 256<<10)
	var total int64
	for {
		n, err := r.Read(buf)
		total += int64(n)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return total, err
			}
		}
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// Snapshot returns what would be shown if the output ended now. It may be called
// at any time, opens no spill, and costs no more than the limits are large. After
// Close it returns what Close returned.
func (w *Writer) Snapshot() Result {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return w.result
	}
	w.flush()
	return w.render()
}

// Close ends the output, completes the spill, and returns the Result. Called
// again, it returns the same.
func (w *Writer) Close() Result {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return w.result
	}
	w.flush()
	res := w.render()
	if res.Truncated && !w.opened && w.o.Spill != nil {
		w.openSpill()
		res = w.render()
	}
	if w.spill != nil {
		if err := w.spill.Close(); err != nil && w.spillErr == nil {
			w.spillErr = fmt.Errorf("closing the full output: %w", err)
			res = w.render()
		}
	}
	w.closed, w.result = true, res
	w.store, w.clean, w.pending, w.raw = store{}, nil, nil, nil
	return res
}

// flush passes on the gathered writes.
func (w *Writer) flush() {
	if len(w.pending) > 0 {
		w.take(w.pending)
		w.pending = w.pending[:0]
	}
}

// take counts, spills, cleans and stores p.
func (w *Writer) take(p []byte) {
	w.total += int64(len(p))
	if w.clean != nil {
		w.clean.write(p)
	} else {
		w.store.write(p)
	}
	switch {
	case w.o.Spill == nil:
	case w.opened:
		w.keep(p)
	case w.store.need || w.total > int64(w.rawMax):
		w.openSpill()
		w.keep(p)
	default:
		w.raw = append(w.raw, p...)
	}
}

// openSpill opens the spill and gives it the raw bytes held so far.
func (w *Writer) openSpill() {
	w.opened = true
	f, err := w.o.Spill()
	if err != nil {
		w.spillErr = fmt.Errorf("keeping the full output: %w", err)
		w.raw = nil
		return
	}
	w.spill, w.path = f, f.Path()
	w.keep(w.raw)
	w.raw = nil
}

// keep writes p to the spill until it fails.
func (w *Writer) keep(p []byte) {
	if w.spill == nil || w.spillErr != nil || len(p) == 0 {
		return
	}
	n, err := w.spill.Write(p)
	w.spilled += int64(n)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	switch {
	case errors.Is(err, ErrSpillFull):
		w.spillErr = err
	case err != nil:
		w.spillErr = fmt.Errorf("writing the full output: %w", err)
	}
}

// incomplete says what the spill lacks.
func (w *Writer) incomplete() string {
	switch {
	case w.spillErr == nil:
		return ""
	case w.spill == nil:
		return w.spillErr.Error()
	case errors.Is(w.spillErr, ErrSpillFull):
		return fmt.Sprintf("the file with the full output is full: it holds the first %d of %d bytes", w.spilled, w.total)
	}
	return fmt.Sprintf("%v; the file holds the first %d of %d bytes", w.spillErr, w.spilled, w.total)
}

// render draws up the Result of what has come so far.
func (w *Writer) render() Result {
	res := Result{
		TotalLines: w.store.totalLines(), TotalBytes: w.total,
		SearchedBytes: w.store.suspects.searched,
		SpillPath:     w.path, SpillBytes: w.spilled, Incomplete: w.incomplete(),
	}
	if w.clean != nil {
		res.Cleaned = w.total - w.store.input - w.store.cur.n
	}
	v := view{store: &w.store, o: &w.o, res: &res}
	v.render()
	return res
}
