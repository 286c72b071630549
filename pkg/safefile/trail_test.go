package safefile_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
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

// TestFollow: what is missing or cannot be looked at goes on by its text, and what leads in a circle leads nowhere.
func TestFollow(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(top, name) }
	for _, dir := range []string{"real/deep", "shut/in"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	links := map[string]string{"dir": at("real"), "real/up": "..", "loose": "none/../dir/x", "shut/out": "../real", "into": "shut/out/x/../../in", "a": "b", "b": "a", "l0": "file"}
	chain := "l0"
	for n := range 40 {
		before, name := "l"+strconv.Itoa(n), "l"+strconv.Itoa(n+1)
		if links[name] = before; n < 39 {
			chain = name + " " + chain
		}
	}
	for name, to := range links {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(at("shut"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(at("shut"), 0o700) })
	for _, test := range []struct {
		dir, name, real, links string
		fails                  bool
	}{
		{"", top + "/plain", "plain", "", false},
		{"real", "deep/./../up//dir/", "real", "real/up dir", false},
		{"real", at("dir/deep"), "real/deep", "dir", false},
		{"", "none/of/../it", "none/it", "", false},
		{"", "none/../dir/none", "real/none", "dir", false},
		{"", "loose", "real/x", "loose dir", false},
		{"", "loose/../up", "", "loose dir real/up", false},
		{"", "file/x/../../dir", "real", "dir", true},
		{"", "a", "-", "", true},
		{"", "l39", "file", chain, false},
		{"", "l40", "-", "", true},
		{"", "into", "shut/in", "into", true},
		{"", "shut/in/../../dir", "real", "dir", true},
	} {
		if strings.Contains(test.name+test.real, "shut") && os.Geteuid() == 0 {
			continue // who may do anything may look
		}
		links, real, err := safefile.Follow(at(test.dir), test.name)
		want := at(test.real)
		if test.real == "-" {
			want = ""
		}
		for i := range links {
			links[i], _ = safefile.Rel(top, links[i])
		}
		if real != want || (err != nil) != test.fails || want != "" && strings.Join(links, " ") != test.links {
			t.Errorf("%s in %q: have %q by %q, %v", test.name, test.dir, real, links, err)
		}
	}
}
