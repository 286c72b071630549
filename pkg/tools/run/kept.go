package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/committed"
	"github.com/agentkit-go/agentkit/pkg/confine"
	"github.com/agentkit-go/agentkit/pkg/gate"
	"github.com/agentkit-go/agentkit/pkg/job"
	"github.com/agentkit-go/agentkit/pkg/loss"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/steps"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/wall"
)

// kept is what a command is about to take away, where undo can bring it back; nil without.
type kept struct {
	*change.Shelf
	partly string // why it is not all of it
	lacks  int    // files of which no more was said than how many they are
	watch  *loss.Watcher
	walk   *change.Tracking             // keeps what it can by itself; nil for none
	ends   bool                         // the command, within the call
	job    bool                         // this is its supervisor
	sure   bool                         // its text tells that something is taken away
	mu     sync.Mutex                   // of what is added
	last   atomic.Pointer[sandbox.Exec] // the start that was kept for last
}

// shelve keeps what the command is about to take away; first are the directories that it
// removes before anything else, and came tells what has come to protected places meanwhile. What git has or ignores may be too much, and is then not
// kept; what is nowhere else must be. Of a command that ends within the call walk has what is only in few bytes.
func shelve(ctx context.Context, env *tool.Env, p *preparedCommand, title string, first []string, came func(string, fs.FileInfo) bool, ends bool, walk *change.Tracking) (*kept, error) {
	if len(p.takes.Doomed)+len(p.takes.Named)+len(p.takes.Watched) == 0 && (p.ahead == nil || walk == nil && ends) {
		return nil, nil
	}
	k := &kept{watch: newWatcher(env, p, title, came), ends: ends}
	o := k.watch.Shelving
	if o.Names, o.First, o.Shared = append(p.takes.Doomed.List(false), p.takes.Named.List(true)...), first, !ends; !ends {
		o.Names, k.sure = p.takes.InJob()
	} else if walk != nil {
		k.walk, o.First = walk, nil
		o.Names = k.unwalked(o.Names)
	}
	if len(o.Names) == 0 && (ends || p.ahead == nil) {
		return k, nil
	}
	shelf, err := env.History.Shelve(ctx, o)
	if err != nil && len(p.takes.Named) > 0 && ends { // nothing says that it is needed
		if o.Names = k.unwalked(p.takes.Doomed.List(false)); len(o.Names) == 0 {
			return k, nil
		}
		shelf, err = env.History.Shelve(ctx, o)
	}
	if err == nil {
		k.Shelf = shelf
		return k, nil
	}
	k.watch, k.partly = nil, err.Error()
	if errors.Is(err, change.ErrShelfFull) {
		k.partly = fmt.Sprintf("what git has or ignores of it is more than may be kept (undo.max_bytes is %d)", o.MaxBytes)
	}
	if len(p.takes.Keep) == 0 {
		return k, nil
	}
	o.Names, o.First = nil, nil
	for path := range p.takes.Keep {
		o.Names = append(o.Names, change.Doomed{Path: path, Written: p.takes.Doomed[path]})
	}
	if o.Names = k.unwalked(o.Names); len(o.Names) == 0 {
		return k, nil
	}
	if k.Shelf, err = env.History.Shelve(ctx, o); err != nil {
		return nil, tool.Errorf(tool.TooLarge, "nothing was run: what the command takes away cannot be kept for undo: %w", err).
			WithHint("take away less at a time, or have a rule that names the command allow it (see agentkit help policy)")
	}
	return k, nil
}

// shelveOptions are those of a command with these accesses.
func shelveOptions(env *tool.Env, title string, needs []policy.Access) change.ShelveOptions {
	u := env.Policy.Undo()
	o := change.ShelveOptions{Tool: "bash", Title: title, MaxBytes: int64(u.MaxBytes), MaxNames: loss.MaxNames, Age: u.Keep, Losses: u.Commands != policy.UndoAll}
	if env.Git != nil {
		index, least := env.Git.Indexed(), committed.Indexed
		if (steps.List{Accesses: needs}).LooksAnew() {
			least = committed.Unindexed
		}
		o.Still = func(path string, i fs.FileInfo) bool { return index(path, i) >= least }
	}
	return o
}

