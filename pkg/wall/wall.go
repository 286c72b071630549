// Package wall finds the files that a policy keeps from a command, so that the
// operating system can: what it may not read, what it may not change. It asks
// the policy about every name in the root that may be another case than the
// rest, at every depth, and nothing else decides.
package wall

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// Options say what a wall is for.
type Options struct {
	Policy    *policy.Policy
	Root      string                               // absolute and resolved
	Mounts    bool                                 // what is fixed is so while the command runs
	Cache     string                               // directory where the walk is remembered; "" for nowhere
	Committed func(paths []string) map[string]bool // see policy.Sources; nil for none
	After     func(func())                         // does what nobody waits for, such as writing the cache; nil does it at once
	Moved     Moved                                // nil for none
	Temp      []string                             // directories for temporary files; commands may write there
}

// Moved knows the secrets that are elsewhere by now, where their names say nothing.
type Moved interface {
	Secret(path string) bool // reports whether what is at a path was noted once
	Secrets(paths []string)  // notes files and directories, whatever becomes of their names
}

// A Wall is what a policy keeps from commands. Paths are absolute.
type Wall struct {
	Hidden     []string // cannot be read; they exist
	Fixed      []string // cannot be changed
	Watched    []string // files that may be removed, and are put back where they were changed
	Pinned     []string // those of them above which no directory may be moved: secrets, and what is fixed for where it is
	Named      []string // directories that keep their names, as something in them is fixed for these: .github with its workflows
	Readable   []string // what can be read outside the root
	Everything bool     // all can be
	Listed     []string // directories outside the root whose names can be listed, with those below them
	Writable   []string // what rules allow to be written, beside the root
	Unseen     []string // directories outside the root of which not all was looked through that rules open
	Beyond     []string // what was not looked at, and why

	// Enclosing is outside the root: where git keeps what is done in it. Commands
	// have to write there, but for what is Fixed. "" for none.
	Enclosing string

	// Recalled has the names for which files of the root were hidden once, by their paths, see recall.
	Recalled map[string]string

	// Granted is what this call may write all the same.
	Granted []Grant
	// Goes has what this call may move or remove all the same.
	Goes []string

	// Cloned are directories that the command does nothing but have git fill with what another
	// host has: what is protected of that stays, where Alone says so.
	Cloned []string
	// Alone reports whether no other command runs that may write in the root; nil for no.
	Alone func() bool

	o        Options
	seen     []string  // places outside the root of which all was looked through
	overlaid bool      // the root lies in an overlay of file systems
	begun    time.Time // what files have a later time of was changed since
	tree     *tree
	last     *tree           // what a later walk found, to go faster; nil for tree
	held     map[fileID]bool // what is hidden or fixed in the root

	above        map[string]fileID // the directories above that
	repositories map[fileID]bool   // those of the repositories in the root
	led          map[string]string // what is closed because a link leads there, with the name that is closed
	others       map[string]string // other names of what is hidden in the root for these, see recall
	forgotten    []string          // see Forget
	conflicts    int               // that were looked at, see strayConflicts
	followed     int               // names behind links that were looked at, see follower
	ends         []string          // where these lead in the root
	temp         map[string]string // what is protected right in the directories for temporary files, see scratch
	empty        map[string]int64  // which of these had nothing of that before, and when they had changed last
}

// Compile walks the root.
func Compile(o Options) *Wall {
	w, out := &Wall{o: o, overlaid: overlaid(o.Root), begun: time.Now().Add(-young), led: map[string]string{}, others: map[string]string{}}, make(chan *Wall, 1)
	go func() {
		far := &Wall{o: o, others: map[string]string{}}
		far.outside()
		out <- far
	}()
	w.tree = o.walk(&walker{notable: o.Policy.Notable, leads: o.leads, passed: o.Policy.Passed}, o.Root, o.Root)
	w.Beyond = w.tree.beyond
	hits := w.tree.hits()
	w.fill(hits)
	w.open()
	w.number(hits)
	w.keepEnds()
	w.closeTemp()
	far := <-out
	w.Readable, w.Everything, w.Writable = far.Readable, far.Everything, far.Writable
	w.Hidden, w.Beyond, w.Unseen = append(w.Hidden, far.Hidden...), append(w.Beyond, far.Beyond...), far.Unseen
	w.Listed, w.seen = far.Listed, far.seen
	w.pinPlaces(far)
	return w
}

