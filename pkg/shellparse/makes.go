package shellparse

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// maxTouched is how many names are remembered that plain commands make or write.
const maxTouched = 64

// stir notes that something may have changed files.
func (w *walker) stir() { w.dirty, w.stirred = true, true }

// settles ends a statement whose accesses start at from. One that only makes or writes files of
// known names leaves all other names as they were. stirred is what held before it.
func (w *walker) settles(s *syntax.Stmt, from int, stirred bool) {
	if _, list := s.Cmd.(*syntax.BinaryCmd); !list || len(s.Redirs) > 0 || s.Negated || s.Background || s.Coprocess || s.Disown {
		w.st.done = false
	}
	if stirred || !w.stirred {
		return
	}
	made, ok := w.plain(s, from)
	if !ok || len(w.touched)+len(made) > maxTouched {
		return
	}
	w.stirred = false
	if a := w.out.Accesses[from]; a.Kind == policy.Exec && a.Argv[0] == "mkdir" && a.Program != "" && !w.mayFail(s.Redirs) && w.depth == 1 && len(w.calls) == 0 {
		w.st.done = w.mkdir(a.Argv[1:]) && !s.Negated
	}
	w.touched = append(w.touched, made...)
}

// plain reports whether a statement is one command that makes files or directories, or writes
// them, of known names, and does nothing else to files. It gives their paths.
func (w *walker) plain(s *syntax.Stmt, from int) (paths []string, ok bool) {
	c, simple := s.Cmd.(*syntax.CallExpr)
	if !simple || len(c.Assigns) > 0 || len(c.Args) == 0 || !programs.Has("mkdir touch echo printf cat : true", c.Args[0].Lit()) {
		return nil, false
	}
	makes := programs.Has("mkdir touch", c.Args[0].Lit())
	if slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool { return r.Word != nil && expands(r.Word) }) {
		return nil, false
	}
	commands := 0
	for _, a := range w.out.Accesses[from:] {
		switch {
		case a.Opaque != "" || a.Danger != "":
			return nil, false
		case a.Kind == policy.Exec:
			if commands++; a.Class == policy.Unknown || len(a.Argv) == 0 || a.Argv[0] != c.Args[0].Lit() || makes && len(a.Dynamic) > 0 {
				return nil, false
			}
		case a.Kind == policy.Read:
		case a.Kind != policy.Write || a.Tree || a.Named != "" && a.Named != a.Path,
			a.Op != policy.Create && a.Op != policy.Change && a.Op != policy.Metadata,
			a.File != policy.Missing && a.File != policy.Regular && a.File != policy.Dir:
			return nil, false
		default:
			paths = append(paths, a.Path)
		}
	}
	return paths, commands == 1
}

// expands reports whether a word stands for something else than its text.
func expands(x *syntax.Word) (expands bool) {
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp, *syntax.ProcSubst, *syntax.ExtGlob:
			expands = true
		}
		return !expands
	})
	return expands
}

// mkdir notes the directories that are certainly there after mkdir with these words, and
// reports whether it certainly succeeds: their names are short and plain, and the first
// directory above that is there lies in the root, is no link and lets its owner write.
func (w *walker) mkdir(words []string) (succeeds bool) {
	if w.world.Makes == nil || w.st.lost != "" || len(w.st.dirs) != 1 || len(w.st.names) > 0 || w.limited() || w.masked() {
		return false
	}
	parents := false
	if len(words) > 0 && (words[0] == "-p" || words[0] == "--parents") {
		parents, words = true, words[1:]
	}
	succeeds = len(words) > 0
	var made []string
	for _, name := range words {
		at, there := w.makesDir(name, parents)
		if at == "" { // or an option, which may come last
			return false
		}
		succeeds = succeeds && (parents || !there)
		made = append(made, at)
	}
	w.st.made = append(slices.Clip(w.st.made), made...)
	return succeeds
}

// makesDir gives the path of a directory that is certainly there after mkdir was given its name,
// "" where it may not be, and whether it is there before.
func (w *walker) makesDir(name string, parents bool) (at string, there bool) {
	found := w.resolve(name)
	if len(found) != 1 || strings.HasPrefix(name, "-") || strings.Contains(name, "..") {
		return "", false
	}
	a := found[0].access
	rel, inside := strings.CutPrefix(a.Path, w.world.Root+"/")
	if !inside || a.Opaque != "" || a.Named != "" && a.Named != a.Path || len(a.Path) > maxMade ||
		slices.ContainsFunc(strings.Split(rel, "/"), func(part string) bool { return len(part) > maxMadeName || part == "" || part[0] == '.' }) {
		return "", false
	}
	for _, t := range w.touched {
		if safefile.Below(t, a.Path) && !w.made(t) { // a file may be there
			return "", false
		}
	}
	if a.File == policy.Dir || w.made(a.Path) {
		return a.Path, true
	}
	if a.File != policy.Missing || !parents && !w.isDir(path.Dir(a.Path)) {
		return "", false
	}
	above := path.Dir(a.Path)
	for !w.isThere(above) && above != w.world.Root {
		above = path.Dir(above)
	}
	if !w.isDir(above) || !w.made(above) && !w.world.Makes(above) {
		return "", false
	}
	return a.Path, slices.ContainsFunc(w.touched, func(t string) bool { return safefile.Below(a.Path, t) })
}

// maxMade and maxMadeName are lengths in bytes that every file system takes for a path and a name.
const (
	maxMade     = 1024
	maxMadeName = 100
)

// made reports whether the text has certainly made a directory.
func (w *walker) made(dir string) bool {
	return slices.ContainsFunc(w.st.made, func(m string) bool { return safefile.Below(dir, m) })
}

// isThere reports whether something is at a path now, or a directory certainly made there.
func (w *walker) isThere(p string) bool {
	return w.made(p) || w.resolveIn("/", p).access.File != policy.Missing
}

// isDir reports whether a directory is certainly at a path, and no link leads there.
func (w *walker) isDir(p string) bool {
	a := w.resolveIn("/", p).access
	return w.made(p) || a.File == policy.Dir && a.Path == p && a.Opaque == ""
}

// masked reports whether the text may change what the owner of a new file may do with it, or which programs its words are.
func (w *walker) masked() bool {
	return slices.ContainsFunc([]string{"umask", "enable"}, func(name string) bool {
		_, is := w.names[name]
		return is
	})
}

// mayGain reports whether a pattern in a directory may stand for a name that plain commands of
// the text have made. One with more pattern characters than in its last part may pass through links.
func (w *walker) mayGain(dir, pat string) bool {
	if len(w.touched) == 0 {
		return false
	}
	i := strings.LastIndexByte(pat, '/') + 1
	at := w.resolveIn(dir, cmpOr(pat[:i], ".")).access
	if strings.ContainsAny(pat[:i], `*?[\`) || at.Opaque != "" {
		return true
	}
	above := strings.ToLower(at.Path)
	for _, t := range w.touched {
		if !safefile.Below(above, strings.ToLower(t)) {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(t), above), "/"), "/")
		if ok, err := filepath.Match(strings.ToLower(pat[i:]), name); ok || err != nil || strings.ContainsAny(pat[i:], `[\`) {
			return true
		}
	}
	return false
}
