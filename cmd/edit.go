package cmd

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/edit"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/text"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

//go:embed edit.md
var editDoc string

var editTool = &tool.Tool{
	Name:    "edit",
	Summary: "replace text in a file",
	Doc:     &editDoc,
	New:     func() tool.Call { return new(editCall) },
}

type editCall struct {
	Path          string
	One           editItem
	Edits         []editItem
	Exact         bool
	MinConfidence float64
	IfVersion     string
	DryRun        bool

	path     workspace.Path
	edits    []editItem
	from, to *param.Param
}

// Params implements tool.Call.
func (e *editCall) Params(p *param.Set) {
	p.Path(&e.Path, "path", param.File, "the file").Required().Arg().Alias("file_path", "filePath", "filename", "file")
	e.from = p.String(&e.One.Old, "old_string", "the text that stands there now").Arg().FromStdin().Alias("oldString", "old_str", "old_text", "search")
	e.to = p.String(&e.One.New, "new_string", "the text that is to stand there").Arg().FromStdin().Alias("newString", "new_str", "new_text", "replace")
	p.Bool(&e.One.All, "replace_all", "replace every occurrence").Alias("replaceAll", "all")
	p.Int(&e.One.Line, "line", "the line where the text begins, to choose among equal places").Between(0, 1<<31).Shown("none")
	param.Objects(p, &e.Edits, "edits", "several changes, all made or none; instead of old_string and new_string").Alias("changes")
	p.Bool(&e.Exact, "exact", "accept only text that stands there to the letter")
	p.Number(&e.MinConfidence, "min_confidence", "the least similarity of a place that is accepted").Between(0, 1).Alias("minConfidence").Shown("the engine's own limits")
	p.String(&e.IfVersion, "if_version", "change the file only when it still has this version").Alias("ifVersion", "version")
	p.Bool(&e.DryRun, "dry_run", "show the difference and write nothing").Alias("dryRun")
}

// An editItem is one replacement.
type editItem struct {
	Old, New string
	All      bool
	Line     int
}

// Params declares the members of a replacement.
func (i *editItem) Params(p *param.Set) {
	p.String(&i.Old, "old_string", "the text that stands there now").Required().Alias("oldString", "old_str", "old_text", "old", "search")
	p.String(&i.New, "new_string", "the text that is to stand there").Required().Alias("newString", "new_str", "new_text", "new", "replace")
	p.Bool(&i.All, "replace_all", "replace every occurrence").Alias("replaceAll", "all")
	p.Int(&i.Line, "line", "the line where the text begins, to choose among equal places").Between(0, 1<<31)
}

// Needs implements tool.Call.
func (e *editCall) Needs(_ context.Context, env *tool.Env) ([]policy.Access, error) {
	e.edits = e.Edits
	switch from, to := e.from.Given(), e.to.Given(); {
	case (from || to) && len(e.Edits) > 0:
		return nil, tool.Errorf(tool.BadInput, "both edits and old_string or new_string are given").WithHint("put every change into edits")
	case from && !to:
		return nil, tool.Errorf(tool.BadInput, "new_string is required beside old_string").WithHint("give new_string; an empty one removes the text")
	case to && !from:
		return nil, tool.Errorf(tool.BadInput, "old_string is required beside new_string").WithHint("give old_string; to create a file use write")
	case from:
		e.edits = []editItem{e.One}
	case len(e.Edits) == 0:
		return nil, tool.Errorf(tool.BadInput, "no change is given").WithHint("give old_string and new_string, or edits")
	}
	path, need, err := resolveTarget(env, "edit", e.Path)
	e.path = path
	return []policy.Access{need}, err
}

type editMeta struct {
	changeReport
	Replacements int        `json:"replacements"`
	Strategy     string     `json:"strategy"`   // of the least certain place, as the next two
	Similarity   float64    `json:"similarity"` // from 0 to 1
	Margin       float64    `json:"margin"`     // to the next best place, from 0 to 1
	Lines        [][2]int   `json:"lines"`      // first and last line of each place, before the change
	NewLines     [][2]int   `json:"new_lines"`  // the same lines after it
	Kept         []editKept `json:"kept"`       // lines that the call misquotes; the file's stay
	Cleaned      []string   `json:"cleaned"`    // what was taken off the call, such as line numbers
	Encoding     string     `json:"encoding"`
}

// Run implements tool.Call.
func (e *editCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	c := &fileChange{env: env, path: e.path, ifVersion: e.IfVersion}
	defer c.end()
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	if c.before == nil && !e.creates() {
		return nil, tool.Errorf(tool.NotFound, "%s does not exist", shown(e.path)).
			Suggest(env.Workspace.Near(e.path, 5)...).WithHint("check the path; to create a file use write")
	}
	out, enc, err := e.plan(c.before)
	if err != nil {
		return nil, err
	}
	report, err := c.write(ctx, "edit", out.After, nil, e.DryRun)
	if err != nil {
		return nil, err
	}
	meta := newEditMeta(report, out, enc)
	title := report.headline("Edited", "edit")
	text := report.output(title) + meta.notes()
	return &tool.Result{Title: title, Output: text, Metadata: meta, Pretty: report.pretty(text)}, nil
}

