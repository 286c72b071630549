package search

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/rg"
	"github.com/agentkit-go/agentkit/pkg/syntax"
	"github.com/agentkit-go/agentkit/pkg/text"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

//go:embed outline.md
var outlineDoc string

// Outline lists symbols.
var Outline = tool.Tool{
	Name:     "outline",
	Summary:  "list the functions, types and headings of files",
	Doc:      &outlineDoc,
	New:      func() tool.Call { return &outlineCall{Offset: 1, Limit: 1000, Ignore: true, TimeoutMS: 30_000} },
	ReadOnly: true,

	Others: []string{"symbols", "documentsymbols", "listsymbols", "getsymbolsoverview", "listcodedefinitionnames", "ctags"},

	Examples: []string{
		"agentkit outline main.go",
		"agentkit outline src --kinds function",
		"agentkit outline 'src/**/*.ts' --depth 1",
	},

	Metadata: (*outlineMeta)(nil),
}

const (
	// maxOutlineFiles bounds the files of one call.
	maxOutlineFiles = 20_000

	// maxOutlineEntries bounds how many directory entries a call looks at.
	maxOutlineEntries = 1_000_000

	// maxOutlined bounds the symbols that a call holds before it shows some.
	maxOutlined = 500_000

	// maxSource is the size in bytes of the largest file that is read: 4 MiB,
	// as pkg/syntax has it.
	maxSource = 4 << 20

	// maxUnread is how many of the files that were passed over, or are broken,
	// are named.
	maxUnread = 100
)

type outlineCall struct {
	Paths         []string
	Kinds         []string
	Depth         int
	Offset, Limit int
	Hidden        bool
	Ignore        bool
	TimeoutMS     int

	targets []outlineTarget
}

// An outlineTarget is a file, or a directory with the patterns of the files in
// it that are meant; no patterns mean all.
type outlineTarget struct {
	path     workspace.Path
	patterns []string
}

// Params implements tool.Call.
func (o *outlineCall) Params(p *param.Set) {
	p.Paths(&o.Paths, "path", param.File, "files, directories or globs").Required().Arg().Alias("paths", "file_path", "filePath", "file", "dir", "directory", "pattern")
	p.Strings(&o.Kinds, "kinds", "what to list, such as function, class or heading").OneOf(kindNames()...).Alias("kind", "types").Shown("everything").Rare()
	p.Int(&o.Depth, "depth", "levels of nesting").Between(0, 100).Alias("max_depth").Shown("all")
	p.Int(&o.Offset, "offset", "the first symbol to show, from 1").Between(1, 1<<31)
	p.Int(&o.Limit, "limit", "most symbols to show").Between(1, 100_000).Alias("head_limit", "max_results").Rare()
	p.Bool(&o.Hidden, "hidden", "look into hidden files of a directory too").Rare()
	p.Bool(&o.Ignore, "ignore", "leave out what .gitignore excludes").Alias("gitignore", "respect_git_ignore").Rare()
	p.Millis(&o.TimeoutMS, "timeout_ms", "time limit").Between(1, 600_000).Alias("timeout").Unlisted()
}

// kindNames are the kinds of symbols as the parameter spells them.
func kindNames() []string {
	var names []string
	for _, k := range []syntax.Kind{
		syntax.Function, syntax.Prototype, syntax.Method, syntax.Macro, syntax.Type, syntax.Class, syntax.Interface,
		syntax.Struct, syntax.Impl, syntax.Enum, syntax.Constant, syntax.Variable, syntax.Field, syntax.Module, syntax.Cell, syntax.Heading,
		syntax.Key, syntax.Rule, syntax.Element, syntax.Table, syntax.View, syntax.Index, syntax.Trigger,
	} {
		names = append(names, string(k))
	}
	return names
}

// Needs implements tool.Call.
func (o *outlineCall) Needs(_ context.Context, env *tool.Env) ([]policy.Access, error) {
	var needs []policy.Access
	for _, name := range o.Paths {
		p, err := env.Workspace.Resolve(name)
		if err != nil {
			return nil, err
		}
		t := outlineTarget{path: p}
		if dir, pattern := cutPattern(name); !p.Exists && pattern != "" {
			if slices.Contains(strings.FieldsFunc(pattern, func(r rune) bool { return strings.ContainsRune(`/\{},`, r) }), "..") {
				return nil, tool.Errorf(tool.BadInput, "pattern %q leaves the directory it starts in", name).WithHint("name the directory before the first wildcard")
			}
			if t.path, err = env.Workspace.Resolve(dir); err != nil {
				return nil, err
			}
			t.patterns = []string{pattern}
			if !strings.Contains(name, "/") {
				t.patterns = append(t.patterns, "**/"+pattern)
			}
		}
		o.targets = append(o.targets, t)
		need := t.path.Read("outline")
		need.Tree = t.path.Type == policy.Dir
		needs = append(needs, need)
	}
	return needs, nil
}

