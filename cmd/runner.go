package cmd

import (
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/audit"
	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/dialect"
	"github.com/agentkit-go/agentkit/pkg/gate"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/truncate"
)

// A runner makes calls, any number of them and several at a time. What they share
// is opened once: workspace, session, audit and history, and the policy as long as its
// files stay as they are. Each call has an environment of its own, with its own peer.
type runner struct {
	app     *app
	far     *far             // where calls are made; nil for here
	base    *tool.Env        // what calls share; Policy and Sources are those of the last load
	may     tool.List        // what may be called; base.Tools is what these may call themselves
	dialect *dialect.Dialect // that calls come in; nil for our own names

	mu    sync.Mutex // guards what follows, and the policy in base
	stamp policy.Stamp
	tidy  time.Time // when old sessions were last looked after

	rest sync.WaitGroup // what calls have left to be done
}

// open makes what calls share.
func (a *app) open(ctx context.Context) (*runner, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	speaks, err := a.spoken()
	if err != nil {
		return nil, err
	}
	if a.On != "" {
		far, err := a.reach(ctx, speaks)
		if err != nil {
			return nil, err
		}
		r := &runner{app: a, far: far, base: &tool.Env{Limits: truncate.Limits{Lines: a.MaxLines, Bytes: a.MaxBytes, Tokens: a.MaxTokens}}, may: Tools, dialect: speaks}
		fillLimits(&r.base.Limits)
		return r, nil
	}
	env, err := a.place()
	if err != nil {
		return nil, err
	}
	r := &runner{app: a, base: env, may: Tools, dialect: speaks, tidy: time.Now()}
	if err := r.recover(); err != nil {
		return nil, err
	}
	if a.carried != nil {
		if err := a.carried.keep(ctx, env); err != nil {
			return nil, unkept(env.Session.StateDir(), err)
		}
	}
	if err := r.load(); err != nil {
		return nil, err
	}
	if err := env.Session.Use(ctx); err != nil {
		return nil, a.blame("state", unkept(env.Session.StateDir(), err))
	}
	env.Redactor = audit.NewRedactor(a.environ())
	if env.Audit, err = audit.Open(env.Session.Dir(), audit.Options{Session: env.Session.ID(), Redactor: env.Redactor}); err != nil {
		return nil, a.blame("state", unkept(env.Session.StateDir(), err))
	}
	kept := env.Policy.Undo()
	env.History = change.Open(env.Workspace, env.Session, change.Options{Limits: change.Limits{Kept: int64(kept.MaxBytes), KeptAge: kept.Keep}})
	_, _ = env.History.Recover(ctx) // what cannot be put right yet is by the next call
	env.Approvals = &policy.Approvals{Dir: filepath.Join(env.Session.StateDir(), "approvals")}
	env.Tools, env.StandIn = Tools, standIn
	if c := a.carried; c != nil && c.Only != nil {
		env.Tools = slices.DeleteFunc(slices.Clone(Tools), func(t *tool.Tool) bool { return !slices.Contains(c.Only, t.Name) })
		r.may = env.Tools
	}
	return r, nil
}

// env makes what a single call may use of this machine, from the settings.
func (a *app) env(ctx context.Context) (*tool.Env, error) {
	if err := a.onlyHere("completion"); err != nil {
		return nil, err
	}
	r, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	return r.fresh(a.peer(r.limits())), nil
}

// peer is whoever started the program.
func (a *app) peer(limits truncate.Limits) tool.Peer {
	var p tool.Peer
	c := newConsole()
	p.Ask, p.Approver = a.asker(c)
	p.Consult = a.consultant(c)
	p.Hear, p.Hears = a.listener(c, limits)
	p.Key, p.Name, p.Origin = a.key, a.named, a.origin
	shown := a.printer()
	p.Colour = shown.colour && shown.format == "text"
	return p
}

