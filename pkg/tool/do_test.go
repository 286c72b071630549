package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/audit"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/truncate"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// A probe is a call that touches the files it is told to and does what do says.
type probe struct {
	Paths []string
	Times int

	do    func(ctx context.Context, env *Env) (*Result, error)
	fails error // of Needs
	runs  int
}

func (c *probe) Params(p *param.Set) {
	p.Strings(&c.Paths, "paths", "what is written")
	p.Int(&c.Times, "times", "a number").Between(0, 3)
}

func (c *probe) Needs(_ context.Context, env *Env) ([]policy.Access, error) {
	var all []policy.Access
	for _, path := range c.Paths {
		all = append(all, policy.Access{Kind: policy.Write, Tool: "probe", Path: filepath.Join(env.Sources.Root, path)})
	}
	return all, c.fails
}

func (c *probe) Run(ctx context.Context, env *Env) (*Result, error) {
	c.runs++
	if c.do == nil {
		return &Result{Title: "done", Output: "out\n"}, nil
	}
	return c.do(ctx, env)
}

func (c *probe) Plan(*Env) any { return map[string]int{"times": c.Times} }

func (c *probe) Describe(context.Context, *Env) map[string]any {
	return map[string]any{"colour": "red", "why": "not ours"}
}

// open makes a call, and the world that it runs in.
func open(t *testing.T, rules string) (*Env, *Tool, *probe) {
	t.Helper()
	root, state := t.TempDir(), filepath.Join(t.TempDir(), "state")
	file := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	src := &policy.Sources{Root: root, Files: []string{file}, State: state, Tools: []string{"probe"}}
	p, err := policy.Load(src)
	if err != nil {
		t.Fatal(err)
	}
	ses, err := session.Open(session.Options{State: state, Root: root, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	log, err := audit.Open(filepath.Join(state, "audit"), audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = log.Close(), ses.Close() })
	w, err := workspace.Open(src.Root, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	c := &probe{}
	env := &Env{
		Workspace: w, Policy: p, Sources: src, Session: ses, Audit: log, Now: time.Now,
		Approvals: &policy.Approvals{Dir: filepath.Join(state, "approvals")},
	}
	return env, &Tool{Name: "probe", Summary: "tries the way of a call", New: func() Call { return c }}, c
}

// records is what the audit has: "decision allow", "result 0 ".
func records(t *testing.T, env *Env) (all []string) {
	t.Helper()
	for e, err := range env.Audit.Read(t.Context(), audit.Filter{}) {
		switch {
		case err != nil:
			t.Fatal(err)
		case e.Event == audit.Decision:
			all = append(all, "decision "+e.Decision)
		default:
			all = append(all, fmt.Sprint("result ", *e.Exit, " ", e.Code))
		}
	}
	return all
}

const verdicts = "deny: ['edit(never)']\nask: ['edit(asked)']"

func code(r *Result) Code {
	if r.Error == nil {
		return ""
	}
	return r.Error.Code
}

// TestVerdicts follows calls through every answer of policy and people: what
// runs, what is said, what is on record.
func TestVerdicts(t *testing.T) {
	yes := func(context.Context, *Request) (Answer, error) { return Answer{Yes: true, Scope: Once}, nil }
	no := func(context.Context, *Request) (Answer, error) { return Answer{Reason: "use make"}, nil }
	gone := func(context.Context, *Request) (Answer, error) {
		return Answer{}, &NobodyError{"the terminal is closed"}
	}
	broken := func(context.Context, *Request) (Answer, error) { return Answer{}, errors.New("a bug") }
	for _, c := range []struct {
		name, paths string
		ask         Asker
		runs        int
		code        Code
		says        string
		records     string
	}{
		{"allowed", `["a","b"]`, nil, 1, "", "", "decision allow, result 0 "},
		{"nothing touched", `[]`, nil, 1, "", "", "decision allow, result 0 "},
		{"denied", `["a","never"]`, yes, 0, Denied, "the policy denies write", "decision deny"},
		{"nobody there", `["asked"]`, nil, 0, ApprovalRequired, "probe needs approval", "decision ask"},
		{"asked: yes", `["asked"]`, yes, 1, "", "", "decision allow, result 0 "},
		{"asked: no", `["a","asked"]`, no, 0, Denied, "a person refused the call: use make", "decision deny"},
		{"asked: gone", `["asked"]`, gone, 0, ApprovalRequired, "the terminal is closed", "decision ask"},
		{"asked: failed", `["asked"]`, broken, 0, Internal, "a bug", "decision ask"},
	} {
		env, tool, call := open(t, verdicts)
		env.Ask = c.ask
		r := Do(t.Context(), env, tool, json.RawMessage(`{"paths":`+c.paths+`}`))
		if call.runs != c.runs || code(r) != c.code {
			t.Errorf("%s: ran %d times, %+v", c.name, call.runs, r.Error)
		}
		if r.Error != nil && !strings.Contains(r.Error.Message, c.says) {
			t.Errorf("%s: %s", c.name, r.Error.Message)
		}
		if got := strings.Join(records(t, env), ", "); got != c.records {
			t.Errorf("%s: recorded %s, want %s", c.name, got, c.records)
		}
	}
}

// TestInput: what cannot be read or is not wanted runs nothing and is no
// matter of the policy.
func TestInput(t *testing.T) {
	for _, c := range []struct {
		input string
		fails error
		code  Code
	}{
		{`{`, nil, BadInput},
		{`{"nonsense":1}`, nil, BadInput},
		{`{"times":-1}`, nil, BadInput},
		{`{}`, Errorf(NotFound, "no such place"), NotFound},
		{`{}`, fmt.Errorf("looking: %w", os.ErrNotExist), NotFound},
		{`{}`, errors.New("odd"), Internal},
	} {
		env, tool, call := open(t, verdicts)
		call.fails = c.fails
		r := Do(t.Context(), env, tool, json.RawMessage(c.input))
		if code(r) != c.code || call.runs != 0 {
			t.Errorf("%s, %v: %+v", c.input, c.fails, r.Error)
		}
		if got := records(t, env); len(got) != 0 {
			t.Errorf("%s: recorded %q", c.input, got)
		}
	}
}

// TestApprovalLater: a request that nobody could answer is answered from
// elsewhere, and counts for the same call once.
func TestApprovalLater(t *testing.T) {
	env, tool, call := open(t, verdicts)
	input := json.RawMessage(`{"paths":["asked"]}`)
	first := Do(t.Context(), env, tool, input)
	details, ok := first.Error.Details.(ApprovalDetails)
	if !ok || details.Request.Metadata["colour"] != "red" || details.Request.Metadata["why"] == "not ours" {
		t.Fatalf("%+v %+v", first.Error, first.Error.Details)
	}
	list, err := env.Approvals.List(t.Context())
	if err != nil || len(list) != 1 || !strings.Contains(first.Error.Hint, list[0].ID) {
		t.Fatalf("%+v %v %s", list, err, first.Error.Hint)
	}
	if _, err := env.Approvals.Approve(t.Context(), list[0].ID); err != nil {
		t.Fatal(err)
	}
	if r := Do(t.Context(), env, tool, json.RawMessage(`{"paths":["asked","a"]}`)); code(r) != ApprovalRequired {
		t.Errorf("another call: %+v", r.Error)
	}
	for i, want := range []Code{"", ApprovalRequired} {
		if r := Do(t.Context(), env, tool, input); code(r) != want || call.runs != 1 {
			t.Errorf("time %d: %+v, ran %d times", i+1, r.Error, call.runs)
		}
	}
}

// unwritable puts a link in the place of the audit, which is refused for root,
// too.
func unwritable(t *testing.T, env *Env) {
	t.Helper()
	dir := filepath.Dir(env.Audit.Path())
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(filepath.Dir(dir), 0o700), os.Symlink(t.TempDir(), dir)); err != nil {
		t.Fatal(err)
	}
}

// TestRecord: what cannot be put on record does not run, whoever said yes.
func TestRecord(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are Unix's")
	}
	for _, path := range []string{"a", "asked", "never"} {
		env, tool, call := open(t, verdicts)
		env.Ask = func(context.Context, *Request) (Answer, error) { return Answer{Yes: true, Scope: Once}, nil }
		unwritable(t, env)
		r := Do(t.Context(), env, tool, json.RawMessage(`{"paths":["`+path+`"]}`))
		if code(r) != IO || call.runs != 0 || !strings.Contains(r.Error.Message, "recording the call") {
			t.Errorf("%s: ran %d times, %+v", path, call.runs, r.Error)
		}
	}
}

