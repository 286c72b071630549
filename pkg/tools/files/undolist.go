package files

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

type undoMeta struct {
	Undone  []string      `json:"undone" doc:"the changes that were taken back"`
	Change  string        `json:"change,omitempty" doc:"the change that this was, the last of several"`
	Files   []touchedFile `json:"files" doc:"what became of them"`
	DryRun  bool          `json:"dry_run,omitempty" doc:"nothing was written"`
	Damaged []string      `json:"damaged,omitempty" doc:"changes that were passed over: their records cannot be read"`
	Stuck   []string      `json:"stuck,omitempty" doc:"changes that were interrupted and cannot be finished"`
	Changes []undoChange  `json:"changes,omitempty" doc:"of list"`
}

// Traces implements tool.Tracer.
func (m *undoMeta) Traces() tool.Traces { return tool.Traces{Change: m.Change} }

type undoChange struct {
	ID     string        `json:"id"`
	Time   time.Time     `json:"time,omitzero"`
	Tool   string        `json:"tool"`
	Title  string        `json:"title"`
	Undone bool          `json:"undone"`
	Damage string        `json:"damage,omitempty" doc:"why its record cannot be read"`
	Files  []touchedFile `json:"files"`
	Would  []touchedFile `json:"would,omitempty" doc:"what taking it back would do now"`
	Why    []change.Gap  `json:"obstacles,omitempty" doc:"why it would be refused now"`
}

// What a list tells of each change: so many files in the text, and nothing of what taking
// back a larger one would do, for that means to look at all of them.
const (
	mostListed = 3
	mostTried  = 1000
)

// listChanges tells of the newest changes, and what taking each back would do.
func listChanges(ctx context.Context, env *tool.Env, limit int) (*tool.Result, error) {
	records, err := env.History.List(ctx, limit)
	if err != nil {
		return nil, undoError(err)
	}
	meta := &undoMeta{Files: []touchedFile{}, Undone: []string{}, Changes: []undoChange{}}
	var b strings.Builder
	newer := map[string]bool{} // files that changes above in the list have touched
	for _, r := range records {
		one := undoChange{ID: r.ID, Time: r.Time, Tool: r.Tool, Title: described(r), Undone: r.UndoneBy != "", Files: filesOf(env.Workspace, r)}
		if r.Damaged != nil {
			one.Title, one.Damage = "damaged record", r.Damaged.Error()
			meta.Damaged = append(meta.Damaged, r.ID)
			fmt.Fprintf(&b, "%s (damaged: %v)\n", r.ID, r.Damaged)
			meta.Changes = append(meta.Changes, one)
			continue
		}
		note := ""
		switch {
		case one.Undone:
			note = " (undone)"
		case r.InPart():
			note = " (undone in part)"
		}
		if part := r.PartOf(); part != "" {
			note = " (only " + tool.VisibleName(relative(env.Workspace, part)) + ")" + note
		}
		fmt.Fprintf(&b, "%s %s %s%s\n", r.ID, r.Time.Local().Format(time.DateTime), tool.VisibleName(one.Title), note)
		if !one.Undone && r.Tool != redo && len(r.Files) <= mostTried {
			one.would(ctx, env, r, newer, &b)
		}
		if !one.Undone && r.Undoes == "" {
			for _, f := range r.Files {
				newer[f.Path] = true
			}
		}
		meta.Changes = append(meta.Changes, one)
	}
	if len(records) == 0 {
		b.WriteString("nothing has been changed\n")
	}
	return &tool.Result{Title: tool.Count(int64(len(records)), "change"), Output: b.String(), Metadata: meta, No: len(records) == 0}, nil
}

// would finds out what taking a change back would do.
func (c *undoChange) would(ctx context.Context, env *tool.Env, r change.Record, newer map[string]bool, b *strings.Builder) {
	back, err := env.History.Would(ctx, r)
	if err == nil {
		c.Would = filesOf(env.Workspace, back)
		for i, f := range c.Would {
			if i == mostListed {
				fmt.Fprintf(b, "    … and %d more\n", len(c.Would)-i)
				break
			}
			fmt.Fprintf(b, "    %s\n", f.line())
		}
	}
	changed, gap := (*change.ChangedError)(nil), (*change.GapError)(nil)
	switch {
	case errors.As(err, &changed):
		c.Why = changed.Files
	case errors.As(err, &gap):
		c.Why = gap.Gaps
	case err != nil:
		c.Why = []change.Gap{{Why: err.Error()}}
	}
	after := len(c.Why) > 0
	for _, g := range c.Why {
		after = after && newer[g.Path]
	}
	switch {
	case after:
		b.WriteString("    only after the newer changes of its files\n")
	case len(c.Why) > 0:
		fmt.Fprintf(b, "    not now: %s\n", change.Gaps(c.Why))
	}
}

// redo is the tool of a change that did another again.
const redo = "redo"

// described names a change in a few words.
func described(r change.Record) string {
	title := r.Title
	if title == "" {
		title = r.Tool + " of " + tool.Count(int64(len(r.Files)), "file")
	}
	switch {
	case r.Undoes == "":
	case r.Tool == redo:
		title = "redo of " + title
	default:
		title = "undo of " + title
	}
	return title
}

func filesOf(w *workspace.Workspace, r change.Record) []touchedFile {
	list := []touchedFile{}
	for _, f := range r.Files {
		list = append(list, touchedFile{relative(w, f.Path), f.Action(), max(f.Before.Names, f.After.Names)})
	}
	return list
}

func relative(w *workspace.Workspace, path string) string {
	return strings.TrimPrefix(path, w.Root()+"/")
}

func passedOver(ids []string) string {
	return "the records of these changes are damaged, they cannot be taken back: " + strings.Join(ids, " ")
}

// undoError explains why a change cannot be taken back.
func undoError(err error) error {
	if err == nil {
		return nil
	}
	if c, ok := errors.AsType[*change.ChangedError](err); ok {
		e := tool.Errorf(tool.Conflict, "%w", err).WithHint("these files have changed since; look at them and change them back by hand, or take back the later changes first").
			With(changedDetails{c.ID, c.Files})
		for _, f := range c.Files {
			_ = e.Suggest(f.Path)
		}
		return e
	}
	if g, ok := errors.AsType[*change.GapError](err); ok {
		return tool.Errorf(tool.Unsupported, "%w", err).WithHint("restore these by hand").With(gapsDetails{g.ID, g.Gaps})
	}
	for _, known := range []struct {
		is   error
		code tool.Code
		hint string
	}{
		{change.ErrUnfinished, tool.IO, unfinishedHint},
		{change.ErrNoRecord, tool.NotFound, "{undo} with {undo.list} shows what there is"},
		{change.ErrRunning, tool.Conflict, "wait for its end with {output}, or end it with {kill}, and take it back then"},
		{change.ErrDropped, tool.NotFound, "only so much is kept; {undo} with {undo.list} shows what there is"},
		{change.ErrUndone, tool.AlreadyApplied, "{undo} with {undo.list} shows what is left"},
		{change.ErrUnreadable, tool.IO, "change the files back by hand; {undo} with {undo.list} shows the other changes"},
		{change.ErrDamaged, tool.IO, "its old contents are lost; change the files back by hand"},
	} {
		if errors.Is(err, known.is) {
			return tool.Errorf(known.code, "%w", err).Next(known.hint)
		}
	}
	return err
}
