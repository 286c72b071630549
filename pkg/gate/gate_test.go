//go:build unix

package gate

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

const rules = `
profile: workspace
deny: ["bash(curl *)"]
ask: ["bash(git push *)"]
`

// TestPublishing: what changes something at a host is not started by what was allowed for something else, also where the
// host is not known; a push to a directory is no such thing, and what git starts to carry a push that may go on is a part of it.
func TestPublishing(t *testing.T) {
	for rules, yes := range map[string]bool{"version: 1\nnetwork: {allow: [\"**\"]}\n": false, "version: 1\nallow: [\"bash(git push *)\", \"bash(kubectl apply *)\"]\n": true} {
		s, p := load(t, rules)
		temp := t.TempDir()
		raw, err := New(s, p, nil, []string{temp}, nil, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		decide, err := Build(raw)
		if err != nil {
			t.Fatal(err)
		}
		repository := func(dir, url string) {
			for name, text := range map[string]string{
				"HEAD": "ref: refs/heads/main\n", "config": "[remote \"origin\"]\n\turl = " + url + "\n[remote \"far\"]\n\turl = git@example.org:x\n", "objects/x": "", "refs/x": "",
			} {
				at := filepath.Join(dir, ".git", name)
				if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		near, far, other := filepath.Join(s.Root, "near"), filepath.Join(temp, "far"), t.TempDir()
		repository(near, "../bare.git")
		repository(far, "https://example.org/x")
		repository(other, temp+"/bare.git")
		for _, test := range []struct {
			dir   string
			words string
			allow bool
		}{
			{near, "git push", true},
			{near, "git push origin main", true},
			{near, "git push far", yes},
			{near, "git push nowhere", yes},
			{near, "git push ../bare.git", true},
			{near, "git push https://example.org/x", yes},
			{near, "git fetch far", true},
			{far, "git push origin main", yes},
			{far, "git push", yes},
			{other, "git push origin", yes}, // what lies there is not read
			{near, "kubectl apply -f x.yaml", yes},
			{near, "kubectl get pods", true},
			{near, "git send-pack --stateless-rpc x", true}, // a part of git push
			{near, "git send-pack elsewhere", yes},          // of one that did not come to run
		} {
			e := start(strings.Fields(test.words)...)
			if e.Cwd = test.dir; strings.Contains(test.words, "send-pack") {
				push := start("git", "push", "../bare.git")
				if push.Pid, push.Cwd = os.Getpid(), near; test.allow {
					push.Pid = gitAtWork(t)
				}
				if !decide(t.Context(), push).Allow {
					t.Error("a push to a directory did not start")
				}
				e.Parents = func() []int { return []int{push.Pid} }
			}
			if a := decide(t.Context(), e); a.Allow != test.allow {
				t.Errorf("%q, %s in %s: %+v", rules, test.words, filepath.Base(test.dir), a)
			} else if !a.Allow && (!strings.Contains(a.Why, "it changes something at ") || !strings.HasSuffix(a.Why, "; in a call of its own it is asked about")) {
				t.Errorf("%s: %s", test.words, a.Why)
			}
		}
	}
}

// order is that of a command in which git push stood with the words given, and
// the file of its policy.
func order(t *testing.T, push ...string) (raw json.RawMessage, file string) {
	t.Helper()
	s, p := load(t, rules)
	var accesses []policy.Access
	if len(push) > 0 {
		accesses = append(accesses, policy.Access{Kind: policy.Exec, Program: "/usr/bin/git", Argv: append([]string{"git", "push"}, push...)})
	}
	raw, err := New(s, p, accesses, nil, nil, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return raw, s.Files[0]
}

// gitAtWork is the number of a process that runs git until the test ends.
func gitAtWork(t *testing.T) int {
	t.Helper()
	git := exec.Command("/usr/bin/git", "hash-object", "--stdin")
	in, err := git.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := git.Start(); err != nil {
		t.Skip("SKIPPED: there is no /usr/bin/git: ", err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = git.Wait()
	})
	return git.Process.Pid
}

// load makes a policy of these rules, and the directories that it is for.
func load(t *testing.T, rules string) (*policy.Sources, *policy.Policy) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &policy.Sources{Root: t.TempDir(), Home: t.TempDir(), State: t.TempDir(), Files: []string{file}}
	p, err := policy.Load(s)
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}

// start is the start of a program.
func start(argv ...string) *sandbox.Exec {
	return &sandbox.Exec{Path: "/usr/bin/" + argv[0], Named: argv[0], Argv: argv, Cwd: "/", Environ: func() []string { return []string{"PATH=/usr/bin"} }}
}

// TestDecide: what a rule denies does not run, what a rule asks about only where it
// stood in the call, and everything else does.
func TestDecide(t *testing.T) {
	raw, _ := order(t, "origin")
	decide, err := Build(raw)
	if err != nil {
		t.Fatal(err)
	}
	copied := start("git", "push", "origin")
	copied.Path, copied.Original = "/tmp/ls", "/usr/bin/git"
	disguised := start("ls", "-l")
	disguised.Path, disguised.Original = "/tmp/ls", "/usr/bin/curl"
	for _, test := range []struct {
		name  string
		exec  *sandbox.Exec
		allow bool
		rule  string
		why   string
	}{
		{"nobody's affair", start("uname", "-a"), true, "", ""},
		{"denied", start("curl", "https://example.org"), false, "bash(curl *)", ""},
		{"denied, run by another", start("env", "X=1", "curl", "https://example.org"), false, "bash(curl *)", "it runs"},
		{"a copy of what is denied", disguised, false, "bash(curl *)", ""},
		{"stood in the call", start("git", "push", "origin"), true, "", ""},
		{"stood there with other words", start("git", "push", "--force"), false, "bash(git push *)", "did not stand in the call"},
		{"a copy of what stood in the call", copied, true, "", ""},
	} {
		a := decide(t.Context(), test.exec)
		if a.Allow != test.allow || a.Rule != test.rule || !strings.Contains(a.Why, test.why) {
			t.Errorf("%s: %+v", test.name, a)
		}
	}
}

// TestNames: the first word of a program that is several counts, as do git's
// names for its own subcommands.
func TestNames(t *testing.T) {
	raw, _ := order(t)
	decide, err := Build(raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		path  string
		argv  []string
		allow bool
	}{
		{"/usr/bin/busybox", []string{"curl", "x"}, false},
		{"/usr/bin/busybox", []string{"/tmp/curl", "x"}, false},
		{"/usr/bin/busybox", []string{"busybox", "curl", "x"}, false},
		{"/usr/bin/busybox", []string{"rm", "-rf", "x"}, false},
		{"/usr/bin/busybox", []string{"ls"}, true},
		{"/tmp/curl", []string{"curl", "x"}, false},
		{"/usr/bin/git", []string{"git-push", "origin"}, false},
		{"/usr/lib/git-core/git-push", []string{"git-push", "origin"}, false},
		{"/usr/lib/git-core/git", []string{"git", "push", "origin"}, false},
		{"/usr/lib/git-core/git-status", []string{"git-status"}, true},
		{"/usr/bin/bash", []string{"-bash"}, true},
		{"/usr/bin/uname", []string{"rm", "-rf", "x"}, true}, // only a word
	} {
		e := start(test.argv...)
		e.Path = test.path
		if a := decide(t.Context(), e); a.Allow != test.allow {
			t.Errorf("%s %q: %+v", test.path, test.argv, a)
		}
	}
}

// TestInner: what a program that stood in the call starts is its work, but where
// a rule speaks of it; git's own work is git's.
func TestInner(t *testing.T) {
	raw, file := order(t)
	var o Order
	if err := json.Unmarshal(raw, &o); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(rules+"tests: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Allowed = []string{Key("/usr/bin/make", []string{"make", "clean"}), Key("/usr/bin/git", []string{"git", "stash"}), Key("/usr/bin/xargs", []string{"xargs", "rm", "-rf"}), Key("/usr/bin/sh", []string{"sh", "-c", "x"}), Key("/usr/bin/sh", []string{"sh", "x"})}
	p, err := policy.Load(&o.Sources)
	if err != nil {
		t.Fatal(err)
	}
	o.Hash = p.Hash()
	if raw, err = json.Marshal(o); err != nil {
		t.Fatal(err)
	}
	decide, err := Build(raw)
	if err != nil {
		t.Fatal(err)
	}
	stash := gitAtWork(t)
	for pid, argv := range map[int][]string{100: {"make", "clean"}, 200: {"git", "stash"}, stash: {"git", "stash"}, 500: {"xargs", "rm", "-rf"}, 300: {"sh", "-c", "x"}, 400: {"sh", "x"}} {
		e := start(argv...)
		e.Pid = pid
		if !decide(t.Context(), e).Allow {
			t.Errorf("%q did not start", argv)
		}
	}
	for _, test := range []struct {
		argv    []string
		parents []int
		allow   bool
	}{
		{[]string{"rm", "-rf", "x"}, []int{50, 100, 1}, true},
		{[]string{"rm", "-rf", "x"}, []int{50}, false},
		{[]string{"rm", "-rf", "x"}, []int{300}, false}, // its text stood in the call
		{[]string{"rm", "-rf", "x"}, []int{400}, true},
		{[]string{"rm", "-rf", "x"}, []int{500, 1}, true}, // its losses were judged with the call's text
		{[]string{"rm", "-rf", "x"}, []int{50, 500}, false},
		{[]string{"curl", "x"}, []int{100}, false},        // a rule
		{[]string{"git", "push", "x"}, []int{100}, false}, // a rule that asks
		{[]string{"git", "reset", "--hard"}, []int{stash}, true},
		{[]string{"git", "reset", "--hard"}, []int{200}, false}, // git has not come to run there
		{[]string{"git", "reset", "--hard"}, []int{100}, false},
		{[]string{"git", "reset", "--hard"}, []int{50, stash}, false}, // a hook, or an alias
		{[]string{"git", "push", "x"}, []int{stash}, false},           // publishes
		{[]string{"curl", "x"}, []int{stash}, false},
	} {
		e := start(test.argv...)
		e.Pid, e.Parents = 7, func() []int { return test.parents }
		if a := decide(t.Context(), e); a.Allow != test.allow {
			t.Errorf("%q below %v: %+v", test.argv, test.parents, a)
		}
	}
}

// TestChangedPolicy: the policy that has allowed the command decides, and no other
// one that has taken its place.
func TestChangedPolicy(t *testing.T) {
	raw, file := order(t)
	if err := os.WriteFile(file, []byte(strings.Replace(rules, "curl", "wget", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if decide, err := Build(raw); err == nil {
		t.Errorf("another policy decides: %+v", decide(t.Context(), start("curl", "x")))
	}
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Build(raw); err != nil {
		t.Errorf("the same one again: %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := Build(raw); err == nil {
		t.Error("it decides without its file")
	}
	if _, err := Build(json.RawMessage(`{`)); err == nil {
		t.Error("it decides without an order")
	}
}

// TestAsk: who is asked is asked once about the same words in the same surroundings,
// and no more after five refusals.
// TestRefusedOnce: a no counts for the same words again, and nobody is asked.
func TestRefusedOnce(t *testing.T) {
	raw, _ := order(t)
	asked := 0
	decide, err := BuildWith(func(context.Context, policy.Access, string) (bool, string) {
		asked++
		return false, "not today"
	}, nil)(raw)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if a := decide(t.Context(), start("git", "push", "once")); a.Allow {
			t.Errorf("%+v", a)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

func TestAsk(t *testing.T) {
	raw, _ := order(t)
	var asked []string
	decide, err := BuildWith(func(_ context.Context, a policy.Access, _ string) (bool, string) {
		asked = append(asked, strings.Join(a.Argv, " "))
		return slices.Contains(a.Argv, "yes"), "not today"
	}, nil)(raw)
	if err != nil {
		t.Fatal(err)
	}
	other := start("git", "push", "yes")
	other.Environ = func() []string { return []string{"PATH=/usr/bin", "GIT_SSH=/tmp/evil"} }
	for _, e := range []*sandbox.Exec{start("git", "push", "yes"), start("git", "push", "yes"), other} {
		if a := decide(t.Context(), e); !a.Allow {
			t.Errorf("%v: %+v", e.Argv, a)
		}
	}
	if len(asked) != 2 {
		t.Errorf("asked %q: once for each environment is enough", asked)
	}
	asked = nil
	for range 2 {
		for _, word := range []string{"1", "2", "3", "4", "5", "6", "7"} {
			if a := decide(t.Context(), start("git", "push", word)); a.Allow || a.Rule != "bash(git push *)" || !strings.Contains(a.Why, "a person refused it") {
				t.Errorf("%s: %+v", word, a)
			}
		}
	}
	if len(asked) != maxRefused {
		t.Errorf("asked %q", asked)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if a := decide(ended, start("git", "push", "yes", "late")); a.Allow {
		t.Error("a command that has ended got an answer")
	}
}

// TestOnPaths: git takes back paths that the call did not know in the repository that it was decided for, and in none
// inside it.
func TestOnPaths(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "inner", ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := &policy.Sources{Root: root, Home: t.TempDir(), State: t.TempDir()}
	p, err := policy.Load(s)
	if err != nil {
		t.Fatal(err)
	}
	call := policy.Access{Kind: policy.Exec, Program: "/usr/bin/git", Argv: []string{"git", "checkout", "--", "$f"}, Dynamic: []bool{false, false, false, true}}
	raw, err := New(s, p, []policy.Access{call}, nil, nil, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	decide, err := Build(raw)
	if err != nil {
		t.Fatal(err)
	}
	for dir, allow := range map[string]bool{root: true, filepath.Join(root, "inner"): false, filepath.Dir(root): false} {
		e := start("git", "checkout", "--", "a")
		e.Cwd = dir
		if a := decide(t.Context(), e); a.Allow != allow {
			t.Errorf("in %s: %+v", dir, a)
		}
	}
}

// TestKeeper: what git, rm and the like take away is kept rather than asked about; nothing else is, nor what a rule speaks of.
func TestKeeper(t *testing.T) {
	raw, _ := order(t)
	var kept []string
	can := true
	decide, err := BuildWith(nil, func(_ context.Context, e *sandbox.Exec) bool {
		kept = append(kept, strings.Join(e.Argv, " "))
		return can
	})(raw)
	if err != nil {
		t.Fatal(err)
	}
	copied := start("git", "reset", "--hard")
	copied.Path, copied.Original = "/tmp/git", "/usr/bin/git"
	for _, test := range []struct {
		exec         *sandbox.Exec
		can          bool
		asked, allow bool
	}{
		{start("git", "reset", "--hard"), true, true, true},
		{start("git", "reset", "--hard"), false, true, false},
		{start("git", "stash", "drop"), true, true, true},
		{start("git", "status"), true, false, true},
		{start("git", "push", "--force"), true, false, false},
		{start("git", "tag", "-f", "v1"), true, true, true},
		{start("git", "gc", "--prune=now"), false, true, false},
		{start("git", "config", "core.hooksPath", "x"), true, false, false},
		{start("env", "git", "reset", "--hard"), true, false, true}, // it comes itself
		{start("env", "git", "push", "--force"), true, false, false},
		{start("busybox", "rm", "-rf", "x"), true, false, false},
		{start("sudo", "rm", "-rf", "x"), true, false, false},
		{start("xargs", "rm", "-f"), true, false, true},
		{start("find", ".", "-exec", "rm", "-f", "{}", "+"), true, false, true},
		{start("find", ".", "-delete"), true, false, false},
		{start("rm", "-rf", "x"), true, true, true},
		{start("rm", "-rf", "x"), false, true, false},
		{start("sh", "-c", "rm -rf x && true"), true, false, true},
		{start("sh", "-c", "true; dd if=/dev/zero of=/dev/sda"), true, false, false},
		{start("env", "rm", "-rf", "x"), true, false, true},
		{start("chmod", "-R", "777", "/"), true, false, false},
		{start("sh", "-c", "git reset --hard && true"), true, false, true},
		{start("sh", "-c", "git push --force && true"), true, false, false},
		{copied, true, false, false},
	} {
		kept, can = nil, test.can
		if a := decide(context.Background(), test.exec); a.Allow != test.allow || (len(kept) > 0) != test.asked {
			t.Errorf("%q: %+v, kept %q", test.exec.Argv, a, kept)
		}
	}
}

// TestMadeFor: a name that mktemp made of a template stands for it, and no other does.
func TestMadeFor(t *testing.T) {
	for _, one := range []struct {
		template, name string
		want           bool
	}{
		{"/t/tmp.XXXXXXXXXX", "/t/tmp.3E1rfPbz5Y", true},
		{"/t/tmp.XXXXXXXXXX/a", "/t/tmp.3E1rfPbz5Y/a", true},
		{"/t/aXXX-XXXX.txt", "/t/aXXX-0aZ9.txt", true},
		{"/t/tmp.XXXXXXXXXX", "/t/tmp.3E1rfPbz5", false},
		{"/t/tmp.XXXXXXXXXX/a", "/t/tmp.3E1rfPbz5Y/b", false},
		{"/t/tmp.XXXXXXXXXX", "/t/tmp.3E1rfPb/5Y", false},
		{"/t/tmp.XXXXXXXXXX", "/t/tmq.3E1rfPbz5Y", false},
		{"/t/tmp", "/t/tmq", false},
		{"/t/a/XXXX", "/t/a/0000", false},
		{"/w/XXXX", "/w/0000", false},
		{"XXXX", "0000", false},
		{"/t/XXX", "/t", false},
	} {
		if got := madeFor("/t", one.template, one.name); got != one.want {
			t.Errorf("%s for %s: %v", one.name, one.template, got)
		}
	}
}

// TestMadeBesideRoot: beside the root, too, but never for what leads to it.
func TestMadeBesideRoot(t *testing.T) {
	raw, _ := order(t)
	var o Order
	if err := json.Unmarshal(raw, &o); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(o.Sources.Root, workspace.Options{LockDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	root := w.Root()
	first := filepath.Dir(root)
	g := &gate{order: &Order{Temp: []string{"/free"}, SharedTemp: []string{filepath.Dir(first)}}, workspace: w}
	template := filepath.Dir(first) + "/" + strings.Repeat("X", len(filepath.Base(first)))
	for name, want := range map[string]bool{
		filepath.Dir(first) + "/" + strings.Repeat("a", len(filepath.Base(first))): true,
		first: false,
	} {
		if got := g.made(template, name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	beside, err := os.MkdirTemp(filepath.Dir(first), "b") //nolint:usetesting // beside the one that holds the root
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(beside) })
	template = filepath.Dir(first) + "/" + strings.Repeat("X", len(filepath.Base(beside)))
	if _, ok := machine.Birth(beside); ok && !g.made(template, beside) {
		t.Error("what is new is somebody else's")
	}
	if g.order.Begun = time.Now().Add(time.Hour); g.made(template, beside) {
		t.Error("what was there is new")
	}
	if !g.made("/free/XXXX", "/free/abcd") || g.made("/other/XXXX", "/other/abcd") {
		t.Error("directories are mixed up")
	}
}

// TestKept: in a transaction a program may delete in the root without having stood in the
// call, and nowhere else; what others lose stays dangerous.
func TestKept(t *testing.T) {
	raw, _ := order(t)
	var o Order
	if err := json.Unmarshal(raw, &o); err != nil {
		t.Fatal(err)
	}
	root, elsewhere := o.Sources.Root, t.TempDir()
	for _, test := range []struct {
		argv  []string
		dir   string
		kept  bool
		allow bool
	}{
		{[]string{"rm", "-rf", "build"}, root, false, false},
		{[]string{"rm", "-rf", "build"}, root, true, true},
		{[]string{"sh", "-c", "rm -f *.bak"}, root, true, true},
		{[]string{"sh", "-c", "rm -f *.bak"}, root, false, false},
		{[]string{"git", "reset", "--hard"}, root, true, true},
		{[]string{"git", "reset", "--hard"}, elsewhere, true, false},
		{[]string{"rm", "-rf", elsewhere + "/x"}, root, true, false},
		{[]string{"rm", "-rf", "build"}, elsewhere, true, false},
		{[]string{"git", "push", "--force", "origin"}, root, true, false},
	} {
		o.Kept = test.kept
		raw, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		decide, err := Build(raw)
		if err != nil {
			t.Fatal(err)
		}
		e := start(test.argv...)
		e.Cwd = test.dir
		if got := decide(t.Context(), e); got.Allow != test.allow {
			t.Errorf("%q in %s, kept %v: %+v", test.argv, test.dir, test.kept, got)
		}
	}
}
