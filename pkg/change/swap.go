package change

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// A change by exchange: each of its files changes places with an entry of the stash. The
// record is on the disk before the first does. Which have done so is told by the inodes
// in the stash, where nobody else writes, so that whoever comes after a crash goes on or
// goes back. To undo it is to exchange once more, in the opposite order.

// ErrApart says that no rename leads from the workspace to the journal, or that a file
// has to be written where it is.
var ErrApart = errors.New("the workspace and the journal are apart")

// exchange makes the targets happen by renames: ErrApart when that cannot be, and then
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
		if targets[i].Apart && targets[i].Was == Regular {
			r.Apart = append(r.Apart, encodeName(targets[i].Path))
		}
	}
	r.Stash = fmt.Sprintf("%s.%d", r.ID, r.Bytes) // for pruneKept to know
	p, err := h.stash(r.Stash, true)
	if err != nil {
		return Record{}, err
	}
	defer p.close()
	used, err := p.plan(&r, targets)
	if err == nil && len(r.Files) > 0 {
		gone := map[string]func(string) error{}
		for i := range targets {
			gone[targets[i].Path] = targets[i].Gone
		}
		err = h.swapAll(ctx, p, &r, used, gone)
	}
	if err == nil {
		r.Gaps = append(r.Gaps, h.apart(&r)...)
	}
	if err != nil && !errors.Is(err, ErrUnfinished) || len(r.Files) == 0 {
		if _, stay := h.store.done.Lstat(r.ID); stay != nil { // else some of it could not be taken back
			err = errors.Join(err, h.store.removeStash(r.Stash))
		}
		return Record{}, err
	}
	release()
	if err == nil {
		r.Dropped = append(h.tidy(ctx, 0), h.pruneKept(h.o.Limits.Kept, h.o.Limits.KeptAge, r.ID)...)
	}
	return r, err
}

// apart makes copies of the files that went with a directory and that are to be kept so; those
// that have a place of their own in the stash are known by their inodes.
func (h *History) apart(r *Record) (gaps []Gap) {
	if len(r.Apart) == 0 {
		return nil
	}
	stash, err := os.OpenRoot(h.session.Path(journalDir, stashDir, r.Stash))
	if err != nil {
		return []Gap{{r.Files[0].Path, err.Error()}}
	}
	defer stash.Close()
	_ = r.apart(stash, func(i int) string {
		if r.Files[i].Before.Kind != Dir {
			return ""
		}
		return r.Files[i].Stash
	}, func(path string, err error) error {
		gaps = append(gaps, Gap{path, err.Error()})
		return nil
	})
	return gaps
}

// apart makes copies of the files in dir that are to be kept so. kept tells what of the record
// is called how there, "" for what is not there; failed hears of what cannot be copied, and
// may end it.
func (r *Record) apart(dir *os.Root, kept func(i int) string, failed func(path string, err error) error) error {
	for _, name := range r.Apart {
		path := decodeName(name)
		for i := range r.Files {
			at := kept(i)
			rel, below := safefile.Rel(r.Files[i].Path, path)
			if at == "" || !below {
				continue
			}
			if err := copied(dir, filepath.Join(at, rel)); err != nil && !missing(err) {
				if err := failed(path, err); err != nil {
					return err
				}
			}
			break // no name is in two of the files
		}
	}
	return nil
}

// copied has a copy take the place of a file; the directory keeps its time.
func copied(dir *os.Root, name string) error {
	info, err := dir.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	above := filepath.Dir(name)
	if in, err := dir.Stat(above); err == nil {
		defer dir.Chtimes(above, time.Time{}, in.ModTime()) //nolint:errcheck // it is as it was but for that
	}
	temp := filepath.Join(above, ".agentkit-shelf-"+filepath.Base(name)+".tmp")
	_ = dir.Remove(temp)
	if info.Mode()&0o400 == 0 {
		_ = dir.Chmod(name, info.Mode()&safefile.ModeBits|0o400)
	}
	if err := copyThing(place{dir, name}, dir, temp, info); err != nil {
		return err
	}
	return dir.Rename(temp, name)
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

func (s *store) removeStash(id string) error {
	top, err := s.top.Make(stashDir)
	if err != nil {
		return err
	}
	defer top.Close()
	return top.RemoveAll(id)
}

// plan says which files change places, and prepares what they become in the stash. It
// returns the files that were given for that.
func (p *places) plan(r *Record, targets []Target) (used []string, err error) {
	targets = slices.Clone(targets)
	slices.SortFunc(targets, func(a, b Target) int { return inTree(a.Path, b.Path) })
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
		case f.Before.Kind == Regular && f.Before.Links > 1 && f.After.Kind == Regular && !t.Anew:
			return nil, ErrApart // its other names have to get the content too
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

// inTree compares paths so that what is in a directory follows it at once: "a/b" comes
// before "a.b", which is beside it.
func inTree(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	switch {
	case n == len(a) || n == len(b):
		return cmp.Compare(len(a), len(b))
	case os.IsPathSeparator(a[n]):
		return -1
	case os.IsPathSeparator(b[n]):
		return 1
	}
	return cmp.Compare(a[n], b[n])
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
func (h *History) swapAll(ctx context.Context, p *places, r *Record, used []string, gone map[string]func(at string) error) error {
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
		if look := gone[r.Files[i].Path]; err == nil && look != nil && r.Files[i].Stash != "" {
			err = look(p.name(r.Files[i].Stash))
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
		if f.Stash != "" && closed(f.After) { // it may come from the stash
			e, err := p.entry(f.Stash)
			if err == nil && e.Ino == f.After.Ino {
				err = p.chmod(f.Stash, e.Mode|0o700)
			}
			if err != nil {
				return err
			}
		}
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
	} else { // on a full disk, as it is: what it lacks are times and made directories' inodes
		err = os.Rename(filepath.Join(p.s.pending.Path(), p.r.ID), filepath.Join(p.s.done.Path(), p.r.ID))
	}
	if err != nil {
		return fmt.Errorf("finishing the record: %w", err)
	}
	return nil
}
