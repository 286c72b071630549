package shellparse

import (
	"path"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A resolved is a path as the machine has it.
type resolved struct {
	dir, name string
	access    policy.Access
}

// A link is one that the text itself makes: what lies at and below name is
// really at target.
type link struct{ name, target string }

// A fileAccess is what to list for a word that names a file.
type fileAccess struct {
	kind   policy.Kind
	op     policy.Op
	tree   bool
	parent int
	src    string
	why    string // why it cannot be known
	guess  bool   // it is a write that may not happen
	below  bool   // it is something below the path, never the path itself
	names  string // see programs.Word
	split  bool
	made   bool
	listed *programs.Listing
}

// file lists the accesses of a word that names a file and gives their indexes.
func (w *walker) file(f fileAccess, x word) []int {
	if !w.spend(2) {
		return nil
	}
	if x.Proc || !x.Dynamic && sink(x.Text) {
		return nil
	}
	if f.kind == policy.Write && f.op == policy.Delete {
		if !w.removes(f.parent) {
			x.Counted = ""
		}
		if names, ok := w.scratched(x); ok {
			var out []int
			for _, name := range names {
				out = append(out, w.file(f, word{Text: name})...)
			}
			return out
		}
	}
	name := x.Text
	switch {
	case x.Dynamic && x.Under != "" && (x.Listed == nil || f.kind == policy.Read && w.st.lost == "" && len(w.st.dirs) == 1 && w.st.dirs[0] == x.Listed.Dir):
		name, f.tree, f.below, f.names, f.split, f.made, f.listed = x.Under, true, true, x.Names, x.Split, x.Made, x.Listed
		if !path.IsAbs(x.Under) && (x.Dir == "" || w.st.lost != "" || len(w.st.dirs) != 1 || w.st.dirs[0] != x.Dir) { // another file has the name there, or a directory
			f.names = programs.NamesOf(x.Names)
		}
	case x.Dynamic && x.Number && x.Lead == "":
		return nil
	case x.Dynamic:
		name, f.tree = x.Lead[:strings.LastIndexByte(x.Lead, '/')+1], f.kind == policy.Read
		if x.Pattern == "" || f.kind == policy.Write || strings.Contains(strings.TrimPrefix(x.Pattern, x.Lead), "..") {
			f.why = cmpOr(f.why, "the path is not known before it runs")
		}
		if name == "" {
			name = "."
		}
	case name == "":
		return nil
	}
	var out []int
	paths := w.resolve(name)
	if len(paths) == 0 {
		a := policy.Access{Kind: f.kind, Tree: f.tree, Parent: f.parent, Source: f.src, Opaque: w.st.lost, Named: name}
		if f.kind == policy.Write {
			a.Op = f.op
		}
		return append(out, w.emit(a)-1)
	}
	for _, p := range paths {
		a := p.access
		a.Kind, a.Tree, a.Parent, a.Source = f.kind, f.tree, f.parent, f.src
		a.Globbed = f.kind == policy.Read && !x.Dynamic && x.Pattern != "" && strings.Trim(strings.TrimPrefix(x.Pattern, "./"), "*/") == ""
		a.Below, a.Names, a.Split, a.Made = f.below, f.names, f.split, f.split && f.made
		if l := f.listed; l != nil {
			a.By, a.Bare, a.Files = l.By, l.Bare, l.Files
		}
		a.Opaque = cmpOr(a.Opaque, f.why)
		if f.kind == policy.Write && f.op != policy.Delete && safefile.InGit(a.Path) && w.bringsLinks(f.parent) {
			a.Opaque = cmpOr(a.Opaque, "what comes to git's own files may be a link, and git writes to where it leads")
		}
		if f.kind == policy.Write {
			a.Op, a.Guess = f.op, f.guess
			if a.Op == policy.Change && a.File == policy.Missing {
				a.Op = policy.Create
			}
			a.Danger = w.plants(a)
			if a.Path != "/dev/null" {
				w.stir()
			}
		}
		if (a.Tree || a.Kind == policy.Write) && !w.unlinks(f, x) && w.holdsLink(a.Path) {
			a.Opaque = cmpOr(a.Opaque, "a link that the command makes lies in it")
		}
		if i := w.emitted(&a); i >= 0 {
			out = append(out, i)
			continue
		}
		out = append(out, w.emit(a)-1)
	}
	return out
}

// unlinks reports whether an access is rm's or rmdir's of the very thing that a word names: these
// remove the links that lie in it, and go through none.
func (w *walker) unlinks(f fileAccess, x word) bool {
	return f.op == policy.Delete && !x.Dynamic && x.Pattern == "" && !strings.HasSuffix(x.Text, "/") && w.removes(f.parent)
}

// removes reports whether the program of an access, by its index + 1, is rm or rmdir.
func (w *walker) removes(parent int) bool {
	if parent < 1 || parent > len(w.out.Accesses) {
		return false
	}
	argv := w.out.Accesses[parent-1].Argv
	return len(argv) > 0 && programs.Has("rm rmdir", path.Base(argv[0]))
}

// bringsLinks reports whether the program of an access, by its index + 1, may bring links to where it writes.
func (w *walker) bringsLinks(parent int) bool {
	if parent < 1 || parent > len(w.out.Accesses) {
		return false
	}
	argv := w.out.Accesses[parent-1].Argv
	return len(argv) > 0 && programs.Has("ln mv cp rsync install tar bsdtar cpio unzip 7z", path.Base(argv[0]))
}

// scratched are the files right in a directory that a pattern stands for now, and the
// pattern itself: in a temporary directory, where what else it stands for when the command is there has
// been made meanwhile, or in one of the root, where that is kept. There a name with numbers in it
// is such a pattern, too.
func (w *walker) scratched(x word) (names []string, ok bool) {
	i, pat := strings.LastIndexByte(x.Lead, '/')+1, x.Pattern
	if x.Counted != "" && w.world.Keeps {
		pat = x.Counted
	}
	if !x.Dynamic || pat == "" || len(pat) < i || pat[:i] != x.Lead[:i] || strings.Contains(pat[i:], "/") || w.world.Glob == nil || len(w.links) > 0 || w.astray != "" {
		return nil, false
	}
	at := w.resolve(cmpOr(x.Lead[:i], "."))
	if len(at) != 1 || at[0].access.Opaque != "" {
		return nil, false
	}
	dir := at[0].access.Path
	kept := w.world.Keeps && w.st.lost == "" && len(w.st.dirs) == 1 && safefile.Below(w.world.Root, dir) && !safefile.InGit(dir)
	if !kept && (x.Counted != "" || i == 0 || !slices.Contains(w.world.Temp, dir)) {
		return nil, false
	}
	names, ok = w.world.Glob(dir, pat[i:])
	if !ok || len(names) > maxFields || !w.spend(len(names)) {
		return nil, false
	}
	for n, name := range names {
		names[n] = dir + "/" + name
	}
	return append(names, dir+"/"+pat[i:]), true
}

// emitted finds an equal access among the last few.
func (w *walker) emitted(a *policy.Access) int {
	for i := len(w.out.Accesses) - 1; i >= max(0, len(w.out.Accesses)-16); i-- {
		if o := &w.out.Accesses[i]; o.Kind == a.Kind && o.Path == a.Path && o.Named == a.Named && o.Op == a.Op && o.Tree == a.Tree && o.Below == a.Below && o.Names == a.Names && o.Split == a.Split && o.Made == a.Made && o.Globbed == a.Globbed && o.By == a.By && o.Opaque == a.Opaque && o.Parent == a.Parent {
			return i
		}
	}
	return -1
}

// sink reports whether a name stands for nothing, or for what is already open.
func sink(name string) bool {
	switch name {
	case "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr":
		return true
	}
	n, ok := strings.CutPrefix(name, programs.DevFD)
	return ok && integer(n)
}

// resolve finds a name in every directory the shell may be in; nil when it is
// not known where that is.
func (w *walker) resolve(name string) []resolved {
	if strings.HasPrefix(name, "/") {
		return w.resolveBoth(nil, "/", name)
	}
	if w.st.lost != "" {
		return nil
	}
	out := make([]resolved, 0, len(w.st.dirs))
	for _, d := range w.st.dirs {
		out = w.resolveBoth(out, d, name)
	}
	return out
}

// resolveBoth adds what a name in a directory stands for: where links that the text makes
// lead it, and what is there now, for ln may fail or not be reached.
func (w *walker) resolveBoth(out []resolved, dir, name string) []resolved {
	r := w.resolveIn(dir, name)
	if out = append(out, r); len(w.links) == 0 {
		return out
	}
	links, files := w.links, w.files
	w.links, w.files = nil, nil
	now := w.resolveIn(dir, name)
	if w.links, w.files = links, files; now.access.Path != r.access.Path && now.access.File != policy.Missing {
		out = append(out, now)
	}
	return out
}

func (w *walker) resolveIn(dir, name string) resolved {
	for _, f := range w.files {
		if f.dir == dir && f.name == name {
			return f
		}
	}
	why := ""
	full := name
	if !strings.HasPrefix(full, "/") {
		full = strings.TrimSuffix(dir, "/") + "/" + name
	}
	full, why = w.process(full, dir)
	if len(w.links) > 0 || w.astray != "" {
		var lost string
		full, lost = w.through(full)
		why = cmpOr(why, lost)
	}
	r := resolved{dir: dir, name: name}
	if w.world.Resolve == nil {
		r.access = policy.Access{Path: path.Clean(full), Opaque: "paths cannot be resolved"}
	} else if a, err := w.world.Resolve(dir, full); err != nil {
		r.access = policy.Access{Path: path.Clean(full), Opaque: "the path cannot be resolved: " + err.Error()}
	} else {
		r.access = a
	}
	r.access.Opaque = cmpOr(r.access.Opaque, why)
	if len(w.links) == 0 && w.astray == "" && len(w.files) < 4096 {
		w.files = append(w.files, r)
	}
	return r
}

// through is a name as the links lead it that the text has made; why says what is not known
// of that.
func (w *walker) through(full string) (name, why string) {
	if why = w.astray; safefile.Below("/dev", full) || readOnlyPlace(full) {
		why = ""
	}
	for at := 0; at < len(full); {
		i := strings.Index(full[at:], "/..")
		if i < 0 {
			break
		}
		at += i + len("/..")
		if at < len(full) && full[at] != '/' {
			continue
		}
		if _, ok := w.link(full[:at-len("/..")]); ok {
			return full, cmpOr(why, "a path that climbs out of a link which the command makes")
		}
	}
	for range maxLinks {
		next, ok := w.link(full)
		if !ok {
			return full, why
		}
		full = next
	}
	return full, "links that lead to one another"
}

// link is where the last link that a name goes through leads it.
func (w *walker) link(full string) (to string, ok bool) {
	clean := path.Clean(full)
	for _, l := range slices.Backward(w.links) {
		if rest, ok := strings.CutPrefix(clean, l.name); ok && (rest == "" || rest[0] == '/') {
			return l.target + rest, true
		}
	}
	return full, false
}

// holdsLink reports whether a link that the text has made lies below a directory.
func (w *walker) holdsLink(dir string) bool {
	return slices.ContainsFunc(w.links, func(l link) bool { return l.name != dir && safefile.Below(dir, l.name) })
}

// maxLinks bounds the links that are followed.
const maxLinks = 64

// process turns the names of /proc that mean the reading process itself into
// what they mean for the command.
func (w *walker) process(full, dir string) (name, why string) {
	if !strings.HasPrefix(full, "/proc/") && !strings.HasPrefix(full, programs.DevFD) {
		return full, ""
	}
	for _, self := range []string{"/proc/self/", "/proc/thread-self/"} {
		rest, ok := strings.CutPrefix(full, self)
		if !ok {
			continue
		}
		if below, ok := strings.CutPrefix(rest, "cwd"); ok && (below == "" || below[0] == '/') {
			return dir + below, ""
		}
		if below, ok := strings.CutPrefix(rest, "root"); ok && (below == "" || below[0] == '/') {
			return "/" + below, ""
		}
		if strings.HasPrefix(rest, "fd/") || strings.HasPrefix(rest, "task/") || strings.HasPrefix(rest, "map_files/") {
			return full, "a path through an open descriptor"
		}
		return full, ""
	}
	if strings.HasPrefix(full, programs.DevFD) || strings.Contains(full, "/fd/") || strings.Contains(full, "/cwd") || strings.Contains(full, "/root") {
		return full, "a path through another process"
	}
	return full, ""
}

// move changes the directory to what x names.
func (w *walker) move(x word) {
	if x.Dynamic || x.Text == "" && x.Pattern == "" {
		w.st.lost = "the directory is not known before it runs"
		return
	}
	r := w.resolve(x.Text)
	if len(r) == 0 {
		return // still lost
	}
	r = w.asNamed(x.Text, r)
	var dirs []string
	for _, p := range r {
		if n := p.access.Named; n != "" && n != p.access.Path {
			w.st.names = union(w.st.names, []string{n})
		}
		dirs = union(dirs, []string{p.access.Path})
		if p.access.Opaque != "" {
			w.st.lost = p.access.Opaque
		}
	}
	w.st.dirs = dirs
	if strings.HasPrefix(x.Text, "/") && r[0].access.Opaque == "" {
		w.st.lost = ""
	}
}

// asNamed adds the directories that a name with .. leads to for the shell, which
// takes the name of the directory it is in apart and not the directory: through
// a link that is another one.
func (w *walker) asNamed(name string, r []resolved) []resolved {
	if !strings.Contains(name, "..") {
		return r
	}
	for _, p := range slices.Clone(r) {
		if n := p.access.Named; n != "" {
			r = append(r, w.resolveIn("/", n))
		}
	}
	if strings.HasPrefix(name, "/") {
		return r
	}
	for _, d := range w.st.names {
		r = append(r, w.resolveIn("/", path.Join(d, name)))
	}
	return r
}

// plants says which writes grant access, plant code, or destroy a device.
func (w *walker) plants(a policy.Access) string {
	if a.Path == "/dev/null" || a.Op == policy.Settings {
		return ""
	}
	for _, p := range []string{a.Path, a.Named} {
		if p == "" {
			continue
		}
		low := strings.ToLower(p)
		switch {
		case programs.Device(low):
			return "writes to a device"
		case strings.Contains(low, "/.git/hooks/"), strings.HasSuffix(low, "/.git/config"):
			return "plants what git runs"
		case strings.Contains(low, "/.ssh/"):
			return "changes who has access"
		case slices.Contains([]string{"/etc/passwd", "/etc/shadow", "/etc/sudoers", "/etc/crontab", "/etc/ld.so.preload"}, low), strings.HasPrefix(low, "/etc/sudoers.d/"), strings.HasPrefix(low, "/var/spool/cron/"):
			return "changes who has access"
		}
	}
	return ""
}

// exists reports whether a name exists in the present directory.
func (w *walker) exists(name string) bool {
	if len(name) > 255 || strings.ContainsAny(name, "\n") {
		return false
	}
	for _, r := range w.resolve(name) {
		if f := r.access.File; f != "" && f != policy.Missing {
			return true
		}
	}
	return false
}

// maybeWritten lists a file that a program of which nothing is known is given.
func (w *walker) maybeWritten(c *call, name string) {
	f := fileAccess{kind: policy.Read, parent: c.index + 1, src: name}
	for _, i := range w.file(f, word{Text: name}) {
		a := w.out.Accesses[i]
		inside := w.writable(a.Path) || w.world.Root == ""
		if inside && (w.world.Held || !strings.Contains(a.Path, "/.")) || a.File == policy.Dir && inside {
			continue
		}
		f.kind, f.op = policy.Write, policy.Change
		if !inside {
			f.why, f.guess = "the program may change it", !programs.Device(strings.ToLower(a.Path)) // what is given a disk writes to it
			if readOnlyPlace(a.Path) {
				continue
			}
		}
		w.file(f, word{Text: name})
		return
	}
}

// readOnlyPlace names what no program run by a user changes.
func readOnlyPlace(p string) bool {
	for _, d := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/proc", "/sys", "/dev/null"} {
		if safefile.Below(d, p) {
			return true
		}
	}
	return false
}

