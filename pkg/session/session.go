// Package session keeps what outlives one call: where a session's state lives,
// and how it stays whole.
//
// State lies in <state>/<root-hash>/<session>/, one directory per workspace
// root and session: jobs/ID/, spill/, todo.json, values.json, journal/, audit.jsonl, cache/.
// The rules, for every function of the package:
//
//   - Nothing is created before something is written: reading what is not
//     there leaves no trace.
//   - Directories are 0700 and files 0600 whatever the umask. A state path that
//     is a symbolic link, belongs to someone else, or lets others in is refused
//     with an error that is [safefile.ErrUnsafe].
//   - Whole files are written to a temporary file and renamed, so that a crash
//     at any instant leaves the old or the new content.
//   - Writers lock, and the kernel drops the lock of a process that dies.
//   - Names that start with a dot are the package's own: locks and temporaries.
package session

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// Options says which session, and where.
type Options struct {
	State  string           // the state directory, absolute; see [DefaultState]
	Root   string           // the real workspace root, absolute
	ID     string           // one to 64 of A-Z a-z 0-9 . _ - and not "." or ".."; "" is "default"
	Now    func() time.Time // the clock; nil is time.Now
	Limits Limits
	NoSync bool // leave out fsync: a killed process still leaves whole files, a power cut may not
}

// Limits bounds what the state may hold. Zero or less means the default.
type Limits struct {
	SpillFile  int64         // bytes of one spill file; default 1 GiB
	SpillTotal int64         // bytes of all spill files of a session; default 2 GiB
	StateTotal int64         // bytes of the whole state directory, kept by [Collect]; default 4 GiB
	SpillAge   time.Duration // how long a spill or cache file stays after its last use; default 7 days
	SessionAge time.Duration // how long an idle session stays; default 30 days
}

func (l Limits) withDefaults() Limits {
	const day = 24 * time.Hour
	return Limits{
		SpillFile:  positive(l.SpillFile, 1<<30),
		SpillTotal: positive(l.SpillTotal, 2<<30),
		StateTotal: positive(l.StateTotal, 4<<30),
		SpillAge:   positive(l.SpillAge, 7*day),
		SessionAge: positive(l.SessionAge, 30*day),
	}
}

func positive[T ~int64](v, otherwise T) T {
	if v > 0 {
		return v
	}
	return otherwise
}

// ErrID is returned for a session ID that cannot be a directory name of ours.
var ErrID = errors.New("not 1 to 64 letters, digits, dots, underscores or hyphens, or only one or two dots")

// CheckID reports, as ErrID, an ID that no session can have. "" is the usual one's.
func CheckID(id string) error {
	if id != "" && !validID(id) {
		return fmt.Errorf("opening session %q: %w", id, ErrID)
	}
	return nil
}

// useFile is held shared by every process that uses the session and
// exclusively by gc; its content says whose session it is, its time when it
// was last used.
const useFile = ".session"

// A Session is the state of one session of one workspace root. Its methods may
// be called concurrently. The zero value is not usable.
type Session struct {
	o     Options
	state string // o.State with its parent directories resolved
	hash  string
	where string // the session's directory

	scarce func(dir string) bool // the disk that dir lies on is nearly full

	mu   sync.Mutex
	dir  *safefile.Dir // held open once in use
	use  *os.File      // holds the shared lock
	last int64         // microseconds of the newest spill id
}

// Open describes the session; it creates nothing. It fails with ErrID for an
// ID that is not allowed, and with safefile.ErrUnsafe when the state directory or a
// directory of ours in it is a link, is not ours or lets others in: nobody but
// us may write to the state directory, nobody but us may look into those below.
func Open(o Options) (*Session, error) {
	if o.ID == "" {
		o.ID = "default"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Limits = o.Limits.withDefaults()
	if err := CheckID(o.ID); err != nil {
		return nil, err
	}
	if !filepath.IsAbs(o.State) || !filepath.IsAbs(o.Root) {
		return nil, fmt.Errorf("opening session %q: the state directory %q and the root %q must be absolute paths", o.ID, o.State, o.Root)
	}
	o.State = filepath.Clean(o.State)
	o.Root = filepath.Clean(o.Root)
	s := &Session{o: o, state: realParent(o.State), hash: rootHash(o.Root), scarce: scarce}
	s.where = filepath.Join(s.state, s.hash, o.ID)
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("opening session %q: %w", o.ID, err)
	}
	return s, nil
}

// Dir returns the session's directory, absolute, with the links above the
// state directory resolved. It need not exist yet.
func (s *Session) Dir() string { return s.where }

// ID returns the session's ID.
func (s *Session) ID() string { return s.o.ID }

// Options returns what the session was opened with, its defaults filled in.
func (s *Session) Options() Options { return s.o }

// Limits returns the limits in force, defaults filled in.
func (s *Session) Limits() Limits { return s.o.Limits }

// Path joins elem to the session's directory. It checks nothing.
func (s *Session) Path(elem ...string) string {
	return filepath.Join(append([]string{s.Dir()}, elem...)...)
}

// Beside lists the sessions of the same root that have kept something, this one among them.
func (s *Session) Beside() (ids []string) {
	found, _ := os.ReadDir(filepath.Dir(s.Dir())) // there may be none yet
	for _, d := range found {
		if d.IsDir() && d.Name()[0] != '.' {
			ids = append(ids, d.Name())
		}
	}
	return ids
}

// Roomier reports whether the disk of the state has more room than the one that dir lies
// on: where one of them is full, it is the other one.
func (s *Session) Roomier(dir string) bool {
	here, known := free(s.StateDir())
	there, ok := free(dir)
	return known && ok && here > there
}