// walk has a walker walk from what is remembered under a name, and remembers a tree that has changed. Where it
// cannot, it is walked again.
func (o *Options) walk(w *walker, root, name string) *tree {
	if o.Cache == "" {
		return w.walk(root)
	}
	file, hash := cacheFile(o.Cache, name), o.Policy.Hash()
	w.before = remembered(file, hash)
	t := w.walk(root)
	write := func() { _ = t.remember(file, hash) }
	switch {
	case t.changed == 0:
	case o.After == nil:
		write()
	default:
		o.After(write)
	}
	return t
}

// fill asks the policy about the paths, outer ones first.
func (w *Wall) fill(hits []string) {
	if w.o.Committed != nil { // all at once is faster
		w.o.Committed(slices.DeleteFunc(slices.Clone(hits), func(path string) bool { return filepath.Base(path) == ".git" }))
	}
	for _, path := range hits {
		if base := filepath.Base(path); base == ".git" || base == "HEAD" {
			w.git(path)
			continue
		}
		if safefile.BelowGit(path) { // there only what was moved there is secret
			if w.o.Moved != nil && w.o.Moved.Secret(path) {
				w.hide(path)
			}
			continue
		}
		if below(path, w.Hidden) && below(path, w.Fixed) { // a link there leads on
			w.behind(path, w.close)
		} else {
			w.add(path)
		}
	}
	types := map[string]policy.FileType{} // many are in both lists
	var links safefile.Links
	for _, dir := range [...]string{"", ".config", ".local/share"} { // most of what programs keep there is missing
		links.List(filepath.Join(w.o.Policy.Home(), dir))
	}
	for _, k := range []policy.Kind{policy.Read, policy.Write} {
		for _, path := range w.o.Policy.Anchored(k) {
			t, known := types[path]
			if !known {
				t = policy.Missing
				if _, i, err := links.Resolve(path); err == nil {
					t = fileType(i.Mode())
				}
				types[path] = t
			}
			switch {
			case k == policy.Read && t != policy.Missing && !w.o.Policy.MayRead(path, t):
				w.hide(path)
			case k == policy.Write && !w.o.Policy.MayWrite(path, t):
				w.Fixed = append(w.Fixed, path)
			}
		}
	}
	w.Hidden = append(w.Hidden, w.tree.shut...)
	w.recall()
	w.Hidden, w.Fixed = outermost(w.Hidden), outermost(w.Fixed)
	w.note()
	w.held, w.above = map[fileID]bool{}, map[string]fileID{}
	free := map[string]bool{}
	for i, path := range slices.Concat(w.Hidden, w.Fixed) {
		if safefile.Below(w.o.Root, path) {
			if target, err := os.Lstat(path); err == nil && target.Mode()&fs.ModeSymlink == 0 { // a link means something else in another directory
				w.held[idOf(path)] = true
			}
			w.numberAbove(path)
		}
		if i < len(w.Hidden) || w.o.Policy.Placed(path) || w.led[path] != "" {
			w.Pinned = append(w.Pinned, path)
		} else {
			w.named(path, w.o.Root, free)
		}
	}
	for _, path := range w.Watched {
		w.numberAbove(path)
	}
	w.stays(w.o.Root + "/.git")
}

// named notes the directories below top for whose names a path is fixed: in another it would not be. Free has, by the rest of
// a path in top, whether that says nothing alone.
func (w *Wall) named(path, top string, free map[string]bool) {
	if safefile.BelowGit(path) || !safefile.Below(top, path) {
		return
	}
	for dir := filepath.Dir(path); dir != top && safefile.Below(top, dir); dir = filepath.Dir(dir) {
		elsewhere := filepath.Join(top, "-") + path[len(dir):]
		is, known := free[elsewhere]
		if !known {
			is = w.o.Policy.MayWrite(elsewhere, policy.Missing)
			free[elsewhere] = is
		}
		if is && !slices.Contains(w.Named, dir) {
			w.Named = append(w.Named, dir)
		}
	}
}

// numberAbove notes what tells the directories above a path, as far as the root.
func (w *Wall) numberAbove(path string) {
	for dir := filepath.Dir(path); w.above[dir] == (fileID{}) && dir != w.o.Root && safefile.Below(w.o.Root, dir); dir = filepath.Dir(dir) {
		w.above[dir] = w.idOfDir(dir)
	}
}

