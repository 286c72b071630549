// Package run holds the tools that run commands: bash, and output, input, kill and
// jobs for those that outlive their call.
package run

import (
	"cmp"
	"context"
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/confine"
	"github.com/agentkit-go/agentkit/pkg/loss"
	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/shellparse"
	"github.com/agentkit-go/agentkit/pkg/steps"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
	"github.com/agentkit-go/agentkit/pkg/world"
)

//go:embed bash.md
var bashDoc string

// Bash runs a shell command.
var Bash = tool.Tool{
	Name:    "bash",
	Summary: "run a shell command",
	Doc:     &bashDoc,
	New: func() tool.Call {
		return &bashCall{Workdir: ".", TimeoutMS: 120_000, GraceMS: 2000, Rows: 24, Cols: 80}
	},
	OpenWorld: true,
	Passes:    true,

	Others: []string{"shell", "sh", "zsh", "exec", "execcommand", "executecommand", "run", "runcommand", "runshellcommand", "runterminalcmd", "runinterminal", "localshell", "terminal", "cmd"},

	Examples: []string{
		"agentkit bash 'go test ./... 2>&1 | tail -20'",
		"agentkit bash ls -la src",
		"agentkit bash --background 'npm run dev'",
	},

	Metadata: (*bashMeta)(nil),
	Plan:     (*bashPlan)(nil),
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
	Try         bool
	Split       bool
	Until       string
	Publish     *int

	KeepWorkdir bool

	limited  func() bool // timeout_ms was given
	placed   func() bool // workdir was given
	fed      func() bool // stdin was given
	prepared *preparedCommand
}

// A preparedCommand is what Needs has worked out of the parameters, and Run
// starts.
type preparedCommand struct {
	dir      workspace.Path
	argv     []string // what is started: the shell and its command, or the call's argv
	shell    shell    // zero without one
	env      environment
	analysis *shellparse.Analysis
	needs    []policy.Access
	takes    loss.Taken        // away
	until    *regexp.Regexp    // nil for none
	ahead    *confine.Prefetch // nil where no sandbox confines it
	lifted   bool              // it is not asked about only because it is a transaction
}

// Params implements tool.Call.
func (b *bashCall) Params(p *param.Set) {
	p.String(&b.Command, "command", "the command line").Arg().Words().FromStdin().Alias("cmd", "script").OrList("argv")
	p.Strings(&b.Argv, "argv", "a program and its arguments, instead of command").Rare()
	p.String(&b.Description, "description", "what it does, in five to ten words").Alias("justification")
	b.placed = p.Path(&b.Workdir, "workdir", param.Directory, "the directory it runs in").Alias("cwd", "working_directory", "workingDirectory", "dir", "directory").Shown("the root").Given
	b.limited = p.Millis(&b.TimeoutMS, "timeout_ms", "time limit; of a job only if given").
		Between(1, 600_000).Alias("timeout", "timeoutMs").Given
	p.Millis(&b.GraceMS, "grace_ms", "time from TERM to KILL").Between(0, 60_000).Alias("grace", "kill_grace").Rare()
	p.OptionalMillis(&b.YieldMS, "yield_ms", "wait so long; then it goes on as a job").Between(0, 600_000).Alias("yield_time_ms", "yieldTimeMs", "yieldMs").Shown("wait until it ends")
	untilParam(p, &b.Until, "wait for a line that matches this regular expression")
	p.Bool(&b.Background, "background", "start it as a job and return at once").Alias("run_in_background", "is_background", "runInBackground")
	p.OptionalInt(&b.Publish, "publish", "a port that it serves, for a browser on this machine").Between(1, 65535).Shown("none").Rare()
	p.Bool(&b.TTY, "tty", "give it a terminal").Alias("pty", "terminal")
	p.Int(&b.Rows, "rows", "lines of the terminal").Between(1, 1000).Rare()
	p.Int(&b.Cols, "cols", "columns of the terminal").Between(1, 1000).Rare()
	b.fed = p.String(&b.Stdin, "stdin", "its standard input").FromStdin().Rare().Given
	p.Map(&b.Env, "env", "variables to set").Rare()
	p.String(&b.Shell, "shell", strings.Join(machine.Shells(), ", ")+", or the path of one").Shown(shellDefault()).Rare()
	p.Bool(&b.Login, "login", "read the shell's start-up files first").Rare()
	p.Bool(&b.Keep, "keep", "what it leaves running goes on as a job").Rare()
	p.Bool(&b.Split, "split", "keep standard output and error apart").Rare()
	p.Bool(&b.KeepWorkdir, "keep_workdir", "begin in the directory that the last call with this ended in").Unlisted()
	p.Bool(&b.Track, "track", "let undo take back what it changes").Rare()
	p.Bool(&b.Try, "try", "only show what it would change; apply does it").Alias("dry", "preview").Rare()
}

