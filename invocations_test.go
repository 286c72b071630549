//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A world is a workspace of its own with a home, state and configuration, and
// the binary that works in it.
type world struct {
	binary, root string
	env          []string
}

func newWorld(tb testing.TB, binary string) *world {
	tb.Helper()
	top := tb.TempDir()
	w := &world{binary: binary, root: filepath.Join(top, "root")}
	for _, dir := range []string{"root/sub", "home", "state", "config", "temp"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o700); err != nil {
			tb.Fatal(err)
		}
	}
	for name, text := range map[string]string{"a.txt": "one\ntwo\none\n", "sub/b.go": "package b\n", "policy.txt": "no policy: [\n"} {
		if err := os.WriteFile(filepath.Join(w.root, name), []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	w.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(top, "home"), "TMPDIR=" + filepath.Join(top, "temp"),
		"XDG_STATE_HOME=" + filepath.Join(top, "state"), "XDG_CONFIG_HOME=" + filepath.Join(top, "config"), "LC_ALL=C.UTF-8",
	}
	return w
}

func (w *world) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, w.binary, args...)
	cmd.Dir, cmd.Env = w.root, w.env
	return cmd
}

// print is a hash over the names, modes and contents of the workspace.
func (w *world) print(tb testing.TB) string {
	tb.Helper()
	h := sha256.New()
	err := filepath.WalkDir(w.root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%q %v\n", name, info.Mode())
		if d.Type().IsRegular() {
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			h.Write(data)
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return string(h.Sum(nil))
}

// An invocation is one command line that cannot be carried out.
type invocation struct {
	args   []string
	env    string // one variable more
	stdin  string
	closed bool // standard input is closed, not empty
}

// toolNames are the tools; each has a parameter list of its own.
func toolNames() []string {
	return []string{"bash", "read", "write", "edit", "ls", "glob", "grep", "todo"}
}

// plain are malformed command lines without anything odd in a word.
func plain() []string {
	return []string{
		"-", "--", "-- --", "READ a.txt", "--root", "-o", "--no-such", "-Z", "-xyz", "--=x", "---", "--root=", "call nothing", "call read write",
		"policy", "policy chek", "policy check", "policy check nothing", "policy check read --json {", "policy approve", "policy approve no-such",
		"policy approve ../../x", "policy allow", "policy allow bash(", "policy allow nothing(x)", "policy test", "policy test absent.jsonl",
		"policy trust x", "policy lint x", "gc x", "version x", "completion", "completion tcsh", "tools nothing", "tools --format x", "tools --dialect x",
		"help nothing", "edit a.txt two", "read --offset 2 --json {\"path\":\"a.txt\"}",
	}
}

// globals are flags of every command with values that they cannot have.
func globals() []string {
	return []string{
		"--root=/no/such/place", "--root=a.txt", "--policy=absent.yaml", "--policy=policy.txt", "--allow=bash((", "--allow=nothing(x)", "--profile=none",
		"--sandbox=maybe", "--dialect=x", "-o=xml", "--session=../x", "--session=" + strings.Repeat("s", 65), "--ask=nobody",
		"--max-lines=x", "--max-lines=-1", "--max-bytes=1e99", "--max-tokens=", "--dry-run=perhaps",
	}
}

// fixed are the malformed invocations that somebody thought of.
func fixed() []invocation {
	long, deep := strings.Repeat("x", 100_000), strings.Repeat("[", 20_000)
	list := []invocation{{}, {args: []string{"call"}, closed: true}, {args: []string{"read", "--json", "-"}, closed: true}}
	for _, line := range plain() {
		list = append(list, invocation{args: strings.Fields(line)})
	}
	for _, word := range []string{"", " ", "\x1b[2J", "re\nad", "\xff\xfe", long, "--" + long} {
		list = append(list, invocation{args: []string{word}}, invocation{args: []string{"call", word}, stdin: "{}"})
	}
	for _, request := range []string{
		"", "{}", deep, `{"name":"` + long + `"}`, `{"name":"read","arguments":"a.txt"}`, `{"name":["read"],"arguments":{}}`, `{"arguments":{}}`,
		`{"name":"read","arguments":{"path":"a.txt"},"root":"/"}`, `{"name":"read","arguments":{"path":"a.txt","policy":"x"}}`,
	} {
		list = append(list, invocation{args: []string{"call"}, stdin: request})
	}
	for _, setting := range []string{"POLCY=x", "POLICY=absent.yaml", "MAX_LINES=many", "OUTPUT=xml", "ROOT=/no/such/place", "SESSION=a/b", "ALLOW=bash(", "PROFILE=none"} {
		list = append(list, invocation{args: []string{"read", "a.txt"}, env: "AGENTKIT_" + setting})
	}
	for _, name := range toolNames() {
		for _, flag := range globals() {
			list = append(list, invocation{args: []string{name, flag, "a.txt", "x"}})
		}
		for _, object := range []string{
			"", " ", "{", "}", "null", "true", "17", `"x"`, "[]", "[{}]", `{"a"}`, `{"a":}`, `{'path':'a.txt'}`, `{"path":"a.txt",}`, `{} {}`, "{}x", `{"":1}`, `{"path":"a.txt"`, "{\"path\":\"\xff\"",
			deep, `{"path":` + deep, `{"no_such_parameter":1}`, `{"root":"/"}`, `{"policy":"x"}`, `{"allow":"bash(**)"}`, `{"\u0000":1}`, `{"no such":"` + long[:1000] + `"}`, `{"__proto__":{}}`,
		} {
			list = append(list, invocation{args: []string{name, "--json", object}}, invocation{args: []string{"call", name}, stdin: object})
		}
	}
	return list
}

// generated adds what nobody thought of: wrong types for known parameters,
// wrong flags, random bytes.
func generated(r *rand.Rand, n int) []invocation {
	params := []string{"path", "offset", "limit", "content", "old_string", "edits", "pattern", "mode", "todos", "command", "timeout_ms", "env", "argv", "depth", "sort", "cursor", "mode", "replace_all"}
	values := []string{"{}", "[{}]", "[[]]", "[1,2]", "-1", "0.5", "1e400", "99999999999999999999", `{"a":{"b":[]}}`, `"\ud800"`, `[null]`, `"\u0000"`, "tru", "NaN", "0x10", `"`}
	junk := func() string {
		b := make([]byte, 1+r.IntN(40))
		for i := range b {
			b[i] = byte(1 + r.IntN(255))
		}
		return string(b)
	}
	var list []invocation
	for range n {
		name := toolNames()[r.IntN(8)]
		p, v := params[r.IntN(len(params))], values[r.IntN(len(values))]
		bad := fmt.Sprintf(`{%q:%s,"never_a_parameter":1}`, p, v)
		switch r.IntN(6) {
		case 0:
			list = append(list, invocation{args: []string{name, "--json", bad}})
		case 1:
			list = append(list, invocation{args: []string{"call"}, stdin: fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, bad)})
		case 2:
			list = append(list, invocation{args: []string{name, "--never-" + strings.ReplaceAll(p, "_", "-"), v}})
		case 3:
			list = append(list, invocation{args: []string{name, "--json", "-"}, stdin: junk()})
		case 4:
			list = append(list, invocation{args: []string{"never" + junk(), junk()}})
		case 5:
			list = append(list, invocation{args: []string{name, "--json", "{" + junk()}, closed: r.IntN(2) == 0})
		}
	}
	return list
}

// TestMalformed throws command lines at the real binary that cannot be carried
// out, and checks that each is answered by exactly one result that says what
// is wrong and what to do, and that nothing was done.
func TestMalformed(t *testing.T) {
	t.Parallel()
	long(t)
	w := newWorld(t, build(t))
	before := w.print(t)
	list := append(some(fixed(), 3), generated(rand.New(rand.NewPCG(rand.Uint64(), 2)), sampled(50, 300))...)
	if len(list) < sampled(200, 500) {
		t.Fatalf("only %d invocations", len(list))
	}
	begin := time.Now()
	work := make(chan invocation)
	var wg sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range work {
				if err := w.malformed(i); err != nil {
					t.Errorf("%.200q stdin %.60q env %q: %v", i.args, i.stdin, i.env, err)
				}
			}
		})
	}
	for _, i := range list {
		work <- i
	}
	close(work)
	wg.Wait()
	t.Logf("%d invocations in %v", len(list), time.Since(begin).Round(time.Millisecond))
	if w.print(t) != before {
		t.Error("the workspace has changed")
	}
}

