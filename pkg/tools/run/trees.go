package run

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/rg"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

const (
	// maxTreeEntries is how many directory entries are looked at for what a command
	// that reads a whole tree would come upon.
	maxTreeEntries = 300_000

	// maxForbidden is how many files of these are named; one is enough to ask.
	maxForbidden = 5
)

// forbiddenInTrees finds, in the trees that a command reads as a whole, the files that
// the policy does not let it read: grep -r must not show what cat may not. A
// tree that is too large to look through counts as unknown.
func forbiddenInTrees(ctx context.Context, env *tool.Env, needs []policy.Access) []policy.Access {
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
		o := rg.WalkOptions{Root: tree.Path, Hidden: hidden, NoIgnore: true, Links: true, MaxEntries: maxTreeEntries}
		res, err := rg.Walk(ctx, nil, o, func(e rg.Entry) error {
			file := tree
			file.Path, file.Named, file.File, file.Tree = filepath.Join(tree.Path, e.Path), "", policy.Regular, false
			if env.Policy.Decide(&file).Verdict != policy.Allow {
				found = append(found, file)
			}
			if len(found) >= maxForbidden {
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
