package search

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/rg"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

//go:embed glob.md
var globDoc string

// Glob finds files by name.
var Glob = &tool.Tool{
	Name:    "glob",
	Summary: "find files by name",
	Doc:     &globDoc,
	New: func() tool.Call {
		return &globCall{Path: ".", Ignore: true, Sort: "modified", Limit: 100, TimeoutMS: 30_000}
	},
	ReadOnly: true,
}

// maxGlobEntries bounds how many directory entries a call looks at, for those
// who point it at the whole disk.
const maxGlobEntries = 5_000_000

type globCall struct {
	Patterns  []string
	Path      string
	Hidden    bool
	Ignore    bool
	Sort      string
	Limit     int
	Cursor    string
	TimeoutMS int

	dir  workspace.Path
	here bool // the pattern was absolute: it says itself how deep it goes
}

// Params implements tool.Call.
func (g *globCall) Params(p *param.Set) {
	p.Strings(&g.Patterns, "pattern", "what the paths match, such as src/**/*.{ts,tsx}; one or several").Required().Arg().Alias("patterns", "glob", "query")
	p.Path(&g.Path, "path", param.Directory, "the directory to search").Alias("dir", "directory", "dir_path").Shown("the root")
	p.Bool(&g.Hidden, "hidden", "find hidden files too")
	p.Bool(&g.Ignore, "ignore", "leave out what .gitignore and .ignore exclude").Alias("gitignore", "respect_git_ignore")
	p.String(&g.Sort, "sort", "order of the files: newest first, or by path").OneOf("modified", "path")
	p.Int(&g.Limit, "limit", "most files to show").Between(1, 100_000).Alias("head_limit", "max_results")
	p.String(&g.Cursor, "cursor", "go on where an earlier answer ended")
	p.Millis(&g.TimeoutMS, "timeout_ms", "time limit; what was found until then is returned").Between(1, 600_000).Alias("timeout")
}

// Needs implements tool.Call.
func (g *globCall) Needs(_ context.Context, env *tool.Env) ([]policy.Access, error) {
	for i, pattern := range g.Patterns {
		if pattern == "" {
			return nil, tool.Errorf(tool.BadInput, "pattern[%d] is empty", i).WithHint("use ** for every file")
		}
		if climbs(pattern) {
			return nil, tool.Errorf(tool.BadInput, "pattern %q leaves the directory it starts in", pattern).WithHint("name the directory with path, and let the pattern stay below it")
		}
	}
	if len(g.Patterns) == 1 && filepath.IsAbs(g.Patterns[0]) && g.Path == "." {
		g.Path, g.Patterns[0] = split(g.Patterns[0])
		g.here = true
	}
	dir, err := env.Workspace.Resolve(g.Path)
	g.dir = dir
	need := dir.Read("glob")
	need.Tree = true
	return []policy.Access{need}, err
}

// climbs reports whether a part of the pattern, in any of its alternatives, is
// "..".
func climbs(pattern string) bool {
	parts := strings.FieldsFunc(pattern, func(r rune) bool { return strings.ContainsRune(`/\{},`, r) })
	return slices.Contains(parts, "..")
}