// malformed makes one call and says what is wrong about the answer.
func (w *world) malformed(i invocation) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := w.command(ctx, i.args...)
	if i.env != "" {
		cmd.Env = append(slices.Clone(w.env), i.env)
	}
	cmd.Stdin = strings.NewReader(i.stdin)
	if i.closed {
		// A shell can start a program without a standard input; os/exec cannot.
		cmd.Stdin = nil
		cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `exec "$0" "$@" <&-`, w.binary}, i.args...)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return errors.New("did not end")
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	if bytes.Contains(stderr.Bytes(), []byte("goroutine ")) {
		return fmt.Errorf("a stack trace: %.300s", stderr.String())
	}
	if err := check(stdout.Bytes(), cmd.ProcessState.ExitCode()); err != nil {
		return err
	}
	if name, isTool := calledTool("agentkit " + strings.Join(i.args, " ")); isTool && len(i.args) > 0 {
		return keepsContract(name, stdout.Bytes())
	}
	return nil
}

// check says what is wrong about an error result.
func check(stdout []byte, status int) error {
	if bytes.Count(stdout, []byte("\n")) != 1 || !bytes.HasSuffix(stdout, []byte("\n")) {
		return fmt.Errorf("status %d, not one line: %.300q", status, stdout)
	}
	var r struct {
		Title    *string         `json:"title"`
		Output   *string         `json:"output"`
		Metadata map[string]any  `json:"metadata"`
		Extra    json.RawMessage `json:"attachments"`
		Error    *struct {
			Code        tool.Code `json:"code"`
			Message     string    `json:"message"`
			Hint        string    `json:"hint"`
			Suggestions []string  `json:"suggestions"`
			Details     any       `json:"details"`
		} `json:"error"`
	}
	dec := json.NewDecoder(bytes.NewReader(stdout))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		return fmt.Errorf("not a result: %w: %.300q", err, stdout)
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("more than one result: %.300q", stdout)
	}
	switch {
	case r.Title == nil || r.Output == nil || r.Metadata == nil:
		return fmt.Errorf("a field is missing: %.300q", stdout)
	case r.Error == nil:
		return fmt.Errorf("status %d, no error: %.300q", status, stdout)
	case !slices.Contains(tool.Codes(), r.Error.Code):
		return fmt.Errorf("unknown code %q", r.Error.Code)
	case r.Error.Code == tool.Internal:
		return fmt.Errorf("called a bug of ours: %.300q", r.Error.Message)
	case r.Error.Message == "" || r.Error.Hint == "":
		return fmt.Errorf("no message or no hint: %.300q", stdout)
	}
	want := []int{r.Error.Code.Exit()}
	if want[0] == tool.ExitError {
		want = append(want, tool.ExitAgentkit)
	}
	if !slices.Contains(want, status) {
		return fmt.Errorf("status %d for %s", status, r.Error.Code)
	}
	return nil
}

