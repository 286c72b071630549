package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A repository is of one kind, with files in it whose names look like secrets and
// that git tracks.
type repository struct {
	files  map[string]string
	setup  string // of a shell in the repository, after the files were committed
	root   string // relative to the repository; "" for the repository itself
	needs  string // a program that test needs
	test   string // what a developer would run
	source string // a file of the root that is changed; its new name is NAME.moved
	secret string // likewise
}

// repositories are of twelve kinds. Each also gets .env.local, which git ignores: that
// one is a secret.
func repositories() map[string]repository {
	reads := func(name string) string { return "grep -q A= " + name }
	return map[string]repository{
		"node": {
			files: map[string]string{"package.json": `{"scripts":{"test":"node test.js"}}`, ".npmrc": "fund=false\n", ".env": "A=1\n", "index.js": "exports.x = 1\n", "test.js": "if (!require('fs').readFileSync('.env').includes('A=')) process.exit(1)\n"},
			needs: "node", test: "node test.js", source: "index.js", secret: ".env",
		},
		"go": {
			files: map[string]string{"go.mod": "module example.org/a\n", "a.go": "package a\n", "testdata/.env": "A=1\n", "testdata/key.pem": "A=key\n", ".envrc": "export A=1\n", "a_test.go": "package a\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestA(t *testing.T) {\n\tfor _, n := range []string{\"testdata/.env\", \"testdata/key.pem\"} {\n\t\tif b, err := os.ReadFile(n); err != nil || len(b) == 0 {\n\t\t\tt.Fatal(err)\n\t\t}\n\t}\n}\n"},
			needs: "go", test: "go vet ./... && go test ./... >/dev/null", source: "a.go", secret: "testdata/.env",
		},
		"python": {
			files: map[string]string{"a.py": "x = 1\n", ".env.test": "A=1\n", "config/local.env": "A=2\n", "test_a.py": "import unittest\nclass T(unittest.TestCase):\n  def test(self):\n    self.assertIn('A=', open('.env.test').read() + open('config/local.env').read())\n"},
			needs: "python3", test: "python3 -m unittest -q test_a 2>/dev/null", source: "a.py", secret: ".env.test",
		},
		"rust": {
			files: map[string]string{"Cargo.toml": "[package]\nname = \"a\"\nversion = \"0.1.0\"\n", "src/lib.rs": "pub fn x() {}\n", ".cargo/config.toml": "[build]\njobs = 1\n", ".env": "A=1\n", "tests/server.key": "A=1\n"},
			test:  reads(".env") + " && " + reads("tests/server.key"), source: "src/lib.rs", secret: ".env",
		},
		"java": {
			files: map[string]string{"pom.xml": "<project/>\n", "src/main/java/A.java": "class A {}\n", "src/test/resources/test.jks": "A=\x00\x01\n", "src/test/resources/application.env": "A=1\n", ".mvn/jvm.config": "-Xmx1g\n"},
			test:  reads("src/test/resources/test.jks") + " && " + reads("src/test/resources/application.env"), source: "src/main/java/A.java", secret: "src/test/resources/application.env",
		},
		"ruby": {
			files: map[string]string{"Gemfile": "source 'https://rubygems.org'\n", "lib/a.rb": "X = 1\n", ".env.development": "A=1\n", "test.rb": "exit(File.read('.env.development').include?('A='))\n"},
			needs: "ruby", test: "ruby test.rb", source: "lib/a.rb", secret: ".env.development",
		},
		"php": {
			files: map[string]string{"composer.json": "{}\n", "src/a.php": "<?php\n", ".env.testing": "A=1\n", "public/.htpasswd": "A=:x\n", "test.php": "<?php exit(strpos(file_get_contents('.env.testing'), 'A=') === false ? 1 : 0);\n"},
			needs: "php", test: "php test.php", source: "src/a.php", secret: ".env.testing",
		},
		"submodule": {
			files: map[string]string{"a.txt": "1\n", ".env": "A=1\n"},
			setup: "git init -q ../lib && cd ../lib && echo A=1 >.env && echo 1 >b && git add -A && git commit -qm lib && cd - >/dev/null && git submodule --quiet add ../lib lib && git commit -qm submodule",
			test:  "git submodule status && git -C lib status --porcelain && " + reads("lib/.env"), source: "a.txt", secret: ".env",
		},
		"worktree": {
			files: map[string]string{"a.txt": "1\n", ".env": "A=1\n", ".gitignore": "/.trees\n"},
			setup: "git worktree add -q .trees/b -b b", test: "git -C .trees/b status --porcelain && " + reads(".trees/b/.env"), source: "a.txt", secret: ".env",
		},
		"attributes": {
			files: map[string]string{".gitattributes": "*.bin filter=big -text\n*.env diff=shown\n*.txt text eol=lf\nold export-ignore\n", "a.txt": "1\n", "app.env": "A=1\n", "big.bin": "pointer\n", "old/x": "1\n"},
			setup: "git config filter.big.clean cat && git config filter.big.smudge cat && git config diff.shown.textconv cat", test: reads("app.env"), source: "a.txt", secret: "app.env",
		},
		"subdirectory": {
			files: map[string]string{"README": "1\n", ".env": "A=0\n", "app/main.c": "int x;\n", "app/.env": "A=1\n", "other/.env": "A=2\n"},
			root:  "app", test: reads(".env"), source: "main.c", secret: ".env",
		},
		"monorepo": {
			files: map[string]string{
				"packages/a/src/index.js": "1\n", "packages/a/.env": "A=1\n", "packages/a/.npmrc": "fund=false\n", "packages/b/deep/er/still/.env": "A=2\n", "services/c/fixtures/id_rsa": "A=3\n",
				".vscode/settings.json": "{}\n", ".github/workflows/ci.yml": "on: push\n", ".husky/pre-commit": "#!/bin/sh\ngrep -q A= packages/a/.env\n", ".claude/settings.json": "{}\n",
			},
			setup: "chmod +x .husky/pre-commit && git add -A && git commit -qm mode && git config core.hooksPath .husky",
			test:  reads("packages/b/deep/er/still/.env") + " && " + reads("services/c/fixtures/id_rsa"), source: "packages/a/src/index.js", secret: "packages/a/.env",
		},
	}
}

