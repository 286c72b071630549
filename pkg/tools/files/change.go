package files

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/syntax"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// A changeSet changes files all or none, whichever tool asks for it. It holds
// their locks from begin to end.
type changeSet struct {
	env   *tool.Env
	tool  string
	files []*fileChange
	gate  bool // refuse what brings new syntax errors
	dry   bool
	lock  *workspace.Lock
}

// again runs a call that changes files, and once more whenever somebody outside
// wrote to one of them after it was read and before it was replaced: the change is
// then made in what the file holds by now. A call that insists on a version is
// refused by itself, and so is, after five seconds and ten tries, one whose file never
// rests, and one whose file others wrote to twice, so that one of their writings lies beside
// it: that has to be said. Where many wait for the lock of one file, the seconds alone pass with waiting.
func again(ctx context.Context, env *tool.Env, run func(context.Context, *tool.Env) (*tool.Result, error)) (r *tool.Result, err error) {
	begun := time.Now()
	for tries := 1; ; tries++ {
		r, err = run(ctx, env)
		if errors.Is(err, workspace.ErrSaved) || tries >= 10 && time.Since(begun) > 5*time.Second || !errors.As(err, new(*workspace.ConflictError)) && !errors.Is(err, change.ErrSource) {
			return r, err
		}
	}
}

// begin locks all files and reads them, but for large ones. A file that is not
// there is no error; a version other than the one asked for is.
func (s *changeSet) begin(ctx context.Context) error {
	var paths []workspace.Path
	for _, c := range s.files {
		paths = append(paths, c.path)
	}
	lock, err := s.env.History.Lock(ctx, paths...)
	if err != nil {
		return err
	}
	s.lock = lock
	for _, c := range s.files {
		c.closed = unreadable(s.env, s.tool, c.path)
		if err := c.read(s.env.Workspace); err != nil {
			return err
		}
	}
	return nil
}

func (s *changeSet) end() { s.lock.Unlock() }

// commit makes the changes, or in a dry run only says what they would be.
func (s *changeSet) commit(ctx context.Context) error {
	set := change.Set{Tool: s.tool, Title: s.title(), Lock: s.lock}
	room := roomForDiff(s.env)
	for _, c := range s.files {
		if c.source == nil {
			c.compare(ctx, s.dry, &room)
		}
		c.report.conceal(c.closed)
		one := change.Change{Op: change.Create, Path: c.path, Data: c.after, Source: c.source, Mode: c.mode}
		if c.version != "" {
			one.Op, one.Version, one.Was = change.Replace, c.version, c.before
		}
		set.Changes = append(set.Changes, one)
	}
	s.dangling()
	if s.gate {
		broken := map[string][]syntax.Problem{}
		for _, c := range s.files {
			broken[c.report.Path] = c.report.SyntaxErrors
		}
		if err := gateError(broken); err != nil {
			return err
		}
	}
	if s.dry {
		return nil
	}
	record, err := s.env.Commit(ctx, set)
	if err != nil {
		return commitError(err)
	}
	for _, c := range s.files {
		c.done(record)
	}
	return nil
}

func (s *changeSet) title() string {
	if len(s.files) == 1 {
		return s.tool + " of " + tool.Shown(s.files[0].path)
	}
	return s.tool + " of " + tool.Count(int64(len(s.files)), "file")
}

// unfinishedHint is about changes that could be neither finished nor taken back.
const unfinishedHint = "see that the disk has room and that what the error names can be changed; the next call that changes a file puts this one right"

// recoverChanges takes back or finishes what killed calls have left half done
// in the workspace, in any session. With nothing to do it costs a look at one
// directory per session.
func recoverChanges(ctx context.Context, env *tool.Env) error {
	_, err := env.History.Recover(ctx)
	return commitError(err)
}

// commitError explains what the history says where the caller can do something
// about it.
func commitError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, change.ErrSource):
		return tool.Errorf(tool.Conflict, "%w", err).WithHint("someone else changes the file; read it again and decide anew")
	case errors.Is(err, change.ErrUnfinished):
		return tool.Errorf(tool.IO, "%w", err).WithHint(unfinishedHint)
	case errors.Is(err, change.ErrOccupied):
		return tool.Errorf(tool.BadInput, "%w", err).WithHint("delete or move all that the directory holds in the same patch, or give the file another name")
	case errors.Is(err, change.ErrTwice):
		return tool.Errorf(tool.BadInput, "%w, under different names", err).WithHint("name every file once, by its own path and not by a link")
	}
	return err
}

// maxSiblings bounds the files of a package that are looked at, and maxSibling
// the bytes of one.
const (
	maxSiblings = 500
	maxSibling  = 1 << 20
)

// dangling finds the names that the set takes away and other files of the same
// Go package still use. It looks at no file that the policy closes.
func (s *changeSet) dangling() {
	for _, c := range s.files {
		names := syntax.Removed(c.path.Real, c.before, c.after)
		if len(names) == 0 || c.closed != "" {
			continue
		}
		found := syntax.Dangling(c.after, names, s.siblings(c))
		for _, path := range slices.Sorted(maps.Keys(found)) {
			for _, p := range found[path] {
				c.report.OtherErrors = append(c.report.OtherErrors, elsewhere{path, p})
			}
		}
	}
}

// siblings are the Go files in c's directory, as they are after the set, by the
// names that results show.
func (s *changeSet) siblings(c *fileChange) map[string][]byte {
	list := map[string][]byte{}
	dir, err := s.env.Workspace.Resolve(filepath.Dir(c.path.Real))
	if err != nil {
		return nil
	}
	entries, err := s.env.Workspace.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".go" || len(list) == maxSiblings {
			continue
		}
		path, err := s.env.Workspace.ResolveIn(dir.Real, e.Name())
		if err != nil || s.env.May(path.Read(s.tool)) != nil {
			continue
		}
		if data, err := s.env.Workspace.ReadFile(path, maxSibling); err == nil {
			list[tool.Shown(path)] = data
		}
	}
	for _, other := range s.files {
		if filepath.Dir(other.path.Real) == dir.Real && filepath.Ext(other.path.Real) == ".go" {
			list[tool.Shown(other.path)] = other.after
		}
	}
	return list
}
