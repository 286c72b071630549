package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// keptSuffix and holdSuffix end the names of the files in which Keep and Hold leave
// a snapshot.
const (
	keptSuffix = ".guard"
	holdSuffix = ".held"
)

// besideMode is the mode of such a file once another command has run beside its own.
const besideMode = 0o700

// reportsDir is the name of the directory of a session's reports.
const reportsDir = "sandbox"

// A keptSnapshot is what Keep and Hold leave in a file.
type keptSnapshot struct {
	Snapshot   *Snapshot `json:"snapshot"`
	Quarantine string    `json:"quarantine"`
}

// Keep leaves s, beside the report of a command that may outlive this process,
// to whoever sees its end: its supervisor, or should that be killed, whoever
// looks next. The quarantine is as in Restore.
func (s *Snapshot) Keep(report, quarantine string) error {
	raw, err := s.stored(quarantine)
	if err == nil {
		err = safefile.WriteFile(report+keptSuffix, raw, false)
	}
	if err == nil && !ranAlone(report+holdSuffix) {
		err = os.Chmod(report+keptSuffix, besideMode)
	}
	if err != nil {
		return fmt.Errorf("keeping what is protected: %w", err)
	}
	return nil
}

// stored is what is left of s in a file.
func (s *Snapshot) stored(quarantine string) ([]byte, error) {
	return safefile.EncodeJSON(keptSnapshot{s, quarantine})
}

// A Finder finds what has come since a command started. Later is that of the [Snapshot].
type Finder func(later json.RawMessage) (Found, error)

// later is what has come since, where somebody can find it.
func (s *Snapshot) later(find Finder) (Found, error) {
	if find == nil || s.Later == nil {
		return Found{}, nil
	}
	return find(s.Later)
}

// SweepPaths is [Sweep] for these paths alone: what else has appeared or was changed stays for later.
func SweepPaths(dirs, paths []string, find Finder) (list []Restore, err error) {
	return sweep(dirs, func(raw []byte) ([]Restore, error) {
		k := keptSnapshot{Snapshot: &Snapshot{}}
		if err := safefile.DecodeJSON(raw, &k); err != nil {
			return nil, err
		}
		k.Snapshot.mounted = nil
		k.Snapshot.paths = slices.DeleteFunc(k.Snapshot.paths, func(g guarded) bool {
			return !slices.ContainsFunc(paths, func(path string) bool { return safefile.Below(filepath.Join(g.dir, g.name), path) })
		})
		if len(k.Snapshot.paths) == 0 {
			return nil, nil
		}
		return k.Snapshot.Restore(k.Quarantine, Found{Written: func() []Written {
			found, _ := k.Snapshot.later(find) // what cannot be found out has written nothing
			return found.written()
		}})
	})
}

// restoreStored restores what stored made.
func restoreStored(raw []byte, find Finder) ([]Restore, error) {
	k := keptSnapshot{Snapshot: &Snapshot{}}
	if err := safefile.DecodeJSON(raw, &k); err != nil {
		return nil, err
	}
	found, err := k.Snapshot.later(find)
	list, bad := k.Snapshot.Restore(k.Quarantine, found)
	return list, errors.Join(err, bad)
}

