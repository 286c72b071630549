package files

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/tool"
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
		"agentkit undo --path src/a.go",
		"agentkit undo --list",
	},

	IDs: changeIDs,

	Metadata: (*undoMeta)(nil),
	Details:  []tool.Details{changedDetails{}, gapsDetails{}},
}

type undoCall struct {
	ID     string
	Last   int
	Path   string
	To     string
	Redo   bool
	List   bool
	Limit  int
	DryRun bool

	path    string          // real; "" for all of a change
	records []change.Record // to take back, newest first
	damaged []string        // the changes that were passed over: their records cannot be read
	waiting error           // why a change that was interrupted could not be finished yet
}

// Params implements tool.Call.
func (u *undoCall) Params(p *param.Set) {
	p.String(&u.ID, "id", "the change to take back").Arg().Alias("change").Shown("the newest")
	p.Int(&u.Last, "last", "how many changes, without id").Between(1, 100).Rare()
	p.Path(&u.Path, "path", param.File, "take back only the last change, or id, of this file or directory")
	p.String(&u.To, "to", "take back all changes after this one")
	p.Bool(&u.Redo, "redo", "do again what was undone last, or id")
	p.Bool(&u.List, "list", "list the changes and take none back")
	p.Int(&u.Limit, "limit", "most changes to list").Between(1, 1000).Unlisted()
	p.Bool(&u.DryRun, "dry_run", "say what would be done, do nothing").Alias("dryRun").Rare()
}