// split cuts an absolute pattern behind its last directory without a wildcard.
func split(pattern string) (dir, rest string) {
	parts := strings.Split(filepath.ToSlash(pattern), "/")
	n := 0
	for n < len(parts)-1 && !strings.ContainsAny(parts[n], `*?[{\`) {
		n++
	}
	dir = strings.Join(parts[:n], "/")
	if dir == "" || strings.HasSuffix(dir, ":") {
		dir += "/"
	}
	return dir, strings.Join(parts[n:], "/")
}

type globMeta struct {
	Count      int            `json:"count"` // files shown
	Total      int            `json:"total"`
	Truncated  bool           `json:"truncated"`
	NextCursor string         `json:"next_cursor,omitempty"`
	Changed    bool           `json:"changed,omitempty"` // the tree is not what it was when the cursor was made
	Partial    string         `json:"partial,omitempty"` // why the search ended early; the total is then a lower bound
	Files      []string       `json:"files"`
	Skipped    []tool.Skipped `json:"skipped"`
	SkipCount  int            `json:"skip_count"` // may be larger than the length of skipped
}

// Run implements tool.Call.
func (g *globCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	switch {
	case !g.dir.Exists:
		return nil, tool.Errorf(tool.NotFound, "%s", tool.Absent(g.dir)).
			Suggest(env.Workspace.Near(g.dir, 5)...).WithHint("check the path")
	case g.dir.Type != policy.Dir:
		return nil, tool.Errorf(tool.BadInput, "%s is not a directory", tool.Shown(g.dir)).WithHint("name the directory to search, or read the file")
	}
	res, err := rg.Glob(ctx, g.dir.Real, g.patterns(), rg.GlobOptions{
		Resolved: true, Hidden: g.Hidden, NoIgnore: !g.Ignore, GlobalIgnore: rg.GlobalIgnoreFile(env.Getenv),
		Allow: func(path string, isDir bool) bool {
			return !isDir || env.May(policy.Access{Kind: policy.Read, Tool: "glob", Path: filepath.Clean(path), File: policy.Dir}) == nil
		},
		Sort: rg.Order(g.Sort), Limit: g.Limit, Cursor: g.Cursor, MaxEntries: maxGlobEntries,
		Timeout: time.Duration(g.TimeoutMS) * time.Millisecond,
	})
	switch {
	case errors.Is(err, rg.ErrGlob):
		return nil, tool.Errorf(tool.BadInput, "%w", err).WithHint("correct the pattern; src/**/*.{ts,tsx} is an example")
	case errors.Is(err, rg.ErrCursor):
		return nil, tool.Errorf(tool.BadInput, "%w", err).WithHint("leave cursor out to start over; the other parameters must stay the same")
	case err != nil:
		return nil, err
	}
	return g.result(res, g.plainDir(env)), context.Cause(ctx) // beside what was found until then
}

// plainDir gives the first pattern that is the name of a directory: glob lists
// files, so it finds nothing there.
func (g *globCall) plainDir(env *tool.Env) string {
	for _, pattern := range g.Patterns {
		if strings.ContainsAny(pattern, `*?[{\`) {
			continue
		}
		dir, err := env.Workspace.Resolve(filepath.Join(g.Path, pattern))
		if err == nil && dir.Exists && dir.Type == policy.Dir && env.May(dir.Read("glob")) == nil {
			return pattern
		}
	}
	return ""
}

// patterns are the call's, where those without a slash match at any depth.
func (g *globCall) patterns() []string {
	var list []string
	for _, pattern := range g.Patterns {
		list = append(list, strings.TrimPrefix(pattern, "./"))
		if !strings.Contains(pattern, "/") && pattern != "**" && !g.here {
			list = append(list, "**/"+pattern)
		}
	}
	return list
}

func hasBareComma(pattern string) bool {
	return strings.Contains(pattern, ",") && !strings.Contains(pattern, "{")
}

func (g *globCall) result(res *rg.GlobResults, plainDir string) *tool.Result {
	meta := &globMeta{
		Count: len(res.Entries), Total: res.Total, Truncated: res.Truncated, NextCursor: res.Cursor,
		Changed: res.Changed, Partial: res.Partial, Files: []string{}, Skipped: []tool.Skipped{}, SkipCount: res.SkipCount,
	}
	prefix := ""
	switch {
	case !g.dir.Inside:
		prefix = strings.TrimSuffix(filepath.ToSlash(g.dir.Real), "/") + "/"
	case g.dir.Rel != ".":
		prefix = g.dir.Rel + "/"
	}
	var b strings.Builder
	for _, e := range res.Entries {
		meta.Files = append(meta.Files, prefix+e.Path)
		b.WriteString(tool.VisibleName(prefix+e.Path) + "\n")
	}
	for _, s := range res.Skipped {
		meta.Skipped = append(meta.Skipped, tool.Skipped{Path: s.Path, Reason: s.Reason})
	}
	switch {
	case res.Total == 0 && plainDir != "":
		fmt.Fprintf(&b, "no files found: %s is a directory, and %s/** finds the files in it\n", tool.VisibleName(plainDir), tool.VisibleName(strings.TrimSuffix(plainDir, "/")))
	case res.Total == 0 && slices.ContainsFunc(g.Patterns, hasBareComma):
		b.WriteString("no files found: a comma stands for itself; give several patterns as a list or as {a,b}\n")
	case res.Total == 0:
		b.WriteString("no files found\n")
	}
	if res.Changed {
		b.WriteString("\n" + tool.CursorIsOld)
	}
	if res.Truncated {
		fmt.Fprintf(&b, "\n%d of %d files; go on with cursor=%q\n", len(res.Entries), res.Total, res.Cursor)
	}
	if res.Partial != "" {
		fmt.Fprintf(&b, "\nthe search ended early (%s): there may be more\n", res.Partial)
	}
	for _, s := range res.Skipped[:min(len(res.Skipped), 5)] {
		fmt.Fprintf(&b, "not looked into: %s (%s)\n", tool.VisibleName(s.Path), s.Reason)
	}
	r := &tool.Result{Title: fmt.Sprintf("%s for %s", tool.Count(int64(res.Total), "file"), strings.Join(g.Patterns, " ")), Output: b.String(), Metadata: meta, No: res.Total == 0}
	if res.Partial == rg.PartialTimeout {
		r.Error = tool.Errorf(tool.Timeout, "the search took longer than %d ms", g.TimeoutMS).WithHint("narrow path or pattern, or give a larger timeout_ms")
	}
	return r
}
