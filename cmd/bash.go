package cmd

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/job"
	"github.com/agentkit-go/agentkit/pkg/journal"
	"github.com/agentkit-go/agentkit/pkg/killtree"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/shellparse"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/truncate"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

//go:embed bash.md
var bashDoc string

var bashTool = &tool.Tool{
	Name:      "bash",
	Summary:   "run a shell command",
	Doc:       &bashDoc,
	New:       func() tool.Call { return &bashCall{Workdir: ".", TimeoutMS: 120_000} },
	OpenWorld: true,
	Passes:    true,
}

type bashCall struct {
	Command     string
	Argv        []string
	Description string
	Workdir     string
	TimeoutMS   int
	Stdin       string
	Env         map[string]string
	Shell       string

	dir   workspace.Path
	argv  []string // what is started: the shell and its command, or Argv
	shell string   // name of the shell; "" for Argv
}

// Params implements tool.Call.
func (b *bashCall) Params(p *param.Set) {
	p.String(&b.Command, "command", "the command line").Arg().FromStdin().Alias("cmd", "script")
	p.Strings(&b.Argv, "argv", "a program and its arguments, run without a shell, instead of command")
	p.String(&b.Description, "description", "what the command does, in five to ten words").Alias("justification")
	p.Path(&b.Workdir, "workdir", param.Directory, "the directory it runs in").Alias("cwd", "working_directory", "workingDirectory", "dir", "directory").Shown("the root")
	p.Millis(&b.TimeoutMS, "timeout_ms", "time limit; then the command and all it started are ended").Between(1, 600_000).Alias("timeout", "timeoutMs")
	p.String(&b.Stdin, "stdin", "what it reads from standard input").FromStdin()
	p.Map(&b.Env, "env", "variables to set")
	p.String(&b.Shell, "shell", "the shell: bash, zsh or sh, or the path of one").Shown("bash, else sh")
}

// Needs implements tool.Call.
func (b *bashCall) Needs(ctx context.Context, env *tool.Env) ([]policy.Access, error) {
	switch {
	case len(b.Argv) > 0 && b.Command != "":
		return nil, tool.Errorf(tool.BadInput, "both command and argv are given").WithHint("give one of them")
	case len(b.Argv) > 0 && b.Argv[0] == "":
		return nil, tool.Errorf(tool.BadInput, "argv names no program").WithHint("its first word is the program")
	case len(b.Argv) == 0 && strings.TrimSpace(b.Command) == "":
		return nil, tool.Errorf(tool.BadInput, "command is required: the command line").WithHint("give command, or argv")
	case strings.ContainsRune(b.Command+strings.Join(b.Argv, ""), 0):
		return nil, tool.Errorf(tool.BadInput, "the command holds a zero byte").WithHint("leave it out: no program could receive it")
	}
	for name := range b.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return nil, tool.Errorf(tool.BadInput, "env: %q cannot be the name of a variable", name).WithHint("use letters, digits and underscores")
		}
	}
	dir, err := env.Workspace.Resolve(b.Workdir)
	if err != nil {
		return nil, err
	}
	b.dir = dir
	if err := b.choose(env); err != nil {
		return nil, err
	}
	needs := []policy.Access{dir.Read("bash")}
	needs = append(needs, assignments(b.Env)...)
	world := newWorld(env, dir.Real, b.environ(env))
	var found *shellparse.Analysis
	if b.shell == "" {
		found = shellparse.Argv(b.Argv, world)
	} else {
		found = shellparse.Analyze(ctx, b.Command, b.shell, world)
	}
	base := len(needs) // the parents' numbers count from here
	for _, a := range found.Accesses {
		if a.Parent > 0 {
			a.Parent += base
		}
		needs = append(needs, a)
	}
	needs = append(needs, within(ctx, env, needs)...)
	for i := range needs {
		needs[i].Tool = "bash"
	}
	return needs, nil
}

// assignments are the accesses of variables that the call sets itself: those
// that change what programs do, as an export in the command would be.
func assignments(vars map[string]string) []policy.Access {
	var script strings.Builder
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		fmt.Fprintf(&script, "export %s=%s\n", name, quoteWord(vars[name]))
	}
	if script.Len() == 0 {
		return nil
	}
	var needs []policy.Access
	for _, a := range shellparse.Analyze(context.Background(), script.String(), "bash", &shellparse.World{}).Accesses {
		if a.Kind == policy.Env || a.Opaque != "" {
			a.Parent = 0
			needs = append(needs, a)
		}
	}
	return needs
}

// choose finds the shell, or the program of argv.
func (b *bashCall) choose(env *tool.Env) error {
	if len(b.Argv) > 0 {
		b.argv = b.Argv
		return nil
	}
	if env.Policy.NoShell() {
		return tool.Errorf(tool.Denied, "the policy allows programs only without a shell").
			WithHint("send argv instead of command: one program with its arguments as a list")
	}
	path, name, err := findShell(env, b.Shell)
	b.argv, b.shell = []string{path, "-c", b.Command}, name
	if name == "bash" {
		b.argv = []string{path, "--noprofile", "--norc", "-c", b.Command}
	}
	return err
}

