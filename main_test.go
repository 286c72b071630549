package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

var update = flag.Bool("update", false, "rewrite what is derived from the tools: docs, completions, expected output")

func TestMain(m *testing.M) {
	// Scripts mostly wait: for limits, servers, and what says nothing more. The command
	// line, which is read later, has the last word.
	if err := flag.Set("test.parallel", strconv.Itoa(max(4, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err)
	}
	if dir := os.Getenv("COVERAGE"); dir != "" { // testdata/coverage.sh; go test has a directory of its own instead
		if err := os.Setenv("GOCOVERDIR", dir); err != nil {
			panic(err)
		}
	}
	testscript.Main(cleaned{m}, map[string]func(){"agentkit": main, "clangd": languageServer, "typed": typist})
}

// long leaves a test out of "go test -short", which is to take a few minutes: one that takes seconds of a processor's
// time, or tries in more ways what others try in one. .ci/turn finds such tests by this call.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes long, and is left out with -short")
	}
}

// cleaned removes, when all tests have run, the program that they shared.
type cleaned struct{ *testing.M }

func (m cleaned) Run() int {
	if err := errors.Join(callBuilt(), callPython()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for _, s := range [...]os.Signal{os.Interrupt, syscall.SIGHUP} { // else all that the tests start ignores it, too
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	status := m.M.Run()
	_ = os.RemoveAll(builtDir)
	return status
}

// callBuilt has the tests find agentkit as it is built, when all of them run: it starts in half
// the time of this program, which has their packages in it. A few tests do not wait for the
// linker.
func callBuilt() error {
	flag.Parse()
	given := func(name string) bool { return flag.Lookup(name).Value.String() != "" }
	counted := os.Getenv("COVERAGE") != "" // then only a program that is built counts, else only this one
	if !counted && (testing.CoverMode() != "" || given("test.run") || given("test.list")) {
		return nil
	}
	program, err := built()
	if err != nil {
		return err
	}
	return os.Setenv("PATH", filepath.Dir(program)+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// callPython has the tests start python3 itself, some hundred times: what PATH has of that name
// may be a script that looks for it, as pyenv's, and takes ten times as long.
func callPython() error {
	at, err := exec.LookPath("python3")
	if err != nil {
		return nil //nolint:nilerr // tests that need it say so
	}
	f, err := os.Open(at)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it is only read
	start := make([]byte, 2)
	if _, err := io.ReadFull(f, start); err != nil || string(start) != "#!" {
		return err
	}
	program, err := exec.Command(at, "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return os.Setenv("PATH", filepath.Dir(strings.TrimSpace(string(program)))+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// TestNapsApart checks that a script that looks for a process of "sleep N" on the
// machine finds none of a script that runs beside it.
func TestNapsApart(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	nap := regexp.MustCompile(`\bsleep ([0-9]+(?:\[?[.]\]?[0-9]+)?)`)
	user, sought := map[string]map[string]bool{}, map[string]string{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			for _, m := range nap.FindAllStringSubmatch(line, -1) {
				n := strings.NewReplacer("[", "", "]", "").Replace(m[1])
				if user[n] == nil {
					user[n] = map[string]bool{}
				}
				user[n][name] = true
				if strings.Contains(line, "pgrep") {
					sought[n] = name
				}
			}
		}
	}
	if len(sought) < 5 {
		t.Errorf("only %d numbers are sought: %v", len(sought), sought)
	}
	for n, by := range sought {
		for name := range user[n] {
			if name != by {
				t.Errorf("%s looks for sleep %s, which %s runs: take another number", by, n, name)
			}
		}
	}
}

// TestScript runs testdata/script/*.txtar against the real main.
func TestScript(t *testing.T) {
	t.Parallel()
	seen := &seenResults{count: map[string]int{}}
	if pattern := func(name string) string { return flag.Lookup(name).Value.String() }; !strings.Contains(pattern("test.run")+pattern("test.skip"), "/") {
		t.Cleanup(func() { seen.enough(t) })
	}
	testscript.RunT(checkedScript{t, seen}, scriptParams(t))
}

// scriptParams says how scripts are run: each in a workspace, a home and a temporary directory
// of its own.
func scriptParams(t *testing.T) testscript.Params {
	t.Helper()
	replay, err := filepath.Abs("testdata/replay.sh")
	if err != nil {
		t.Fatal(err)
	}
	return testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, ".home"))
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".state"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, ".config"))
			env.Setenv("TMPDIR", filepath.Join(env.WorkDir, ".tmp"))
			env.Setenv("LC_ALL", "C.UTF-8")
			env.Setenv("REPLAY", replay)
			env.Setenv("AGENTKIT_SANDBOX", "off") // the same on every machine; sandbox.txtar turns it on
			if dir := os.Getenv("COVERAGE"); dir != "" {
				env.Setenv("GOCOVERDIR", dir)
			}
			for _, dir := range []string{".home", ".state", ".config", ".tmp"} {
				if err := os.MkdirAll(filepath.Join(env.WorkDir, dir), 0o700); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"field":     field,
			"matches":   matches,
			"bytes":     writeBytes,
			"exit":      exitStatus,
			"saved":     saved,
			"searchers": searchers,
			"website":   website,
			"program":   realProgram,
		},
		Condition: condition,
	}
}

