// Package run holds the tools that run commands: bash, and output, input, kill and
// jobs for those that outlive their call.
package run

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/job"
	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/shellparse"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

//go:embed bash.md
var bashDoc string

// Bash runs a shell command.
var Bash = &tool.Tool{
	Name:    "bash",
	Summary: "run a shell command",
	Doc:     &bashDoc,
	New: func() tool.Call {
		return &bashCall{Workdir: ".", TimeoutMS: 120_000, GraceMS: 2000, Rows: 24, Cols: 80}
	},
	OpenWorld: true,
	Passes:    true,
}

type bashCall struct {
	Command     string
	Argv        []string
	Description string
	Workdir     string
	TimeoutMS   int
	GraceMS     int
	YieldMS     *int
	Background  bool
	TTY         bool
	Rows, Cols  int
	Stdin       string
	Env         map[string]string
	Shell       string
	Login       bool
	Keep        bool
	Track       bool
	Split       bool
	Until       string

	until   *regexp.Regexp // nil for none
	limited func() bool    // timeout_ms was given
	fed     func() bool    // stdin was given
	dir     workspace.Path
	argv    []string // what is started: the shell and its command, or Argv
	shell   shell    // zero for Argv
	env     environment
	found   *shellparse.Analysis
	needs   []policy.Access
	report  string // file of the sandbox's report; "" without a sandbox
	box     *confinement
	asked   *asked
}

// Params implements tool.Call.
func (b *bashCall) Params(p *param.Set) {
	p.String(&b.Command, "command", "the command line").Arg().FromStdin().Alias("cmd", "script").
		Instead("a list of words, run without a shell, belongs in argv")
	p.Strings(&b.Argv, "argv", "a program and its arguments, run without a shell, instead of command")
	p.String(&b.Description, "description", "what the command does, in five to ten words").Alias("justification")
	p.Path(&b.Workdir, "workdir", param.Directory, "the directory it runs in").Alias("cwd", "working_directory", "workingDirectory", "dir", "directory").Shown("the root")
	b.limited = p.Millis(&b.TimeoutMS, "timeout_ms", "time limit; then the command and all it started are ended; what becomes a job has none unless it is given").
		Between(1, 600_000).Alias("timeout", "timeoutMs").Given
	p.Millis(&b.GraceMS, "grace_ms", "time between TERM and KILL when it is ended").Between(0, 60_000).Alias("grace", "kill_grace")
	p.OptionalMillis(&b.YieldMS, "yield_ms", "wait so long at most; then the command goes on as a job").Between(0, 600_000).Alias("yield_time_ms", "yieldTimeMs", "yieldMs").Shown("wait until it ends")
	untilParam(p, &b.Until, "return as soon as a line matches this regular expression (RE2); the command goes on as a job")
	p.Bool(&b.Background, "background", "start it as a job and return at once").Alias("run_in_background", "is_background", "runInBackground")
	p.Bool(&b.TTY, "tty", "give it a terminal; the call returns when it waits for input").Alias("pty", "terminal")
	p.Int(&b.Rows, "rows", "lines of the terminal").Between(1, 1000)
	p.Int(&b.Cols, "cols", "columns of the terminal").Between(1, 1000)
	b.fed = p.String(&b.Stdin, "stdin", "what it reads from standard input").FromStdin().Given
	p.Map(&b.Env, "env", "variables to set")
	p.String(&b.Shell, "shell", "the shell, one of "+strings.Join(machine.Shells(), ", ")+", or the path of one").Shown(shellDefault())
	p.Bool(&b.Login, "login", "have the shell read its start-up files first")
	p.Bool(&b.Keep, "keep", "what the command leaves running goes on as a job instead of being ended")
	p.Bool(&b.Split, "split", "keep standard output and error apart: metadata.stdout and metadata.stderr; their order is then not exact")
	p.Bool(&b.Track, "track", "note what the command changes in the workspace, so that undo can take it back")
}

