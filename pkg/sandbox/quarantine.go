package sandbox

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A Restore is one protected path that a command had changed, and that is
// again as it was.
type Restore struct {
	Path       string `json:"path"`
	Action     string `json:"action" doc:"created, changed or deleted, and put back; removed: it was hidden, and stays away"`
	Quarantine string `json:"quarantine,omitempty" doc:"where what the command made of it is now"`
	Why        string `json:"why,omitempty" doc:"why it did not stay, where it is not protected; why it is not as it was, where it is"`
}

// Removed is the Action of what was hidden, was removed, and stays away; all else is put back.
const Removed = "removed"

// What a Snapshot keeps in memory. Of more, as of the objects of git-lfs or the work
// trees of an agent, it keeps what tells whether they were changed; where the system
// has nothing that does, more is an error.
const (
	maxGuarded      = 32 << 20 // bytes of all files together
	maxGuardedFile  = 4 << 20  // of one
	maxGuardedFiles = 4000
	maxStamped      = 200_000 // files that are looked at
)

// A Snapshot remembers the protected paths of a Config, so that what the
// mounts of L3 cannot hold is put right afterwards: at any level paths that do
// not exist yet, below L3 all of them.
type Snapshot struct {
	Later json.RawMessage // for the [Finder] of what has appeared by the end; nil for none

	paths []guarded
	homes []string          // the directories that the command can write, resolved before it began
	held  roots             // the root, and those of homes that hold something protected, open since then; nil in another process
	ids   map[string]string // which directory each of these is, see idOf
	stays []*anchor         // the workspace, and what stays beside it, where no mount holds them in their places
	git   fs.FileInfo       // what git keeps of it, likewise

	workspace string // the root's path
	size      int64
	files     int

	mounted   []guarded // files that mounts hold, as long as nobody outside puts others in their place
	unsettled []guarded // what Restore had no room for
}

// A guarded is one protected path below a writable directory.
type guarded struct {
	dir  string // the writable directory
	name string // relative to it
	was  map[string]saved
	// loose may go, together with the directory that it is in, and with its repository
	loose bool
	way   []string // see births.to
	// born and in tell what a mount holds, and the directory that it is in, from what may take their places
	born, in string
	// settings may have changed so that git runs nothing for it; remotes as in Config
	settings bool
	remotes  []string
}

// A saved is one file, directory or link of a guarded path; of other kinds
// only the type counts.
type saved struct {
	mode   fs.FileMode
	data   []byte // content, or the target of a link
	stamp  string // instead of the content: see stampOf
	linked bool   // a file that has another name, by which it can be changed
}

