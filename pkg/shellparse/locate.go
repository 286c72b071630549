package shellparse

import (
	"path"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// locate finds the program of a word: its path, whether it lies where only the
// system's owner puts programs, and why that is not certain.
func (w *walker) locate(name string) (where string, trusted bool, why string) {
	if name == "" {
		return "", false, "a program without a name"
	}
	for i := 0; i < len(name); i++ {
		if name[i] >= 0x80 {
			why = "a program whose name may look like another's"
		}
	}
	if strings.Contains(name, "/") {
		r := w.resolve(name)
		if len(r) == 0 {
			return "", false, cmpOr(why, "the directory is not known")
		}
		for _, x := range r {
			why = cmpOr(why, x.access.Opaque)
		}
		return r[0].access.Path, len(r) == 1 && systemPath(r[0].access) && !w.writable(r[0].access.Path), why
	}
	if w.st.path != "" {
		return "", false, w.st.path + ", so a bare name may be any program"
	}
	if w.world.LookPath == nil {
		return "", false, "programs cannot be looked up"
	}
	p := w.lookPath(name)
	if p == "" {
		return "", true, why
	}
	return p, !w.writable(p), why
}

// filePath is why a bare name may mean another program where only files that were read,
// such as activate, have set PATH.
const filePath = "PATH is set by a file that is run"

// pathSet is why a bare name may mean another program once a variable is set.
func (w *walker) pathSet(name string) string {
	if w.scripted && name == "PATH" {
		return filePath
	}
	return name + " is set"
}

// slight reports whether what later programs may differ by is nothing to mktemp: what an
// environment that is activated sets.
func slight(why string) bool {
	name, _, _ := strings.Cut(why, " ")
	return why == "" || why == filePath || programs.Has("PS1 PYTHONHOME VIRTUAL_ENV _OLD_VIRTUAL_PATH _OLD_VIRTUAL_PYTHONHOME", name)
}

// worse is why later programs may be others, or behave otherwise, after two such things.
func worse(before, now string) string {
	if slight(before) && now != "" {
		return now
	}
	return before
}

// lookPath finds a program by its bare name; "" when there is none.
func (w *walker) lookPath(name string) string {
	for _, f := range w.found {
		if f.name == name {
			return f.dir
		}
	}
	p, ok := w.world.LookPath(name)
	if !ok {
		p = ""
	}
	if w.world.Resolve != nil && strings.HasPrefix(p, "/") {
		if a, err := w.world.Resolve("/", p); err == nil {
			p = a.Path
		}
	}
	w.found = append(w.found, resolved{dir: p, name: name})
	return p
}

// systemPath reports whether a path as written leads to a directory of the
// system's programs.
func systemPath(a policy.Access) bool {
	for _, p := range []string{cmpOr(a.Named, a.Path), a.Path} {
		switch path.Dir(p) {
		case "/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin", "/usr/local/go/bin":
			return true
		}
	}
	return false
}

// startScript reports whether a file is a script of the system's that starts a service or runs
// at a time: it has the service's name, and is not the program of that name.
func startScript(where string) bool {
	dir := path.Dir(where)
	return dir == "/etc/init.d" || strings.HasPrefix(dir, "/etc/cron.")
}

// writable reports whether a path lies in the root or a temporary directory,
// where anything may have put a program and commands may write; beside the root
// only in what is new there.
func (w *walker) writable(p string) bool {
	for _, dir := range w.world.SharedTemp {
		if rest, ok := strings.CutPrefix(p, dir+"/"); ok && w.world.Resolve != nil {
			first, _, _ := strings.Cut(rest, "/")
			a, err := w.world.Resolve(w.world.Dir, p)
			if err == nil && a.Fresh && !safefile.Below(dir+"/"+first, w.world.Root) {
				return true
			}
		}
	}
	for _, dir := range append([]string{w.world.Root}, w.world.Temp...) {
		if dir != "" && dir != "/" && safefile.Below(dir, p) {
			return true
		}
	}
	return false
}