// cutPattern cuts a glob behind its last directory without a wildcard. The
// pattern is "" for a name that has none.
func cutPattern(name string) (dir, pattern string) {
	const wild = `*?[{`
	if !strings.ContainsAny(name, wild) {
		return name, ""
	}
	slash := filepath.ToSlash(name)
	at := strings.LastIndexByte(slash[:strings.IndexAny(slash, wild)], '/')
	switch {
	case at < 0:
		return ".", slash
	case at == 0:
		return "/", slash[1:]
	}
	return slash[:at], slash[at+1:]
}

// An outlined file is what one file holds, or why that is not known.
type outlinedFile struct {
	path    string
	symbols []syntax.Symbol
	err     error
}

// Run implements tool.Call.
func (o *outlineCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	meta := &outlineMeta{Symbols: []outlineSymbol{}, Broken: []outlinePartial{}, Skipped: []tool.Skipped{}}
	for _, t := range o.targets {
		if !t.path.Exists {
			return nil, env.Missing(t.path, "check the path, or find the file with {glob}")
		}
		meta.Paths = append(meta.Paths, tool.Shown(t.path))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(o.TimeoutMS)*time.Millisecond, errOutlineTime)
	defer cancel()
	files, err := o.list(ctx, env, meta)
	if err != nil {
		return nil, err
	}
	done := o.outlineAll(ctx, env, files, meta)
	if err := context.Cause(ctx); err != nil && !errors.Is(err, errOutlineTime) {
		return nil, err
	}
	meta.several = len(o.targets) > 1 || o.targets[0].path.Type == policy.Dir
	if !meta.several && len(done) == 1 {
		if err := o.refusal(meta.Paths[0], done[0].err); err != nil {
			return nil, err
		}
	}
	for _, f := range done {
		o.add(meta, f)
	}
	if meta.several && len(meta.Symbols) > o.Limit && len(o.Kinds) == 0 {
		meta.makeRoom()
	}
	if err := meta.page(env, o.Offset, o.Limit); err != nil {
		return nil, err
	}
	title := fmt.Sprintf("%s in %s", tool.Count(int64(meta.Total), "symbol"), tool.Count(int64(meta.Files), "file"))
	if !meta.several {
		title = fmt.Sprintf("%s in %s", tool.Count(int64(meta.Total), "symbol"), meta.Paths[0])
	}
	r := &tool.Result{Title: title, Output: meta.render(tool.Unpainted), Metadata: meta, No: meta.Total == 0, Trimmed: true}
	r.Pretty = meta.render
	if meta.Partial == rg.PartialTimeout {
		r.Error = tool.Errorf(tool.Timeout, "the outline took longer than %d ms", o.TimeoutMS).WithHint("narrow {.path}, or give a larger {.timeout_ms}")
	}
	return r, nil
}

// errOutlineTime is why a context ends whose call took too long.
var errOutlineTime = errors.New("the time is over")

// refusal is the error of a call for one file that cannot be outlined.
func (o *outlineCall) refusal(name string, err error) error {
	switch {
	case errors.Is(err, syntax.ErrNoGrammar):
		return tool.Errorf(tool.Unsupported, "%s is in no language that this build outlines", name).
			WithHint("read it, or search it with {grep}; the languages are %s", strings.Join(syntax.Outlined(), ", "))
	case errors.Is(err, workspace.ErrTooLarge):
		return tool.Errorf(tool.TooLarge, "%s has more than %d bytes", name, maxSource).WithHint("search it with {grep}, or read parts of it")
	case errors.Is(err, errNotText):
		return tool.Errorf(tool.Binary, "%s is binary", name).WithHint("look at it with {bash}, for example: file %s", tool.QuoteWord(name))
	case isPartial(err):
		return nil
	}
	return err
}

func isPartial(err error) bool {
	_, ok := errors.AsType[*syntax.PartialError](err)
	return ok
}

// list finds the files that are meant, each once, sorted by path.
func (o *outlineCall) list(ctx context.Context, env *tool.Env, meta *outlineMeta) ([]workspace.Path, error) {
	var files []workspace.Path
	seen := map[string]bool{}
	add := func(p workspace.Path, err error) {
		switch {
		case err != nil:
			o.skip(meta, tool.Shown(p), tool.Reason(err))
		case seen[p.Real]:
		case len(files) >= maxOutlineFiles:
			meta.Partial = "files"
		default:
			seen[p.Real] = true
			files = append(files, p)
		}
	}
	for _, t := range o.targets {
		if t.path.Type != policy.Dir {
			add(t.path, nil)
			continue
		}
		names, err := o.names(ctx, env, t, meta)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			p, err := env.Workspace.ResolveIn(t.path.Real, name)
			if err == nil {
				err = env.May(p.Read("outline"))
			}
			add(p, err)
		}
	}
	slices.SortStableFunc(files, func(a, b workspace.Path) int { return cmp.Compare(tool.Shown(a), tool.Shown(b)) })
	return files, nil
}

