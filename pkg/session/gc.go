package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// CollectOptions says what Collect works on.
type CollectOptions struct {
	State  string // the state directory, absolute; a missing one is empty
	Limits Limits
	Now    time.Time // the time ages are measured from
	Free   int64     // bytes to free at least, by spill and cache files and finished jobs, the oldest first
	DryRun bool      // report what would be removed, and remove nothing
}

// A Reason says why something was removed.
type Reason string

// The reasons.
const (
	Aged     Reason = "age"      // not used for longer than its limit
	Oversize Reason = "size"     // the oldest while the state was over its limit
	Leftover Reason = "leftover" // a temporary file or half-removed session of a killed process
)

// A Removal is one thing that Collect removed, or would remove.
type Removal struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
	Why   Reason `json:"why"`
}

// A Report says what Collect found and did.
type Report struct {
	Removed  []Removal `json:"removed"`  // by session in the order of paths; within one, age before size
	Freed    int64     `json:"freed"`    // bytes of Removed
	Kept     int64     `json:"kept"`     // bytes that stay
	Sessions int       `json:"sessions"` // found
	InUse    int       `json:"in_use"`   // of these not touched: a process uses them, or a job runs
	DryRun   bool      `json:"dry_run"`
}

// gonePrefix starts the name of a session that is being removed; no ID can.
const gonePrefix = "@gone-"

// Collect keeps the whole state directory within limits. By age go spill and
// cache files and whole idle sessions; then, while the rest is larger than
// StateTotal, or Free asks for more, spill files, cache files and finished jobs,
// the oldest first; for StateTotal at last whole idle sessions, too, the longest
// unused first. Of a session that a process uses or that has a job alive, only
// spill files that nobody writes any more are touched.
// Symbolic links are not followed. What cannot be removed does not stop the
// rest; the errors are joined, and the Report holds what was done.
func Collect(ctx context.Context, o CollectOptions) (Report, error) {
	report := Report{DryRun: o.DryRun}
	o.Limits = o.Limits.withDefaults()
	state, err := safefile.OpenOwned(realParent(filepath.Clean(o.State)))
	if errors.Is(err, fs.ErrNotExist) {
		return report, nil
	}
	if err != nil {
		return report, fmt.Errorf("collecting %s: %w", o.State, err)
	}
	defer state.Close()
	found, err := scan(ctx, state)
	if err != nil {
		return report, fmt.Errorf("collecting %s: %w", o.State, err)
	}
	var errs []error
	plan(found, &o)
	for _, f := range found {
		report.count(f)
		if len(f.remove) == 0 {
			continue
		}
		if ctx.Err() != nil {
			errs = append(errs, ctx.Err())
			break
		}
		removed, err := f.removeAll(state, o.DryRun)
		errs = append(errs, err)
		report.Removed = append(report.Removed, removed...)
		for _, r := range removed {
			report.Freed += r.Bytes
			report.Kept -= r.Bytes
		}
	}
	return report, errors.Join(errs...)
}

func (r *Report) count(f *found) {
	r.Kept += f.bytes
	if f.gone {
		return
	}
	r.Sessions++
	if f.busy {
		r.InUse++
	}
}

// stampFile is locked while gc runs opportunistically; its time says when it
// last did.
const stampFile = ".gc"

// scarceAge is how long a spill or cache file stays while the disk is nearly
// full: long enough for the next call to read what it was shown a part of.
const scarceAge = 10 * time.Minute

// Opportunistic collects the state directory when that has not been done for
// an hour, and the session's own spill and cache files that are too old. While
// the disk is nearly full that is every minute, and ten minutes are too old. It
// is cheap when there is nothing to do, and it never fails: gc is a service to
// others, not part of the caller's work.
func (s *Session) Opportunistic(ctx context.Context) Report {
	state, err := safefile.OpenOwned(s.state)
	if err != nil {
		return Report{}
	}
	defer state.Close()
	now, limits, pause := s.o.Now(), s.o.Limits, time.Hour
	if s.scarce(s.state) {
		limits.SpillAge, pause = min(limits.SpillAge, scarceAge), time.Minute
	}
	if info, err := state.Lstat(stampFile); err == nil && now.Sub(info.ModTime()).Abs() < pause {
		return Report{}
	}
	lock, err := state.TryLock(stampFile, true)
	if err != nil {
		return Report{}
	}
	defer lock.Close()
	// First the stamp: should this crash, it is not tried again at once.
	if state.Touch(stampFile, now) != nil {
		return Report{}
	}
	s.tidy(now.Add(-limits.SpillAge))
	report, _ := Collect(ctx, CollectOptions{State: s.state, Limits: limits, Now: now})
	return report
}

