package files

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/edit"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/text"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

//go:embed edit.md
var editDoc string

// Edit changes parts of a file.
var Edit = tool.Tool{
	Name:    "edit",
	Summary: "replace text in a file",
	Doc:     &editDoc,
	New:     func() tool.Call { return new(editCall) },

	Others: []string{"strreplace", "strreplaceeditor", "strreplacebasededittool", "editfile", "replace", "replaceinfile", "replacestringinfile", "searchreplace", "multiedit", "applyedit", "sed"},

	Examples: []string{
		"agentkit edit main.go 'return err' 'return nil'",
		"agentkit edit main.go oldName newName --replace-all",
		"agentkit edit main.go --symbol Close --new-string 'func Close() {}'",
	},

	Metadata: (*editMeta)(nil),
	Details:  []tool.Details{placesDetails{}, gateDetails{}, doubtDetails{}, candidatesDetails{}},
}

type editCall struct {
	Path          string
	One           editItem
	Edits         []editItem
	Exact         bool
	MinConfidence float64
	IfVersion     string
	Gate          bool
	DryRun        bool

	afterwards

	files    []*editFile
	from, to *param.Param
}

// Params implements tool.Call.
func (e *editCall) Params(p *param.Set) {
	p.Path(&e.Path, "path", param.File, "the file").Required().Unless(e.placed).Arg().Alias("file_path", "filePath", "filename", "file", "target_file", "absolute_path")
	e.from = p.String(&e.One.Old, "old_string", "the text that stands there now").Arg().FromStdin().Alias("oldString", "old_str", "old_text", "oldText", "search")
	e.to = p.String(&e.One.New, "new_string", "the text that is to stand there").Arg().FromStdin().Alias("newString", "new_str", "new_text", "newText", "replace")
	e.One.common(p)
	p.String(&e.One.CellMode, "cell_mode", "what to do with it").OneOf("replace", "insert", "delete").Alias("cellMode").Shown("replace").Rare()
	p.String(&e.One.CellType, "cell_type", "what it becomes").OneOf("code", "markdown", "raw").Alias("cellType").Shown("what it is").Rare()
	param.Objects(p, &e.Edits, "edits", "several changes instead, all or none").Alias("changes")
	p.Bool(&e.Exact, "exact", "accept only text to the letter").Rare()
	p.Number(&e.MinConfidence, "min_confidence", "the least similarity that is accepted").Between(0, 1).Alias("minConfidence").Shown("the engine's own limits").Rare()
	p.String(&e.IfVersion, "if_version", "only if the file still has this version").Alias("ifVersion", "version").Rare()
	p.Bool(&e.Gate, "gate", "refuse what brings new syntax errors").Rare()
	e.params(p)
	p.Bool(&e.DryRun, "dry_run", "only show the difference").Alias("dryRun").Rare()
}

// placed reports whether every one of the edits names its file.
func (e *editCall) placed() bool {
	return len(e.Edits) > 0 && !slices.ContainsFunc(e.Edits, func(i editItem) bool { return i.Path == "" })
}

// Needs implements tool.Call.
func (e *editCall) Needs(ctx context.Context, env *tool.Env) ([]policy.Access, error) {
	edits := e.Edits
	from, to := e.from.Given(), e.to.Given()
	if len(edits) > 0 && e.One.Old == "" && e.One.New == "" {
		from, to = false, false // filled in where there was nothing to say
	}
	switch {
	case (from || to || e.One.part()) && len(e.Edits) > 0:
		return nil, tool.Errorf(tool.BadInput, "both edits and old_string, new_string or a part of the file are given").WithHint("put every change into {.edits}")
	case e.One.CellMode == "delete" && !from:
		to = true
	case (from || e.One.part()) && !to:
		return nil, tool.Errorf(tool.BadInput, "new_string is required beside old_string, symbol or cell").WithHint("give {.new_string}; an empty one removes the text")
	case to && !from && !e.One.part():
		return nil, tool.Errorf(tool.BadInput, "old_string is required beside new_string").WithHint("give {.old_string}, or {.symbol}; to create a file use {write}")
	case !to && len(e.Edits) == 0:
		return nil, tool.Errorf(tool.BadInput, "no change is given").WithHint("give {.old_string} and {.new_string}, or {.edits}")
	}
	if to {
		edits = []editItem{e.One}
	}
	var needs []policy.Access
	byFile := map[string]*editFile{}
	for i, item := range edits {
		name := item.Path
		if name == "" {
			name = e.Path
		}
		path, need, err := resolveTarget(env, "edit", name)
		if err != nil {
			return nil, err
		}
		f := byFile[path.Real]
		if f == nil {
			f = &editFile{fileChange: fileChange{path: path, streams: true}, listed: len(e.Edits) > 1}
			byFile[path.Real], e.files, needs = f, append(e.files, f), append(needs, need)
		}
		f.edits, f.which = append(f.edits, item), append(f.which, i)
		version := item.IfVersion
		if item.Path == "" {
			version = cmp.Or(version, e.IfVersion)
		}
		if err := f.expect(version); err != nil {
			return nil, err
		}
	}
	return policy.Append(needs, e.needs(ctx, env, e.paths())...), nil
}