// TestDryRun says what would be asked, and does nothing.
func TestDryRun(t *testing.T) {
	env, tool, call := open(t, verdicts)
	env.DryRun = true
	r := Do(t.Context(), env, tool, json.RawMessage(`{"paths":["a","asked"],"times":2}`))
	raw, err := json.Marshal(r)
	if err != nil || call.runs != 0 || r.Error != nil {
		t.Fatalf("%v, ran %d times, %+v", err, call.runs, r.Error)
	}
	for _, want := range []string{`"dry_run":true`, `"plan":{"times":2}`, `"title":"probe: ask"`, "allow write ", "ask write "} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("%s is missing in %s", want, raw)
		}
	}
	if got := records(t, env); len(got) != 0 {
		t.Errorf("recorded %q", got)
	}
}

// TestPanic: a bug is told as one, with its stack, and the process lives on.
func TestPanic(t *testing.T) {
	env, tool, call := open(t, verdicts)
	call.do = func(context.Context, *Env) (*Result, error) { panic("out of thin air") }
	r := Do(t.Context(), env, tool, json.RawMessage(`{}`))
	if code(r) != Internal || !strings.Contains(r.Error.Message, "out of thin air") || !strings.Contains(fmt.Sprint(r.Error.Details), "do_test.go") {
		t.Errorf("%+v", r.Error)
	}

	// One with a key is on record as what it was, and is not made again.
	made := 0
	call.do = func(context.Context, *Env) (*Result, error) { made++; panic("out of thin air") }
	env.Key = "a key"
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for range 2 {
		if r := Do(ctx, env, tool, json.RawMessage(`{}`)); code(r) != Internal {
			t.Errorf("%+v", r.Error)
		}
	}
	if made != 1 {
		t.Errorf("it was made %d times", made)
	}
}

