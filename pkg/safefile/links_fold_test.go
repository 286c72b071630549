package safefile

import "testing"

// TestFoldName: what a file system may take for a plain name is not taken for missing.
func TestFoldName(t *testing.T) {
	for _, name := range []string{".ssh", ".SSH", ".Ssh", ".s\u017fh", ".ss\u200dh", ".ssh\u200c"} {
		if got := foldName(name); got != ".ssh" {
			t.Errorf("foldName(%q) = %q", name, got)
		}
	}
	if foldName(".\u212aube") != ".kube" {
		t.Error("the sign for kelvin is a k to some")
	}
}
