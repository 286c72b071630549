package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/rg"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// forbiddenInTrees finds, in the trees that a command reads as a whole, the files that
// the policy does not let it read: grep -r must not show what cat may not. Where
// the sandbox hides them, it meets nothing that it could show. A tree that is too
// large to look through counts as unknown.
func forbiddenInTrees(ctx context.Context, env *tool.Env, needs []policy.Access) []policy.Access {
	var found []policy.Access
	seen := map[string]bool{}
	for _, tree := range needs {
		if tree.Kind != policy.Read || !tree.Tree || tree.File == policy.Missing || seen[tree.Path] || !safefile.Below(env.Workspace.Root(), tree.Path) ||
			env.Policy.Decide(&tree).Verdict != policy.Allow {
			continue
		}
		r := reader(needs, tree)
		if tree.Names != "" && !tree.Split {
			r.only = patterns(&tree)
		}
		if r.names {
			continue
		}
		seen[tree.Path] = r.only == nil
		found = append(found, forbiddenBelow(ctx, env, tree, r)...)
	}
	return found
}

// forbiddenBelow finds the files of a tree that the policy does not let its reader
// read, and nothing keeps from it.
func forbiddenBelow(ctx context.Context, env *tool.Env, tree policy.Access, r treeReader) (found []policy.Access) {
	hidden := sync.OnceValue(func() []string { return hiddenInside(env) })
	o := rg.WalkOptions{Root: tree.Path, Hidden: r.hidden, NoIgnore: true, Links: true, MaxEntries: maxTreeEntries}
	res, err := rg.Walk(ctx, nil, o, func(e rg.Entry) error {
		file := tree
		file.Path, file.Named, file.File, file.Tree = filepath.Join(tree.Path, e.Path), "", policy.Regular, false
		if r.reads(filepath.Base(e.Path)) && env.Policy.Decide(&file).Verdict != policy.Allow && !slices.ContainsFunc(hidden(), func(h string) bool { return safefile.Below(h, file.Path) }) {
			found = append(found, file)
		}
		if len(found) >= maxForbidden {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) && (err != nil || res.Partial != "") {
		tree.Opaque = "the tree is too large to look through for files that may not be read"
		found = append(found, tree)
	}
	return found
}

// unheld finds what a command could read and nothing keeps it from, where a part of
// it is allowed though nobody knows what it does: below L3 the sandbox cannot hide
// single files of the root. So such a command is asked about only where there
// are some.
func unheld(env *tool.Env, needs []policy.Access) []policy.Access {
	if env.Policy.Level() != int(sandbox.L2) || !env.Policy.Confines() {
		return nil
	}
	i := slices.IndexFunc(needs, func(a policy.Access) bool { return env.Policy.Blind(&a) })
	if i < 0 {
		return nil
	}
	one := policy.Access{Kind: policy.Read, Tool: "bash", File: policy.Regular, Guess: true, Source: needs[i].Source}
	if needs[i].Kind == policy.Exec {
		one.Parent = i + 1
	}
	var found []policy.Access
	wall := compileWall(env)
	for _, path := range wall.Hidden {
		info, err := os.Lstat(path)
		if err != nil || !safefile.Below(env.Workspace.Root(), path) || len(found) >= maxForbidden {
			continue
		}
		if one.Path, one.Tree = path, info.IsDir(); info.IsDir() {
			one.File = policy.Dir
		} else {
			one.File = policy.Regular
		}
		found = append(found, one)
	}
	if len(wall.Beyond) > 0 && len(found) == 0 {
		one.Path, one.Opaque = env.Workspace.Root(), "the tree is too large to look through for files that may not be read"
		found = append(found, one)
	}
	return found
}

// hiddenInside lists the files in the root that the sandbox of a command hides from
// it; none where it hides none.
func hiddenInside(env *tool.Env) []string {
	if env.Policy.Level() < int(sandbox.L3) {
		return nil
	}
	return compileWall(env).Hidden
}

// errEnough ends a walk that has found what it was for.
var errEnough = errors.New("enough")

// A treeReader is how a program reads a tree.
type treeReader struct {
	names  bool     // it only looks at names
	hidden bool     // it looks into hidden files unasked
	only   []string // patterns of the names that it reads; nil for all
}

// reads reports whether a file of a name is read.
func (r *treeReader) reads(name string) bool {
	return matchesAny(r.only, name)
}

// reader tells how the program that the tree is for reads it.
func reader(needs []policy.Access, tree policy.Access) treeReader {
	if tree.Parent < 1 || tree.Parent > len(needs) || len(needs[tree.Parent-1].Argv) == 0 {
		return treeReader{hidden: true}
	}
	exec := &needs[tree.Parent-1]
	argv := exec.Argv
	switch filepath.Base(argv[0]) {
	case "ls", "dir", "vdir", "find", "fd", "fdfind", "tree", "du", "stat":
		return treeReader{names: true, hidden: true}
	case "rg", "ag":
		return treeReader{hidden: slices.ContainsFunc(argv[1:], func(word string) bool {
			return strings.HasPrefix(word, "--hidden") || strings.HasPrefix(word, "--unres") || strings.HasPrefix(word, "--no-hid") ||
				len(word) > 1 && word[0] == '-' && word[1] != '-' && strings.ContainsAny(word, "u.")
		})}
	case "grep", "egrep", "fgrep":
		return treeReader{hidden: true, only: included(exec)}
	}
	return treeReader{hidden: true}
}

// included are the patterns of grep's --include; nil where it reads all names, or
// it cannot be told which.
func included(grep *policy.Access) (patterns []string) {
	for _, o := range grep.Options {
		if o.Names == "include" {
			patterns = append(patterns, o.Value)
		}
	}
	if slices.Contains(grep.Dynamic, true) {
		return nil
	}
	return patterns
}