// gitScript is what is done in each: F is the source, S the tracked file with the
// name of a secret, TEST the repository's own test.
const gitScript = `git status --porcelain
git log --oneline --stat
git ls-files -s
TEST
echo >>F
git diff
git add -A
git commit -qm one
git status --porcelain --ignored
echo MORE=2 >>S
git diff --stat -- S
git add -A && git commit -qm two
git show --stat --format=%s HEAD
git checkout -q -b topic
sed -i s/MORE=2/MORE=3/ S
git commit -qam three
git checkout -q main
TEST
echo x >new.txt && git add new.txt && git commit -qm four
git merge -q --no-edit topic
git grep -n MORE
grep -rn MORE= --exclude-dir=.git --exclude=.env.local .
echo dirty >>S && git stash -q
git stash pop -q && git diff -- S
git checkout -q -- S
git mv F F.moved && git commit -qm five
git rebase -q --onto topic main~1 main
git revert --no-edit HEAD
git reset -q --hard HEAD~1
git rm -q S && git commit -qm six && git checkout -q HEAD~1 -- S
git commit -qm seven && git blame -s S
git archive HEAD | tar t
git clean -n -d && git fsck --no-progress
git gc -q && git cherry-pick --allow-empty topic
git checkout -q -b flow
mkdir -p .github/workflows && echo "on: push" >.github/workflows/flow.yml && git add -A && git commit -qm flow
git checkout -q main && ls -a
git merge -q --no-edit flow && cat .github/workflows/flow.yml
git switch -q --detach HEAD~1 && git switch -q - && git status --porcelain
git revert --no-edit HEAD && git rebase -q flow && git reset -q --hard flow && git status --porcelain
TEST
git log --format="%T %s"
git ls-files -s && git status --porcelain`

