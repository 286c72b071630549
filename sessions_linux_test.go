package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// newSession reads a session of testdata/sessions: commands as coding agents write them
// in a repository of one kind, each behind a mark of what it does, and a line that
// begins with a tab goes on with the one before. The place has the files they speak of.
//
//   - inside, of programs whose words say all     net   a host is asked about
//     L0    inside, of programs that may do anything    out   elsewhere: never refused
//     del   deletes inside what git has or what can be kept
//     loop  the session's own servers                   ask   asked about or refused
func newSession(t *testing.T, file string) *realPlace {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &realPlace{dir: dir, root: filepath.Join(dir, "W"), home: filepath.Join(dir, "H")}
	places := strings.NewReplacer("@W@", p.root, "@T@", filepath.Join(dir, "tmp"))
	var files []string
	for line := range strings.Lines(places.Replace(string(raw))) {
		line = strings.TrimSuffix(line, "\n")
		more, goesOn := strings.CutPrefix(line, "\t")
		mark, command, ok := strings.Cut(line, "\t")
		switch {
		case goesOn:
			p.list[len(p.list)-1].Command += "\n" + more
		case ok:
			p.list = append(p.list, realCommand{Command: command, Why: mark})
		default:
			files = strings.Fields(line)[1:]
		}
	}
	p.fill(t)
	for name := range strings.FieldsSeq("H/other/README.md H/other/package.json H/Documents/notes.txt H/.zshrc H/.zsh_history H/.netrc H/.aws/credentials H/.ssh/id_rsa H/.kube/config H/.kaggle/kaggle.json tmp/x W/" + strings.Join(files, " W/")) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("x\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("sh", "-c", `printf '%s\n' node_modules/ dist/ build/ target/ .venv/ __pycache__/ '*.log' .terraform/ models/ .env >.gitignore
		git init -q -b main && git add . && git -c user.name=a -c user.email=a@b.example commit -qm all && git remote add origin https://github.com/x/y && git branch feature`)
	c.Dir, c.Env = p.root, p.environ()
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return p
}

// TestMadeSessions: of whole sessions hardly a command is asked about without a need, and
// none that reaches a host or does harm passes. Without CASES=all three are looked at.
func TestMadeSessions(t *testing.T) {
	long(t)
	list, err := filepath.Glob("testdata/sessions/*.txt")
	if err != nil || len(list) < 11 {
		t.Fatalf("%d sessions: %v", len(list), err)
	}
	levels := []struct {
		name   string
		level  sandbox.Level
		words  []string
		inside float64 // the least share that passes, in percent
	}{
		{"L3", sandbox.L3, []string{"agentkit"}, 99},
		{"L2", sandbox.L2, append(append([]string(nil), withoutNamespaces...), "agentkit"), 97},
		{"L0", sandbox.L0, []string{"agentkit", "--sandbox", "off"}, 0},
	}
	if !everyCase() {
		list, levels = []string{"testdata/sessions/go.txt", "testdata/sessions/python.txt", "testdata/sessions/infra.txt"}, levels[:1]
	}
	places := make([]*realPlace, len(list))
	for i, file := range list {
		places[i] = newSession(t, file)
	}
	for _, one := range levels {
		t.Run(one.name, func(t *testing.T) {
			if can := sandbox.Probe().Level; can < one.level {
				t.Skipf("NOT CHECKED: this machine reaches %s", can)
			}
			if _, err := exec.LookPath("unshare"); err != nil && one.words[0] == "unshare" {
				t.Skip("NOT CHECKED: there is no unshare here to make a place without namespaces")
			}
			counts, wrong := map[string]map[string]int{}, []string(nil)
			for i, p := range places {
				for k, a := range p.answers(t, p.list, one.words...) {
					kind := p.list[k].Why
					n := counts[kind]
					if n == nil {
						n = map[string]int{}
						counts[kind] = n
					}
					n[a.Decision]++
					passes := a.Decision == "allow"
					switch kind {
					case "net", "ask":
						passes = !passes
					case "out":
						passes = a.Decision != "deny"
					}
					if !passes {
						wrong = append(wrong, strings.TrimSuffix(filepath.Base(list[i]), ".txt")+": "+kind+": "+a.Decision+": "+p.list[k].Command)
					}
				}
			}
			held := one.level > sandbox.L0
			for kind, n := range counts {
				all := n["allow"] + n["ask"] + n["deny"]
				share := func(k int) float64 { return 100 * float64(k) / float64(all) }
				var ok bool
				switch kind {
				case "-", "L0":
					ok = share(n["allow"]) >= one.inside
				case "del", "loop":
					ok = !held || share(n["allow"]) >= 95
				case "net":
					ok = share(n["ask"]) >= 98
				case "out":
					ok = n["deny"] == 0
				case "ask":
					ok = n["allow"] == 0
				default:
					ok = false
				}
				if !ok {
					t.Errorf("%s: %v", kind, n)
				}
			}
			t.Log(realTable(counts))
			if t.Failed() || os.Getenv("SHOW") != "" && held {
				t.Log(strings.Join(wrong, "\n"))
			}
		})
	}
}

// TestTemporaryNames: what mktemp made is taken away without a question, before the
// command runs and when rm starts, also where the root lies in the directory for temporary files.
func TestTemporaryNames(t *testing.T) {
	if can := sandbox.Probe().Level; can < sandbox.L2 {
		t.Skipf("NOT CHECKED: this machine reaches %s", can)
	}
	p := newHonestPlace(t)
	run := func(command string, environ ...string) string {
		c := exec.Command("agentkit", "--root", p.root, "-o", "text", "bash", command)
		c.Dir, c.Env = p.root, append(p.environ(), environ...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v", command, err)
		}
		return string(out)
	}
	for _, command := range []string{
		`d=$(mktemp -d) && cp main.go "$d/x" && rm -rf "$d" && test ! -e "$d" && echo gone`,
		`f=$(mktemp --suffix=.go); cp main.go "$f"; rm -f "$f"; test -e "$f" || echo gone`,
		`f=$(mktemp) && sort go.mod >"$f" && mv -f "$f" sorted && test ! -e "$f" && echo gone`,
		`d=$(mktemp -d) && trap 'rm -rf "$d"; test -e "$d" || echo gone' EXIT && git init -q "$d" && test -d "$d/.git"`,
	} {
		for _, environ := range []string{"TMPDIR=", "TMPDIR=" + p.dir} {
			if out := run(command, environ); !strings.HasPrefix(out, "gone\n") || strings.Contains(out, "refused") {
				t.Errorf("%s %s: %s", environ, command, out)
			}
		}
	}
}