// StateDir returns the state directory, links above it resolved.
func (s *Session) StateDir() string { return s.state }

// InsideRoot reports whether the state directory lies in the workspace root.
// That is allowed, but then the policy has to protect it.
func (s *Session) InsideRoot() bool {
	rel, err := filepath.Rel(s.o.Root, s.state)
	return err == nil && filepath.IsLocal(rel)
}

// Use creates the session's directory where it is missing, marks the session
// as used now, and keeps gc away from it until Close or the end of the process.
// Every method that writes does it by itself. It waits for a gc that is at
// work in the session, ten seconds at most.
func (s *Session) Use(ctx context.Context) error {
	_, err := s.enter(ctx)
	return err
}

// Close lets go of the session; what is written stays. A later write takes it
// up again. Close spills before it.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == nil {
		return nil
	}
	err := errors.Join(s.use.Close(), s.dir.Close())
	s.dir, s.use = nil, nil
	return err
}

// check looks at each directory of ours on the way that already exists.
func (s *Session) check() error {
	level := []string{s.state, filepath.Join(s.state, s.hash), s.Dir()}
	for i, path := range level {
		err := safefile.Check(path, i == 0)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// enter returns the session's directory, created and held against gc.
func (s *Session) enter(ctx context.Context) (*safefile.Dir, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir != nil && s.dir.Current() {
		return s.dir, nil
	}
	if s.dir != nil { // someone removed it while we used it: start afresh
		_ = s.use.Close()
		_ = s.dir.Close()
		s.dir, s.use = nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	// Not there, or busy: gc removed or is removing what we just made.
	passing := func(err error) bool {
		return (errors.Is(err, fs.ErrNotExist) || errors.Is(err, safefile.ErrLocked)) && !s.noState(err)
	}
	err := safefile.Retry(ctx, passing, func() error {
		dir, use, err := s.tryEnter()
		if err == nil {
			s.dir, s.use = dir, use
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("entering session %q: %w", s.o.ID, err)
	}
	return s.dir, nil
}

// noState reports whether the state directory cannot be made: nobody removes that
// one, so trying again is in vain.
func (s *Session) noState(err error) bool {
	p, ok := errors.AsType[*fs.PathError](err)
	return ok && p.Op == "mkdir" && strings.HasPrefix(s.state+"/", p.Path+"/")
}

func (s *Session) tryEnter() (_ *safefile.Dir, _ *os.File, err error) {
	dir, err := s.makeDir()
	if err != nil {
		return nil, nil, err
	}
	use, err := dir.TryLock(useFile, false)
	if err != nil {
		return nil, nil, errors.Join(err, dir.Close())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, use.Close(), dir.Close())
		}
	}()
	if !dir.Current() { // gc moved it away, where it cannot keep the lock meanwhile
		return nil, nil, safefile.ErrLocked
	}
	if err := s.sign(use); err != nil {
		return nil, nil, err
	}
	now := s.o.Now()
	return dir, use, dir.Touch(useFile, now)
}

// makeDir creates the directories down to the session's.
func (s *Session) makeDir() (*safefile.Dir, error) {
	if err := os.MkdirAll(filepath.Dir(s.state), 0o700); err != nil {
		return nil, fmt.Errorf("creating the state directory: %w", err)
	}
	state, err := safefile.MakeOwned(s.state)
	if err != nil {
		return nil, err
	}
	defer state.Close()
	root, err := state.Make(s.hash)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Make(s.o.ID)
}

// openDir opens the session's directory without creating anything; the error
// is fs.ErrNotExist when there is none.
func (s *Session) openDir() (*safefile.Dir, error) {
	state, err := safefile.OpenOwned(s.state)
	if err != nil {
		return nil, err
	}
	defer state.Close()
	root, err := state.Sub(s.hash)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Sub(s.o.ID)
}

// sign writes the session's name into its use file, or compares it: on a file
// system that folds case two IDs may meet in one directory.
func (s *Session) sign(use *os.File) error {
	want := fmt.Sprintf("session %s\nroot %s\n", s.o.ID, s.o.Root)
	have := make([]byte, len(want)+1)
	n, err := use.ReadAt(have, 0)
	switch {
	case string(have[:n]) == want:
		return nil
	case n == 0 || strings.HasPrefix(want, string(have[:n])): // new, or its maker was killed
		_, err = use.WriteAt([]byte(want), 0)
		return err
	case n > len(want) || n == len(want) || err != nil:
		return fmt.Errorf("the directory %s belongs to another session: %q", s.Dir(), have[:n])
	}
	return err
}

func validID(id string) bool {
	if len(id) == 0 || len(id) > 64 || id == "." || id == ".." || !platformID(id) {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if !isAlnum(c) && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// Used reports whether a state directory keeps sessions of a root.
func Used(state, root string) bool {
	_, err := os.Lstat(filepath.Join(state, rootHash(filepath.Clean(root))))
	return err == nil
}

// rootHash names a workspace root: 80 bits in 16 characters, for the paths of
// sockets in jobs/ have to stay short.
func rootHash(root string) string {
	sum := sha256.Sum256([]byte(root))
	return encode(sum[:10])
}

// realParent resolves the links above path, not path itself, as far as it
// exists.
func realParent(path string) string {
	parent, base := filepath.Dir(path), filepath.Base(path)
	if parent == path {
		return path
	}
	if real, err := filepath.EvalSymlinks(parent); err == nil {
		return filepath.Join(real, base)
	}
	return filepath.Join(realParent(parent), base)
}
