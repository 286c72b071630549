package change

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// A change whose process was killed, and that can be neither finished nor taken back because something else
// stands in its way by now, must not stop the changes after it. Its record moves from pending to stuck, and
// why stands beside it. Nothing of what it has put away is removed.
const (
	stuckDir = "stuck"
	whyEnd   = ".why"
	toldEnd  = ".told" // the same file, once a person was told
)

// errNewer says that something has come, or was changed, since a process was killed.
var errNewer = errors.New("it has changed since")

// A Stuck is a change of any session of the workspace that was interrupted and that nobody can finish.
type Stuck struct {
	Record Record
	Why    string
	Path   string   // of its record
	Kept   []string // the directories of the journal where the old contents lie
	Told   bool     // [History.Tell] was called for it
}

// blocked reports whether an error will be there the next time, too: unlike a full disk, or what nobody may write to.
func blocked(err error) bool {
	if safefile.DiskFull(err) {
		return false
	}
	for _, passes := range []error{context.Canceled, context.DeadlineExceeded, fs.ErrPermission, syscall.EIO, syscall.EROFS} {
		if errors.Is(err, passes) {
			return false
		}
	}
	for _, stays := range []error{
		errNewer, ErrApart, ErrDamaged, ErrOccupied, workspace.ErrMoved, workspace.ErrNotDir, workspace.ErrNotRegular,
		fs.ErrNotExist, fs.ErrExist, syscall.ENOTDIR, syscall.EISDIR, syscall.ENOTEMPTY, syscall.ELOOP, syscall.ENAMETOOLONG,
	} {
		if errors.Is(err, stays) {
			return true
		}
	}
	return false
}

// stuck moves the record to those that cannot be finished, and returns its new path.
func (p *pending) stuck(why error) (path string, err error) {
	dir, err := p.s.top.Make(stuckDir)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	if err := dir.WriteFile(p.r.ID+whyEnd, []byte(why.Error()), p.s.sync); err != nil {
		return "", err
	}
	path = filepath.Join(dir.Path(), p.r.ID)
	if err := os.Rename(filepath.Join(p.s.pending.Path(), p.r.ID), path); err != nil {
		return "", err
	}
	return path, p.s.syncDirs(dir, p.s.pending)
}

// Stuck lists the changes that were interrupted and cannot be finished, oldest first.
func (h *History) Stuck() (all []Stuck, err error) {
	base := filepath.Dir(h.session.Dir())
	sessions, err := readNames(base)
	if err != nil {
		return nil, err
	}
	for _, id := range sessions {
		journal := filepath.Join(base, id, journalDir)
		names, _ := readNames(filepath.Join(journal, stuckDir))
		for _, name := range names {
			l := leftover{path: filepath.Join(journal, stuckDir, name)}
			if filepath.Ext(name) != "" || !l.read() {
				continue
			}
			s := Stuck{Record: l.r, Path: l.path}
			why, err := os.ReadFile(l.path + whyEnd)
			if err != nil {
				s.Told = true
				why, _ = os.ReadFile(l.path + toldEnd)
			}
			s.Why = string(why)
			for _, dir := range l.r.keeps() {
				if dir = filepath.Join(journal, dir); !slices.Contains(s.Kept, dir) && safefile.Exists(dir) {
					s.Kept = append(s.Kept, dir)
				}
			}
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b Stuck) int { return strings.Compare(a.Record.ID, b.Record.ID) })
	return all, nil
}

// Tell notes that a person was told of a change that is stuck.
func (h *History) Tell(s Stuck) { _ = os.Rename(s.Path+whyEnd, s.Path+toldEnd) }

// keeps are the directories of the journal where what a change on its way has put away, or is to put back, lies.
func (r *Record) keeps() (dirs []string) {
	if r.Shelf != nil {
		dirs = append(dirs, filepath.Join(shelfDir, r.ID), filepath.Join(shelfDir, r.ShelfOf))
	}
	if r.Stash != "" {
		dirs = append(dirs, filepath.Join(stashDir, r.Stash))
	}
	if slices.ContainsFunc(r.Files, func(f File) bool { return f.Before.Kept }) {
		dirs = append(dirs, objectsDir)
	}
	return dirs
}

// onTheirWay are the records of this session's changes that are not finished, the stuck ones too. What they keep must stay.
func (h *History) onTheirWay() ([]Record, error) {
	var all []Record
	for _, sub := range []string{pendingDir, stuckDir} {
		dir := filepath.Join(h.store.top.Path(), sub)
		names, err := readNames(dir)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			l := leftover{path: filepath.Join(dir, name)}
			if filepath.Ext(name) == "" && l.read() {
				all = append(all, l.r)
			}
		}
	}
	return all, nil
}
