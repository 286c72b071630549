package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// Remove removes a file or an empty directory. Of a Path that Resolve
// returned it removes what links lead to; of one that ResolveEntry returned,
// the link itself. The caller holds the lock.
func (w *Workspace) Remove(p Path) error {
	if err := w.movable(p, "removing"); err != nil {
		return err
	}
	d, name, err := w.entry(p)
	if err == nil {
		defer d.close()
		err = d.remove(name, p.Type == policy.Dir)
	}
	if err == nil {
		err = d.sync()
	}
	if err != nil {
		return fmt.Errorf("removing %s: %w", quote(p.Given), err)
	}
	return nil
}

// Rename moves a file or a directory to a name where nothing is yet: it fails
// with fs.ErrExist when something is. Links are treated as Remove treats
// them. The caller holds the locks.
func (w *Workspace) Rename(from, to Path) error {
	if err := errors.Join(w.movable(from, "renaming"), w.movable(to, "renaming to")); err != nil {
		return err
	}
	if err := w.rename(from, to); err != nil {
		return fmt.Errorf("renaming %s to %s: %w", quote(from.Given), quote(to.Given), err)
	}
	return nil
}

func (w *Workspace) rename(from, to Path) error {
	src, old, err := w.entry(from)
	if err != nil {
		return err
	}
	defer src.close()
	dst, name, err := w.entry(to)
	if err != nil {
		return err
	}
	defer dst.close()
	if err := src.rename(old, dst, name, true); err != nil {
		return err
	}
	return errors.Join(dst.sync(), src.sync())
}

// Mkdir makes a directory, 0777 minus umask, and those above it that are
// missing. It returns the ones it made, outermost first; none when the
// directory exists.
func (w *Workspace) Mkdir(p Path) (made []string, err error) {
	if err := p.usable("making"); err != nil {
		return nil, err
	}
	if made, err = w.makeDirs(p.Real); err != nil {
		return made, fmt.Errorf("making %s: %w", quote(p.Given), err)
	}
	return made, nil
}

// Symlink makes a symbolic link where nothing is. The caller holds the lock.
func (w *Workspace) Symlink(p Path, target string) error {
	if err := p.usable("linking"); err != nil {
		return err
	}
	d, name, err := w.entry(p)
	if err == nil {
		defer d.close()
		err = d.symlink(target, name)
	}
	if err == nil {
		err = d.sync()
	}
	if err != nil {
		return fmt.Errorf("linking %s: %w", quote(p.Given), err)
	}
	return nil
}

// Chmod sets the permission bits of a file or directory, also of one that cannot be opened,
// and never of what a link leads to. The caller holds the lock.
func (w *Workspace) Chmod(p Path, mode fs.FileMode) error {
	if err := p.usable("changing the mode of"); err != nil {
		return err
	}
	d, name, err := w.entry(p)
	if err == nil {
		defer d.close()
		err = d.chmod(name, mode)
	}
	if err != nil {
		return fmt.Errorf("changing the mode of %s: %w", quote(p.Given), err)
	}
	return nil
}

func (w *Workspace) movable(p Path, doing string) error {
	if err := p.usable(doing); err != nil {
		return err
	}
	if _, holdsRoot := safefile.Rel(p.Real, w.root); holdsRoot {
		return fmt.Errorf("%s %s: %w", doing, quote(p.Given), ErrRoot)
	}
	return nil
}

// entry opens the directory that holds p.
func (w *Workspace) entry(p Path) (d dir, name string, err error) {
	parent, name := dirOf(p.Real)
	d, err = w.openDir(parent)
	return d, name, err
}

// makeDirs makes the directory abs and those above it that are missing.
func (w *Workspace) makeDirs(abs string) (made []string, err error) {
	var missing []string
	at := abs
	d, err := w.openDir(at)
	for errors.Is(err, fs.ErrNotExist) && at != w.root {
		parent, name := dirOf(at)
		if parent == at {
			break
		}
		missing, at = append(missing, name), parent
		d, err = w.openDir(at)
	}
	if err != nil {
		return nil, err
	}
	defer func() { d.close() }()
	for _, name := range slices.Backward(missing) {
		err := d.mkdir(name)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return made, err
		}
		if err == nil {
			made = append(made, join(d.path, name))
			if err := d.sync(); err != nil {
				return made, err
			}
		}
		next, err := d.openDir(name)
		if err != nil {
			return made, err
		}
		d.close()
		d = next
	}
	return made, nil
}
