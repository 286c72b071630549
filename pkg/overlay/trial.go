package overlay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
)

// The errors that a caller may want to tell apart.
var (
	ErrNone   = errors.New("no such trial") // or not any more
	ErrInside = errors.New("the state directory lies in the workspace")
	errMoved  = errors.New("something else took its place")
)

// What a session keeps: the newest trials, and none for longer than that.
const (
	keepTrials = 20
	keepAge    = 7 * 24 * time.Hour
)

// A Trial is a command that ran in a view of the root, or is about to.
//
//	try/ID/upper   what it changed, as the kernel's overlay has it
//	try/ID/work    the overlay's own
//	try/ID/record  the list of changes, once it has ended
type Trial struct {
	ID      string
	Title   string // what it was, in a few words
	Time    time.Time
	Changes []Change

	s     *session.Session
	root  string
	began int64
}

const trialDir = "try"

// A ConflictError says which names are no longer what they were when the command
// ended. Nothing was changed.
type ConflictError struct{ Paths []string }

// Error implements error.
func (e *ConflictError) Error() string {
	const most = 10
	list := e.Paths[:min(most, len(e.Paths))]
	text := fmt.Sprintf("changed since the trial: %q", list)
	if more := len(e.Paths) - len(list); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Begin makes a trial's directories, and forgets what is too old of others.
func Begin(s *session.Session, root, title string) (*Trial, error) {
	if s.InsideRoot() {
		return nil, ErrInside
	}
	t := &Trial{ID: session.NewSortableID("", time.Now()), Title: title, Time: time.Now(), s: s, root: root}
	if err := s.Use(context.Background()); err != nil {
		return nil, err
	}
	forgetOld(s, t.Time)
	info, err := os.Stat(root)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"upper", "work"} {
		if _, err := s.Mkdir(path.Join(trialDir, t.ID, name)); err != nil {
			return nil, fmt.Errorf("making a view of the workspace: %w", err)
		}
	}
	// The command sees upper's mode as that of the root.
	if err := os.Chmod(filepath.Join(t.Dir(), "upper"), info.Mode().Perm()); err != nil {
		return nil, errors.Join(err, t.Discard())
	}
	t.began = time.Now().UnixNano()
	return t, nil
}

// Dir is the directory with upper and work in it.
func (t *Trial) Dir() string { return t.s.Path(trialDir, t.ID) }

// Content opens what the file of a change is to hold.
func (t *Trial) Content(c *Change) (*os.File, error) {
	return openAnyway(t.Made(c))
}

// Made is where the file lies that a change makes, as long as it is not applied.
func (t *Trial) Made(c *Change) string {
	return filepath.Join(t.Dir(), "upper", filepath.FromSlash(string(cmp.Or(c.Of, c.Path))))
}

// Size is how many bytes of the disk what the command has written so far takes.
func (t *Trial) Size() (bytes int64) {
	_ = filepath.WalkDir(filepath.Join(t.Dir(), "upper"), func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}

// Finish lists what the command changed, and keeps that. The command and all that it
// started must have ended.
func (t *Trial) Finish(ctx context.Context) (err error) {
	if t.Changes, err = collect(t.root, filepath.Join(t.Dir(), "upper"), t.began); err != nil {
		return errors.Join(err, t.Discard())
	}
	if len(t.Changes) == 0 {
		return t.Discard()
	}
	data, err := safefile.EncodeJSON(t)
	if err == nil {
		err = t.s.WriteFile(ctx, path.Join(trialDir, t.ID, "record"), data)
	}
	return err
}

// Open returns a trial that has ended: ErrNone where there is none.
func Open(s *session.Session, root, id string) (*Trial, error) {
	data, err := s.ReadFile(path.Join(trialDir, id, "record"))
	if strings.Contains(id, "/") || errors.Is(err, session.ErrName) || errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %q", ErrNone, id)
	}
	if err != nil {
		return nil, err
	}
	t := &Trial{s: s, root: root}
	if err := safefile.DecodeJSON(data, t); err != nil || t.ID != id {
		return nil, fmt.Errorf("reading trial %s: its record is damaged: %w", id, err)
	}
	return t, nil
}

// List returns the IDs of the trials, newest first.
func List(s *session.Session) []string {
	entries, _ := os.ReadDir(s.Path(trialDir))
	var ids []string
	for _, e := range slices.Backward(entries) {
		if _, err := os.Lstat(s.Path(trialDir, e.Name(), "record")); err == nil {
			ids = append(ids, e.Name())
		}
	}
	return ids
}

// forgetOld removes the trials that are too old, or too many. Nobody is at work on one
// that has no record after a day.
func forgetOld(s *session.Session, now time.Time) {
	entries, _ := os.ReadDir(s.Path(trialDir))
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() })
	for i, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		_, unfinished := os.Lstat(s.Path(trialDir, e.Name(), "record"))
		age := now.Sub(info.ModTime())
		if age > keepAge || unfinished != nil && age > 24*time.Hour || unfinished == nil && len(entries)-i >= keepTrials {
			_ = (&Trial{ID: e.Name(), s: s}).Discard()
		}
	}
}

