package safefile

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLook: names of several directories, one after the other, are what Lstat says.
func TestLook(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{"a/b", "c"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for rel, text := range map[string]string{"one": "1", "a/two": "22", "a/b/three": "333", "c/four": "4444"} {
		if err := os.WriteFile(filepath.Join(top, rel), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l := NewLooker(top)
	defer l.Close()
	for _, rel := range []string{"one", "a/two", "a/none", "a/b/three", "a/b", "none/five", "c/four", "one/in", "one"} {
		info, err := os.Lstat(filepath.Join(top, rel))
		seen, bad := l.Look(rel)
		if (err == nil) != (bad == nil) || err == nil && seen != (Look{}) && (seen.Size != info.Size() || seen.MTime != info.ModTime().UnixNano()) {
			t.Errorf("%s: %v %v, Lstat says %v %v", rel, seen, bad, info, err)
		}
	}
}