// add asks about one path.
func (w *Wall) add(path string) {
	i, err := os.Lstat(path)
	if err != nil {
		return
	}
	if p := w.o.Policy; !p.MayRead(path, fileType(i.Mode())) {
		mixed := i.IsDir() && (p.Mixed(path, policy.Read) || w.o.Committed != nil && w.mixed(path))
		w.hideIn(path, mixed, func(path string, t policy.FileType) bool { return !p.MayRead(path, t) })
	}
	w.fix(path, i)
	if i.Mode()&fs.ModeSymlink != 0 {
		w.behind(path, w.close)
	}
}

// hideIn hides a path, unless it lies in what is hidden; where it is a directory that is mixed, the files in it that are secret.
func (w *Wall) hideIn(path string, mixed bool, secret func(path string, t policy.FileType) bool) {
	switch {
	case below(path, w.Hidden):
	case mixed:
		w.each(path, func(path string, i fs.FileInfo) {
			if !i.IsDir() && secret(path, fileType(i.Mode())) {
				w.hide(path)
			}
		})
	default:
		w.hide(path)
	}
}

// fix closes to writing what no command may write at a path, unless it lies in what is closed so: of a directory that holds
// something else, too, that alone.
func (w *Wall) fix(path string, i fs.FileInfo) {
	p := w.o.Policy
	switch {
	case p.MayWrite(path, fileType(i.Mode())) || below(path, w.Fixed):
	case i.IsDir() && p.Mixed(path, policy.Write):
		w.each(path, func(path string, i fs.FileInfo) {
			if !i.IsDir() && !p.MayWrite(path, fileType(i.Mode())) {
				w.Fixed = append(w.Fixed, path)
			}
		})
	default:
		w.Fixed = append(w.Fixed, path)
	}
}

// mixed reports whether a directory with the name of a secret holds what is none.
func (w *Wall) mixed(dir string) bool {
	found := false
	w.each(dir, func(path string, i fs.FileInfo) {
		found = found || !i.IsDir() && w.o.Policy.MayRead(path, fileType(i.Mode()))
	})
	return found
}

// hide hides a path and, where it is a link, what it leads to.
func (w *Wall) hide(path string) {
	w.Hidden = append(w.Hidden, path)
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path && real != w.o.Root && !safefile.Below(real, w.o.Root) {
		w.Hidden, w.others[real] = append(w.Hidden, real), path
	}
}

// maxEach bounds the files of one directory that are asked about, or looked at for other names, one by one.
const maxEach = 20_000

// each visits everything below dir.
func (w *Wall) each(dir string, visit func(path string, i fs.FileInfo)) {
	n := 0
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if n++; n > maxEach {
			w.Beyond = append(w.Beyond, dir+tooMany)
			return fs.SkipAll
		}
		if err == nil && path != dir {
			if i, err := d.Info(); err == nil {
				visit(path, i)
			}
		}
		return nil
	})
}

// Watches returns what reports whether a path is watched, or lies in what is; nil where
// nothing is.
func (w *Wall) Watches() func(path string) bool { return w.within(w.Watched) }

// Guards returns what reports whether a path is watched or fixed, or lies in what is: what is
// fixed goes with the repository that it is in. It is nil where nothing is.
func (w *Wall) Guards() func(path string) bool { return w.within(slices.Concat(w.Watched, w.Fixed)) }

// guards returns what gives the path of what is watched or fixed at a path or above it; "" for none.
func (w *Wall) guards() func(path string) string {
	return w.innermost(slices.Concat(w.Watched, w.Fixed))
}

func (w *Wall) within(list []string) func(path string) bool {
	if len(list) == 0 {
		return nil
	}
	in := w.innermost(list)
	return func(path string) bool { return in(path) != "" }
}

func (w *Wall) innermost(list []string) func(path string) string {
	named := map[string]bool{}
	for _, path := range list {
		named[path] = true
	}
	return func(path string) string {
		for ; len(path) > len(w.o.Root); path = filepath.Dir(path) {
			if named[path] {
				return path
			}
		}
		return ""
	}
}