// Snapshot remembers c.ReadOnly before a command that runs at level.
func (c *Config) Snapshot(level Level) (*Snapshot, error) {
	s := &Snapshot{}
	if level < L3 {
		c = c.unmounted()
	}
	s.homes, s.held, s.ids = c.writable(), roots{}, map[string]string{}
	if _, err := s.hold(c.Root, true); err != nil && !missingDir(err) {
		return nil, fmt.Errorf("guarding %s: %w", c.Root, err)
	}
	if level < L3 {
		for _, dir := range append([]string{c.Root}, c.Stays...) {
			s.stays = append(s.stays, anchored(s.home(dir), dir))
		}
		s.git, s.workspace = gitOf(c), c.Root
	}
	at := births{}
	real := map[string]string{} // directories, by the paths that may lead there through links
	for n, path := range slices.Concat(c.ReadOnly, c.Watched) {
		up := filepath.Dir(path)
		if _, known := real[up]; !known {
			real[up] = up
			if at, err := filepath.EvalSymlinks(up); err == nil {
				real[up] = at
			}
		}
		where := filepath.Join(real[up], filepath.Base(path))
		dir, watched := s.home(where), n >= len(c.ReadOnly)
		if dir == "" {
			continue
		}
		name, err := filepath.Rel(dir, where)
		if err != nil {
			return nil, fmt.Errorf("guarding %s: %w", path, err)
		}
		i, err := os.Lstat(path)
		g := guarded{dir: dir, name: name, loose: watched}
		mounted := level >= L3 && err == nil && !watched && i.Mode()&fs.ModeSymlink == 0
		if mounted && i.Mode().IsRegular() && i.Size() <= maxMountedFile && s.size+i.Size() <= maxMounted && len(s.mounted) < maxMountedFiles {
			g.born, g.in = bornAt(where), bornAt(filepath.Dir(where))
		}
		if mounted && (g.born == "" || g.in == "") { // the mount has to do
			continue
		}
		if watched {
			g.way = at.to(c.Root, where)
		}
		if slices.Contains(c.Settings, path) || mounted && filepath.Base(path) == "config" && (safefile.InGit(path) || belowAny(path, c.Stays)) {
			g.settings, g.remotes = true, c.Remotes
		}
		root, err := s.hold(dir, dir == c.Root)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			g.was, err = s.save(root, name)
		}
		if mounted && err != nil { // it cannot be read by whoever runs the command
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("guarding %s: %w", path, err)
		}
		if mounted {
			s.mounted = append(s.mounted, g)
		} else {
			s.paths = append(s.paths, g)
		}
	}
	return s, nil
}

// What is kept of files that mounts hold. It takes a part of the room for what none holds, and is
// written down for each command: of larger ones, and of more, the mount has to do.
const (
	maxMounted      = 2 << 20   // bytes of all files together
	maxMountedFile  = 256 << 10 // of one
	maxMountedFiles = 500
)

// A Written file is one that a call of its own, which was allowed to, has written beside a command.
type Written struct {
	Path string
	Was  string // SHA-256 of what was there, in hexadecimal; "" where nothing was
	Sum  string // of what was written
}

// Found is what a [Finder] finds.
type Found struct {
	Appeared []string // what no command may make, and was not there
	Replaced []string // files that were there, and that a mount may hold no longer
	Away     []Away   // directories that get their names back

	// Written is asked where something protected is not as it was, and lists files in the order in which they
	// were written; none that has been changed since. It may be nil.
	Written func() []Written

	// Knew reports whether what is at a path, which may be protected, was there when the command began; nil for all.
	Knew func(path string) bool
}

// An Away is a directory that has another name than when the command began.
type Away struct{ Was, Is string }

func (f *Found) written() []Written {
	if f.Written == nil {
		return nil
	}
	return f.Written()
}

// unheld has those files be put back which have taken the places of others that mounts held: a rename
// from outside takes the mount away, and what an editor or git has saved so, the command can change.
func (s *Snapshot) unheld(replaced []string) {
	for _, path := range replaced {
		for _, g := range s.mounted {
			if filepath.Join(g.dir, g.name) == path && bornAt(path) != g.born && bornAt(filepath.Dir(path)) == g.in {
				g.born, g.in = "", "" // no mount holds it any more, and what has no room to come back is tried again
				s.paths = append(s.paths, g)
			}
		}
	}
}

// heed takes for what was there what calls of their own have made of it, where each wrote on what the one
// before had left, and the first on what was there: whoever allowed the change of a file did not allow what a
// command had put into it before. It reports whether there is any. now reads what is at a path, as the keys of
// was are.
func (g *guarded) heed(list []Written, now func(path string) (saved, bool)) (any bool) {
	sums := map[string]string{}
	for _, w := range list {
		path, ok := safefile.Rel(g.dir, w.Path)
		if !ok || !safefile.Below(g.name, path) {
			continue
		}
		left, written := sums[path]
		if was, ok := g.was[path]; ok && !written {
			left = was.sum()
		}
		if w.Was == left || w.Was == "" {
			left = w.Sum
		}
		sums[path] = left
	}
	for path, sum := range sums {
		if e, ok := now(path); ok && !e.linked && e.sum() == sum {
			if g.was == nil {
				g.was = map[string]saved{}
			}
			g.was[path], any = e, true
		}
	}
	return any
}

