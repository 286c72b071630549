//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A caller is one of many that use the same workspace at the same time. It has a line of
// its own in a file that all change, and files of its own.
type caller struct {
	*world
	t     *testing.T
	n     int
	r     *rand.Rand
	count int // what its line of shared.txt says
	pair  int // what its two files say
	calls int
}

// callAnswer is what a call returned.
type callAnswer struct {
	status   int
	raw      string
	Output   string
	Metadata struct {
		Job, Status, Diff string
		Until             *string
		Truncated         bool
		ExitCode          *int `json:"exit_code"`
	}
	Error *struct{ Code, Message string }
}

// do makes a call, which must be answered, in order and in time.
func (c *caller) do(args ...string) callAnswer {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := c.command(ctx, append([]string{"-o", "json", "--profile", "open", "--session", fmt.Sprint("caller", c.n)}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, _ := cmd.Output()
	a := callAnswer{status: cmd.ProcessState.ExitCode(), raw: string(out)}
	c.calls++
	if err := json.Unmarshal(out, &a); err != nil {
		c.t.Errorf("caller %d: %.80q has no answer: status %d, %v: %.300q %.300s", c.n, args, a.status, err, out, stderr.String())
		return a
	}
	if a.Error != nil && (a.Error.Code == "internal" || a.Error.Code == "io") {
		c.t.Errorf("caller %d: %.80q: %+v", c.n, args, *a.Error)
	}
	return a
}

// must is do of a call that succeeds.
func (c *caller) must(args ...string) callAnswer {
	a := c.do(args...)
	if a.Error != nil || a.status != 0 {
		c.t.Errorf("caller %d: %.120q: status %d: %.400s", c.n, args, a.status, a.raw)
	}
	return a
}

func (c *caller) file(name string) string { return fmt.Sprintf("own/%d-%s.txt", c.n, name) }

func (c *caller) holds(name, want string) {
	if got, err := os.ReadFile(filepath.Join(c.root, name)); err != nil || string(got) != want {
		c.t.Errorf("caller %d: %s holds %.100q, want %.100q: %v", c.n, name, got, want, err)
	}
}

// line changes the caller's line of the file that all change.
func (c *caller) line() {
	old, next := fmt.Sprintf("caller %d count %d.", c.n, c.count), fmt.Sprintf("caller %d count %d.", c.n, c.count+1)
	args := []string{"edit", "shared.txt", old, next}
	if c.r.IntN(2) == 0 {
		args = []string{"patch", "*** Begin Patch\n*** Update File: shared.txt\n@@\n-" + old + "\n+" + next + "\n*** End Patch\n"}
	}
	if c.must(args...).Error != nil {
		return
	}
	c.count++
	if a := c.must("grep", "^caller "+fmt.Sprint(c.n)+" ", "shared.txt"); !strings.Contains(a.Output, next) {
		c.t.Errorf("caller %d: after the change to %q grep finds %q", c.n, next, a.Output)
	}
}

// order prints on both streams, and wants the order of printing.
func (c *caller) order() {
	if a := c.must("bash", "for i in 1 2 3; do echo out $i; echo err $i >&2; done"); a.Output != "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n" {
		c.t.Errorf("caller %d: out of order: %q", c.n, a.Output)
	}
}

// back changes a file and takes it back.
func (c *caller) back() {
	name, was := c.file("back"), strings.Repeat("as it was\n", 1+c.r.IntN(200))
	c.must("write", name, was)
	a := c.must("edit", "--json", fmt.Sprintf(`{"path":%q,"old_string":"as it was","new_string":"changed","replace_all":true}`, name))
	if len(a.raw) > 60_000 {
		c.t.Errorf("caller %d: a result of %d bytes", c.n, len(a.raw))
	}
	c.must("undo")
	c.holds(name, was)
}

// killed kills a patch of two files at some moment: both are old or both are new.
func (c *caller) killed() {
	one, two := c.file("one"), c.file("two")
	content := func(k int) string { return fmt.Sprintf("head\nstate %d\n%s", k, strings.Repeat("tail\n", 500)) }
	if c.pair == 0 {
		c.pair = 1
		c.must("write", one, content(1))
		c.must("write", two, content(1))
	}
	hunk := fmt.Sprintf("@@\n-state %d\n+state %d\n", c.pair, c.pair+1)
	cmd := c.command(context.Background(), "--profile", "open", "--session", fmt.Sprint("caller", c.n), "patch",
		"*** Begin Patch\n*** Update File: "+one+"\n"+hunk+"*** Update File: "+two+"\n"+hunk+"*** End Patch\n")
	if err := cmd.Start(); err != nil {
		c.t.Error(err)
		return
	}
	time.AfterFunc(time.Duration(c.r.IntN(120))*time.Millisecond, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	c.do("undo", "--list") // who comes next puts things right
	// Another caller may be at it already, and is not waited for by who only looks.
	state := func(name string) string {
		got, _ := os.ReadFile(filepath.Join(c.root, name))
		return string(got)
	}
	c.must("edit", one, "head", "head!") // this waits
	c.must("undo")
	if state(one) == content(c.pair+1) {
		c.pair++
	}
	c.holds(one, content(c.pair))
	c.holds(two, content(c.pair))
}

// job starts a server, waits for its line, types into it and ends it.
func (c *caller) job() {
	a := c.must("bash", "--background", "sleep 0.1; echo ready; while read l; do echo got $l; done")
	if id := a.Metadata.Job; id == "" {
		c.t.Errorf("caller %d: no job: %.300s", c.n, a.raw)
	} else {
		if a := c.must("output", id, "--until", "^ready", "--timeout-ms", "60000"); a.Metadata.Until == nil {
			c.t.Errorf("caller %d: the line has not come: %.300s", c.n, a.raw)
		}
		if a := c.must("input", id, "--text", "word\n", "--yield-ms", "100"); a.Error == nil {
			if a := c.must("output", id, "--until", "^got word", "--offset", "0", "--timeout-ms", "60000"); a.Metadata.Until == nil {
				c.t.Errorf("caller %d: no answer: %.300s", c.n, a.raw)
			}
		}
		c.must("jobs")
		if a := c.must("kill", id); a.Metadata.Status != "aborted" {
			c.t.Errorf("caller %d: after kill: %.300s", c.n, a.raw)
		}
	}
}

// leaves has the reader of a call go away: the command ends.
func (c *caller) leaves() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", `"$0" --profile open -o text bash yes | head -2`, c.binary)
	cmd.Dir, cmd.Env = c.root, c.env
	if out, err := cmd.Output(); err != nil || string(out) != "y\ny\n" {
		c.t.Errorf("caller %d: %q, %v", c.n, out, err)
	}
}

// long prints much: the result is bounded, and its end is there.
func (c *caller) long() {
	if a := c.must("bash", "seq 20000"); len(a.raw) > 100_000 || !strings.Contains(a.Output, "\n20000\n") || !a.Metadata.Truncated {
		c.t.Errorf("caller %d: %d bytes: …%.200q", c.n, len(a.raw), a.Output[max(0, len(a.Output)-200):])
	}
}

func (c *caller) looks() {
	c.must("ls")
	if a := c.do("glob", "own/*.txt"); a.Error != nil || a.status > 1 { // nobody may have written yet
		c.t.Errorf("caller %d: glob: status %d: %.400s", c.n, a.status, a.raw)
	}
	c.must("read", "shared.txt", "--limit", "3")
	c.must("todo")
	c.must("gc")
}

// TestCallers has many callers use one workspace, while somebody outside appends to the
// file that all of them change. AGENTKIT_SOAK has forty of them go on for ten minutes.
func TestCallers(t *testing.T) {
	t.Parallel()
	long(t)
	callers, length := 6, time.Duration(sampled(2, 4))*time.Second
	if soak() {
		callers, length = 40, 10*time.Minute
	}
	w := newWorld(t, build(t))
	if err := os.MkdirAll(filepath.Join(w.root, "own"), 0o700); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for n := range callers {
		fmt.Fprintf(&text, "caller %d count 0.\nbetween %d\n", n, n)
	}
	shared := filepath.Join(w.root, "shared.txt")
	if err := os.WriteFile(shared, []byte(text.String()+"end\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	var outside sync.WaitGroup
	appended := 0
	outside.Go(func() {
		for ctx.Err() == nil {
			f, err := os.OpenFile(shared, os.O_WRONLY|os.O_APPEND, 0)
			if err == nil {
				_, err = fmt.Fprintf(f, "line %d.\n", appended)
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				t.Error("appending: ", err)
			}
			appended++
			time.Sleep(rand.N(2 * time.Second))
		}
	})
	var all sync.WaitGroup
	list := make([]*caller, callers)
	for n := range list {
		c := &caller{world: w, t: t, n: n, r: rand.New(rand.NewPCG(uint64(n), 7))}
		list[n] = c
		all.Go(func() {
			for ctx.Err() == nil {
				[]func(){c.line, c.line, c.order, c.back, c.killed, c.job, c.leaves, c.long, c.looks}[c.r.IntN(9)]()
			}
		})
	}
	all.Wait()
	outside.Wait()
	data, err := os.ReadFile(shared)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for n, c := range list {
		calls += c.calls
		if line := fmt.Sprintf("caller %d count %d.\nbetween %d\n", n, c.count, n); !strings.Contains(string(data), line) {
			t.Errorf("a change is lost: there is no %q", line)
		}
	}
	for i := range appended {
		if !strings.Contains(string(data), fmt.Sprintf("line %d.\n", i)) {
			t.Errorf("line %d of %d that somebody outside appended is lost", i, appended)
		}
	}
	t.Logf("%d callers, %d calls, %d lines from outside", callers, calls, appended)
	names, err := filepath.Glob(filepath.Join(w.root, "*"))
	if left, _ := filepath.Glob(filepath.Join(w.root, "own", ".*")); err != nil || len(left) > 0 || len(names) != 5 {
		t.Errorf("left behind: %q %q, %v", names, left, err)
	}
}