// condition adds [far] where calls are made at another place, [root], [cgo], [sandbox] where commands can be fully confined, and
// [landlock] where they can be confined without namespaces and a place be made
// that has none, [overlay] where they can be shown a directory copy-on-write, and [pidns] where processes can have a namespace of their own.
func condition(cond string) (bool, error) {
	switch cond {
	case "sandbox":
		return sandbox.Probe().Level >= sandbox.L3, nil
	case "landlock":
		alone := exec.Command("unshare", "-Ur", "sh", "-c", "echo 0 >/proc/sys/user/max_user_namespaces && setpriv --bounding-set=-all --inh-caps=-all true")
		return sandbox.Probe().Level >= sandbox.L2 && alone.Run() == nil, nil
	case "overlay":
		dir, err := os.MkdirTemp("", "overlay")
		if err != nil {
			return false, err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		script := "cd \"$0\" && mkdir l u w && mount -t overlay overlay -o userxattr,lowerdir=l,upperdir=u,workdir=w l"
		return sandbox.Probe().Level >= sandbox.L3 && exec.Command("unshare", "-Urm", "sh", "-c", script, dir).Run() == nil, nil
	case "pidns":
		return exec.Command("unshare", "-Urpf", "--mount-proc", "true").Run() == nil || exec.Command("unshare", "-pf", "--mount-proc", "true").Run() == nil, nil
	case "root":
		return os.Geteuid() == 0, nil
	case "cgo":
		return withCgo, nil
	case "far":
		return false, nil
	}
	return false, nil
}

// member finds a member of the JSON on stdout: metadata.files.0.path.
func member(ts *testscript.TestScript, path string) any {
	var got any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &got))
	for key := range strings.SplitSeq(path, ".") {
		switch v := got.(type) {
		case map[string]any:
			member, ok := v[key]
			if !ok {
				return nil
			}
			got = member
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			got = v[i]
		default:
			return nil
		}
	}
	return got
}

// field checks one member of the JSON on stdout: field metadata.count 2.
func field(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: field PATH VALUE")
	}
	got := member(ts, args[0])
	var want any
	if json.Unmarshal([]byte(args[1]), &want) != nil {
		want = args[1]
	}
	if reflect.DeepEqual(got, want) == neg {
		shown, _ := json.Marshal(got)
		ts.Fatalf("%s is %s", args[0], shown)
	}
}

// saved keeps one member of the JSON on stdout in a variable: saved id metadata.job.
func saved(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 || neg {
		ts.Fatalf("usage: saved VARIABLE PATH")
	}
	text, ok := member(ts, args[1]).(string)
	if !ok {
		ts.Fatalf("%s is no string", args[1])
	}
	ts.Setenv(args[0], text)
}

// matches checks one member of the JSON on stdout against a regular
// expression: matches error.message '^no such'.
func matches(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: matches PATH REGEXP")
	}
	got := member(ts, args[0])
	text, ok := got.(string)
	if !ok {
		raw, _ := json.Marshal(got)
		text = string(raw)
	}
	re, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	if re.MatchString(text) == neg {
		ts.Fatalf("%s is %q", args[0], text)
	}
}

// writeBytes writes a file with Go's escapes: bytes a.txt 'caf\xe9\r\n'.
func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 || neg {
		ts.Fatalf("usage: bytes FILE TEXT")
	}
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// realProgram puts the path of the real program into a variable, for what starts a copy of it,
// as that of this test would not do: program AK.
func realProgram(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 || neg {
		ts.Fatalf("usage: program VARIABLE")
	}
	name, err := built()
	ts.Check(err)
	ts.Setenv(args[0], name)
}

// exitStatus runs a command and checks its exit status: exit 126 agentkit read x.
func exitStatus(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || neg {
		ts.Fatalf("usage: exit STATUS COMMAND [ARG]...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		m := regexp.MustCompile(`exit status (\d+)`).FindStringSubmatch(err.Error())
		if m == nil {
			ts.Fatalf("%v", err)
		}
		got, _ = strconv.Atoi(m[1])
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit status %d", got)
	}
}