// sum is the SHA-256 of a file's content in hexadecimal; what no Written has where the content is not kept.
func (e saved) sum() string {
	if !e.mode.IsRegular() || e.stamp != "" {
		return "none"
	}
	return safefile.Sum(e.data)
}

// storedSnapshot, storedPath and storedFile are a Snapshot, guarded and saved
// where they are kept in a file.
type (
	storedSnapshot struct {
		Paths []storedPath      `json:"paths"` // those that mounts hold, too
		Homes []string          `json:"homes,omitempty"`
		IDs   map[string]string `json:"ids,omitempty"`
		Later json.RawMessage   `json:"later,omitempty"`
	}
	storedPath struct {
		Dir   string                `json:"dir"`
		Name  string                `json:"name"`
		Loose bool                  `json:"loose,omitempty"`
		Way   []string              `json:"way,omitempty"`
		Was   map[string]storedFile `json:"was,omitempty"`

		Settings bool     `json:"settings,omitempty"`
		Remotes  []string `json:"remotes,omitempty"`

		Born string `json:"born,omitempty"`
		In   string `json:"in,omitempty"`
	}
	storedFile struct {
		Mode  fs.FileMode `json:"mode"`
		Data  []byte      `json:"data,omitempty"`
		Stamp string      `json:"stamp,omitempty"`

		Linked bool `json:"linked,omitempty"`
	}
)

// MarshalJSON implements json.Marshaler, for a command whose end another
// process sees.
func (s *Snapshot) MarshalJSON() ([]byte, error) {
	list := []storedPath{}
	for _, g := range slices.Concat(s.paths, s.mounted) {
		p := storedPath{Dir: g.dir, Name: g.name, Loose: g.loose, Way: g.way, Settings: g.settings, Remotes: g.remotes, Born: g.born, In: g.in}
		for name, f := range g.was {
			if p.Was == nil {
				p.Was = map[string]storedFile{}
			}
			p.Was[name] = storedFile{f.mode, f.data, f.stamp, f.linked}
		}
		list = append(list, p)
	}
	return safefile.EncodeJSON(storedSnapshot{list, s.homes, s.ids, s.Later})
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Snapshot) UnmarshalJSON(raw []byte) error {
	var stored storedSnapshot
	if err := safefile.DecodeJSON(raw, &stored); err != nil {
		return err
	}
	s.paths, s.mounted, s.homes, s.ids, s.Later = nil, nil, stored.Homes, stored.IDs, stored.Later
	for _, p := range stored.Paths {
		g := guarded{dir: p.Dir, name: p.Name, loose: p.Loose, way: p.Way, was: map[string]saved{}, settings: p.Settings, remotes: p.Remotes, born: p.Born, in: p.In}
		for name, f := range p.Was {
			g.was[name] = saved{f.Mode, f.Data, f.Stamp, f.Linked}
		}
		if g.born != "" {
			s.mounted = append(s.mounted, g)
		} else {
			s.paths = append(s.paths, g)
		}
	}
	return nil
}

// roots are directories that are open, by their paths.
type roots map[string]*os.Root

// errElsewhere says that a path leads to something else than it did.
var errElsewhere = errors.New("something else has taken its place")

