package workspace

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// OpenFile opens a regular file for reading. A directory is ErrIsDir; a FIFO,
// a socket or a device is ErrNotRegular, and opening never waits for one.
func (w *Workspace) OpenFile(p Path) (*os.File, error) {
	switch p.Type {
	case policy.FIFO, policy.Socket, policy.Device: // opening alone may have an effect
		return nil, fmt.Errorf("opening %s: %w: it is a %s", quote(p.Given), ErrNotRegular, p.Type)
	}
	return w.open(p, false)
}

// OpenSpecial opens whatever is there for reading, FIFOs and devices too,
// without waiting for a writer. A directory is ErrIsDir.
func (w *Workspace) OpenSpecial(p Path) (*os.File, error) { return w.open(p, true) }

func (w *Workspace) open(p Path, special bool) (*os.File, error) {
	if err := p.usable("opening"); err != nil {
		return nil, err
	}
	f, err := w.openReal(p.Real, openFlags, func(info fs.FileMode) error {
		switch {
		case info.IsDir():
			return ErrIsDir
		case !info.IsRegular() && !special:
			return ErrNotRegular
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", quote(p.Given), err)
	}
	return f, nil
}

// usable refuses a Path that no resolution returned, or that failed.
func (p Path) usable(doing string) error {
	if !p.resolved {
		return fmt.Errorf("%s %s: %w: it was not resolved", doing, quote(p.Given), ErrName)
	}
	return nil
}

// ReadFile returns the content of a regular file of at most limit bytes; a
// larger one is ErrTooLarge. A limit of 0 or less is none.
func (w *Workspace) ReadFile(p Path, limit int64) ([]byte, error) {
	f, err := w.OpenFile(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := readAll(f, limit)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", quote(p.Given), err)
	}
	return data, nil
}

func readAll(f *os.File, limit int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if limit > 0 && info.Size() > limit {
		return nil, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, info.Size(), limit)
	}
	var r io.Reader = f
	if limit > 0 {
		r = io.LimitReader(f, limit+1) // files of /proc have no size, others grow
	}
	var buf bytes.Buffer
	buf.Grow(int(min(info.Size(), 1<<30)) + bytes.MinRead)
	if _, err := buf.ReadFrom(r); err != nil {
		return nil, err
	}
	if limit > 0 && int64(buf.Len()) > limit {
		return nil, fmt.Errorf("%w: the limit is %d bytes", ErrTooLarge, limit)
	}
	return buf.Bytes(), nil
}

// Stat looks at the file as it is now. It does not follow a link that took
// the file's place: that is ErrMoved.
func (w *Workspace) Stat(p Path) (fs.FileInfo, error) {
	if err := p.usable("looking at"); err != nil {
		return nil, err
	}
	info, err := w.statReal(p.Real)
	if err == nil && isLink(info) && p.Type != "" {
		err = ErrMoved
	}
	if err != nil {
		return nil, fmt.Errorf("looking at %s: %w", quote(p.Given), err)
	}
	return info, nil
}

// ReadDir returns all entries of a directory, sorted by name. For large ones
// Entries needs less memory.
func (w *Workspace) ReadDir(p Path) ([]fs.DirEntry, error) {
	var all []fs.DirEntry
	for e, err := range w.Entries(p) {
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return all, nil
}

// Entries iterates over a directory in the order the system has it, in
// bounded memory. An error ends the iteration; the entry beside it is nil.
func (w *Workspace) Entries(p Path) iter.Seq2[fs.DirEntry, error] {
	return func(yield func(fs.DirEntry, error) bool) {
		fail := func(err error) { yield(nil, fmt.Errorf("listing %s: %w", quote(p.Given), err)) }
		if err := p.usable("listing"); err != nil {
			yield(nil, err)
			return
		}
		f, err := w.openReal(p.Real, listFlags, nil)
		if err != nil {
			fail(err)
			return
		}
		defer f.Close()
		for {
			batch, err := f.ReadDir(1024)
			list := make([]entry, len(batch))
			for i, e := range batch {
				list[i] = entry{e, w, p.Real}
				if !yield(&list[i], nil) {
					return
				}
			}
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				fail(err)
				return
			}
		}
	}
}

// An entry asks for its facts as everything here does: through no link.
type entry struct {
	fs.DirEntry
	w   *Workspace
	dir string
}

// Info implements fs.DirEntry; for a link it describes the link itself.
func (e *entry) Info() (fs.FileInfo, error) { return e.w.statReal(join(e.dir, e.Name())) }
