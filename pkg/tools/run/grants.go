package run

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// grants are the files outside the root that a call was allowed to make or
// delete. The kernel knows no right to a name that is not there, so a file is
// made before the command, empty, for it to fill. Where that will not do, as for a
// directory or a file that is to be moved, its directory is opened, with
// all else that is in it closed.
type grants struct {
	made   map[string]time.Time // files of ours, and when we made them
	opened map[string][]string  // directories, and what was in them
	wanted []string
}

// opening are programs that open a file by its name to write it.
func opening() []string {
	return []string{"tee", "touch", "dd", "curl", "wget", "cp", "sort", "truncate", "cat", "echo", "printf", "jq", "openssl", "gpg"}
}

// recursive reports whether cp copies directories, which are not opened by their names.
func recursive(a *policy.Access) bool {
	return slices.ContainsFunc(a.Argv, func(w string) bool {
		return w == "--recursive" || w == "--archive" || len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w, "rRa")
	}) && baseName(a) == "cp"
}

// mixed reports whether a call starts several programs, and one of which nothing is known.
func mixed(needs []policy.Access) bool {
	programs, unknown := 0, false
	for i := range needs {
		if a := &needs[i]; a.Kind == policy.Exec && !a.Builtin {
			programs++
			unknown = unknown || a.Opaque != "" || a.Class == policy.Unknown
		}
	}
	return programs > 1 && unknown
}

// maxClosed bounds what is closed of a directory one by one.
const maxClosed = 500

// grant opens what an access of a call names outside the root.
func (g *grants) grant(cfg *sandbox.Config, a *policy.Access, needs []policy.Access) {
	sealed := cfg.Sealed && below(cfg.Root, a.Path)
	if slices.ContainsFunc(cfg.ReadWrite, func(dir string) bool { return below(dir, a.Path) && (!sealed || below(cfg.Root, dir)) }) {
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
	g.wanted = append(g.wanted, a.Path)
	if opens && g.make(a.Path) {
		cfg.ReadWrite = append(cfg.ReadWrite, a.Path)
		return
	}
	// Without mounts all that the directory holds is open to every program of the call.
	if cfg.Minimum < sandbox.L3 && (a.Guess || mixed(needs)) {
		return
	}
	dir := filepath.Dir(a.Path)
	for !exists(dir) {
		dir = filepath.Dir(dir)
	}
	cfg.ReadWrite = append(cfg.ReadWrite, dir)
	entries, err := os.ReadDir(dir)
	if err != nil || g.opened[dir] != nil {
		return
	}
	if g.opened == nil {
		g.opened = map[string][]string{}
	}
	g.opened[dir] = []string{""}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		g.opened[dir] = append(g.opened[dir], path)
		if cfg.Minimum >= sandbox.L3 && len(entries) <= maxClosed && e.Type()&fs.ModeSymlink == 0 && !g.wants(path) && !slices.Contains(cfg.ReadWrite, path) {
			cfg.ReadOnly = append(cfg.ReadOnly, path)
		}
	}
}

func (g *grants) wants(path string) bool {
	return slices.ContainsFunc(g.wanted, func(w string) bool { return w == path || below(path, w) })
}

func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
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
	if g.made == nil {
		g.made = map[string]time.Time{}
	}
	g.made[path] = i.ModTime()
	return true
}

// undo takes away what nobody has used, and lists what the command has made in the
// directories that were opened for something else.
func (g *grants) undo() (appeared []string) {
	for path, at := range g.made {
		if i, err := os.Lstat(path); err == nil && i.Mode().IsRegular() && i.Size() == 0 && i.ModTime().Equal(at) {
			_ = os.Remove(path)
		}
	}
	g.made = nil
	for dir, before := range g.opened {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if path := filepath.Join(dir, e.Name()); !slices.Contains(before, path) && !g.wants(path) {
				appeared = append(appeared, path)
			}
		}
	}
	return appeared
}
