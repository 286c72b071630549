package overlay

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOpenDir: a directory is found by its own names, and not by a link on the way.
func TestOpenDir(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(top, name) }
	for _, err := range []error{os.MkdirAll(at("a/b"), 0o755), os.Symlink("a", at("link"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, open := range map[string]func(string) (int, error){"at once": openDir, "each": openEach} {
		for dir, there := range map[string]bool{"a/b": true, "a": true, "link/b": false, "link": false, "none": false} {
			fd, err := open(at(dir))
			if err == nil {
				_ = unix.Close(fd)
			}
			if (err == nil) != there {
				t.Errorf("%s: %s: %v", name, dir, err)
			}
		}
	}
}