// newWatcher prepares what is kept while the command runs.
func newWatcher(env *tool.Env, p *preparedCommand, title string, came func(string, fs.FileInfo) bool) *loss.Watcher {
	o := shelveOptions(env, title, p.needs)
	if p.ahead != nil {
		ahead := p.ahead
		guards := sync.OnceValue(func() func(string) bool { return ahead.Wall().Guards() })
		o.Apart = func(path string) bool { is := guards(); return is != nil && is(path) }
		if o.Came = came; came == nil {
			since := sync.OnceValue(func() func(string, fs.FileInfo) bool { return ahead.Wall().Came() })
			o.Came = func(path string, i fs.FileInfo) bool { return since()(path, i) }
		}
		o.Others = func() bool { return sandbox.Busy(filepath.Dir(env.Session.Dir()), env.Workspace.Root()) }
	}
	begun := time.Now()
	return &loss.Watcher{
		Env: env, Dir: p.dir.Real, Shelving: o, Watched: p.takes.Watched, Needs: p.needs, GitKept: p.takes.Doomed.HoldsGit(), Begun: begun,
		Written: env.History.Touched(session.NewSortableID("", begun)),
	}
}

// sweepFirst puts back what other commands have changed, before anything is kept of it. What they change from
// then on came tells: it knows what was there before that.
func sweepFirst(env *tool.Env, p *preparedCommand, by string) (swept []sandbox.Restore, came func(string, fs.FileInfo) bool, err error) {
	if by != byLinks && by != byWalk || p.ahead == nil || len(p.takes.Doomed)+len(p.takes.Watched) == 0 {
		return nil, nil, nil
	}
	again := func() {
		p.ahead = confine.NewPrefetch(env)
		p.ahead.Start()
	}
	if p.ahead.Old() {
		again()
	}
	for n := range maxSweeps {
		came = p.ahead.Wall().Came()
		more, err := sandbox.Sweep(confine.Reports(env), gate.Found)
		if err != nil {
			return nil, nil, fmt.Errorf("putting back what other commands changed: %w", err)
		}
		if len(more) == 0 && (n > 0 || !p.takes.Doomed.Some(came)) {
			break
		}
		// What was put back just now is no newcomer, nor is what somebody has changed right before the call: what is
		// looked at then has it.
		swept = append(swept, more...)
		time.Sleep(wall.Settled)
		again()
	}
	return swept, came, nil
}

// maxSweeps is how often what other commands go on to change is put back before one that takes something away.
// What is changed after that is left out of what is kept.
const maxSweeps = 3

// watcher is what is told of each program before it starts; nil where nothing is to be kept then.
func (k *kept) watcher() func(context.Context, *sandbox.Exec) {
	if k == nil || k.watch == nil || !k.ends {
		return nil
	}
	return k.starts
}

// keeper is what keeps that which a git, an rm and the like take away that do not stand in the call: those of a script, a
// hook, make or code; nil without.
func (k *kept) keeper() gate.Keeper {
	if k == nil || k.watch == nil || k.watch.Env.Git == nil || !k.ends {
		return nil
	}
	return k.keep
}

// keep keeps what such a program takes away, and reports whether it could.
func (k *kept) keep(ctx context.Context, e *sandbox.Exec) bool {
	k.last.Store(e)
	names, must, ok := k.watch.Takes(ctx, e)
	if !ok || len(names) == 0 {
		return ok
	}
	err := k.add(ctx, names)
	if errors.Is(err, change.ErrShelfFull) { // what git has or ignores need not be kept
		if len(must) == 0 {
			return true
		}
		err = k.add(ctx, must)
	}
	return err == nil
}

// starts is called before a program starts, or empties or replaces a file.
func (k *kept) starts(ctx context.Context, e *sandbox.Exec) {
	l, add := k.watch, func(names []change.Doomed) {
		if len(names) > 0 {
			_ = k.add(ctx, names) // the result says so
		}
	}
	switch {
	case e.Emptied != "":
		k.lack(l.Emptied(e, func() (bool, bool) { return k.apart(e) }, add))
	case len(e.Argv) > 0 && e.Host == "":
		l.Begins(e, func(part bool) bool {
			return k.last.Load() == e || !l.Unkept(e, part) || k.keep(ctx, e) // of the last one it has been decided
		})
		add(l.Starts(e))
	}
}

// apart has what is kept of a file that is emptied or replaced lie apart from it, and reports whether it is kept, or another one
// of its name.
func (k *kept) apart(e *sandbox.Exec) (kept, other bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.Shelf == nil {
		return false, false
	}
	if !e.Replaced {
		if err := k.Detach(e.Emptied); err != nil {
			k.say(err.Error())
		}
	}
	return k.Keeps(e.Emptied, e.Inode)
}

