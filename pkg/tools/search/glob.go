package search

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/rg"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/truncate"
)

//go:embed glob.md
var globDoc string

// Glob finds files by name.
var Glob = tool.Tool{
	Name:    "glob",
	Summary: "find files by name",
	Doc:     &globDoc,
	New: func() tool.Call {
		return &globCall{Path: ".", Ignore: true, Sort: "modified", Limit: 100, TimeoutMS: 30_000}
	},
	ReadOnly: true,

	Others: []string{"find", "findfiles", "fd", "filesearch", "globfilesearch", "globsearch", "locate"},

	Examples: []string{
		"agentkit glob '*.go'",
		"agentkit glob 'src/**/*.{ts,tsx}'",
	},

	Metadata: (*globMeta)(nil),
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

	prepared globTarget
}

// Params implements tool.Call.
func (g *globCall) Params(p *param.Set) {
	p.Strings(&g.Patterns, "pattern", "what the paths match, such as src/**/*.{ts,tsx}").Required().Arg().Alias("patterns", "glob", "query", "glob_pattern")
	p.Path(&g.Path, "path", param.Directory, "the directory to search").Alias("dir", "directory", "dir_path", "target_directory").Shown("the root")
	p.Bool(&g.Hidden, "hidden", "find hidden files too").Rare()
	p.Bool(&g.Ignore, "ignore", "leave out what .gitignore excludes").Alias("gitignore", "respect_git_ignore").Rare()
	p.String(&g.Sort, "sort", "the order").OneOf("modified", "path").Rare()
	p.Int(&g.Limit, "limit", "most files to show").Between(1, 100_000).Alias("head_limit", "max_results")
	p.String(&g.Cursor, "cursor", "go on where an earlier answer ended")
	p.Millis(&g.TimeoutMS, "timeout_ms", "time limit").Between(1, 600_000).Alias("timeout").Unlisted()
}

// Needs implements tool.Call.
func (g *globCall) Needs(_ context.Context, env *tool.Env) ([]policy.Access, error) {
	for i, pattern := range g.Patterns {
		if pattern == "" {
			return nil, tool.Errorf(tool.BadInput, "pattern[%d] is empty", i).WithHint("use ** for every file")
		}
		if pattern = descending(pattern); climbs(pattern) {
			return nil, tool.Errorf(tool.BadInput, "pattern %q leaves the directory it starts in", pattern).WithHint("name the directory with {.path}, and let the pattern stay below it")
		}
		g.Patterns[i] = pattern
	}
	t := globTarget{path: g.Path, given: g.Patterns}
	if len(g.Patterns) == 1 && filepath.IsAbs(g.Patterns[0]) && g.Path == "." {
		t = absoluteTarget(env, g.Patterns[0])
	}
	var err error
	t.dir, err = env.Workspace.Resolve(t.path)
	g.prepared = t
	need := t.dir.Read("glob")
	need.Tree = true
	return []policy.Access{need}, err
}