// hold opens a directory that the command can write, before it begins. A command of
// another root, or one of this root where its parent can be written, may have the path
// lead elsewhere; what is put back and put away is in this one, wherever it is by then.
// The root's path has no links: where it leads through one, that was put there after the
// call was decided, which is what unlinked is for.
func (s *Snapshot) hold(dir string, unlinked bool) (*os.Root, error) {
	if root, ok := s.held[dir]; ok {
		return root, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	id, err := idOf(root)
	if err == nil && unlinked && !leadsTo(dir, id) {
		err = errElsewhere
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	s.held[dir], s.ids[dir] = root, id
	return root, nil
}

func missingDir(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) }

// open opens a directory of the snapshot's again, where it is not open still.
func (s *Snapshot) open(dir string, opened roots) (*os.Root, error) {
	for _, have := range []roots{s.held, opened} {
		if root, ok := have[dir]; ok {
			return root, nil
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if id, err := idOf(root); err != nil || s.ids[dir] != "" && s.ids[dir] != id {
		return nil, errors.Join(errElsewhere, err, root.Close())
	}
	opened[dir] = root
	return root, nil
}

func (r roots) close() {
	for _, root := range r {
		_ = root.Close()
	}
}

// home returns the innermost writable directory that path lies in; "" for none.
func (s *Snapshot) home(path string) string {
	best := ""
	for _, dir := range s.homes {
		if safefile.Below(dir, path) && path != dir && len(dir) > len(best) {
			best = dir
		}
	}
	return best
}

// save reads everything at and below name.
func (s *Snapshot) save(root *os.Root, name string) (map[string]saved, error) {
	found := map[string]saved{}
	err := walk(root, name, func(path string, i fs.FileInfo) error {
		entry, err := s.read(root, path, i)
		found[path] = entry
		return err
	})
	return found, err
}

func (s *Snapshot) read(root *os.Root, path string, i fs.FileInfo) (e saved, err error) {
	e.mode, e.linked = i.Mode(), i.Mode().IsRegular() && linked(i)
	s.files++
	many := s.files > maxGuardedFiles || i.Mode().IsRegular() && (s.size+i.Size() > maxGuarded || i.Size() > maxGuardedFile && s.size >= 0)
	if many && !i.IsDir() {
		var ok bool
		if e.stamp, ok = stampOf(i); !ok || s.files > maxStamped {
			return e, errors.New("there is too much to be kept")
		}
		return e, nil
	}
	switch {
	case i.Mode().IsRegular():
		s.size += i.Size()
		e.data, err = readSeen(root, path, i)
	case i.Mode()&fs.ModeSymlink != 0:
		var target string
		target, err = root.Readlink(path)
		e.data = []byte(target)
	}
	return e, err
}

// walk visits name and what is below it, outer ones first. What is not there
// is passed over; links are not followed.
func walk(root *os.Root, name string, visit func(string, fs.FileInfo) error) error {
	i, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := visit(name, i); err != nil || !i.IsDir() {
		return err
	}
	d, err := root.OpenFile(name, os.O_RDONLY|noWait, 0)
	if err != nil {
		return err
	}
	entries, err := d.ReadDir(-1)
	_ = d.Close()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := walk(root, filepath.Join(name, e.Name()), visit); err != nil {
			return err
		}
	}
	return nil
}

// Return puts the workspace back in its place, and what stays beside it. It comes before anybody looks for what
// has appeared: that would be looked for in what has taken their places. Restore does it, too.
func (s *Snapshot) Return() (list []Restore, err error) {
	for _, a := range s.stays {
		r, bad := a.restore()
		if r != nil {
			list = append(list, *r)
		}
		err = errors.Join(err, bad)
	}
	s.stays = nil
	return list, err
}

// Restore puts back whatever is not as it was: what is there now goes to a
// new directory below quarantine, which is made when there is need of it, and
// what was there comes back. What has appeared, and was not there, goes too. What calls
// of their own have written stays. It does what it can and joins the errors.
func (s *Snapshot) Restore(quarantine string, found Found) ([]Restore, error) {
	s.unsettled = nil
	appeared := found.Appeared
	s.unheld(found.Replaced)
	list, err := s.Return()
	errs := []error{err}
	opened := roots{}
	defer opened.close()
	room := func(name string) func() (string, error) {
		return func() (string, error) {
			if err := os.MkdirAll(quarantine, 0o700); err != nil {
				return "", err
			}
			return os.MkdirTemp(quarantine, name+"-")
		}
	}
	for _, a := range found.Away {
		over := func(path string) bool { return safefile.Below(path, a.Was) || safefile.Below(a.Was, path) }
		there := slices.DeleteFunc(slices.Clone(appeared), func(path string) bool { return !over(path) })
		back, err := s.rename(a, there, found.written, opened, room("away"))
		if list = append(list, back...); err != nil {
			errs = append(errs, fmt.Errorf("giving %s, which is %s, its name back: %w", a.Was, a.Is, err))
			continue
		}
		appeared = slices.DeleteFunc(slices.Clone(appeared), over)
	}
	if r, err := s.gitBack(appeared); r != nil || err != nil {
		errs = append(errs, err)
		if r != nil {
			list = append(list, *r)
			appeared = slices.DeleteFunc(slices.Clone(appeared), func(path string) bool { return path == r.Path })
		}
	}
	var news []guarded
	for _, path := range appeared {
		if !slices.ContainsFunc(s.paths, func(g guarded) bool { return safefile.Below(filepath.Join(g.dir, g.name), path) }) {
			// From where no command can have put a link in the way, which would lead us out.
			dir := cmp.Or(s.home(path), filepath.Dir(path))
			if name, err := filepath.Rel(dir, path); err == nil {
				news = append(news, guarded{dir: dir, name: name})
			}
		}
	}
	s.paths = append(news, s.paths...) // first, for what was there may come to where they are
	s.follow(len(news))
	defer func() { s.held.close(); s.held = nil }()
	for i := range s.paths {
		g := &s.paths[i]
		if path := filepath.Join(g.dir, g.name); safefile.Below(path, quarantine) {
			errs = append(errs, fmt.Errorf("restoring %s: it holds the quarantine", path))
			continue
		}
		var r *Restore
		root, err := s.open(g.dir, opened)
		if err == nil {
			r, err = g.restore(root, found.written, room(strconv.Itoa(i)))
		}
		if r != nil {
			list = append(list, *r)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("restoring %s: %w", filepath.Join(g.dir, g.name), err))
		}
		if safefile.DiskFull(err) {
			s.unsettled = append(s.unsettled, *g)
		}
	}
	return list, errors.Join(errs...)
}

// rename gives a directory, or what was closed in it, back the name that it had. What has that by now goes to the quarantine before,
// with what appeared above or below it.
func (s *Snapshot) rename(a Away, appeared []string, written func() []Written, opened roots, room func() (string, error)) (list []Restore, err error) {
	dir := s.home(a.Was)
	was, err1 := filepath.Rel(dir, a.Was)
	is, err2 := filepath.Rel(dir, a.Is)
	if err := errors.Join(err1, err2); err != nil || dir == "" {
		return nil, cmp.Or(err, fs.ErrInvalid)
	}
	root, err := s.open(dir, opened)
	if err != nil {
		return nil, err
	}
	for _, path := range append(appeared, a.Was) {
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return list, err
		}
		g := guarded{dir: dir, name: name}
		r, err := g.restore(root, written, room)
		if err != nil {
			return list, err
		}
		if r != nil {
			list = append(list, *r)
		}
	}
	in, inTheWay, err := way(root, dir, filepath.Dir(was), true, room)
	if err != nil {
		return list, err
	}
	defer in.Close()
	if err := root.Rename(is, was); err != nil {
		return list, err
	}
	return append(list, Restore{Path: a.Was, Action: "deleted", Quarantine: inTheWay}), nil
}

