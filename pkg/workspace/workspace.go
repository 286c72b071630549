// Package workspace finds, opens and changes files so that no path leaves the
// root unseen and no change is ever half done.
//
// The rules:
//   - A name is resolved once, to a [Path]. It says where the file really is
//     and whether that is beneath the root; a policy decides on it.
//   - A file is opened by the resolved Path only, never by the name again, and
//     with no symbolic link allowed at any component. Where something was
//     swapped for a link in between, the operation fails with [ErrMoved].
//   - A write leaves the old file or the new one, whatever happens, and keeps
//     what it can of mode, owner and extended attributes.
//   - A [Lock] holds a file against other processes, and dies with its holder.
package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// The errors that a caller may want to tell apart. Those of the operating
// system (fs.ErrNotExist, fs.ErrPermission, no space …) are wrapped as they are.
var (
	ErrName       = errors.New("not a usable path")
	ErrLoop       = errors.New("too many symbolic links")
	ErrNotDir     = errors.New("not a directory")
	ErrIsDir      = errors.New("is a directory")
	ErrNotRegular = errors.New("not a regular file")
	ErrReadOnly   = errors.New("the file is read-only")
	ErrTooLarge   = errors.New("the file is too large")
	ErrMoved      = errors.New("the path changed after it was checked")
	ErrRoot       = errors.New("the root itself cannot be removed or moved")
)

// Options say what Open cannot find out by itself. The zero value is usable.
type Options struct {
	Cwd  string // what a relative dir is relative to; "" refuses a relative dir
	Home string // what "~" stands for; "" refuses names that begin with it
	Temp string // the directory for temporary files, see Path.Temp; "" for none

	// LockDir is the directory for lock files, made when first needed. It
	// must be the same for all processes that share the files. When it is
	// empty, a lock holds within this Workspace only.
	LockDir string
}

// A Workspace is a root directory and the way to the files beneath and outside
// it. It may be used by several goroutines at once.
type Workspace struct {
	root    string      // absolute and real
	info    fs.FileInfo // of root when it was opened
	home    string
	temp    string // real; "" for none
	lockDir string
	base    rootHandle // the root directory, held open

	mu    sync.Mutex
	local map[string]chan struct{} // the keys that are locked; closed on release
}

// Open returns the Workspace whose root is dir, which may itself be reached
// through symbolic links. It fails when dir is missing or not a directory.
func Open(dir string, o Options) (*Workspace, error) {
	if dir == "" || strings.ContainsRune(dir, 0) {
		return nil, fmt.Errorf("opening the root %q: %w", dir, ErrName)
	}
	if !filepath.IsAbs(dir) {
		if !filepath.IsAbs(o.Cwd) {
			return nil, fmt.Errorf("opening the root %q: %w: it is relative and no directory to start from is known", dir, ErrName)
		}
		dir = o.Cwd + string(filepath.Separator) + dir // not Join: ".." after a link goes where the kernel goes
	}
	if err := checkOptions(o); err != nil {
		return nil, err
	}
	abs, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the root %q: %w", dir, err)
	}
	w := &Workspace{root: filepath.Clean(abs), home: o.Home, lockDir: o.LockDir}
	if o.Temp != "" {
		if w.temp, err = filepath.EvalSymlinks(o.Temp); err != nil {
			w.temp = filepath.Clean(o.Temp) // not there yet
		}
	}
	if w.base, err = openRoot(w.root); err != nil {
		return nil, fmt.Errorf("opening the root %q: %w", dir, err)
	}
	if w.info, err = os.Lstat(w.root); err != nil {
		w.base.close()
		return nil, fmt.Errorf("opening the root %q: %w", dir, err)
	}
	return w, nil
}

func checkOptions(o Options) error {
	for _, f := range []struct{ name, dir string }{{"home", o.Home}, {"temporary", o.Temp}, {"lock", o.LockDir}} {
		if f.dir != "" && !filepath.IsAbs(f.dir) {
			return fmt.Errorf("opening the root: the %s directory %q: %w: it must be absolute", f.name, f.dir, ErrName)
		}
	}
	return nil
}

// Root returns the root: absolute, with every symbolic link resolved.
func (w *Workspace) Root() string { return w.root }

// Close gives the handle on the root back. The Workspace must not be used
// afterwards; locks that are held stay held.
func (w *Workspace) Close() { w.base.close() }

// join appends one component to a clean absolute path.
func join(dir, name string) string {
	if os.IsPathSeparator(dir[len(dir)-1]) {
		return dir + name
	}
	return dir + string(filepath.Separator) + name
}

// dirOf splits a clean absolute path into its directory and its last name.
func dirOf(abs string) (parent, name string) {
	return filepath.Dir(abs), filepath.Base(abs)
}
