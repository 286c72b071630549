package wall

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// maxNoted bounds what is noted of one directory that is hidden as a whole, and what of one in .git is
// looked at for other names.
const maxNoted = 1000

// note has what is hidden in the root remembered: a directory above it may be moved to
// where its name says nothing, such as node_modules.
func (w *Wall) note() {
	if w.o.Moved == nil {
		return
	}
	var list []string
	for _, path := range w.Hidden {
		if !safefile.Below(w.o.Root, path) {
			continue
		}
		n := len(list)
		_ = filepath.WalkDir(path, func(path string, _ fs.DirEntry, _ error) error {
			if list = append(list, path); len(list) > n+maxNoted {
				return fs.SkipAll
			}
			return nil
		})
	}
	w.o.Moved.Secrets(list)
}

// aliases finds the other names in the root of files that are hidden or fixed, and have
// several: a hard link is the file itself.
func (w *Wall) aliases() {
	type closed struct {
		hidden, fixed bool
		name          string // the one that was found first
	}
	wanted, names := map[[2]uint64]closed{}, map[string]bool{}
	missing := uint64(0)
	look := func(list []string, hidden bool) {
		for _, top := range list {
			if !safefile.Below(w.o.Root, top) {
				continue
			}
			seen, most := 0, maxEach
			if safefile.InGit(top) { // what it keeps of large files may be thousands, all its own
				most = maxNoted
			}
			_ = filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error { // also what is closed with its directory
				if seen++; seen > most {
					if most == maxEach {
						w.Beyond = append(w.Beyond, top+tooMany)
					}
					return fs.SkipAll
				}
				if err != nil || !e.Type().IsRegular() {
					return nil
				}
				if n, id := links(path); n > 1 {
					c, known := wanted[id]
					if !known {
						missing += n
					}
					wanted[id] = closed{c.hidden || hidden, c.fixed || !hidden, cmp.Or(c.name, path)}
					names[path] = true
				}
				return nil
			})
		}
	}
	look(w.Hidden, true)
	look(w.Fixed, false)
	if missing -= min(missing, uint64(len(names))); missing == 0 {
		return
	}
	for _, d := range w.tree.list {
		dir := d.path
		if missing == 0 {
			return
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if !e.Type().IsRegular() || names[path] {
				continue
			}
			if n, id := links(path); n > 1 {
				c, ok := wanted[id]
				if c.hidden {
					w.Hidden, w.others[path] = append(w.Hidden, path), c.name
				}
				if c.fixed {
					w.Fixed = append(w.Fixed, path)
				}
				if ok {
					names[path] = true
					missing--
				}
			}
		}
	}
}

// recall hides what was hidden once for another name of it, a link or a hard link, which a command may have taken
// away since; and then finds such names, and has them remembered. What git has by now, or a rule allows to be read, is open.
func (w *Wall) recall() {
	w.Recalled = map[string]string{}
	file := ""
	if w.o.Cache != "" {
		file = cacheFile(w.o.Cache, w.o.Root+"\x00others\x00"+w.o.Policy.Hash())
		data, _ := os.ReadFile(file)
		for line := range strings.SplitSeq(strings.TrimSuffix(string(data), "\x00\x00"), "\x00\x00") {
			if path, name, ok := strings.Cut(line, "\x00"); ok {
				w.Recalled[path] = name
			}
		}
	}
	for path := range w.Recalled {
		if w.recalls(path) && !below(path, w.Hidden) && (w.o.Committed == nil || !w.o.Committed([]string{path})[path]) {
			w.Hidden = append(w.Hidden, path)
		}
	}
	w.aliases()
	var more strings.Builder
	for path, name := range w.others {
		if _, known := w.Recalled[path]; !known && len(w.Recalled) < maxNoted && w.recalls(path) {
			w.Recalled[path] = name
			more.WriteString(path + "\x00" + name + "\x00\x00")
		}
	}
	if file != "" && more.Len() > 0 { // what cannot be written is noted again while it has the name
		_ = appendTo(file, more.String())
	}
}

// appendTo adds text to a file, and makes it where there is none.
func appendTo(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// recalls reports whether a path is that of a file in the root about which no rule speaks.
func (w *Wall) recalls(path string) bool {
	i, err := os.Lstat(path)
	if err != nil || !i.Mode().IsRegular() || !safefile.Below(w.o.Root, path) {
		return false
	}
	d := w.o.Policy.Decide(&policy.Access{Kind: policy.Read, Tool: "bash", Path: path, File: policy.Regular})
	return d.Verdict == policy.Allow && d.Default
}

// doors opens the directories below a root that a command has shut, and shuts them
// again: what it made there must not stay unseen.
type doors struct {
	root string
	held map[fileID]bool // those that nobody can have changed, which stay shut

	mu    sync.Mutex
	again []func()
}

func (d *doors) open(dir string) (*os.File, error) {
	if d.held[idOf(dir)] {
		return nil, errShut
	}
	rel, err := filepath.Rel(d.root, dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(d.root) // a link that has taken its place leads nowhere else
	if err != nil {
		return nil, err
	}
	defer root.Close()
	i, err := root.Lstat(rel)
	if err != nil || !i.IsDir() {
		return nil, errShut
	}
	if err := root.Chmod(rel, i.Mode().Perm()|0o700); err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.again = append(d.again, func() {
		if root, err := os.OpenRoot(d.root); err == nil {
			_ = root.Chmod(rel, i.Mode().Perm())
			_ = root.Close()
		}
	})
	d.mu.Unlock()
	return root.Open(rel)
}

func (d *doors) close() {
	for _, shut := range slices.Backward(d.again) {
		shut()
	}
}