// restore is about what lies in the very directories that g is in: a command may have put a link in
// the place of one, to where something else of that name is.
func (g *guarded) restore(root *os.Root, written func() []Written, room func() (string, error)) (*Restore, error) {
	above := filepath.Dir(g.name)
	closeAgain := unlock(root, above)
	defer closeAgain()
	in, inTheWay, err := way(root, g.dir, above, len(g.was) > 0 && !g.loose, room)
	if in == nil {
		return nil, err // it is not there, or may go
	}
	defer in.Close()
	r, err := g.from(above).restoreIn(in, written, room)
	if r != nil && r.Quarantine == "" {
		r.Quarantine = inTheWay
	}
	return r, err
}

// way opens a directory of root, which is dir, that no link leads to. Where makes says so, it is made, and what is in the way goes to a
// room of the quarantine; else a missing one is nil.
func way(root *os.Root, dir, name string, makes bool, room func() (string, error)) (in *os.Root, inTheWay string, err error) {
	in, at, err := solid(root, name)
	for range 1000 { // while others exchange what is there
		last := filepath.Base(at)
		switch {
		case errors.Is(err, errElsewhere):
			err = nil
		case err != nil || at == "":
		case !makes:
			return nil, "", in.Close()
		default:
			if i, bad := in.Lstat(last); bad != nil {
				err = in.Mkdir(last, 0o755)
			} else if !i.IsDir() {
				inTheWay, err = putAway(in, filepath.Join(dir, filepath.Dir(at)), last, room)
			}
			if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			err = errors.Join(err, in.Close())
		}
		if err != nil || in != nil && at == "" {
			break
		}
		in, at, err = solid(root, name)
	}
	switch {
	case err == nil && in == nil:
		err = errElsewhere
	case err == nil && at != "":
		err = errors.Join(errElsewhere, in.Close())
	}
	if err != nil {
		return nil, inTheWay, err
	}
	return in, inTheWay, nil
}