// Discard forgets the trial.
func (t *Trial) Discard() error {
	// What the command closed to itself has to be opened to be removed.
	_ = filepath.WalkDir(t.Dir(), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			if info, err := e.Info(); err == nil && info.Mode().Perm()&0o700 != 0o700 {
				_ = os.Chmod(path, 0o700)
			}
		}
		return nil
	})
	return t.s.RemoveAll(path.Join(trialDir, t.ID))
}

// Path is the real path of a change.
func (t *Trial) Path(c *Change) string {
	return filepath.Join(t.root, filepath.FromSlash(string(c.Path)))
}

// Withhold takes a file that the command made out of what it changed, and moves it to a
// path on the same file system.
func (t *Trial) Withhold(name Name, to string) error {
	if err := os.Rename(filepath.Join(t.Dir(), "upper", filepath.FromSlash(string(name))), to); err != nil {
		return fmt.Errorf("withholding %s: %w", name, err)
	}
	t.Changes = slices.DeleteFunc(t.Changes, func(c Change) bool { return c.Path == name })
	return nil
}

// TooMuch returns the real paths of the files that the command takes away, or whose content
// it replaces, and that are nowhere else, where these are more than most bytes; nil where
// they are not. Which of some real paths are nowhere else is for the caller to say, and only
// asked where all that goes is that much. What git keeps of a repository does not count.
func (t *Trial) TooMuch(most int64, nowhereElse func(files []string) []string) map[string]bool {
	sizes, all := map[string]int64{}, int64(0)
	for i := range t.Changes {
		c := &t.Changes[i]
		if c.Before.Kind == change.Regular && !c.Same() && !safefile.BelowGit(string(c.Path)) {
			sizes[t.Path(c)], all = c.Before.Size, all+c.Before.Size
		}
	}
	if all <= most {
		return nil
	}
	lost, bytes := map[string]bool{}, int64(0)
	for _, path := range nowhereElse(slices.Sorted(maps.Keys(sizes))) {
		lost[path], bytes = true, bytes+sizes[path]
	}
	if bytes <= most {
		return nil
	}
	return lost
}

// Left lists what is no file, directory or link, and not as the command left it: Apply
// takes it on only where files change places by renames.
func (t *Trial) Left() (list []Change) {
	for _, c := range t.Changes {
		if c.Before.Kind != Other && c.After.Kind != Other {
			continue
		}
		if now, err := statReal(t.Path(&c)); err != nil || now.Kind != c.After.Kind {
			list = append(list, c)
		}
	}
	return list
}

// Apply makes in the root what the command changed in its view, all or none, as a
// change of h that can be undone, and forgets the trial. It is a *ConflictError where a
// name is no longer as it was.
func (t *Trial) Apply(ctx context.Context, h *change.History, tool string) (change.Record, error) {
	return t.apply(ctx, h.Become, change.Record{Tool: tool, Title: t.Title}, false, nil)
}

// Commit is Apply for a command that need not be asked about any more: by renames alone,
// so that nothing is lost on the way, and of a file with several names those that are no
// changes themselves keep what they hold. It is change.ErrApart where that cannot be. Files
// that go and that apart, which may be nil, is true of are kept as copies.
func (t *Trial) Commit(ctx context.Context, h *change.History, tool string, apart func(path string) bool) (change.Record, error) {
	return t.apply(ctx, h.Exchange, change.Record{Tool: tool, Title: t.Title, Command: true}, true, apart)
}

// A become is History.Become, or one like it.
type become func(context.Context, change.Record, []change.Target, func() error) (change.Record, error)

func (t *Trial) apply(ctx context.Context, do become, r change.Record, anew bool, apart func(path string) bool) (change.Record, error) {
	unlock, err := t.s.Lock(ctx, path.Join(trialDir, "apply"))
	if err != nil {
		return change.Record{}, err
	}
	defer unlock()
	if _, err := os.Lstat(filepath.Join(t.Dir(), "record")); err != nil { // another was faster
		return change.Record{}, fmt.Errorf("%w: %q", ErrNone, t.ID)
	}
	var targets []change.Target
	names := map[uint64]int{} // that get a content of their own, of each file that stands there
	for i := range t.Changes {
		if t.Changes[i].Before.Kind == change.Regular && t.Changes[i].After.Kind == change.Regular {
			names[t.Changes[i].Before.Ino]++
		}
	}
	for i := range t.Changes {
		c := &t.Changes[i]
		target := change.Target{Path: t.Path(c), Anew: anew || names[c.Before.Ino] > 1, Shared: c.Of != "", Was: c.Before.Kind, Bytes: c.Before.Size, State: change.State{Kind: c.After.Kind, Mode: c.After.Mode, Target: string(c.After.Target)}}
		target.Apart = apart != nil && apart(target.Path)
		if c.After.Kind != change.Missing && c.After.Kind != change.Dir {
			target.From = t.Made(c)
		}
		if c.After.Kind == change.Regular && !c.Same() {
			target.Open = func() (io.ReadCloser, error) { return t.Content(c) }
		}
		if c.Before.Kind == change.Dir && c.After.Kind != change.Dir {
			target.Gone = func(at string) error { return t.unchangedIn(string(c.Path), at) }
		}
		targets = append(targets, target)
	}
	targets = append(targets, t.closed()...)
	r, err = do(ctx, r, targets, t.unchanged)
	if err != nil {
		return r, err
	}
	for i := range t.Changes {
		if r.Stash != "" {
			break // the files themselves were moved
		}
		if c := &t.Changes[i]; c.After.Kind == change.Regular || c.After.Kind == change.Link {
			setTime(t.Path(c), c.After.MTime) // what can be changed can be given a time
		}
	}
	return r, t.Discard()
}