// linked notes a link for the paths that come later.
func (w *walker) linked(to, name string, symbolic bool) {
	found := w.resolve(name)
	if w.files = nil; to == "" {
		w.astray = cmpOr(w.astray, "the command makes a link to a place that is not known")
		return
	}
	for _, r := range found {
		full := cmpOr(r.access.Named, r.access.Path)
		base := path.Dir(full)
		if r.access.File == policy.Dir {
			base, full = full, full+"/"+path.Base(to)
		}
		target := to
		if !strings.HasPrefix(to, "/") {
			from := base
			if !symbolic && len(w.st.dirs) > 0 {
				from = w.st.dirs[0]
			}
			target = path.Join(from, to)
		}
		if len(w.links) == maxLinks {
			w.astray = cmpOr(w.astray, "the command makes too many links")
			return
		}
		if slices.ContainsFunc(w.links, func(l link) bool { return l.name == full && l.target != target }) {
			w.astray = cmpOr(w.astray, "a link that the command makes twice")
		}
		w.links = append(w.links, link{name: full, target: target})
	}
}

// relink notes that a name now leads where another did.
func (w *walker) relink(from, to string) {
	for _, r := range w.resolve(from) {
		if r.access.Named != "" && r.access.Named != r.access.Path {
			w.linked(r.access.Path, to, true)
		}
	}
}

// writes reports whether the text so far writes a file of a name.
func (w *walker) writes(name string) bool {
	return slices.ContainsFunc(w.out.Accesses, func(a policy.Access) bool {
		return a.Kind == policy.Write && strings.HasPrefix(path.Base(a.Path), name)
	})
}

// makes reports whether the text before makes what may be a directory at a path.
func (w *walker) makes(path string) bool {
	return slices.ContainsFunc(w.out.Accesses, func(a policy.Access) bool {
		return a.Kind == policy.Write && a.Op == policy.Create && a.Parent > 0 && safefile.Below(path, a.Path) &&
			(a.Path != path || !makesFile(&w.out.Accesses[a.Parent-1]))
	})
}

// makesFile reports whether what a program makes is no directory.
func makesFile(program *policy.Access) bool {
	return len(program.Argv) > 0 && programs.Has("mktemp touch tee", path.Base(program.Argv[0]))
}
