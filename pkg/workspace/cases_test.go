//go:build linux || darwin

package workspace

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

type labelled struct {
	ID, Class, Expect, Setup, Why, Effect string
	Input                                 json.RawMessage
	op, path                              string
}

// TestLabelledCases checks the facts of every labelled path: what must be
// asked or denied for where it lies is not inside, refused as a name, or odd;
// what must be allowed is inside and plain. What only its own name protects
// (.git/config, .env) is the policy's affair: it must be found where it is.
func TestLabelledCases(t *testing.T) {
	n := 0
	for _, file := range []string{"path/cases.jsonl", "benign/cases.jsonl"} {
		for _, c := range readCases(t, file) {
			if c.op == "patch" || strings.HasPrefix(file, "benign") && c.Class != "path" {
				continue
			}
			n++
			t.Run(c.ID, func(t *testing.T) { checkCase(t, c) })
		}
	}
	if n < 100 {
		t.Errorf("only %d cases ran", n)
	}
}

func checkCase(t *testing.T, c labelled) {
	s := newSite(t)
	sub := strings.NewReplacer("@W@", s.w, "@O@", s.o, "@H@", filepath.Join(s.top, "H"))
	if c.Setup != "" {
		if out, err := exec.CommandContext(t.Context(), "bash", "-c", sub.Replace(c.Setup)).CombinedOutput(); err != nil {
			t.Fatalf("setup: %v: %s", err, out)
		}
	}
	t.Chdir(s.w)
	name := sub.Replace(c.path)
	if c.op == "glob" {
		name, _, _ = strings.Cut(name, "*") // the part that is a path
		name = strings.ReplaceAll(name, "{.,..}", "..")
	}
	if name == "" {
		name = "."
	}
	p, err := s.Resolve(name)
	switch {
	case c.Class == "path": // benign
		if err != nil || p.Odd != "" || !p.Inside && !strings.HasPrefix(name, "/tmp/") {
			t.Errorf("%q must be plain and inside: %+v, %v", name, p, err)
		}
	case strings.HasPrefix(c.Class, "containment"), strings.HasPrefix(c.Class, "tool-") && !strings.HasSuffix(name, "race") && !strings.Contains(name, "race/"):
		if err == nil && p.Inside && p.Odd == "" {
			t.Errorf("%q must not be plainly inside: %+v", name, p)
		}
		if strings.HasPrefix(c.Effect, "read:"+"@O@") || strings.HasPrefix(c.Effect, "write:@O@") {
			if _, out := safefile.Rel(s.top, p.Real); err != nil || !out || p.Inside {
				t.Errorf("%q leads to O, not to %s (%v)", name, p.Real, err)
			}
		}
	case strings.HasPrefix(c.Class, "tool-"): // swapped later: see TestRace
		if err != nil || !p.Inside {
			t.Errorf("%q lies inside as yet: %+v, %v", name, p, err)
		}
	default:
		checkProtected(t, s, name, p, err)
	}
}

func checkProtected(t *testing.T, s *site, name string, p Path, err error) {
	switch {
	case len(name) > maxPath:
		if !errors.Is(err, ErrName) {
			t.Errorf("over-long: %v", err)
		}
		return
	case errors.Is(err, fs.ErrPermission) && strings.HasPrefix(name, "/proc/"):
		return
	case err != nil:
		t.Fatalf("%q: %v", name, err)
	case strings.HasPrefix(name, "/"):
		if _, in := safefile.Rel(s.w, filepath.Clean(name)); in != p.Inside {
			t.Errorf("%q: inside %v", name, p.Inside)
		}
	case !p.Inside || p.Rel != name:
		t.Errorf("%q is at %q, inside %v", name, p.Rel, p.Inside)
	}
	if name == "hl" && p.Links != 2 {
		t.Errorf("hard links: %d", p.Links)
	}
	if strings.HasPrefix(name, "/dev/") && p.Exists {
		if _, err := s.OpenFile(p); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%q opened: %v", name, err)
		}
	}
}

func readCases(t *testing.T, file string) []labelled {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil; _, err = os.Stat(filepath.Join(dir, "go.mod")) {
		if dir == filepath.Dir(dir) {
			t.Skip("no go.mod above the package: cannot find the cases")
		}
		dir = filepath.Dir(dir)
	}
	f, err := os.Open(filepath.Join(dir, "..", "shared", "cases", file))
	if err != nil {
		t.Skip("the labelled cases are not beside this checkout: ", err)
	}
	defer f.Close()
	var all []labelled
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c labelled
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		var in struct{ Op, Path string }
		if json.Unmarshal(c.Input, &in) == nil && slices.Contains([]string{"read", "write", "edit", "glob", "grep", "ls", "exec-cwd", "patch"}, in.Op) {
			c.op, c.path = in.Op, in.Path
			all = append(all, c)
		}
	}
	return all
}
