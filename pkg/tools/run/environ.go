package run

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/audit"
	"github.com/agentkit-go/agentkit/pkg/confine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/shellparse"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/world"
)

// An environment is what a command gets of variables, and what it does not.
type environment struct {
	list     []string // NAME=value, sorted
	set      []string // names that we or the call set
	withheld []string // names of the caller's that look like secrets and stay with the caller
}

// ofShells are the variables that have a shell run something at its start, or expand
// patterns to other names.
var ofShells = [...]string{"BASH_ENV", "ENV", "PROMPT_COMMAND", "BASHOPTS", "SHELLOPTS", "GLOBIGNORE"}

// newEnvironment is the environment of a command: the caller's without our own
// settings and without what looks like a secret, by its name or its value;
// the settings that keep programs from asking and, unless pages is set, from
// paging; and the call's own variables.
func newEnvironment(env *tool.Env, dir string, tty, pages bool, own map[string]string) environment {
	var e environment
	vars := map[string]string{}
	hands := env.Policy.Environment()
	for _, entry := range env.Environ() {
		name, value, ok := strings.Cut(entry, "=")
		switch {
		case !ok, strings.HasPrefix(name, "AGENTKIT_"), hands.Drops(name), slices.Contains(ofShells[:], name):
		case env.Policy.Withholds() && !hands.Passes(name) && (audit.SecretName(name) || audit.SecretValue(name, value)):
			e.withheld = append(e.withheld, name)
		default:
			vars[name] = value
		}
	}
	ours := map[string]string{"AGENTKIT": "1", "PWD": dir, "GIT_TERMINAL_PROMPT": "0", "DEBIAN_FRONTEND": "noninteractive"}
	if tty {
		ours["TERM"] = "xterm-256color"
	} else {
		maps.Copy(ours, map[string]string{"NO_COLOR": "1", "TERM": "dumb"})
	}
	if !pages {
		maps.Copy(ours, map[string]string{"PAGER": "cat", "GIT_PAGER": "cat", "GH_PAGER": "cat", "MANPAGER": "cat", "BAT_PAGER": "cat", "GIT_EDITOR": "true"})
	}
	if _, set := vars["NODE_REPL_HISTORY"]; !set && env.Policy.Level() >= int(sandbox.L2) {
		ours["NODE_REPL_HISTORY"] = "" // the home, where node would keep it, is not writable
	}
	maps.Copy(ours, own)
	if runtime.GOOS == "windows" { // PATH replaces what it calls Path
		maps.DeleteFunc(vars, func(name, _ string) bool {
			return slices.ContainsFunc(slices.Collect(maps.Keys(ours)), func(set string) bool { return world.Variable(set) == world.Variable(name) })
		})
	}
	maps.Copy(vars, ours)
	for name, value := range vars {
		e.list = append(e.list, name+"="+value)
	}
	slices.Sort(e.list)
	e.set = slices.Sorted(maps.Keys(ours))
	slices.Sort(e.withheld)
	return e
}

// pages reports whether programs of a command may start a pager or an editor. Who types to
// one has it run any command and show any file, so there must be a terminal, and something that
// holds what it does. At L2 the sandbox cannot hide files of the root, so there must be none to hide.
func pages(env *tool.Env, tty bool, ahead *confine.Prefetch) bool {
	if !tty || !env.Policy.Holds() {
		return false
	}
	if ahead == nil || env.Policy.Level() >= int(sandbox.L3) {
		return true
	}
	wall, root := ahead.Wall(), env.Workspace.Root()
	return len(wall.Beyond) == 0 && !slices.ContainsFunc(wall.Hidden, func(path string) bool { return safefile.Below(root, path) })
}

// assignments are the accesses of variables that the call sets itself: those
// that change what programs do, as an export in the command would be.
func assignments(vars map[string]string) []policy.Access {
	var script strings.Builder
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		fmt.Fprintf(&script, "export %s=%s\n", name, tool.QuoteWord(vars[name]))
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
