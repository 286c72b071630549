package main

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// withoutNamespaces starts what follows where no user namespaces are to be had and
// no capabilities either, as in most containers: the level there is L2.
var withoutNamespaces = []string{"unshare", "-Ur", "sh", "-c", `echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all "$@"`, "-"}

// sandboxLevels are the ways to start agentkit at each level that is to be had here.
func sandboxLevels(t *testing.T) map[string][]string {
	t.Helper()
	list := map[string][]string{}
	level := sandbox.Probe().Level
	if level >= sandbox.L3 {
		list["L3"] = nil
	}
	if level >= sandbox.L2 && exec.Command(withoutNamespaces[0], append(slices.Clone(withoutNamespaces[1:]), "true")...).Run() == nil {
		list["L2"] = withoutNamespaces
	}
	if len(list) == 0 {
		t.Skip("SKIPPED: no sandbox of level 2 here")
	}
	return list
}

// durableDir makes a directory that is none for temporary files: these can be
// written inside the sandbox.
func durableDir(t *testing.T) string {
	t.Helper()
	caches, err := os.UserCacheDir()
	if err == nil {
		err = os.MkdirAll(caches, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(caches, "agentkit-test-") //nolint:usetesting // t.TempDir is one for temporary files
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if slices.ContainsFunc(machine.TempDirs(os.Getenv), func(temp string) bool { return safefile.Below(temp, machine.RealDir(dir)) }) {
		t.Skip("SKIPPED: the home lies in a directory for temporary files")
	}
	return machine.RealDir(dir)
}

// cachesData can be written, though nothing of it is there before.
const cachesData = `.cache/go-build/x go/pkg/mod/x go/pkg/sumdb/x .npm/_cacache/x .npm/_logs/x .cache/pip/x .cargo/registry/x .cargo/git/x
.gradle/caches/x .m2/repository/x .cache/deno/x .local/share/pnpm/store/x .cabal/packages/x .cache/ccache/x moved/mod/x`

// cachesPrograms are what the next command outside would run, or be told by.
const cachesPrograms = `go/bin/x go/x .cargo/bin/x .cargo/config.toml .cargo/env .npm/_npx/x .npmrc .cache/pre-commit/x .cache/node/corepack/x .cache/p10k-instant-prompt-u.zsh
.deno/bin/x .local/share/pnpm/x .cabal/bin/x .cabal/config .gradle/init.d/x .gradle/gradle.properties .gradle/wrapper/dists/x .m2/settings.xml .m2/extensions.xml
.bun/bin/x .sbt/1.0/plugins/x .stack/programs/x .stack/config.yaml .mix/escripts/x .nuget/plugins/x .yarn/bin/x .cache/pypoetry/virtualenvs/x .cache/ccache/ccache.conf
.config/go/env moved/bin/x .local/bin/x linked/x`

// TestCaches: commands may write where tools keep data, in a home that has nothing
// of it yet and in one that has, and nowhere beside it.
func TestCaches(t *testing.T) {
	base := durableDir(t)
	write := func(name, text string, mode os.FileMode) {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range []string{"go", "npm", "python3", "cargo", "gradle", "mvn", "deno", "pnpm", "cabal", "ccache"} {
		write("bin/"+program, "#!/bin/sh\n", 0o700)
	}
	const tries = `use File::Basename; use File::Path; open(L, "<", "list"); @l = split(" ", join("", <L>)); chdir $ENV{HOME};
for $f (@l) { eval { File::Path::make_path(dirname($f)) }; if (-e $f) { rename($f, "$f.moved") or next } else { open(F, ">", $f) and print F "new" } }`
	for level, prefix := range sandboxLevels(t) {
		for _, kind := range []string{"fresh", "lived-in"} {
			t.Run(level+"/"+kind, func(t *testing.T) {
				name := level + kind
				home := filepath.Join(base, name, "home")
				write(name+"/work/tries.pl", tries, 0o600)
				write(name+"/work/list", cachesData+" "+cachesPrograms, 0o600)
				write(name+"/home/.profile", "", 0o600)
				if kind == "lived-in" {
					for f := range strings.FieldsSeq(cachesPrograms) {
						write(name+"/home/"+f, "", 0o600)
					}
					for f := range strings.FieldsSeq(cachesData) {
						write(name+"/home/"+f+".old", "", 0o600)
					}
				}
				confined(t, level, prefix, filepath.Join(base, name, "work"), home, "PATH="+base+"/bin:"+os.Getenv("PATH"), "GOMODCACHE="+filepath.Join(home, "moved/mod"))
				for f := range strings.FieldsSeq(cachesData) {
					if _, err := os.Stat(filepath.Join(home, f)); err != nil {
						t.Errorf("%s cannot be written", f)
					}
				}
				for f := range strings.FieldsSeq(cachesPrograms) {
					if text, err := os.ReadFile(filepath.Join(home, f)); (err == nil) != (kind == "lived-in") || string(text) != "" {
						t.Errorf("%s was changed: %q, %v", f, text, err)
					}
				}
			})
		}
	}
}

// confined runs tries.pl in dir at a level.
func confined(t *testing.T, level string, prefix []string, dir, home string, environ ...string) {
	t.Helper()
	argv := slices.Concat(prefix, []string{"agentkit", "bash", "--allow", "bash(perl *)", "perl tries.pl"})
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "XDG_STATE_HOME=" + filepath.Dir(dir) + "/state", "LC_ALL=C.UTF-8"}, environ...)
	out, err := cmd.Output()
	var result struct{ Metadata struct{ Sandbox string } }
	if json.Unmarshal(out, &result) != nil || result.Metadata.Sandbox != level {
		t.Fatalf("%v: %s", err, out)
	}
}

// TestCacheLink: where the home lies in the root, a link that a command has put in
// the place of a cache opens nothing to the next one.
func TestCacheLink(t *testing.T) {
	for level, prefix := range sandboxLevels(t) {
		base := durableDir(t)
		home, outside := filepath.Join(base, "root/home"), filepath.Join(base, "outside")
		if err := cmp.Or(os.MkdirAll(filepath.Join(home, ".cache"), 0o700), os.Mkdir(outside, 0o700),
			os.Symlink(outside, filepath.Join(home, ".cache/go-build")),
			os.WriteFile(filepath.Join(base, "root/tries.pl"), []byte(`open(F, ">", "$ENV{HOME}/.cache/go-build/x"); open(F, ">", "done")`), 0o600)); err != nil {
			t.Fatal(err)
		}
		confined(t, level, prefix, filepath.Join(base, "root"), home)
		if _, err := os.Stat(filepath.Join(base, "root/done")); err != nil {
			t.Errorf("%s: nothing was tried: %v", level, err)
		}
		if _, err := os.Stat(filepath.Join(outside, "x")); err == nil {
			t.Errorf("%s: a link that leads outside was followed", level)
		}
	}
}
