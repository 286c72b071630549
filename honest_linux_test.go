package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// newHonestPlace makes a repository of many languages, with caches in its home.
func newHonestPlace(t *testing.T) *realPlace {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &realPlace{dir: dir, root: filepath.Join(dir, "W"), home: filepath.Join(dir, "H")}
	files := strings.Fields("W/main.go W/main_test.go W/README.md W/run.sh W/notes.txt W/a.rb W/a.php W/hello.c W/archive.tgz W/gradlew W/Makefile W/pkg/x.go W/build/out W/tests/t.py" +
		" W/src/app.py W/src/a.py W/src/x.pyc W/src/a.js W/src/a.test.js W/src/a.tsx W/node_modules/left/package.json W/app.db" +
		" H/go/pkg/mod/example.com/x@v1/x.go H/.cargo/registry/x tmp/x H/other/a H/other/.git/HEAD H/other/.git/objects/x H/other/.git/refs/x H/evil/.git/HEAD H/evil/.git/objects/x H/evil/.git/refs/x")
	for _, name := range append(files, "W/go.mod", "W/package.json") {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("x\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("sh", "-c", "git init -q && git add -f . && git -c user.name=a -c user.email=a@b.example commit -qm all && git remote add origin https://github.com/x/y")
	c.Dir, c.Env = p.root, p.environ()
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return p
}

// TestHonestCommands: what agents do all day is not asked about, but for the hosts
// that it reaches and, without a sandbox, for what the repository's own code does.
func TestHonestCommands(t *testing.T) {
	raw, err := os.ReadFile("testdata/honest.txt")
	if err != nil {
		t.Fatal(err)
	}
	p, marks := newHonestPlace(t), []string(nil)
	for line := range strings.Lines(string(raw)) {
		if mark, command, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			p.list, marks = append(p.list, realCommand{Command: command}), append(marks, mark)
		}
	}
	if len(marks) < 150 {
		t.Fatalf("only %d commands", len(marks))
	}
	for _, one := range []struct {
		name  string
		level sandbox.Level
		words []string
	}{
		{"L3", sandbox.L3, []string{"agentkit"}},
		{"L2", sandbox.L2, append(slices.Clone(withoutNamespaces), "agentkit")},
		{"L0", sandbox.L0, []string{"agentkit", "--sandbox", "off"}},
	} {
		t.Run(one.name, func(t *testing.T) {
			if can := sandbox.Probe().Level; can < one.level {
				t.Skipf("NOT CHECKED: this machine reaches %s", can)
			}
			if _, err := exec.LookPath("unshare"); err != nil && one.words[0] == "unshare" {
				t.Skip("NOT CHECKED: there is no unshare here to make a place without namespaces")
			}
			for i, a := range p.answers(t, p.list, one.words...) {
				mark, asks, bare := marks[i], a.Decision == "ask", one.level == sandbox.L0
				if program, version := strings.CutSuffix(p.list[i].Command, " --version"); version {
					if _, err := exec.LookPath(program); err != nil {
						continue // what is not installed is not known
					}
				}
				must := mark == "net" || mark == "ask" || mark == "ask0" && bare
				may := must || bare && mark == "L0" || mark == "ask0"
				if a.Decision == "deny" || must && !asks || asks && !may {
					t.Errorf("%s: %s: %+v", p.list[i].Command, a.Decision, a.Accesses)
				}
			}
		})
	}
}
