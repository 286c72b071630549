// Package search holds the tools that find files, and places in them.
package search

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/rg"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

//go:embed grep.md
var grepDoc string

// Grep finds lines.
var Grep = &tool.Tool{
	Name:    "grep",
	Summary: "search the content of files",
	Doc:     &grepDoc,
	New: func() tool.Call {
		return &grepCall{Mode: "content", Ignore: true, Sort: "modified", Limit: 100, TimeoutMS: 30_000}
	},
	ReadOnly: true,
}

type grepCall struct {
	Pattern                 string
	Paths                   []string
	Mode                    string
	Before, After, Context  int
	Include, Exclude, Types []string
	IgnoreCase, SmartCase   bool
	Literal, Word           bool
	Multiline               bool
	Hidden, Ignore          bool
	Sort                    string
	Limit                   int
	Cursor                  string
	TimeoutMS               int

	paths []workspace.Path
}

// Params implements tool.Call.
func (g *grepCall) Params(p *param.Set) {
	p.String(&g.Pattern, "pattern", "the regular expression").Required().Arg().Alias("query", "regex")
	p.Paths(&g.Paths, "path", param.File, "directories or files to search").Arg().Alias("paths", "dir", "directory", "file_path").Shown("the root")
	p.String(&g.Mode, "mode", "what to show").OneOf("content", "files", "count", filesWithMatches).Alias("output_mode")
	p.Int(&g.Before, "before", "lines to show before a match").Between(0, 1000).Alias("context_before", "-B", "before_context").Letter("B")
	p.Int(&g.After, "after", "lines to show after a match").Between(0, 1000).Alias("context_after", "-A", "after_context").Letter("A")
	p.Int(&g.Context, "context", "lines to show before and after a match").Between(0, 1000).Alias("-C", "context_lines").Letter("C")
	p.Strings(&g.Include, "include", "globs of the files to search, such as *.{ts,tsx}").Alias("glob", "include_pattern").Letter("g")
	p.Strings(&g.Exclude, "exclude", "globs of files and directories to leave out").Alias("exclude_pattern")
	p.Strings(&g.Types, "type", "kinds of files to search, such as go or js").Alias("file_type", "types").Letter("t")
	p.Bool(&g.IgnoreCase, "ignore_case", "let upper and lower case match each other").Alias("case_insensitive", "-i", "ignoreCase").Letter("i")
	p.Bool(&g.SmartCase, "smart_case", "ignore case when the pattern is all lower case").Letter("S")
	p.Bool(&g.Literal, "literal", "the pattern is plain text").Alias("fixed_strings", "literal_text").Letter("F")
	p.Bool(&g.Word, "word", "match whole words only").Alias("word_regexp").Letter("w")
	p.Bool(&g.Multiline, "multiline", "let a match span lines, and . match line ends").Letter("U")
	p.Bool(&g.Hidden, "hidden", "search hidden files too")
	p.Bool(&g.Ignore, "ignore", "leave out what .gitignore and .ignore exclude").Alias("gitignore")
	p.String(&g.Sort, "sort", "order of the files: newest first, or by path").OneOf("modified", "path")
	p.Int(&g.Limit, "limit", "most matches to show; files in the other modes").Between(1, 100_000).Alias("head_limit", "max_results")
	p.String(&g.Cursor, "cursor", "go on where an earlier answer ended")
	p.Millis(&g.TimeoutMS, "timeout_ms", "time limit; what was found until then is returned").Between(1, 600_000).Alias("timeout")
}

// filesWithMatches is another word for the mode files, which other agents use.
const filesWithMatches = "files_with_matches"

// Needs implements tool.Call.
func (g *grepCall) Needs(_ context.Context, env *tool.Env) ([]policy.Access, error) {
	if g.Mode == filesWithMatches {
		g.Mode = "files"
	}
	if len(g.Paths) == 0 {
		g.Paths = []string{"."}
	}
	var needs []policy.Access
	for _, name := range g.Paths {
		p, err := env.Workspace.Resolve(name)
		if err != nil {
			return nil, err
		}
		g.paths = append(g.paths, p)
		need := p.Read("grep")
		need.Tree = p.Type == policy.Dir
		needs = append(needs, need)
	}
	return needs, nil
}