// TestClosedStdout shows that a reader who goes away early stops no work, and
// that an answer that cannot be written is not a success.
func TestClosedStdout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, build(t))
	r, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	cmd := w.command(t.Context(), "write", "written.txt", "text")
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &stderr
	err = cmd.Run()
	_ = out.Close()
	if data, err := os.ReadFile(filepath.Join(w.root, "written.txt")); err != nil || string(data) != "text" {
		t.Errorf("the work was not done: %q, %v", data, err)
	}
	if strings.Contains(stderr.String(), "goroutine ") || strings.Contains(stderr.String(), "panic") {
		t.Errorf("a stack trace: %s", stderr.String())
	}
	if got := cmd.ProcessState.ExitCode(); got != 128+int(syscall.SIGPIPE) {
		t.Errorf("closed pipe: status %d (%v), want %d as other programs have", got, err, 128+int(syscall.SIGPIPE))
	}

	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here: the second half is left out")
	}
	defer full.Close()
	for _, args := range [][]string{{"read", "a.txt"}, {"read", "a.txt", "-o", "text"}, {"read", "a.txt", "-o", "events"}, {"version"}, {"nothing"}, {"bash", "echo hi"}} {
		cmd := w.command(t.Context(), args...)
		stderr.Reset()
		cmd.Stdout, cmd.Stderr = full, &stderr
		_ = cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != tool.ExitError && got != tool.ExitAgentkit {
			t.Errorf("%q on a full disk: status %d", args, got)
		}
		if !strings.HasPrefix(stderr.String(), "agentkit: error: ") || strings.Contains(stderr.String(), "goroutine ") {
			t.Errorf("%q on a full disk: standard error is %q", args, stderr.String())
		}
	}
}

