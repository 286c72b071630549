package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// UndoOptions refine an Undo. The zero value undoes all of a change.
type UndoOptions struct {
	DryRun  bool   // change nothing: the Record says what would be, and has no ID
	Partial bool   // leave the record's Gaps out, instead of refusing because of them
	Tool    string // for the record
	Path    string // real path: take back only what was done to it, and to what is in it
}

// A ChangedError says that files of a change have changed since, so that
// undoing it would destroy something. Nothing was touched.
type ChangedError struct {
	ID    string
	Files []Gap
}

// Error implements error.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("undoing change %s: changed since: %s", e.ID, Gaps(e.Files))
}

// A GapError says what of a change cannot be undone. Nothing was touched.
type GapError struct {
	ID   string
	Gaps []Gap
}

// Error implements error.
func (e *GapError) Error() string {
	return fmt.Sprintf("undoing change %s: not all of it was kept: %s", e.ID, Gaps(e.Gaps))
}

// Gaps is a list of them in words, the first ten.
func Gaps(gaps []Gap) string {
	const most = 10
	var words []string
	for i, g := range gaps {
		if i == most {
			words = append(words, fmt.Sprintf("and %d more", len(gaps)-most))
			break
		}
		words = append(words, strings.TrimSpace(g.Path+" ("+g.Why+")"))
	}
	return strings.Join(words, ", ")
}

// List returns the changes of the session, newest first, at most limit; 0 or
// less is all. Records that cannot be read are among them, as Damaged.
func (h *History) List(ctx context.Context, limit int) ([]Record, error) {
	var all []Record
	for r, err := range h.records(ctx) {
		if err != nil {
			return all, err
		}
		all = append(all, r)
		if len(all) == limit {
			break
		}
	}
	return all, nil
}

// Newest returns the newest changes that are no undo and are not undone, newest first, at
// most that many, which are the ones to undo next. Those that are damaged it goes past, and
// gives their IDs: whatever they changed, a file that one of them touched is not as an older
// change left it, and undoing that one is refused. What is older than the last of them is not read.
func (h *History) Newest(ctx context.Context, most int) (list []Record, damaged []string, err error) {
	for r, err := range h.records(ctx) {
		switch {
		case err != nil:
			return nil, nil, err
		case r.Damaged != nil:
			damaged = append(damaged, r.ID)
		case r.Undoes == "" && r.UndoneBy == "":
			if list = append(list, r); len(list) == most {
				return list, damaged, nil
			}
		}
	}
	return list, damaged, nil
}

// Get returns the change of that ID: ErrNoRecord or ErrDropped when it is not
// there (any more), ErrUnreadable when it is damaged.
func (h *History) Get(ctx context.Context, id string) (Record, error) {
	for r, err := range h.records(ctx) {
		if err != nil {
			return Record{}, err
		}
		if r.ID == id {
			return r, r.Damaged
		}
	}
	if id != "" && id <= h.droppedID() {
		return Record{}, fmt.Errorf("%w: %s", ErrDropped, id)
	}
	if ids, _ := readNames(h.session.Path(journalDir, shelvingDir)); slices.Contains(ids, id) {
		return Record{}, fmt.Errorf("%w: %s", ErrRunning, id)
	}
	return Record{}, fmt.Errorf("%w: %q", ErrNoRecord, id)
}

