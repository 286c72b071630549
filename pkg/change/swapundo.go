package change

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
)

// undoSwap takes a change by exchange back. Those of its files that only names are left.
func (h *History) undoSwap(ctx context.Context, r Record, back Record, o UndoOptions) (Record, error) {
	lock, err := h.lockAll(ctx)
	if err != nil {
		return Record{}, err
	}
	defer lock.Unlock()
	release, err := h.store.hold(ctx)
	if err != nil {
		return Record{}, err
	}
	defer release()
	p, err := h.stash(r.Stash, false)
	if err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	defer p.close()
	back.Stash, back.Bytes, back.Apart = r.Stash, r.Bytes, r.Apart
	if back.Files, err = p.undoing(r, func(f *File, now State) bool { return h.holdsAgain(ctx, &r, f, now) }); err != nil || o.DryRun {
		return back, err
	}
	now := h.o.Now()
	back.ID, back.Time = session.NewSortableID("", now), now
	if err := h.swapAll(ctx, p, &back, nil, nil); err != nil {
		return Record{}, fmt.Errorf("undoing change %s: %w", r.ID, err)
	}
	back.Gaps = append(back.Gaps, h.apart(&back)...)
	release()
	back.Dropped = h.tidy(ctx, 0)
	return back, nil
}

// undoing says what takes the files of a change back: a *ChangedError where one is not
// as the change left it, or, as again says, has come to hold what it left.
func (p *places) undoing(r Record, again func(f *File, now State) bool) (files []File, err error) {
	var changed, lost []Gap
	there, goes := map[string]bool{}, map[string]bool{} // directories, and what goes
	for _, f := range slices.Backward(r.Files) {
		f = inverseOf(f)
		f.After.CTime = 0 // it will be another
		now, err := p.look(f.Path)
		if err != nil {
			return nil, err
		}
		if f.Stash == "" {
			if now.Kind == Dir || f.Before.Kind == Missing {
				files = append(files, f)
				there[f.Path], goes[f.Path] = f.After.Kind == Dir, f.After.Kind == Missing
			} else if now.Kind != Missing {
				changed = append(changed, Gap{f.Path, difference(now, f.Before)})
			}
			continue
		}
		e, err := p.entry(f.Stash)
		if err != nil {
			return nil, err
		}
		why := ""
		switch {
		case e.Ino == f.Before.Ino && now.Ino == f.After.Ino, now.Kind == Missing && f.After.Kind == Missing:
			continue // it is so already
		case e.Ino != f.After.Ino:
			lost = append(lost, Gap{f.Path, "what was there is not kept any more"})
			continue
		case !now.isStill(f.Before) && again(&f, now):
			f.Before = now
		case len(r.undone) > 0 && p.hasPart(&f, &now):
			f.Before = now
		case !now.isStill(f.Before):
			if p.putBack(&f, now) {
				continue
			}
			why = "it was changed or replaced"
			if now.Kind != f.Before.Kind {
				why = difference(now, f.Before)
			}
		case f.Before.Kind == Dir:
			why = changedIn(&f, goes)
		}
		if why == "" {
			files, why = p.above(files, &f, there)
		}
		if why != "" {
			changed = append(changed, Gap{f.Path, why})
			continue
		}
		there[f.Path], goes[f.Path] = f.After.Kind == Dir, f.After.Kind == Missing
		files = append(files, f)
	}
	if len(changed) > 0 {
		return nil, &ChangedError{r.ID, changed}
	}
	if len(lost) > 0 {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, &GapError{r.ID, lost})
	}
	return files, nil
}

// hasPart reports whether what stands where a directory was taken away is a part of that; now
// gets how many names it holds.
func (p *places) hasPart(f *File, now *State) (ok bool) {
	if now.Kind == Dir && f.After.Kind == Dir && f.Before.Kind == Missing {
		now.Names, ok = isPart(f.Path, p.name(f.Stash))
	}
	return ok
}

// above adds the directories above a file that are missing.
func (p *places) above(files []File, f *File, there map[string]bool) (all []File, why string) {
	if f.After.Kind == Missing {
		return files, ""
	}
	var made []File
	for dir := filepath.Dir(f.Path); dir != p.root && !there[dir]; dir = filepath.Dir(dir) {
		now, err := p.look(dir)
		switch {
		case err != nil:
			return files, err.Error()
		case now.Kind == Missing:
			made = append(made, File{Path: dir, After: State{Kind: Dir, AnyMode: true}})
		case now.Kind != Dir:
			return files, dir + " is no directory now"
		}
		there[dir] = true
	}
	slices.Reverse(made)
	return append(files, made...), ""
}

// holdsAgain reports whether a file that is another than a change left holds what that one
// did: a later change that found it so was taken back, by its content.
func (h *History) holdsAgain(ctx context.Context, r *Record, f *File, now State) bool {
	if now.Kind != Regular || f.Before.Kind != Regular || now.Mode != f.Before.Mode || now.Size != f.Before.Size {
		return false
	}
	for later, err := range h.records(ctx) {
		if err != nil || later.ID <= r.ID {
			return false
		}
		for _, l := range later.Files {
			found := l.Path == f.Path && l.Before.Hash != "" && l.Before.Ino == f.Before.Ino && l.Before.MTime == f.Before.MTime
			if !found {
				continue
			}
			have, err := safefile.OpenRegular(f.Path)
			if err != nil {
				return false
			}
			defer have.Close()
			hash, _, err := hashAll(have)
			return err == nil && hash == l.Before.Hash
		}
	}
	return false
}

// putBack reports whether somebody else has already made a file what it was before.
func (p *places) putBack(f *File, now State) bool {
	if now.Kind != Regular || f.After.Kind != Regular || now.Size != f.After.Size || now.Mode != f.After.Mode {
		return false
	}
	have, err := safefile.OpenRegular(f.Path)
	if err != nil {
		return false
	}
	defer have.Close()
	want, err := os.Open(p.name(f.Stash))
	if err != nil {
		return false
	}
	defer want.Close()
	return sameBytes(have, want)
}

func sameBytes(a, b io.Reader) bool {
	p, q := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(a, p)
		m, err2 := io.ReadFull(b, q)
		if !bytes.Equal(p[:n], q[:m]) {
			return false
		}
		if err != nil || err2 != nil {
			return err != nil && err2 != nil
		}
	}
}

// isStill reports whether nobody has changed a file or link since. What is in a directory
// is another matter.
func (s State) isStill(was State) bool {
	return s.Kind == was.Kind && s.Ino == was.Ino && s.Mode == was.Mode && (s.Kind == Dir || s.Size == was.Size && s.MTime == was.MTime)
}

// changedIn names what was changed in a directory that goes: in one that came as a whole
// since then, by the clock that no program can set back, in another what does not go too.
func changedIn(dir *File, goes map[string]bool) (why string) {
	names := int64(-1) // without dir itself
	err := filepath.WalkDir(dir.Path, func(path string, e fs.DirEntry, err error) error {
		names++
		if err != nil || path == dir.Path {
			return err
		}
		if dir.Before.Names == 0 {
			if !goes[path] {
				why = path + " was added"
				return fs.SkipAll
			}
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if _, _, at := identity(info); dir.Before.CTime != 0 && at > dir.Before.CTime {
			why = path + " was changed"
			return fs.SkipAll
		}
		return nil
	})
	switch {
	case why != "":
	case err != nil:
		why = err.Error()
	case dir.Before.Names > 0 && names != dir.Before.Names:
		why = fmt.Sprintf("it holds %d names, not %d", names, dir.Before.Names)
	}
	return why
}
