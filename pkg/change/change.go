// Package change changes several files all or none, and changes them back.
//
// The rules:
//   - A [Set] is planned against the versions its planner saw. [History.Commit]
//     locks every file, looks whether they still are what was planned against,
//     and only then touches the first.
//   - Before anything changes, the old contents and a record of what is about
//     to happen are on the disk. Whoever is killed on the way is rolled back, or
//     finished, by the next one that wants the files: never a mix stays.
//   - A finished record can be undone. It restores exactly the bytes, modes,
//     names and links it recorded, refuses where a file has changed since, and
//     touches no other file. An undo is a change like any other.
//   - Contents lie in the session's journal once each, named by their hash,
//     0600, within limits of size, number and age; the oldest go first.
//   - What a command's view changed takes the place of what stands there by renames,
//     and that goes to the journal as it is: see [History.Become].
//
// Of a change that was written, not renamed, owners, times, extended attributes and the
// other names of a file with several are not recorded: a file that was deleted comes back
// without them.
package change

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// The errors that a caller may want to tell apart, beside those of the
// workspace: its ConflictError says that a file is in another version.
var (
	ErrTwice      = errors.New("two changes of one file in a set")
	ErrOccupied   = errors.New("the directory in whose place a file is to be holds something else")
	ErrUnfinished = errors.New("the change was neither finished nor taken back")
	ErrNoRecord   = errors.New("no such change")
	ErrRunning    = errors.New("the command that makes the change still runs")
	ErrDropped    = errors.New("the change is too old: its old contents were dropped")
	ErrUndone     = errors.New("the change is undone already")
	ErrUnreadable = errors.New("the record of the change is damaged")
	ErrDamaged    = errors.New("a content in the journal is missing or damaged")
	ErrSource     = errors.New("the new content was not the same when it was read again")
)

// Options refine a History. The zero value is usable.
type Options struct {
	Limits Limits
	Now    func() time.Time // nil is time.Now
	NoSync bool             // leave the journal's own fsync out: a killed process is still rolled back, after a power cut it may not be. agentkit never does
}

// Limits bound what a session's journal holds. Zero or less is the default.
// Where one is reached the oldest changes are dropped until a quarter of it is
// free again.
type Limits struct {
	Bytes   int64         // of all old contents; default 512 MiB. One larger content cannot be undone
	Records int           // changes that can be undone; default 1000
	Age     time.Duration // default 30 days

	// Of what commands took away, which is moved to the journal and not copied. The
	// newest is kept, whatever its size.
	Kept    int64         // bytes; default 1 GiB
	KeptAge time.Duration // default 7 days
}

func (l Limits) withDefaults() Limits {
	if l.Bytes <= 0 {
		l.Bytes = 512 << 20
	}
	if l.Records <= 0 {
		l.Records = 1000
	}
	if l.Age <= 0 {
		l.Age = 30 * 24 * time.Hour
	}
	if l.Kept <= 0 {
		l.Kept = 1 << 30
	}
	if l.KeptAge <= 0 {
		l.KeptAge = 7 * 24 * time.Hour
	}
	return l
}

// A History is what one session changed in a workspace. It may be used by
// several goroutines at once, and by several processes.
type History struct {
	w       *workspace.Workspace
	session *session.Session
	o       Options
	store   store
	at      func(point string) // tests stop here; nil otherwise
}

// Open returns the history of a session. Nothing is created before the first
// change. The workspace needs a LockDir where several processes change files.
func Open(w *workspace.Workspace, s *session.Session, o Options) *History {
	o.Limits = o.Limits.withDefaults()
	if o.Now == nil {
		o.Now = time.Now
	}
	return &History{w: w, session: s, o: o, store: store{session: s, sync: !o.NoSync}}
}

// Close lets go of the journal; a later change takes it up again.
func (h *History) Close() error { return h.store.close() }

func (h *History) reach(point string) {
	if h.at != nil {
		h.at(point)
	}
}

// An Op says what a Change does.
type Op string

