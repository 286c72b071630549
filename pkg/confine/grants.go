package confine

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/steps"
	"github.com/agentkit-go/agentkit/pkg/wall"
)

// grants are the files outside the root that a call was allowed to make or
// delete. The kernel knows no right to a name that is not there, so a file is
// made before the command, empty, for it to fill. Where that will not do, as for a
// directory or a file that is to be moved, its directory is opened, with
// all else that is in it closed.
type grants struct {
	made   map[string]time.Time // files and directories of ours, and when we made them
	dirs   []string             // directories that have to be opened
	shut   []string             // directories of which not all else could be closed
	unmade []string             // what was allowed, and could be neither made nor opened
	opened wall.Opened          // dirs and what is opened in them
}

// opening are programs that open a file by its name to write it.
func opening() []string {
	return []string{"tee", "touch", "dd", "curl", "wget", "cp", "sort", "truncate", "cat", "echo", "printf", "jq", "openssl", "gpg"}
}

// filling are programs that make a directory by its name, and fill an empty one as well.
func filling() []string {
	return []string{"git", "npm", "pnpm", "yarn", "python", "python3", "pip", "pip3", "uv", "virtualenv", "cargo", "make", "cmake", "meson", "ninja", "unzip", "rsync"}
}

// recursive reports whether cp copies directories, which are not opened by their names.
func recursive(a *policy.Access) bool {
	return slices.ContainsFunc(a.Argv, func(w string) bool {
		return w == "--recursive" || w == "--archive" || len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w, "rRa")
	}) && steps.Name(a) == "cp"
}

// started is how many programs a call starts, and whether there is one of which it is not
// known what it does: it may start others.
func started(needs []policy.Access) (programs int, unknown bool) {
	for i := range needs {
		if a := &needs[i]; a.Kind == policy.Exec && !a.Builtin {
			programs++
			unknown = unknown || a.Opaque != "" || a.Class == policy.Unknown
		}
	}
	return programs, unknown
}

// maxClosed bounds what is closed of a directory one by one, each by a mount. One that
// holds more is not opened.
const maxClosed = 4000

// grant opens what an access of a call names outside the root.
func (g *grants) grant(cfg *sandbox.Config, a *policy.Access, needs []policy.Access) {
	sealed := cfg.Sealed && safefile.Below(cfg.Root, a.Path)
	if slices.ContainsFunc(cfg.ReadWrite, func(dir string) bool {
		return safefile.Below(dir, a.Path) && (!sealed || safefile.Below(cfg.Root, dir))
	}) {
		return
	}
	if a.File != policy.Missing && a.Op != policy.Delete {
		cfg.ReadWrite = append(cfg.ReadWrite, a.Path)
		return
	}
	opens := !a.Tree && a.Op != policy.Delete
	if n := a.Parent - 1; n >= 0 && n < len(needs) && !strings.Contains(a.Source, ">") {
		opens = opens && (a.Guess || needs[n].Program == "" || slices.Contains(opening(), filepath.Base(needs[n].Program)) && !recursive(&needs[n]))
	}
	g.opened.Wanted = append(g.opened.Wanted, a.Path)
	if opens && g.make(a.Path) {
		cfg.ReadWrite = append(cfg.ReadWrite, a.Path)
		return
	}
	// Without mounts all that the directory holds is open to every program of the call, and to
	// what these start. What the only one is to fill is made for it, and so is what one fills before others look for it of which it is known what they do.
	if programs, unknown := started(needs); cfg.Minimum < sandbox.L3 && (a.Guess || unknown) {
		if !a.Guess && (programs == 1 || fillsFirst(a, needs)) && a.Op != policy.Delete && g.makeFor(a, needs) {
			cfg.ReadWrite = append(cfg.ReadWrite, a.Path)
		} else {
			g.unmade = append(g.unmade, a.Path)
		}
		return
	}
	dir := filepath.Dir(a.Path)
	for !safefile.Exists(dir) {
		dir = filepath.Dir(dir)
	}
	if !slices.Contains(g.dirs, dir) {
		g.dirs = append(g.dirs, dir)
	}
}

