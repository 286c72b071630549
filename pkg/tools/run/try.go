package run

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/confine"
	"github.com/agentkit-go/agentkit/pkg/overlay"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// What a trial tells of what would change.
const (
	maxWould     = 200 // changes that are listed
	maxWouldText = 20  // of them in the output
)

// changedFile is a name that a command changed, or would.
type changedFile struct {
	Path   string `json:"path" doc:"from the root"`
	Action string `json:"action" doc:"create, replace, delete, move, mode, mkdir, rmdir, or in an overlay touch, where only the time differs, and link, where the file got another name"`
	Size   int64  `json:"size" doc:"bytes of the file; of a deleted one, those that it had"`
}

// tryMeta is what a trial adds to the result.
type tryMeta struct {
	Total int      `json:"changed_total,omitempty" doc:"how many names changed, or would, of which changed has the first; each file of a directory that went counts"`
	Diff  string   `json:"diff,omitempty" doc:"of try: what would become of text files, or a beginning of it"`
	Left  []string `json:"left_out,omitempty" doc:"of try: what is no file, directory or link, which apply leaves out where it cannot rename it"`

	id      string
	changed *[]changedFile
	tried   *tool.Note
}

// A trial is what a call with try runs in, and a transaction; nil without.
type trial struct {
	*overlay.Trial
	full    atomic.Bool // it wrote too much, and was ended
	commits bool        // what it changed in the view is made of the root at the end
}

// newTrial has the command run in a view of the root.
func newTrial(env *tool.Env, box *confine.Confinement, title string) (*trial, error) {
	const next = "agentkit doctor says what this machine offers; {.track} lets {undo} take back what the command does change"
	if !box.Has(sandbox.L3) {
		return nil, tool.Errorf(tool.Unsupported, "nothing was run: trying a command takes the sandbox's level L3, and it has %s", env.Policy.Wall()).WithHint(next)
	}
	t, err := overlay.Begin(env.Session, env.Workspace.Root(), title)
	if errors.Is(err, overlay.ErrInside) {
		return nil, tool.Errorf(tool.Unsupported, "nothing was run: the command cannot be tried: %w", err).WithHint("set another state directory, such as the usual one; {.track} lets {undo} take back what the command does change")
	}
	if err == nil {
		err = box.View(t.Dir())
	}
	return &trial{Trial: t}, err
}

// bounded ends the command when what it writes exceeds what may be kept, until stop is
// called.
func (t *trial) bounded(ctx context.Context, most int64) (bounded context.Context, stop context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		pause := 50 * time.Millisecond
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
			begun := time.Now()
			if t.Size() > most {
				t.full.Store(true)
				cancel(t.tooLarge(most))
				return
			}
			pause = max(pause, 10*time.Since(begun))
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}

func (t *trial) tooLarge(most int64) error {
	if t.commits {
		return tool.Errorf(tool.TooLarge, "the command was ended: it wrote more than undo may keep (undo.max_bytes is %d)", most).
			WithHint("nothing has changed; have it write less, or run it with {.track}, which keeps the old contents of small files only")
	}
	return tool.Errorf(tool.TooLarge, "the command was ended: it wrote more than may be kept of a trial (%d bytes)", most).
		WithHint("nothing has changed; have it write less, or run it without {.try}; the policy says how much that is")
}

// failed is why a command could not be started: mostly, because the kernel makes no
// overlay of the root.
func (t *trial) failed(err error) error {
	if t == nil {
		return err
	}
	_ = t.Discard()
	if !strings.Contains(err.Error(), sandbox.ViewStep) {
		return err
	}
	if t.commits {
		return &noViewError{"the kernel makes no overlay of the workspace: " + err.Error()}
	}
	return tool.Errorf(tool.Unsupported, "nothing was run: the workspace cannot be shown copy-on-write here: %w", err).
		WithHint("an overlay needs a root without other file systems in it, and a state directory on a plain one such as ext4, XFS or Btrfs (see agentkit config); {.track} lets {undo} take back what the command does change")
}

// finish tells what the command changed in its view.
func (t *trial) finish(ctx context.Context, env *tool.Env) (m tryMeta, err error) {
	if t.full.Load() {
		return m, t.Discard()
	}
	if err := t.Finish(context.WithoutCancel(ctx)); err != nil {
		return m, tool.Errorf(tool.IO, "the command ran, and what it would change is lost: %w", err).WithHint("nothing has changed; run the command again")
	}
	m.changed = &[]changedFile{}
	if m.Total = len(t.Changes); m.Total == 0 {
		m.tried = new(tool.Notef("nothing in the workspace would change"))
		return m, nil
	}
	m.id = t.ID
	*m.changed = t.listed()
	for _, c := range t.Left() {
		m.Left = append(m.Left, string(c.Path))
	}
	m.Diff = t.Diff(env)
	m.tried = new(tool.Notef("nothing has changed yet: {apply} %s does it, {discard} %s forgets it; %s would change:\n%s", t.ID, t.ID, tool.Count(int64(m.Total), "name"), t.Summary(tool.VisibleName)+m.Diff))
	return m, nil
}

// listed are the first names that changed.
func (t *trial) listed() (list []changedFile) {
	for i := range t.Changes[:min(len(t.Changes), maxWould)] {
		c := &t.Changes[i]
		list = append(list, changedFile{string(c.Path), c.Action, sizeOf(c)})
	}
	return list
}

func sizeOf(c *overlay.Change) int64 {
	if c.After.Kind == change.Missing {
		return c.Before.Size
	}
	return c.After.Size
}

// Diff shows what would become of text files, as far as there is room.
func (t *trial) Diff(env *tool.Env) string { return t.Trial.Diff(env.DiffRoom(), env.MayShow) }
