package loss

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestWithin: of sorted paths those are found that are a path or lie below it, whatever stands between them.
func TestWithin(t *testing.T) {
	slash := filepath.FromSlash
	paths := []string{"/r/a", "/r/a-b", "/r/a.go", "/r/a/b", "/r/a/c/d", "/r/a0", "/r/b"}
	for i := range paths {
		paths[i] = slash(paths[i])
	}
	slices.Sort(paths)
	for path, want := range map[string][]string{
		"/r/a":   {"/r/a", "/r/a/b", "/r/a/c/d"},
		"/r/a/c": {"/r/a/c/d"},
		"/r/a-b": {"/r/a-b"},
		"/r/b":   {"/r/b"},
		"/r/c":   nil,
	} {
		for i := range want {
			want[i] = slash(want[i])
		}
		if got := within(paths, slash(path)); !slices.Equal(got, want) {
			t.Errorf("within %s: %q, want %q", path, got, want)
		}
	}
}
