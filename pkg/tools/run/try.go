package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/edit"
	"github.com/agentkit-go/agentkit/pkg/overlay"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// What a trial tells of what would change.
const (
	maxWould     = 200      // changes that are listed
	maxWouldText = 20       // of them in the output
	maxTryDiff   = 16 << 10 // bytes of all diffs
	maxTryFile   = 1 << 20  // of a file of which a diff is shown
)

// changedFile is a name that a command changed, or would.
type changedFile struct {
	Path   string `json:"path" doc:"from the root"`
	Action string `json:"action" doc:"create, replace, delete, move, mode, mkdir, rmdir, or of try touch, where only the time differs"`
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

// A trial is what a call with try runs in; nil without.
type trial struct {
	*overlay.Trial
	full atomic.Bool // it wrote too much, and was ended
}

// newTrial has the command run in a view of the root.
func newTrial(env *tool.Env, box *confinement, title string) (*trial, error) {
	const next = "agentkit doctor says what this machine offers; {.track} lets {undo} take back what the command does change"
	if box.config == nil || box.config.Minimum < sandbox.L3 {
		return nil, tool.Errorf(tool.Unsupported, "nothing was run: trying a command takes the sandbox's level L3, and it has %s", env.Policy.Wall()).WithHint(next)
	}
	t, err := overlay.Begin(env.Session, env.Workspace.Root(), title)
	if errors.Is(err, overlay.ErrInside) {
		return nil, tool.Errorf(tool.Unsupported, "nothing was run: the command cannot be tried: %w", err).WithHint("set another state directory, such as the usual one; {.track} lets {undo} take back what the command does change")
	}
	if err == nil {
		err = box.view(t.Dir())
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
				cancel(tool.Errorf(tool.TooLarge, "the command was ended: it wrote more than may be kept of a trial (%d bytes)", most).
					WithHint("nothing has changed; have it write less, or run it without {.try}; the policy says how much that is"))
				return
			}
			pause = max(pause, 10*time.Since(begun))
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
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
		m.tried = new(note("nothing in the workspace would change"))
		return m, nil
	}
	m.id = t.ID
	var list strings.Builder
	for i := range t.Changes {
		c := &t.Changes[i]
		if i < maxWould {
			*m.changed = append(*m.changed, changedFile{string(c.Path), c.Action, sizeOf(c)})
		}
		if i < maxWouldText {
			fmt.Fprintf(&list, "%s %s\n", c.Action, tool.VisibleName(string(c.Path)))
		}
	}
	if more := m.Total - maxWouldText; more > 0 {
		fmt.Fprintf(&list, "… and %d more\n", more)
	}
	for _, c := range t.Left() {
		m.Left = append(m.Left, string(c.Path))
	}
	m.Diff = t.diff(env)
	m.tried = new(note("nothing has changed yet: {apply} %s does it, {discard} %s forgets it; %s would change:\n%s", t.ID, t.ID, tool.Count(int64(m.Total), "name"), list.String()+m.Diff))
	return m, nil
}

func sizeOf(c *overlay.Change) int64 {
	if c.After.Kind == change.Missing {
		return c.Before.Size
	}
	return c.After.Size
}

// diff shows what would become of text files, as far as there is room.
func (t *trial) diff(env *tool.Env) string {
	room := min(maxTryDiff, env.Limits.Resolved().Bytes/2)
	root, err := os.OpenRoot(env.Workspace.Root())
	if err != nil {
		return ""
	}
	defer root.Close()
	var b strings.Builder
	for i := range t.Changes {
		c := &t.Changes[i]
		if room <= 0 {
			b.WriteString("… the diffs of more files are left out\n")
			break
		}
		if c.Action == "mode" || c.Action == "touch" || c.Before.Kind != change.Regular && c.After.Kind != change.Regular {
			continue
		}
		a := policy.Access{Kind: policy.Read, Tool: "read", Path: filepath.Join(env.Workspace.Root(), string(c.Path)), File: policy.Regular}
		before, ok := t.before(root, c)
		after, fine := t.after(c)
		if !ok || !fine || env.Policy.Decide(&a).Verdict != policy.Allow {
			continue // it is listed
		}
		from, to := "a/"+string(c.Path), "b/"+string(c.Path)
		if c.Before.Kind != change.Regular {
			from = os.DevNull
		}
		if c.After.Kind != change.Regular {
			to = os.DevNull
		}
		d := edit.DiffLimit(from, to, before, after, 3, room)
		b.WriteString(d.Text)
		if room -= len(d.Text); d.Omitted > 0 {
			fmt.Fprintf(&b, "… %d more lines of diff\n", d.Omitted)
			room = 0
		}
	}
	return b.String()
}

// before is the text that the file of a change has in the root, and after the one
// that it would have; empty where there is none, and not ok where it is no text.
func (t *trial) before(root *os.Root, c *overlay.Change) (data []byte, ok bool) {
	if c.Before.Kind != change.Regular {
		return nil, true
	}
	f, err := root.Open(filepath.FromSlash(string(c.Path)))
	if err != nil {
		return nil, false
	}
	return readText(f)
}

func (t *trial) after(c *overlay.Change) (data []byte, ok bool) {
	if c.After.Kind != change.Regular {
		return nil, true
	}
	f, err := t.Content(c)
	if err != nil {
		return nil, false
	}
	return readText(f)
}

func readText(f io.ReadCloser) (data []byte, ok bool) {
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxTryFile+1))
	return data, err == nil && len(data) <= maxTryFile && bytes.IndexByte(data, 0) < 0
}