// records iterates from the newest to the oldest and tells which are undone.
func (h *History) records(ctx context.Context) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		ids, err := h.ids(ctx)
		if err != nil {
			yield(Record{}, err)
			return
		}
		undone, parts := map[string]string{}, map[string][]File{}
		for _, id := range slices.Backward(ids) {
			r, err := h.store.load(id)
			if missing(err) {
				continue // dropped meanwhile
			}
			r.Damaged = err
			r.UndoneBy, r.undone = undone[id], parts[id]
			switch {
			case r.Undoes == "" || r.UndoneBy != "":
			case r.Part != "":
				for _, f := range r.Files {
					if !above(f.Path, r.PartOf()) { // directories above it were made for it
						parts[r.Undoes] = append(parts[r.Undoes], f)
					}
				}
			case undone[r.Undoes] == "":
				undone[r.Undoes] = id
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// ids lists the changes that were made, oldest first.
func (h *History) ids(ctx context.Context) ([]string, error) {
	err := h.store.openExisting(ctx)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	names, err := readNames(h.store.done.Path())
	if err != nil {
		return nil, fmt.Errorf("listing the changes: %w", err)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n[0] == '.' })
	slices.Sort(names)
	return names, nil
}

// Content opens the content of a State that is Kept, for a diff.
func (h *History) Content(ctx context.Context, s State) (io.ReadCloser, error) {
	if err := h.store.openExisting(ctx); err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	return h.store.content(s.Hash)
}

// Paths returns what resolves the Files of a record again, for a policy to decide on. It
// is workspace.ErrMoved when the way to one leads elsewhere now. Where a file or link
// stands in the place of its directory, it is the path that it had in that.
func (h *History) Paths(r Record) func(File) (workspace.Path, error) {
	l := linksOf(r.Files)
	return func(f File) (workspace.Path, error) {
		p, err := h.pathIn(f.Path, l)
		for dir := filepath.Dir(f.Path); errors.Is(err, workspace.ErrNotDir) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if file, above := h.pathIn(dir, l); !errors.Is(above, workspace.ErrNotDir) {
				rel, inside := safefile.Rel(dir, f.Path)
				if above != nil || !inside {
					return file, above
				}
				return file.Beneath(filepath.ToSlash(rel)), nil
			}
		}
		return p, err
	}
}

// Undo takes a change of this session back; "" is the newest that is no undo and is not undone, or of a path the newest that
// touched it and is not undone. Every file becomes
// what it was before it, all or none, and the Record returned is of that change
// back: it can be undone in turn.
//
// It is a *ChangedError when a file is not as the change left it, a *GapError
// when the record has Gaps and Partial is not asked for, ErrUndone when it is
// undone already, ErrUnreadable when its record is damaged, ErrDamaged when a
// content in the journal is, and what Commit returns. A directory that the change made stays when something else is in it
// now; a file that is as it was before already is no obstacle.
func (h *History) Undo(ctx context.Context, id string, o UndoOptions) (Record, error) {
	if !o.DryRun {
		// Two at once must not both find the change not undone yet.
		free, err := h.store.undoing(ctx)
		if err != nil {
			return Record{}, err
		}
		defer free()
	}
	r, err := h.wanted(ctx, id, o.Path)
	if err != nil {
		return Record{}, err
	}
	return h.undo(ctx, r, o)
}

// Would says what undoing a change from List, which is not undone, would do now: what Undo
// returns in a dry run, without looking for the change among all that are newer.
func (h *History) Would(ctx context.Context, r Record) (Record, error) {
	return h.undo(ctx, r, UndoOptions{DryRun: true})
}

func (h *History) undo(ctx context.Context, r Record, o UndoOptions) (Record, error) {
	back := Record{Tool: o.Tool, Title: r.Title, Undoes: r.ID, Command: r.Command}
	if o.Path != "" {
		files := r.of(o.Path)
		if len(files) < len(r.Files) {
			back.Part = encodeName(o.Path)
		}
		if back.Part != "" && (len(files) == 0 || r.Shelf != nil) {
			return h.takeOut(ctx, r, back, o)
		}
		r.Files = files
	} else if r.Shelf == nil && len(r.undone) > 0 {
		r.Files = r.of(h.w.Root())
	}
	if r.Shelf != nil {
		release, err := h.store.hold(ctx)
		if err != nil {
			return Record{}, err
		}
		defer release()
		return h.undoShelf(ctx, r, o)
	}
	if len(r.Gaps) > 0 && !o.Partial && back.Part == "" {
		return Record{}, &GapError{r.ID, r.Gaps}
	}
	if r.Stash != "" {
		return h.undoSwap(ctx, r, back, o)
	}
	files := inverse(slices.DeleteFunc(slices.Clone(r.Files), func(f File) bool {
		return slices.ContainsFunc(r.Gaps, func(g Gap) bool { return g.Path == f.Path })
	}))
	release, err := h.store.hold(ctx)
	if err != nil {
		return Record{}, err
	}
	defer release()
	lock, err := h.lockFiles(ctx, r.ID, files)
	if err != nil {
		return Record{}, err
	}
	defer lock.Unlock()
	steps, err := h.undoing(r.ID, files)
	if err != nil {
		return Record{}, err
	}
	if o.DryRun {
		for _, s := range steps {
			if s.From != "" || !s.Before.sameContent(s.After) || !s.Before.sameMode(s.After) {
				back.Files = append(back.Files, s.File)
			}
		}
		return back, nil
	}
	back, err = h.carry(ctx, lock, back, steps, true)
	if err != nil {
		return back, fmt.Errorf("undoing change %s: %w", r.ID, err)
	}
	release()
	back.Dropped = h.tidy(ctx, back.added)
	return back, nil
}