// Needs implements tool.Call.
func (b *bashCall) Needs(ctx context.Context, env *tool.Env) ([]policy.Access, error) {
	var err error
	if b.until, err = pattern("until", b.Until); err != nil {
		return nil, err
	}
	if err := b.check(env); err != nil {
		return nil, err
	}
	dir, err := env.Workspace.Resolve(b.Workdir)
	if err != nil {
		return nil, err
	}
	b.dir = dir
	if dir.Type != policy.Dir && safefile.Below(env.Workspace.Root(), dir.Real) {
		return nil, noDirectory(dir) // of what lies outside nothing is said before it may be read
	}
	if b.argv = b.Argv; len(b.Argv) == 0 {
		if b.shell, err = findShell(env, b.Shell); err != nil {
			return nil, err
		}
		if err := b.shell.takes(b.Command); err != nil {
			return nil, err
		}
		b.argv = b.shell.argv(b.Command, b.Login)
	}
	b.env = newEnvironment(env, dir.Real, b.TTY, b.Env)
	needs := append([]policy.Access{dir.Read("bash")}, assignments(b.Env)...)
	world := newWorld(env, dir.Real, b.env.list)
	if b.shell.path == "" {
		b.found = shellparse.Argv(b.Argv, world)
	} else {
		b.found = shellparse.Analyze(ctx, b.Command, b.shell.kind, world)
	}
	if b.Login {
		needs = append(needs, policy.Access{
			Kind: policy.Exec, Argv: []string{b.shell.path, "-l"}, Program: b.shell.path, Source: "login",
			Opaque: "the shell's start-up files run first and may change what every word means",
		})
	}
	if b.shell.unknown {
		needs = append(needs, policy.Access{
			Kind: policy.Exec, Argv: []string{b.shell.path}, Program: b.shell.path, Source: "shell",
			Opaque: "it is named as the shell, and what it does with the command is not known",
		})
	}
	base := len(needs) // the parents' numbers count from here
	for _, a := range b.found.Accesses {
		if a.Parent > 0 {
			a.Parent += base
		}
		needs = append(needs, a)
	}
	needs = append(needs, within(ctx, env, needs)...)
	for i := range needs {
		needs[i].Tool = "bash"
	}
	b.needs = needs
	return needs, nil
}

func noDirectory(dir workspace.Path) error {
	if dir.Type == policy.Missing {
		return tool.Errorf(tool.NotFound, "workdir: %s does not exist", tool.Shown(dir)).WithHint("name a directory that exists, or leave workdir out for the root")
	}
	return tool.Errorf(tool.NotFound, "workdir: %s is not a directory", tool.Shown(dir)).WithHint("name a directory, or leave workdir out for the root")
}

// check finds what is wrong with the parameters as they stand.
func (b *bashCall) check(env *tool.Env) error {
	switch {
	case len(b.Argv) > 0 && b.Command != "":
		return tool.Errorf(tool.BadInput, "both command and argv are given").WithHint("give one of them")
	case len(b.Argv) > 0 && b.Argv[0] == "":
		return tool.Errorf(tool.BadInput, "argv names no program").WithHint("its first word is the program")
	case len(b.Argv) == 0 && strings.TrimSpace(b.Command) == "":
		return tool.Errorf(tool.BadInput, "command is required: the command line").WithHint("give command, or argv; on the command line - reads it from standard input")
	case b.Workdir == "":
		return tool.Errorf(tool.BadInput, "workdir is empty").WithHint("leave it out for the root, or name a directory")
	case strings.ContainsRune(b.Command+strings.Join(b.Argv, ""), 0):
		return tool.Errorf(tool.BadInput, "the command holds a zero byte").WithHint("leave it out: no program could receive it")
	case b.Background && b.YieldMS != nil && *b.YieldMS > 0:
		return tool.Errorf(tool.BadInput, "background and a yield_ms of %d contradict each other", *b.YieldMS).WithHint("give one of them")
	case len(b.Argv) > 0 && (b.Shell != "" || b.Login):
		return tool.Errorf(tool.BadInput, "argv runs without a shell").WithHint("leave shell and login out, or give command instead")
	case len(b.Argv) == 0 && env.Policy.NoShell():
		return tool.Errorf(tool.Denied, "the policy allows programs only without a shell").
			WithHint("send argv instead of command: one program with its arguments as a list")
	}
	for name, value := range b.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return tool.Errorf(tool.BadInput, "env: %q cannot be the name of a variable", name).WithHint("use letters, digits and underscores")
		}
		if strings.ContainsRune(value, 0) {
			return tool.Errorf(tool.BadInput, "env: the value of %s holds a zero byte", name).WithHint("leave it out: no program could receive it")
		}
	}
	return nil
}

// A bashPlan is what a dry run tells besides the accesses.
type bashPlan struct {
	Argv     []string `json:"argv"`
	Cwd      string   `json:"cwd"`
	Set      []string `json:"env_set"`    // variables that we or the call set
	Sandbox  string   `json:"sandbox"`    // level that it would have
	Withheld []string `json:"env_secret"` // variables that are not handed down
	Timeout  int64    `json:"timeout_ms"` // 0 for none
}

