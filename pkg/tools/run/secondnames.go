package run

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agentkit-go/agentkit/pkg/confine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/rg"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/steps"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/treewalk"
)

// secondNames leaves out that a file of the root has several names where that is nothing to ask about: it is
// only read, and by none of its names it is one that may not be read, or a program puts something
// else at its name or gives it one more. What is written to it is written by each name.
func secondNames(ctx context.Context, env *tool.Env, needs []policy.Access, ahead *confine.Prefetch) {
	for i := range needs {
		a := &needs[i]
		if a.Links < 2 || a.File != policy.Regular || !safefile.Below(env.Workspace.Root(), a.Path) {
			continue
		}
		switch {
		case a.Kind == policy.Read && readByAll(ctx, env, a, ahead):
			a.Links = 0
		case a.Kind == policy.Write && a.Parent > 0 && a.Parent <= len(needs) && programs.Has("mv gmv ln gln link", steps.Name(&needs[a.Parent-1])):
			a.Links = 0
		}
	}
}

// readByAll reports whether a file may be read by each of its names. A sandbox hides those in the root that may not, and
// tells which outside; without one all must be found in the root.
func readByAll(ctx context.Context, env *tool.Env, a *policy.Access, ahead *confine.Prefetch) bool {
	info, err := os.Lstat(a.Path)
	if err != nil {
		return false
	}
	if ahead != nil && env.Policy.Holds() {
		return !hiddenElsewhere(info, ahead.Wall().Hidden)
	}
	left := a.Links
	o := rg.WalkOptions{Root: env.Workspace.Root(), Hidden: true, NoIgnore: true, MaxEntries: treewalk.MaxEntries}
	_, err = rg.Walk(ctx, nil, o, func(e rg.Entry) error {
		file := treewalk.FileOf(*a, filepath.Join(env.Workspace.Root(), e.Path))
		if is, err := os.Lstat(file.Path); err != nil || !os.SameFile(is, info) {
			return nil
		}
		if file.Links = 0; env.Policy.Decide(&file).Verdict != policy.Allow {
			return errEnough
		}
		left--
		return nil
	})
	return err == nil && left == 0
}

// maxNames bounds the files that are looked at for another name of one.
const maxNames = 20_000

// hiddenElsewhere reports whether a file is one of those that are hidden, by whatever name, or may be.
func hiddenElsewhere(info fs.FileInfo, hidden []string) (is bool) {
	seen := 0
	for _, top := range hidden {
		_ = filepath.WalkDir(top, func(_ string, e fs.DirEntry, err error) error {
			if seen++; err != nil || !e.Type().IsRegular() && seen <= maxNames {
				return nil
			}
			other, err := e.Info()
			if is = seen > maxNames || err == nil && os.SameFile(info, other); is {
				return fs.SkipAll
			}
			return nil
		})
		if is {
			return true
		}
	}
	return false
}
