package workspace

import (
	"fmt"
	"path/filepath"
)

// Readlink returns the text of the symbolic link called name in the directory
// dir, for showing: nothing is opened by it.
func (w *Workspace) Readlink(dir Path, name string) (string, error) {
	if err := dir.usable("reading a link in"); err != nil {
		return "", err
	}
	d, err := w.openDir(dir.Real)
	if err != nil {
		return "", fmt.Errorf("reading a link in %s: %w", quote(dir.Given), err)
	}
	defer d.close()
	return d.readlink(filepath.Base(name))
}