// Plan implements tool.Planner.
func (b *bashCall) Plan(env *tool.Env) any {
	return bashPlan{b.argv, b.dir.Real, b.env.set, fmt.Sprintf("L%d", env.Policy.Level()), b.env.withheld, b.limit(env).Milliseconds()}
}

// Describe implements tool.Describer.
func (b *bashCall) Describe(env *tool.Env) map[string]any {
	outside := []string{}
	for i := range b.needs {
		if a := &b.needs[i]; (a.Kind == policy.Read || a.Kind == policy.Write) && a.Path != "" && !safefile.Below(env.Workspace.Root(), a.Path) {
			outside = append(outside, a.Path)
		}
	}
	slices.Sort(outside)
	return map[string]any{
		"command": b.text(), "description": b.Description, "cwd": b.dir.Real, "timeout_ms": b.limit(env).Milliseconds(),
		"external_directories": slices.Compact(outside),
	}
}

// untilYield is how long a call waits for the line that it names, when it does not
// say how long.
const untilYield = time.Minute

// yield is how long the call waits at most; negative for until the end.
func (b *bashCall) yield() time.Duration {
	switch {
	case b.until != nil && b.YieldMS == nil:
		return untilYield
	case b.Background:
		return 0
	case b.YieldMS != nil:
		return time.Duration(*b.YieldMS) * time.Millisecond
	}
	return -1
}

// limit is how long the command may run; 0 for as long as it likes.
func (b *bashCall) limit(env *tool.Env) time.Duration {
	ms := b.TimeoutMS
	if b.yield() >= 0 && !b.limited() {
		ms = 0
	}
	if most := env.Policy.Limits().TimeoutMS; most > 0 && (ms == 0 || ms > most) {
		ms = most
	}
	return time.Duration(ms) * time.Millisecond
}

// Run implements tool.Call.
func (b *bashCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	if b.dir.Type != policy.Dir {
		return nil, noDirectory(b.dir)
	}
	var tracking *change.Tracking
	if b.Track {
		var err error
		if tracking, err = env.History.Track(ctx, change.TrackOptions{Tool: "bash", Title: b.title(), Skip: skipGit}); err != nil {
			return nil, err
		}
		defer tracking.Close()
	}
	out := newOutputs(env, b.Split)
	defer func() { b.box.letGo() }()
	ran, err := b.start(ctx, env, out.Output)
	out.close()
	if err != nil {
		defer forget(b.report)
		return nil, cmp.Or(sandboxError(env, b.report), b.startError(err))
	}
	if ran.Job == "" {
		defer forget(b.report)
	}
	meta := b.meta(&ran, out)
	if ran.Job == "" && b.box.config != nil {
		meta.putBack(env, b.box.guard)
		if ran.Status == string(job.Failed) && len(meta.Detail.Denials) == 0 {
			b.box.config.Level = meta.Detail.Level
			meta.Detail.Denials = b.box.config.Explain(out.text, b.dir.Real)
		}
	}
	r := &tool.Result{Title: b.title(), Output: out.text, Metadata: meta, Trimmed: true, Passes: true}
	if list := b.asked.programs(); len(list) > 0 {
		r.Add("asked", list)
	}
	if ran.ExitCode != nil {
		r.Status = *ran.ExitCode
	}
	err = b.conclude(ctx, env, r, meta)
	if tracking != nil {
		tracked(ctx, r, tracking)
	}
	return r, err
}

// skipGit leaves git's own files out of what undo takes back.
func skipGit(rel string, _ fs.DirEntry) bool { return rel == ".git" || strings.HasSuffix(rel, "/.git") }

// tracked puts what the command changed into the metadata.
func tracked(ctx context.Context, r *tool.Result, t *change.Tracking) {
	rec, err := t.Finish(context.WithoutCancel(ctx))
	if err != nil {
		r.Add("untracked", err.Error())
		return
	}
	files := []string{}
	for _, f := range rec.Files {
		files = append(files, f.Path)
	}
	r.Add("changed", files)
	if rec.ID != "" {
		r.Add("change", rec.ID)
	}
	if len(rec.Gaps) > 0 {
		r.Add("untracked", rec.Gaps)
	}
}

