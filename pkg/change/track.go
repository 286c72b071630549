package change

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
)

// TrackOptions say what Track looks at. The zero value is the whole workspace.
type TrackOptions struct {
	Tool, Title string // for the record

	// Skip leaves out a file, or a directory with all beneath it, by its
	// slash-separated path from the root: what git ignores, big trees, and
	// .git itself. nil skips nothing. The state directory is always left out.
	Skip func(rel string, entry fs.DirEntry) bool

	MaxFile    int64 // bytes up to which a file's content is kept; default 256 KiB
	MaxBytes   int64 // bytes of all contents kept; default 64 MiB
	MaxEntries int   // beyond so many files and directories nothing is tracked; default 200,000
}

func (o TrackOptions) withDefaults() TrackOptions {
	if o.MaxFile <= 0 {
		o.MaxFile = 256 << 10
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 64 << 20
	}
	if o.MaxEntries <= 0 {
		o.MaxEntries = 200_000
	}
	return o
}

// A Tracking is a workspace as it was before something else ran in it.
type Tracking struct {
	h       *History
	o       TrackOptions
	before  *tree
	release func()
}

// Track notes how the workspace is now, so that what a command is about to
// change can be undone. Contents are read once: of files that are as they were
// at the last Track of the session only the facts are looked at. End it with
// Finish or Close.
func (h *History) Track(ctx context.Context, o TrackOptions) (*Tracking, error) {
	release, err := h.store.hold(ctx)
	if err != nil {
		return nil, fmt.Errorf("tracking changes: %w", err)
	}
	t := &Tracking{h: h, o: o.withDefaults(), release: release}
	if t.before, err = h.snapshot(ctx, t.o); err != nil {
		release()
		return nil, fmt.Errorf("tracking changes: %w", err)
	}
	return t, nil
}

// Close ends the tracking. It may be called again, and after Finish.
func (t *Tracking) Close() {
	t.before.close()
	t.release()
}

// Keeps reports whether what has a name can be brought back by the change, and all that is in it.
func (t *Tracking) Keeps(name string) bool {
	rel, inside := safefile.Rel(t.h.w.Root(), name)
	if rel = filepath.ToSlash(rel); !inside || t.before.full {
		return false
	}
	had, within := t.before.seen[rel]
	for up := rel; !within; up = path.Dir(up) { // where nothing is, that is known of all but what was left out
		if s, seen := t.before.seen[up]; seen || up == "." {
			return up == "." || s.Kind == Dir
		}
		if _, err := os.Lstat(filepath.Join(t.h.w.Root(), filepath.FromSlash(up))); err == nil {
			return false
		}
	}
	keeps := func(s seen) bool { return s.Kind == Link || s.Kind == Dir || s.Kind == Regular && s.offset >= 0 }
	if had.Kind != Dir {
		return keeps(had)
	}
	for at, s := range t.before.seen {
		if strings.HasPrefix(at, rel+"/") && !keeps(s) {
			return false
		}
	}
	left := false
	err := filepath.WalkDir(name, func(at string, _ fs.DirEntry, err error) error {
		at, _ = safefile.Rel(t.h.w.Root(), at)
		if _, seen := t.before.seen[filepath.ToSlash(at)]; err != nil || !seen {
			left = true // git's own, as a rule
			return fs.SkipAll
		}
		return nil
	})
	return err == nil && !left
}

// Finish compares the workspace with what it was and records the difference as
// a change that can be undone. Its Gaps say what is different and cannot be:
// the content was not kept, or it is no file. What others changed meanwhile is
// in it too, for nobody can tell. A Record without ID: nothing has changed, or
// nothing that could be recorded; see Gaps.
//
// A name for which without reports true, nil for none, is left out, as another change has it.
func (t *Tracking) Finish(ctx context.Context, without func(path string) bool) (Record, error) {
	defer t.Close()
	after, err := t.h.walk(ctx, t.o)
	if err != nil {
		return Record{}, fmt.Errorf("tracking changes: %w", err)
	}
	r := Record{Tool: t.o.Tool, Title: t.o.Title, Time: t.h.o.Now()}
	if t.before.full || after.full {
		r.Gaps = []Gap{{Why: fmt.Sprintf("more than %d files: nothing was tracked", t.o.MaxEntries)}}
		return r, nil
	}
	b := t.h.store.batch()
	defer b.close()
	c := comparison{h: t.h, before: t.before, after: after, batch: b, by: map[string]int{}, without: without}
	if err := c.run(ctx, &r); err != nil {
		return Record{}, fmt.Errorf("tracking changes: %w", err)
	}
	if len(r.Files) == 0 {
		return r, nil
	}
	r.ID, r.added = session.NewSortableID("", r.Time), b.size
	if err := t.h.store.add(&r, b); err != nil {
		return Record{}, fmt.Errorf("recording what changed: %w", err)
	}
	t.release()
	r.Dropped = t.h.tidy(ctx, r.added)
	return r, nil
}

// A comparison finds out what is different between two trees.
type comparison struct {
	h             *History
	before, after *tree
	batch         *batch
	by            map[string]int // index in the record's Files
	without       func(path string) bool
}