// Needs implements tool.Call.
func (b *bashCall) Needs(ctx context.Context, env *tool.Env) ([]policy.Access, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	if b.KeepWorkdir && !b.placed() { // before the policy is asked, so that it decides about that directory
		b.Workdir = cmp.Or(lastWorkdir(env), b.Workdir)
	}
	p, err := b.prepare(ctx, env)
	if err != nil {
		return nil, err
	}
	b.prepared = p
	return p.needs, nil
}

// prepare finds the directory and the shell, and what the command does.
func (b *bashCall) prepare(ctx context.Context, env *tool.Env) (*preparedCommand, error) {
	until, err := pattern("until", b.Until)
	if err != nil {
		return nil, err
	}
	dir, err := env.Workspace.Resolve(b.Workdir)
	if err != nil {
		return nil, err
	}
	if dir.Type != policy.Dir && safefile.Below(env.Workspace.Root(), dir.Real) {
		return nil, noDirectory(dir) // of what lies outside nothing is said before it may be read
	}
	argv, err := b.program(env)
	if err != nil {
		return nil, err
	}
	p := &preparedCommand{dir: dir, argv: argv, until: until, ahead: confine.NewPrefetch(env)}
	if !env.DryRun {
		p.ahead.Start()
	}
	p.env = newEnvironment(env, dir.Real, b.TTY, pages(env, b.TTY, p.ahead), b.Env)
	known := world.New(env, dir.Real, p.env.list)
	kept := loss.InJob
	if b.ends() {
		kept = loss.InCall
	}
	known.Keeps = env.Policy.Confines() && env.Policy.Holds() && env.Policy.Undo().Commands != policy.UndoOff
	if len(argv) > 0 {
		p.analysis = shellparse.Argv(argv, known)
	} else {
		if p.shell, err = findShell(env, b.Shell); err != nil {
			return nil, err
		}
		if err := p.shell.takes(b.Command); err != nil {
			return nil, err
		}
		p.argv = p.shell.argv(b.Command, b.Login)
		p.analysis = shellparse.Analyze(ctx, b.Command, p.shell.kind, known)
		if p.analysis.Broken != "" {
			if err := p.shell.parses(ctx, b.Command); err != nil {
				return nil, err
			}
		}
	}
	p.needs = append([]policy.Access{dir.Read("bash")}, assignments(b.Env)...)
	p.needs = append(p.needs, p.shell.needs(b.Login)...)
	for i := range p.analysis.Accesses {
		if a := &p.analysis.Accesses[i]; b.noPatcher(a) {
			return nil, tool.Errorf(tool.BadInput, "there is no program %s: a patch is applied only by a command that does nothing else", a.Argv[0]).
				WithHint("give the patch to {patch}, or as a command of its own, with nothing before or after it but cd DIR &&; run the rest in another call")
		}
	}
	p.needs = policy.Append(p.needs, p.analysis.Accesses...)
	p.judge(ctx, env, b.Command, kept, func() { p.lifted = b.keeper(p).lift(env) })
	if err := context.Cause(ctx); err != nil { // what was not looked at to its end is not asked about
		return nil, err
	}
	if b.Publish != nil {
		p.needs = append(p.needs, policy.Access{Kind: policy.Tool, Tool: policy.PublishTool, Name: strconv.Itoa(*b.Publish)})
	}
	return p, nil
}