// solid opens a directory below root that no link leads to. Where there is none, at is the first on the way
// that is not, and in the directory that it should be in.
func solid(root *os.Root, dir string) (in *os.Root, at string, err error) {
	if in, err = root.OpenRoot("."); err != nil {
		return nil, "", err
	}
	for name := range strings.SplitSeq(filepath.ToSlash(dir), "/") {
		at = filepath.Join(at, name)
		was, err := in.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !was.IsDir() {
			return in, at, nil
		}
		var next *os.Root
		if err == nil {
			next, err = in.OpenRoot(name)
		}
		_ = in.Close()
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) {
			err = errors.Join(errElsewhere, err)
		}
		if err != nil {
			return nil, "", err
		}
		if now, err := next.Stat("."); err != nil || !os.SameFile(was, now) { // it has just been replaced
			return nil, "", errors.Join(errElsewhere, err, next.Close())
		}
		in = next
	}
	return in, "", nil
}

// from is g as it is seen from a directory that it is in.
func (g *guarded) from(above string) *guarded {
	one := *g
	one.dir, one.name, one.was = filepath.Join(g.dir, above), filepath.Base(g.name), map[string]saved{}
	for path, e := range g.was {
		one.was[strings.TrimPrefix(path, above+string(filepath.Separator))] = e
	}
	return &one
}

