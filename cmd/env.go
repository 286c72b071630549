package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/audit"
	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/truncate"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// env makes what a call may use of the world, from the settings.
func (a *app) env(ctx context.Context) (*tool.Env, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	if a.Dialect != "" {
		return nil, tool.Errorf(tool.Unsupported, "dialect %q is not there yet", a.Dialect).WithHint("leave --dialect out")
	}
	env := &tool.Env{
		Getenv: a.getenv, Environ: a.environ, Now: time.Now, Stderr: a.stderr, DryRun: a.DryRun, Ripgrep: a.RG, Self: a.self,
		Limits: truncate.Limits{Lines: a.MaxLines, Bytes: a.MaxBytes, Tokens: a.MaxTokens}, MaxLines: a.MaxLines,
	}
	fillLimits(&env.Limits)
	go tool.Learn(&audit.Record{})
	var err error
	if env.Workspace, env.Session, err = a.place(); err != nil {
		return nil, err
	}
	// Before anything is read that it may have changed.
	if err := sandbox.Recover(env.Session.Path("sandbox")); err != nil {
		return nil, tool.Errorf(tool.IO, "after a call that was killed, %w", err).WithHint("make the file what it was, and remove what is in %s", env.Session.Path("sandbox"))
	}
	env.Sources = a.sources(env)
	if env.Policy, err = load(env.Sources); err != nil {
		return nil, err
	}
	if n := env.Policy.Limits().OutputBytes; n > 0 {
		env.Limits.Bytes = min(env.Limits.Bytes, n)
	}
	if err := env.Session.Use(ctx); err != nil {
		return nil, unkept(env.Session.StateDir(), err)
	}
	env.Redactor = audit.NewRedactor(a.environ())
	if env.Audit, err = audit.Open(env.Session.Dir(), audit.Options{Session: env.Session.ID(), Redactor: env.Redactor}); err != nil {
		return nil, unkept(env.Session.StateDir(), err)
	}
	env.History = change.Open(env.Workspace, env.Session, change.Options{NoSync: true})
	_, _ = env.History.Recover(ctx) // what cannot be put right yet is by the next call
	env.Approvals = &policy.Approvals{Dir: filepath.Join(env.Session.StateDir(), "approvals")}
	env.Ask = a.asker(env)
	env.Emit = a.listener()
	return env, nil
}

// listener hears what happens while a call runs: with -o events all of it, on a
// terminal what a command prints, otherwise nothing.
func (a *app) listener() func(tool.Event) {
	var mu sync.Mutex
	switch p := a.printer(); {
	case p.format == "events":
		return func(e tool.Event) {
			mu.Lock()
			defer mu.Unlock()
			a.deliver(p.event(e.Name, e.Value))
		}
	case p.format == "text" && p.terminal:
		return func(e tool.Event) {
			if said, ok := e.Value.(tool.OutputEvent); ok {
				mu.Lock()
				defer mu.Unlock()
				a.shown = true
				a.deliver(p.live(said.Text))
			}
		}
	}
	return nil
}

// fillLimits sets the limits that nobody chose, so that tools can read them.
func fillLimits(l *truncate.Limits) {
	std := truncate.Default()
	for _, f := range []struct {
		have *int
		std  int
	}{{&l.Lines, std.Lines}, {&l.Bytes, std.Bytes}, {&l.LineChars, std.LineChars}} {
		if *f.have == 0 {
			*f.have = f.std
		}
	}
	if l.Tokens > 0 {
		l.Bytes = min(l.Bytes, 4*l.Tokens)
	}
}

// place opens the workspace and describes the session.
func (a *app) place() (*workspace.Workspace, *session.Session, error) {
	root := a.Root
	if root == "" {
		root = "."
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, nil, tool.Errorf(tool.IO, "finding the current directory: %w", err).WithHint("give --root")
	}
	state, err := a.stateDir()
	if err != nil {
		return nil, nil, err
	}
	w, err := workspace.Open(abs, workspace.Options{Home: a.home(), Temp: a.temp(), LockDir: filepath.Join(state, "locks")})
	if err != nil {
		return nil, nil, tool.Errorf(tool.BadInput, "opening the root: %w", err).WithHint("name an existing directory with --root")
	}
	s, err := session.Open(session.Options{State: state, Root: w.Root(), ID: a.Session, NoSync: true})
	return w, s, unkept(state, err)
}

// unkept says of an error of the file system that it is about the state, which
// the call has not named.
func unkept(state string, err error) error {
	p, ok := errors.AsType[*fs.PathError](err)
	if !ok || errors.Is(err, safefile.ErrUnsafe) {
		return err
	}
	return tool.Errorf(tool.IO, "state cannot be kept in %s: %w", state, p).
		WithHint("check owner and mode, or choose another directory with --state DIR; calls are refused while state cannot be kept")
}

