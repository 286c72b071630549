package run

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/confine"
	"github.com/agentkit-go/agentkit/pkg/overlay"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/wall"
)

// newTransaction has the command run in a view of the root, of which all is made of the
// root when it has ended.
func newTransaction(env *tool.Env, box *confine.Confinement, title string) (*trial, error) {
	if box.Wall.Enclosing != "" { // it would change while the root does not
		return nil, &noViewError{"git keeps what it knows of the workspace outside of it"}
	}
	t, err := overlay.Begin(env.Session, env.Workspace.Root(), title)
	if errors.Is(err, overlay.ErrInside) {
		return nil, &noViewError{err.Error()}
	}
	if err != nil {
		return nil, err
	}
	if err := box.View(t.Dir()); err != nil {
		return nil, errors.Join(err, t.Discard())
	}
	return &trial{Trial: t, commits: true}, nil
}

// commit makes of the root what the command changed in its view.
func (t *trial) commit(ctx context.Context, env *tool.Env, box *confine.Confinement, needs []policy.Access, m *bashMeta) error {
	ctx = context.WithoutCancel(ctx) // also of a command that was ended: directly it would have changed that, too
	m.Changed = &[]changedFile{}
	if t.full.Load() {
		return t.Discard()
	}
	if err := t.Finish(ctx); err != nil {
		return tool.Errorf(tool.IO, "the command ran, and what it changed is lost: %w", err).WithHint("nothing has changed in the workspace; run the command again")
	}
	if len(t.Changes) == 0 {
		return nil
	}
	asks, err := t.effects(env, box, needs, m)
	if err == nil && len(asks) > 0 {
		err = t.ask(ctx, env, box, asks)
	}
	if err == nil && len(t.Changes) == 0 {
		return t.Discard()
	}
	*m.Changed, m.Total = append(*m.Changed, t.listed()...), len(t.Changes)
	if err != nil {
		return t.held(err, m)
	}
	rec, err := t.Commit(ctx, env.History, "bash", box.Wall.Watches())
	if err != nil && rec.ID == "" {
		return t.held(commitError(err), m)
	}
	m.Change = rec.ID
	text := ""
	if most := int64(env.Policy.Undo().MaxBytes); rec.Bytes > most {
		text += fmt.Sprintf(", until more is kept, for it is more than undo.max_bytes (%d)", most)
	}
	if names := t.unlinked(); len(names) > 0 {
		text += "; other names of these files keep what they held: " + strings.Join(names, " ")
	}
	m.kept = new(tool.Notef("what it changed can be taken back (%s): {undo} %s%s", tool.Count(int64(m.Total), "name"), rec.ID, text))
	return nil
}

// commitError explains why nothing was made of the root.
func commitError(err error) error {
	if errors.As(err, new(*overlay.ConflictError)) || errors.As(err, new(*change.ChangedError)) {
		return tool.Errorf(tool.Conflict, "the command ran, and what it changed was not taken over: %w", err).
			WithHint("the workspace has what others made meanwhile; look at these files and run the command again")
	}
	return tool.Errorf(tool.IO, "the command ran, and what it changed was not taken over: %w", err)
}

// held keeps the transaction as a trial: nothing has changed.
func (t *trial) held(err error, m *bashMeta) error {
	if e := tool.AsError(err); e.Code == tool.Denied {
		m.Changed, m.Total = &[]changedFile{}, 0
		return errors.Join(t.Discard(), err)
	}
	m.Change, m.id = t.ID, t.ID
	m.tried = new(tool.Notef("nothing has changed: what the command made is kept as %s, which {apply} takes over and {discard} forgets; it changed\n%s", t.ID, t.Summary(tool.VisibleName)))
	return err
}

// effects are the changes that somebody has to be asked about. Files that the policy lets
// no command make are taken out, as they are where a command makes them in the root.
func (t *trial) effects(env *tool.Env, box *confine.Confinement, needs []policy.Access, m *bashMeta) (asks []policy.Access, err error) {
	tooMuch := t.tooMuch(env, needs)
	for _, c := range slices.Clone(t.Changes) {
		path := t.Path(&c)
		if safefile.InGit(string(c.Path)) || box.Wall.Grants(path) {
			if c.Of != "" && !safefile.BelowGit(string(c.Of)) { // what git keeps changes under its own names
				t.leave(&c)
			}
			continue // the wall knows which of it git may change
		}
		a := policy.Access{Kind: policy.Write, Tool: "bash", Path: path, Op: policy.Change, File: fileType(c.Before.Kind)}
		switch change.Missing {
		case c.Before.Kind:
			a.Op = policy.Create
		case c.After.Kind:
			a.Op = policy.Delete
		}
		if tooMuch[path] {
			a.Tool, a.Opaque = "apply", tool.TooMuchToKeep // a command in the sandbox would not be asked about what is opaque
		}
		verdict := env.Policy.Decide(&a).Verdict
		if c.After.Kind == change.Link && env.Policy.Begins(path) {
			verdict = policy.Deny
		}
		switch {
		case verdict == policy.Deny && c.Of != "": // this name keeps what it holds
			t.leave(&c)
		case verdict == policy.Ask:
			asks = append(asks, a)
		case verdict == policy.Deny && a.Op == policy.Create && c.After.Kind != change.Dir:
			if err := t.withhold(env, &c, m); err != nil {
				return nil, err
			}
		}
	}
	return asks, nil
}

