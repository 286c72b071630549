//go:build unix

package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const (
	testRoot = "/srv/work"
	testHome = "/home/dev"
)

// sources returns the sources that most tests share: a place that does not
// exist, so that nothing of this machine has a say.
func sources() *Sources {
	return &Sources{
		Root: testRoot, Home: testHome, State: "/home/dev/.local/state/agentkit", User: "/home/dev/.config/agentkit",
		Temp: []string{"/tmp"}, Tools: []string{"grep", "glob", "write", "patch", "kill", "todo"}, Analyze: words,
	}
}

// words is the smallest possible Analyze: one program, words cut at blanks.
func words(tool string, args json.RawMessage) ([]Access, error) {
	var in struct{ Command, URL, Path string }
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, err
	}
	switch tool {
	case "bash":
		if strings.TrimSpace(in.Command) == "" {
			return nil, nil
		}
		return []Access{run(in.Command)}, nil
	case "fetch":
		return []Access{get(in.URL)}, nil
	}
	return []Access{read(in.Path)}, nil
}

// policyOf loads YAML text as the --policy file.
func policyOf(t testing.TB, text string, change ...func(*Sources)) *Policy {
	t.Helper()
	s := sources()
	if text != "" {
		s.Files = []string{put(t, "policy.yaml", text)}
	}
	for _, f := range change {
		f(s)
	}
	p, err := Load(s)
	if err != nil {
		t.Fatalf("loading: %v", err)
	}
	return p
}

func at(level int) func(*Sources)           { return func(s *Sources) { s.Level = level } }
func grants(rules ...string) func(*Sources) { return func(s *Sources) { s.Allow = rules } }
func profile(name string) func(*Sources)    { return func(s *Sources) { s.Profile = name } }

// put writes a file into a new directory and returns its name.
func put(t testing.TB, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// run is the access of a known program in /usr/bin; a word $x is dynamic, an
// argv[0] with a slash is the program itself.
func run(command string) Access {
	a := Access{Kind: Exec, Tool: "bash", Argv: strings.Fields(command), Class: Unknown, Source: command}
	a.Program = "/usr/bin/" + a.Argv[0]
	if strings.HasPrefix(a.Argv[0], "./") {
		a.Program = testRoot + a.Argv[0][1:]
	} else if strings.Contains(a.Argv[0], "/") {
		a.Program = a.Argv[0]
	}
	for i, w := range a.Argv {
		if strings.HasPrefix(w, "$") {
			if a.Dynamic == nil {
				a.Dynamic = make([]bool, len(a.Argv))
			}
			a.Dynamic[i] = true
		}
	}
	return a
}

func get(url string) Access {
	a := Access{Kind: Net, Tool: "fetch", URL: url}
	a.Scheme, _, _ = strings.Cut(url, "://")
	return a
}

func connect(host string, port int) Access {
	return Access{Kind: Net, Tool: "bash", Host: host, Port: port}
}

func read(path string) Access  { return file(Read, "read", path) }
func write(path string) Access { return file(Write, "edit", path) }

func file(k Kind, tool, path string) Access {
	a := Access{Kind: k, Tool: tool, Path: path}
	if !strings.HasPrefix(path, "/") {
		a.Path = testRoot + "/" + path
	}
	if k == Write {
		a.Op = Change
	}
	return a
}

func with(a Access, f func(*Access)) Access {
	f(&a)
	return a
}

func wantVerdict(t *testing.T, p *Policy, a Access, want Verdict) {
	t.Helper()
	if d := p.Decide(&a); d.Verdict != want {
		t.Errorf("%s %s: have %s, want %s (%s, %s: %s)", a.Kind, Subject(&a), d.Verdict, want, d.Rule, d.Where(), d.Why)
	}
}

// resolve computes the facts of a path by walking it as the kernel would; what
// does not exist is walked by its text.
func resolve(t testing.TB, root, home, name string) (real, named string, typ FileType, links uint64) {
	t.Helper()
	if name == "~" || strings.HasPrefix(name, "~/") {
		name = home + name[1:]
	}
	full := name
	if !strings.HasPrefix(full, "/") {
		full = root + "/" + full
	}
	named = filepath.Clean(full)
	real, todo := "", strings.Split(full, "/")
	for hops := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			real = strings.TrimSuffix(filepath.Dir("/"+real), "/")
			continue
		}
		next := real + "/" + part
		to, err := os.Readlink(next)
		if err != nil || hops > 40 {
			real = next
			continue
		}
		hops++
		if strings.HasPrefix(to, "/") {
			real = ""
		}
		todo = append(strings.Split(to, "/"), todo...)
	}
	if real == "" {
		real = "/"
	}
	info, err := os.Lstat(real)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err != nil:
		return real, named, Missing, 0
	case info.IsDir():
		return real, named, Dir, 0
	case !info.Mode().IsRegular():
		return real, named, Device, 0
	}
	return real, named, Regular, uint64(info.Sys().(*syscall.Stat_t).Nlink) //nolint:unconvert // of another type on other machines
}

// shared finds the folder of labelled cases beside the checkout, or skips.
func shared(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Skip("no go.mod above the package: the labelled cases cannot be found")
		}
	}
	file := filepath.Join(dir, "..", "shared", name)
	if _, err := os.Stat(file); err != nil {
		t.Skipf("the labelled cases are not beside the checkout: %v", err)
	}
	return file
}

func lines(t testing.TB, name string) []string {
	t.Helper()
	data, err := os.ReadFile(shared(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprint("test setup: ", err))
	}
	return v
}
