package change

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// A change by exchange: each of its files changes places with an entry of the stash. The
// record is on the disk before the first does. Which have done so is told by the inodes
// in the stash, where nobody else writes, so that whoever comes after a crash goes on or
// goes back. To undo it is to exchange once more, in the opposite order.

// errApart says that no rename leads from the workspace to the journal, or that a file
// has to be written where it is.
var errApart = errors.New("the workspace and the journal are apart")

// exchange makes the targets happen by renames: errApart when that cannot be, and then
// nothing has changed.
func (h *History) exchange(ctx context.Context, r Record, targets []Target, look func() error) (Record, error) {
	lock, err := h.lockAll(ctx)
	if err != nil {
		return Record{}, err
	}
	defer lock.Unlock()
	if err := look(); err != nil {
		return Record{}, err
	}
	release, err := h.store.hold(ctx)
	if err != nil {
		return Record{}, fmt.Errorf("opening the journal: %w", err)
	}
	defer release()
	now := h.o.Now()
	r.ID, r.Time = session.NewSortableID("", now), now
	for i := range targets {
		r.Bytes += targets[i].Bytes
	}
	r.Stash = fmt.Sprintf("%s.%d", r.ID, r.Bytes) // for tidy to know
	p, err := h.stash(r.Stash, true)
	if err != nil {
		return Record{}, err
	}
	defer p.close()
	used, err := p.plan(&r, targets)
	if err == nil && len(r.Files) > 0 {
		r.added = r.Bytes
		err = h.swapAll(ctx, p, &r, used)
	}
	if _, made := h.store.done.Lstat(r.ID); made != nil && !errors.Is(err, ErrUnfinished) {
		return Record{}, errors.Join(err, h.store.removeStash(r.Stash))
	}
	release()
	if err == nil {
		r.Dropped = h.tidy(ctx, r.added)
	}
	return r, err
}

