package run

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/confine"
	"github.com/agentkit-go/agentkit/pkg/job"
	"github.com/agentkit-go/agentkit/pkg/loss"
	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/shellparse"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// Run implements tool.Call.
func (b *bashCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	p := b.prepared
	if p.dir.Type != policy.Dir {
		return nil, noDirectory(p.dir)
	}
	keeper := b.keeper(p)
	by, m := keeper.choose(env)
	r, err := b.run(ctx, env, by, m)
	if without, ok := errors.AsType[*noViewError](err); ok { // nothing was run
		if p.lifted {
			return nil, tool.Errorf(tool.Unsupported, "nothing was run: what its code deletes could not be taken back, for %s", without.why).
				WithHint("have a rule that names the command allow it (see agentkit help policy), or delete with rm")
		}
		by, m = keeper.otherwise(without.why)
		r, err = b.run(ctx, env, by, m)
	}
	return r, err
}

// run is Run with what the command changes kept in one way.
func (b *bashCall) run(ctx context.Context, env *tool.Env, by string, how keepMeta) (*tool.Result, error) {
	p := b.prepared
	swept, came, err := sweepFirst(env, p, by)
	if err != nil {
		return nil, err
	}
	aside, err := loss.CopyAside(env, p.takes.Aside)
	if err != nil {
		return nil, err
	}
	noted, err := b.note(ctx, env, by, came)
	if err != nil {
		return nil, err
	}
	defer noted.close()
	over, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	asked := &confine.Questions{Over: over, Starts: noted.kept.watcher(), Keeps: noted.kept.keeper(), Order: noted.kept.inSupervisor()}
	box, err := confine.New(env, &confine.Command{Needs: p.needs, Argv: p.argv, Dir: p.dir.Real, Ends: b.ends(), Kept: by == byView}, asked, p.ahead)
	defer box.Release()
	if err != nil {
		return nil, startError(p.argv, err)
	}
	box.Swept = append(swept, box.Swept...)
	if err := b.publish(ctx, env, box); err != nil {
		return nil, err
	}
	var trial *trial
	if b.Try || by == byView {
		if trial, err = b.inView(env, box); err != nil {
			return nil, err
		}
		var stop context.CancelFunc
		ctx, stop = trial.bounded(ctx, int64(env.Policy.Undo().MaxBytes))
		defer stop()
	}
	out := newOutputs(env, b.Split)
	where := b.farewell(out)
	state, err := b.start(ctx, env, box, out.Output, noted.kept.held())
	end() // an open question does not outlive the command
	where.keep(ctx, env)
	out.close()
	if err != nil {
		defer box.Forget()
		return nil, trial.failed(cmp.Or(box.Failure(env), startError(p.argv, err)))
	}
	meta := b.meta(&state, box, out)
	if b.TTY && state.Job != "" {
		out.text, meta.Screen = screenInstead(ctx, env, state.Job, out.text)
	}
	if trial != nil {
		box.Quiet()
	}
	meta.keepMeta = how
	var failed error
	if by == byView {
		failed = trial.commit(ctx, env, box, p.needs, meta)
	}
	if state.Job != "" {
		box.LeaveMade()
	} else {
		defer box.Forget()
		box.Finish(env, p.needs, &meta.Meta, state.Status == string(job.Failed) || confine.MayHideFailure(p.needs), out.text)
		if meta.Detail != nil {
			meta.Detail.Quarantined = append(meta.Detail.Quarantined, meta.withheld...)
		}
	}
	r := &tool.Result{Title: b.title(), Output: out.text, Metadata: meta, Trimmed: true, Passes: true}
	meta.Asked = asked.Programs()
	meta.Published = box.Published()
	if state.ExitCode != nil {
		r.Status = *state.ExitCode
	}
	noted.finish(ctx, env, meta)
	if meta.aside = aside.Note; state.Job == "" {
		aside.Left(context.WithoutCancel(ctx))
	}
	if trial != nil {
		meta.apart(env.Workspace.Root())
	}
	if b.Try {
		if meta.tryMeta, err = trial.finish(ctx, env); err != nil {
			return nil, err
		}
		meta.Change, meta.Changed = meta.id, meta.changed
	}
	return r, cmp.Or(meta.conclude(ctx, b.limit(env), b.Until != "", r), failed)
}

// noted is what is known of the root as it was before the command.
type noted struct {
	tracking *change.Tracking // nil for none
	kept     *kept            // likewise
}