func (g *guarded) restoreIn(root *os.Root, written func() []Written, room func() (string, error)) (*Restore, error) {
	_, err := root.Lstat(g.name)
	gone := errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir)
	if err != nil && !gone {
		return nil, err
	}
	if !gone {
		now, err := g.now(root)
		if err == nil && g.stays(now) {
			return nil, nil
		}
		each := g.heed(written(), func(path string) (saved, bool) {
			i, err := root.Lstat(path)
			if err != nil || !i.Mode().IsRegular() || i.Size() > maxGuardedFile {
				return saved{}, false
			}
			e, err := unbounded().read(root, path, i)
			return e, err == nil
		})
		if each {
			if now, err = g.now(root); err == nil && g.stays(now) {
				return nil, nil
			}
		}
		if err == nil && (each || g.stamped()) { // what stays is not made anew: it would not be known any more
			return g.restoreEach(root, now, room)
		}
	}
	if gone && (len(g.was) == 0 || g.loose && g.name == ".git" && safefile.Empty(fs.ReadDir(root.FS(), "."))) { // git submodule deinit leaves the directory
		return nil, nil
	}
	r := &Restore{Path: filepath.Join(g.dir, g.name), Action: "changed"}
	switch {
	case len(g.was) == 0:
		r.Action = "created"
	case gone:
		r.Action = "deleted"
	}
	if !gone {
		if r.Quarantine, err = putAway(root, g.dir, g.name, room); errors.Is(err, fs.ErrNotExist) {
			return nil, nil // another call was faster
		} else if err != nil {
			return nil, err
		}
	}
	err = g.bring(root)
	switch {
	case errors.Is(err, fs.ErrExist): // another call that brought it back was faster, or what runs made something new
		if now, bad := g.now(root); bad != nil || !g.unchanged(now) {
			r.Why = "something new came to its place before what was there could come back"
		}
	case err != nil && g.stamped(): // not all is as it was
		return nil, err
	case err != nil:
		return r, err
	}
	return r, nil
}

// putAwayName is a name that nothing has, for what may not stay under its own.
func putAwayName() string { return ".agentkit-put-away-" + strconv.FormatUint(rand.Uint64(), 36) }

// putAway takes what is at name from there, first of all, and then to a room of the
// quarantine. What cannot be copied stays beside, under another name.
func putAway(root *os.Root, dir, name string, room func() (string, error)) (string, error) {
	aside := filepath.Join(filepath.Dir(name), putAwayName())
	if err := root.Rename(name, aside); err != nil {
		return "", err
	}
	to, err := room()
	if err == nil {
		unlockTree(root, aside)
		err = keep(root, aside, filepath.Join(to, filepath.Base(name)))
	}
	if err == nil {
		err = root.RemoveAll(aside)
	}
	if err != nil {
		if to != "" {
			_ = os.RemoveAll(to) // a part of it only takes room
		}
		return filepath.Join(dir, aside), nil //nolint:nilerr // it is away, which counts
	}
	return to, nil
}

// unlock lets us into the directories on the way to dir, whose modes a command
// may have taken our rights from, until again is called.
func unlock(root *os.Root, dir string) (again func()) {
	modes := map[string]fs.FileMode{}
	at := ""
	for name := range strings.SplitSeq(filepath.ToSlash(dir), "/") {
		at = filepath.Join(at, name)
		if i, err := root.Lstat(at); err == nil && i.IsDir() && i.Mode()&0o700 != 0o700 && root.Chmod(at, i.Mode().Perm()|0o700) == nil {
			modes[at] = i.Mode()
		}
	}
	return func() {
		for at, mode := range modes {
			_ = root.Chmod(at, mode&safefile.ModeBits)
		}
	}
}

// unlockTree lets us read what was put away.
func unlockTree(root *os.Root, name string) {
	i, err := root.Lstat(name)
	if err != nil || !i.IsDir() && !i.Mode().IsRegular() {
		return
	}
	need := fs.FileMode(0o400) // no more: a hard link has its mode with the file that stays
	if i.IsDir() {
		need = 0o700
	}
	if i.Mode()&need != need {
		_ = root.Chmod(name, i.Mode().Perm()|need)
	}
	if !i.IsDir() {
		return
	}
	d, err := root.OpenFile(name, os.O_RDONLY|noWait, 0)
	if err != nil {
		return
	}
	entries, _ := d.ReadDir(-1)
	_ = d.Close()
	for _, e := range entries {
		unlockTree(root, filepath.Join(name, e.Name()))
	}
}

