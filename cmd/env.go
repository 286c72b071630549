package cmd

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/audit"
	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/gate"
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
		return nil, a.blame("dialect", tool.Errorf(tool.Unsupported, "dialect %q is not there yet", a.Dialect).WithHint("leave --dialect out"))
	}
	go tool.Learn(&audit.Record{})
	env, err := a.place()
	if err != nil {
		return nil, err
	}
	// Before anything is read that it may have changed.
	if err := sandbox.Recover(env.Session.Path("sandbox"), gate.Appeared); err != nil {
		return nil, tool.Errorf(tool.IO, "after a call that was killed, %w", err).WithHint("make the file what it was, and remove what is in %s", env.Session.Path("sandbox"))
	}
	env.Sources = a.sources(env)
	if env.Policy, err = load(env.Sources); err != nil {
		return nil, a.blamePolicy(err)
	}
	if n := env.Policy.Limits().OutputBytes; n > 0 {
		env.Limits.Bytes = min(env.Limits.Bytes, n)
	}
	if err := env.Session.Use(ctx); err != nil {
		return nil, a.blame("state", unkept(env.Session.StateDir(), err))
	}
	env.Redactor = audit.NewRedactor(a.environ())
	if env.Audit, err = audit.Open(env.Session.Dir(), audit.Options{Session: env.Session.ID(), Redactor: env.Redactor}); err != nil {
		return nil, a.blame("state", unkept(env.Session.StateDir(), err))
	}
	env.History = change.Open(env.Workspace, env.Session, change.Options{})
	_, _ = env.History.Recover(ctx) // what cannot be put right yet is by the next call
	env.Approvals = &policy.Approvals{Dir: filepath.Join(env.Session.StateDir(), "approvals")}
	env.Ask = a.asker(env)
	env.Emit, env.Hears = a.listener(env.Limits)
	return env, nil
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

// place is an environment without a policy: the workspace, the session, the
// machine, and what was set.
func (a *app) place() (*tool.Env, error) {
	root := a.Root
	if root == "" {
		root = "."
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, tool.Errorf(tool.IO, "finding the current directory: %w", err).WithHint("give --root")
	}
	state, err := a.stateDir()
	if err != nil {
		return nil, err
	}
	env := &tool.Env{
		Getenv: a.getenv, Environ: a.environ, Now: time.Now, Stderr: a.stderr, DryRun: a.DryRun, Ripgrep: a.RG, Self: a.self, NoFork: a.Fork == "off",
		Limits: truncate.Limits{Lines: a.MaxLines, Bytes: a.MaxBytes, Tokens: a.MaxTokens}, MaxLines: a.MaxLines,
		Machine: sync.OnceValue(func() machine.Machine { return machine.This(state, a.self) }), Temp: machine.TempDirs(a.getenv),
	}
	fillLimits(&env.Limits)
	temp := ""
	if n := len(env.Temp); n > 0 {
		temp = env.Temp[n-1]
	}
	if env.Workspace, err = workspace.Open(abs, workspace.Options{Home: a.home(), Temp: temp, LockDir: filepath.Join(state, "locks")}); err != nil {
		return nil, a.blame("root", tool.Errorf(tool.BadInput, "%w", err).WithHint("name an existing directory with --root"))
	}
	env.Session, err = session.Open(session.Options{State: state, Root: env.Workspace.Root(), ID: a.Session})
	if errors.Is(err, session.ErrID) {
		return nil, a.blame("session", err)
	}
	if err == nil {
		env.Git = a.committed(env)
	}
	return env, a.blame("state", unkept(state, err))
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