// led is the name by which the wall closes what a link leads to at a path; "" for none, and where there is no wall.
func (p *preparedCommand) led(path string) string {
	if p.ahead == nil {
		return ""
	}
	return p.ahead.Wall().Name(path)
}

// judge finds what the accesses of a text come to in the root as it is now: what is lost
// by them, what a directory holds that may not be read, and the like. kept says what of that is kept;
// lift takes away what need not be asked about because it is; nil for nothing.
func (p *preparedCommand) judge(ctx context.Context, env *tool.Env, text string, kept loss.Keeping, lift func()) {
	if env.Git != nil {
		p.needs, p.takes = loss.Find(ctx, env, loss.Command{Dir: p.dir.Real, Text: text, Needs: p.needs}, kept)
		p.needs = append(p.needs, loss.BroughtByGit(env, p.dir.Real, p.needs, p.led)...)
	}
	if lift != nil {
		lift()
	}
	passOver(env, p.needs, p.ahead)
	secondNames(ctx, env, p.needs, p.ahead)
	for i, list := 0, (steps.List{Root: env.Workspace.Root(), Accesses: p.needs}); i < len(p.needs); i++ {
		p.needs[i].Own = list.Own(i, env.Policy.Holds())
	}
	initialized(env, p.needs)
	p.needs = append(p.needs, arrivals(ctx, env, p.needs)...)
	p.needs = append(p.needs, forbiddenInTrees(ctx, env, p.needs, p.ahead)...)
	p.needs = append(p.needs, unheld(env, p.needs, p.ahead)...)
	p.needs = append(p.needs, opened(env, p.needs, p.ahead)...)
	p.needs = append(p.needs, confine.Foreign(env, p.needs, p.ahead)...)
	for i := range p.needs {
		p.needs[i].Tool = "bash"
	}
	loosen(env, p.needs, p.ahead)
}

// noPatcher reports whether a is to hand a patch to the program that AppliedPatch stands for,
// where the machine has none: a shell would not find it.
func (b *bashCall) noPatcher(a *policy.Access) bool {
	return a.Kind == policy.Exec && a.Program == "" && !a.Builtin && len(a.Argv) > 0 && (a.Argv[0] == "apply_patch" || a.Argv[0] == "applypatch") &&
		strings.Contains(b.Command+strings.Join(b.Argv, " "), "*** Begin Patch")
}

// ends reports whether the command ends within the call.
func (b *bashCall) ends() bool { return b.yield() < 0 && !b.TTY && !b.Keep }

// keeper is what chooses how that which the command changes is kept for undo.
func (b *bashCall) keeper(p *preparedCommand) *keeper {
	return &keeper{
		try: b.Try, track: b.Track, ends: b.ends(), publishes: b.Publish != nil,
		confined: p.ahead != nil, told: len(p.takes.Doomed) > 0, named: len(p.takes.Named) > 0, late: len(p.takes.Watched) > 0, needs: p.needs,
	}
}

// program is the program that runs without a shell, with its arguments; none
// where the shell is to read a command. Where the policy allows no shell, a
// command that is one plain program is as good as argv.
func (b *bashCall) program(env *tool.Env) ([]string, error) {
	if len(b.Argv) > 0 || !env.Policy.NoShell() {
		return b.Argv, nil
	}
	if words, ok := shellparse.PlainArgv(b.Command); ok && b.Shell == "" && !b.Login {
		return words, nil
	}
	return nil, tool.Errorf(tool.Denied, "the policy allows programs only without a shell").
		WithHint("send {.argv}, or as {.command} one program with its arguments and nothing that a shell would have to read")
}

