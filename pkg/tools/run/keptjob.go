package run

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/committed"
	"github.com/agentkit-go/agentkit/pkg/confine"
	"github.com/agentkit-go/agentkit/pkg/gate"
	"github.com/agentkit-go/agentkit/pkg/loss"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// A job's programs start, and take something away, when its call may have ended. It is kept as in a call, by the job's
// supervisor, which has their gate.

// An inSupervisor is what the supervisor has to know for that.
type inSupervisor struct {
	State   string // of all sessions
	Session string
	Limits  session.Limits
	NoSync  bool
	Home    string
	Temp    []string
	Git     string // the program
	Shelf   string // that takes what is kept
	Title   string
	Dir     string
	Watched []string
	Needs   []policy.Access
	GitKept bool
	Begun   time.Time
}

// inSupervisor describes what is to be kept in a job; nil for one in which nothing is.
func (k *kept) inSupervisor() func() (json.RawMessage, error) {
	if k == nil || k.Shelf == nil || k.watch == nil || k.ends || k.watch.Env.Git == nil || k.watch.Shelving.Apart == nil {
		return nil
	}
	return func() (json.RawMessage, error) {
		l, env, o := k.watch, k.watch.Env, k.watch.Env.Session.Options()
		return safefile.EncodeJSON(inSupervisor{
			State: o.State, Session: o.ID, Limits: o.Limits, NoSync: o.NoSync, Home: env.Getenv("HOME"), Temp: env.Temp, Git: env.Git.Git(),
			Shelf: k.ID(), Title: l.Shelving.Title, Dir: l.Dir, Watched: l.Watched, Needs: l.Needs, GitKept: l.GitKept, Begun: l.Begun,
		})
	}
}

// Gate makes the Decider of a gate's order in a process that has not made it, the supervisor of a job: what its programs take
// away is kept, as far as that can be.
func Gate(order json.RawMessage) (sandbox.Decider, error) {
	var o gate.Order
	if err := safefile.DecodeJSON(order, &o); err != nil || len(o.Keeper) == 0 {
		return gate.Build(order)
	}
	k, err := keepInJob(&o)
	if err != nil {
		return nil, fmt.Errorf("keeping what the command takes away: %w", err)
	}
	asked := &confine.Questions{Starts: k.starts, Keeps: k.keep}
	return asked.Build(k.watch.Env)(order)
}

// keepInJob is what keeps in the supervisor what the programs of its job take away.
func keepInJob(o *gate.Order) (*kept, error) {
	var in inSupervisor
	if err := safefile.DecodeJSON(o.Keeper, &in); err != nil {
		return nil, err
	}
	p, err := policy.Load(&o.Sources)
	if err != nil {
		return nil, err
	}
	w, err := workspace.Open(o.Sources.Root, workspace.Options{Home: o.Sources.Home, LockDir: filepath.Join(in.State, "locks")})
	if err != nil {
		return nil, err
	}
	s, err := session.Open(session.Options{State: in.State, Root: w.Root(), ID: in.Session, Limits: in.Limits, NoSync: in.NoSync})
	if err != nil {
		return nil, err
	}
	u := p.Undo()
	env := &tool.Env{
		Workspace: w, Policy: p, Sources: &o.Sources, Session: s, Temp: in.Temp, Now: time.Now,
		Getenv: func(name string) string { // a program's variables are its own
			if name == "HOME" {
				return in.Home
			}
			return ""
		},
		Git:     &committed.Files{State: filepath.Join(s.StateDir(), "committed"), Git: func() string { return in.Git }},
		History: change.Open(w, s, change.Options{Limits: change.Limits{Kept: int64(u.MaxBytes), KeptAge: u.Keep}}),
	}
	shelving := shelveOptions(env, in.Title, in.Needs)
	// What is protected the sandbox keeps as it is, and what has come to such a name since is the command's own.
	guards := sync.OnceValue(func() func(string) bool {
		if ahead := confine.NewPrefetch(env); ahead != nil {
			return ahead.Wall().Guards()
		}
		return nil
	})
	guarded := func(path string) bool { is := guards(); return is != nil && is(path) }
	shelving.Apart, shelving.Came = guarded, func(path string, _ fs.FileInfo) bool { return guarded(path) }
	k := &kept{job: true, watch: &loss.Watcher{Env: env, Dir: in.Dir, Shelving: shelving, Watched: in.Watched, Needs: in.Needs, GitKept: in.GitKept, Begun: in.Begun}}
	k.watch.Written = env.History.Touched(in.Shelf)
	k.Shelf, err = env.History.Resume(in.Shelf, shelving)
	return k, err
}