// setsUser reports whether the command names a program that runs with the rights
// of its owner, as sudo does.
func (b *bashCall) setsUser() bool {
	for i := range b.needs {
		a := &b.needs[i]
		if a.Kind != policy.Exec || a.Program == "" {
			continue
		}
		if i, err := os.Stat(a.Program); err == nil && i.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
			return true
		}
	}
	return false
}

// start runs the command: by ourselves where it ends within the call, by a
// supervisor where it may not.
func (b *bashCall) start(ctx context.Context, env *tool.Env, out job.Output) (ran, error) {
	c := job.Command{
		Argv: b.argv, Dir: b.dir.Real, Env: b.env.list, Stdin: b.Stdin, Timeout: b.limit(env),
		Grace: max(time.Duration(b.GraceMS)*time.Millisecond, 1), // 0 would be the default
		Split: b.Split, TTY: b.TTY, Rows: uint16(b.Rows), Cols: uint16(b.Cols),
	}
	here := machine.This(env.Session.StateDir(), env.Self)
	c.Tree = here.Tree(env.Self)
	over, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end() // an open question does not outlive the command
	b.asked = &asked{over: over}
	var err error
	if b.box, err = b.confine(env); err != nil {
		return ran{}, err
	}
	if b.box.config != nil {
		b.box.confiner = sandbox.NewConfiner(b.asked.build(env)).For(b.box.config)
		c.Tree.Confine, c.Tree.Confiner = b.box.bytes, b.box.confiner
		c.Held, b.report = b.asked.held, b.box.config.Report
	}
	// In a user namespace sudo would not work. What is confined can have no such
	// rights anyway.
	c.Tree.NoUserNamespace = b.box.config == nil && b.setsUser()
	// Root can read the memory of the init, which a fork has from us: what is
	// withheld from the command must not be found there.
	c.Tree.NoFork = b.box.config == nil && os.Geteuid() == 0 && len(b.env.withheld) > 0
	yield := b.yield()
	w := job.WaitFor{Input: yield > 0, Quiet: yield > 0 && b.until == nil, Until: b.until}
	if yield < 0 && !b.TTY && !b.Keep {
		c.Later = env.Later
		go tool.Learn(&tool.Result{Metadata: &bashMeta{}})
		s, err := job.Run(ctx, c, out)
		return ranStatus(s), err
	}
	if yield < 0 && b.TTY {
		yield = c.Timeout + time.Hour // only what would take input makes it a job
		w = job.WaitFor{Input: true, Ready: true}
	}
	spec := job.Spec{
		Command: c, Name: b.Description, Keep: b.Keep, Report: b.report, OpenStdin: yield >= 0 && !b.fed(),
		Loose: !b.limited(), Later: time.Duration(env.Policy.Limits().TimeoutMS) * time.Millisecond,
	}
	if err := b.box.keepGuard(env); err != nil {
		return ran{}, err
	}
	if yield != 0 {
		reg := registry(env)
		info, j, err := reg.Run(ctx, spec, yield, w, out)
		if !info.Alive() {
			env.Later(reg.Collect)
		}
		return ranJob(info, j), err
	}
	j, err := registry(env).Start(ctx, spec)
	if err != nil {
		return ran{}, err
	}
	// Whatever has become of it by now, it is a job and keeps its output.
	info, err := j.Info()
	info.State, info.ExitCode, info.Signal = job.Running, nil, ""
	return ranJob(info, j), err
}

type bashMeta struct {
	ran
	Command     string `json:"command"`
	Description string `json:"description,omitempty"`
	Cwd         string `json:"cwd"`
	Shell       string `json:"shell,omitempty"`
	Meaning     string `json:"exit_meaning,omitempty"` // what the status means for this program
	*streamTexts
	Truncated  bool   `json:"truncated"`
	TotalLines int64  `json:"total_lines"`
	TotalBytes int64  `json:"total_bytes"`
	SpillPath  string `json:"spill_path,omitempty"`
	Incomplete string `json:"incomplete,omitempty"`
	sandboxMeta
	Withheld []string `json:"withheld,omitempty"` // variables that were not handed down
}

