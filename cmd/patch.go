package cmd

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/edit"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/syntax"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

//go:embed patch.md
var patchDoc string

var patchTool = &tool.Tool{
	Name:    "patch",
	Summary: "change several files by a patch, all or none",
	Doc:     &patchDoc,
	New:     func() tool.Call { return &patchCall{Strip: -1} },
}

type patchCall struct {
	Patch  string
	Strip  int
	DryRun bool

	patch *edit.Patch
	paths map[string]workspace.Path // by the path in the patch
}

// Params implements tool.Call.
func (p *patchCall) Params(s *param.Set) {
	s.String(&p.Patch, "patch", "the patch: the Begin/End Patch envelope, or a unified diff").Required().Arg().FromStdin().Alias("patchText", "patch_text", "diff", "input")
	s.Int(&p.Strip, "strip", "directories to take off the paths of a unified diff; -1 takes off git's a/ and b/").Between(-1, 100).Letter("p")
	s.Bool(&p.DryRun, "dry_run", "show the difference and write nothing").Alias("dryRun")
}

// Needs implements tool.Call: every file of the patch is written, under its
// old name and its new one.
func (p *patchCall) Needs(_ context.Context, env *tool.Env) ([]policy.Access, error) {
	parsed, err := edit.ParsePatch(p.Patch)
	if err != nil {
		return nil, patchRefusal(err)
	}
	if parsed.Strip = p.Strip; len(parsed.Paths()) == 0 {
		return nil, tool.Errorf(tool.BadInput, "the patch names no files").WithHint("send *** Begin Patch … *** End Patch, or a unified diff")
	}
	p.patch, p.paths = parsed, map[string]workspace.Path{}
	var needs []policy.Access
	for _, name := range parsed.Paths() {
		path, need, err := resolveTarget(env, "patch", name)
		if err != nil {
			return nil, err
		}
		p.paths[name] = path
		needs = append(needs, need)
	}
	return needs, nil
}

// patchRefusal makes a tool's error of what the engine says of a patch.
func patchRefusal(err error) error {
	r, ok := errors.AsType[*edit.Refusal](err)
	if !ok {
		return err
	}
	message := r.Message
	if r.Path != "" && !strings.Contains(message, r.Path) {
		message = r.Path + ": " + message
	}
	e := tool.Errorf(tool.Code(r.Code), "%s", message).WithHint("%s", r.Hint)
	for _, place := range r.Places {
		_ = e.Suggest(fmt.Sprintf("lines %d-%d", place.Lines[0], place.Lines[1]))
	}
	return e.With(map[string]any{"path": r.Path, "hunk": r.Edit, "places": places(r.Places)})
}

type patchMeta struct {
	Files    []patchFile `json:"files"`
	Diff     string      `json:"diff"`
	Added    int         `json:"added"`
	Removed  int         `json:"removed"`
	Warnings []string    `json:"warnings"`
	Change   string      `json:"change,omitempty"` // what undo calls it
	DryRun   bool        `json:"dry_run,omitempty"`
}

type patchFile struct {
	Path         string           `json:"path"`
	Action       string           `json:"action"` // add, update, delete or move
	From         string           `json:"from,omitempty"`
	Hunks        []patchHunk      `json:"hunks"`
	Version      string           `json:"version,omitempty"`
	SyntaxErrors []syntax.Problem `json:"syntax_errors"`
}

type patchHunk struct {
	Line       int     `json:"line"`
	Strategy   string  `json:"strategy"`
	Similarity float64 `json:"similarity"`
}

