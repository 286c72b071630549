// Package search holds the tools that find files, and places in them.
package search

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/nearest"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/rg"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

//go:embed grep.md
var grepDoc string

// Grep finds lines.
var Grep = tool.Tool{
	Name:    "grep",
	Summary: "search the content of files",
	Doc:     &grepDoc,
	New: func() tool.Call {
		return &grepCall{Mode: "content", Ignore: true, Sort: "modified", Limit: 100, TimeoutMS: 30_000, cased: true}
	},
	ReadOnly: true,
	Program:  true,

	Others: []string{"rg", "ripgrep", "search", "searchfilecontent", "searchfiles", "grepsearch", "searchtext", "codebasesearch", "ag", "ack"},

	Examples: []string{
		"agentkit grep 'func Main'",
		"agentkit grep -n TODO src --type go",
		"agentkit grep -l 'import React' --include '*.tsx'",
	},

	Metadata: (*grepMeta)(nil),
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

	list, count, usual bool // -l and -c, and what grep has flags for and this does anyway
	invert, only       bool // -v and -o
	line, text         bool // -x and -a
	without, quiet     bool // -L and -q
	most               int  // -m
	colour             string
	cased              bool // no ignore_case

	paths []workspace.Path
}

// Params implements tool.Call.
func (g *grepCall) Params(p *param.Set) {
	p.String(&g.Pattern, "pattern", "the regular expression").Required().Arg().Alias("query", "regex").Letter("e")
	p.Paths(&g.Paths, "path", param.File, "directories or files to search").Arg().Alias("paths", "dir", "directory", "file_path").Shown("the root")
	p.String(&g.Mode, "mode", "what to show").OneOf("content", "files", "count", filesWithMatches).Alias("output_mode")
	p.Int(&g.Before, "before", "lines before a match").Between(0, 1000).Alias("context_before", "-B", "before_context").Letter("B").Rare()
	p.Int(&g.After, "after", "lines after a match").Between(0, 1000).Alias("context_after", "-A", "after_context").Letter("A").Rare()
	p.Int(&g.Context, "context", "lines before and after a match").Between(0, 1000).Alias("-C", "context_lines").Letter("C")
	p.Strings(&g.Include, "include", "globs of the files to search, such as *.{ts,tsx}").Alias("glob", "include_pattern", "file_pattern").Letter("g")
	p.Strings(&g.Exclude, "exclude", "globs of files and directories to leave out").Alias("exclude_pattern", "exclude_dir").Rare()
	p.Strings(&g.Types, "type", "languages, such as go or js").Alias("file_type", "types").Letter("t").Among(typeNames)
	p.Bool(&g.IgnoreCase, "ignore_case", "ignore case").Alias("case_insensitive", "-i", "ignoreCase").Letter("i")
	p.Bool(&g.cased, "case_sensitive", "false is ignore_case").Alias("caseSensitive").Unlisted()
	p.Bool(&g.SmartCase, "smart_case", "ignore case where the pattern has no capital").Letter("S").Unlisted()
	p.Bool(&g.Literal, "literal", "the pattern is plain text").Alias("fixed_strings", "literal_text").Letter("F")
	p.Bool(&g.Word, "word", "match whole words only").Alias("word_regexp", "-w").Letter("w").Rare()
	p.Bool(&g.Multiline, "multiline", "let a match span lines, and . a line end").Letter("U").Rare()
	p.Bool(&g.Hidden, "hidden", "search hidden files too").Rare()
	p.Bool(&g.Ignore, "ignore", "leave out what .gitignore excludes").Alias("gitignore").Rare()
	p.String(&g.Sort, "sort", "the order").OneOf("modified", "path").Rare()
	p.Int(&g.Limit, "limit", "most to show").Between(1, 100_000).Alias("head_limit", "max_results")
	p.String(&g.Cursor, "cursor", "go on where an earlier answer ended")
	p.Millis(&g.TimeoutMS, "timeout_ms", "time limit").Between(1, 600_000).Alias("timeout").Unlisted()
	p.Bool(&g.list, "files_with_matches", "as grep has it: mode files").Alias("-l", "files_only").Letter("l").Unlisted()
	p.Bool(&g.count, "count", "as grep has it: mode count").Alias("-c").Letter("c").Unlisted()
	p.Bool(&g.invert, "invert_match", "as grep has it: the lines that do not match").Alias("-v", "invert").Letter("v").Unlisted()
	p.Bool(&g.only, "only_matching", "as grep has it: only what matches of a line").Alias("-o").Letter("o").Unlisted()
	p.Bool(&g.line, "line_regexp", "as grep has it: a match is a whole line").Alias("-x").Letter("x").Unlisted()
	p.Bool(&g.without, "files_without_match", "as grep has it: the files without a match").Alias("-L").Letter("L").Unlisted()
	p.Bool(&g.quiet, "quiet", "as grep has it: only the exit status").Alias("-q", "silent").Letter("q").Unlisted()
	p.Bool(&g.text, "text", "as grep has it: binary files are text").Alias("-a").Letter("a").Unlisted()
	p.Int(&g.most, "max_count", "as grep has it: most matching lines of one file").Alias("-m").Between(1, 1<<31).Letter("m").Unlisted()
	p.String(&g.colour, "color", "as grep has it: the form of output decides").Alias("colour", "--color").WithoutValue("auto").Unlisted()
	for _, f := range [...]struct{ letter, name string }{
		{"h", "no_filename"}, {"R", "dereference_recursive"}, {"s", "no_messages"}, {"P", "perl_regexp"}, {"n", "line_number"}, {"r", "recursive"}, {"E", "extended_regexp"}, {"H", "with_filename"}, {"I", "no_binary"},
	} {
		p.Bool(&g.usual, f.name, "as grep has it: always so").Alias("-" + f.letter).Letter(f.letter).Unlisted()
	}
}