func (c *comparison) run(ctx context.Context, r *Record) error {
	for _, rel := range union(c.before, c.after) {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		was, is := c.before.seen[rel], c.after.seen[rel]
		if c.same(rel, was, is) {
			continue
		}
		f := File{Path: filepath.Join(c.h.w.Root(), filepath.FromSlash(rel)), Before: was.State, After: is.State}
		if c.without != nil && c.without(f.Path) {
			continue
		}
		why, err := c.fill(&f, was, is)
		if err != nil {
			return err
		}
		if f.Before.is(f.After) && f.Before.sameMode(f.After) && why == "" {
			continue // only its times differ
		}
		if why != "" && f.Before.Kind != Regular {
			r.Gaps = append(r.Gaps, Gap{f.Path, why})
			continue
		}
		c.by[rel] = len(r.Files)
		r.Files = append(r.Files, f)
	}
	c.moves(r)
	c.gaps(r)
	return nil
}

// union lists the names in either tree, sorted.
func union(a, b *tree) []string {
	names := make([]string, 0, len(a.seen))
	for rel := range a.seen {
		names = append(names, rel)
	}
	for rel := range b.seen {
		if _, ok := a.seen[rel]; !ok {
			names = append(names, rel)
		}
	}
	slices.Sort(names)
	return names
}

// same reports whether nothing speaks for a change. Within one tick of the
// file system's clock a file can change twice with the same time, so that one
// which was young when it was looked at is read again.
func (c *comparison) same(rel string, was, is seen) bool {
	if was != is.at(was.offset) {
		return false
	}
	if was.Kind != Regular || was.offset < 0 || max(was.ctime, was.mtime) < c.before.began.Add(-50*time.Millisecond).UnixNano() {
		return true
	}
	old, err := c.before.content(was)
	if err != nil {
		return false
	}
	now, err := c.h.readSmall(rel, was.Size)
	return err == nil && bytes.Equal(old, now)
}

// fill completes the two states of a file; why says what cannot be undone.
func (c *comparison) fill(f *File, was, is seen) (why string, err error) {
	if was.Kind == other || is.Kind == other {
		return "it is no file, directory or link", nil
	}
	if is.Kind == Regular {
		path, err := c.h.path(f.Path)
		if err == nil {
			var now State
			if now, f.InPlace, err = c.h.look(path, nil); err == nil {
				f.After = now
			}
		}
		if err != nil {
			return "it cannot be read: " + err.Error(), nil
		}
	}
	if was.Kind != Regular {
		return "", nil
	}
	if was.offset < 0 {
		if is.Kind == Regular && was.sameFile(is) && was.Size == is.Size && was.mtime == is.mtime {
			f.Before.Hash = f.After.Hash // only its mode or its names have changed
			return "", nil
		}
		return "its old content was not kept: " + c.before.why(was), nil
	}
	data, err := c.before.content(was)
	if err != nil {
		return "", err
	}
	f.Before.Hash = Hash(data)
	if f.Before.sameContent(f.After) {
		return "", nil
	}
	if err := c.batch.addBytes(data, f.Before.Hash); err != nil {
		return "", err
	}
	f.Before.Kept = true
	return "", nil
}

// moves finds the files that only have another name now: what has become of
// one that is gone is told by its inode. These need no content.
func (c *comparison) moves(r *Record) {
	gone := map[[2]uint64]string{}
	for i := range r.Files {
		f := &r.Files[i]
		rel := c.rel(f.Path)
		if s := c.before.seen[rel]; f.After.Kind == Missing && f.Before.Kind == Regular && s.ino != 0 {
			gone[[2]uint64{s.dev, s.ino}] = rel
		}
	}
	for i := range r.Files {
		f := &r.Files[i]
		is := c.after.seen[c.rel(f.Path)]
		rel, ok := gone[[2]uint64{is.dev, is.ino}]
		if f.Before.Kind != Missing || f.After.Kind != Regular || !ok {
			continue
		}
		from := &r.Files[c.by[rel]]
		was := c.before.seen[rel]
		if from.Before.Hash == "" && was.Size == is.Size && was.mtime == is.mtime {
			from.Before.Hash = f.After.Hash
		}
		if from.Before.Hash == "" {
			continue
		}
		f.From = from.Path
		delete(gone, [2]uint64{is.dev, is.ino})
	}
}

func (c *comparison) rel(path string) string {
	rel, _ := strings.CutPrefix(path, c.h.w.Root())
	return strings.TrimPrefix(filepath.ToSlash(rel), "/")
}

// gaps takes out of the record what cannot be undone, and says so.
func (c *comparison) gaps(r *Record) {
	r.Files = slices.DeleteFunc(r.Files, func(f File) bool {
		if f.Before.Kind != Regular || f.Before.Hash != "" {
			return false
		}
		r.Gaps = append(r.Gaps, Gap{f.Path, "its old content was not kept: " + c.before.why(c.before.seen[c.rel(f.Path)])})
		return true
	})
}

// add puts the record of something that has happened among the others.
func (s *store) add(r *Record, b *batch) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return b.save(s.done, func() error { return s.done.WriteFile(r.ID, data, s.sync) })
}