// TestRepositories: in repositories of every kind git and the tests do inside the
// sandbox what they do outside: the same statuses, output, index and commits.
func TestRepositories(t *testing.T) {
	t.Parallel()
	long(t)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git")
	}
	levels := sandboxLevels(t)
	base := durableDir(t)
	home := filepath.Join(base, "home")
	writeTree(t, home, map[string]string{".gitconfig": "[user]\n\tname = a\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n[advice]\n\tdetachedHead = false\n"})
	environ := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1", "XDG_STATE_HOME=" + filepath.Join(base, "state"), "GOFLAGS=-buildvcs=false"}
	if out, err := exec.Command("go", "env", "GOCACHE").Output(); err == nil { // the toolchain is compiled already
		environ = append(environ, "GOCACHE="+strings.TrimSpace(string(out)))
	}
	yes := filepath.Join(home, "yes")
	if err := os.WriteFile(yes, []byte("#!/bin/sh\necho '{\"decision\":\"allow\"}'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	all := repositories()
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		r := all[kind]
		special := slices.Contains([]string{"node", "submodule", "subdirectory", "worktree"}, kind)
		if !everyCase() && kind != "worktree" {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			if _, err := exec.LookPath(r.needs); r.needs != "" && err != nil {
				t.Skipf("SKIPPED: there is no %s", r.needs)
			}
			r.make(t, filepath.Join(base, kind, "model", "r"), environ)
			want := r.run(t, base, kind, "outside", nil, environ)
			for level, prefix := range levels {
				if level == "L2" && !special && !soak() {
					continue // of these alone git's own files lie elsewhere
				}
				t.Run(level, func(t *testing.T) {
					got := r.run(t, base, kind, level, append(slices.Clone(prefix), "agentkit", "bash", "--sandbox", "require", "--ask=cmd:"+yes), environ)
					for i := range want {
						if got[i] != want[i] {
							t.Fatalf("%s\n--- inside:\n%s\n--- outside:\n%s", r.script()[i], got[i], want[i])
						}
					}
				})
			}
		})
	}
}