func (b *bashCall) meta(r *ran, out *outputs) *bashMeta {
	m := &bashMeta{
		ran: *r, Command: b.text(), Description: b.Description, Cwd: b.dir.Real, Shell: b.shell.path,
		streamTexts: out.apart,
		Truncated:   out.cut.Truncated, TotalLines: out.cut.TotalLines, TotalBytes: out.cut.TotalBytes,
		SpillPath: out.cut.SpillPath, Incomplete: out.cut.Incomplete, sandboxMeta: b.box.held(b.report), Withheld: b.env.withheld,
	}
	m.zeros = out.zeros.n
	switch {
	case r.held:
		m.Incomplete = heldOutput
	case r.incomplete != "":
		m.Incomplete = r.incomplete
	}
	if r.Status == string(job.Failed) && r.Signal == "" && r.ExitCode != nil {
		m.Meaning = exitMeaning(b.found, *r.ExitCode)
	}
	return m
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
	if limit, ok := errors.AsType[*job.LimitError](err); ok {
		return tool.Errorf(tool.TooLarge, "%w", limit).WithHint("look at them with jobs, and end what is not needed with kill")
	}
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		hint := "check its name, or give its path"
		if len(b.Argv) == 1 && strings.ContainsAny(b.Argv[0], " \t") {
			hint = "argv has one item for each word; a whole command line belongs in command"
		}
		return tool.Errorf(tool.NotFound, "%s cannot be found", b.argv[0]).WithHint("%s", hint)
	case errors.Is(err, exec.ErrDot):
		return tool.Errorf(tool.NotFound, "%s lies in the current directory, where programs are not looked for", b.argv[0]).WithHint("give its path: %s", "."+string(filepath.Separator)+b.argv[0])
	case errors.Is(err, fs.ErrPermission):
		return tool.Errorf(tool.IO, "%s cannot be run: %w", b.argv[0], err).WithHint("check that it is executable")
	case errors.Is(err, syscall.E2BIG):
		return tool.Errorf(tool.TooLarge, "the command or the variables are longer than the system hands to a program").
			WithHint("hand large text over in stdin, or in a file that the command reads")
	case errors.Is(err, syscall.ENOEXEC):
		return tool.Errorf(tool.Unsupported, "%s is no program that this system can start", b.argv[0]).WithHint("if it is a script, name its interpreter first")
	case errors.Is(err, errors.ErrUnsupported):
		return tool.Errorf(tool.Unsupported, "running the command: %w", err).WithHint("leave tty out: this system has none")
	}
	return tool.Errorf(tool.IO, "running the command: %w", err).WithHint("check the machine: memory, limits on processes")
}

// conclude says in the output what the model could not see otherwise; its
// error is a time limit or an interruption.
func (b *bashCall) conclude(ctx context.Context, env *tool.Env, r *tool.Result, m *bashMeta) error {
	notes := append(m.ran.notes(m.Meaning), m.sandboxMeta.notes()...)
	var err error
	switch m.Status {
	case string(job.TimedOut):
		limit := b.limit(env).Milliseconds()
		notes = append(notes, fmt.Sprintf("[timed out after %d ms; the command and what it started were ended]", limit))
		err = tool.Errorf(tool.Timeout, "the command took longer than %d ms and was ended", limit).
			WithHint("give a larger timeout_ms (at most 600000), or background to let it run on as a job")
	case string(job.Aborted):
		notes = append(notes, "[aborted; the command and what it started were ended]")
		if err = context.Cause(ctx); err == nil {
			err = tool.Errorf(tool.Interrupted, "the command was ended from elsewhere").WithHint("see jobs")
		}
	}
	if m.Incomplete != "" {
		notes = append(notes, "["+m.Incomplete+"]")
	}
	if b.until != nil && m.Until == "" {
		notes = append(notes, noLine)
	}
	text := r.Output
	if text == "" && m.TotalBytes > 0 && m.zeros == 0 {
		notes = append(notes, "[what it printed, "+tool.Count(m.TotalBytes, "byte")+", shows nothing]")
	}
	r.Tail = strings.Join(notes, "\n")
	r.Output = joined(text, r.Tail)
	if r.Tail != "" && text != "" && !strings.HasSuffix(text, "\n") {
		r.Tail = "\n" + r.Tail // on a line of its own there, too
	}
	return err
}

// AppliedPatch is the patch that c would hand to the program apply_patch, and the
// directory that its paths count from, where c is a call of bash that does nothing
// else.
func AppliedPatch(c tool.Call) (dir, patch string, ok bool) {
	b, ok := c.(*bashCall)
	if !ok {
		return "", "", false
	}
	if len(b.Argv) > 0 {
		dir, patch, ok = shellparse.ApplyPatchArgv(b.Argv)
	} else {
		dir, patch, ok = shellparse.ApplyPatch(b.Command)
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(b.Workdir, dir)
	}
	return dir, patch, ok
}