// note keeps, or looks at, what the command may change, where it runs in the root itself.
func (b *bashCall) note(ctx context.Context, env *tool.Env, by string, came func(string, fs.FileInfo) bool) (n noted, err error) {
	switch by {
	case byWalk:
		if n.tracking, err = env.History.Track(ctx, change.TrackOptions{Tool: "bash", Title: b.title(), Skip: skipGit}); err == nil {
			n.kept, err = shelve(ctx, env, b.prepared, b.title(), b.removedFirst(env), came, b.ends(), n.tracking)
		}
	case "", byNothing:
		switch {
		case b.prepared.ahead == nil || env.Git == nil || b.Try || env.Policy.Undo().Commands == policy.UndoOff:
		case b.ends():
			n.kept = &kept{watch: newWatcher(env, b.prepared, b.title(), came), ends: true}
		default: // what is typed into a shell nobody knows
			n.kept, err = shelve(ctx, env, b.prepared, b.title(), nil, came, false, nil)
		}
	case byLinks:
		n.kept, err = shelve(ctx, env, b.prepared, b.title(), b.removedFirst(env), came, b.ends(), nil)
	}
	return n, err
}

func (n *noted) close() {
	if n.tracking != nil {
		n.tracking.Close()
	}
	n.kept.Close()
}

// finish tells what the command changed.
func (n *noted) finish(ctx context.Context, env *tool.Env, m *bashMeta) {
	n.kept.finish(ctx, env, m)
	if n.tracking != nil {
		m.track(ctx, env.Workspace.Root(), n.tracking, n.kept.holds())
	}
}

// inView has the command see the root through an overlay.
func (b *bashCall) inView(env *tool.Env, box *confine.Confinement) (*trial, error) {
	if b.Try {
		const across = "GIT_DISCOVERY_ACROSS_FILESYSTEM="
		if e := &b.prepared.env; box.Wall != nil && box.Wall.Enclosing != "" && !slices.ContainsFunc(e.list, func(v string) bool { return strings.HasPrefix(v, across) }) {
			e.list = append(e.list, across+"1") // the view is another file system than the repository that the root is a part of
		}
		return newTrial(env, box, b.title())
	}
	return newTransaction(env, box, b.title())
}

// publish has this machine's loopback answer where the command serves: at the port
// that the call names, which must be free, and for a job at those of the policy.
// Where the loopback is this machine's own there is nothing to do.
func (b *bashCall) publish(ctx context.Context, env *tool.Env, box *confine.Confinement) error {
	if !box.Has(sandbox.L3) {
		return nil
	}
	var ports []int
	if b.yield() >= 0 {
		ports = env.Policy.Published()
	}
	if b.Publish != nil {
		var listen net.ListenConfig
		l, err := listen.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(*b.Publish)))
		if err != nil {
			return tool.Errorf(tool.Conflict, "port %d of this machine cannot be listened on: %w", *b.Publish, err).
				WithHint("choose another, or end what listens there")
		}
		_ = l.Close()
		ports = append(slices.DeleteFunc(ports, func(n int) bool { return n == *b.Publish }), *b.Publish)
	}
	return box.Publish(ports)
}

// skipGit leaves git's own files out of what undo takes back.
func skipGit(rel string, _ fs.DirEntry) bool { return rel == ".git" || strings.HasSuffix(rel, "/.git") }

// setsUser reports whether the command names a program that runs with the rights
// of its owner, as sudo does.
func (p *preparedCommand) setsUser() bool {
	for i := range p.needs {
		a := &p.needs[i]
		if a.Kind != policy.Exec || a.Program == "" {
			continue
		}
		if i, err := os.Stat(a.Program); err == nil && i.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
			return true
		}
	}
	return false
}