// shells are the ones whose language the analysis understands. Fish, nu and
// the C shells speak others.
func shells() []string { return []string{"bash", "zsh", "sh", "dash", "ksh"} }

// findShell returns the path and kind of the shell that was asked for, or the
// first there is of bash, $SHELL and sh.
func findShell(env *tool.Env, wanted string) (path, kind string, err error) {
	candidates := []string{"bash", env.Getenv("SHELL"), "sh", "/bin/sh"}
	if wanted != "" {
		candidates = []string{wanted}
	}
	for _, c := range candidates {
		kind = strings.TrimSuffix(filepath.Base(c), ".exe")
		if c == "" || !slices.Contains(shells(), kind) {
			continue
		}
		if path, ok := lookPath(c, env.Getenv("PATH"), env.Workspace.Root()); ok {
			if kind == "dash" || kind == "ksh" {
				kind = "sh"
			}
			return path, kind, nil
		}
	}
	if wanted != "" {
		return "", "", tool.Errorf(tool.BadInput, "shell: %q is not there, or not one that can be used", wanted).
			WithHint("use one of %s, or leave it out", strings.Join(shells(), ", "))
	}
	return "", "", tool.Errorf(tool.Unsupported, "there is no shell on PATH").WithHint("install bash, or send argv")
}

// environ is the environment of the command: the caller's without our own
// settings and without what looks like a secret, the settings that keep
// programs from asking and paging, and the call's own variables.
func (b *bashCall) environ(env *tool.Env) []string {
	vars := map[string]string{}
	hands := env.Policy.Environment()
	for _, entry := range env.Environ() {
		name, value, ok := strings.Cut(entry, "=")
		secret := journal.SecretName(name) && env.Policy.Withholds()
		if !ok || strings.HasPrefix(name, "AGENTKIT_") || hands.Drops(name) || secret && !hands.Passes(name) {
			continue
		}
		vars[name] = value
	}
	for _, name := range []string{"BASH_ENV", "ENV", "PROMPT_COMMAND"} {
		delete(vars, name)
	}
	maps.Copy(vars, map[string]string{
		"AGENTKIT": "1", "NO_COLOR": "1", "TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GH_PAGER": "cat", "MANPAGER": "cat",
		"GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true", "DEBIAN_FRONTEND": "noninteractive", "PWD": b.dir.Real,
	})
	maps.Copy(vars, b.Env)
	list := make([]string, 0, len(vars))
	for name, value := range vars {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

type bashMeta struct {
	ExitCode    *int     `json:"exit_code"` // null when it did not end by itself
	Signal      string   `json:"signal,omitempty"`
	Status      string   `json:"status"` // completed, failed, timed_out or aborted
	Command     string   `json:"command"`
	Description string   `json:"description,omitempty"`
	Cwd         string   `json:"cwd"`
	Shell       string   `json:"shell,omitempty"`
	DurationMS  int64    `json:"duration_ms"`
	UserMS      int64    `json:"user_ms"`
	SystemMS    int64    `json:"system_ms"`
	MaxRSS      int64    `json:"max_rss_bytes"`
	Stdout      string   `json:"stdout"`
	Stderr      string   `json:"stderr"`
	Truncated   bool     `json:"truncated"`
	TotalLines  int64    `json:"total_lines"`
	TotalBytes  int64    `json:"total_bytes"`
	SpillPath   string   `json:"spill_path,omitempty"`
	Incomplete  string   `json:"incomplete,omitempty"`
	Killed      bool     `json:"killed"` // something it left running was ended
	Sandbox     string   `json:"sandbox"`
	Withheld    []string `json:"withheld,omitempty"` // variables that were not handed down
	KillMethod  string   `json:"kill_method"`
}

// Run implements tool.Call.
func (b *bashCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	if b.dir.Type != policy.Dir {
		return nil, tool.Errorf(tool.NotFound, "workdir: %s is not a directory", shown(b.dir)).
			WithHint("name a directory that exists")
	}
	timeout := b.TimeoutMS
	if most := env.Policy.Limits().TimeoutMS; most > 0 {
		timeout = min(timeout, most)
	}
	part := truncate.Options{Limits: truncate.Limits{Lines: -1, Bytes: 10_000, LineChars: env.Limits.LineChars}, Shape: truncate.Tail}
	both := truncate.New(truncate.Options{Limits: env.Limits, Shape: truncate.Tail, Spill: env.Spill, ReadOn: tool.ReadOn, Clean: true})
	stdout, stderr := truncate.New(part), truncate.New(part)
	out := job.Output{Both: both, Stdout: stdout, Stderr: stderr}
	if env.Emit != nil {
		out.Both = &live{to: both, emit: env.Emit}
	}
	status, err := job.Run(ctx, job.Command{
		Argv: b.argv, Dir: b.dir.Real, Env: b.environ(env), Stdin: b.Stdin, Timeout: time.Duration(timeout) * time.Millisecond,
	}, out)
	cut, o, e := both.Close(), stdout.Close(), stderr.Close()
	if err != nil {
		return nil, b.startError(err)
	}
	meta := b.meta(env, status, cut)
	meta.Stdout, meta.Stderr = o.Text, e.Text
	r := &tool.Result{Title: b.title(), Output: cut.Text, Metadata: meta, Trimmed: true, Passes: true, Status: status.ExitCode}
	return r, b.conclude(ctx, r, meta, status, timeout)
}

// live passes output on while the command runs.
type live struct {
	to   *truncate.Writer
	emit func(tool.Event)
}

// Write implements io.Writer.
func (l *live) Write(p []byte) (int, error) {
	l.emit(tool.Event{Name: "output", Value: map[string]string{"text": strings.ToValidUTF8(string(p), "\ufffd")}})
	return l.to.Write(p)
}

func (b *bashCall) title() string {
	if b.Description != "" {
		return b.Description
	}
	line, _, more := strings.Cut(strings.TrimSpace(b.text()), "\n")
	if runes := []rune(line); len(runes) > 80 {
		line, more = string(runes[:80]), true
	}
	if more {
		line += " …"
	}
	return line
}

func (b *bashCall) text() string {
	if len(b.Argv) == 0 {
		return b.Command
	}
	return policy.Subject(&policy.Access{Kind: policy.Exec, Argv: b.Argv})
}

func (b *bashCall) startError(err error) error {
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return tool.Errorf(tool.NotFound, "%s cannot be found", b.argv[0]).WithHint("check its name, or give its path")
	case errors.Is(err, fs.ErrPermission):
		return tool.Errorf(tool.IO, "%s cannot be run: %w", b.argv[0], err).WithHint("check that it is executable")
	}
	return tool.Errorf(tool.IO, "running the command: %w", err).WithHint("check the machine: memory, limits on processes")
}

func (b *bashCall) meta(env *tool.Env, s job.Status, cut truncate.Result) *bashMeta {
	m := &bashMeta{
		Signal: s.Signal, Status: "completed", Command: b.text(), Description: b.Description, Cwd: b.dir.Real,
		DurationMS: s.Wall.Milliseconds(), UserMS: s.User.Milliseconds(), SystemMS: s.System.Milliseconds(), MaxRSS: s.MaxRSS,
		Truncated: cut.Truncated, TotalLines: cut.TotalLines, TotalBytes: cut.TotalBytes, SpillPath: cut.SpillPath, Incomplete: cut.Incomplete,
		Killed: s.Leftovers, Sandbox: "L0", KillMethod: killtree.Method(),
	}
	if b.shell != "" {
		m.Shell = b.argv[0]
	}
	if s.Held {
		m.Incomplete = "something that could not be ended still held the output; what it printed later is not here"
	}
	for _, entry := range env.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if journal.SecretName(name) && env.Policy.Withholds() && !env.Policy.Environment().Passes(name) {
			m.Withheld = append(m.Withheld, name)
		}
	}
	slices.Sort(m.Withheld)
	return m
}

