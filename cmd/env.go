package cmd

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/gate"
	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/truncate"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

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
		Getenv: a.getenv, Environ: a.environ, Now: time.Now, Stderr: a.stderr, DryRun: a.DryRun, Ripgrep: a.RG, Self: a.found.self, NoFork: a.Fork == "off", Far: a.carried != nil,
		Limits: truncate.Limits{Lines: a.MaxLines, Bytes: a.MaxBytes, Tokens: a.MaxTokens}, MaxLines: a.MaxLines,
		Machine: sync.OnceValue(func() machine.Machine { return machine.This(state, a.found.self(), a.found.where()) }), Temp: machine.TempDirs(a.getenv),
	}
	fillLimits(&env.Limits)
	temp := ""
	if n := len(env.Temp); n > 0 {
		temp = env.Temp[n-1]
	}
	if env.Workspace, err = workspace.Open(abs, workspace.Options{Home: a.home(), Temp: temp, LockDir: filepath.Join(state, "locks")}); err != nil {
		hint := "name an existing directory with --root"
		if a.carried != nil {
			hint = "make the directory there, or name another one in --on or with --root"
		}
		return nil, a.blame("root", tool.Errorf(tool.BadInput, "%w", err).WithHint("%s", hint))
	}
	env.Session, err = session.Open(session.Options{State: state, Root: env.Workspace.Root(), ID: a.Session})
	if errors.Is(err, session.ErrID) {
		return nil, a.blame("session", err)
	}
	if err == nil {
		env.Git = a.committed(env)
		env.Made = func(p *policy.Policy, f *change.File) {
			gate.Made(p, env.Session.StateDir(), env.Workspace.Root(), gate.Written{Path: f.Path, Was: f.Before.Hash, Sum: f.After.Hash, Size: f.After.Size})
		}
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
		WithHint("check owner and mode, or choose another directory with --state DIR, or with AGENTKIT_STATE at another place; calls are refused while state cannot be kept")
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