// TestTrim: an output that the tool has not cut is cut, and kept whole.
func TestTrim(t *testing.T) {
	env, tool, call := open(t, verdicts)
	env.Limits = truncate.Limits{Bytes: 2000, Lines: 20}
	whole := strings.Repeat("one line of an output\n", 500)
	call.do = func(context.Context, *Env) (*Result, error) { return &Result{Title: "long", Output: whole}, nil }
	r := Do(t.Context(), env, tool, json.RawMessage(`{}`))
	var got struct {
		Output   string
		Metadata struct {
			Truncated  bool
			TotalLines int    `json:"total_lines"`
			SpillPath  string `json:"spill_path"`
		}
	}
	raw, err := json.Marshal(r)
	if err == nil {
		err = json.Unmarshal(raw, &got)
	}
	if err != nil || len(got.Output) > 2500 || !got.Metadata.Truncated || got.Metadata.TotalLines != 500 {
		t.Fatalf("%v: %d bytes, %+v", err, len(got.Output), got.Metadata)
	}
	if spilled, err := os.ReadFile(got.Metadata.SpillPath); string(spilled) != whole {
		t.Errorf("the spill has %d bytes of %d: %v", len(spilled), len(whole), err)
	}
	call.do = func(context.Context, *Env) (*Result, error) { return &Result{Output: whole, Trimmed: true}, nil }
	if r := Do(t.Context(), env, tool, json.RawMessage(`{}`)); r.Output != whole {
		t.Error("what the tool cut itself was cut again")
	}
}

// TestSignal: a call that a signal ended says which, and exits with it.
func TestSignal(t *testing.T) {
	env, tool, call := open(t, verdicts)
	ctx, cancel := context.WithCancelCause(t.Context())
	call.do = func(ctx context.Context, _ *Env) (*Result, error) {
		cancel(&Signal{Number: syscall.SIGTERM})
		return &Result{Title: "half", Output: "begun\n"}, fmt.Errorf("waiting: %w", ctx.Err())
	}
	r := Do(ctx, env, tool, json.RawMessage(`{}`))
	if code(r) != Interrupted || r.Error.Message != "interrupted by SIGTERM" || r.Exit() != ExitSignal+int(syscall.SIGTERM) || r.Output != "begun\n" {
		t.Errorf("%+v, status %d, %q", r.Error, r.Exit(), r.Output)
	}
	if got := records(t, env); len(got) != 2 || got[1] != fmt.Sprint("result ", ExitSignal+int(syscall.SIGTERM), " interrupted") {
		t.Errorf("recorded %q", got)
	}
}