// conclude settles how the call ended, and says in the output what the model
// could not see otherwise.
func (b *bashCall) conclude(ctx context.Context, r *tool.Result, m *bashMeta, s job.Status, timeout int) error {
	note := ""
	var err error
	switch {
	case s.TimedOut:
		m.Status = "timed_out"
		note = fmt.Sprintf("[timed out after %d ms; the command and what it started were ended]", timeout)
		err = tool.Errorf(tool.Timeout, "the command took longer than %d ms and was ended", timeout).
			WithHint("give a larger timeout_ms (at most 600000), or split the command")
	case s.Aborted:
		m.Status = "aborted"
		note = "[aborted; the command and what it started were ended]"
		err = context.Cause(ctx)
	case s.Signal != "":
		m.Status = "failed"
		note = fmt.Sprintf("[ended by %s]", s.Signal)
	case s.ExitCode != 0:
		m.Status = "failed"
		note = fmt.Sprintf("[exit status %d]", s.ExitCode)
	}
	if !s.TimedOut && !s.Aborted {
		m.ExitCode = &s.ExitCode
	}
	if s.Leftovers && err == nil {
		note = strings.TrimSpace(note + "\n[it left something running, which was ended]")
	}
	if m.Incomplete != "" {
		note = strings.TrimSpace(note + "\n[" + m.Incomplete + "]")
	}
	if note != "" {
		if r.Output != "" && !strings.HasSuffix(r.Output, "\n") {
			r.Output += "\n"
		}
		r.Output += note + "\n"
	}
	if r.Output == "" {
		r.Output = "[no output]\n"
	}
	return err
}
