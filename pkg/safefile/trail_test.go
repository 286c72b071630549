package safefile_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

func TestTrail(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(top, name) }
	if err := os.MkdirAll(at("real/deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"real/file": "../to", "dir": at("real"), "real/deep/up": "..", "to": "dir/there", "self": "self", "loose": "nowhere/x",
	} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string][]string{
		"plain":                {"plain"},
		"none/of/it":           {"none/of/it"},
		"dir/deep":             {"dir", "real/deep"},
		"dir/deep/up/file":     {"dir", "real/deep/up", "real/file", "to", "dir", "real/there"},
		"real/deep/up/none/x":  {"real/deep/up", "real/none/x"},
		"loose":                {"loose", "nowhere/x"},
		"loose/more":           {"loose", "nowhere/x/more"},
		"dir/deep/../file":     {"dir", "real/file", "to", "dir", "real/there"},
		"real/deep/up/../dir/": {"real/deep/up", "dir", "real"},
	} {
		got := safefile.Trail(top + "/" + path)
		for i := range want {
			want[i] = at(want[i])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: have %v, want %v", path, got, want)
		}
	}
	if got := safefile.Trail(at("self")); got[len(got)-1] != at("self") {
		t.Errorf("a link to itself: have %v", got)
	}
}
