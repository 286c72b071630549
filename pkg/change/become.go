package change

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// A Target is what a name is to become.
type Target struct {
	Path  string // real path
	Was   Kind   // what stands there
	State        // of a file, Hash and Size are found out
	Open  func() (io.ReadCloser, error)
	From  string // a file that is what the name is to become, which may be given that name and is gone then; "" for none
	Bytes int64  // of the file that stands there

	// Anew has other names of the file that stands there keep what they hold, where
	// Become would write to it.
	Anew bool

	// Apart has what goes be kept as a copy, so that nobody who has the file open, or knows
	// another name of it, decides what undo brings back.
	Apart bool

	// Gone, if set, looks at a directory that has gone to another place by one rename: its error has all take back.
	Gone func(at string) error

	// Shared says that another target is for the same file, which Become writes to.
	Shared bool
}

// Become makes each name what its target says, all or none, and can be undone as
// [History.Commit] can: the errors are the same. Read-only files and directories are no
// obstacle. A directory that is to go has to be empty by then, so the targets name
// everything in it; directories that are to hold something are targets too.
//
// Where the journal is on the workspace's mount, what goes and what comes changes places
// by renames: nothing is read or copied, and a directory that goes with all in it is one
// rename. Owners, times, extended attributes and hard links come back too. Elsewhere
// contents are kept and written, as Commit does, and what is no file, directory or link
// is left out.
//
// Once all files are locked, and before the first is touched, look is called: an
// error of it is returned, and nothing has changed.
func (h *History) Become(ctx context.Context, r Record, targets []Target, look func() error) (Record, error) {
	made, err := h.exchange(ctx, r, targets, look)
	if !errors.Is(err, ErrApart) {
		return made, err
	}
	targets = slices.DeleteFunc(slices.Clone(targets), func(t Target) bool { return t.Was == other || t.Kind == other || t.Shared })
	files := make([]File, len(targets))
	for i, t := range targets {
		files[i] = File{Path: t.Path, Before: State{Kind: t.Was}, After: t.State}
	}
	lock, err := h.lockFiles(ctx, r.Title, files)
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
	steps, err := h.becoming(targets, linksOf(files))
	if err != nil {
		return Record{}, err
	}
	made, err = h.carry(ctx, lock, r, steps, true)
	release()
	if err == nil {
		made.Dropped = h.tidy(ctx, made.added)
	}
	return made, err
}

// Exchange is Become by renames alone: it is ErrApart where that cannot be, and nothing has
// changed then.
func (h *History) Exchange(ctx context.Context, r Record, targets []Target, look func() error) (Record, error) {
	return h.exchange(ctx, r, targets, look)
}

// Renames reports whether files of the workspace can change places with the journal's.
func (h *History) Renames() bool { return onOneMount(h.w.Root(), h.session.StateDir()) }

func (h *History) becoming(targets []Target, l links) ([]*step, error) {
	p := planner{h: h, byName: map[string]*step{}}
	for _, t := range targets {
		path, err := h.pathIn(t.Path, l)
		if errors.Is(err, workspace.ErrNotDir) {
			path, err = workspace.Path{}, nil
		}
		if err != nil {
			return nil, err
		}
		s, err := p.step(t.Path, path, nil)
		if err != nil {
			return nil, err
		}
		s.After = t.State
		if t.Kind != Regular {
			continue
		}
		if t.Open == nil {
			s.After.Hash, s.After.Size = s.Before.Hash, s.Before.Size
			continue
		}
		s.open = t.Open
		if s.After.Hash, s.After.Size, err = s.hash(); err != nil {
			return nil, fmt.Errorf("reading what %s is to be: %w", t.Path, err)
		}
	}
	return p.all(), nil
}