func (h *History) wanted(ctx context.Context, id, path string) (Record, error) {
	switch {
	case id == "" && path == "":
		list, _, err := h.Newest(ctx, 1)
		if err != nil || len(list) == 0 {
			return Record{}, cmp.Or(err, ErrNoRecord)
		}
		return list[0], nil
	case id == "":
		return h.LastOf(ctx, path)
	}
	r, err := h.Get(ctx, id)
	if err == nil && r.UndoneBy != "" {
		err = fmt.Errorf("undoing change %s: %w: by %s", id, ErrUndone, r.UndoneBy)
	}
	if err == nil && path != "" && !h.touches(ctx, &r, path) {
		err = fmt.Errorf("%w: %q has nothing of %s", ErrNoRecord, id, path)
	}
	return r, err
}

func (h *History) lockFiles(ctx context.Context, id string, files []File) (*workspace.Lock, error) {
	var paths []workspace.Path
	var changed []Gap
	l := linksOf(files)
	for _, f := range files {
		p, err := h.pathIn(f.Path, l)
		switch {
		case errors.Is(err, workspace.ErrNotDir): // nothing to lock yet
		case errors.Is(err, workspace.ErrMoved):
			changed = append(changed, Gap{f.Path, err.Error()})
		case err != nil:
			return nil, err
		case f.Before.Kind != Dir && f.After.Kind != Dir:
			paths = append(paths, p)
		}
	}
	if len(changed) > 0 {
		return nil, &ChangedError{id, changed}
	}
	return h.Lock(ctx, paths...)
}

// undoing looks at each file and says how it gets back. File.Before is what
// the change left, File.After what was before it.
func (h *History) undoing(id string, files []File) ([]*step, error) {
	p := planner{h: h, byName: map[string]*step{}}
	var changed, lost []Gap
	l := linksOf(files)
	for _, f := range files {
		path, err := h.pathIn(f.Path, l)
		if err != nil && !errors.Is(err, workspace.ErrNotDir) {
			return nil, err
		} else if err != nil {
			path = workspace.Path{}
		}
		s, err := p.step(f.Path, path, nil)
		if errors.Is(err, workspace.ErrNotRegular) || errors.Is(err, workspace.ErrMoved) {
			changed = append(changed, Gap{f.Path, err.Error()})
			continue
		}
		if err != nil {
			return nil, err
		}
		s.From, s.After = f.From, f.After
		s.After.Kept = false
		now := s.Before
		switch {
		case now.is(f.Before), now.is(f.After):
		case f.Before.Kind == Dir && now.Kind == Missing, f.After.Kind == Dir && now.Kind == Dir:
		default:
			changed = append(changed, Gap{f.Path, difference(now, f.Before)})
		}
	}
	if len(changed) > 0 {
		return nil, &ChangedError{id, changed}
	}
	for _, s := range slices.Clone(p.steps) {
		if err := p.parents(s); err != nil {
			return nil, err
		}
	}
	steps := p.all()
	for _, s := range steps {
		if err := h.available(s, p.byName[s.From]); err != nil {
			lost = append(lost, Gap{s.Path, err.Error()})
		}
	}
	if len(lost) > 0 {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, &GapError{id, lost})
	}
	return steps, nil
}

// available makes sure that the content a step needs is there and whole.
func (h *History) available(s, from *step) error {
	if s.After.Kind != Regular || s.Before.sameContent(s.After) || from != nil && from.Before.sameContent(s.After) {
		return nil
	}
	c, err := h.store.content(s.After.Hash)
	if err != nil {
		return err
	}
	return c.Close()
}

// otherKind says in words that a name is of another kind than it should be.
func otherKind(now, want Kind) string {
	switch Missing {
	case now:
		return "it is gone"
	case want:
		return "it exists again"
	}
	return "it is a " + string(now) + " now"
}

// difference says in words how a file is not what it should be.
func difference(now, want State) string {
	switch {
	case now.Kind != want.Kind:
		return otherKind(now.Kind, want.Kind)
	case now.sameContent(want):
		return fmt.Sprintf("its mode is %04o now, not %04o", now.Mode.Perm(), want.Mode.Perm())
	case now.Kind == Link:
		return "the link leads elsewhere now"
	}
	return "it is version " + now.Version() + " now, not " + want.Version()
}