// check finds what is wrong with the parameters as they stand.
func (b *bashCall) check() error {
	switch {
	case len(b.Argv) > 0 && b.Command != "":
		return tool.Errorf(tool.BadInput, "both command and argv are given").WithHint("give one of them")
	case len(b.Argv) > 0 && b.Argv[0] == "":
		return tool.Errorf(tool.BadInput, "argv names no program").WithHint("its first word is the program")
	case len(b.Argv) == 0 && strings.TrimSpace(b.Command) == "":
		return tool.Errorf(tool.BadInput, "command is required: the command line").WithHint("give a command line as {.command}, or give {.argv} a program with its words")
	case b.Workdir == "":
		return tool.Errorf(tool.BadInput, "workdir is empty").WithHint("leave it out for the root, or name a directory")
	case strings.ContainsRune(b.Command+strings.Join(b.Argv, ""), 0):
		return tool.Errorf(tool.BadInput, "the command holds a zero byte").WithHint("leave it out: no program could receive it")
	case b.Background && b.YieldMS != nil && *b.YieldMS > 0:
		return tool.Errorf(tool.BadInput, "background and a yield_ms of %d contradict each other", *b.YieldMS).WithHint("give one of them")
	case b.Try && (b.yield() >= 0 || b.TTY || b.Keep || b.Publish != nil):
		return tool.Errorf(tool.BadInput, "try needs a command that ends within the call").WithHint("leave {.background}, {.yield_ms}, {.until}, {.tty}, {.keep} and {.publish} out")
	case b.Try && b.Track:
		return tool.Errorf(tool.BadInput, "try changes nothing that track could note").WithHint("leave {.track} out: what is applied can be undone")
	case len(b.Argv) > 0 && (b.Shell != "" || b.Login):
		return tool.Errorf(tool.BadInput, "argv runs without a shell").WithHint("leave {.shell} and {.login} out, or give {.command} instead")
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
	Argv     []string `json:"argv" doc:"what would be started"`
	Cwd      string   `json:"cwd" doc:"where"`
	Set      []string `json:"env_set" doc:"variables that we or the call set"`
	Sandbox  string   `json:"sandbox" doc:"what would hold it"`
	Withheld []string `json:"env_secret" doc:"variables that are not handed down"`
	Timeout  int64    `json:"timeout_ms" doc:"0 for none"`
}

// Plan implements tool.Planner.
func (b *bashCall) Plan(env *tool.Env) any {
	p := b.prepared
	secret := append([]string{}, p.env.withheld...)
	return bashPlan{p.argv, p.dir.Real, p.env.set, env.Policy.Wall(), secret, b.limit(env).Milliseconds()}
}

// Describe implements tool.Describer.
func (b *bashCall) Describe(_ context.Context, env *tool.Env) map[string]any {
	outside := []string{}
	for i := range b.prepared.needs {
		if a := &b.prepared.needs[i]; (a.Kind == policy.Read || a.Kind == policy.Write) && a.Path != "" && !safefile.Below(env.Workspace.Root(), a.Path) {
			outside = append(outside, a.Path)
		}
	}
	slices.Sort(outside)
	return map[string]any{
		"command": b.text(), "description": b.Description, "cwd": b.prepared.dir.Real, "timeout_ms": b.limit(env).Milliseconds(),
		"external_directories": slices.Compact(outside),
	}
}

// untilYield is how long a call waits for the line that it names, when it does not
// say how long.
const untilYield = time.Minute

// yield is how long the call waits at most; negative for until the end.
func (b *bashCall) yield() time.Duration {
	switch {
	case b.Until != "" && b.YieldMS == nil:
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

func (b *bashCall) text() string {
	if len(b.Argv) == 0 {
		return b.Command
	}
	return policy.Subject(&policy.Access{Kind: policy.Exec, Argv: b.Argv})
}
