package programs_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/shellparse"
)

const root = "/work"

// world is a machine on which every program is installed, and a.txt, b.txt and
// the directory d lie in the root.
func world() *shellparse.World {
	return &shellparse.World{
		Dir: root, Root: root, Home: "/home/me",
		Getenv:   func(name string) (string, bool) { return "/home/me", name == "HOME" },
		LookPath: func(name string) (string, bool) { return "/usr/bin/" + name, true },
		Resolve: func(dir, name string) (policy.Access, error) {
			if !path.IsAbs(name) {
				name = path.Join(dir, name)
			}
			a := policy.Access{Path: path.Clean(name), File: policy.Missing}
			switch a.Path {
			case root, root + "/d":
				a.File = policy.Dir
			case root + "/a.txt", root + "/b.txt":
				a.File = policy.Regular
			}
			return a, nil
		},
		ReadFile: func(string) ([]byte, error) { return nil, errors.New("no file") },
	}
}

// asking is a policy that asks about every command, so that it has a rule to
// suggest for those that may have a lasting one.
func asking(t *testing.T) *policy.Policy {
	t.Helper()
	file := t.TempDir() + "/policy.yaml"
	if err := os.WriteFile(file, []byte("version: 1\nsandbox: off\nask: [\"bash(*)\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := policy.Load(&policy.Sources{Root: root, Home: "/home/me", State: "/home/me/state", Files: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// says tells in words what is known of a command.
func says(command string, p *policy.Policy) string {
	a := shellparse.Analyze(context.Background(), command, "bash", world())
	if len(a.Accesses) == 0 || len(a.Accesses[0].Argv) == 0 {
		return "nothing"
	}
	first := &a.Accesses[0]
	out := []string{"unknown"}
	if first.Class != "" {
		out[0] = string(first.Class)
	}
	for i := range a.Accesses {
		x := &a.Accesses[i]
		name := strings.TrimPrefix(x.Path, root+"/")
		if x.Tree {
			name += "/**"
		}
		switch x.Kind {
		case policy.Exec:
			if i > 0 {
				out = append(out, "starts "+strings.Join(x.Argv, " "))
			}
		case policy.Read:
			out = append(out, "reads "+name)
		case policy.Write:
			out = append(out, map[policy.Op]string{policy.Create: "creates ", policy.Change: "writes ", policy.Delete: "deletes ", policy.Metadata: "sets the mode of "}[x.Op]+name)
		case policy.Net:
			out = append(out, "reaches "+x.Host+x.Opaque)
		case policy.Env:
			out = append(out, "sets "+x.Name)
		}
	}
	if first.Opaque != "" {
		out = append(out, "opaque: "+first.Opaque)
	}
	if first.Danger != "" {
		out = append(out, "danger: "+first.Danger)
	}
	if rules := p.Suggest(a.Accesses[:1]); len(rules) > 1 {
		out = append(out, "rule: "+rules[len(rules)-1])
	} else if len(rules) == 0 && first.Opaque == "" && first.Danger == "" {
		out = append(out, "no lasting rule")
	}
	sub := ""
	for _, w := range first.Argv[1:] {
		if !strings.HasPrefix(w, "-") {
			sub = w
			break
		}
	}
	for status := 1; status < 256; status++ {
		if _, means := programs.ExitMeaning(first.Argv[0], sub, status); means != "" {
			out = append(out, fmt.Sprintf("exit %d: %s", status, means))
		}
	}
	return strings.Join(out, "; ")
}

// updating reports whether files are written anew; the flag is of the tests
// inside the package.
func updating() bool { return flag.Lookup("update").Value.String() == "true" }

const casesFile = "testdata/cases.txt"

// TestCases checks what is known of one call of each program at least. A line
// of the file is a command; the line below, set in, is what is known of it.
func TestCases(t *testing.T) {
	data, err := os.ReadFile(casesFile)
	if err != nil {
		t.Fatal(err)
	}
	p := asking(t)
	covered := map[*programs.Record]bool{}
	var fresh strings.Builder
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for i, command := range lines {
		switch {
		case strings.HasPrefix(command, "\t"):
			continue
		case command == "" || strings.HasPrefix(command, "#"):
			fresh.WriteString(command + "\n")
			continue
		}
		got := "\t" + says(command, p)
		fresh.WriteString(command + "\n" + got + "\n")
		if want := lines[min(i+1, len(lines)-1)]; got != want && !updating() {
			t.Errorf("%s\n  is  %s\n  not %s", command, got, want)
		}
		name, _, _ := strings.Cut(command, " ")
		r, _ := programs.Lookup(name)
		covered[r] = true
	}
	if updating() {
		if err := os.WriteFile(casesFile, []byte(fresh.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	programs.Each(func(r *programs.Record) {
		if !covered[r] {
			t.Errorf("no case for %s in %s", r.Names, casesFile)
		}
	})
}