// names lists the regular files of a directory that are meant, relative to it.
func (o *outlineCall) names(ctx context.Context, env *tool.Env, t outlineTarget, meta *outlineMeta) (names []string, err error) {
	var skips []rg.Skipped
	partial := ""
	if t.patterns == nil {
		w := rg.WalkOptions{
			Root: t.path.Real, Hidden: o.Hidden, NoIgnore: !o.Ignore, GlobalIgnore: rg.GlobalIgnoreFile(env.Getenv),
			Sort: rg.ByPath, MaxEntries: maxOutlineEntries,
		}
		res, err := rg.Walk(ctx, nil, w, func(e rg.Entry) error {
			names = append(names, e.Path)
			return nil
		})
		if err != nil {
			return nil, err
		}
		skips, partial = res.Skipped, res.Partial
	} else {
		res, err := rg.Glob(ctx, t.path.Real, t.patterns, rg.GlobOptions{
			Hidden: o.Hidden, NoIgnore: !o.Ignore, GlobalIgnore: rg.GlobalIgnoreFile(env.Getenv),
			Sort: rg.ByPath, Limit: -1, MaxEntries: maxOutlineEntries, Timeout: -1,
		})
		if errors.Is(err, rg.ErrGlob) {
			return nil, tool.Errorf(tool.BadInput, "%w", err).WithHint("correct the pattern; src/**/*.{ts,tsx} is an example")
		}
		if err != nil {
			return nil, err
		}
		for _, e := range res.Entries {
			names = append(names, e.Path)
		}
		skips, partial = res.Skipped, res.Partial
	}
	for _, s := range skips {
		o.skip(meta, s.Path, s.Reason)
	}
	if partial != "" {
		meta.Partial = partial
	}
	return names, nil
}

func (o *outlineCall) skip(meta *outlineMeta, name, why string) {
	if meta.SkipCount++; len(meta.Skipped) < maxUnread {
		meta.Skipped = append(meta.Skipped, tool.Skipped{Path: name, Reason: why})
	}
}

// outlineAll outlines the files on as many goroutines as there are processors,
// and returns what it came to in their order.
func (o *outlineCall) outlineAll(ctx context.Context, env *tool.Env, files []workspace.Path, meta *outlineMeta) []outlinedFile {
	all := make([]outlinedFile, len(files))
	var lock sync.Mutex
	next, symbols := 0, 0
	take := func(found int) int {
		lock.Lock()
		defer lock.Unlock()
		symbols += found
		switch {
		case ctx.Err() != nil && next < len(files):
			meta.Partial = rg.PartialTimeout
		case symbols > maxOutlined && next < len(files):
			meta.Partial = "symbols"
		case next < len(files):
			next++
			return next - 1
		}
		return -1
	}
	var work sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		work.Go(func() {
			for i := take(0); i >= 0; i = take(len(all[i].symbols)) {
				list, err := outlineFile(ctx, env, files[i])
				list = slices.DeleteFunc(list, func(s syntax.Symbol) bool { return !o.wants(s) })
				all[i] = outlinedFile{tool.Shown(files[i]), list, err}
			}
		})
	}
	work.Wait()
	return slices.DeleteFunc(all, func(f outlinedFile) bool {
		cut := f.err != nil && ctx.Err() != nil && errors.Is(f.err, ctx.Err())
		if cut {
			meta.Partial = rg.PartialTimeout
		}
		return f.path == "" || cut
	})
}

// wants reports whether the call asks for a symbol.
func (o *outlineCall) wants(s syntax.Symbol) bool {
	return (o.Depth == 0 || s.Depth < o.Depth) && (len(o.Kinds) == 0 || slices.Contains(o.Kinds, string(s.Kind)))
}

// errNotText says that a file is binary.
var errNotText = errors.New("binary")

func outlineFile(ctx context.Context, env *tool.Env, p workspace.Path) ([]syntax.Symbol, error) {
	data, err := env.Workspace.ReadFile(p, maxSource)
	if err != nil {
		return nil, err
	}
	enc := text.Detect(data, true)
	if enc.Name == "binary" {
		return nil, errNotText
	}
	decoded, _ := enc.Decode(data)
	return syntax.OutlineContext(ctx, path.Base(filepath.ToSlash(p.Real)), decoded)
}

// add puts what one file holds into the metadata.
func (o *outlineCall) add(meta *outlineMeta, f outlinedFile) {
	partial, cut := errors.AsType[*syntax.PartialError](f.err)
	switch {
	case cut:
		if meta.BrokenAll++; len(meta.Broken) < maxUnread {
			meta.Broken = append(meta.Broken, outlinePartial{f.path, partial.Reason, partial.Line, partial.Faults[:min(len(partial.Faults), maxMistakes)]})
		}
	case errors.Is(f.err, syntax.ErrNoGrammar):
		o.skip(meta, f.path, "language not known")
		return
	case errors.Is(f.err, errNotText):
		o.skip(meta, f.path, "binary")
		return
	case errors.Is(f.err, workspace.ErrTooLarge):
		o.skip(meta, f.path, "too large")
		return
	case f.err != nil:
		o.skip(meta, f.path, tool.Reason(f.err))
		return
	}
	meta.Files++
	for _, s := range f.symbols {
		meta.Symbols = append(meta.Symbols, outlineSymbol{f.path, s.Name, s.Kind, s.Line, s.EndLine, s.Parent, s.First, s.Signature, s.Doubt, s.Depth})
	}
}