// The operations.
const (
	Write   Op = "write"   // give a file a content, whether it exists or not
	Create  Op = "create"  // make a file where nothing is: else fs.ErrExist
	Replace Op = "replace" // give a file that exists a content: else fs.ErrNotExist
	Delete  Op = "delete"  // remove a file, a link or an empty directory
	Move    Op = "move"    // give a file or a link another name where nothing is, and a content too if there is one
	Chmod   Op = "mode"    // set the permission bits of a file
	Symlink Op = "link"    // make a symbolic link to the text in Data where nothing is
	Mkdir   Op = "mkdir"   // make a directory; one that exists is no error
)

// A Change is what one file of a Set is to become. Missing directories above
// it are made.
type Change struct {
	Op   Op
	Path workspace.Path // of Resolve; to delete or move a link itself, of ResolveEntry
	To   workspace.Path // where Move goes

	// Data is the new content. Source gives it instead where it does not fit
	// in memory: it is opened more than once and must give the same each
	// time. For Move nil of both keeps the content.
	Data   []byte
	Source func() (io.ReadCloser, error)
	Hash   string // of Data, where the caller knows it

	Mode    *fs.FileMode // permission bits; nil keeps them, or gives a new file what the system gives
	Version string       // refuse with a *workspace.ConflictError unless the file is in it; "" does not look
	Was     []byte       // the same, where the content is in memory that the change was made for; nil does not look
}

// A Set is changed all or none. Each file may be in it once.
type Set struct {
	Tool, Title string          // for the record: who, and what for
	Changes     []Change        //
	Lock        *workspace.Lock // of [History.Lock] on all files of the set; nil takes one
}

// One is the set of a single change, for a tool that changes a single file.
func One(tool string, c Change) Set { return Set{Tool: tool, Changes: []Change{c}} }

// Lock locks files as [workspace.Workspace.Lock] does, and first takes back or
// finishes what a killed process left of them. Who reads a file to change it
// locks it so, reads, and hands the lock to Commit in the Set.
func (h *History) Lock(ctx context.Context, paths ...workspace.Path) (*workspace.Lock, error) {
	names := map[string]bool{}
	for _, p := range paths {
		names[p.Real] = true
	}
	for {
		l, err := h.w.Lock(ctx, paths...)
		if err != nil {
			return nil, err
		}
		// Whoever has a record of one of these files open had its lock. We
		// have it now, so nobody is at work on that record any more.
		left, err := h.unfinished(names)
		if err == nil && len(left) == 0 {
			return l, nil
		}
		l.Unlock()
		if err != nil {
			return nil, err
		}
		for _, p := range left {
			if _, err := h.recover(ctx, p); err != nil {
				return nil, err
			}
		}
	}
}

// Commit changes the files of the set all or none. The record of it can be
// undone by its ID. A set that changes nothing is no error, and its Record has
// no ID.
//
// Nothing has changed when an error is returned, unless it is ErrUnfinished:
// then the way back failed too (a full disk), and Recover will try again.
// Errors are those of the workspace: *workspace.ConflictError,
// workspace.ErrReadOnly, ErrMoved, fs.ErrExist and others.
func (h *History) Commit(ctx context.Context, set Set) (Record, error) {
	var paths []workspace.Path
	for _, c := range set.Changes {
		paths = append(paths, c.Path)
		if c.Op == Move {
			paths = append(paths, c.To)
		}
	}
	if len(paths) == 0 {
		return Record{}, nil
	}
	if set.Lock == nil {
		l, err := h.Lock(ctx, paths...)
		if err != nil {
			return Record{}, err
		}
		defer l.Unlock()
		set.Lock = l
	}
	release, err := h.store.hold(ctx)
	if err != nil {
		return Record{}, fmt.Errorf("opening the journal: %w", err)
	}
	defer release()
	steps, err := h.plan(set)
	if err != nil {
		return Record{}, err
	}
	r, err := h.carry(ctx, set.Lock, Record{Tool: set.Tool, Title: set.Title}, steps, false)
	release()
	if err == nil {
		r.Dropped = h.tidy(ctx, r.added)
	}
	return r, err
}