// closed lists the directories that something changes in, and in which nothing can be
// changed: the command opened them, and closed them again.
func (t *Trial) closed() (list []change.Target) {
	seen := map[string]bool{".": true}
	for i := range t.Changes {
		seen[string(t.Changes[i].Path)] = true
	}
	for i := range t.Changes {
		dir := path.Dir(string(t.Changes[i].Path))
		if seen[dir] {
			continue
		}
		seen[dir] = true
		real := filepath.Join(t.root, filepath.FromSlash(dir))
		if s, err := statReal(real); err == nil && s.Kind == change.Dir && s.Mode&0o300 != 0o300 {
			list = append(list, change.Target{Path: real, Was: change.Dir, State: change.State{Kind: change.Dir, Mode: s.Mode}})
		}
	}
	return list
}

// openAnyway opens a file of upper, also one that the command closed to all.
func openAnyway(name string) (*os.File, error) {
	f, err := os.Open(name)
	if !errors.Is(err, fs.ErrPermission) {
		return f, err
	}
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(name, info.Mode().Perm()|0o400); err != nil {
		return nil, err
	}
	return os.Open(name)
}

// find looks for the change of a path, or where it would stand.
func (t *Trial) find(path string) (i int, ok bool) {
	return slices.BinarySearchFunc(t.Changes, path, func(c Change, path string) int { return strings.Compare(string(c.Path), path) })
}

// unchangedIn looks whether a directory that has gone to another place holds there what it held: what others put
// into it until it went would come back with it.
func (t *Trial) unchangedIn(dir, at string) error {
	var conflicts []string
	for i, _ := t.find(dir); i < len(t.Changes); i++ {
		c := &t.Changes[i]
		rest, below := strings.CutPrefix(string(c.Path), dir)
		switch {
		case !below:
			i = len(t.Changes) // they are sorted
			continue
		case rest != "" && rest[0] != '/' || c.Before.Kind == change.Missing:
			continue
		}
		now := filepath.Join(at, filepath.FromSlash(rest))
		have, err := statReal(now)
		if c.Before.Links > 1 && have.MTime == c.Before.MTime && have.Size == c.Before.Size {
			have.CTime = c.Before.CTime // another of its names may have gone already
		}
		if rest != "" && (c.Before.Kind != change.Dir || c.Before.Mode&0o300 == 0o300) && (err != nil || !c.Before.is(have)) {
			conflicts = append(conflicts, string(c.Path))
			continue
		}
		if c.Before.Kind != change.Dir {
			continue
		}
		entries, err := readReal(now)
		if err != nil {
			return err
		}
		for _, e := range entries {
			in := path.Join(string(c.Path), e.Name())
			if _, changed := t.find(in); !changed {
				conflicts = append(conflicts, in)
			}
		}
	}
	if len(conflicts) > 0 {
		return &ConflictError{conflicts}
	}
	return nil
}

// unchanged looks whether all names are as they were.
func (t *Trial) unchanged() error {
	changed := map[string]*Change{}
	for i := range t.Changes {
		changed[string(t.Changes[i].Path)] = &t.Changes[i]
	}
	var conflicts []string
	above := map[string]bool{} // directories that were looked at
	for i := range t.Changes {
		c := &t.Changes[i]
		have, err := statReal(t.Path(c))
		if err != nil {
			return err
		}
		if c.Outside || !c.Before.is(have) {
			conflicts = append(conflicts, string(c.Path))
			continue
		}
		if c.Before.Kind == change.Dir && c.After.Kind != change.Dir {
			entries, err := readReal(t.Path(c))
			if err != nil {
				return err
			}
			for _, e := range entries {
				if in := path.Join(string(c.Path), e.Name()); changed[in] == nil {
					conflicts = append(conflicts, in)
				}
			}
		}
		dir := path.Dir(string(c.Path))
		if changed[dir] != nil || above[dir] {
			continue
		}
		above[dir] = true
		if have, err := statReal(filepath.Join(t.root, filepath.FromSlash(dir))); err != nil || have.Kind != change.Dir {
			conflicts = append(conflicts, dir)
		}
	}
	if len(conflicts) > 0 {
		return &ConflictError{conflicts}
	}
	return nil
}
