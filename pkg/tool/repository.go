package tool

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// Needs is what the call needs, and the tool as such where it touches nothing, for a rule
// may be about that. A directory that holds HEAD, objects and refs, or HEAD and
// commondir, is a repository whatever its name, and git runs what its settings say. So what a tool writes
// in one, or makes one by, counts as written in a .git there, too. (Commands are held by
// the sandbox.)
func (in *Invocation) Needs(ctx context.Context, env *Env) ([]policy.Access, error) {
	needs, err := in.Call.Needs(ctx, env)
	isWrite := func(a policy.Access) bool { return a.Kind == policy.Write && a.Op != policy.Delete }
	if err == nil && len(needs) == 0 {
		needs = []policy.Access{{Kind: policy.Tool, Tool: in.Tool.Name}}
	}
	if err != nil || in.Tool.Name == "bash" || !slices.ContainsFunc(needs, isWrite) {
		return needs, err
	}
	r := &repositories{root: env.Workspace.Root(), known: map[string]repository{}}
	for i := range needs {
		if a := &needs[i]; isWrite(*a) && safefile.Below(r.root, a.Path) {
			r.writes = append(r.writes, a.Path)
		}
	}
	for _, path := range r.writes {
		needs = append(needs, r.inside(path, needs[0].Tool)...)
	}
	return needs, nil
}

// repositorySource begins the source of such an access.
const repositorySource = "the repository "

type repositories struct {
	root   string
	writes []string
	known  map[string]repository
}

// A repository is what a directory is of one.
type repository int

const (
	notOne repository = iota
	made              // it becomes one by the call
	before            // it is one
)

// inside lists the accesses that a write amounts to in the repositories that it lies in.
func (r *repositories) inside(path, name string) (list []policy.Access) {
	write := func(dir, rel string) {
		a := policy.Access{Kind: policy.Write, Tool: name, Path: filepath.Join(dir, ".git", rel), Named: filepath.Join(dir, rel), Op: policy.Change, File: policy.Regular, Source: repositorySource + dir}
		if !slices.ContainsFunc(list, func(b policy.Access) bool { return b.Path == a.Path }) {
			list = append(list, a)
		}
	}
	if safefile.InGit(path) {
		return nil
	}
	for dir := range safefile.Up(r.root, filepath.Dir(path)) {
		kind := r.kind(dir)
		if kind == notOne {
			continue
		}
		rel, _ := filepath.Rel(dir, path)
		first, _, _ := strings.Cut(filepath.ToSlash(strings.ToLower(rel)), "/")
		if !slices.Contains(gitNames(), first) { // such as a work tree beside them
			continue
		}
		write(dir, rel)
		for _, settings := range []string{"config", "config.worktree", "commondir", "hooks"} {
			if _, err := os.Lstat(filepath.Join(dir, settings)); err == nil && kind == made {
				write(dir, settings)
			}
		}
	}
	return list
}

// gitNames are the names in a repository's directory that make it one, or have git run something.
func gitNames() []string {
	return []string{"head", "objects", "refs", "config", "config.worktree", "commondir", "hooks", "info", "modules", "worktrees"}
}

func (r *repositories) kind(dir string) repository {
	if kind, ok := r.known[dir]; ok {
		return kind
	}
	kind := r.with(dir, "HEAD", "objects", "refs")
	if kind == notOne { // or it says where these are
		kind = r.with(dir, "HEAD", "commondir")
	}
	r.known[dir] = kind
	return kind
}

// with is what a directory is where these names in it make a repository.
func (r *repositories) with(dir string, names ...string) repository {
	kind := before
	for _, name := range names {
		part := filepath.Join(dir, name)
		if _, err := os.Lstat(part); err == nil {
			continue
		}
		if !slices.ContainsFunc(r.writes, func(path string) bool { return safefile.Below(strings.ToLower(part), strings.ToLower(path)) }) {
			return notOne
		}
		kind = made
	}
	return kind
}