type grepMeta struct {
	Pattern    string         `json:"pattern"`
	Matches    int64          `json:"matches"`
	Files      int            `json:"files"`
	Searched   int            `json:"searched"`
	Truncated  bool           `json:"truncated"`
	NextCursor string         `json:"next_cursor,omitempty"`
	Changed    bool           `json:"changed,omitempty"` // the tree is not what it was when the cursor was made
	Partial    string         `json:"partial,omitempty"` // why the search ended early; the counts are then lower bounds
	Engine     string         `json:"engine"`
	Skipped    []tool.Skipped `json:"skipped"`
	SkipCount  int            `json:"skip_count"`
	Results    []grepResult   `json:"results"`
}

type grepResult struct {
	Path     string     `json:"path"`
	Matches  int        `json:"matches"`
	Encoding string     `json:"encoding,omitempty"` // what the lines were decoded from; absent for UTF-8
	Lines    []grepLine `json:"lines,omitempty"`
}

type grepLine struct {
	Line    int    `json:"line"`
	Column  int    `json:"column,omitempty"` // of the first match, in bytes from 1; absent in lines of context
	Text    string `json:"text"`
	Partial bool   `json:"partial,omitempty"` // the line is longer
	Lossy   bool   `json:"lossy,omitempty"`   // it has U+FFFD for bytes that are no text
}

// Run implements tool.Call.
func (g *grepCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	q, err := g.query(ctx, env)
	if err != nil {
		return nil, err
	}
	res, err := rg.Search(ctx, q)
	if err != nil {
		return nil, g.explain(err)
	}
	r := &tool.Result{Title: g.title(res), Output: g.render(res, tool.Unpainted), Metadata: g.meta(res), No: res.FileCount == 0}
	r.Pretty = func(paint func(tool.Style, string) string) string { return g.render(res, paint) }
	if res.Partial == rg.PartialTimeout {
		r.Error = tool.Errorf(tool.Timeout, "the search took longer than %d ms", g.TimeoutMS).WithHint("narrow path or include, or give a larger timeout_ms")
	}
	return r, context.Cause(ctx) // beside what was found until then
}

// maxLineShown is how many bytes of a line are shown, the match among them. With
// its number and what is said of the rest, it stays below the 2000 characters
// at which a line of the output is cut.
const maxLineShown = 1900

func (g *grepCall) query(ctx context.Context, env *tool.Env) (rg.Query, error) {
	include, err := g.globs(env, g.Include, "include", "exclude")
	if err != nil {
		return rg.Query{}, err
	}
	exclude, err := g.globs(env, g.Exclude, "exclude", "include")
	if err != nil {
		return rg.Query{}, err
	}
	q := rg.Query{
		Root: env.Workspace.Root(), Resolved: true, Pattern: g.Pattern,
		Literal: g.Literal, IgnoreCase: g.IgnoreCase, SmartCase: g.SmartCase, Word: g.Word,
		Multiline: g.Multiline, DotAll: g.Multiline, CRLF: true,
		Include: include, Exclude: exclude, Types: g.Types,
		Hidden: g.Hidden, NoIgnore: !g.Ignore, GlobalIgnore: rg.GlobalIgnoreFile(env.Getenv),
		Mode: rg.Mode(g.Mode), Sort: rg.Order(g.Sort), Before: max(g.Before, g.Context), After: max(g.After, g.Context),
		MaxLineShown: maxLineShown, Limit: g.Limit, Cursor: g.Cursor, Timeout: time.Duration(g.TimeoutMS) * time.Millisecond,
	}
	for _, p := range g.paths {
		if !p.Exists {
			hint := "check the path"
			if strings.ContainsAny(p.Real, "*?[{") {
				hint = "path names files and directories; a glob of the files to search goes into include"
			}
			return q, tool.Errorf(tool.NotFound, "%s", tool.Absent(p)).
				Suggest(env.Workspace.Near(p, 5)...).WithHint("%s", hint)
		}
		q.Paths = append(q.Paths, p.Real)
	}
	asked := map[string]bool{} // files that the call names were decided as such
	for _, p := range g.paths {
		asked[p.Real] = p.Type != policy.Dir
	}
	q.Allow = func(path string) bool {
		return asked[path] || env.May(policy.Access{Kind: policy.Read, Tool: "grep", Path: filepath.Clean(path)}) == nil
	}
	q.AllowDir = func(path string) bool {
		return env.May(policy.Access{Kind: policy.Read, Tool: "grep", Path: path, File: policy.Dir}) == nil
	}
	if _, err := rg.Choose(q); err != nil {
		// Only what our own engine cannot run needs the other one: looking
		// for it costs more than most searches.
		if program, err := rg.FindRipgrep(ctx, func(name string) string {
			if name == "AGENTKIT_RG" && env.Ripgrep != "" {
				return env.Ripgrep
			}
			return env.Getenv(name)
		}); err == nil {
			q.Ripgrep = program
		}
	}
	return q, nil
}