// Run implements tool.Call.
func (p *patchCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	var all []workspace.Path
	for _, path := range p.paths {
		all = append(all, path)
	}
	lock, err := env.History.Lock(ctx, all...)
	if err != nil {
		return nil, err
	}
	defer lock.Unlock()
	made, err := p.patch.Apply(func(name string) ([]byte, edit.Meta, error) {
		data, err := env.Workspace.ReadFile(p.paths[name], maxFile)
		meta := edit.Meta{}
		if info := p.paths[name].Info; info != nil {
			meta.Mode = info.Mode().Perm()
		}
		return data, meta, err
	})
	if err != nil {
		return nil, patchRefusal(err)
	}
	meta := &patchMeta{Files: []patchFile{}, Warnings: append(append([]string{}, p.patch.Warnings...), made.Warnings...), DryRun: p.DryRun}
	set := change.Set{Tool: "patch", Title: fmt.Sprintf("patch of %s", count(int64(len(made.Files)), "file")), Lock: lock}
	for _, f := range made.Files {
		meta.add(p, f)
		set.Changes = append(set.Changes, p.change(f))
	}
	if !p.DryRun {
		record, err := env.History.Commit(ctx, set)
		if err != nil {
			return nil, err
		}
		meta.Change = record.ID
	}
	out := meta.output()
	title := "Patched " + count(int64(len(meta.Files)), "file")
	if p.DryRun {
		title = "Would patch " + count(int64(len(meta.Files)), "file")
	}
	return &tool.Result{Title: title, Output: title + "\n" + out, Metadata: meta, Pretty: inColour(title+"\n"+out, meta.Diff)}, nil
}

// change is what the history is to do for one file.
func (p *patchCall) change(f edit.FileChange) change.Change {
	c := change.Change{Op: change.Replace, Path: p.paths[f.Path], Data: f.After}
	if f.Before != nil {
		c.Version = workspace.Version(f.Before)
	}
	if f.Mode != 0 {
		mode := f.Mode & fs.ModePerm
		c.Mode = &mode
	}
	switch f.Action {
	case edit.Add:
		c.Op, c.Version = change.Create, ""
		if f.Before != nil || p.paths[f.Path].Exists {
			c.Op = change.Write
		}
	case edit.Delete:
		c.Op, c.Data, c.Mode = change.Delete, nil, nil
	case edit.Move:
		c.Op, c.Path, c.To = change.Move, p.paths[f.From], p.paths[f.Path]
	}
	return c
}

// add reports one file.
func (m *patchMeta) add(p *patchCall, f edit.FileChange) {
	one := patchFile{Path: shown(p.paths[f.Path]), Action: f.Action, Hunks: []patchHunk{}, SyntaxErrors: []syntax.Problem{}}
	before, after := "a/"+one.Path, "b/"+one.Path
	if f.From != "" {
		one.From = shown(p.paths[f.From])
		before = "a/" + one.From
	}
	switch {
	case f.Action == edit.Add:
		before = "/dev/null"
	case f.Action == edit.Delete:
		after = "/dev/null"
	}
	for _, h := range f.Hunks {
		one.Hunks = append(one.Hunks, patchHunk{h.Line, h.Strategy, h.Similarity})
	}
	if f.Action != edit.Delete {
		one.Version = workspace.Version(f.After)
		one.SyntaxErrors = append(one.SyntaxErrors, syntax.New(f.Path, f.Before, f.After)...)
	}
	text, added, removed := diffOf(before, after, f.Before, f.After)
	m.Diff += text
	m.Added, m.Removed = m.Added+added, m.Removed+removed
	m.Files = append(m.Files, one)
}

// output lists the files by what became of them, as git's short status does.
func (m *patchMeta) output() string {
	var b strings.Builder
	for _, f := range m.Files {
		switch f.Action {
		case edit.Move:
			fmt.Fprintf(&b, "R %s -> %s\n", visibleName(f.From), visibleName(f.Path))
		default:
			letter := map[string]string{edit.Add: "A", edit.Update: "M", edit.Delete: "D"}[f.Action]
			fmt.Fprintf(&b, "%s %s\n", letter, visibleName(f.Path))
		}
		for i, h := range f.Hunks {
			if h.Strategy != edit.Exact && h.Strategy != "" {
				fmt.Fprintf(&b, "  hunk %d found at line %d by %s, similarity %.2f\n", i+1, h.Line, h.Strategy, h.Similarity)
			}
		}
		for _, e := range f.SyntaxErrors {
			fmt.Fprintf(&b, "  syntax error in line %d: %s\n", e.Line, e.Message)
		}
	}
	for _, w := range m.Warnings {
		fmt.Fprintf(&b, "note: %s\n", w)
	}
	return b.String()
}
