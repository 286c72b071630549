package wall

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

func (s *site) link(at, to string) {
	s.t.Helper()
	at = filepath.Join(s.root, at)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Symlink(to, at); err != nil {
		s.t.Fatal(err)
	}
}

// TestLinkTurned: a link that a command has turned elsewhere is what has appeared, and not the files that were there.
func TestLinkTurned(t *testing.T) {
	s := newSite(t, "gh/workflows/x.yml", "src/workflows/y.go", "src/deep/workflows/z.go")
	s.link(".github", "gh")
	s.link("sub/.github", "../mid")
	s.link("mid", "gh")
	time.Sleep(2 * young)
	w := Compile(s.o)
	s.want("fixed", w.Fixed, "gh/workflows")
	for link, to := range map[string]string{".github": "src", "mid": "src/deep"} {
		if err := os.Remove(filepath.Join(s.root, link)); err != nil {
			t.Fatal(err)
		}
		s.link(link, to)
	}
	s.want("appeared", w.Appeared(), ".github", "mid")
}

// TestLed: what a link leads to is closed by the name that the link gives it, at each link on the way and where
// nothing is yet.
func TestLed(t *testing.T) {
	rules := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(rules, []byte("version: 1\ndeny: ['read(a/b/**)', 'edit(w/b/**)', 'edit(place)', 'edit(**/gen/out/**)']\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name          string
		files         []string
		links         [][2]string
		hidden, fixed []string
		made          []string // by a command
		appeared      []string
	}{
		{
			name: "a hook", files: []string{".git/HEAD", ".git/hooks/x.sample", "scripts/a", "scripts/b"},
			links: [][2]string{{".git/hooks/pre-commit", "../../scripts/a"}, {".git/hooks/pre-push", "../../scripts/new"}},
			fixed: []string{".git/hooks", "scripts/a", "scripts/new"},
		},
		{
			name: "hooks and settings", files: []string{".git/HEAD", "hooks/x", "cfg"},
			links: [][2]string{{".git/hooks", "../hooks"}, {".git/config", "../cfg"}},
			fixed: []string{".git/config", ".git/hooks", "cfg", "hooks"},
		},
		{
			name: "from link to link", files: []string{"vs/tasks.json"},
			links: [][2]string{{".vscode", "mid/x"}, {"mid", "deep"}, {"deep/x", "../vs"}},
			fixed: []string{".vscode", "deep/x", "mid", "vs"},
		},
		{
			name: "in what is closed", files: []string{"conf/t", "conf/d", ".vscode/a", ".aws/a"},
			links:  [][2]string{{".vscode/tasks.json", "../conf/t"}, {".aws/credentials", "../conf/d"}, {".vscode/self", "."}},
			hidden: []string{".aws", "conf/d"}, fixed: []string{".vscode", "conf/t"},
		},
		{
			name: "above", files: []string{"gh/x", "dk/config.json", "dk/x", "real/b/f", "real/c"},
			links:  [][2]string{{".github", "gh"}, {"old/.docker", "../dk"}, {"a", "real"}},
			hidden: []string{"dk/config.json", "real/b"}, fixed: []string{"dk", "old/.docker"},
			made: []string{"gh/workflows/x.yml", "gh/y", "real/b/new"}, appeared: []string{"gh/workflows"},
		},
		{
			name: "above, by a rule", files: []string{"real/c", "o/out/x", "far/out/x"},
			links: [][2]string{{"w", "real"}, {"sub/gen", "../o"}, {"sub/other", "../far"}},
			fixed: []string{"o/out"},
			made:  []string{"real/b/new", "real/d", "far/out/y"}, appeared: []string{"real/b"},
		},
		{
			name:  "nothing yet",
			links: [][2]string{{".vscode", "vs"}, {".github/workflows", "../deep/wf"}, {"place", "src/gone"}, {".husky", "/nowhere"}},
			fixed: []string{".github/workflows", ".husky", ".vscode", "deep/wf", "place", "src/gone", "vs"},
		},
		{
			name: "ordinary ones", files: []string{"lib/x/.github/y", "node_modules/p/cli.js"},
			links: [][2]string{{"src", "lib"}, {"node_modules/.bin/p", "../p/cli.js"}, {"lib/up", ".."}, {"lib/loop", "loop"}, {"gone", "nothing"}},
			made:  []string{"lib/new", "nothing"},
		},
	} {
		s := newSite(t, test.files...)
		for _, l := range test.links {
			s.link(l[0], l[1])
		}
		p, err := policy.Load(&policy.Sources{Root: s.root, Home: "/home/me", Level: 3, Files: []string{rules}})
		if err != nil {
			t.Fatal(err)
		}
		s.o.Policy = p
		time.Sleep(2 * young)
		w := Compile(s.o)
		s.want(test.name+": hidden", w.Hidden, test.hidden...)
		s.want(test.name+": fixed", w.Fixed, test.fixed...)
		s.make(test.made...)
		s.want(test.name+": appeared", w.Appeared(), test.appeared...)
		s.want(test.name+": appeared for another process", since(s, w.Start()), test.appeared...)
	}
}