// A fileID tells a file or directory from all others, also from a later one that has got its inode number: a
// command may remove what is hidden below the root. Born is 0 where the file system keeps no time of birth.
type fileID struct {
	Device, Inode uint64
	Born          int64 // in nanoseconds since 1970
}

// idOfDir is idOf a directory in which there may be changes. In an overlay of file systems, as the root of a
// container is, the first change of what lies below gives it another time of birth.
func (w *Wall) idOfDir(path string) fileID {
	id := idOf(path)
	if w.overlaid {
		id.Born = 0
	}
	return id
}

// A Start is what a Wall knows of the root before a command.
type Start struct {
	Root, Cache string
	Hits        []string          // what is notable, and was there
	Closed      []string          // what is held, or put back by itself
	Held        []fileID          // what is held whatever happens
	Above       map[string]fileID // those of the directories above it
	Known       []fileID          // those of the repositories in the root
	Enclosing   string            // see Wall
	Granted     []Grant           // likewise
	Goes        []string          // likewise
	Cloned      []string          // likewise
	Begun       time.Time         // when it was looked at
	Temp        []string          // see Options
	InTemp      map[string]string // what is protected right in these, see scratch
	Cut         bool              // not all of the root was looked at
}

// Start returns what [Since] needs.
func (w *Wall) Start() Start {
	hits := slices.DeleteFunc(w.tree.hits(), func(path string) bool { return slices.Contains(w.forgotten, path) })
	s := Start{Root: w.o.Root, Cache: w.o.Cache, Hits: hits, Closed: slices.Concat(w.Fixed, w.Watched), Enclosing: w.Enclosing, Granted: w.Granted, Goes: w.Goes, Cloned: w.Cloned, Begun: w.begun, Above: w.above, Known: slices.Collect(maps.Keys(w.repositories)), Temp: w.o.Temp, InTemp: w.temp, Cut: w.tree.cut}
	if w.o.Mounts {
		s.Held = slices.AppendSeq([]fileID{}, maps.Keys(w.held)) // nil says that there are no mounts
	}
	return s
}

// Since is Found for a process that has not compiled the wall. Alone is that of the Wall.
func Since(p *policy.Policy, s Start, alone func() bool) Found {
	w := &Wall{begun: s.Begun, Enclosing: s.Enclosing, Granted: s.Granted, Goes: s.Goes, Cloned: s.Cloned, Alone: alone, Fixed: s.Closed, Watched: s.Closed, o: Options{Policy: p, Root: s.Root, Cache: s.Cache, Mounts: s.Held != nil, Temp: s.Temp}, temp: s.InTemp, overlaid: overlaid(s.Root), held: map[fileID]bool{}, above: s.Above, repositories: map[fileID]bool{}}
	for _, n := range s.Held {
		w.held[n] = true
	}
	for _, n := range s.Known {
		w.repositories[n] = true
	}
	before := &tree{byPath: map[string]*dir{}, cut: s.Cut}
	for _, path := range s.Hits {
		at, name := filepath.Split(path)
		at = filepath.Clean(at)
		if before.byPath[at] == nil {
			before.byPath[at] = &dir{path: at}
		}
		before.byPath[at].hits = append(before.byPath[at].hits, name)
	}
	w.tree = before
	if s.Cache != "" {
		w.last = remembered(cacheFile(s.Cache, s.Root), p.Hash())
	}
	f := w.Found()
	if known := append(slices.Clip(s.Hits), s.Closed...); !s.Cut {
		f.Knew = func(path string) bool {
			return !safefile.Below(s.Root, path) || slices.ContainsFunc(known, func(k string) bool { return safefile.Below(k, path) || safefile.Below(path, k) })
		}
	}
	return f
}

// Forget takes it that something was not there before: a command that runs beside may have shown it meanwhile.
func (w *Wall) Forget(paths []string) {
	w.forgotten = append(w.forgotten, paths...)
	gone := func(path string) bool { return slices.Contains(w.forgotten, path) }
	w.Watched, w.Fixed = slices.DeleteFunc(slices.Clone(w.Watched), gone), slices.DeleteFunc(slices.Clone(w.Fixed), gone)
}

