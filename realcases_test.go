package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// A realCommand is a command line that a model ran, with the kind of thing it
// does and the decision that fits: allow, ask, ask-or-allow, any.
type realCommand struct {
	Command string
	Expect  string
	Why     string
}

// A realPlace is where real commands are decided: a repository that has the files
// they speak of, all committed, and a home.
type realPlace struct {
	dir, root, home string
	list            []realCommand
}

func newRealPlace(t *testing.T) *realPlace {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &realPlace{dir: dir, root: filepath.Join(dir, "W"), home: filepath.Join(dir, "H")}
	raw, err := os.ReadFile(filepath.Join("..", "shared", "cases", "real", "commands.jsonl"))
	if err != nil {
		t.Skipf("REAL COMMANDS NOT CHECKED: %v", err)
	}
	places := strings.NewReplacer("@W@", p.root, "@H@", p.home, "@X@", filepath.Join(dir, "X"))
	for line := range bytes.Lines(raw) {
		var c realCommand
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		c.Command = places.Replace(c.Command)
		p.list = append(p.list, c)
	}
	for _, dir := range []string{p.home, filepath.Join(dir, "tmp")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.fill(t)
	script := "git init -q -b dev && git add -f . && git -c user.name=a -c user.email=a@b commit -qm all && git remote add origin https://github.com/x/y"
	c := exec.Command("sh", "-c", script)
	c.Dir, c.Env = p.root, p.environ()
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return p
}

func (p *realPlace) environ(more ...string) []string {
	env := append(os.Environ(), "HOME="+p.home, "TMPDIR="+filepath.Join(p.dir, "tmp"), "XDG_CONFIG_HOME="+filepath.Join(p.dir, "config"),
		"XDG_STATE_HOME="+filepath.Join(p.dir, "state"), "GIT_CONFIG_NOSYSTEM=1",
		"GOPROXY=https://proxy.golang.org,direct") // which hosts a command reaches does not depend on who runs the tests
	return append(env, more...)
}

var (
	realDirs  = regexp.MustCompile(`cd (\S+)`)
	realFiles = regexp.MustCompile(`[\w./@-]*\w\.(go|ts|tsx|js|json|md|py|sql|toml|yml|yaml|txt|c|h|pcap)\b`)
)

// fill makes the files and directories in the root that the commands speak of.
func (p *realPlace) fill(t *testing.T) {
	t.Helper()
	at := func(dir, name string) string {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if !strings.HasPrefix(name, p.root+"/") || strings.Contains(name, "/.github/") {
			return ""
		}
		return filepath.Clean(name)
	}
	made := func(err error) {
		if err != nil && !strings.Contains(err.Error(), "not a directory") && !strings.Contains(err.Error(), "is a directory") {
			t.Fatal(err)
		}
	}
	made(os.MkdirAll(p.root, 0o755))
	for _, c := range p.list {
		dir := p.root
		if m := realDirs.FindStringSubmatch(c.Command); m != nil {
			if to := at(dir, strings.Trim(m[1], `"';`)); to != "" {
				dir = to
				made(os.MkdirAll(dir, 0o755))
			}
		}
		for _, name := range realFiles.FindAllString(c.Command, -1) {
			if name = at(dir, name); name == "" {
				continue
			}
			made(os.MkdirAll(filepath.Dir(name), 0o755))
			made(os.WriteFile(name, []byte("x\n"), 0o644))
		}
	}
	for name, text := range map[string]string{"go.mod": "module m\n", "package.json": `{"scripts":{"test":"x","check":"x","build":"x"}}`, "specstory": "\x7fELF", "main.go": "package main\n"} {
		made(os.WriteFile(filepath.Join(p.root, name), []byte(text), 0o755))
	}
}

// check decides all commands with the words of a command line, and counts for
// each kind how they came out.
func (p *realPlace) check(t *testing.T, words ...string) (map[string]map[string]int, []string) {
	t.Helper()
	counts, wrong := map[string]map[string]int{}, []string(nil)
	for i, got := range p.answers(t, p.list, words...) {
		c := &p.list[i]
		n := counts[c.Why]
		if n == nil {
			n = map[string]int{}
			counts[c.Why] = n
		}
		n[got.Decision]++
		if fits := got.Decision == c.Expect || c.Expect == "any" || c.Expect == "ask-or-allow" && got.Decision != "deny"; !fits {
			why := ""
			if got.Error != nil {
				why = fmt.Sprint(" ", got.Error)
			}
			for _, a := range got.Accesses {
				if a.Decision != "allow" {
					why += fmt.Sprintf("\n\t\t%s %s %s: %s", a.Decision, a.Kind, a.Subject, a.Why)
				}
			}
			wrong = append(wrong, fmt.Sprintf("%s: %s: %s%s", c.Why, got.Decision, c.Command, why))
		}
	}
	return counts, wrong
}

// A realWant is the least share, in percent, of a kind that has to be decided so; 0
// says that nothing may be.
type realWant struct {
	kind, decision string
	percent        float64
}

// TestRealCommands decides what real models ran in real agents, at every level of
// confinement, and holds how much of it passes, asks, and is refused.
func TestRealCommands(t *testing.T) {
	p := newRealPlace(t)
	if !everyCase() { // a third of all
		n := 0
		p.list = slices.DeleteFunc(p.list, func(realCommand) bool { n++; return n%3 > 0 })
	}
	alone := "echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all \"$@\""
	common := []realWant{{"network", "ask", 98}, {"delete inside", "allow", 95}, {"loopback", "allow", 95}, {"tree read", "allow", 95}, {"outside", "deny", 0}}
	for _, one := range []struct {
		name   string
		level  sandbox.Level
		secret bool
		words  []string
		wants  []realWant
	}{
		{"L3", sandbox.L3, false, []string{"agentkit"}, append([]realWant{{"inside", "allow", 99}}, common...)},
		{"L3 with a secret", sandbox.L3, true, []string{"agentkit"}, append([]realWant{{"inside", "allow", 99}}, common...)},
		{"L2", sandbox.L2, false, []string{"unshare", "-Ur", "sh", "-c", alone, "sh", "agentkit"}, append([]realWant{{"inside", "allow", 97}}, common...)},
		{"L2 with a secret", sandbox.L2, true, []string{"unshare", "-Ur", "sh", "-c", alone, "sh", "agentkit"}, nil},
		{"container", sandbox.L0, false, []string{"agentkit", "--profile", "container"}, []realWant{{"inside", "allow", 99}, {"outside", "deny", 0}}},
		{"outer", sandbox.L0, false, []string{"agentkit", "--sandbox", "outer"}, []realWant{{"inside", "allow", 99}, {"outside", "deny", 0}}},
		{"open", sandbox.L3, false, []string{"agentkit", "--profile", "open"}, []realWant{{"inside", "allow", 99}, {"outside", "deny", 0}}},
		{"L0", sandbox.L0, false, []string{"agentkit", "--sandbox", "off"}, []realWant{{"inside", "allow", 75}, {"network", "ask", 98}, {"outside", "deny", 0}}},
	} {
		if slices.Contains([]string{"L3 with a secret", "L2 with a secret", "container", "outer", "open"}, one.name) && !everyCase() {
			continue
		}
		t.Run(one.name, func(t *testing.T) {
			if can := sandbox.Probe().Level; can < one.level {
				t.Skipf("NOT CHECKED: this machine reaches %s", can)
			}
			if _, err := exec.LookPath("unshare"); err != nil && one.words[0] == "unshare" {
				t.Skip("NOT CHECKED: there is no unshare here to make a place without namespaces")
			}
			if one.secret {
				name := filepath.Join(p.root, ".env")
				if err := os.WriteFile(name, []byte("TOKEN=x\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				defer os.Remove(name) //nolint:errcheck // the next run would see it
			}
			counts, wrong := p.check(t, one.words...)
			t.Log(realTable(counts))
			if testing.Verbose() && os.Getenv("SHOW") != "" {
				t.Log(strings.Join(wrong, "\n"))
			}
			for _, w := range one.wants {
				n, all := counts[w.kind], 0
				for _, k := range n {
					all += k
				}
				if all == 0 {
					continue // the sample has none of the kind
				}
				share := 100 * float64(n[w.decision]) / float64(all)
				if share < w.percent && w.percent > 0 || w.percent == 0 && n[w.decision] > 0 {
					t.Errorf("%s: %.1f %% %s, want %v", w.kind, share, w.decision, w.percent)
				}
			}
		})
	}
}

// everyCase reports whether what takes long is looked at whole, as CI does once.
func everyCase() bool { return os.Getenv("CASES") == "all" }

// sampled is how much is tried of what takes long: few, or all where everyCase is true.
func sampled(few, all int) int {
	if everyCase() {
		return all
	}
	return few
}

// some is one in n of a list, others each time; all of it where everyCase is true, and for
// who runs one test by its name.
func some[T any](list []T, n int) []T {
	if everyCase() || flag.Lookup("test.run").Value.String() != "" {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(T) bool { return rand.IntN(n) > 0 })
}

func realTable(counts map[string]map[string]int) string {
	var b strings.Builder
	var kinds []string
	for kind := range counts {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	for _, kind := range kinds {
		n := counts[kind]
		fmt.Fprintf(&b, "\n%-30.30s %5d allow %4d ask %4d deny", kind, n["allow"], n["ask"], n["deny"])
	}
	return b.String()
}