func (a *app) temp() string {
	if dirs := machine.TempDirs(a.getenv); len(dirs) > 0 {
		return dirs[len(dirs)-1]
	}
	return ""
}

// stateDir is where sessions are kept.
func (a *app) stateDir() (string, error) {
	if a.State != "" {
		dir, err := filepath.Abs(a.State)
		return dir, err
	}
	dir, err := session.DefaultState(a.getenv, runtime.GOOS)
	if err != nil {
		return "", tool.Errorf(tool.BadInput, "%w", err).WithHint("give --state DIR, or set HOME")
	}
	return dir, nil
}

// policy loads the policy of the settings.
func (a *app) policy(env *tool.Env) (*policy.Policy, error) { return load(a.sources(env)) }

// load loads a policy. Its errors refuse every call.
func load(s *policy.Sources) (*policy.Policy, error) {
	p, err := policy.Load(s)
	if err == nil {
		return p, nil
	}
	if list, ok := errors.AsType[policy.Problems](err); ok && len(list) > 0 {
		e := tool.Errorf(tool.BadInput, "the policy cannot be used: %w", err).WithHint("correct it; until then every call is refused")
		for _, one := range list {
			if one.Near != "" {
				_ = e.Suggest(one.Near)
			}
		}
		return nil, e.With(map[string]any{"file": list[0].File, "line": list[0].Line})
	}
	return nil, tool.Errorf(tool.BadInput, "the policy cannot be used: %w", err).WithHint("correct it; until then every call is refused")
}

func (a *app) sources(env *tool.Env) *policy.Sources {
	root := env.Workspace.Root()
	s := &policy.Sources{
		Machine: machineDir(a.getenv), User: a.configDir(), Project: filepath.Join(root, ".agentkit"),
		Files: absolute(a.Policy), Allow: append(grants(env), a.Allow...), Profile: a.Profile, Sandbox: a.Sandbox,
		Root: root, Home: machine.RealDir(a.home()), State: env.Session.StateDir(), Temp: machine.TempDirs(a.getenv),
		Readable: []string{env.Session.Path("spill")},
		Tools:    names(), Trust: a.trust(),
		Analyze: func(name string, args json.RawMessage) ([]policy.Access, error) { return analyze(env, name, args) },
	}
	s.Trusted = a.programDirs(s)
	if a.Sandbox != "off" {
		s.Level = int(machine.This(s.State, a.self).Level)
	}
	return s
}

// grants are the rules that were granted for the session.
func grants(env *tool.Env) []string {
	raw, err := env.Session.ReadFile(grantsFile)
	if err != nil {
		return nil // none were given, or none can be shown to have been
	}
	var rules []string
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" {
			rules = append(rules, line)
		}
	}
	return rules
}

// trust remembers which project policies the user has accepted.
func (a *app) trust() *policy.TrustStore {
	if dir := a.configDir(); dir != "" {
		return &policy.TrustStore{Path: filepath.Join(dir, "trust.json")}
	}
	return nil
}

func machineDir(getenv func(string) string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(getenv("ProgramData"), "agentkit")
	}
	return "/etc/agentkit"
}

// programDirs are the directories whose programs go by their bare name in
// allow rules: the system's, and those of the caller's PATH that nobody else
// may write to and that lie neither in the root nor in a temporary directory,
// where a command could have put something.
func (a *app) programDirs(s *policy.Sources) []string {
	list := policy.TrustedDirs()
	for _, dir := range filepath.SplitList(a.getenv("PATH")) {
		if slices.Contains(list, dir) {
			continue
		}
		dir = machine.RealDir(dir)
		info, err := os.Stat(dir)
		if err != nil || !info.IsDir() || runtime.GOOS != "windows" && info.Mode().Perm()&0o002 != 0 {
			continue
		}
		if safefile.Below(s.Root, dir) || dir == "" {
			continue
		}
		temp := false
		for _, t := range s.Temp {
			temp = temp || safefile.Below(t, dir)
		}
		if !temp {
			list = append(list, dir)
		}
	}
	return list
}

func absolute(names []string) []string {
	var list []string
	for _, name := range names {
		if abs, err := filepath.Abs(name); err == nil {
			name = abs
		}
		list = append(list, name)
	}
	return list
}

// analyze finds what a call of the named tool needs, without running it. It is
// asked while the policy is still being loaded, so the call sees one that has
// no files.
func analyze(env *tool.Env, name string, args json.RawMessage) ([]policy.Access, error) {
	base, err := policy.Load(&policy.Sources{Root: env.Workspace.Root(), State: env.Session.StateDir()})
	if err != nil {
		return nil, err
	}
	early := *env
	early.Policy = base
	env = &early
	t, err := lookup(name)
	if err != nil {
		return nil, err
	}
	in, err := tool.Decode(t, args)
	if err != nil {
		return nil, err
	}
	return in.Call.Needs(context.Background(), env)
}