// TestFailure: what was done before a failure stands beside it.
func TestFailure(t *testing.T) {
	env, tool, call := open(t, verdicts)
	call.do = func(context.Context, *Env) (*Result, error) {
		return &Result{Title: "half", Output: "one of two\n"}, Errorf(Conflict, "the second is gone")
	}
	if r := Do(t.Context(), env, tool, json.RawMessage(`{}`)); code(r) != Conflict || r.Output != "one of two\n" || r.Exit() != Conflict.Exit() {
		t.Errorf("%+v", r)
	}
	tool.Passes = true
	call.do = func(context.Context, *Env) (*Result, error) { return nil, Errorf(IO, "no shell") }
	if r := Do(t.Context(), env, tool, json.RawMessage(`{}`)); r.Title != "probe" || r.Exit() != ExitAgentkit {
		t.Errorf("%+v, status %d", r, r.Exit())
	}
	if got := strings.Join(records(t, env), ", "); !strings.HasSuffix(got, fmt.Sprintf("result %d io", ExitAgentkit)) {
		t.Errorf("recorded %s", got)
	}
}

// TestMay: below what was allowed, only what needs no question is touched.
func TestMay(t *testing.T) {
	env, _, _ := open(t, verdicts)
	for path, want := range map[string]Code{"a": "", "asked": Denied, "never": Denied} {
		err := env.May(policy.Access{Kind: policy.Write, Tool: "probe", Path: filepath.Join(env.Sources.Root, path)})
		if (err == nil) != (want == "") || err != nil && AsError(err).Code != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestApprove: while a call runs, only someone's yes that is on record counts.
func TestApprove(t *testing.T) {
	env, _, _ := open(t, verdicts)
	at := func(path string) policy.Access {
		return policy.Access{Kind: policy.Write, Tool: "probe", Path: filepath.Join(env.Sources.Root, path)}
	}
	if a := env.Approve(t.Context(), "probe", at("asked"), "/"); a.Yes {
		t.Error("nobody said yes")
	}
	asked := 0
	env.Ask = func(context.Context, *Request) (Answer, error) {
		asked++
		return Answer{Yes: true, Scope: Once}, nil
	}
	for path, want := range map[string]bool{"a": true, "asked": true, "never": false} {
		if a := env.Approve(t.Context(), "probe", at(path), "/"); a.Yes != want {
			t.Errorf("%s: %+v", path, a)
		}
	}
	if got := records(t, env); asked != 1 || len(got) != 1 || got[0] != "decision allow" {
		t.Errorf("asked %d times, recorded %q", asked, got)
	}
	unwritable(t, env)
	if a := env.Approve(t.Context(), "probe", at("asked"), "/"); a.Yes {
		t.Error("a yes that is not on record")
	}
}

// TestEvents: who listens hears of the start before anything is decided.
func TestEvents(t *testing.T) {
	env, tool, call := open(t, verdicts)
	var heard []string
	env.Emit = func(e Event) { heard = append(heard, e.Name) }
	call.do = func(context.Context, *Env) (*Result, error) {
		heard = append(heard, "run")
		return nil, nil
	}
	r := Do(t.Context(), env, tool, json.RawMessage(`{}`))
	if strings.Join(heard, " ") != "start run" || r.Title != "probe" || r.Error != nil {
		t.Errorf("%q, %+v", heard, r)
	}
}

// TestAfter: what is left to be done is done at once where nobody collects it.
func TestAfter(t *testing.T) {
	var env Env
	done := 0
	env.After(func() { done++ })
	if done != 1 {
		t.Errorf("done %d times", done)
	}
	var kept []func()
	env.Later = func(f func()) { kept = append(kept, f) }
	if env.After(func() { done++ }); done != 1 || len(kept) != 1 {
		t.Errorf("done %d times, %d kept", done, len(kept))
	}
}
