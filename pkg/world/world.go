// Package world has what the analysis of a command may know of this machine: directories, variables, programs and the
// files that it may look into, as far as the policy lets a command do that.
package world

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/shellparse"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// New is what the analysis of a command may know of this machine: the
// command starts in dir with the variables of environ.
func New(env *tool.Env, dir string, environ []string) *shellparse.World {
	vars := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		vars[Variable(name)] = value
	}
	free, shared := Scratch(env)
	return &shellparse.World{
		Dir: dir, Root: env.Workspace.Root(), Home: vars["HOME"], Temp: free, SharedTemp: shared,
		Getenv: func(name string) (string, bool) {
			value, ok := vars[Variable(name)]
			return value, ok
		},
		LookPath: func(name string) (string, bool) { return machine.LookPath(name, vars["PATH"], dir) },
		Resolve: func(dir, name string) (policy.Access, error) {
			p, err := env.Workspace.ResolveIn(dir, name)
			a := p.Read("bash")
			a.Fresh = err == nil && Fresh(env, a.Path)
			return a, err
		},
		Peek:     func(name string) ([]byte, error) { return readIn(env, dir, name, false) },
		ReadFile: func(name string) ([]byte, error) { return readIn(env, dir, name, true) },
		Enters: func(dir string) bool {
			at := policy.Access{Kind: policy.Read, Tool: "bash", Path: dir, File: policy.Dir}
			_, err := os.Stat(dir + string(filepath.Separator) + ".") // who may not search it is told so
			return err == nil && env.Policy.Decide(&at).Verdict == policy.Allow
		},
		Makes:   makes(env),
		Owns:    machine.Owns,
		Guarded: guarded(env), Held: env.Policy.Level() >= int(sandbox.L2),
		Glob: func(dir, pattern string) ([]string, bool) { return expand(env, dir, pattern) },
	}
}

// makes returns a function that reports whether a command can certainly make a directory in one
// that is there: its own, which it may write. Nil where nothing holds what the command does if
// it cannot all the same.
func makes(env *tool.Env) func(dir string) bool {
	if env.Policy.Level() < int(sandbox.L2) {
		return nil
	}
	return func(dir string) bool {
		fi, err := os.Lstat(dir)
		return err == nil && fi.IsDir() && fi.Mode()&0o300 == 0o300 && machine.Owns(dir)
	}
}

// maxRead bounds a file that is read to decide about a command, and maxIndex an index of git's, in bytes.
const (
	maxRead  = 256 << 10
	maxIndex = 16 << 20
)

var errNotRead = errors.New("the policy lets no command read it just so")

// readIn reads a file that a command in dir names. Where it may be shown, it has to be one that the command may read.
func readIn(env *tool.Env, dir, name string, shown bool) ([]byte, error) {
	p, err := env.Workspace.ResolveIn(dir, name)
	if err != nil {
		return nil, err
	}
	if shown {
		a := p.Read("bash")
		a.Fresh = Fresh(env, a.Path)
		if d := env.Policy.Decide(&a); d.Verdict != policy.Allow { // what is found in it is quoted in questions, and in the audit
			return nil, errNotRead
		}
	}
	limit := int64(maxRead)
	if filepath.Base(name) == "index" && safefile.BelowGit(name) {
		limit = maxIndex
	}
	return env.Workspace.ReadFile(p, limit)
}

// guarded returns a function that reports whether the policy does not let a command read a
// file just so. It is asked of many. Where the sandbox hides such files a command finds
// nothing in them, and need not be kept from the rest: nil, as without a policy.
func guarded(env *tool.Env) func(path string) bool {
	if env.Policy.Level() >= int(sandbox.L3) {
		return nil
	}
	root := env.Workspace.Root()
	dirs := map[string]bool{root: false} // whether they, or one above, are notable
	var notable func(path string) bool
	notable = func(path string) bool {
		if is, known := dirs[path]; known || !safefile.Below(root, path) {
			return is || !known
		}
		is, _ := env.Policy.Notable(path, false)
		is = is || notable(filepath.Dir(path))
		dirs[path] = is
		return is
	}
	return func(path string) bool { return notable(path) && !env.Policy.MayRead(path, policy.Regular) }
}