// Needs implements tool.Call: every file of the changes is written.
func (u *undoCall) Needs(ctx context.Context, env *tool.Env) ([]policy.Access, error) {
	if !env.DryRun {
		if u.waiting = recoverChanges(ctx, env); ctx.Err() != nil {
			return nil, u.waiting
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
		pathOf := env.History.Paths(r)
		for _, f := range env.History.Files(ctx, r, u.path) {
			path, err := pathOf(f)
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
			if r.Shelf != nil && op == policy.Create && filepath.Base(f.Path) == ".git" {
				if _, err := os.Lstat(filepath.Dir(f.Path)); err != nil {
					continue // it comes back with the directory that it lay in, as after rm -rf
				}
			}
			if r.Command && safefile.InGit(f.Path) { // what git may change of it the wall knows, and has let stand
				continue
			}
			if r.Shelf != nil || r.Command { // what a command was allowed to change comes back as that command's, by renames
				a.Tool, a.Links = "bash", 0
				if op == policy.Change && a.Path == filepath.Join(env.Workspace.Root(), ".git", "config") { // no command changed more of it than makes git run nothing
					a.Op = policy.Settings
				}
				needs = append(needs, a)
				continue
			}
			needs = append(needs, a)
			for _, name := range env.History.Within(ctx, r, f) {
				needs = append(needs, path.Beneath(name).Write("undo", op))
			}
		}
	}
	return needs, nil
}

// choose finds the changes to take back.
func (u *undoCall) choose(ctx context.Context, env *tool.Env) (err error) {
	given := 0
	for _, is := range []bool{u.ID != "" || u.Redo, u.Path != "", u.To != ""} {
		if is {
			given++
		}
	}
	if u.To != "" && given > 1 || u.Redo && u.Path != "" {
		return tool.Errorf(tool.BadInput, "to goes with no other choice of changes, and redo with no path").WithHint("give {.id}, {.path}, both, or {.redo}, or only {.to}")
	}
	if u.Path != "" {
		p, err := env.Workspace.ResolveEntry(u.Path)
		if err != nil {
			return err
		}
		u.path = p.Real
	}
	switch {
	case u.To != "":
		u.records, err = env.History.Since(ctx, u.To)
	case u.ID != "" || u.Path != "" && !u.Redo:
		err = u.one(ctx, env)
	case u.Redo:
		u.records, err = env.History.Undos(ctx, u.Last)
	default:
		return u.newest(ctx, env)
	}
	if err == nil && len(u.records) == 0 {
		return tool.Errorf(tool.NotFound, "nothing is left to %s", map[bool]string{true: "redo", false: "undo after that change"}[u.Redo]).WithHint("{undo} with {undo.list} shows what was changed")
	}
	if errors.Is(err, change.ErrNoRecord) && u.ID != "" && u.Path == "" {
		if p, at := env.Workspace.ResolveEntry(u.ID); at == nil && (p.Exists || strings.Contains(u.ID, "/")) {
			return tool.Errorf(tool.NotFound, "%w", err).WithHint("to take back the last change of the file %s give it as {.path}", tool.Shown(p)).
				Suggest(tool.QuoteWords([]string{"--path", u.ID}))
		}
	}
	return undoError(err)
}

// one finds a change by its ID, or the last one of a path.
func (u *undoCall) one(ctx context.Context, env *tool.Env) error {
	r, err := change.Record{}, error(nil)
	if u.ID == "" {
		r, err = env.History.LastOf(ctx, u.path)
	} else {
		r, err = env.History.Get(ctx, u.ID)
	}
	if err == nil && u.Redo && r.Undoes == "" {
		if r.UndoneBy == "" {
			return tool.Errorf(tool.AlreadyApplied, "change %s is not undone", r.ID).WithHint("{undo} with {undo.list} shows what is")
		}
		r, err = env.History.Get(ctx, r.UndoneBy)
	}
	u.records = []change.Record{r}
	return err
}

// newest finds the last changes that are not undone.
func (u *undoCall) newest(ctx context.Context, env *tool.Env) (err error) {
	u.records, u.damaged, err = env.History.Newest(ctx, u.Last)
	if err != nil {
		return undoError(err)
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

// Run implements tool.Call. When one of several changes cannot be taken back,
// those before it stay taken back, and the result says which.
func (u *undoCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	if u.List {
		r, err := listChanges(ctx, env, u.Limit)
		if err == nil {
			u.interrupted(env, r, r.Metadata.(*undoMeta))
		}
		return r, err
	}
	meta := &undoMeta{Files: []touchedFile{}, Undone: []string{}, DryRun: u.DryRun, Damaged: u.damaged}
	did := map[[2]bool]string{{}: "Undone: ", {true}: "Would undo: ", {false, true}: "Redone: ", {true, true}: "Would redo: "}[[2]bool{u.DryRun, u.Redo}]
	r := &tool.Result{Title: did + u.described(u.records[0]), Metadata: meta}
	if n := len(u.records); n > 1 {
		r.Title = did + tool.Count(int64(n), "change")
	}
	var b strings.Builder
	var failed error
	o := change.UndoOptions{DryRun: u.DryRun, Tool: "undo", Path: u.path}
	if u.Redo {
		o.Tool = redo
	}
	for _, record := range u.records {
		began, on := time.Now(), map[string][2]uint64(nil)
		if record.Shelf != nil && !u.DryRun && env.Made != nil {
			on = env.History.OnShelf(ctx, record)
		}
		back, err := env.History.Undo(ctx, record.ID, o)
		if err != nil {
			failed = undoError(err)
			break
		}
		if record.Shelf == nil && !record.Command && !u.DryRun { // what a command did remains the command's
			env.Wrote(back)
		} else {
			brought(env, on, began)
		}
		meta.Undone, meta.Change = append(meta.Undone, record.ID), back.ID
		fmt.Fprintf(&b, "%s%s\n", did, u.described(record))
		for _, f := range filesOf(env.Workspace, back) {
			meta.Files = append(meta.Files, f)
			fmt.Fprintln(&b, f.line())
		}
		if len(back.Files) == 0 {
			b.WriteString("its files are as they were before it already\n")
		}
		for _, why := range record.Lacks {
			fmt.Fprintf(&b, "not all of it was kept: %s\n", why)
		}
	}
	if len(u.damaged) > 0 {
		fmt.Fprintf(&b, "[%s]\n", passedOver(u.damaged))
	}
	r.Output = b.String()
	u.interrupted(env, r, meta)
	if failed != nil && len(meta.Undone) == 0 {
		return nil, failed
	}
	return r, failed
}

// interrupted adds which changes were interrupted and cannot be finished: a list has all of them, an undo those that nobody
// was told of.
func (u *undoCall) interrupted(env *tool.Env, r *tool.Result, m *undoMeta) {
	if u.waiting != nil {
		r.Output += fmt.Sprintf("[not finished yet: %v; %s]\n", u.waiting, unfinishedHint)
	}
	list, err := env.History.Stuck()
	if err != nil {
		return
	}
	for _, s := range list {
		if s.Told && !u.List {
			continue
		}
		next := "change its files by hand"
		if s.Record.Undoes != "" {
			next = "undo " + s.Record.Undoes + " takes back the rest, or says what has changed"
		}
		r.Output += fmt.Sprintf("[%s was interrupted and cannot be finished: %s; other changes go on; %s; its record is %s, what it had put away lies in %s]\n",
			described(s.Record), s.Why, next, s.Path, strings.Join(s.Kept, ", "))
		m.Stuck = append(m.Stuck, s.Record.ID)
		if !u.DryRun {
			env.History.Tell(s)
		}
	}
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

// described names what is done to a change: of redo, what is done again.
func (u *undoCall) described(r change.Record) string {
	if !u.Redo {
		return described(r)
	}
	r.Undoes = ""
	return described(r)
}
