package wall

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// outside finds what a command may read outside the root, and what of it is hidden.
// It may run beside the rest of a compilation, in a Wall of its own.
func (w *Wall) outside() {
	dirs, files, home, all := w.o.Policy.Outside()
	if w.Everything = all; all {
		home = w.o.Policy.Home()
	}
	var links safefile.Links
	for _, dir := range dirs {
		if real, _, err := links.Resolve(dir); err == nil {
			w.Readable = append(w.Readable, real)
		}
	}
	for _, file := range files {
		// A rule that names a directory says nothing of what it holds, and what the
		// kernel opens is the directory with all of that.
		if real, i, err := links.Resolve(file); err == nil && !i.IsDir() {
			w.Readable = append(w.Readable, real)
		}
	}
	if top := w.o.Policy.Enclosing(); top != "" {
		w.enclosingTree(top)
	}
	if home != "" && home != "/" {
		entries, err := os.ReadDir(home)
		if err != nil && !os.IsNotExist(err) {
			w.Beyond = append(w.Beyond, home+": "+err.Error())
		}
		var linked []string
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".") {
				if to := w.dotEntry(filepath.Join(home, e.Name()), &links); to != "" && e.Type() == os.ModeSymlink {
					linked = append(linked, to)
				}
			}
		}
		w.homeSecrets(home, linked)
	}
	w.installedSecrets()
	w.Readable = outermost(w.Readable)
	dirs, files = w.o.Policy.Writable()
	for _, path := range dirs {
		w.writable(path, true)
	}
	for _, path := range files {
		w.writable(path, false)
	}
	w.places()
}

// writable opens what a rule lets a command write. What a link leads to is another
// place, which the rule does not name, and so is what a directory holds, unless the
// rule names the tree.
func (w *Wall) writable(path string, tree bool) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || real != path || safefile.Below(path, w.o.Root) {
		return
	}
	if i, err := os.Lstat(path); err == nil && (tree || !i.IsDir()) {
		w.Writable = append(w.Writable, path)
	}
}

// dotEntry opens one of the home's dot entries, and what it leads to. It returns the
// directory that was opened; "" for none.
func (w *Wall) dotEntry(path string, links *safefile.Links) (dir string) {
	real, i, err := links.Resolve(path)
	if err != nil {
		return ""
	}
	a := policy.Access{Kind: policy.Read, Tool: "bash", Path: real, Named: path, File: fileType(i.Mode())}
	if w.o.Policy.Decide(&a).Verdict == policy.Allow && !safefile.Below(real, w.o.Root) && !slices.Contains(w.Readable, real) {
		w.Readable = append(w.Readable, real)
		if i.IsDir() {
			return real
		}
	}
	return ""
}

// enclosingTree opens the work tree that the root is a part of, but for its secrets.
func (w *Wall) enclosingTree(top string) {
	passed := func(dir string) bool { return dir == w.o.Root }
	t := w.o.walk(&walker{notable: w.o.Policy.Notable, passed: passed}, top, top+"\x00"+w.o.Root)
	hits := slices.DeleteFunc(t.hits(), func(path string) bool {
		name := filepath.Base(path)
		return name == ".git" || name == "HEAD" || safefile.BelowGit(path) || safefile.Below(w.o.Root, path)
	})
	if w.o.Committed != nil {
		w.o.Committed(hits)
	}
	for _, path := range hits {
		if i, err := os.Lstat(path); err == nil && !w.o.Policy.MayRead(path, fileType(i.Mode())) {
			w.hide(path)
		}
	}
	if w.Beyond = append(w.Beyond, t.beyond...); len(t.beyond) == 0 { // else what is secret there is not known
		w.Readable = append(w.Readable, top)
	}
}
