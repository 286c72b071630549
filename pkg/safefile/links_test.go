package safefile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// TestLinks compares with the standard library, path after path in one resolver.
func TestLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, made := range []error{
		os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700),
		os.WriteFile(filepath.Join(dir, "a", "b", "file"), nil, 0o600),
		os.Symlink("a", filepath.Join(dir, "link")),
		os.Symlink(filepath.Join(dir, "link", "b"), filepath.Join(dir, "a", "far")),
		os.Symlink("round", filepath.Join(dir, "round")),
		os.Symlink("nothing", filepath.Join(dir, "broken")),
	} {
		if made != nil {
			t.Skip("no symbolic links here:", made)
		}
	}
	names := []string{
		"", "a", "a/b/file", "a/b", "link", "link/b/file", "link/b", "link/far/file", "a/far", "a/far/file", "round", "round/x", "broken", "missing", "missing/x",
		"a/b/file/below", "link/../a/b", "a/far/../b", "a//b/", "link/b/file", "/",
		"A/b", "A/B/FILE", "LINK/b", "a/FILE", "a/ﬁle", "ſtill", "Still",
	}
	for _, listed := range [][]string{nil, {""}, {"a", "link/b", "broken", "round", "a/b/file"}, {"", "a", "a/b", "missing"}} {
		var links safefile.Links
		for _, name := range listed {
			links.List(filepath.Join(dir, name))
		}
		for _, name := range names {
			path := name
			if name != "/" {
				path = dir + string(filepath.Separator) + filepath.FromSlash(name)
			}
			want, wantErr := filepath.EvalSymlinks(path)
			got, info, err := links.Resolve(path)
			if got != want || (err == nil) != (wantErr == nil) {
				t.Errorf("Resolve(%q) = %q, %v; EvalSymlinks says %q, %v", name, got, err, want, wantErr)
			}
			if _, lost := os.Lstat(path); filepath.Clean(path) == path && links.There(path) != (lost == nil) {
				t.Errorf("There(%q) says %v, os.Lstat %v", name, links.There(path), lost)
			}
			if err != nil {
				continue
			}
			if real, err := os.Lstat(want); err != nil || !os.SameFile(info, real) {
				t.Errorf("Resolve(%q) describes another file than %q", name, want)
			}
		}
	}
}
