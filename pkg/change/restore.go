package change

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// back undoes what a failed change has done so far, and returns why it failed.
func (h *History) back(ctx context.Context, lock *workspace.Lock, p *pending, cause error) error {
	kept, err := h.restore(context.WithoutCancel(ctx), lock, p.r)
	for _, g := range kept {
		cause = errors.Join(cause, fmt.Errorf("%s stays as it is: %s", g.Path, g.Why))
	}
	if err == nil {
		err = p.forget()
	} else {
		_ = p.f.Close() // it stays: who comes next tries again
	}
	if err != nil {
		return errors.Join(cause, fmt.Errorf("%w: %w", ErrUnfinished, err))
	}
	return cause
}

// restore makes every file of the record what it was before. A file that
// holds what neither the change nor anybody before it has put there is left
// alone and returned.
func (h *History) restore(ctx context.Context, lock *workspace.Lock, r *Record) (kept []Gap, err error) {
	inv := inverse(r.Files)
	steps := make([]*step, 0, len(inv))
	by := map[string]*step{}
	l := linksOf(r.Files)
	for i, f := range inv {
		s, why, err := h.restoring(r, &f, r.Files[i], l)
		if err != nil {
			return kept, err
		}
		if why != "" {
			kept = append(kept, Gap{f.Path, why})
			continue
		}
		by[s.Path] = s
		steps = append(steps, s)
	}
	slices.SortFunc(steps, func(a, b *step) int { return cmp.Compare(a.Path, b.Path) })
	steps = slices.DeleteFunc(steps, func(s *step) bool {
		no := s.After.Kind != Missing && closedOff(filepath.Dir(s.Path), by)
		if no {
			kept = append(kept, Gap{s.Path, "its directory is none any more"})
			delete(by, s.Path)
		}
		return no
	})
	above := planner{h: h, byName: by}
	for _, s := range steps { // somebody may have removed its directory meanwhile
		if err := above.parents(s); err != nil {
			return kept, err
		}
	}
	steps = append(above.dirs, steps...)
	unlink(steps, by)
	steps = slices.DeleteFunc(steps, func(s *step) bool {
		return s.From == "" && s.Before.sameContent(s.After) && s.Before.sameMode(s.After)
	})
	for _, s := range steps {
		if s.From == "" && s.After.Kind == Regular && !s.Before.sameContent(s.After) {
			if c, err := h.store.content(s.After.Hash); err == nil {
				_ = c.Close()
			} else {
				kept = append(kept, Gap{s.Path, err.Error()})
				s.After = s.Before
			}
		}
	}
	return kept, h.apply(ctx, lock, steps, true)
}

// closedOff reports whether nothing can stand in a directory, also after the steps.
func closedOff(dir string, by map[string]*step) bool {
	for ; ; dir = filepath.Dir(dir) {
		if s := by[dir]; s != nil {
			return s.After.Kind != Dir
		}
		if info, err := os.Lstat(dir); err == nil {
			return !info.IsDir()
		} else if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// restoring is the step that brings one file back; why says that there is none.
func (h *History) restoring(r *Record, inv *File, f File, l links) (s *step, why string, err error) {
	path, now, err := h.find(f.Path, l)
	switch {
	case errors.Is(err, workspace.ErrNotRegular), errors.Is(err, workspace.ErrMoved):
		return nil, err.Error(), nil
	case err != nil:
		return nil, "", err
	}
	if !h.ours(r, f, now, path) {
		return nil, "it has changed since", nil
	}
	inv.Before = now
	return &step{File: *inv, path: path}, "", nil
}

// ours reports whether a state of a file is one that the change, or the way
// back from it, can have left.
func (h *History) ours(r *Record, f File, now State, path workspace.Path) bool {
	switch {
	case now.sameContent(f.Before), now.sameContent(f.After):
		return true
	case now.Kind == Missing: // a link, a moved file or another kind of thing comes and goes
		return f.Before.Kind != Regular || f.After.Kind != Regular
	case now.Kind == Dir:
		return f.Before.Kind == Dir || f.After.Kind == Dir
	case now.Kind == Regular && now.Size == 0:
		return true // on a full disk, on the way back; there is nothing to lose
	}
	before, after := f.Before, f.After
	for _, t := range r.Files {
		switch { // a file that is moved and written holds either content under either name
		case t.Path == f.From:
			before = t.Before
		case t.From == f.Path:
			after = t.After
		}
	}
	return now.sameContent(before) || now.sameContent(after) ||
		f.InPlace && now.Kind == Regular && h.torn(before, after, path)
}

// torn reports whether a file that was being overwritten holds nothing but
// bytes of its old and its new content.
func (h *History) torn(before, after State, path workspace.Path) bool {
	var old [2]io.Reader
	for i, s := range []State{before, after} {
		c, err := h.store.content(s.Hash)
		if err != nil {
			return false
		}
		defer c.Close()
		old[i] = c
	}
	now, err := h.w.OpenFile(path)
	if err != nil {
		return false
	}
	defer now.Close()
	return woven(now, old[0], old[1])
}

// woven reports whether each byte of now stands at the same place in one of the others.
func woven(now, before, after io.Reader) bool {
	n, x, y := bufio.NewReader(now), bufio.NewReader(before), bufio.NewReader(after)
	for {
		a, errA := x.ReadByte()
		b, errB := y.ReadByte()
		have, err := n.ReadByte()
		if err != nil {
			return errors.Is(err, io.EOF)
		}
		if (errA != nil || have != a) && (errB != nil || have != b) {
			return false
		}
	}
}

// inverse is what takes the files back.
func inverse(files []File) []File {
	inv := make([]File, len(files))
	at := map[string]int{}
	for i, f := range files {
		inv[i] = File{Path: f.Path, Before: f.After, After: f.Before, InPlace: f.InPlace}
		at[f.Path] = i
	}
	for _, f := range files {
		if i, ok := at[f.From]; ok && f.From != "" {
			inv[i].From = f.Path
		}
	}
	return inv
}

// sweepAge is how long a write may leave its temporary file untouched, where
// it cannot be known whether there still is one.
const sweepAge = time.Minute

// sweep removes the temporary files that a killed process left beside the
// files of its change, but not those that somebody is at work on.
func (h *History) sweep(r *Record) {
	done := map[string]bool{}
	for _, f := range r.Files {
		dir := filepath.Dir(f.Path)
		if done[dir] {
			continue
		}
		done[dir] = true
		names, _ := readNames(dir)
		for _, name := range names {
			if !workspace.IsTemp(name) {
				continue
			}
			if path, err := h.path(filepath.Join(dir, name)); err == nil {
				h.sweepOne(path)
			}
		}
	}
}

func (h *History) sweepOne(path workspace.Path) {
	f, err := h.w.OpenFile(path)
	if err != nil {
		return
	}
	defer f.Close()
	// What somebody has open may be the old file, under that name for a moment.
	left, known := abandoned(f)
	if left || !known && time.Since(path.Info.ModTime()) > sweepAge {
		_ = h.w.Remove(path) // it harms nobody if it stays
	}
}