// paths are the files of the call.
func (e *editCall) paths() (paths []workspace.Path) {
	for _, f := range e.files {
		paths = append(paths, f.path)
	}
	return paths
}

// Describe implements tool.Describer. A yes is for the files as they were shown: one that
// changes before the answer, as by a job, is another one.
func (e *editCall) Describe(ctx context.Context, env *tool.Env) map[string]any {
	dry := *e
	dry.DryRun = true
	about := foreseen(ctx, env, e.paths(), dry.run)
	for _, f := range e.files {
		f.ifVersion = cmp.Or(f.ifVersion, f.version)
	}
	return about
}

// Shown implements tool.Shower.
func (e *editCall) Shown() map[string]string {
	shown := map[string]string{}
	for _, f := range e.files {
		shown[f.path.Real] = f.version
	}
	return shown
}

// Run implements tool.Call.
func (e *editCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	for _, f := range e.files {
		f.ifVersion = cmp.Or(f.ifVersion, env.Seen[f.path.Real])
	}
	r, err := again(ctx, env, e.run)
	if err == nil && e.Diagnose && !e.DryRun {
		e.tell(ctx, env, "edit", r)
	}
	return r, err
}

func (e *editCall) run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	s := &changeSet{env: env, tool: "edit", gate: e.Gate, dry: e.DryRun}
	for _, f := range e.files {
		f.fileChange, f.cells, f.grown = fileChange{path: f.path, ifVersion: f.ifVersion, streams: f.streams}, nil, 0
		s.files = append(s.files, &f.fileChange)
	}
	defer s.end()
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	for _, f := range e.files {
		if err := e.plan(ctx, env, f); err != nil {
			return nil, err
		}
	}
	if err := s.commit(ctx); err != nil {
		return nil, err
	}
	return editResult(e.files), nil
}

// plan finds the places in one file and makes the changes in memory, or of a
// large file says what they are.
func (e *editCall) plan(ctx context.Context, env *tool.Env, f *editFile) error {
	if f.before == nil && f.info == nil && !f.creates() {
		return env.Missing(f.path, "check the path; to create a file use {write}")
	}
	o := e.options()
	if f.info != nil {
		return f.planLarge(env, o, e.DryRun)
	}
	content, enc, err := decodeFile(f.path, f.before)
	if err != nil {
		return err
	}
	f.enc = enc
	lone := text.Newline(content) == "cr" // as on old Macintoshes
	if lone {
		content = bytes.ReplaceAll(content, []byte("\r"), []byte("\n"))
	}
	if slices.ContainsFunc(f.edits, func(i editItem) bool { return i.inCell() }) {
		after, err := f.planCells(content, o)
		if err != nil {
			return f.hush(err)
		}
		f.grow(int64(len(after) - len(content)))
		f.after, err = encodeFile(f.path, enc, after)
		return err
	}
	list, err := f.list(ctx, content)
	if err != nil {
		return f.hush(err)
	}
	out, err := edit.Plan(content, list, o)
	if err != nil {
		return f.refusal(err)
	}
	f.hits = out.Hits
	f.grow(int64(len(out.After) - len(content)))
	if lone {
		out.After = bytes.ReplaceAll(out.After, []byte("\n"), []byte("\r"))
	}
	f.after, err = encodeFile(f.path, enc, out.After)
	return err
}

// options are those of the next file: what the files before it have grown by counts.
func (e *editCall) options() edit.Options {
	o := edit.Options{Exact: e.Exact, MinConfidence: e.MinConfidence}
	for _, f := range e.files {
		o.Grown += f.grown
	}
	return o
}
