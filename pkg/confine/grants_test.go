package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// TestOpensNoMore: where a directory is opened for a new one in it, all else there is
// closed, links too; what holds more than can be closed stays shut.
func TestOpensNoMore(t *testing.T) {
	dir := t.TempDir()
	for i := range 600 {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("elsewhere", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	made := policy.Access{Kind: policy.Write, Path: filepath.Join(dir, "new"), File: policy.Missing, Op: policy.Create, Tree: true}
	grant := func() (sandbox.Config, *grants) {
		cfg, g := sandbox.Config{Root: t.TempDir(), Minimum: sandbox.L3}, &grants{}
		g.grant(&cfg, &made, nil)
		g.open(&cfg)
		return cfg, g
	}

	cfg, g := grant()
	if !slices.Equal(cfg.ReadWrite, []string{dir}) || g.shutAbove(made.Path) != "" {
		t.Errorf("opened: %q, shut: %q", cfg.ReadWrite, g.shut)
	}
	for _, name := range []string{"0", "599", "link"} {
		if !slices.Contains(cfg.ReadOnly, filepath.Join(dir, name)) {
			t.Errorf("%s is not closed", name)
		}
	}

	for i := range maxClosed {
		if err := os.WriteFile(filepath.Join(dir, "more"+strconv.Itoa(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if cfg, g = grant(); len(cfg.ReadWrite) != 0 || g.shutAbove(made.Path) != dir {
		t.Errorf("of a directory with too much in it, opened: %q, shut: %q", cfg.ReadWrite, g.shut)
	}

	// It stays shut where the directory above is opened.
	beside := made
	beside.Path = filepath.Join(filepath.Dir(dir), "new")
	cfg, g = sandbox.Config{Root: t.TempDir(), Minimum: sandbox.L3}, &grants{}
	g.grant(&cfg, &beside, nil)
	g.grant(&cfg, &made, nil)
	g.open(&cfg)
	if !slices.Contains(cfg.ReadWrite, filepath.Dir(dir)) || !slices.Contains(cfg.ReadOnly, dir) {
		t.Errorf("above a directory with too much in it, opened: %q, closed: %q", cfg.ReadWrite, cfg.ReadOnly)
	}
}

// TestOpensAround: what a call was given deeper in a directory that is opened stays open,
// with all else beside it closed, and what holds it cannot be moved away.
func TestOpensAround(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"cache/pip", "cache/other", "notes", "proj/src"} {
		if err := os.MkdirAll(filepath.Join(home, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"notes/old", "plain"} {
		if err := os.WriteFile(filepath.Join(home, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(names ...string) (list []string) {
		for _, n := range names {
			list = append(list, home+"/"+n)
		}
		return list
	}
	cfg, g := sandbox.Config{Root: filepath.Join(home, "proj"), Minimum: sandbox.L3, ReadWrite: at("cache/pip")}, &grants{}
	for _, a := range []policy.Access{
		{Path: filepath.Join(home, "new"), File: policy.Missing, Tree: true},
		{Path: filepath.Join(home, "notes", "new"), File: policy.Missing, Guess: true}, // made
	} {
		a.Kind, a.Op = policy.Write, policy.Create
		g.grant(&cfg, &a, nil)
	}
	g.open(&cfg)
	if want := append(at("cache/pip", "notes/new"), home); !slices.Equal(cfg.ReadWrite, want) {
		t.Errorf("opened: %q, want %q", cfg.ReadWrite, want)
	}
	if want := at("cache/other", "notes/old", "plain"); !slices.Equal(cfg.ReadOnly, want) {
		t.Errorf("closed: %q, want %q", cfg.ReadOnly, want)
	}
	if want := at("cache/.", "notes/."); !slices.Equal(cfg.Pinned, want) {
		t.Errorf("kept in its place: %q, want %q", cfg.Pinned, want)
	}
	for _, name := range []string{"new", "notes/planted", "cache/planted"} {
		if err := os.WriteFile(filepath.Join(home, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	appeared := g.undo()
	slices.Sort(appeared)
	if want := at("cache/planted", "notes/planted"); !slices.Equal(appeared, want) {
		t.Errorf("appeared: %q, want %q", appeared, want)
	}
}

// TestOpensToNoStranger: without mounts no directory is opened to a program that may start
// others; what the only one of a call is to fill is made for it.
func TestOpensToNoStranger(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		classes []policy.Class
		program string
		want    string
		isDir   bool
	}{
		"a known one":           {[]policy.Class{policy.Known}, "mkdir", dir, false},
		"an unknown one":        {[]policy.Class{policy.Unknown}, "npm", filepath.Join(dir, "new"), true},
		"an unknown one's file": {[]policy.Class{policy.Unknown}, "gcc", filepath.Join(dir, "new"), false},
		"one beside others":     {[]policy.Class{policy.Known, policy.Unknown}, "npm", "", false},
		"one beside known ones": {[]policy.Class{policy.Unknown, policy.Known, policy.ReadOnly}, "git", filepath.Join(dir, "new"), true},
		"one that is no filler": {[]policy.Class{policy.Unknown, policy.Known}, "gcc", "", false},
	} {
		needs := []policy.Access{}
		for _, class := range c.classes {
			needs = append(needs, policy.Access{Kind: policy.Exec, Program: "/usr/bin/" + c.program, Argv: []string{c.program}, Class: class})
		}
		a := policy.Access{Kind: policy.Write, Path: filepath.Join(dir, "new"), File: policy.Missing, Op: policy.Create, Parent: 1}
		needs = append(needs, a)
		cfg, g := sandbox.Config{Root: t.TempDir(), Minimum: sandbox.L2}, &grants{}
		g.grant(&cfg, &a, needs)
		g.open(&cfg)
		want := []string{}
		if c.want != "" {
			want = append(want, c.want)
		}
		if !slices.Equal(cfg.ReadWrite, want) {
			t.Errorf("%s: opened %q, want %q", name, cfg.ReadWrite, want)
		}
		if not := g.notMade(filepath.Join(a.Path, ".git")); not != (c.want == "") {
			t.Errorf("%s: it could not be made: %v", name, not)
		}
		if i, err := os.Lstat(a.Path); err == nil && i.IsDir() != c.isDir {
			t.Errorf("%s: it is a directory: %v", name, i.IsDir())
		}
		if g.undo(); safefile.Exists(a.Path) {
			t.Errorf("%s: what was made and not used is left", name)
		}
	}
}