// globs gives the globs of a parameter relative to the root. One with ! in
// front belongs into the other parameter.
func (g *grepCall) globs(env *tool.Env, list []string, name, other string) ([]string, error) {
	var out []string
	for _, glob := range list {
		if rest, ok := strings.CutPrefix(glob, "!"); ok {
			return nil, tool.Errorf(tool.BadInput, "%s: %q begins with !", name, glob).WithHint("give %q as %s, or write \\! for a name that begins so", rest, other)
		}
		if rest, ok := strings.CutPrefix(glob, filepath.ToSlash(env.Workspace.Root())+"/"); ok {
			glob = "/" + rest
		}
		out = append(out, strings.TrimPrefix(glob, "./"))
	}
	return out, nil
}

// explain makes a tool's error of a query that cannot be run.
func (g *grepCall) explain(err error) error {
	var p *rg.PatternError
	switch {
	case errors.As(err, &p) && p.PCRE:
		return tool.Errorf(tool.Unsupported, "%w", err).WithHint("write it without look-around, backreferences and very large repeats, or install ripgrep 14 or later with PCRE2")
	case errors.As(err, &p) && p.Multiline:
		return tool.Errorf(tool.BadInput, "%w", err).WithHint("set multiline, or search for what stands on one line")
	case errors.As(err, &p):
		return tool.Errorf(tool.BadInput, "%w", err).WithHint("correct the pattern, or set literal to search for it as plain text")
	case errors.Is(err, rg.ErrEmptyPattern):
		return tool.Errorf(tool.BadInput, "the pattern is empty").WithHint("give a pattern; to list files use glob")
	case errors.Is(err, rg.ErrGlob):
		return tool.Errorf(tool.BadInput, "%w", err).WithHint("correct include or exclude; *.{ts,tsx} is an example")
	case errors.Is(err, rg.ErrUnknownType):
		return tool.Errorf(tool.BadInput, "%w", err).WithHint("use include with a glob instead")
	case errors.Is(err, rg.ErrCursor):
		return tool.Errorf(tool.BadInput, "%w", err).WithHint("leave cursor out to start over; the other parameters must stay the same")
	}
	return err
}

func (g *grepCall) title(res *rg.Results) string {
	if g.Mode == "files" {
		return fmt.Sprintf("Found %s for %q", tool.Count(int64(res.FileCount), "file"), g.Pattern)
	}
	return fmt.Sprintf("Found %s in %s for %q", tool.Count(res.Matches, "match"), tool.Count(int64(res.FileCount), "file"), g.Pattern)
}

