package files

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/overlay"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

//go:embed apply.md
var applyDoc string

// Apply makes happen what a command that was tried would change.
var Apply = tool.Tool{
	Name:    "apply",
	Summary: "do what bash with try would change",
	Doc:     &applyDoc,
	New:     func() tool.Call { return &applyCall{} },

	Examples: []string{
		"agentkit apply 1k0wwpmf14jh6vsk3khg9",
		"agentkit apply 1k0wwpmf14jh6vsk3khg9 --dry-run",
	},

	IDs: trialIDs,

	Metadata: (*applyMeta)(nil),
}

type applyCall struct {
	ID    string
	trial *overlay.Trial
}

type applyMeta struct {
	Change  string        `json:"change,omitempty" doc:"what undo calls it"`
	Files   []touchedFile `json:"files" doc:"what became of them"`
	Left    []string      `json:"left_out,omitempty" doc:"what is no file, directory or link, and was not renamed"`
	Dropped []string      `json:"dropped,omitempty" doc:"older changes that can no longer be undone, to keep the limits"`
}

// Traces implements tool.Tracer.
func (m *applyMeta) Traces() tool.Traces { return tool.Traces{Change: m.Change} }

// Params implements tool.Call.
func (a *applyCall) Params(p *param.Set) {
	p.String(&a.ID, "id", "the id that bash with try told").Arg().Required().Alias("change")
}

// Needs implements tool.Call: every name that would change is written.
func (a *applyCall) Needs(ctx context.Context, env *tool.Env) ([]policy.Access, error) {
	if !env.DryRun {
		if err := recoverChanges(ctx, env); err != nil {
			return nil, err
		}
	}
	t, err := overlay.Open(env.Session, env.Workspace.Root(), a.ID)
	if err != nil {
		return nil, trialError(err)
	}
	a.trial = t
	all := change.Record{}
	for i := range t.Changes {
		c := &t.Changes[i]
		all.Files = append(all.Files, change.File{Path: t.Path(c), Before: change.State{Kind: c.Before.Kind}, After: change.State{Kind: c.After.Kind}})
	}
	tooMuch := t.TooMuch(int64(env.Policy.Undo().MaxBytes), func(files []string) []string {
		return env.NowhereElse("apply", env.Workspace.Root(), files)
	})
	var needs []policy.Access
	pathOf := env.History.Paths(all)
	for i, f := range all.Files {
		path, err := pathOf(f)
		if err != nil {
			return nil, err
		}
		op := policy.Change
		switch change.Missing {
		case f.Before.Kind:
			op = policy.Create
		case f.After.Kind:
			op = policy.Delete
		}
		write := path.Write("apply", op)
		if t.Changes[i].After.Kind == change.Link && env.Policy.Begins(write.Path) {
			write.Opaque = "a link with this name brings all of a directory that programs trust"
		}
		if tooMuch[f.Path] {
			write.Opaque = tool.TooMuchToKeep
		}
		needs = append(needs, write)
	}
	return needs, nil
}

// Describe implements tool.Describer: who is asked sees what would change.
func (a *applyCall) Describe(_ context.Context, env *tool.Env) map[string]any {
	return map[string]any{"command": a.trial.Title, "effects": a.trial.Summary(tool.VisibleName), "diff": a.trial.Diff(env.DiffRoom(), env.MayShow)}
}

// Run implements tool.Call.
func (a *applyCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	meta := &applyMeta{Files: []touchedFile{}}
	var b strings.Builder
	protected := making(env, a.trial)
	r, err := a.trial.Apply(ctx, env.History, "apply")
	if err != nil {
		return nil, trialError(err)
	}
	env.Wrote(r)
	if env.Made != nil {
		for _, f := range protected {
			noteMade(env, f.path, f.sum, f.size)
		}
	}
	left := map[overlay.Name]bool{}
	for _, c := range a.trial.Left() {
		left[c.Path] = true
		meta.Left = append(meta.Left, string(c.Path))
	}
	for i := range a.trial.Changes {
		c := &a.trial.Changes[i]
		if left[c.Path] {
			continue
		}
		meta.Files = append(meta.Files, touchedFile{Path: string(c.Path), Action: c.Action})
		fmt.Fprintf(&b, "%s %s\n", c.Action, tool.VisibleName(string(c.Path)))
	}
	if meta.Change, meta.Dropped = r.ID, r.Dropped; len(meta.Left) > 0 {
		fmt.Fprintf(&b, "[left out, because they are no file, directory or link, and cannot be renamed here: %s]\n", strings.Join(meta.Left, " "))
	}
	return &tool.Result{Title: "Applied: " + a.trial.Title, Output: b.String(), Metadata: meta}, nil
}