// recover puts back what commands of calls that were killed have changed. It comes
// before anything is read that they may have changed.
func (r *runner) recover() error {
	dir := r.base.Session.Path("sandbox")
	if err := sandbox.Recover(dir, gate.Found); err != nil {
		return tool.Errorf(tool.IO, "after a call that was killed, %w", err).WithHint("make the file what it was, and remove what is in %s", dir)
	}
	return nil
}

// regain puts back those of the files that decide which a command that still runs has changed: where
// nothing can hold them, the end of that command would be too late. The configuration has been read by then.
func (r *runner) regain(kept []string) error {
	env := r.base
	reach := slices.DeleteFunc(slices.Clone(kept), func(path string) bool {
		return !slices.ContainsFunc(append(slices.Clip(env.Temp), env.Workspace.Root()), func(dir string) bool { return safefile.Below(dir, path) })
	})
	if len(reach) == 0 {
		return nil
	}
	list, err := sandbox.SweepPaths(sandbox.Reports(filepath.Dir(env.Session.Dir())), reach, gate.Found)
	switch {
	case err != nil:
		return tool.Errorf(tool.IO, "putting back what decides about calls: %w", err).WithHint("end the commands that still run, and make the file what it was")
	case len(list) > 0:
		where := ""
		if kept := list[0].Quarantine; kept != "" {
			where = "; what had come there is kept in " + kept
		}
		return tool.Errorf(tool.Conflict, "%s decides about calls, and was %s while a command runs that can do so: it is again as it was%s", list[0].Path, list[0].Action, where).
			WithHint("repeat the call; change the file when no job runs, see agentkit jobs")
	}
	return nil
}

// load loads the policy, where it is not the one that was loaded already.
func (r *runner) load() error {
	given := r.base.Session.Path(tool.GrantsFile)
	if r.base.Policy != nil && r.stamp.Same(r.base.Sources.Stamp(given)) {
		return nil
	}
	early := *r.base // what the tests in a policy's files see, whenever they run
	s := r.app.sources(&early)
	s.Settings = r.app.decisive()
	s.Keep()
	if err := r.regain(s.Kept); err != nil {
		return err
	}
	var stamp policy.Stamp
	if r.base.Policy != nil { // mostly the first call is the last
		stamp = s.Stamp(given)
	}
	p, err := loadGranted(r.base, s)
	if err != nil {
		return r.app.blamePolicy(err)
	}
	s.Wrote = func(path string, was, now []byte) {
		w := gate.Written{Path: path, Sum: safefile.Sum(now), Size: int64(len(now))}
		if len(was) > 0 {
			w.Was = safefile.Sum(was)
		}
		gate.Made(p, r.base.Session.StateDir(), r.base.Workspace.Root(), w)
	}
	r.base.Policy, r.base.Sources, r.stamp = p, s, stamp
	return nil
}

// limits are those of each call's output.
func (r *runner) limits() truncate.Limits {
	l := r.base.Limits
	if r.far != nil {
		if n := r.far.Hello().OutputBytes; n > 0 {
			l.Bytes = min(l.Bytes, n)
		}
		return l
	}
	if n := r.base.Policy.Limits().OutputBytes; n > 0 {
		l.Bytes = min(l.Bytes, n)
	}
	return l
}

// env makes the environment of one call for a peer.
func (r *runner) env(ctx context.Context, p tool.Peer) (*tool.Env, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.recover(); err != nil {
		return nil, err
	}
	if err := r.load(); err != nil {
		return nil, err
	}
	if err := r.base.Session.Use(ctx); err != nil {
		return nil, r.app.blame("state", unkept(r.base.Session.StateDir(), err))
	}
	return r.fresh(p), nil
}

// maxCaller is how much of what a caller calls its call, the message of it or its agent is put
// on record, in bytes.
const maxCaller = 128

// called is what a caller calls something, as it is put on record.
func called(name string) string { return strings.ToValidUTF8(name[:min(len(name), maxCaller)], "") }

