//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// An exampleRun runs the programs of an example in a copy of it.
type exampleRun struct {
	*testing.T
	dir string // the copy
	env []string
}

func newExample(t *testing.T, name string, needs ...string) *exampleRun {
	t.Helper()
	for _, tool := range needs {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s on this machine", tool)
		}
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e := &exampleRun{T: t, dir: filepath.Join(top, name)}
	if err := os.CopyFS(e.dir, os.DirFS(filepath.Join("examples", name))); err != nil {
		t.Fatal(err)
	}
	e.env = append(os.Environ(), "HOME="+top, "XDG_STATE_HOME="+filepath.Join(top, "state"), "XDG_CONFIG_HOME="+filepath.Join(top, "config"),
		"AGENTKIT=", "AGENTKIT_SANDBOX=off", "AGENTKIT_OUTPUT=text", "LC_ALL=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=me", "GIT_AUTHOR_EMAIL=me@example.org", "GIT_COMMITTER_NAME=me", "GIT_COMMITTER_EMAIL=me@example.org")
	return e
}

// run runs a command of a shell's in a directory of the copy, which ends with a status and prints a text.
func (e *exampleRun) run(in, command string, status int, want string) {
	e.Helper()
	c := exec.CommandContext(e.Context(), "sh", "-c", command)
	c.Dir, c.Env = filepath.Join(e.dir, in), e.env
	out, _ := c.CombinedOutput()
	if c.ProcessState == nil || c.ProcessState.ExitCode() != status || !strings.Contains(string(out), want) {
		e.Errorf("%s: %v, not %d with %q:\n%s", command, c.ProcessState, status, want, out)
	}
}

// TestCodemod renames with examples/codemod: once for good, once so that the tests fail,
// and once with a file that the policy keeps.
func TestCodemod(t *testing.T) {
	t.Parallel()
	e := newExample(t, "codemod", "python3", "diff")
	rename := func(args string) string {
		return `agentkit --policy ../policy.yaml script --code "$(cat ../rename.lua)" ` + args
	}
	same := "diff -r --exclude=__pycache__ . ../before"
	e.run(".", "cp -r project before && agentkit policy test policy.yaml", 0, "all as expected")
	e.run("project", rename("--args total --args subtotal --args 'python3 -B -m unittest' --args '*.py'"), 0, "the tests pass")
	e.run("project", "grep -c subtotal prices.py && ! grep -w total *.py && grep total data/order.json", 0, "")
	e.run("project", "agentkit undo && "+same, 0, "Undone: edit of 2 files")
	e.run("project", rename("--args count --args sum --args 'python3 -B -m unittest' --args '*.py'"), 0, "the tests fail, so it was taken back")
	e.run("project", same, 0, "")
	e.run("project", rename("--args total --args subtotal --args 'python3 -B -m unittest'"), 0, "nothing was changed: the policy denies")
	e.run("project", same, 0, "")
}

// TestReviewBot has examples/review-bot review a change, and tries what it may not do.
func TestReviewBot(t *testing.T) {
	t.Parallel()
	e := newExample(t, "review-bot", "git", "awk")
	e.run(".", `mkdir repo && cd repo && git init -q -b main && printf 'def f():\n    pass\n' >a.py && git add -A && git commit -qm one &&
		git checkout -qb work && printf 'def f():\n    pass\n    print(1)  # TODO: say "why"\n' >a.py && git commit -qam two`, 0, "")
	e.run(".", "./review.sh repo", 0, `{"path":"a.py","line":3,"body":"Is there an issue for this?"}`+"\n"+`{"path":"a.py","line":3,"body":"Left over from debugging?"}`+"\n")
	e.run(".", "agentkit --root repo --session review log", 0, "git diff --unified=0")
	e.run("repo", "agentkit policy test ../policy.yaml", 0, "all as expected")
	for _, call := range []string{
		"write new.txt x", "edit a.py pass return", "undo", "bash 'touch new.txt'", "bash 'git commit --allow-empty -m x'",
		"bash 'git push origin work'", "bash 'git diff main | tee /tmp/kept'", "bash 'python3 -c 1'", "fetch https://example.org/", "bash 'curl https://example.org/'",
	} {
		e.run("repo", "agentkit --policy ../policy.yaml "+call+"; s=$?; [ $s = 126 ] || [ $s = 2 ]", 0, "")
	}
	e.run("repo", "git status --porcelain && git log --oneline | wc -l", 0, "2")
}

// TestPolicyJob runs the job of examples/policy-ci, and has it notice a door that is opened.
func TestPolicyJob(t *testing.T) {
	t.Parallel()
	e := newExample(t, "policy-ci", "make")
	e.run(".", "make", 0, "all as expected")
	e.run(".", "grep -v customers policy.yaml >open.yaml && make POLICY=open.yaml", 2, "cases.jsonl:4: cat customers/list.csv | wc -l: want deny, got allow")
	e.run(".", "sed 's/read(customers/read(/' policy.yaml >wrong.yaml && make POLICY=wrong.yaml", 2, "wrong.yaml:")
}
