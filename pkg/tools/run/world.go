package run

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/shellparse"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// newWorld is what the analysis of a command may know of this machine: the
// command starts in dir with the variables of environ.
func newWorld(env *tool.Env, dir string, environ []string) *shellparse.World {
	vars := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		vars[variable(name)] = value
	}
	return &shellparse.World{
		Dir: dir, Root: env.Workspace.Root(), Home: vars["HOME"], Temp: scratch(env),
		Getenv: func(name string) (string, bool) {
			value, ok := vars[variable(name)]
			return value, ok
		},
		LookPath: func(name string) (string, bool) { return machine.LookPath(name, vars["PATH"], dir) },
		Resolve: func(dir, name string) (policy.Access, error) {
			p, err := env.Workspace.ResolveIn(dir, name)
			a := p.Read("bash")
			a.Fresh = err == nil && fresh(env, a.Path)
			return a, err
		},
		ReadFile: func(name string) ([]byte, error) {
			p, err := env.Workspace.ResolveIn(dir, name)
			if err != nil {
				return nil, err
			}
			return env.Workspace.ReadFile(p, 256<<10)
		},
		Glob: func(dir, pattern string) ([]string, bool) { return expand(env, dir, pattern) },
	}
}

// fresh reports whether a path lies in what was made right in a temporary directory
// since the session began, or is not there yet. It matters where the root itself
// lies right in that directory.
func fresh(env *tool.Env, path string) bool {
	dir := filepath.Dir(env.Workspace.Root())
	if !slices.Contains(env.Temp, dir) || !safefile.Below(dir, path) || path == dir {
		return false
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(path[len(dir):], string(filepath.Separator)), string(filepath.Separator))
	return bornSince(filepath.Join(dir, name), began(env))
}

// scratch are the temporary directories that a command may use freely. One
// that holds the root holds other people's work, too.
func scratch(env *tool.Env) []string {
	return slices.DeleteFunc(slices.Clone(env.Temp), func(dir string) bool { return safefile.Below(dir, env.Workspace.Root()) })
}

// maxGlob bounds the directory entries that expanding a pattern looks at.
const maxGlob = 10_000

// expand gives the names that a pathname pattern stands for in dir. It knows
// patterns in the last element only, in directories of modest size; of others
// it cannot tell.
func expand(env *tool.Env, dir, pattern string) ([]string, bool) {
	parent, base := filepath.Split(pattern)
	if strings.ContainsAny(parent, `*?[\`) || strings.ContainsAny(base, `\(){}[]`) {
		return nil, false
	}
	at := "."
	if parent != "" {
		at = parent
	}
	p, err := env.Workspace.ResolveIn(dir, at)
	if err != nil || p.Type != policy.Dir {
		return nil, err == nil
	}
	list, err := env.Workspace.ReadDir(p)
	if err != nil || len(list) > maxGlob {
		return nil, false
	}
	var names []string
	for _, d := range list {
		if ok, err := filepath.Match(base, d.Name()); err != nil {
			return nil, false
		} else if ok && (strings.HasPrefix(base, ".") || !strings.HasPrefix(d.Name(), ".")) {
			names = append(names, parent+d.Name())
		}
	}
	return names, true
}