func writeTree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// make makes the repository, which the runs get copies of.
func (r *repository) make(t *testing.T, dir string, environ []string) {
	t.Helper()
	writeTree(t, dir, r.files)
	ignore := "echo .env.local >>.git/info/exclude && echo REAL=1 >" + filepath.Join(r.root, ".env.local")
	cmd := exec.Command("sh", "-ec", "git init -q && "+ignore+" && git add -A && git commit -qm first\n"+r.setup)
	cmd.Dir, cmd.Env = dir, environ
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func (r *repository) script() []string {
	fill := strings.NewReplacer("F.moved", r.source+".moved", "TEST", r.test, ">>F", ">>"+r.source, "mv F ", "mv "+r.source+" ", ">>S", ">>"+r.secret, " S", " "+r.secret)
	return strings.Split(fill.Replace(gitScript), "\n")
}

var (
	objectName = regexp.MustCompile(`\b[0-9a-f]{7,40}\b|(?m)^ *Date: .*`)
	statusLine = regexp.MustCompile(`(?m)\n?\[exit status \d+\]$|^\[what it took away or changed can be brought back .*\]$`)
)

// run runs the script in a copy, each line by itself, prefix before it. Of the names
// of commits, which hold the time, only those of trees are left.
func (r *repository) run(t *testing.T, base, kind, name string, prefix, environ []string) (results []string) {
	t.Helper()
	place := filepath.Join(base, kind, name)
	if out, err := exec.Command("cp", "-a", filepath.Join(base, kind, "model"), place).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if kind == "worktree" { // it still names the repository that was copied
		here, git := filepath.Join(place, "r/.trees/b/.git"), filepath.Join(place, "r/.git/worktrees/b")
		writeTree(t, "/", map[string]string{here: "gitdir: " + git + "\n", git + "/gitdir": here + "\n"})
	}
	for _, line := range r.script() {
		argv := []string{"bash", "-c", line}
		if prefix != nil {
			argv = append(slices.Clone(prefix), line)
		}
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = filepath.Join(place, "r", r.root), environ
		var errors bytes.Buffer
		cmd.Stderr = &errors
		var out []byte
		if prefix == nil {
			cmd.Stderr = nil
			out, _ = cmd.CombinedOutput()
		} else {
			out, _ = cmd.Output()
		}
		text := string(out)
		if prefix != nil {
			var result struct {
				Output   string
				Metadata struct {
					Sandbox string
				}
			}
			if err := json.Unmarshal(out, &result); err != nil {
				t.Fatalf("%s: %v: %s%s", line, err, out, &errors)
			}
			text = statusLine.ReplaceAllString(strings.TrimPrefix(strings.TrimSpace(result.Output), "[no output]"), "")
		}
		text = strings.ReplaceAll(strings.TrimSpace(text), place, "PLACE")
		if !strings.Contains(line, "%T") && !strings.Contains(line, "ls-files") {
			text = objectName.ReplaceAllString(text, "NAME")
		}
		results = append(results, fmt.Sprintf("%s\n[%d]", text, cmd.ProcessState.ExitCode()))
	}
	return results
}

// TestEnclosing: where the root is a part of a repository, or a worktree of it, commits
// are made, and what makes git run something stays as it is.
func TestEnclosing(t *testing.T) {
	const tries = `sub put { my ($f, $text) = @_; open(F, ">>", $f) and print F $text and close F }
my $g = "MAIN/.git";
open(S, "MAIN/.env.local") and print STDERR "SECRET ", <S>; open(S, "MAIN/.env") and print STDERR "TRACKED ", <S>;
put("new.txt", "x"); my $failed = system("git add new.txt && git commit -qm two");
put("$g/hooks/post-commit", "#!/bin/sh\n"); chmod 0755, "$g/hooks/post-commit";
put("$g/config", "[core]\n\tfsmonitor = /bin/false\n"); put("$g/commondir", "/tmp\n"); put("$g/config.worktree", "[core]\n"); put("$g/info/attributes", "* filter=x\n");
rename($g, "$g.moved"); rename("$g/hooks", "$g/hooks.moved"); put("$g/../other.txt", "x");
exit($failed >> 8);
`
	for level, prefix := range sandboxLevels(t) {
		for kind, root := range map[string]string{"subdirectory": "main/app", "worktree": "tree"} {
			t.Run(level+"/"+kind, func(t *testing.T) {
				base := durableDir(t)
				environ := []string{"HOME=" + base, "PATH=" + os.Getenv("PATH"), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org"}
				outside := func(command string) string {
					cmd := exec.Command("sh", "-ec", command)
					cmd.Dir, cmd.Env = base, environ
					out, err := cmd.CombinedOutput()
					if err != nil {
						t.Fatalf("%s: %v: %s", command, err, out)
					}
					return string(out)
				}
				outside("git init -q main && mkdir main/app && echo 1 >main/app/a && echo A=1 >main/.env && git -C main add -A && git -C main commit -qm one && git -C main worktree add -q ../tree -b b && echo .env.local >main/.git/info/exclude && echo REAL=1 >main/.env.local")
				look := "cd main/.git && cat config && ls -A hooks . | grep -v -E '^(index|COMMIT_EDITMSG|ORIG_HEAD|logs|objects|refs)$'"
				before := outside(look)
				if err := os.WriteFile(filepath.Join(base, root, "tries.pl"), []byte(strings.ReplaceAll(tries, "MAIN", base+"/main")), 0o600); err != nil {
					t.Fatal(err)
				}
				argv := slices.Concat(prefix, []string{"agentkit", "--state", base + "/state", "bash", "--allow", "bash", "perl tries.pl"})
				cmd := exec.Command(argv[0], argv[1:]...)
				cmd.Dir, cmd.Env = filepath.Join(base, root), environ
				out, err := cmd.Output()
				if err != nil || !strings.Contains(string(out), `"sandbox":"`+level+`"`) {
					t.Fatalf("%v: %s", err, out)
				}
				if strings.Contains(string(out), "REAL=1") || kind == "subdirectory" && !strings.Contains(string(out), "TRACKED A=1") {
					t.Errorf("of the files beside the root: %s", out)
				}
				if after := outside(look); after != before {
					t.Errorf("before:\n%s\nafter:\n%s", before, after)
				}
				if list := outside("cd " + root + " && git log --format=%s && git status --porcelain"); !strings.HasPrefix(list, "two\none\n") {
					t.Errorf("%s", list)
				}
				if _, err := os.Stat(filepath.Join(base, "main/other.txt")); err == nil {
					t.Error("a file beside the root was written")
				}
			})
		}
	}
}