// start runs the command: by ourselves where it ends within the call, by a
// supervisor where it may not, which holds the file that says what is kept.
func (b *bashCall) start(ctx context.Context, env *tool.Env, box *confine.Confinement, out job.Output, held string) (commandState, error) {
	p := b.prepared
	c := job.Command{
		Argv: p.argv, Dir: p.dir.Real, Env: p.env.list, Stdin: b.Stdin, Timeout: b.limit(env),
		Grace: max(time.Duration(b.GraceMS)*time.Millisecond, 1), // 0 would be the default
		Split: b.Split, TTY: b.TTY, Rows: uint16(b.Rows), Cols: uint16(b.Cols),
	}
	machine.MarkCommands()
	here := env.Machine()
	c.Tree = here.Tree(env.Self())
	if !box.Hold(&c) {
		// In a user namespace sudo would not work. What is confined can have no such
		// rights anyway.
		c.Tree.NoUserNamespace = p.setsUser()
		// Root can read the memory of the init, which a fork has from us: what is
		// withheld from the command must not be found there.
		c.Tree.NoFork = os.Geteuid() == 0 && len(p.env.withheld) > 0
	}
	c.Tree.NoFork = c.Tree.NoFork || env.NoFork
	yield := b.yield()
	w := job.WaitFor{Input: yield > 0, Quiet: yield > 0 && p.until == nil, Until: p.until}
	if yield < 0 && !b.TTY && !b.Keep {
		c.Later = env.After
		s, err := job.Run(ctx, c, out)
		return endedState(s), err
	}
	if yield < 0 && b.TTY {
		yield = c.Timeout + time.Hour // only what would take input makes it a job
		w = job.WaitFor{Input: true, Ready: true}
	}
	spec := job.Spec{
		Command: c, Name: b.Description, Keep: b.Keep, Report: box.Report(), Held: held, Started: box.Started, OpenStdin: yield >= 0 && !b.fed(),
		Loose: !b.limited(), Later: time.Duration(env.Policy.Limits().TimeoutMS) * time.Millisecond,
	}
	if err := box.KeepGuard(env); err != nil {
		return commandState{}, err
	}
	reg := registry(env)
	if yield != 0 {
		info, j, err := reg.Run(ctx, spec, yield, w, out)
		if !info.Alive() {
			env.After(reg.Collect)
		}
		return jobState(info, j), err
	}
	j, err := reg.Start(ctx, spec)
	if err != nil {
		return commandState{}, err
	}
	// Whatever has become of it by now, it is a job and keeps its output.
	info, err := j.Info()
	info.State, info.ExitCode, info.Signal = job.Running, nil, ""
	return jobState(info, j), err
}

func (b *bashCall) meta(state *commandState, box *confine.Confinement, out *outputs) *bashMeta {
	p := b.prepared
	m := &bashMeta{
		commandState: *state, Command: b.text(), Description: b.Description, Cwd: p.dir.Real, Shell: p.shell.path,
		streamTexts: out.apart,
		Truncated:   out.cut.Truncated, TotalLines: out.cut.TotalLines, TotalBytes: out.cut.TotalBytes,
		SpillPath: out.cut.SpillPath, Incomplete: out.cut.Incomplete, Meta: box.Meta(), Withheld: p.env.withheld,
	}
	m.zeroBytes = out.zeros.n
	switch {
	case state.outputHeld:
		m.Incomplete = heldOutput
	case state.incomplete != "":
		m.Incomplete = state.incomplete
	}
	if state.Status == string(job.Failed) && state.Signal == "" && state.ExitCode != nil {
		decider := b.Argv
		if len(decider) == 0 {
			decider = shellparse.Decider(b.Command)
		}
		m.Meaning = exitMeaning(decider, *state.ExitCode)
	}
	return m
}

func (b *bashCall) title() string {
	if b.Description != "" {
		return b.Description
	}
	line, _, more := strings.Cut(strings.TrimSpace(b.text()), "\n")
	if runes := []rune(line); len(runes) > 80 {
		line, more = string(runes[:80]), true
	}
	if more {
		line += " …"
	}
	return line
}

// AppliedPatch is the patch that c would hand to the program apply_patch, and the
// directory that its paths count from, where c is a call of bash that does nothing
// else.
func AppliedPatch(c tool.Call) (dir, patch string, ok bool) {
	b, ok := c.(*bashCall)
	if !ok {
		return "", "", false
	}
	if len(b.Argv) > 0 {
		dir, patch, ok = shellparse.ApplyPatchArgv(b.Argv)
	} else if dir, patch, ok = shellparse.ApplyPatch(b.Command); !ok && readsHereStrings(b.Shell) {
		dir, patch, ok = shellparse.ApplyPatchPowerShell(b.Command)
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(b.Workdir, dir)
	}
	return dir, patch, ok
}

// readsHereStrings reports whether a command line goes to PowerShell, which is the usual
// shell of Windows, where the call names none.
func readsHereStrings(shell string) bool {
	if shell == "" {
		return runtime.GOOS == "windows"
	}
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(shell)), ".exe")
	return name == "pwsh" || name == "powershell"
}

// farewell has the command say where it ends, where that is wanted and can be known:
// of a command that outlives the call it cannot.
func (b *bashCall) farewell(o *outputs) *farewell {
	f, p := newFarewell(), b.prepared
	if !b.KeepWorkdir || b.yield() >= 0 || b.TTY || b.Keep || p.shell.path == "" || p.shell.kind == "powershell" || p.shell.kind == "cmd" {
		return f
	}
	p.argv = p.shell.argv(f.asked(b.Command), b.Login)
	f.to, o.Both = o.Both, f
	o.last = append(o.last, f)
	if o.out != nil {
		apart := &farewell{mark: f.mark, to: o.out}
		o.Stdout = apart
		o.last = append(o.last, apart)
	}
	return f
}
