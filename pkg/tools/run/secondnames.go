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
	var reads []secondRead
	for i := range needs {
		a := &needs[i]
		if a.Links < 2 || a.File != policy.Regular || !safefile.Below(env.Workspace.Root(), a.Path) {
			continue
		}
		switch info, err := os.Lstat(a.Path); {
		case a.Kind == policy.Read && err == nil:
			reads = append(reads, secondRead{a, info, a.Links})
		case a.Kind == policy.Write && a.Parent > 0 && a.Parent <= len(needs) && programs.Has("mv gmv ln gln link", steps.Name(&needs[a.Parent-1])):
			a.Links = 0
		}
	}
	if len(reads) == 0 {
		return
	}
	hides := ahead != nil && env.Policy.Holds()
	if ok := hides && unhidden(reads, ahead.Wall().Hidden) || !hides && readByAll(ctx, env, reads); !ok {
		return
	}
	for _, r := range reads {
		if r.left == 0 {
			r.a.Links = 0
		}
	}
}

// A secondRead reads a file that has several names.
type secondRead struct {
	a    *policy.Access
	file fs.FileInfo
	left uint64 // names of which it is not known that it may be read by them
}

// readByAll finds the names of the files in the root: without a sandbox a file may be read where all its names lie there, and it may be by
// each. It is false where the root is too large.
func readByAll(ctx context.Context, env *tool.Env, reads []secondRead) bool {
	o := rg.WalkOptions{Root: env.Workspace.Root(), Hidden: true, NoIgnore: true, MaxEntries: treewalk.MaxEntries}
	_, err := rg.Walk(ctx, nil, o, func(e rg.Entry) error {
		path := filepath.Join(env.Workspace.Root(), e.Path)
		is, err := os.Lstat(path)
		if err != nil {
			return nil
		}
		for i := range reads {
			if r := &reads[i]; os.SameFile(is, r.file) {
				file := treewalk.FileOf(*r.a, path)
				if file.Links = 0; env.Policy.Decide(&file).Verdict == policy.Allow {
					r.left--
				}
			}
		}
		return nil
	})
	return err == nil
}

// maxNames bounds the files that are looked at for another name of one.
const maxNames = 20_000

// unhidden finds which of the files are hidden by no name: a sandbox hides those in the root that may not be read, and tells which outside.
// It is false where so many are hidden that not all are looked at.
func unhidden(reads []secondRead, hidden []string) bool {
	for i := range reads {
		reads[i].left = 0
	}
	seen := 0
	for _, top := range hidden {
		_ = filepath.WalkDir(top, func(_ string, e fs.DirEntry, err error) error {
			if seen++; seen > maxNames {
				return fs.SkipAll
			}
			if err != nil || !e.Type().IsRegular() {
				return nil
			}
			other, err := e.Info()
			for i := range reads {
				if err == nil && os.SameFile(reads[i].file, other) {
					reads[i].left++
				}
			}
			return nil
		})
	}
	return seen <= maxNames
}