// lockAll locks every file, and first takes back or finishes what killed processes left.
func (h *History) lockAll(ctx context.Context) (*workspace.Lock, error) {
	for {
		l, err := h.w.LockAll(ctx)
		if err != nil {
			return nil, err
		}
		// Nobody is at work on a change while all files are locked.
		left, err := h.unfinished(nil)
		if err == nil && len(left) == 0 {
			return l, nil
		}
		l.Unlock()
		for _, one := range left {
			if _, recoverErr := h.recover(ctx, one); recoverErr != nil {
				err = errors.Join(err, recoverErr)
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

// stash opens the places of a stash, which is made when it is a new one.
func (h *History) stash(id string, make bool) (*places, error) {
	top, err := h.store.top.Make(stashDir)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	open := top.Sub
	if make {
		open = top.Make
	}
	dir, err := open(id)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return openPlaces(h.w.Root(), dir.Path())
}

// removeStash removes a stash. Directories that are closed to us are opened for that.
func (s *store) removeStash(id string) error {
	top, err := s.top.Make(stashDir)
	if err != nil {
		return err
	}
	defer top.Close()
	err = top.RemoveAll(id)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(filepath.Join(top.Path(), id), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return top.RemoveAll(id)
}

// plan says which files change places, and prepares what they become in the stash. It
// returns the files that were given for that.
func (p *places) plan(r *Record, targets []Target) (used []string, err error) {
	targets = slices.Clone(targets)
	slices.SortFunc(targets, func(a, b Target) int { return cmp.Compare(a.Path, b.Path) })
	gone := -1 // the file of a directory that goes with all in it
	seen := map[string]bool{}
	for i := range targets {
		t := &targets[i]
		if gone >= 0 && safefile.Below(r.Files[gone].Path, t.Path) && t.Kind == Missing {
			r.Files[gone].Before.Names++
			r.Files[gone].Before.Size += t.Bytes
			continue
		}
		f := File{Path: t.Path, After: t.State}
		if f.Before, err = p.look(t.Path); err != nil {
			return nil, err
		}
		switch {
		case seen[t.Path]:
			return nil, fmt.Errorf("%w: %s", ErrTwice, t.Path)
		case f.Before.Kind != t.Was:
			return nil, &ChangedError{r.Title, []Gap{{t.Path, "it is a " + string(cmp.Or(f.Before.Kind, "nothing")) + " now"}}}
		case f.Before.Kind == Regular && f.Before.Links > 1 && f.After.Kind == Regular:
			return nil, errApart // its other names have to get the content too
		}
		seen[t.Path] = true
		if err := p.step(r, &f, t); err != nil {
			return nil, err
		}
		if f.Before.Kind == Dir && f.After.Kind != Dir {
			gone = len(r.Files)
		}
		if f.Before.Kind != Missing || f.After.Kind != Missing {
			r.Files = append(r.Files, f)
		}
		if t.From != "" && t.Kind != Dir {
			used = append(used, t.From)
		}
	}
	return used, nil
}

// step completes the file of a target: directories that come are made, all else changes
// places.
func (p *places) step(r *Record, f *File, t *Target) (err error) {
	if f.After.Kind == Dir && (f.Before.Kind == Dir || f.Before.Kind == Missing) {
		return nil
	}
	f.Stash = strconv.Itoa(len(r.Files))
	if f.After.Kind == Missing {
		return nil
	}
	mode := f.After.Mode
	if f.After, err = p.put(f.Stash, t); f.After.Kind == Dir {
		f.After.Mode = mode
	}
	f.After.Target = t.Target
	return err
}

// swapAll makes the files of a record change places, all or none, and the record one of
// those that were made. What was used for them is removed.
func (h *History) swapAll(ctx context.Context, p *places, r *Record, used []string) error {
	b := h.store.batch()
	defer b.close()
	on, err := h.store.begin(r, b)
	if err != nil {
		return fmt.Errorf("recording the change: %w", err)
	}
	h.reach("recorded")
	if err := p.unlock(r.Files); err != nil {
		return h.swapBack(p, on, err)
	}
	for i := range r.Files {
		if err = context.Cause(ctx); err == nil {
			err = p.do(&r.Files[i])
		}
		if err != nil {
			return h.swapBack(p, on, err)
		}
		h.reach(r.Files[i].Path)
	}
	if err := p.modes(r.Files); err != nil {
		return h.swapBack(p, on, err)
	}
	h.reach("applied")
	for _, name := range used {
		_ = os.Remove(name) // its other name is the file now
	}
	if err := h.swapped(p, on); err != nil {
		r.Gaps = append(r.Gaps, Gap{Why: err.Error()}) // the files are changed: the next Recover finishes the record
	}
	h.reach("done")
	return nil
}

// do takes one file from what it is to what it shall be.
func (p *places) do(f *File) error {
	switch {
	case f.Stash != "":
		return p.swapChecked(f)
	case f.Before.Kind == f.After.Kind:
		return nil // its mode is for unlock and modes
	case f.After.Kind == Dir:
		if err := p.mkdir(f.Path); !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil // so it was left, or somebody made it
	}
	err := p.rmdir(f.Path)
	if missing(err) || notEmpty(err) { // it holds what is somebody's
		return nil
	}
	return err
}

// swapChecked swaps, and swaps back when what went to the stash is not what was seen.
func (p *places) swapChecked(f *File) error {
	if err := p.swap(f); err != nil {
		return err
	}
	got, err := p.entry(f.Stash)
	if err == nil && got.Ino == f.Before.Ino {
		return nil
	}
	back := inverseOf(*f)
	return errors.Join(&workspace.ConflictError{Path: f.Path}, err, p.swap(&back))
}

// closed: to be moved, and for what is in it to be, a directory has to be writable.
func closed(s State) bool { return s.Kind == Dir && s.Mode&0o300 != 0o300 }

// unlock opens the directories that the files are in, as far as they are among these.
func (p *places) unlock(files []File) error {
	for _, f := range byPath(files) {
		if f.Before.Kind != Dir {
			continue
		}
		now, err := p.look(f.Path)
		if err == nil && closed(now) {
			err = p.chmod(f.Path, now.Mode|0o700)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// modes gives the directories the modes that they are to have, those in the stash too.
func (p *places) modes(files []File) error {
	for _, f := range slices.Backward(byPath(files)) {
		if f.After.Kind == Dir && !f.After.AnyMode {
			if err := p.chmod(f.Path, f.After.Mode); err != nil && !missing(err) {
				return err
			}
		}
		if f.Stash != "" && closed(f.Before) {
			if err := p.chmod(f.Stash, f.Before.Mode); err != nil && !missing(err) {
				return err
			}
		}
	}
	return nil
}

// byPath are the directories among the files, those above first.
func byPath(files []File) []File {
	dirs := slices.DeleteFunc(slices.Clone(files), func(f File) bool { return f.Before.Kind != Dir && f.After.Kind != Dir })
	slices.SortFunc(dirs, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return dirs
}

func inverseOf(f File) File {
	f.Before, f.After = f.After, f.Before
	return f
}

// swapped notes how the files are now, and that the change was made.
func (h *History) swapped(p *places, on *pending) error {
	for i := range on.r.Files {
		f := &on.r.Files[i]
		if f.After.Kind == Missing {
			continue
		}
		now, err := p.look(f.Path)
		if err != nil {
			return err
		}
		if f.Stash == "" || now.Ino == f.After.Ino {
			names := f.After.Names
			target := f.After.Target
			f.After = now
			f.After.Names, f.After.Target = names, target
		}
	}
	return on.replaced()
}

// swapBack takes back what a change that failed has done, and returns why it failed.
func (h *History) swapBack(p *places, on *pending, cause error) error {
	kept, err := h.unswap(p, on)
	for _, g := range kept {
		cause = errors.Join(cause, fmt.Errorf("%s stays as it is: %s", g.Path, g.Why))
	}
	if err != nil {
		_ = on.f.Close() // it stays: who comes next tries again
		return errors.Join(cause, fmt.Errorf("%w: %w", ErrUnfinished, err))
	}
	return cause
}

// unswap gives each file of the record its place back. What somebody else has put there
// since stays; the record then is of these files alone, so that they can be undone.
func (h *History) unswap(p *places, on *pending) (kept []Gap, err error) {
	var stay []File
	back := slices.Clone(on.r.Files)
	for i := range back {
		back[i] = inverseOf(back[i])
	}
	slices.Reverse(back)
	if err := p.unlock(back); err != nil {
		return kept, err
	}
	for i := range back {
		f := &back[i]
		if f.Stash == "" {
			if err := p.do(f); err != nil && !missing(err) {
				return kept, err
			}
			continue
		}
		e, err := p.entry(f.Stash)
		if err != nil {
			return kept, err
		}
		if e.Ino != f.After.Ino { // it has not changed places, or has them back
			continue
		}
		now, err := p.look(f.Path)
		if err != nil {
			return kept, err
		}
		if now.Ino != f.Before.Ino {
			kept, stay = append(kept, Gap{f.Path, "it has changed since"}), append(stay, inverseOf(*f))
			continue
		}
		if err := p.do(f); err != nil {
			return kept, err
		}
		h.reach(f.Path)
	}
	if err := p.modes(back); err != nil {
		return kept, err
	}
	if len(stay) == 0 {
		return kept, on.forget()
	}
	slices.Reverse(stay)
	on.r.Files = stay
	return kept, on.replaced()
}

// allSwapped reports whether every file of the record has changed places, and the
// directories that it makes are there.
func (p *places) allSwapped(r *Record) bool {
	for i := range r.Files {
		f := &r.Files[i]
		if f.Stash != "" {
			if e, err := p.entry(f.Stash); err != nil || e.Ino != f.Before.Ino {
				return false
			}
			continue
		}
		if now, err := p.look(f.Path); err != nil || f.After.Kind == Dir && now.Kind != Dir {
			return false
		}
	}
	return true
}

// settleSwap finishes the exchange of a process that is dead, or takes it back.
func (h *History) settleSwap(ctx context.Context, on *pending) (*Recovery, error) {
	lock, err := h.w.LockAll(ctx)
	if err != nil {
		return nil, err
	}
	defer lock.Unlock()
	p, err := h.stash(on.r.Stash, false)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if p.allSwapped(on.r) {
		if err := p.modes(on.r.Files); err != nil {
			return nil, err
		}
		return &Recovery{Record: *on.r, Finished: true}, h.swapped(p, on)
	}
	kept, err := h.unswap(p, on)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(on.r.Stash, on.r.ID) && len(kept) == 0 {
		err = h.store.removeStash(on.r.Stash)
	}
	return &Recovery{Record: *on.r, Kept: kept}, err
}

// replaced writes the record, as it is now, among those that were made. No sync: should
// a power cut lose it, the one that it was made from is there, and the stash says the rest.
func (p *pending) replaced() error {
	defer p.f.Close()
	data, err := json.Marshal(p.r)
	if err == nil {
		err = p.s.done.WriteFile(p.r.ID, data, false)
	}
	if err == nil {
		err = p.s.pending.Remove(p.r.ID)
	}
	if err != nil {
		return fmt.Errorf("finishing the record: %w", err)
	}
	return nil
}

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
	back.Stash, back.Bytes = r.Stash, r.Bytes
	if back.Files, err = p.undoing(r); err != nil || o.DryRun {
		return back, err
	}
	now := h.o.Now()
	back.ID, back.Time = session.NewSortableID("", now), now
	if err := h.swapAll(ctx, p, &back, nil); err != nil {
		return Record{}, fmt.Errorf("undoing change %s: %w", r.ID, err)
	}
	release()
	back.Dropped = h.tidy(ctx, 0)
	return back, nil
}

// undoing says what takes the files of a change back: a *ChangedError where one is not
// as the change left it.
func (p *places) undoing(r Record) (files []File, err error) {
	var changed, lost []Gap
	there, goes := map[string]bool{}, map[string]bool{} // directories, and what goes
	for _, f := range slices.Backward(r.Files) {
		f = inverseOf(f)
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
		if _, _, at := identity(info); at > dir.Before.CTime {
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