// open opens the directories that grant has found to be needed. It comes after all of a
// call is granted, since that stays open in them.
func (g *grants) open(cfg *sandbox.Config) {
	lists := map[string][]os.DirEntry{}
	g.dirs = slices.DeleteFunc(g.dirs, func(dir string) bool {
		entries, err := os.ReadDir(dir)
		if shut := cfg.Minimum >= sandbox.L3 && (err != nil || len(entries) > maxClosed); shut {
			g.shut = append(g.shut, dir)
			return true
		}
		if err == nil {
			lists[dir] = entries
		}
		return false
	})
	given := slices.Concat(cfg.ReadWrite, g.opened.Wanted, g.dirs, []string{cfg.Root}) // not what stays shut
	for _, dir := range g.dirs {
		if entries, ok := lists[dir]; ok {
			g.close(cfg, dir, entries, given)
		}
		cfg.ReadWrite, cfg.Granted = append(cfg.ReadWrite, dir), append(cfg.Granted, dir)
	}
}

// close remembers what is in a directory that is opened, and closes it but for what the
// call was given: around that, where it lies deeper.
func (g *grants) close(cfg *sandbox.Config, dir string, entries []os.DirEntry, given []string) {
	if g.opened.Dirs == nil {
		g.opened.Dirs = map[string][]string{}
	}
	g.opened.Dirs[dir] = []string{}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		g.opened.Dirs[dir] = append(g.opened.Dirs[dir], path)
		if cfg.Minimum < sandbox.L3 || slices.Contains(given, path) {
			continue
		}
		if e.IsDir() && slices.ContainsFunc(given, func(w string) bool { return safefile.Below(path, w) }) {
			if inner, err := os.ReadDir(path); err == nil && len(inner) <= maxClosed {
				cfg.Pinned = append(cfg.Pinned, path+"/.") // it is not moved away with what is closed in it
				g.close(cfg, path, inner, given)
				continue
			}
		}
		cfg.ReadOnly = append(cfg.ReadOnly, path) // a link, which no mount holds, is put back at the end
	}
}

// shutAbove is the directory of a path that was not opened; "" for none.
func (g *grants) shutAbove(path string) string {
	if i := slices.IndexFunc(g.shut, func(dir string) bool { return safefile.Below(dir, path) }); i >= 0 {
		return g.shut[i]
	}
	return ""
}

// make makes an empty file, which undo takes away should it stay as it is.
func (g *grants) make(path string) bool {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return false
	}
	i, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil {
		return false
	}
	g.note(path, i)
	return true
}

// fillsFirst reports whether an access is of a program that fills an empty directory, of all others in the call it is known what they do, and none
// looks for that directory before it in the text.
func fillsFirst(a *policy.Access, needs []policy.Access) bool {
	n := a.Parent - 1
	if n < 0 || n >= len(needs) || !slices.Contains(filling(), steps.Name(&needs[n])) {
		return false
	}
	for i := range needs {
		switch w := &needs[i]; {
		case w.Kind == policy.Exec && !w.Builtin && i != n && (w.Opaque != "" || w.Class == policy.Unknown):
			return false
		case i < n && w.Path != "" && safefile.Below(a.Path, w.Path):
			return false
		}
	}
	return true
}

// notMade reports whether a path is, or lies in, what was allowed and could be neither made nor opened.
func (g *grants) notMade(path string) bool {
	return slices.ContainsFunc(g.unmade, func(name string) bool { return safefile.Below(name, path) })
}

// makeFor makes what a program is to fill: a file, or a directory.
func (g *grants) makeFor(a *policy.Access, needs []policy.Access) bool {
	n := a.Parent - 1
	if a.Tree || n >= 0 && n < len(needs) && slices.Contains(filling(), steps.Name(&needs[n])) {
		return g.mkdir(a.Path)
	}
	return g.make(a.Path)
}

// mkdir makes an empty directory, which undo takes away should it stay as it is.
func (g *grants) mkdir(path string) bool {
	if err := os.Mkdir(path, 0o777); err != nil {
		return false
	}
	i, err := os.Lstat(path)
	if err != nil {
		return false
	}
	g.note(path, i)
	return true
}

func (g *grants) note(path string, i os.FileInfo) {
	if g.made == nil {
		g.made = map[string]time.Time{}
	}
	g.made[path] = i.ModTime()
}

// undo takes away what nobody has used, and lists what the command has made in the
// directories that were opened for something else.
func (g *grants) undo() []string {
	for path, at := range g.made {
		if i, err := os.Lstat(path); err == nil && (i.IsDir() || i.Mode().IsRegular() && i.Size() == 0) && i.ModTime().Equal(at) {
			_ = os.Remove(path) // a directory only where nothing is in it
		}
	}
	g.made = nil
	return g.opened.Appeared()
}