// Found is what can be found out at the end of a command.
type Found struct {
	Appeared []string // see [Wall.Appeared]
	Replaced []string // see behindMounts
	Away     []Away   // likewise

	// Written looks for what calls of their own have written, in the order in which they did: of all protected
	// files of the root that are as the last one left them. It reads each of these.
	Written func() []Written

	Knew func(path string) bool // reports whether something notable was there before; nil where that is not told
}

// written is that of the root and of directories for temporary files.
func (w *Wall) written() []Written {
	return slices.DeleteFunc(written(w.o.Cache, "/"), func(f Written) bool {
		return !slices.ContainsFunc(append(slices.Clip(w.o.Temp), w.o.Root), func(dir string) bool { return safefile.Below(dir, f.Path) })
	})
}

// Found looks for what has appeared and what was replaced.
func (w *Wall) Found() Found {
	f := Found{Appeared: w.Appeared(), Written: w.written}
	if w.o.Mounts { // below L3 all that is closed is put back by itself
		f.Replaced, f.Away = w.behindMounts()
	}
	return f
}

// Appeared lists what has come into the root since, that the policy lets no
// command make.
func (w *Wall) Appeared() []string {
	before := w.tree
	if w.last != nil {
		before = w.last
	}
	doors := &doors{root: w.o.Root, held: w.held}
	defer doors.close()
	now := (&walker{notable: w.o.Policy.Notable, leads: w.o.leads, passed: w.o.Policy.Passed, before: before, force: doors.open}).walk(w.o.Root)
	var list, news []string
	for _, d := range now.list {
		if now == w.tree && len(w.forgotten) == 0 || len(d.hits) == 0 {
			continue
		}
		was := w.tree.index()[d.path]
		if was == d && !slices.ContainsFunc(w.forgotten, func(path string) bool { return filepath.Dir(path) == d.path }) {
			continue
		}
		for _, name := range d.hits {
			at := filepath.Join(d.path, name)
			if name == ".git" || name == "HEAD" || safefile.BelowGit(at) || w.stands(at) || w.checkedOut(at) {
				continue
			}
			if was != nil && slices.Contains(was.hits, name) && !below(at, w.Fixed) && !slices.Contains(w.forgotten, at) { // it was there, and may be changed
				continue
			}
			i, err := os.Lstat(at)
			switch {
			case err != nil:
			case !w.o.Policy.MayWrite(at, policy.Missing) && (!i.IsDir() || !w.o.Policy.Mixed(at, policy.Write)),
				i.Mode()&fs.ModeSymlink != 0 && w.o.Policy.Begins(at):
				news = append(news, at)
			}
		}
	}
	if now != w.tree || len(w.forgotten) > 0 {
		w.followed = 0
		news = append(news, w.appearedBehind(now)...)
	}
	if len(news) > 0 {
		w.noteCloned(news)
		granted := slices.Concat(w.Granted, standing(w.o.Cache, w.o.Root))
		for _, at := range news {
			list = append(list, ungranted(at, granted)...)
		}
	}
	list = append(list, w.appearedInGit(now)...)
	if w.Enclosing != "" {
		list = append(list, w.newIn(w.Enclosing)...)
	}
	list = append(list, w.ledAway()...)
	if w.tree.cut { // what this walk has reached and that one has not may be anybody's, and old
		list = slices.DeleteFunc(list, func(at string) bool { return changedAt(at).Before(w.begun) })
	}
	list = append(list, w.plantedInTemp()...)
	w.Beyond = append(w.Beyond, now.beyond...)
	if state := filepath.Dir(w.o.Cache); w.o.Cache != "" && safefile.Below(w.o.Root, state) { // what undo keeps is ours
		list = slices.DeleteFunc(list, func(at string) bool { return safefile.Below(state, at) })
	}
	return outermost(list)
}

// ledAway lists the links that have taken the place of directories with something closed in
// them, and lead to where nobody looks: out of the root, or to what git keeps.
func (w *Wall) ledAway() (list []string) {
	seen := map[string]bool{}
	for _, path := range slices.Concat(w.Fixed, w.Watched) {
		for dir := filepath.Dir(path); dir != w.o.Root && safefile.Below(w.o.Root, dir) && !seen[dir]; dir = filepath.Dir(dir) {
			seen[dir] = true
			n := w.above[dir]
			if i, err := os.Lstat(dir); err != nil || i.Mode()&fs.ModeSymlink == 0 || changedAt(dir).Before(w.begun) && (n == fileID{} || n == w.idOfDir(dir)) { // also a person's own, as ~/.config elsewhere
				continue
			}
			if real, err := filepath.EvalSymlinks(dir); err != nil || !safefile.Below(w.o.Root, real) || safefile.InGit(real) {
				list = append(list, dir)
			}
		}
	}
	return list
}