// TestInterrupt shows that a signal ends a command with all it has started,
// and that what it printed until then is in the one result that comes.
func TestInterrupt(t *testing.T) {
	binary := build(t)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			newWorld(t, binary).interrupt(t, sig)
		})
	}
}

func (w *world) interrupt(t *testing.T, sig syscall.Signal) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	// The command may have numbers of its own for its processes, so the one that
	// it starts is known by what it was started with.
	mark := "6" + strconv.Itoa(os.Getpid()) + strconv.Itoa(int(sig))
	cmd := w.command(ctx, "--profile", "open", "bash", "echo begun; sleep "+mark+" & wait; echo never")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for ctx.Err() == nil && !started(t, "sleep", mark) {
		time.Sleep(5 * time.Millisecond)
	}
	if ctx.Err() != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Fatalf("the command did not start: %s%s", stdout.String(), stderr.String())
	}
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	status := cmd.ProcessState.ExitCode()
	if status != 128+int(sig) {
		t.Errorf("status %d, want %d", status, 128+int(sig))
	}
	var r struct {
		Output   string
		Metadata struct {
			Status   string
			ExitCode *int `json:"exit_code"`
		}
		Error struct{ Code, Message, Hint string }
	}
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil || bytes.Count(stdout.Bytes(), []byte("\n")) != 1 {
		t.Fatalf("not one result: %v: %q", err, stdout.String())
	}
	if r.Error.Code != string(tool.Interrupted) || r.Error.Message == "" || r.Error.Hint == "" {
		t.Errorf("the error is %+v", r.Error)
	}
	if !strings.HasPrefix(r.Output, "begun\n") || strings.Contains(r.Output, "never") {
		t.Errorf("the output is %q", r.Output)
	}
	if r.Metadata.Status != "aborted" || r.Metadata.ExitCode != nil {
		t.Errorf("the metadata is %+v", r.Metadata)
	}
	if started(t, "sleep", mark) {
		t.Errorf("sleep %s lives on", mark)
	}
}

// started reports whether a process with these words runs. One that has ended
// and waits to be collected has none.
func started(t *testing.T, words ...string) bool {
	t.Helper()
	if names, _ := filepath.Glob("/proc/[0-9]*/cmdline"); len(names) > 0 {
		want := []byte(strings.Join(words, "\x00") + "\x00")
		return slices.ContainsFunc(names, func(name string) bool {
			line, err := os.ReadFile(name)
			return err == nil && bytes.Equal(line, want)
		})
	}
	out, err := exec.CommandContext(t.Context(), "ps", "-A", "-o", "stat=", "-o", "args=").Output()
	if err != nil {
		t.Fatalf("ps: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		stat, args, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.TrimSpace(args) == strings.Join(words, " ") && !strings.HasPrefix(stat, "Z") {
			return true
		}
	}
	return false
}