func (g *grepCall) meta(res *rg.Results) *grepMeta {
	m := &grepMeta{
		Pattern: g.Pattern, Matches: res.Matches, Files: res.FileCount, Searched: res.Searched,
		Truncated: res.Truncated, NextCursor: res.Cursor, Changed: res.Changed, Partial: res.Partial,
		Engine: string(res.Engine), Skipped: []tool.Skipped{}, SkipCount: res.SkipCount, Results: []grepResult{},
	}
	for _, s := range res.Skipped {
		m.Skipped = append(m.Skipped, tool.Skipped{Path: s.Path, Reason: s.Reason})
	}
	for _, f := range res.Files {
		r := grepResult{Path: f.Path, Matches: f.Matches, Encoding: f.Encoding}
		for _, l := range f.Lines {
			if l.Match {
				r.Lines = append(r.Lines, grepLine{l.Number, l.Column, l.Text, l.Partial, l.Lossy})
			}
		}
		m.Results = append(m.Results, r)
	}
	return m
}

// render prints the results: for content a heading per file and its lines,
// matches as NUMBER:TEXT, context as NUMBER-TEXT.
func (g *grepCall) render(res *rg.Results, paint func(tool.Style, string) string) string {
	var b strings.Builder
	for i, f := range res.Files {
		switch g.Mode {
		case "files":
			fmt.Fprintf(&b, "%s\n", paint(tool.Name, tool.VisibleName(f.Path)))
		case "count":
			fmt.Fprintf(&b, "%s:%d\n", paint(tool.Name, tool.VisibleName(f.Path)), f.Matches)
		default:
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(paint(tool.Name, tool.VisibleName(f.Path)))
			if f.Encoding != "" {
				fmt.Fprintf(&b, " (decoded from %s)", f.Encoding)
			}
			b.WriteByte('\n')
			renderLines(&b, f.Lines, paint)
		}
	}
	if res.FileCount == 0 {
		fmt.Fprintf(&b, "no matches in %s\n", tool.Count(int64(res.Searched), "file"))
		if res.Searched == 0 && res.Partial == "" && len(g.Include) > 0 {
			b.WriteString("no file matches include: give several globs as a list or as {a,b}, and a directory as path or as DIR/**\n")
		}
	}
	if res.Changed {
		b.WriteString("\n" + tool.CursorIsOld)
	}
	if res.Truncated {
		all := tool.Count(int64(res.FileCount), "file")
		if g.Mode != "files" { // there each is read only up to its first match
			all = tool.Count(res.Matches, "match") + " in " + all
		}
		fmt.Fprintf(&b, "\n%s in all; go on with cursor=%q\n", all, res.Cursor)
	}
	if res.Partial != "" {
		fmt.Fprintf(&b, "\nthe search ended early (%s): there may be more\n", res.Partial)
	}
	if res.SkipCount > 0 {
		fmt.Fprintf(&b, "\n%d not searched:\n", res.SkipCount)
		for _, s := range res.Skipped[:min(len(res.Skipped), 5)] {
			fmt.Fprintf(&b, "%s (%s)\n", tool.VisibleName(s.Path), s.Reason)
		}
	}
	return b.String()
}

func renderLines(b *strings.Builder, lines []rg.Line, paint func(tool.Style, string) string) {
	last := 0
	for _, l := range lines {
		if last > 0 && l.Number > last+1 && hasContext(lines) {
			b.WriteString(paint(tool.Faint, "--") + "\n")
		}
		last = l.Number
		sep := "-"
		if l.Match {
			sep = ":"
		}
		fmt.Fprintf(b, "%s%s", paint(tool.Number, fmt.Sprint(l.Number)), sep)
		if l.Cut > 0 {
			fmt.Fprintf(b, "[%d bytes before] ", l.Cut)
		}
		at := 0
		for _, s := range l.Spans {
			b.WriteString(l.Text[at:s.Start] + paint(tool.Match, l.Text[s.Start:s.End]))
			at = s.End
		}
		b.WriteString(l.Text[at:])
		if rest := l.Length - l.Cut - len(l.Text); l.Partial && rest > 0 {
			fmt.Fprintf(b, " [%d bytes after]", rest)
		}
		b.WriteByte('\n')
	}
}

func hasContext(lines []rg.Line) bool {
	for _, l := range lines {
		if !l.Match {
			return true
		}
	}
	return false
}