// behindMounts lists what is not as it was although a mount holds it. That holds a file, and not its name, so that whoever puts
// another one there from outside takes it away; nor does it hold what lies above, see away.
func (w *Wall) behindMounts() (replaced []string, moved []Away) {
	in := []string{w.o.Root}
	if w.Enclosing != "" {
		in = append(in, w.Enclosing)
	}
	dirs := movedDirs{w: w, now: map[string]fileID{}, at: map[fileID]string{}}
	for _, path := range w.Fixed {
		if a := dirs.away(path); a != (Away{}) && !slices.Contains(moved, a) {
			moved = append(moved, a)
		}
		switch i, err := os.Lstat(path); {
		case err == nil && i.Mode().IsRegular() && below(path, in) && !changedAt(path).Before(w.begun) && !w.Grants(path):
			replaced = append(replaced, path)
		}
	}
	return replaced, moved
}

// A Grant is a path that a call may write, with Tree all below it too.
type Grant struct {
	Path string
	Tree bool
}

// Grants reports whether a path is granted.
func (w *Wall) Grants(path string) bool {
	return slices.ContainsFunc(w.Granted, func(g Grant) bool { return g.Path == path || g.Tree && safefile.Below(g.Path, path) })
}

// ungranted lists what of a path is not granted: of a directory that was made for what
// may be written in it, all else that lies there.
func ungranted(at string, granted []Grant) (list []string) {
	inside := false
	for _, g := range granted {
		if g.Tree && safefile.Below(g.Path, at) {
			return nil
		}
		inside = inside || safefile.Below(at, g.Path)
	}
	if !inside {
		return []string{at}
	}
	entries, err := os.ReadDir(at)
	if i, e := os.Lstat(at); err != nil && e == nil && i.IsDir() { // what cannot be looked at is not granted; a file has nothing in it
		return []string{at}
	}
	for _, e := range entries {
		list = append(list, ungranted(filepath.Join(at, e.Name()), granted)...)
	}
	return list
}

// stands reports whether what is at a path is what was there, or is put back by
// itself. A mount holds what was there, but not the directories above: another may have
// taken the place of one that was moved.
func (w *Wall) stands(at string) bool {
	if !w.o.Mounts {
		return below(at, w.Fixed)
	}
	for dir := at; dir != w.o.Root && safefile.Below(w.o.Root, dir); dir = filepath.Dir(dir) {
		if w.held[idOf(dir)] {
			return true
		}
	}
	// What is new in a directory that is the same is somebody else's, such as an editor's:
	// the command could not replace it.
	return slices.ContainsFunc(w.Fixed, func(fixed string) bool { return safefile.Below(fixed, at) && w.inPlace(fixed) })
}

// inPlace reports whether the directories above a path are those that were there.
func (w *Wall) inPlace(path string) bool {
	for dir := filepath.Dir(path); dir != w.o.Root && safefile.Below(w.o.Root, dir); dir = filepath.Dir(dir) {
		if n := w.above[dir]; n == (fileID{}) || n != w.idOfDir(dir) {
			return false
		}
	}
	return true
}

func fileType(m fs.FileMode) policy.FileType {
	switch m.Type() {
	case 0:
		return policy.Regular
	case fs.ModeDir:
		return policy.Dir
	case fs.ModeNamedPipe:
		return policy.FIFO
	case fs.ModeSocket:
		return policy.Socket
	case fs.ModeDevice, fs.ModeDevice | fs.ModeCharDevice:
		return policy.Device
	}
	return ""
}

func below(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return safefile.Below(dir, path) })
}

// outermost drops what lies below another of the list.
func outermost(list []string) []string {
	slices.Sort(list)
	kept := make(map[string]bool, len(list))
	return slices.DeleteFunc(slices.Compact(list), func(path string) bool {
		for up := path; up != "/" && up != "."; {
			if up = filepath.Dir(up); kept[up] {
				return true
			}
		}
		kept[path] = true
		return strings.TrimSpace(path) == ""
	})
}
