//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFailingBuilds has real compilers print thousands of errors and warnings. What is
// shown of them is bounded, has the beginning, the first errors and the end, and is the
// same whichever stream they go to.
func TestFailingBuilds(t *testing.T) {
	t.Parallel()
	long(t)
	var c, g strings.Builder
	g.WriteString("package x\n")
	for n := range 1200 {
		fmt.Fprintf(&c, "int f%d(void) {\n\tint unused%d;\n\treturn undeclared%d + \"text\";\n}\n", n, n, n)
		fmt.Fprintf(&g, "func f%d() int {\n\tunused := %d\n\treturn undeclared%d\n}\n", n, n, n)
	}
	for _, b := range []struct {
		name, command, first string
		files                map[string]string
	}{
		{"go", "go build -gcflags=-e .", "x.go:4:9: undefined: undeclared0", map[string]string{"go.mod": "module x\n\ngo 1.21\n", "x.go": g.String()}},
		{"gcc", "gcc -Wall -fmax-errors=0 -c x.c", "x.c:3:16: error: .undeclared0. undeclared", map[string]string{"x.c": c.String()}},
	} {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(b.name); err != nil {
				t.Skip("SKIPPED: no " + b.name + " here")
			}
			w := newWorld(t, build(t))
			w.env = append(w.env, "AGENTKIT_PROFILE=open", "GOTOOLCHAIN=local", "GOFLAGS=-buildvcs=false")
			for name, text := range b.files {
				if err := os.WriteFile(filepath.Join(w.root, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			both := failing(t, w, b.first, b.command)
			if both.Stdout != nil || both.Stderr != nil {
				t.Error("one stream is shown as two")
			}
			apart := failing(t, w, b.first, "--split", b.command)
			joined := failing(t, w, b.first, "--split", "exec 2>&1; "+b.command)
			switch {
			case apart.Stdout == nil || apart.Stderr == nil || joined.Stdout == nil || joined.Stderr == nil:
				t.Fatal("two streams were asked for")
			case *apart.Stdout != "begins\nends\n":
				t.Errorf("the other stream is %.400q", *apart.Stdout)
			case *joined.Stderr != "":
				t.Errorf("the stream without a word is %.400q", *joined.Stderr)
			}
			// The errors take the same room in either stream, and in both.
			errors, all := bare(*apart.Stderr), bare(*joined.Stdout)
			if all = strings.TrimSuffix(strings.TrimPrefix(all, "begins\n"), "ends\n"); abs(len(all)-len(errors)) > len(errors)/10 {
				t.Errorf("standard error shows %d bytes, standard output %d", len(errors), len(all))
			}
			for name, text := range map[string]string{"stderr": *apart.Stderr, "stdout": *joined.Stdout} {
				if !regexp.MustCompile(b.first).MatchString(text) || strings.Contains(text, "shown: none") || len(text) > most {
					t.Errorf("%s: %d bytes, %.400s", name, len(text), text)
				}
			}
		})
	}
}

// most is the bytes of a result that nobody has limited, with the words about what is
// left out.
const most = 52 << 10

func abs(n int) int { return max(n, -n) }

// bare is what a stream shows without what is said about it.
func bare(text string) string {
	return regexp.MustCompile(`(?m)^\[.*\]\n?`).ReplaceAllString(text, "")
}

type streams struct {
	Stdout, Stderr *string
}

// failing runs a build that fails and looks at what every result of one has.
func failing(t *testing.T, w *world, first string, args ...string) streams {
	t.Helper()
	args[len(args)-1] = "echo begins; " + args[len(args)-1] + "; s=$?; echo ends; exit $s"
	out, err := w.command(context.Background(), append([]string{"bash"}, args...)...).Output()
	var r struct {
		Output   string
		Metadata struct {
			streams
			Truncated bool
			SpillPath string `json:"spill_path"`
			ExitCode  int    `json:"exit_code"`
		}
	}
	if bad := json.Unmarshal(out, &r); err == nil || bad != nil || r.Metadata.ExitCode != 1 {
		t.Fatalf("%v, %v, %.400s", err, bad, out)
	}
	whole, err := os.ReadFile(r.Metadata.SpillPath)
	n := strings.Count(string(whole), "undeclared")
	if err != nil || n < 1200 || !r.Metadata.Truncated {
		t.Errorf("%d errors are kept, %v, truncated: %v", n, err, r.Metadata.Truncated)
	}
	// The order between two pipes is that of arrival: a word of the one may then
	// stand among the errors of the other, within a line of them, and be left out.
	words := strings.HasPrefix(r.Output, "begins\n") && strings.Contains(r.Output, "\nends\n")
	if r.Metadata.Stdout != nil {
		words = strings.Contains(string(whole), "begins\n") && strings.Contains(string(whole), "ends\n")
	}
	if !regexp.MustCompile(first).MatchString(r.Output) || !words || len(r.Output) > most {
		t.Errorf("of %d bytes are shown %d: %.400s", len(whole), len(r.Output), r.Output)
	}
	return r.Metadata.streams
}