// lack notes what is not kept, and why.
func (k *kept) lack(what string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if what != "" {
		k.say(what)
	}
}

// say has the result say what is not kept, and why; that of a job, whoever finishes what is kept.
func (k *kept) say(what string) {
	switch {
	case k.partly != "":
		k.lacks++
	case k.job:
		k.partly = what
		_ = k.Lack(what)
	default:
		k.partly = what
	}
}

// unwalked are the names that the walk does not keep.
func (k *kept) unwalked(names []change.Doomed) []change.Doomed {
	if k.walk == nil {
		return names
	}
	return slices.DeleteFunc(names, func(d change.Doomed) bool { return k.walk.Keeps(d.Path) })
}

// holds tells which names are kept; nil for none.
func (k *kept) holds() func(path string) bool {
	if k == nil || k.Shelf == nil {
		return nil
	}
	return k.Holds
}

// add keeps more.
func (k *kept) add(ctx context.Context, names []change.Doomed) (err error) {
	if names = k.unwalked(names); len(names) == 0 {
		return nil
	}
	for i := range names {
		names[i].Maybe = names[i].Maybe || k.job
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.Shelf == nil {
		o := k.watch.Shelving
		o.Names, o.First = names, nil
		k.Shelf, err = k.watch.Env.History.Shelve(ctx, o)
	} else {
		err = k.Add(ctx, names)
	}
	if err != nil {
		k.say(err.Error())
	}
	return err
}

// held is the file that whoever sees the end of a job holds until then; "" for none.
func (k *kept) held() string {
	if k == nil || k.Shelf == nil || k.ends {
		return ""
	}
	return k.Path()
}

// leave has what a job takes away recorded when it has ended, by the next call.
func (k *kept) leave(m *bashMeta) {
	if k == nil || k.Shelf == nil {
		return
	}
	if id := k.Leave(); k.sure {
		m.Change = id
		m.kept = new(tool.Notef("what it takes away is kept, as it was when it began: once it has ended, {undo} %s brings it back", id))
	}
}

// Close gives up what is kept, unless finish has made a change of it.
func (k *kept) Close() {
	if k != nil {
		k.Shelf.Close()
	}
}

// finish tells what undo can bring back.
func (k *kept) finish(ctx context.Context, env *tool.Env, m *bashMeta) {
	if k == nil {
		return
	}
	if m.Job != "" && (m.Status == string(job.Running) || m.Kept) {
		k.leave(m)
		return
	}
	if k.lacks > 0 {
		k.partly += fmt.Sprintf("; and %d more", k.lacks)
	}
	var rec change.Record
	also := func(why string) { k.partly = strings.TrimPrefix(k.partly+"; "+why, "; ") }
	if k.Shelf != nil {
		if n := len(k.Left()); n > 0 {
			left := "not what is protected and came, or was changed, while commands ran: " + tool.VisibleName(k.Left()[0])
			if n > 1 {
				left += fmt.Sprintf(", and %d more", n-1)
			}
			also(left)
		}
		var err error
		if rec, err = k.Finish(context.WithoutCancel(ctx)); err != nil {
			also(err.Error())
		}
		if lacks := k.Lacks(); len(lacks) > 0 && k.partly == "" {
			k.partly = lacks[0]
		}
		if since := k.Since(); len(since) > 0 && k.partly == "" {
			k.partly = fmt.Sprintf("not what %s held, as it was written to after it was removed or renamed", k.watch.Visible(since[0]))
			if len(since) > 1 {
				k.partly += fmt.Sprintf(", and %d more", len(since)-1)
			}
		}
	}
	if rec.ID == "" {
		if k.partly != "" {
			m.kept = new(tool.Notef("{undo} cannot bring back what it took away: %s", k.partly))
		}
		return
	}
	names, bytes := 0, int64(0)
	m.changedIn(env.Workspace.Root(), rec, func(i int) (int, int64) {
		s := rec.Shelf[i]
		names, bytes = names+s.Names, bytes+s.Bytes
		return max(s.Names, 1), s.Bytes
	})
	if k.partly != "" {
		k.partly = "; " + k.partly
	}
	m.Untracked = rec.Gaps
	m.kept = new(tool.Notef("what it took away or changed can be brought back (%s, %s): {undo} %s%s", tool.Count(int64(names), "name"), tool.Count(bytes, "byte"), rec.ID, k.partly))
}