// Fresh reports whether a path lies in what was made right in a temporary directory
// since the session began, or is not there yet. It matters for the names of secrets, and
// where the root itself lies right in that directory.
func Fresh(env *tool.Env, path string) bool {
	return slices.ContainsFunc(env.Temp, func(dir string) bool {
		if !safefile.Below(dir, path) || path == dir {
			return false
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(path[len(dir):], string(filepath.Separator)), string(filepath.Separator))
		return machine.BornSince(filepath.Join(dir, name), Began(env))
	})
}

// Scratch are the temporary directories that a command may use freely, and those that hold
// the root, and other people's work, too: there it may use what is new.
func Scratch(env *tool.Env) (free, shared []string) {
	for _, dir := range env.Temp {
		if safefile.Below(dir, env.Workspace.Root()) {
			shared = append(shared, dir)
		} else {
			free = append(free, dir)
		}
	}
	return free, shared
}

// maxGlob bounds the directory entries that expanding a pattern looks at.
const maxGlob = 10_000

// expand gives the names that a pathname pattern stands for in dir, in directories
// that hold no more than a modest number of names together; of others it cannot tell.
func expand(env *tool.Env, dir, pattern string) ([]string, bool) {
	at := max(strings.IndexAny(pattern, `*?[\`), 0)
	at = strings.LastIndexByte(pattern[:at], '/') + 1
	left := maxGlob
	return expandBelow(env, dir, pattern[:at], pattern[at:], &left)
}

// withoutSets is a pattern without the sets in it that mean the same to every shell and in every locale: [co], and
// neither a range nor a class, nor what is not in a set.
func withoutSets(pattern string) string {
	var b strings.Builder
	for {
		before, rest, opens := strings.Cut(pattern, "[")
		set, after, closes := strings.Cut(rest, "]")
		if b.WriteString(before); !opens {
			return b.String()
		}
		if odd := strings.ContainsFunc(set, func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		}); odd || !closes || set == "" {
			return b.String() + "["
		}
		pattern = after
	}
}

// expandBelow expands a pattern behind a prefix that is known. A name without a
// pattern in it counts when it is listed, wherever it leads.
func expandBelow(env *tool.Env, dir, prefix, pattern string, left *int) ([]string, bool) {
	base, rest, more := strings.Cut(pattern, "/")
	p, err := env.Workspace.ResolveIn(dir, cmp.Or(prefix, "."))
	if err != nil || p.Type != policy.Dir { // as of http://[::1]:8000/
		return nil, err == nil
	}
	if strings.ContainsAny(withoutSets(base), `\(){}[]`) || base == "" || base == "." || base == ".." {
		return nil, false
	}
	if at := p.Read("bash"); env.Policy.Decide(&at).Verdict != policy.Allow { // the names would be quoted
		return nil, false
	}
	list, err := env.Workspace.ReadDir(p)
	if *left -= len(list); err != nil || *left < 0 {
		return nil, false
	}
	var names []string
	for _, d := range list {
		ok, err := filepath.Match(base, d.Name())
		switch {
		case err != nil:
			return nil, false
		case !ok || !strings.HasPrefix(base, ".") && strings.HasPrefix(d.Name(), "."):
		case !more:
			names = append(names, prefix+d.Name())
		case !d.IsDir() && d.Type()&os.ModeSymlink == 0:
		case rest == "":
			names = append(names, prefix+d.Name()+"/")
		default:
			below, ok := expandBelow(env, dir, prefix+d.Name()+"/", rest, left)
			if !ok {
				return nil, false
			}
			names = append(names, below...)
		}
	}
	return names, true
}

// Variable is a variable's name as the system compares it.
func Variable(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}
