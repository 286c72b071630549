package run

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/rg"
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
			return p.Read("bash"), err
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

// scratch are the temporary directories that a command may use freely. One
// that holds the root holds other people's work, too.
func scratch(env *tool.Env) []string {
	return slices.DeleteFunc(machine.TempDirs(env.Getenv), func(dir string) bool { return safefile.Below(dir, env.Workspace.Root()) })
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

const (
	// maxWithin is how many directory entries are looked at for what a command
	// that reads a whole tree would come upon.
	maxWithin = 300_000

	// maxFound is how many files of these are named; one is enough to ask.
	maxFound = 5
)

// within finds, in the trees that a command reads as a whole, the files that
// the policy does not let it read: grep -r must not show what cat may not. A
// tree that is too large to look through counts as unknown.
func within(ctx context.Context, env *tool.Env, needs []policy.Access) []policy.Access {
	var found []policy.Access
	seen := map[string]bool{}
	for _, tree := range needs {
		if tree.Kind != policy.Read || !tree.Tree || tree.File == policy.Missing || seen[tree.Path] || !safefile.Below(env.Workspace.Root(), tree.Path) ||
			env.Policy.Decide(&tree).Verdict != policy.Allow {
			continue
		}
		names, hidden := reader(needs, tree)
		if names {
			continue
		}
		seen[tree.Path] = true
		o := rg.WalkOptions{Root: tree.Path, Hidden: hidden, NoIgnore: true, Links: true, MaxEntries: maxWithin}
		res, err := rg.Walk(ctx, nil, o, func(e rg.Entry) error {
			file := tree
			file.Path, file.Named, file.File, file.Tree = filepath.Join(tree.Path, e.Path), "", policy.Regular, false
			if env.Policy.Decide(&file).Verdict != policy.Allow {
				found = append(found, file)
			}
			if len(found) >= maxFound {
				return errEnough
			}
			return nil
		})
		if errors.Is(err, errEnough) {
			return found
		}
		if err != nil || res.Partial != "" {
			tree.Opaque = "the tree is too large to look through for files that may not be read"
			found = append(found, tree)
		}
	}
	return found
}

// errEnough ends a walk that has found what it was for.
var errEnough = errors.New("enough")

// reader tells how the program that the tree is for reads it: whether it only
// looks at names, and whether it looks into hidden files unasked.
func reader(needs []policy.Access, tree policy.Access) (names, hidden bool) {
	if tree.Parent < 1 || tree.Parent > len(needs) || len(needs[tree.Parent-1].Argv) == 0 {
		return false, true
	}
	argv := needs[tree.Parent-1].Argv
	switch filepath.Base(argv[0]) {
	case "ls", "dir", "vdir", "find", "fd", "fdfind", "tree", "du", "stat":
		return true, true
	case "rg", "ag":
		return false, slices.ContainsFunc(argv[1:], func(word string) bool {
			return strings.HasPrefix(word, "--hidden") || strings.HasPrefix(word, "--unres") || strings.HasPrefix(word, "--no-hid") ||
				len(word) > 1 && word[0] == '-' && word[1] != '-' && strings.ContainsAny(word, "u.")
		})
	}
	return false, true
}
