package search

import (
	"cmp"
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
	"github.com/agentkit-go/agentkit/pkg/truncate"
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
	here bool   // the pattern was absolute: it says itself how deep it goes
	note string // how the pattern was understood, where that is not what it says
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
		g.absolute(env)
	}
	dir, err := env.Workspace.Resolve(g.Path)
	g.dir = dir
	need := dir.Read("glob")
	need.Tree = true
	return []policy.Access{need}, err
}

// absolute takes a pattern apart that begins with a slash. One whose directory
// is not there is meant from the root on, as in an ignore file, and so is one
// that names no directory.
func (g *globCall) absolute(env *tool.Env) {
	given := g.Patterns[0]
	g.Path, g.Patterns[0] = split(given)
	g.here = true
	rest := strings.TrimPrefix(g.Path, "/")
	if rest == g.Path { // a path with a drive
		return
	}
	if there, err := env.Workspace.Resolve(g.Path); rest != "" && (err != nil || there.Exists) {
		return
	}
	if below, err := env.Workspace.Resolve(cmp.Or(rest, ".")); err == nil && below.Exists {
		g.Path = cmp.Or(rest, ".")
		g.note = fmt.Sprintf("taken as %s: without a directory of that name, a pattern is relative to the root\n", tool.VisibleName(strings.TrimPrefix(given, "/")))
	}
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
	for n < len(parts)-1 && !strings.ContainsAny(parts[n], wildcards) {
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
	Moved      []string       `json:"moved,omitempty"`   // files that changed since and are in no page from here on
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
	o := rg.GlobOptions{
		Resolved: true, Hidden: g.Hidden, NoIgnore: !g.Ignore, GlobalIgnore: rg.GlobalIgnoreFile(env.Getenv),
		Allow: func(path string, isDir bool) bool {
			return !isDir || env.May(policy.Access{Kind: policy.Read, Tool: "glob", Path: filepath.Clean(path), File: policy.Dir}) == nil
		},
		Dirs: g.wantsDirs(), Sort: rg.Order(g.Sort), Limit: g.Limit, Cursor: longCursor(env, g.Cursor), MaxEntries: maxGlobEntries,
		Timeout: time.Duration(g.TimeoutMS) * time.Millisecond,
	}
	res, err := rg.Glob(ctx, g.dir.Real, g.patterns(), o)
	switch {
	case errors.Is(err, rg.ErrGlob):
		return nil, tool.Errorf(tool.BadInput, "%w", err).WithHint("correct the pattern; src/**/*.{ts,tsx} is an example")
	case errors.Is(err, rg.ErrCursor):
		return nil, tool.Errorf(tool.BadInput, "%w", err).WithHint("leave cursor out to start over; the other parameters must stay the same")
	case err != nil:
		return nil, err
	}
	g.fit(res, env.Limits)
	res.Cursor = shortCursor(ctx, env, res.Cursor)
	why := ""
	if res.Total == 0 && res.Partial == "" {
		why = g.nothing(ctx, env, o)
	}
	skipped := skippedOf(res.Skipped, func(path string) string {
		return env.Policy.Decide(&policy.Access{Kind: policy.Read, Tool: "glob", Path: filepath.Join(g.dir.Real, filepath.FromSlash(path)), File: policy.Dir}).Why
	})
	return g.result(res, skipped, why), context.Cause(ctx) // beside what was found until then
}

// wantsDirs says whether the patterns ask for directories: each ends in a slash
// behind a wildcard.
func (g *globCall) wantsDirs() bool {
	return !slices.ContainsFunc(g.Patterns, func(pattern string) bool {
		rest, ok := strings.CutSuffix(pattern, "/")
		return !ok || !strings.ContainsAny(rest[strings.LastIndexByte(rest, '/')+1:], wildcards)
	})
}

const wildcards = `*?[{\`

// fit cuts the list to what the output holds, so that the cursor goes on where
// the output ends.
func (g *globCall) fit(res *rg.GlobResults, limits truncate.Limits) {
	bytes, lines := roomOf(limits)
	prefix := len(g.prefix())
	for i, e := range res.Entries {
		bytes -= prefix + len(tool.VisibleName(e.Path)) + len("/\n")
		if (bytes < 0 || i >= lines) && i > 0 {
			res.Keep(i)
			return
		}
	}
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

// prefix is what paths below the directory are shown with in front.
func (g *globCall) prefix() string {
	switch {
	case !g.dir.Inside:
		return strings.TrimSuffix(filepath.ToSlash(g.dir.Real), "/") + "/"
	case g.dir.Rel != ".":
		return g.dir.Rel + "/"
	}
	return ""
}

func (g *globCall) result(res *rg.GlobResults, skipped []tool.Skipped, why string) *tool.Result {
	meta := &globMeta{
		Count: len(res.Entries), Total: res.Total, Truncated: res.Truncated || res.Partial != "", NextCursor: res.Cursor, Changed: res.Changed,
		Moved: res.Moved[:min(len(res.Moved), maxNamed)], Partial: res.Partial, Files: []string{}, Skipped: skipped, SkipCount: res.SkipCount,
	}
	what, prefix := "file", g.prefix()
	if g.wantsDirs() {
		what = "directory"
	}
	var b strings.Builder
	for _, e := range res.Entries {
		path := prefix + e.Path
		if e.Dir {
			path += "/"
		}
		meta.Files = append(meta.Files, path)
		b.WriteString(tool.VisibleName(path) + "\n")
	}
	switch {
	case why != "":
		fmt.Fprintf(&b, "no files found: %s\n", why)
	case res.Total == 0:
		b.WriteString("no files found\n")
	}
	b.WriteString(g.note)
	if text := changes(res.Changed, res.Moved, res.MovedCount); text != "" {
		b.WriteString("\n" + text)
	}
	if res.Truncated {
		fmt.Fprintf(&b, "\n%d of %s; go on with cursor=%s\n", len(res.Entries), tool.Count(int64(res.Total), what), res.Cursor)
	}
	if res.Partial != "" {
		fmt.Fprintf(&b, "\nthe search ended early (%s): there may be more\n", res.Partial)
	}
	for _, s := range skipped[:min(len(skipped), 5)] {
		fmt.Fprintf(&b, "not looked into: %s (%s)\n", tool.VisibleName(s.Path), s.Reason)
	}
	r := &tool.Result{Title: fmt.Sprintf("%s for %s", tool.Count(int64(res.Total), what), shorten(strings.Join(g.Patterns, " "))), Output: b.String(), Metadata: meta, No: res.Total == 0}
	if res.Partial == rg.PartialTimeout {
		r.Error = tool.Errorf(tool.Timeout, "the search took longer than %d ms", g.TimeoutMS).WithHint("narrow path or pattern, or give a larger timeout_ms")
	}
	return r
}
