package overlay

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/agentkit-go/agentkit/pkg/change"
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

// TestOpenSeen: of the root only the file is read that was seen there, whatever somebody has
// put in its place or on the way to it since, and no pipe is waited for.
func TestOpenSeen(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(top, name) }
	all := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	all(os.Mkdir(at("d"), 0o755), os.Mkdir(at("secrets"), 0o755), os.WriteFile(at("secrets/f"), []byte("secret"), 0o600))
	for what, replace := range map[string]func() error{
		"nothing":   func() error { return nil },
		"a link":    func() error { return errors.Join(os.Remove(at("d/f")), os.Symlink(at("secrets/f"), at("d/f"))) },
		"a pipe":    func() error { return errors.Join(os.Remove(at("d/f")), unix.Mkfifo(at("d/f"), 0o600)) },
		"a file":    func() error { return os.Rename(at("other"), at("d/f")) },
		"no file":   func() error { return os.Remove(at("d/f")) },
		"the way":   func() error { return errors.Join(os.RemoveAll(at("d")), os.Symlink("secrets", at("d"))) },
		"directory": func() error { return errors.Join(os.Remove(at("d/f")), os.Mkdir(at("d/f"), 0o755)) },
	} {
		all(os.RemoveAll(at("d")), os.Mkdir(at("d"), 0o755), os.WriteFile(at("d/f"), []byte("text"), 0o600), os.WriteFile(at("other"), nil, 0o600))
		was, err := statReal(at("d/f"))
		if err != nil || was.Kind != change.Regular {
			t.Fatalf("%+v, %v", was, err)
		}
		all(replace())
		f, err := openSeen(at("d/f"), was)
		if err == nil {
			_ = f.Close()
		}
		if moved := errors.Is(err, errMoved); moved != (what != "nothing") || err != nil && !moved {
			t.Errorf("%s in its place: %v", what, err)
		}
		if now, err := statReal(at("d/f")); err != nil || what == "the way" && now.Kind != change.Missing {
			t.Errorf("%s: it is %+v, %v", what, now, err)
		}
	}
	if _, err := readReal(at("secrets")); err != nil {
		t.Error(err)
	}
	all(os.Symlink("secrets", at("link")))
	if list, err := readReal(at("link")); err == nil {
		t.Errorf("what a link leads to is listed: %v", list)
	}
}