// bring makes what was there again, and nothing else: a command that still runs may have put something
// of the name there, or a link in the place of a directory that was just made.
func (g *guarded) bring(root *os.Root) error {
	var notKept error
	for _, path := range slices.Sorted(maps.Keys(g.was)) {
		e := g.was[path]
		if e.stamp != "" {
			notKept = fmt.Errorf("%s was too much to be kept, and is not as it was", filepath.Join(g.dir, path))
			continue
		}
		if err := e.bring(root, path); err != nil {
			return err
		}
	}
	// A directory that cannot be written gets its mode last.
	for _, path := range slices.Backward(slices.Sorted(maps.Keys(g.was))) {
		if e := g.was[path]; e.stamp == "" && e.mode.IsDir() {
			if err := e.allow(root, path); err != nil {
				return err
			}
		}
	}
	return notKept
}

// bring makes one file, directory or link again where there is none.
func (e saved) bring(root *os.Root, path string) error {
	in, err := solidly(root, filepath.Dir(path))
	if err != nil {
		return err
	}
	defer in.Close()
	name := filepath.Base(path)
	switch {
	case e.mode.IsDir():
		return in.Mkdir(name, 0o700)
	case e.mode&fs.ModeSymlink != 0:
		return in.Symlink(string(e.data), name)
	case !e.mode.IsRegular():
		return nil
	}
	f, err := in.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(e.data)
	return errors.Join(err, f.Chmod(e.mode&safefile.ModeBits), f.Close())
}

// allow gives a directory its mode.
func (e saved) allow(root *os.Root, path string) error {
	in, err := solidly(root, path)
	if err != nil {
		return err
	}
	defer in.Close()
	return in.Chmod(".", e.mode&safefile.ModeBits)
}

// solidly is solid for a directory that has to be there.
func solidly(root *os.Root, dir string) (*os.Root, error) {
	in, at, err := solid(root, dir)
	if err == nil && at != "" {
		return nil, errors.Join(&fs.PathError{Op: "open", Path: at, Err: errElsewhere}, in.Close())
	}
	return in, err
}

// keep copies what is at name to the path to. Devices, pipes and sockets hold
// nothing that could be kept.
func keep(root *os.Root, name, to string) error {
	return walk(root, name, func(path string, i fs.FileInfo) error {
		rest, err := filepath.Rel(name, path)
		if err != nil {
			return err
		}
		at := filepath.Join(to, rest)
		switch {
		case i.IsDir():
			return os.Mkdir(at, 0o700)
		case i.Mode()&fs.ModeSymlink != 0:
			target, err := root.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(target, at)
		case i.Mode().IsRegular():
			return copyOut(root, path, i, at)
		}
		return nil
	})
}

// openSeen opens the very file that was seen at a path. A command that still runs may put
// a link to what is hidden from it in its place, which would become readable as what is put
// back, or a pipe, whose other end never comes.
func openSeen(root *os.Root, path string, was fs.FileInfo) (*os.File, error) {
	f, err := root.OpenFile(path, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	now, err := f.Stat()
	if err == nil && os.SameFile(was, now) && now.Mode().IsRegular() {
		return f, nil
	}
	return nil, errors.Join(&fs.PathError{Op: "open", Path: path, Err: errElsewhere}, err, f.Close())
}

// readSeen reads the file that was seen at a path, or is there as a file soon.
func readSeen(root *os.Root, path string, was fs.FileInfo) ([]byte, error) {
	var f *os.File
	var err error
	for range 20 {
		if f, err = openSeen(root, path, was); err == nil {
			break
		}
		if now, gone := root.Lstat(path); gone == nil && now.Mode().IsRegular() {
			was = now
		}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxGuardedFile+1))
	if err == nil && len(data) > maxGuardedFile { // it has just grown
		err = &fs.PathError{Op: "read", Path: path, Err: errElsewhere}
	}
	return data, err
}

func copyOut(root *os.Root, path string, was fs.FileInfo, to string) error {
	from, err := openSeen(root, path, was)
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // not to be run
	if err != nil {
		return err
	}
	return errors.Join(copyContent(f, from), f.Close())
}
