package shellparse

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// TestGitReads: what the index does not know yet is not overlooked. Which files of
// a tree git add leaves out, for they are ignored, is not this package's to say.
func TestGitReads(t *testing.T) {
	b := newBench(t)
	b.repo(t, "f", "src/b.go")
	must(t, os.WriteFile(b.root+"/.env", []byte("KEY=1\n"), 0o644))
	for text, want := range map[string]bool{
		"git grep --untracked KEY":             true,
		"git grep --untracked KEY -- src":      false,
		"git grep KEY":                         false,
		"git add -f .env":                      true,
		"git add -f .env && git diff --cached": true,
		"git add -A && git diff --cached":      true,
		"git add . && git show :f && git log":  true,
		"git add -A && git commit -qm x":       true,
		"git add src && git diff --cached":     false,
	} {
		found := false
		for _, a := range analyze(b, text).Accesses {
			found = found || a.Kind == policy.Read && (a.Path == b.root+"/.env" || a.Tree && a.Path == b.root)
		}
		if found != want {
			t.Errorf("%s: reads .env: %t", text, found)
		}
	}
	for _, text := range []string{"git update-index --add --cacheinfo 100644,abc,.envrc", "git update-index --index-info", "git update-index --stdin", "git read-tree x", "git commit-tree x"} {
		if len(analyze(b, text).Opaque) == 0 {
			t.Errorf("%s: not opaque", text)
		}
	}
}

// TestRepositoryShapes: what makes git run something, or reach a host, in
// repositories that an unpacked archive may bring, one kind each.
func TestRepositoryShapes(t *testing.T) {
	b := newBench(t)
	b.repo(t, "f")
	const core, fsmonitor = "[core]\n\tbare = false\n", "[core]\n\tfsmonitor = ./pwn\n"
	embedded := map[string]string{"sub/.git/HEAD": "ref: refs/heads/main\n", "sub/.git/refs/x": "", "sub/.git/objects/x": "", "sub/.git/config": fsmonitor}
	bare := map[string]string{"sub/HEAD": "ref: refs/heads/main\n", "sub/refs/x": "", "sub/objects/x": "", "sub/config": fsmonitor}
	submodule := map[string]string{".gitmodules": "[submodule \"s\"]\n\tpath = sub\n"}
	with := func(more ...map[string]string) map[string]string {
		all := map[string]string{".git/config": core}
		for _, m := range more {
			maps.Copy(all, m)
		}
		return all
	}
	config := func(text string) map[string]string { return map[string]string{".git/config": text} }
	for _, one := range []struct {
		why, call  string
		files      map[string]string
		understood bool
	}{
		{"plain", "git status", with(), true},
		{"fsmonitor", "git status", config(fsmonitor), false},
		{"a byte-order mark", "git status", config("\ufeff" + fsmonitor), false},
		{"a section on one line", "git status", config("[core] fsmonitor = ./pwn\n"), false},
		{"a value that goes on", "git status", config("[core]\n\tfsmonitor = \\\n./pwn\n"), false},
		{"a quoted value", "git status", config("[core]\n\tfsmonitor = \"./pwn\"\n"), false},
		{"a textconv", "git diff", config("[diff \"d\"]\n\ttextconv = ./pwn\n"), false},
		{"an old spelling of a subsection", "git diff", config("[diff.d]\n\ttextconv = ./pwn\n"), false},
		{"an included file", "git log", config("[include]\n\tpath = ../more\n"), false},
		{"an included file, under a condition", "git log", config("[includeIf \"gitdir:/\"]\n\tpath = ../more\n"), false},
		{"an embedded repository", "git -C sub status", with(embedded), false},
		{"an embedded repository, left alone", "git status", with(embedded), true},
		{"a bare repository", "git -C sub log", with(bare), false},
		{"a bare repository, left alone", "git log", with(bare), true},
		{"a gitfile that leads to another", "git -C d status", with(bare, map[string]string{"d/.git": "gitdir: ../sub\n"}), false},
		{"a submodule", "git status", with(embedded, submodule), false},
		{"a submodule, left alone", "git log -p", with(embedded, submodule), true},
		{"a submodule that the settings bring in", "git log -p", with(embedded, submodule, config("[diff]\n\tsubmodule = diff\n")), false},
		{"submodules that are looked into unasked", "git grep x", with(embedded, submodule, config("[submodule]\n\trecurse = true\n")), false},
		{"a clone that fetches what it misses", "git show", config("[remote \"o\"]\n\turl = h:x\n\tpromisor = true\n"), false},
		{"the same, by its filter", "git show", config("[remote \"o\"]\n\turl = h:x\n\tpartialclonefilter = blob:none\n"), false},
		{"the same, by its extension", "git show", config("[extensions]\n\tpartialClone = o\n"), false},
	} {
		must(t, os.RemoveAll(b.root+"/sub"))
		must(t, os.RemoveAll(b.root+"/d"))
		must(t, os.RemoveAll(b.root+"/.gitmodules"))
		for name, text := range one.files {
			must(t, os.MkdirAll(filepath.Dir(b.root+"/"+name), 0o755))
			must(t, os.WriteFile(b.root+"/"+name, []byte(text), 0o644))
		}
		if a := analyze(b, one.call); (len(a.Opaque) == 0) != one.understood {
			t.Errorf("%s: %s: opaque %q", one.why, one.call, a.Opaque)
		}
	}
}
