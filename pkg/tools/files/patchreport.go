package files

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/edit"
	"github.com/agentkit-go/agentkit/pkg/syntax"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// What a result tells of a patch with very many files, hunks or remarks.
const (
	mostToldFiles    = 500
	mostToldHunks    = 500 // of all files
	mostToldWarnings = 100
)

type patchMeta struct {
	Files    []patchFile `json:"files" doc:"those that the patch changes, in its order, the first 500"`
	Total    int         `json:"files_total" doc:"how many the patch changes"`
	Diff     string      `json:"diff" doc:"what changed, cut where it is long"`
	Added    int         `json:"added" doc:"lines"`
	Removed  int         `json:"removed" doc:"lines"`
	Warnings []string    `json:"warnings" doc:"what was understood otherwise than it stands"`
	Change   string      `json:"change,omitempty" doc:"what undo calls it"`
	DryRun   bool        `json:"dry_run,omitempty" doc:"nothing was written"`

	Diagnosed *diagnosticsMeta `json:"diagnosed,omitempty" doc:"with diagnostics: what language servers say of the files, and of others that the change broke"`

	room    diffRoom
	omitted int // lines of the difference that Diff lacks
	hunks   int // that Files tell of
}

// Traces implements tool.Tracer.
func (m *patchMeta) Traces() tool.Traces { return tool.Traces{Change: m.Change, Diff: m.Diff} }

type patchFile struct {
	Path         string           `json:"path"`
	Action       string           `json:"action" doc:"add, update, delete or move"`
	From         string           `json:"from,omitempty" doc:"the old name of what is moved"`
	Hunks        []patchHunk      `json:"hunks" doc:"the first 500 of all files"`
	HunksTotal   int              `json:"hunks_total,omitempty" doc:"where hunks are not all"`
	Version      string           `json:"version,omitempty" doc:"the new content, for if_version"`
	SyntaxErrors []syntax.Problem `json:"syntax_errors"`
	Withheld     string           `json:"diff_withheld,omitempty" doc:"why the diff lacks it"`
}

type patchHunk struct {
	Line       int     `json:"line" doc:"where it went"`
	Strategy   string  `json:"strategy" doc:"how the place was found"`
	Similarity float64 `json:"similarity" doc:"from 0 to 1"`
}

// warn takes the patch's remarks in.
func (m *patchMeta) warn(list []string) {
	more := len(list) - mostToldWarnings
	m.Warnings = append(m.Warnings, list[:min(len(list), mostToldWarnings)]...)
	if more > 0 {
		m.Warnings = append(m.Warnings, fmt.Sprintf("and %d more", more))
	}
}

// file reports one file, whose new content has this hash.
func (m *patchMeta) file(ctx context.Context, paths map[string]workspace.Path, f edit.FileChange, hash, closed string) patchFile {
	one := patchFile{Path: tool.Shown(paths[f.Path]), Action: f.Action, Hunks: []patchHunk{}, SyntaxErrors: []syntax.Problem{}}
	before, after := "a/"+one.Path, "b/"+one.Path
	if f.From != "" {
		one.From = tool.Shown(paths[f.From])
		before = "a/" + one.From
	}
	switch {
	case f.Action == edit.Add:
		before = "/dev/null"
	case f.Action == edit.Delete:
		after = "/dev/null"
	}
	told := f.Hunks[:min(len(f.Hunks), mostToldHunks-m.hunks)]
	for _, h := range told {
		one.Hunks = append(one.Hunks, patchHunk{h.Line, h.Strategy, h.Similarity})
	}
	if m.hunks += len(told); len(told) < len(f.Hunks) {
		one.HunksTotal = len(f.Hunks)
	}
	was, is := readable(f.Before), readable(f.After)
	if f.Action != edit.Delete {
		one.Version = change.State{Hash: hash}.Version()
		one.SyntaxErrors = append(one.SyntaxErrors, syntax.NewContext(ctx, f.Path, was, is)...)
	}
	d := edit.DiffLimit(before, after, was, is, 3, int(m.room))
	m.Added, m.Removed = m.Added+d.Added, m.Removed+d.Removed
	if one.Withheld = closed; closed != "" {
		withoutText(one.SyntaxErrors)
		return one
	}
	d = m.room.take(d)
	m.Diff, m.omitted = m.Diff+d.Text, m.omitted+d.Omitted
	return one
}

// output lists the files by what became of them, as git's short status does.
func (m *patchMeta) output() string {
	var b strings.Builder
	for _, f := range m.Files {
		switch f.Action {
		case edit.Move:
			fmt.Fprintf(&b, "R %s -> %s\n", tool.VisibleName(f.From), tool.VisibleName(f.Path))
		default:
			letter := map[string]string{edit.Add: "A", edit.Update: "M", edit.Delete: "D"}[f.Action]
			fmt.Fprintf(&b, "%s %s\n", letter, tool.VisibleName(f.Path))
		}
		if f.Withheld != "" {
			fmt.Fprintf(&b, "  the difference is not shown: %s\n", f.Withheld)
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
	if more := m.Total - len(m.Files); more > 0 {
		fmt.Fprintf(&b, "… and %s more\n", tool.Count(int64(more), "file"))
	}
	for _, w := range m.Warnings {
		fmt.Fprintf(&b, "note: %s\n", w)
	}
	return b.String()
}

func (m *patchMeta) foreseen() (files []foreseenFile, diff string) {
	for _, f := range m.Files {
		files = append(files, foreseenFile{f.Path, f.Action, f.From})
	}
	return files, m.Diff
}