// leave has a name keep what it holds.
func (t *trial) leave(c *overlay.Change) {
	t.Changes = slices.DeleteFunc(t.Changes, func(o overlay.Change) bool { return o.Path == c.Path })
}

// tooMuch are the files that the command takes away and that are nowhere else, where these
// are more than may be kept. A rule that has the command take away what it likes settles it,
// as it does before a command runs.
func (t *trial) tooMuch(env *tool.Env, needs []policy.Access) map[string]bool {
	settled := true
	for _, a := range needs {
		if a.Kind == policy.Exec && a.Class != policy.ReadOnly {
			a.Danger = tool.TooMuchToKeep
			settled = settled && env.Policy.Decide(&a).Verdict == policy.Allow
		}
	}
	if settled {
		return nil
	}
	return t.TooMuch(int64(env.Policy.Undo().MaxBytes), func(files []string) []string {
		return env.NowhereElse("bash", env.Workspace.Root(), files)
	})
}

func fileType(k change.Kind) policy.FileType {
	switch k {
	case change.Regular:
		return policy.Regular
	case change.Dir:
		return policy.Dir
	}
	return policy.Missing
}

// withhold moves a file of the view into the quarantine.
func (t *trial) withhold(env *tool.Env, c *overlay.Change, m *bashMeta) error {
	room, err := env.Session.Mkdir(filepath.Join("quarantine", "withheld-"+t.ID))
	if err != nil {
		return err
	}
	to := filepath.Join(room, fmt.Sprint(len(m.withheld)))
	if err := t.Withhold(c.Path, to); err != nil {
		return err
	}
	m.withheld = append(m.withheld, sandbox.Restore{Path: t.Path(c), Action: "created", Quarantine: to})
	return nil
}

// ask lets a person decide on the effects of the command, who sees them.
func (t *trial) ask(ctx context.Context, env *tool.Env, box *confine.Confinement, asks []policy.Access) error {
	answer, err := env.ApproveAll(ctx, "bash", asks, map[string]any{
		"command": t.Title, "effects": t.Summary(tool.VisibleName), "diff": t.Diff(env),
	})
	switch {
	case errors.Is(err, tool.ErrNobody):
		d := env.Policy.Decide(&asks[0])
		return tool.Errorf(tool.ApprovalRequired, "the command ran, and what it would change needs approval: write %s: %s", policy.Subject(&asks[0]), d.Why).
			WithHint("{apply} %s asks for that", t.ID).Suggest(env.Policy.Suggest(asks)...)
	case err != nil:
		return err
	case !answer.Yes:
		return tool.Errorf(tool.Denied, "a person refused what the command would change: %s", answer.Reason).WithHint("nothing has changed; ask what to do instead, or choose another way")
	}
	for i := range asks {
		box.Wall.Granted = append(box.Wall.Granted, wall.Grant{Path: asks[i].Path})
	}
	return nil
}

// unlinked are the files that had other names, and are files of their own now.
func (t *trial) unlinked() (names []string) {
	type file struct{ before, after uint64 }
	count := map[file]uint64{}
	for i := range t.Changes {
		c := &t.Changes[i]
		count[file{c.Before.Ino, c.After.Ino}]++ // 0 is what is gone
	}
	for i := range t.Changes {
		c := &t.Changes[i]
		ours := count[file{c.Before.Ino, c.After.Ino}] + count[file{c.Before.Ino, 0}]
		if c.Before.Kind == change.Regular && c.Before.Links > ours && c.After.Kind == change.Regular && c.Action != "link" {
			names = append(names, tool.VisibleName(string(c.Path)))
		}
	}
	return names[:min(len(names), maxWouldText)]
}

// apart says which renames the view of the root could not make.
func (m *bashMeta) apart(root string) {
	if m.Detail == nil || len(m.Detail.Apart) == 0 {
		return
	}
	first := m.Detail.Apart[0]
	if path, why, ok := strings.Cut(first, ": "); ok && safefile.Below(root, path) {
		rel, _ := safefile.Rel(root, path)
		first = tool.VisibleName(rel) + ", for " + why
	}
	m.moves = new(tool.Notef("a directory that stood before could not be renamed where the command ran (EXDEV): %s; if it failed for that, {undo} takes back what it did, and with {.track} it runs in the workspace itself", first))
}