// filesWithMatches is another word for the mode files, which other agents use.
const filesWithMatches = "files_with_matches"

// Needs implements tool.Call.
func (g *grepCall) Needs(_ context.Context, env *tool.Env) ([]policy.Access, error) {
	g.IgnoreCase = g.IgnoreCase || !g.cased
	names := g.Paths
	if len(names) == 0 {
		names = []string{"."}
	}
	var needs []policy.Access
	for _, name := range names {
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

// mode is what to show, in our own words.
func (g *grepCall) mode() rg.Mode {
	switch {
	case g.Mode == filesWithMatches || g.list || g.without || g.quiet:
		return "files"
	case g.count:
		return "count"
	}
	return rg.Mode(g.Mode)
}

// Run implements tool.Call.
func (g *grepCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	q, err := g.query(ctx, env)
	if err != nil {
		return nil, err
	}
	res, basic, err := g.search(ctx, q)
	if err != nil {
		return nil, g.explain(err)
	}
	v := &grepView{mode: q.Mode, pattern: g.Pattern, literal: g.Literal, only: g.only && !g.invert, without: q.Without, quiet: g.quiet, basic: basic, named: g.paths, res: res}
	v.fit(env.Limits)
	switch {
	case res.FileCount > 0 || res.Partial != "":
	case res.Searched == 0:
		v.nothing = g.nothing(ctx, q)
	default:
		v.nothing = otherwise(ctx, q)
	}
	res.Cursor = shortCursor(ctx, env, res.Cursor)
	v.skipped = skippedOf(res.Skipped, func(path string) string {
		a := found(filepath.Join(q.Root, filepath.FromSlash(path)))
		return env.Policy.Decide(&a).Why
	})
	r := &tool.Result{Title: v.title(), Output: v.render(tool.Unpainted), Metadata: v.meta(), No: res.FileCount == 0}
	r.Pretty = v.render
	if res.Partial == rg.PartialTimeout {
		r.Error = tool.Errorf(tool.Timeout, "the search took longer than %d ms", g.TimeoutMS).WithHint("narrow {.path} or {.include}, or give a larger {.timeout_ms}")
	}
	return r, context.Cause(ctx) // beside what was found until then
}

// search searches. A pattern with \| that finds nothing is read as grep reads
// it without -E, which is where people have it from; readAs is that pattern then.
func (g *grepCall) search(ctx context.Context, q rg.Query) (res *rg.Results, readAs string, err error) {
	res, err = rg.Search(ctx, q)
	basic, ok := rg.FromBasic(q.Pattern)
	if !ok || q.Invert || q.Literal || err == nil && (res.FileCount > 0 || res.Partial != "") || err != nil && !errors.Is(err, rg.ErrCursor) {
		return res, "", err
	}
	q.Pattern = basic
	if again, err := rg.Search(ctx, q); err == nil && again.FileCount > 0 {
		return again, basic, nil
	}
	return res, "", err
}

// otherwise says what a pattern that found nothing finds as grep reads it without -E.
// Unlike \|, its \( and \+ may well have been meant as characters.
func otherwise(ctx context.Context, q rg.Query) string {
	basic, ok := rg.MayBeBasic(q.Pattern)
	if !ok || q.Invert || q.Literal || q.Cursor != "" {
		return ""
	}
	q.Pattern = basic
	res, err := rg.Search(ctx, q)
	if err != nil || res.FileCount == 0 || res.Partial != "" {
		return ""
	}
	found := tool.Count(int64(res.FileCount), "file")
	if q.Mode != "files" {
		found = tool.Count(res.Matches, "match") + " in " + found
	}
	return fmt.Sprintf("as grep reads it without -E, %s, it has %s\n", shorten(basic), found)
}

// nothing says why no file was searched, by looking for files that would be
// searched if less were left out.
func (g *grepCall) nothing(ctx context.Context, q rg.Query) string {
	if len(q.Include)+len(q.Exclude)+len(q.Types) == 0 {
		return ""
	}
	o := rg.WalkOptions{
		Root: q.Root, Resolved: true, Include: q.Include, Exclude: q.Exclude, Types: q.Types, Hidden: true, NoIgnore: true, MaxEntries: maxLookedFor,
		Skip: func(path string, isDir bool) bool {
			if isDir {
				return !q.AllowDir(path) || filepath.Base(path) == ".git"
			}
			return !q.Allow(path)
		},
	}
	found := ""
	_, err := rg.Walk(ctx, q.Paths, o, func(e rg.Entry) error {
		found = e.Path
		return errFound
	})
	switch {
	case errors.Is(err, errFound):
		return fmt.Sprintf("files that match are hidden or ignored, such as %s: set hidden, or ignore to false\n", tool.VisibleName(found))
	case len(q.Types) > 0 && len(q.Include) == 0:
		return fmt.Sprintf("there is no file of type %s\n", strings.Join(q.Types, ", "))
	}
	return "no file matches include: give several globs as a list or as {a,b}, and a directory as path or as DIR/**\n"
}

var errFound = errors.New("found")

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
	var types []string
	for _, list := range g.Types { // as models write several
		types = append(types, strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })...)
	}
	if g.invert && g.Multiline {
		return rg.Query{}, tool.Errorf(tool.BadInput, "invert_match and multiline contradict each other").WithHint("leave one of them out")
	}
	if g.list && g.without {
		return rg.Query{}, tool.Errorf(tool.BadInput, "files_with_matches and files_without_match contradict each other").WithHint("leave one of them out")
	}
	q := rg.Query{
		Root: env.Workspace.Root(), Resolved: true, Pattern: g.Pattern,
		Literal: g.Literal, IgnoreCase: g.IgnoreCase, SmartCase: g.SmartCase, Word: g.Word, Line: g.line, Invert: g.invert, Without: g.without, MaxCount: g.most, Binary: g.text,
		Multiline: g.Multiline, DotAll: g.Multiline, CRLF: true,
		Include: include, Exclude: exclude, Types: types,
		Hidden: g.Hidden, NoIgnore: !g.Ignore, GlobalIgnore: rg.GlobalIgnoreFile(env.Getenv),
		Mode: g.mode(), Sort: rg.Order(g.Sort), Before: max(g.Before, g.Context), After: max(g.After, g.Context),
		MaxLineShown: maxLineShown, Limit: g.Limit, Cursor: longCursor(env, g.Cursor), Timeout: time.Duration(g.TimeoutMS) * time.Millisecond,
	}
	for _, p := range g.paths {
		if !p.Exists {
			hint := "check the path"
			if strings.ContainsAny(p.Real, "*?[{") {
				hint = "{.path} names files and directories; a glob of the files to search goes into {.include}"
			}
			return q, env.Missing(p, hint)
		}
		q.Paths = append(q.Paths, p.Real)
	}
	asked := map[string]bool{} // files that the call names were decided as such
	for _, p := range g.paths {
		asked[p.Real] = p.Type != policy.Dir
	}
	q.Allow = func(path string) bool {
		return asked[path] || env.May(found(path)) == nil
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
		}, func(path string) bool { return !env.Placed(path) }); err == nil {
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
		return tool.Errorf(tool.BadInput, "%w", err).WithHint("set {.multiline}, or search for what stands on one line")
	case errors.As(err, &p):
		return tool.Errorf(tool.BadInput, "%w", err).WithHint("correct the pattern, or set {.literal} to search for it as plain text")
	case errors.Is(err, rg.ErrEmptyPattern):
		return tool.Errorf(tool.BadInput, "the pattern is empty").WithHint("give a pattern; to list files use {glob}")
	case errors.Is(err, rg.ErrGlob):
		return tool.Errorf(tool.BadInput, "%w", err).WithHint("correct {.include} or {.exclude}; *.{ts,tsx} is an example")
	case errors.Is(err, rg.ErrUnknownType):
		return g.unknownType(err)
	case errors.Is(err, rg.ErrCursor):
		return tool.Errorf(tool.BadInput, "%w", err).WithHint("leave {.cursor} out to start over; the other parameters must stay the same")
	}
	return err
}

// typeNames are the types of files, by name.
func typeNames() (names []string) {
	for _, t := range rg.FileTypes() {
		names = append(names, t.Name)
	}
	return names
}

// unknownType names the types that are like those asked for.
func (g *grepCall) unknownType(err error) error {
	e := tool.Errorf(tool.BadInput, "%w", err).WithHint("use {.include} with a glob instead")
	names := typeNames()
	for _, list := range g.Types {
		for name := range strings.SplitSeq(list, ",") {
			if !slices.Contains(names, name) {
				_ = e.Suggest(nearest.Words(name, names, 3)...)
			}
		}
	}
	return e
}

// found is the access to a file that the search comes upon, with how many names
// it has: one of them may be a secret's.
func found(path string) policy.Access {
	a := policy.Access{Kind: policy.Read, Tool: "grep", Path: filepath.Clean(path)}
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		a.File, a.Links = policy.Regular, workspace.LinkCount(info)
	}
	return a
}