// fresh makes the environment of a call for a peer, when nothing has happened since
// the runner was opened.
func (r *runner) fresh(p tool.Peer) *tool.Env {
	env := *r.base
	env.Limits = r.limits()
	env.Emit, env.Hears, env.Approver, env.Consult, env.Key = p.Hear, p.Hears, p.Approver, p.Consult, p.Key
	env.Caller = called(p.Name)
	env.Origin = tool.Origin{Message: called(p.Origin.Message), Agent: called(p.Origin.Agent)}
	if p.Ask != nil {
		env.Ask = func(ctx context.Context, request *tool.Request) (tool.Answer, error) {
			answer, err := p.Ask(ctx, request)
			if err != nil {
				return answer, err
			}
			return answer, answer.Grant(ctx, &env, request)
		}
	}
	return &env
}

// call is a tool.Caller.
func (r *runner) call(ctx context.Context, p tool.Peer, name string, args json.RawMessage) (result *tool.Result) {
	defer caught(name, &result)
	l := truncate.Limits{}
	if p.Room > 0 {
		l = roomy(p.Room)
	}
	return r.within(ctx, p, name, args, l)
}

// maxText bounds how much of an output one call shows, whoever wants it whole.
const maxText = 4 << 20

// roomy are limits for somebody who wants so many bytes whole.
func roomy(bytes int) truncate.Limits {
	return truncate.Limits{Bytes: min(bytes, maxText), Lines: math.MaxInt32, LineChars: math.MaxInt32}
}

// within makes a call whose output is within limits; zero ones are the usual.
func (r *runner) within(ctx context.Context, p tool.Peer, name string, args json.RawMessage, l truncate.Limits) *tool.Result {
	if r.far != nil {
		if p.Room = l.Bytes; r.dialect != nil {
			name = "/" + name // in our own names
		}
		return r.far.call(ctx, p, name, args)
	}
	t, err := r.may.Find(name)
	if err != nil {
		return tool.Fail(name, err)
	}
	in, err := tool.Decode(t, args)
	if err != nil {
		return t.Fail(err)
	}
	env, err := r.env(ctx, p)
	if err != nil {
		return t.Fail(err)
	}
	if l.Bytes > 0 {
		env.Limits = l
	}
	return r.made(ctx, env, in)
}

// made makes a call, after whose result others come: what it leaves to be done is done
// beside them.
func (r *runner) made(ctx context.Context, env *tool.Env, in *tool.Invocation) *tool.Result {
	result, rest := r.run(ctx, env, in)
	if rest != nil {
		r.rest.Go(func() { rest(ctx) })
	}
	return result
}

// caught makes the panic of a call its result: in a goroutine it would end the program.
func caught(name string, result **tool.Result) {
	if v := recover(); v != nil {
		*result = tool.Fail(name, tool.Panicked(v))
	}
}

// run makes a call. What it leaves to be done after its result is out, and before
// close, is the function; nil for nothing.
func (r *runner) run(ctx context.Context, env *tool.Env, in *tool.Invocation) (result *tool.Result, rest func(context.Context)) {
	if !in.Tool.ReadOnly {
		r.app.listen()
	}
	var left later
	env.Later = left.add
	result = tool.Run(ctx, env, in)
	r.mu.Lock()
	due := time.Since(r.tidy) > time.Minute
	if due {
		r.tidy = time.Now()
	}
	r.mu.Unlock()
	if !due && left.none() {
		return result, nil
	}
	return result, func(ctx context.Context) {
		left.do()
		if due {
			_ = env.Session.Opportunistic(context.WithoutCancel(ctx))
		}
	}
}

// close waits for what the calls have left to be done, and lets go of what they
// shared. What old sessions have left behind is removed now and then.
func (r *runner) close(ctx context.Context) {
	if r.far != nil {
		r.far.Close()
		return
	}
	r.rest.Wait()
	_ = r.base.Session.Opportunistic(context.WithoutCancel(ctx))
	_ = r.base.Audit.Close()
	_ = r.base.Session.Close()
}

// later is what is left to do when a result is out.
type later struct {
	mu   sync.Mutex
	list []func()
}

func (l *later) add(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, f)
}

func (l *later) none() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.list) == 0
}

func (l *later) do() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.list {
		f()
	}
}
