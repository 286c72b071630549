package files

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

//go:embed undo.md
var undoDoc string

// Undo takes changes back.
var Undo = tool.Tool{
	Name:    "undo",
	Summary: "take back a change of files",
	Doc:     &undoDoc,
	New:     func() tool.Call { return &undoCall{Last: 1, Limit: 20} },

	Others: []string{"revert", "restore", "rollback", "undoedit"},

	Examples: []string{
		"agentkit undo",
		"agentkit undo --last 3",
		"agentkit undo --list",
	},

	IDs: changeIDs,

	Metadata: (*undoMeta)(nil),
	Details:  []tool.Details{changedDetails{}, gapsDetails{}},
}

type undoCall struct {
	ID     string
	Last   int
	List   bool
	Limit  int
	DryRun bool

	records []change.Record // to take back, newest first
	damaged []string        // the changes that were passed over: their records cannot be read
}

// Params implements tool.Call.
func (u *undoCall) Params(p *param.Set) {
	p.String(&u.ID, "id", "the change to take back").Arg().Alias("change").Shown("the newest")
	p.Int(&u.Last, "last", "how many changes to take back, without id").Between(1, 100).Rare()
	p.Bool(&u.List, "list", "list the changes and take none back")
	p.Int(&u.Limit, "limit", "most changes to list").Between(1, 1000).Unlisted()
	p.Bool(&u.DryRun, "dry_run", "say what would be done, do nothing").Alias("dryRun").Rare()
}

// Needs implements tool.Call: every file of the changes is written.
func (u *undoCall) Needs(ctx context.Context, env *tool.Env) ([]policy.Access, error) {
	if !env.DryRun {
		if err := recoverChanges(ctx, env); err != nil {
			return nil, err
		}
	}
	if u.List {
		return nil, nil
	}
	if err := u.choose(ctx, env); err != nil {
		return nil, err
	}
	var needs []policy.Access
	for _, r := range u.records {
		for _, f := range r.Files {
			path, err := env.History.Path(r, f)
			if err != nil {
				return nil, err
			}
			op := policy.Change
			switch {
			case f.Before.Kind == change.Missing:
				op = policy.Delete
			case f.After.Kind == change.Missing:
				op = policy.Create
			}
			a := path.Write("undo", op)
			if r.Shelf != nil { // what a command was allowed to change comes back as that command's, by renames
				a.Tool, a.Links = "bash", 0
			}
			needs = append(needs, a)
		}
	}
	return needs, nil
}

