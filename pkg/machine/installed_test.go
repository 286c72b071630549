package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestInstalled compares with LookPath, in directories small and large, twice, by
// links and missing.
func TestInstalled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs have other names there, and are looked for by LookPath itself")
	}
	dir := t.TempDir()
	file := func(name string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	file("small/plain", 0o600)
	file("small/first", 0o700)
	file("rel/relative", 0o700)
	file("blind/inside", 0o700)
	file("large/plain", 0o700)
	for n := range 600 {
		file(fmt.Sprintf("large/and-a-long-name-%d", n), 0o600)
	}
	for link, to := range map[string]string{"again": "large", "small/link": "../large/plain", "small/broken": "nothing", "small/dir": "../rel"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "blind"), 0o100); err != nil { // it can be entered, not listed
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "blind"), 0o700) }) //nolint:gosec // else an ordinary user cannot remove it
	path := strings.Join([]string{dir + "/missing", dir + "/small/first", dir + "/small", "rel", dir + "/blind", "", dir + "/large", dir + "/again"}, ":")
	names := []string{"plain", "first", "relative", "inside", "link", "broken", "dir", "none", "and-a-long-name-1"}
	found := Installed(names, path, dir)
	there := 0
	for _, name := range names {
		_, want := LookPath(name, path, dir)
		if found[name] != want {
			t.Errorf("%s: %v, LookPath says %v", name, found[name], want)
		}
		if want {
			there++
		}
	}
	if there != 5 {
		t.Errorf("%d of the programs are found, not 5", there)
	}
}