// Settle restores what Keep left beside report, and notes there what it put
// back. Doing it again does nothing.
func Settle(report string, find Finder) error {
	raw, err := os.ReadFile(report + keptSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var list []Restore
	if err == nil {
		list, err = restoreStored(raw, find)
	}
	log, bad := openReportLog(report)
	if bad != nil {
		return errors.Join(err, bad)
	}
	defer log.close()
	for i := range list {
		log.write(line{Restored: &list[i]})
	}
	if err != nil {
		log.write(line{Failed: "not all that is protected could be put back: " + err.Error()})
		return err
	}
	return os.Remove(report + keptSuffix)
}

// Forget removes a report and what Keep left beside it.
func Forget(report string) {
	_ = os.Remove(report)
	_ = os.Remove(report + keptSuffix)
}

// Settle is the package's function, for whoever has only the Confiner.
func (f *Confiner) Settle(report string) error { return Settle(report, f.find) }

// ending lists the files of a directory whose names end with suffix, as paths; of one that
// is not there none. The directory's own name may hold characters that mean something in a
// glob.
func ending(dir, suffix string) (paths []string, err error) {
	list, err := os.ReadDir(dir)
	for _, d := range list {
		if strings.HasSuffix(d.Name(), suffix) {
			paths = append(paths, filepath.Join(dir, d.Name()))
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return paths, err
}

// Reports lists the directories of reports of the sessions in a directory.
func Reports(sessions string) (dirs []string) {
	list, _ := os.ReadDir(sessions) // what cannot be read has none
	for _, d := range list {
		dirs = append(dirs, filepath.Join(sessions, d.Name(), reportsDir))
	}
	return dirs
}

// Alone reports whether no other command than that of a report, which is held or kept, has run
// since then in the sessions beside its own, and none of another root runs that can write in this one. What such
// a one left that has ended is put away.
func Alone(report, root string) bool {
	return (ranAlone(report+holdSuffix) || ranAlone(report+keptSuffix)) && !elsewhere(filepath.Dir(filepath.Dir(filepath.Dir(report))), root)
}

// Busy reports whether a command runs that can write in a root, of which own is the directory of
// the sessions: one of these, or one of another root.
func Busy(own, root string) bool {
	for _, suffix := range []string{holdSuffix, keptSuffix} { // in this order, see meet
		for _, dir := range Reports(own) {
			if names, err := ending(dir, suffix); err != nil || len(names) > 0 {
				return true
			}
		}
	}
	return elsewhere(own, root)
}

// elsewhere reports whether a command of another root than that of the sessions in own runs that can
// write in root.
func elsewhere(own, root string) bool {
	list, err := os.ReadDir(filepath.Dir(own))
	for _, suffix := range []string{holdSuffix, keptSuffix} { // in this order, see meet
		for _, d := range list {
			sessions := filepath.Join(filepath.Dir(own), d.Name())
			if sessions == own {
				continue
			}
			for _, dir := range Reports(sessions) {
				names, _ := ending(dir, suffix)
				if slices.ContainsFunc(names, func(name string) bool { return writesIn(name, root) }) {
					return true
				}
			}
		}
	}
	return err != nil
}

// writesIn reports whether the command of what Hold or Keep has left can write in a root.
func writesIn(name, root string) bool {
	raw, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false // it has ended just now
	}
	var k struct{ Snapshot struct{ Homes []string } }
	if err == nil {
		err = safefile.DecodeJSON(raw, &k)
	}
	return err != nil || slices.ContainsFunc(k.Snapshot.Homes, func(dir string) bool { return safefile.Below(dir, root) || safefile.Below(root, dir) })
}

// ranAlone reports whether what Hold or Keep has left says of no command that it ran beside.
func ranAlone(name string) bool {
	i, err := os.Stat(name)
	return err == nil && i.Mode().Perm() != besideMode
}

// meet notes of the command of a report, which is held, and of all that run beside it that they
// do. What Hold has left comes first, for Keep looks at that when it is done.
func meet(report string) error {
	met := false
	for _, suffix := range []string{holdSuffix, keptSuffix} {
		for _, dir := range Reports(filepath.Dir(filepath.Dir(filepath.Dir(report)))) {
			names, err := ending(dir, suffix)
			met = met || err != nil
			for _, name := range names {
				if name != report+suffix && os.Chmod(name, besideMode) == nil { // else it has ended just now
					met = true
				}
			}
		}
	}
	if met {
		return os.Chmod(report+holdSuffix, besideMode)
	}
	return nil
}

// Beside adds to a list, by the names of their files, the snapshots of the commands that run
// beside that of a report, in the sessions beside its own.
func Beside(report string, list map[string]*Snapshot) {
	for _, suffix := range []string{holdSuffix, keptSuffix} { // in this order, see meet
		for _, dir := range Reports(filepath.Dir(filepath.Dir(filepath.Dir(report)))) {
			names, _ := ending(dir, suffix)
			for _, name := range names {
				if list[name] != nil || name == report+suffix {
					continue
				}
				k := keptSnapshot{Snapshot: &Snapshot{}}
				if raw, err := os.ReadFile(name); err == nil && safefile.DecodeJSON(raw, &k) == nil && k.Snapshot != nil {
					list[name] = k.Snapshot
				}
			}
		}
	}
}

// Inherit takes what other commands may have changed since they began as it was then, for they change
// it again as soon as it is put back; what they have made is put away once more at the end, also where it is
// taken for what was there. What they did not find when they began, and do not show now, is forgotten: it may have
// been theirs while it was looked at, and is returned as what this command did not find either.
func (s *Snapshot) Inherit(others iter.Seq[*Snapshot], find Finder) (forgotten []string, err error) {
	for other := range others {
		found, err := other.later(find)
		if err != nil {
			return forgotten, err
		}
		theirs := func(g guarded) bool {
			path := filepath.Join(g.dir, g.name)
			if found.Knew == nil || found.Knew(path) || slices.ContainsFunc(found.Appeared, func(at string) bool { return safefile.Below(at, path) }) {
				return false
			}
			forgotten = append(forgotten, path)
			return true
		}
		s.paths = slices.DeleteFunc(s.paths, func(g guarded) bool { return !knows(other.paths, &g) && theirs(g) })
		s.mounted = slices.DeleteFunc(s.mounted, func(g guarded) bool { return !knows(other.mounted, &g) && theirs(g) })
		made := found.Appeared
		for i := range s.paths {
			g := &s.paths[i]
			n := slices.IndexFunc(other.paths, func(h guarded) bool { return h.dir == g.dir && h.name == g.name })
			switch {
			case n >= 0 && !other.paths[n].staysAs(g, &found):
				g.was = other.paths[n].was
			case n < 0 && slices.ContainsFunc(made, func(path string) bool { return safefile.Below(path, filepath.Join(g.dir, g.name)) }):
				g.was = nil
			}
		}
		for i := range s.mounted {
			g := &s.mounted[i]
			n := slices.IndexFunc(other.mounted, func(h guarded) bool { return h.dir == g.dir && h.name == g.name })
			if n >= 0 && other.mounted[n].born != g.born && !other.mounted[n].staysAs(g, &found) {
				g.was = other.mounted[n].was // no mount of the other's holds it any more
			}
		}
		for _, path := range made {
			dir := s.home(path)
			name, err := filepath.Rel(dir, path)
			if dir != "" && err == nil && !slices.ContainsFunc(s.paths, func(g guarded) bool { return filepath.Join(g.dir, g.name) == path }) {
				s.paths = append(s.paths, guarded{dir: dir, name: name})
			}
		}
	}
	return forgotten, nil
}

func knows(list []guarded, g *guarded) bool {
	return slices.ContainsFunc(list, func(h guarded) bool { return h.dir == g.dir && h.name == g.name })
}

// staysAs reports whether nothing has to be put back of a path that is as a later snapshot has it. What calls of
// their own have written since is taken for what was there.
func (g *guarded) staysAs(later *guarded, found *Found) bool {
	if g.stays(later.was) {
		return true
	}
	g.heed(found.written(), func(path string) (saved, bool) { e, ok := later.was[path]; return e, ok })
	return g.stays(later.was)
}

// Sweep restores what the commands that still run in these directories of reports
// have changed so far, so that nobody who starts now takes it for what was there.
func Sweep(dirs []string, find Finder) (list []Restore, err error) {
	return sweep(dirs, func(raw []byte) ([]Restore, error) { return restoreStored(raw, find) })
}

func sweep(dirs []string, restore func(raw []byte) ([]Restore, error)) (list []Restore, err error) {
	for _, dir := range dirs {
		for _, suffix := range []string{keptSuffix, holdSuffix} {
			names, _ := ending(dir, suffix)
			for _, name := range names {
				raw, bad := os.ReadFile(name)
				if bad != nil || !json.Valid(raw) {
					continue // it has ended just now
				}
				more, bad := restore(raw)
				if list = append(list, more...); !safefile.DiskFull(bad) { // tried again before each call, which may make room
					err = errors.Join(err, bad)
				}
			}
		}
	}
	return list, err
}