// descending is the pattern without ".." that only takes back a directory before it, as in
// w/../e.sh.
func descending(pattern string) string {
	last := strings.LastIndex(pattern, "/../")
	if last < 0 || strings.ContainsAny(pattern[:last], `*?[{\`) {
		return pattern
	}
	return strings.TrimPrefix(path.Clean(pattern[:last+3])+pattern[last+3:], "./")
}

// climbs reports whether a part of the pattern, in any of its alternatives, is
// "..".
func climbs(pattern string) bool {
	parts := strings.FieldsFunc(pattern, func(r rune) bool { return strings.ContainsRune(`/\{},`, r) })
	return slices.Contains(parts, "..")
}

type globMeta struct {
	Count      int            `json:"count" doc:"files shown"`
	Total      int            `json:"total" doc:"files that match"`
	Truncated  bool           `json:"truncated" doc:"there are more files"`
	NextCursor string         `json:"next_cursor,omitempty" doc:"the cursor of the next page"`
	Changed    bool           `json:"changed,omitempty" doc:"the tree is not what it was when the cursor was made"`
	Moved      []string       `json:"moved,omitempty" doc:"files that changed since and are in no page from here on"`
	Partial    string         `json:"partial,omitempty" doc:"why the search ended early; the total is then a lower bound"`
	Files      []string       `json:"files" doc:"their paths"`
	Skipped    []tool.Skipped `json:"skipped" doc:"what was passed over, and why"`
	SkipCount  int            `json:"skip_count" doc:"may be larger than the length of skipped"`
}

// Run implements tool.Call.
func (g *globCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	t := &g.prepared
	switch {
	case !t.dir.Exists:
		return nil, env.Missing(t.dir, "check the path")
	case t.dir.Type != policy.Dir:
		return nil, tool.Errorf(tool.BadInput, "%s is not a directory", tool.Shown(t.dir)).WithHint("name the directory to search, or read the file")
	}
	o := rg.GlobOptions{
		Resolved: true, Hidden: g.Hidden, NoIgnore: !g.Ignore, GlobalIgnore: rg.GlobalIgnoreFile(env.Getenv),
		Allow: func(path string, isDir bool) bool {
			return !isDir || env.May(policy.Access{Kind: policy.Read, Tool: "glob", Path: filepath.Clean(path), File: policy.Dir}) == nil
		},
		Dirs: t.wantsDirs(), Sort: rg.Order(g.Sort), Limit: g.Limit, Cursor: longCursor(env, g.Cursor), MaxEntries: maxGlobEntries,
		Timeout: time.Duration(g.TimeoutMS) * time.Millisecond,
	}
	res, err := rg.Glob(ctx, t.dir.Real, t.patterns(), o)
	switch {
	case errors.Is(err, rg.ErrGlob):
		return nil, tool.Errorf(tool.BadInput, "%w", err).WithHint("correct the pattern; src/**/*.{ts,tsx} is an example")
	case errors.Is(err, rg.ErrCursor):
		return nil, tool.Errorf(tool.BadInput, "%w", err).WithHint("leave {.cursor} out to start over; the other parameters must stay the same")
	case err != nil:
		return nil, err
	}
	fitGlob(res, len(t.prefix()), env.Limits)
	res.Cursor = shortCursor(ctx, env, res.Cursor)
	why := ""
	if res.Total == 0 && res.Partial == "" {
		why = t.nothing(ctx, env, o)
	}
	skipped := skippedOf(res.Skipped, func(path string) string {
		return env.Policy.Decide(&policy.Access{Kind: policy.Read, Tool: "glob", Path: filepath.Join(t.dir.Real, filepath.FromSlash(path)), File: policy.Dir}).Why
	})
	return g.result(res, skipped, why), context.Cause(ctx) // beside what was found until then
}

// fitGlob cuts the list to what the output holds, so that the cursor goes on where
// the output ends.
func fitGlob(res *rg.GlobResults, prefix int, limits truncate.Limits) {
	bytes, lines := roomOf(limits)
	for i, e := range res.Entries {
		bytes -= prefix + len(tool.VisibleName(e.Path)) + len("/\n")
		if (bytes < 0 || i >= lines) && i > 0 {
			res.Keep(i)
			return
		}
	}
}

func (g *globCall) result(res *rg.GlobResults, skipped []tool.Skipped, why string) *tool.Result {
	meta := &globMeta{
		Count: len(res.Entries), Total: res.Total, Truncated: res.Truncated || res.Partial != "", NextCursor: res.Cursor, Changed: res.Changed,
		Moved: res.Moved[:min(len(res.Moved), maxNamed)], Partial: res.Partial, Files: []string{}, Skipped: skipped, SkipCount: res.SkipCount,
	}
	t := &g.prepared
	what, prefix := "file", t.prefix()
	if t.wantsDirs() {
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
	b.WriteString(t.note)
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
	r := &tool.Result{Title: fmt.Sprintf("%s for %s", tool.Count(int64(res.Total), what), shorten(strings.Join(t.given, " "))), Output: b.String(), Metadata: meta, No: res.Total == 0}
	if res.Partial == rg.PartialTimeout {
		r.Error = tool.Errorf(tool.Timeout, "the search took longer than %d ms", g.TimeoutMS).WithHint("narrow {.path} or {.pattern}, or give a larger {.timeout_ms}")
	}
	return r
}