// tidy removes what is too old from this session itself, which Collect leaves
// alone while we use it.
func (s *Session) tidy(expired time.Time) {
	dir, err := s.openDir()
	if err != nil {
		return
	}
	defer dir.Close()
	if spills, err := dir.Sub(spillDir); err == nil {
		defer spills.Close()
		if lock, err := spills.TryLock(spillLock, true); err == nil {
			defer lock.Close()
			if files, err := scanSpills(spills, ""); err == nil {
				makeRoom(spills, files, s.o.Limits.SpillTotal, spillStep(s.o.Limits), expired)
			}
		}
	}
	found := &found{}
	if found.walk(dir) != nil {
		return
	}
	for _, item := range found.items {
		if item.kind == cacheItem && item.mod.Before(expired) {
			_ = dir.Remove(item.name) // the next look tries again
		}
	}
}

// removeAll does what was planned for one session, unless it came into use.
func (f *found) removeAll(state *safefile.Dir, dryRun bool) ([]Removal, error) {
	if dryRun {
		return f.remove, nil
	}
	hash, err := state.Sub(f.hash)
	if err != nil {
		return nil, err
	}
	defer hash.Close()
	if f.gone {
		return f.remove, hash.RemoveAll(f.id)
	}
	dir, err := hash.Sub(f.id)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	lock, err := dir.TryLock(useFile, true)
	if errors.Is(err, safefile.ErrLocked) {
		return f.removeSpills(dir)
	}
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	info, err := lock.Stat()
	if err != nil {
		return nil, err
	}
	if f.signed && !info.ModTime().Equal(f.lastUse) || jobsAlive(dir) {
		return f.removeSpills(dir)
	}
	if f.whole {
		return f.removeSession(hash, dir, lock)
	}
	return f.removeItems(dir)
}

// removeSession first renames the session, so that a process that wants it
// finds none and makes a new one, and a crash leaves what the next gc knows.
func (f *found) removeSession(hash, dir *safefile.Dir, lock *os.File) ([]Removal, error) {
	gone := gonePrefix + NewID("")
	if runtime.GOOS == "windows" { // it renames no directory that is open
		_ = lock.Close()
		_ = dir.Close()
	}
	if err := hash.Rename(f.id, gone); err != nil {
		return nil, err
	}
	if err := hash.RemoveAll(gone); err != nil {
		return nil, err
	}
	return f.remove, nil
}

// removeSpills removes what may go from a session in use: its spill files that
// were planned, while nobody makes or grows one.
func (f *found) removeSpills(dir *safefile.Dir) ([]Removal, error) {
	spills, err := dir.Sub(spillDir)
	if err != nil {
		return nil, nil //nolint:nilerr // there are none
	}
	defer spills.Close()
	lock, err := spills.TryLock(spillLock, true)
	if err != nil {
		return nil, nil //nolint:nilerr // one is being made, the next look may find a better moment
	}
	defer lock.Close()
	f.remove = slices.DeleteFunc(f.remove, func(r Removal) bool { return filepath.Dir(r.Path) != spills.Path() })
	return f.removeItems(dir)
}

func (f *found) removeItems(dir *safefile.Dir) ([]Removal, error) {
	var removed []Removal
	var errs []error
	for _, r := range f.remove {
		name, err := filepath.Rel(f.path, r.Path)
		if err == nil && spillWritten(dir, name) {
			continue
		}
		if err == nil {
			err = dir.RemoveAll(name)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, r)
	}
	return removed, errors.Join(errs...)
}

// spillWritten reports whether name is a spill file that is still written,
// though its Session was closed before it.
func spillWritten(dir *safefile.Dir, name string) bool {
	if filepath.Dir(name) != spillDir {
		return false
	}
	spills, err := dir.Sub(spillDir)
	if err != nil {
		return false
	}
	defer spills.Close()
	return spills.Locked(filepath.Base(name))
}

// jobsAlive reports whether a job of the session is held.
func jobsAlive(dir *safefile.Dir) bool {
	jobs, err := dir.Sub("jobs")
	if err != nil {
		return false
	}
	defer jobs.Close()
	entries, err := jobs.ReadDir()
	if err != nil {
		return true // when in doubt, keep
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		job, err := jobs.Sub(entry.Name())
		if err != nil {
			continue
		}
		alive := job.Locked(jobLock)
		_ = job.Close()
		if alive {
			return true
		}
	}
	return false
}