// creates reports whether the call is one that makes a new file: a single
// change of nothing into something.
func (e *editCall) creates() bool { return len(e.edits) == 1 && e.edits[0].Old == "" }

// plan finds the places and makes the change in memory.
func (e *editCall) plan(before []byte) (*edit.Outcome, text.Encoding, error) {
	enc := text.Detect(before, true)
	if enc.Name == "binary" {
		_, why := text.Binary(before)
		return nil, enc, tool.Errorf(tool.Binary, "%s is binary: %s", shown(e.path), why).WithHint("change it with a program that knows its format")
	}
	content, exact := enc.Decode(before)
	if !exact {
		if !enc.ASCII() {
			return nil, enc, tool.Errorf(tool.Unsupported, "%s is damaged %s: writing it back would change more than asked", shown(e.path), enc.Name).
				WithHint("repair its encoding first, for example with iconv")
		}
		content, enc = before, text.Encoding{Name: "utf-8", Confidence: enc.Confidence}
	}
	list := make([]edit.Edit, len(e.edits))
	for i, item := range e.edits {
		list[i] = edit.Edit{Old: item.Old, New: item.New, All: item.All, Line: item.Line}
	}
	out, err := edit.Plan(content, list, edit.Options{Exact: e.Exact, MinConfidence: e.MinConfidence})
	if err != nil {
		return nil, enc, e.refusal(err)
	}
	out.After, err = enc.Encode(out.After)
	if lost, ok := errors.AsType[*text.EncodeError](err); ok {
		return nil, enc, tool.Errorf(tool.Unsupported, "%s is in %s, which has no %q", shown(e.path), lost.Encoding, lost.Rune).
			WithHint("use characters that the encoding has, or convert the file to UTF-8 first")
	}
	return out, enc, err
}

// refusal makes a tool's error of the engine's: what is wrong, where, and what
// to send instead.
func (e *editCall) refusal(err error) error {
	r, ok := errors.AsType[*edit.Refusal](err)
	if !ok {
		return err
	}
	message := r.Message
	if len(e.edits) > 1 {
		message = fmt.Sprintf("edits[%d]: %s", r.Edit, message)
	}
	f := tool.Errorf(tool.Code(r.Code), "%s: %s", shown(e.path), message).WithHint("%s", r.Hint)
	for _, p := range r.Places {
		_ = f.Suggest(fmt.Sprintf("lines %d-%d", p.Lines[0], p.Lines[1]))
	}
	return f.With(map[string]any{"edit": r.Edit, "places": places(r.Places)})
}

// An editKept is a line that the call misquotes.
type editKept struct {
	Line   int    `json:"line"`
	File   string `json:"file"`
	Quoted string `json:"quoted"`
}

func newEditMeta(report changeReport, out *edit.Outcome, enc text.Encoding) *editMeta {
	m := &editMeta{
		changeReport: report, Replacements: len(out.Hits), Similarity: 1, Margin: 1, Encoding: enc.Name,
		Kept: []editKept{}, Cleaned: []string{},
	}
	for i, h := range out.Hits {
		if i == 0 || h.Similarity < m.Similarity {
			m.Strategy, m.Similarity = h.Strategy, h.Similarity
		}
		m.Margin = min(m.Margin, h.Margin)
		m.Lines = append(m.Lines, h.Lines)
		m.NewLines = append(m.NewLines, h.NewLines)
		for _, k := range h.Kept {
			m.Kept = append(m.Kept, editKept{k.Line, k.File, k.Quoted})
		}
		for _, what := range h.Cleaned {
			if !slices.Contains(m.Cleaned, what) {
				m.Cleaned = append(m.Cleaned, what)
			}
		}
	}
	return m
}

// notes tells the model where the change went, and how the place was found
// when it was not to the letter.
func (m *editMeta) notes() string {
	var b strings.Builder
	for _, l := range m.NewLines[:min(len(m.NewLines), 5)] {
		fmt.Fprintf(&b, "now lines %d-%d\n", l[0], max(l[0], l[1]))
	}
	if m.Replacements > 1 {
		fmt.Fprintf(&b, "%d replacements\n", m.Replacements)
	}
	if m.Strategy != edit.Exact && m.Strategy != "" {
		fmt.Fprintf(&b, "found by %s, similarity %.2f\n", m.Strategy, m.Similarity)
	}
	for _, k := range m.Kept[:min(len(m.Kept), 3)] {
		fmt.Fprintf(&b, "line %d was misquoted and stays: %s\n", k.Line, k.File)
	}
	return b.String()
}
