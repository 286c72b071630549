package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/committed"
	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// sources are what the policy is loaded from, beside what was granted for the session.
func (a *app) sources(env *tool.Env) *policy.Sources {
	root := env.Workspace.Root()
	s := &policy.Sources{
		Machine: machineDir(a.getenv), User: a.configDir(), Project: filepath.Join(root, ".agentkit"),
		Files: absolute(a.Policy), Allow: slices.Clone(a.Allow), Profile: a.Profile, Sandbox: a.Sandbox,
		Root: root, Home: machine.RealDir(a.home()), State: env.Session.StateDir(), Temp: env.Temp,
		Installed: a.installed(root),
		Readable:  []string{env.Session.Path("spill")},
		Tools:     Tools.Names(), Trust: a.trust(),
		Committed: env.Git.Among, Moved: env.Git.Secret,
		Analyze: func(name string, args json.RawMessage) ([]policy.Access, error) { return analyze(env, name, args) },
	}
	s.Trusted = a.trusted(env)
	if a.carried != nil {
		s.Settle(env.Session.Path(a.carried.dir()), a.carried.Policy)
	}
	if a.confines() {
		s.Level = int(env.Machine().Level)
	}
	return s
}

// trusted are the directories of the system's programs, and those of the PATH that
// nobody else may write to and that lie in none of the directories where calls put
// files: nobody but the caller can have put a program there.
func (a *app) trusted(env *tool.Env) []string {
	list := policy.TrustedDirs()
	for _, dir := range a.found.own() {
		if !slices.ContainsFunc(env.Temp, func(temp string) bool { return safefile.Below(temp, dir) }) && !safefile.Below(env.Workspace.Root(), dir) {
			list = append(list, dir)
		}
	}
	return list
}

// confines reports whether this machine's own sandbox is wanted.
func (a *app) confines() bool { return a.Sandbox != "off" && a.Sandbox != "outer" }

// installed are the directories that belong to programs by what the environment
// says, and those of the repository that the root is a part of.
func (a *app) installed(root string) []string {
	list := committed.Around(root)
	if home := a.home(); home != "" {
		list = append(list, machine.RealDir(filepath.Join(home, "go", "pkg", "mod"))) // where GOPATH is not set
	}
	for _, name := range []string{"GOROOT", "GOPATH", "GOMODCACHE", "JAVA_HOME", "ANDROID_HOME", "ANDROID_SDK_ROOT", "NVM_DIR", "PYENV_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX", "CARGO_HOME", "RUSTUP_HOME"} {
		if dir := machine.RealDir(a.getenv(name)); dir != "" {
			list = append(list, dir)
		}
	}
	return list
}

// committed knows what git's history holds, by a git that no call can have put
// there.
func (a *app) committed(env *tool.Env) *committed.Files {
	return &committed.Files{State: filepath.Join(env.Session.StateDir(), "committed"), Git: func() string {
		dirs := strings.Join(a.trusted(env), string(filepath.ListSeparator))
		return machine.FirstOnPath("git", dirs, func(program string) bool { return !env.Placed(program) })
	}}
}

// loadGranted loads a policy with what was granted for the session.
func loadGranted(env *tool.Env, s *policy.Sources) (*policy.Policy, error) {
	s.Allow = append(tool.Granted(env.Session), s.Allow...)
	return load(s)
}

// load loads a policy. Its errors refuse every call.
func load(s *policy.Sources) (*policy.Policy, error) {
	p, err := policy.Load(s)
	return p, unusable(err)
}

// unusable is the error of a policy as that of a call; nil for none.
func unusable(err error) error {
	if err == nil {
		return nil
	}
	if list, ok := errors.AsType[policy.Problems](err); ok && len(list) > 0 {
		e := tool.Errorf(tool.BadInput, "the policy cannot be used: %w", err).WithHint("correct it; until then every call is refused")
		for _, one := range list {
			if one.Near != "" {
				_ = e.Suggest(one.Near)
			}
		}
		return e.With(tool.PolicyDetails{File: list[0].File, Line: list[0].Line})
	}
	return tool.Errorf(tool.BadInput, "the policy cannot be used: %w", err).WithHint("correct it; until then every call is refused")
}

// trustName is the file of accepted policies in the directory of the configuration.
const trustName = "trust.json"

// trust remembers which project policies the user has accepted.
func (a *app) trust() *policy.TrustStore {
	if dir := a.configDir(); dir != "" {
		return &policy.TrustStore{Path: filepath.Join(dir, trustName)}
	}
	return nil
}

// machineDir is where the policy lies that the machine's owner sets.
func machineDir(getenv func(string) string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(getenv("ProgramData"), "agentkit")
	}
	return "/etc/agentkit"
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
	early.Policy, early.StandIn = base, standIn
	env = &early
	t, err := Tools.Find(name)
	if err != nil {
		return nil, err
	}
	in, err := tool.Decode(t, args)
	if err != nil {
		return nil, err
	}
	return env.Meant(in).Needs(context.Background(), env)
}