// choose finds the changes to take back.
func (u *undoCall) choose(ctx context.Context, env *tool.Env) error {
	if u.ID != "" {
		r, err := env.History.Get(ctx, u.ID)
		u.records = []change.Record{r}
		return undoError(err)
	}
	all, err := env.History.List(ctx, 0)
	if err != nil {
		return undoError(err)
	}
	for _, r := range all {
		switch {
		case len(u.records) == u.Last:
		case r.Damaged != nil:
			u.damaged = append(u.damaged, r.ID)
		case r.Undoes == "" && r.UndoneBy == "":
			u.records = append(u.records, r)
		}
	}
	if len(u.records) == 0 {
		e := tool.Errorf(tool.NotFound, "nothing is left to undo in this session").WithHint("{undo} with {undo.list} shows what was changed")
		if len(u.damaged) > 0 {
			e.Message += "; " + passedOver(u.damaged)
		}
		return e
	}
	return nil
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
		{change.ErrNoRecord, tool.NotFound, "{undo} with {undo.list} shows what there is"},
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

type undoMeta struct {
	Undone  []string      `json:"undone" doc:"the changes that were taken back"`
	Change  string        `json:"change,omitempty" doc:"the change that this was, the last of several"`
	Files   []touchedFile `json:"files" doc:"what became of them"`
	DryRun  bool          `json:"dry_run,omitempty" doc:"nothing was written"`
	Damaged []string      `json:"damaged,omitempty" doc:"changes that were passed over: their records cannot be read"`
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
}

// Run implements tool.Call. When one of several changes cannot be taken back,
// those before it stay taken back, and the result says which.
func (u *undoCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	if u.List {
		return u.list(ctx, env)
	}
	meta := &undoMeta{Files: []touchedFile{}, Undone: []string{}, DryRun: u.DryRun, Damaged: u.damaged}
	did := "Undone: "
	if u.DryRun {
		did = "Would undo: "
	}
	r := &tool.Result{Title: did + described(u.records[0]), Metadata: meta}
	if n := len(u.records); n > 1 {
		r.Title = did + tool.Count(int64(n), "change")
	}
	var b strings.Builder
	var failed error
	for _, record := range u.records {
		back, err := env.History.Undo(ctx, record.ID, change.UndoOptions{DryRun: u.DryRun, Tool: "undo"})
		if err != nil {
			failed = undoError(err)
			break
		}
		meta.Undone, meta.Change = append(meta.Undone, record.ID), back.ID
		fmt.Fprintf(&b, "%s%s\n", did, described(record))
		for _, f := range filesOf(env.Workspace, back) {
			meta.Files = append(meta.Files, f)
			fmt.Fprintf(&b, "%s %s\n", f.Action, tool.VisibleName(f.Path))
		}
		if len(back.Files) == 0 {
			b.WriteString("its files are as they were before it already\n")
		}
	}
	if len(u.damaged) > 0 {
		fmt.Fprintf(&b, "[%s]\n", passedOver(u.damaged))
	}
	r.Output = b.String()
	if failed != nil && len(meta.Undone) == 0 {
		return nil, failed
	}
	return r, failed
}

func (u *undoCall) list(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	records, err := env.History.List(ctx, u.Limit)
	if err != nil {
		return nil, undoError(err)
	}
	meta := &undoMeta{Files: []touchedFile{}, Undone: []string{}, Changes: []undoChange{}}
	var b strings.Builder
	for _, r := range records {
		one := undoChange{ID: r.ID, Time: r.Time, Tool: r.Tool, Title: described(r), Undone: r.UndoneBy != "", Files: filesOf(env.Workspace, r)}
		note := ""
		switch {
		case one.Undone:
			note = " (undone)"
		case r.Damaged != nil:
			one.Title, one.Damage = "damaged record", r.Damaged.Error()
			meta.Damaged = append(meta.Damaged, r.ID)
			fmt.Fprintf(&b, "%s (damaged: %v)\n", r.ID, r.Damaged)
			meta.Changes = append(meta.Changes, one)
			continue
		}
		meta.Changes = append(meta.Changes, one)
		fmt.Fprintf(&b, "%s %s %s%s\n", r.ID, r.Time.Local().Format(time.DateTime), described(r), note)
	}
	if len(records) == 0 {
		b.WriteString("nothing has been changed\n")
	}
	return &tool.Result{Title: tool.Count(int64(len(records)), "change"), Output: b.String(), Metadata: meta, No: len(records) == 0}, nil
}

// changeIDs are the changes that can be taken back.
func changeIDs(ctx context.Context, env *tool.Env) (list []string) {
	records, _ := env.History.List(ctx, 20)
	for _, r := range records {
		if r.UndoneBy == "" && r.Damaged == nil {
			list = append(list, r.ID+"\t"+described(r))
		}
	}
	return list
}

// described names a change in a few words.
func described(r change.Record) string {
	title := r.Title
	if title == "" {
		title = r.Tool + " of " + tool.Count(int64(len(r.Files)), "file")
	}
	if r.Undoes != "" && !strings.HasPrefix(title, "undo of ") {
		title = "undo of " + title
	}
	return title
}

func filesOf(w *workspace.Workspace, r change.Record) []touchedFile {
	list := []touchedFile{}
	for _, f := range r.Files {
		list = append(list, touchedFile{strings.TrimPrefix(f.Path, w.Root()+"/"), f.Action()})
	}
	return list
}
