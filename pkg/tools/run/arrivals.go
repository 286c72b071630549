package run

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/rg"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/steps"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/treewalk"
)

// arrivals finds the names that files get where a program copies or moves a directory, as
// far as the policy does not let them be written: cp -r must not make what cp may not. What is
// protected by its name anyway, the sandbox settles, and without one it counts where it was not
// protected before. A directory that is too large to look through counts as unknown.
func arrivals(ctx context.Context, env *tool.Env, needs []policy.Access) (found []policy.Access) {
	for i := range needs {
		w := &needs[i]
		if w.Kind != policy.Write || w.Op != policy.Create && w.Op != policy.Change || w.Opaque != "" || w.Parent < 1 || w.Parent > len(needs) || !copies(&needs[w.Parent-1]) {
			continue
		}
		if steps.Name(&needs[w.Parent-1]) == "git" && safefile.InGit(w.Path) { // its own
			continue
		}
		whole := true
		for j := range needs {
			s := &needs[j]
			switch {
			case s.Kind != policy.Read || s.Parent != w.Parent || !s.Tree || s.Opaque != "" || ofAnother(needs, w, s):
			case s.File == policy.Missing: // the text makes it, and may make anything in it
				w.Tree, whole = w.Tree || !env.Policy.Holds(), false
			case s.File == policy.Dir:
				more, ok := arriving(ctx, env, w, s.Path, steps.Name(&needs[w.Parent-1]))
				found, whole = append(found, more...), whole && ok
			}
		}
		w.Each = w.Each || whole && w.Tree
	}
	return found
}

// ofAnother reports whether a write is that of another source than s: it has its name.
func ofAnother(needs []policy.Access, w, s *policy.Access) bool {
	name := filepath.Base(w.Path)
	return filepath.Base(s.Path) != name && slices.ContainsFunc(needs, func(o policy.Access) bool {
		return o.Kind == policy.Read && o.Parent == w.Parent && filepath.Base(o.Path) == name
	})
}

// copies reports whether a program gives files of directories other names.
func copies(a *policy.Access) bool {
	return programs.Has("cp gcp mv gmv rsync", steps.Name(a)) || steps.Name(a) == "git" && slices.Contains(a.Argv, "mv")
}

// arriving finds them for one directory that is copied or moved to where a write is; ok is
// whether it was looked through.
func arriving(ctx context.Context, env *tool.Env, w *policy.Access, from, name string) (found []policy.Access, ok bool) {
	root, own := env.Workspace.Root(), false
	o := rg.WalkOptions{Root: from, Hidden: true, NoIgnore: true, Links: true, MaxEntries: treewalk.MaxEntries}
	res, err := rg.Walk(ctx, nil, o, func(e rg.Entry) error {
		for _, to := range targets(w, from, name) {
			first, _, _ := strings.Cut(filepath.ToSlash(e.Path), "/")
			mine := to == root && strings.EqualFold(first, ".git")
			own = own || mine
			file := arrival(env, w, filepath.Join(to, e.Path))
			switch d := env.Policy.Decide(&file); {
			case d.Verdict == policy.Allow, d.Layer == policy.BuiltIn && (mine || env.Policy.Holds() || (to != root || safefile.InGit(e.Path)) && protected(env, w, filepath.Join(from, e.Path))):
			case len(found) < treewalk.MaxForbidden:
				found = append(found, file)
			}
		}
		return nil
	})
	switch {
	case err == nil && res.Partial == "":
		return found, !own // what comes to the workspace's own repository is asked about as a whole
	case !env.Policy.Holds():
		unknown := *w
		unknown.Opaque = "the tree is too large to look through for names that may not be written"
		found = append(found, unknown)
	}
	return found, false
}

// arrival is the access to a name below a write that a file gets.
func arrival(env *tool.Env, w *policy.Access, name string) policy.Access {
	file := treewalk.FileOf(*w, name)
	file.Op, file.File = policy.Create, policy.Missing
	if w.File == policy.Missing { // so that no link is on the way
		return file
	}
	at, err := env.Workspace.ResolveIn("/", name)
	if err != nil {
		file.Opaque = "the path cannot be resolved: " + err.Error()
		return file
	}
	now := at.Write(w.Tool, policy.Change)
	file.Path, file.Named, file.File, file.Links = now.Path, now.Named, now.File, now.Links
	if file.File != policy.Missing {
		file.Op = policy.Change
	}
	return file
}

// protected reports whether a file may not be written just so where it is.
func protected(env *tool.Env, w *policy.Access, path string) bool {
	file := treewalk.FileOf(*w, path)
	file.Op = policy.Change
	return env.Policy.Decide(&file).Verdict != policy.Allow
}

// targets are the directories that may have the place of one that is copied to where a write is:
// whether rsync takes a directory or what is in it hangs on a slash behind its name.
func targets(w *policy.Access, from, program string) []string {
	switch {
	case program != "rsync":
		return []string{w.Path}
	case filepath.Base(w.Path) == filepath.Base(from):
		return []string{w.Path, filepath.Dir(w.Path)}
	}
	return []string{w.Path, filepath.Join(w.Path, filepath.Base(from))}
}
