// Package confine makes the sandbox of one call of bash: from the policy, the wall that a [Prefetch] has found in the root,
// and the accesses that the call was allowed. It gives back what the command was not to change, and says what it was refused.
package confine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agentkit-go/agentkit/pkg/gate"
	"github.com/agentkit-go/agentkit/pkg/job"
	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/steps"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/wall"
	"github.com/agentkit-go/agentkit/pkg/world"
)

// A Confinement is the sandbox of one command.
type Confinement struct {
	config *sandbox.Config // nil for none
	bytes  []byte          // config as the gatekeeper gets it
	dir    string          // where the command starts
	asked  *Questions
	// confiner starts the command, and knows what happened to it if it is ours
	confiner *sandbox.Confiner
	guard    *sandbox.Snapshot // of what is protected and the sandbox cannot hold
	release  func()            // of what is held of it for the case that we are killed
	holder   *policy.Policy    // knows what holds the command where config does not
	grants   grants
	Swept    []sandbox.Restore // what other commands had changed before
	later    json.RawMessage   // what finds out what has appeared, for whoever sees the end in our place
	Wall     *wall.Wall        // what of the root the policy keeps from the command
	moves    *moves            // see there
	loose    bool              // directories that hold secrets may be moved and removed
}

// Reports are the directories in which the sessions of this root keep what their commands
// are held to.
func Reports(env *tool.Env) []string { return sandbox.Reports(filepath.Dir(env.Session.Dir())) }

// A Command is one whose accesses were all allowed.
type Command struct {
	Needs []policy.Access
	Argv  []string // what is started
	Dir   string   // where
	Ends  bool     // within the call
	Kept  bool     // undo takes back all that it changes in the root
}

// New describes the sandbox of a command whose accesses were all allowed:
// the root, temporary directories and caches of tools can be written, what the
// policy protects cannot; secrets cannot be read; the network ends at this
// machine. What the call itself was allowed beyond that is added. Whoever can be
// asked about programs that the command starts hears of them by asked. What is held has to be let go, also after an error.
func New(env *tool.Env, p *Command, asked *Questions, ahead *Prefetch) (*Confinement, error) {
	c, needs := &Confinement{dir: p.Dir, asked: asked, holder: env.Policy}, p.Needs
	if ahead == nil {
		return c, nil
	}
	if asked.cloning = newCloning(needs, p.Argv, env.Workspace.Root()); asked.cloning.others() && !p.Ends { // a job's programs start when nobody is told
		asked.cloning = nil
	}
	var err error
	if c.Swept, err = sandbox.Sweep(Reports(env), gate.Found); err != nil {
		return c, fmt.Errorf("putting back what other commands changed: %w", err)
	}
	described := sync.OnceValues(func() (_ json.RawMessage, err error) {
		free, shared := world.Scratch(env)
		var keeper json.RawMessage
		if asked.Order != nil {
			if keeper, err = asked.Order(); err != nil {
				return nil, err
			}
		}
		return gate.New(env.Sources, env.Policy, needs, free, shared, p.Kept, keeper)
	})
	go func() { _, _ = described() }() // it is asked for again below
	var stale bool
	if c.moves, c.loose, stale, err = holdMoves(env, p.Ends && steps.OnlyMoves(needs) && movesSecrets(needs, ahead.Wall()), ahead.begun); err != nil {
		return c, err
	}
	if len(c.Swept) > 0 || stale || ahead.moving || ahead.Old() {
		ahead = NewPrefetch(env)
		ahead.Start()
	}
	root, home := env.Workspace.Root(), ahead.home
	cached, settings := makeCaches(ahead.caches(), home)
	cfg := &sandbox.Config{
		Root: root, Gate: true, Emptied: asked.Starts != nil || asked.Order != nil, Network: sandbox.Loopback,
		ReadWrite: append(slices.Clone(env.Temp), cached...),
		ReadOnly:  append(settings, env.Session.StateDir()),
		Hidden:    []string{env.Session.StateDir()},
		Private:   []string{env.Session.StateDir()},
		Covers:    filepath.Join(env.Session.StateDir(), "covers"),
	}
	c.Wall = ahead.Wall()
	if c.Wall.Enclosing != "" && mayWrite(env, root) {
		cfg.ReadWrite, cfg.Stays = append(cfg.ReadWrite, c.Wall.Enclosing), []string{c.Wall.Enclosing}
	}
	if env.Approver != "" {
		cfg.ReadOnly = append(cfg.ReadOnly, env.Approver)
	}
	cfg.Pinned = slices.Concat(cfg.ReadOnly, c.Wall.Pinned)
	cfg.ReadOnly, cfg.Watched, cfg.Hidden = append(cfg.ReadOnly, c.Wall.Fixed...), slices.Clip(c.Wall.Watched), append(cfg.Hidden, c.Wall.Hidden...)
	if cfg.ReadWrite = append(cfg.ReadWrite, c.Wall.Writable...); !c.Wall.Everything {
		cfg.Readable = slices.DeleteFunc(append(slices.Clone(c.Wall.Readable), env.Self()), func(p string) bool { return p == "" })
	}
	cfg.Listed = slices.Clone(c.Wall.Listed)
	cfg.Quarantine = env.Session.Path("quarantine")
	for _, path := range c.Wall.Hidden {
		if safefile.Below(root, path) && filepath.Dir(path) != root { // no build makes what lies right in the root
			cfg.Removable = append(cfg.Removable, path)
		}
	}
	if !c.loose {
		cfg.Moves = c.moves.file.Name()
	}
	// The decisions count on the level: less would be a silent fall-back.
	cfg.Minimum = sandbox.Level(env.Policy.Level())
	switch below := func(dir string) bool { return safefile.Below(dir, root) }; {
	case mayWrite(env, root):
	case cfg.Minimum < sandbox.L3 && slices.ContainsFunc(cfg.ReadWrite, below):
		cfg.ReadOnly = append(cfg.ReadOnly, root) // also where rules open a part of it: it lies in what can be written, and is put back as a whole
	default:
		cfg.Sealed = true
	}
	cfg.Limits = sandboxLimits(env.Policy.Limits())
	cfg.Hosts, cfg.Refused = env.Policy.Hosts()
	c.openSettings(cfg, needs)
	if len(cfg.Hosts) > 0 || env.Policy.AsksHosts() {
		cfg.Network = sandbox.Hosts
	}
	for i := range needs {
		c.extend(cfg, &needs[i], root, needs)
	}
	c.grants.open(cfg)
	cfg.Named = slices.DeleteFunc(slices.Clone(c.Wall.Named), func(dir string) bool {
		closes := func(path string) bool { return safefile.Below(dir, path) }
		goes := func(path string) bool { return safefile.Below(path, dir) }
		return !slices.ContainsFunc(cfg.ReadOnly, closes) || slices.ContainsFunc(c.Wall.Goes, goes)
	})
	if slices.ContainsFunc(needs, func(a policy.Access) bool { return a.Kind == policy.Net && a.Scheme == "ssh" && a.Opaque == "" }) {
		openSSH(cfg, env.Getenv("SSH_AUTH_SOCK"), home)
	}
	if env.Policy.OpenNetwork() {
		cfg.Network = sandbox.Open
	}
	cfg.SetUser = mayPlaceSetUser(env.Policy, needs)
	for _, name := range env.Policy.Restricted() {
		if path, ok := machine.LookPath(name, env.Getenv("PATH"), p.Dir); ok {
			cfg.Copies = append(cfg.Copies, machine.RealDir(path))
		}
	}
	if cfg.Share, err = env.Session.Mkdir("net"); err != nil {
		return c, err
	}
	reports, err := env.Session.Mkdir("sandbox")
	if err != nil {
		return c, err
	}
	cfg.Report = filepath.Join(reports, session.NewID("r"))
	c.Wall.Alone = func() bool { return sandbox.Alone(cfg.Report, root) }
	c.Wall.Cloned = asked.cloning.left()
	if c.later, err = gate.Watch(env.Sources, env.Policy, c.Wall, c.grants.opened, cfg.Report); err != nil {
		return c, fmt.Errorf("describing the sandbox: %w", err)
	}
	asked.cloning.begin(env.Policy, c.Wall)
	guarded := make(chan error, 1)
	snapshot := *cfg // the rest goes on changing
	go func() { guarded <- c.protect(env, &snapshot, env.Session.Path("quarantine")) }()
	if cfg.Policy, err = described(); err != nil {
		return c, errors.Join(fmt.Errorf("describing the sandbox: %w", err), <-guarded)
	}
	c.config = cfg
	if c.bytes, err = cfg.Confine(); err != nil {
		return c, errors.Join(err, <-guarded)
	}
	c.confiner = sandbox.NewConfiner(asked.Build(env), gate.Found).For(cfg)
	if !c.loose {
		c.confiner.Stands = c.moves.release
	}
	return c, <-guarded
}

// openSettings lets git change its settings as far as it then runs nothing for it, where the
// call is known to start git for more than to look, or what runs a project's scripts: those often set core.hooksPath
// to the value that it has. It is not for every call since each rename then waits for the gatekeeper.
func (c *Confinement) openSettings(cfg *sandbox.Config, needs []policy.Access) {
	git := func(a policy.Access) bool {
		return a.Kind == policy.Exec && a.Class != policy.ReadOnly && programs.Has("git npm pnpm yarn bun make", steps.Name(&a))
	}
	mayChange := func(path string) policy.Decision {
		return c.holder.Decide(&policy.Access{Kind: policy.Write, Tool: "bash", Path: path, Op: policy.Settings, File: policy.Regular})
	}
	dir := filepath.Join(cfg.Root, ".git")
	if !slices.ContainsFunc(needs, git) || mayChange(filepath.Join(dir, "config")).Verdict != policy.Allow { // what is said of the root's own counts wherever git keeps them
		return
	}
	dir = cmp.Or(c.Wall.Enclosing, dir)
	closed := func(path string) bool {
		d := mayChange(path)
		return d.Verdict == policy.Deny || d.Verdict == policy.Ask && (d.Layer != policy.BuiltIn || c.Wall.Enclosing == "") // in Enclosing git works unasked
	}
	for _, path := range cfg.ReadOnly {
		if own := path == filepath.Join(dir, "config"); (own || filepath.Base(path) == "config" && safefile.Below(filepath.Join(dir, "modules"), path)) && !closed(path) {
			if real, err := filepath.EvalSymlinks(path); own && err == nil && slices.Contains(cfg.ReadOnly, real) { // there git writes them
				path = real
			}
			cfg.Settings = append(cfg.Settings, path)
		}
	}
	if len(cfg.Settings) > 0 {
		cfg.Remotes = slices.DeleteFunc(slices.Clone(cfg.Hosts), func(host string) bool { return len(cfg.Refused) > 0 && strings.HasPrefix(host, "*") })
	}
}

// mayPlaceSetUser reports whether programs may be made that run with their owner's rights:
// the policy lets any chmod do so, or the call had it in its text.
func mayPlaceSetUser(p *policy.Policy, needs []policy.Access) bool {
	chmod := policy.Access{Kind: policy.Exec, Tool: "bash", Argv: []string{"chmod", "4755", "file"}, Class: policy.Known, Danger: programs.SetsUser}
	return p.Decide(&chmod).Verdict == policy.Allow ||
		slices.ContainsFunc(needs, func(a policy.Access) bool { return strings.Contains(a.Danger, programs.SetsUser) })
}

// Has reports whether a sandbox of at least that level holds the command.
func (c *Confinement) Has(level sandbox.Level) bool {
	return c.config != nil && c.config.Minimum >= level
}

// Hold has a command start in the sandbox; false without one.
func (c *Confinement) Hold(command *job.Command) bool {
	if c.config == nil {
		return false
	}
	tree := &command.Tree
	tree.Confine, tree.Confiner, command.Held = c.bytes, c.confiner, c.asked.waited
	tree.MaxProcesses, tree.MaxMemory = c.config.Limits.Processes, c.config.Limits.Total
	return true
}

// Started lets other calls go on, for which a command that has started closes nothing any more.
func (c *Confinement) Started() { c.moves.release() }

// Quiet waits until nothing changes any more in the view of the root, once the command has ended.
func (c *Confinement) Quiet() { c.confiner.Quiet() }

// Published are the ports that this machine's loopback answers at.
func (c *Confinement) Published() []int {
	if c.config == nil {
		return nil
	}
	return c.config.Publish
}

// Publish adds ports that this machine's loopback answers at.
func (c *Confinement) Publish(ports []int) error {
	if len(ports) == 0 {
		return nil
	}
	c.config.Publish = ports
	return c.again()
}

// View has the command see the root through an overlay, which lies in dir.
func (c *Confinement) View(dir string) error {
	c.config.View = dir
	// What git has of the root outside it is no part of the view.
	c.config.ReadWrite = slices.DeleteFunc(c.config.ReadWrite, func(p string) bool { return p == c.Wall.Enclosing })
	return c.again()
}

// again describes the sandbox once more, after a change of its configuration.
func (c *Confinement) again() (err error) {
	stands := c.confiner.Stands
	c.confiner = c.confiner.For(c.config)
	c.confiner.Stands = stands
	c.bytes, err = c.config.Confine()
	return err
}

// sandboxLimits are the policy's, and our own where it has none.
func sandboxLimits(l policy.Limits) sandbox.Limits {
	std := sandbox.DefaultLimits()
	return sandbox.Limits{Processes: cmp.Or(l.Processes, std.Processes), File: cmp.Or(int64(l.FileBytes), std.File), Memory: cmp.Or(int64(l.MemoryBytes), std.Memory), Total: cmp.Or(int64(l.TotalBytes), std.Total)}
}

// protect remembers what is protected.
func (c *Confinement) protect(env *tool.Env, cfg *sandbox.Config, quarantine string) (err error) {
	beside := map[string]*sandbox.Snapshot{}
	sandbox.Beside(cfg.Report, beside)
	if c.guard, err = cfg.Snapshot(cfg.Minimum); err == nil {
		sandbox.Beside(cfg.Report, beside) // also those that have begun meanwhile
		var forgotten []string
		if forgotten, err = c.guard.Inherit(maps.Values(beside), gate.Found); len(forgotten) > 0 && err == nil {
			c.Wall.Forget(forgotten)
			c.later, err = gate.Watch(env.Sources, env.Policy, c.Wall, c.grants.opened, cfg.Report)
		}
	}
	if err == nil {
		c.guard.Later = c.later
		c.release, err = c.guard.Hold(cfg.Report, quarantine)
	}
	return err
}

// LeaveMade leaves the files that were made for the command: as a job it may still fill them.
func (c *Confinement) LeaveMade() {
	if c != nil {
		c.grants.made = nil
	}
}

// Release forgets what was remembered in case that this process is killed.
func (c *Confinement) Release() {
	if c != nil {
		c.grants.undo()
		c.moves.release()
	}
	if c != nil && c.release != nil {
		c.release()
	}
}

// KeepGuard leaves the snapshot to whoever sees the end of the job.
func (c *Confinement) KeepGuard(env *tool.Env) error {
	if c.config == nil {
		return nil
	}
	return c.guard.Keep(c.config.Report, env.Session.Path("quarantine"))
}

// Report is the file of the sandbox's report; "" without a sandbox.
func (c *Confinement) Report() string {
	if c.config == nil {
		return ""
	}
	return c.config.Report
}

// Meta is what held the command, as its gatekeeper knows it.
func (c *Confinement) Meta() Meta {
	if r := c.confiner.Report(); r != nil {
		return reported(r)
	}
	return sandboxOf(c.Report()).Or(c.holder)
}

// MayHideFailure reports whether one of the programs that a command starts can fail
// without the command's status telling, as in make | tail. What only reads has
// nothing to be refused, and may show somebody else's errors.
func MayHideFailure(needs []policy.Access) bool {
	return slices.ContainsFunc(needs, func(a policy.Access) bool {
		return a.Kind == policy.Exec && !a.Builtin && a.Class != policy.ReadOnly
	})
}

// Finish puts back what the command changed of the protected files and finds out
// what it was refused, into what is told about it. What it printed is looked at
// where explain is set.
func (c *Confinement) Finish(env *tool.Env, needs []policy.Access, m *Meta, explain bool, output string) {
	if c.config == nil || m.Detail == nil {
		return
	}
	m.Detail.Quarantined = append(m.Detail.Quarantined, c.Swept...)
	if c.guard != nil {
		beside := c.grants.undo()
		c.Wall.Cloned = c.asked.cloning.left()
		back, moved := c.guard.Return()
		found := gate.InRoot(c.Wall.Found())
		found.Appeared = append(found.Appeared, beside...)
		list, err := c.guard.Restore(env.Session.Path("quarantine"), found)
		for i := range list {
			if r := &list[i]; slices.Contains(beside, r.Path) && !env.Policy.Protects(r.Path) {
				r.Why = "the call was allowed to make something else there, not this"
			}
		}
		m.Detail.Quarantined = append(append(m.Detail.Quarantined, back...), list...)
		if err = errors.Join(moved, err); err != nil {
			m.notPutBack(err)
		}
		if c.asked.cloning == nil {
			m.LookForCopies(env.Workspace.Root())
		}
	}
	m.Detail.Beyond = c.Wall.Beyond
	for _, dir := range c.Wall.Unseen {
		m.Detail.Beyond = append(m.Detail.Beyond, dir+": a rule opens it, and it holds too much to look through for what commands may not read")
	}
	// That names were looked up says less than a message that has the name.
	other := func(d sandbox.Denial) bool {
		return d.Kind != sandbox.DeniedConnect || !strings.HasSuffix(d.Path, ":53")
	}
	if explain && !slices.ContainsFunc(m.Detail.Denials, other) {
		c.config.Level = m.Detail.Level
		if list := c.config.Explain(output, c.dir); len(list) > 0 {
			m.Detail.Denials = list
		}
	}
	for i := range m.Detail.Denials {
		d := &m.Detail.Denials[i]
		if d.Kind == sandbox.DeniedRead && d.Allow != "" && slices.ContainsFunc(needs, func(a policy.Access) bool { return a.Kind == policy.Write && a.Path == d.Path }) {
			d.Kind, d.Why, d.Allow = sandbox.DeniedWrite, "it lies outside what commands may write", "edit("+d.Path+")"
		}
		if read := (policy.Access{Kind: policy.Read, Tool: "bash", Path: d.Path, File: policy.Regular}); d.Kind == sandbox.DeniedRead && d.Allow == "" {
			switch by := env.Policy.Decide(&read); {
			case by.Verdict != policy.Allow && by.File != "":
				d.Why = fmt.Sprintf("%s, %s:%d, hides it from commands", by.Rule, by.File, by.Line)
			case by.Verdict == policy.Ask:
				d.Why = "it may hold secrets, and is hidden from commands unless a rule of the policy names it"
			}
		}
		if redirect(d, env.Getenv("HOME")) {
			continue
		}
		a := policy.Access{Kind: policy.Write, Tool: "bash", Path: d.Path, Op: policy.Change, File: policy.Regular}
		allowed := d.Kind == sandbox.DeniedWrite && env.Policy.Decide(&a).Verdict == policy.Allow
		switch dir := c.grants.shutAbove(d.Path); {
		case allowed && dir != "":
			d.Why, d.Allow = "its directory has more in it than can be closed one by one, so it was not opened", "edit("+filepath.Join(dir, "**")+")"
			continue
		case allowed && d.Allow != "", d.Kind == sandbox.DeniedWrite && c.grants.notMade(d.Path):
			d.Why, d.Allow = "without mounts, what is not there yet is opened to the only program of a call, where it is known what that does; make it with a call of its own", ""
			continue
		}
		if d.Kind != sandbox.DeniedWrite || d.Allow != "" || env.Policy.Decide(&a).Verdict != policy.Ask {
			continue
		}
		if rules := env.Policy.Suggest([]policy.Access{a}); len(rules) > 0 {
			d.Allow = rules[0]
		}
	}
}

// Failure is the error for a sandbox that could not be made; nil when it was.
func (c *Confinement) Failure(env *tool.Env) error {
	if c.config == nil {
		return nil
	}
	r, err := sandbox.ReadReport(c.config.Report)
	if err != nil || r.Failed == "" {
		return nil
	}
	if strings.HasPrefix(r.Failed, sandbox.ErrLevel.Error()) {
		machine.Forget(env.Session.StateDir())
		return tool.Errorf(tool.Unsupported, "the sandbox could not be made: %s", r.Failed).
			WithHint("nothing was run, because the call was decided for that level; repeat it, and it is decided for what the machine offers now")
	}
	return tool.Errorf(tool.Unsupported, "the sandbox could not be made: %s", r.Failed).
		WithHint("nothing was run; agentkit doctor says what this machine offers, and whoever may decide can use --sandbox off")
}

// Forget removes a report that nobody will read again; what stays, gc takes.
func (c *Confinement) Forget() {
	if c.config != nil {
		sandbox.Forget(c.config.Report)
	}
}

// mayWrite reports whether the policy lets commands write in the root.
func mayWrite(env *tool.Env, root string) bool {
	a := policy.Access{Kind: policy.Write, Tool: "bash", Path: filepath.Join(root, "file"), Op: policy.Create, File: policy.Missing}
	return env.Policy.Decide(&a).Verdict != policy.Deny
}

// extend adds what the call was allowed beyond the usual.
func (c *Confinement) extend(cfg *sandbox.Config, a *policy.Access, root string, needs []policy.Access) {
	switch {
	case a.Opaque != "", a.Op == policy.Settings && safefile.Below(root, a.Path): // see openSettings
	case a.Kind == policy.Write && a.Path != "":
		// Of a tree each file has its own decision, unless a yes was given for all of it.
		whole := a.Tree && !(a.Each && a.Below && !safefile.Below(root, a.Path)) && c.holder.Decide(a).Verdict != policy.Allow
		cfg.ReadOnly = slices.DeleteFunc(cfg.ReadOnly, func(p string) bool {
			return (safefile.Below(p, a.Path) && p != root && !c.led(p, a) || whole && safefile.Below(a.Path, p)) && !c.holder.Keeps(p)
		})
		if a.Op == policy.Delete && a.Tree && !a.Below && a.Names == "" && a.Path != root {
			goesWith(cfg, a.Path)
		}
		if unhides := removes(needs) && c.loose; unhides || a.Op != policy.Delete && steps.ShowsNothing(needs) { // who may remove a secret may not read it
			cfg.Hidden = slices.DeleteFunc(cfg.Hidden, func(p string) bool {
				return safefile.Below(p, a.Path) && p != root && !c.led(p, a) || (whole || unhides && a.Tree) && safefile.Below(a.Path, p)
			})
		}
		if a.Op == policy.Delete && c.loose {
			cfg.Pinned = slices.DeleteFunc(cfg.Pinned, func(p string) bool { return safefile.Below(a.Path, p) })
		}
		if safefile.Below(root, a.Path) {
			keepsName := func(dir string) bool { return safefile.Below(dir, a.Path) }
			switch given := c.holder.Decide(a).Verdict != policy.Allow; { // a yes was given for it
			case a.Guess:
			case a.Op == policy.Delete && (given || slices.ContainsFunc(c.Wall.Named, keepsName)): // or a rule, for nothing else would allow that
				c.Wall.Goes = append(c.Wall.Goes, a.Path)
			case given && a.Op != policy.Delete:
				c.Wall.Granted = append(c.Wall.Granted, wall.Grant{Path: a.Path, Tree: a.Tree})
			}
			if !cfg.Sealed {
				return
			}
		}
		cfg.Granted = append(cfg.Granted, a.Path)
		c.grants.grant(cfg, a, needs)
	case a.Kind == policy.Exec && cfg.Readable != nil && isFile(a.Program):
		cfg.Readable = append(cfg.Readable, a.Program)
	case a.Kind == policy.Read && a.Path != "":
		cfg.Granted = append(cfg.Granted, a.Path)
		switch {
		case cfg.Readable == nil || a.File == policy.Missing:
		case a.File == policy.Dir && !a.Tree:
			cfg.Listed = append(cfg.Listed, a.Path)
		default:
			cfg.Readable = append(cfg.Readable, a.Path)
		}
		cfg.Hidden = slices.DeleteFunc(cfg.Hidden, func(p string) bool { return safefile.Below(p, a.Path) && !c.led(p, a) })
	case a.Address() != "":
		if cfg.Network == sandbox.Loopback {
			cfg.Network = sandbox.Hosts
		}
		cfg.Hosts = append(cfg.Hosts, a.Address())
	}
}

// led reports whether a path is closed by a name that a link gives it, where an access was allowed, unasked, by another name.
func (c *Confinement) led(path string, a *policy.Access) bool {
	return c.Wall.Name(path) != "" && c.holder.Decide(a).Verdict == policy.Allow
}

// goesWith lets what is protected go together with the repository in dir that it is a part of,
// where dir goes as a whole: what is changed of it in its place is put back at the end.
func goesWith(cfg *sandbox.Config, dir string) {
	cfg.ReadOnly = slices.DeleteFunc(slices.Clone(cfg.ReadOnly), func(p string) bool {
		for up := filepath.Dir(p); safefile.Below(dir, up); up = filepath.Dir(up) {
			if up == dir && filepath.Base(up) == ".git" || safefile.Exists(filepath.Join(up, ".git")) {
				cfg.Watched = append(cfg.Watched, p)
				return true
			}
		}
		return false
	})
}

// openSSH gives a command that was allowed to reach a host by ssh what it needs to
// know the host and to be known: the settings, the known hosts and public keys, and the
// agent. Private keys stay hidden.
func openSSH(cfg *sandbox.Config, agent, home string) {
	if agent = machine.RealDir(agent); agent != "" {
		cfg.Sockets = append(cfg.Sockets, agent)
	}
	dir := machine.RealDir(filepath.Join(home, ".ssh"))
	i := slices.Index(cfg.Hidden, dir)
	entries, err := os.ReadDir(dir)
	if i < 0 || err != nil {
		return
	}
	cfg.Hidden = slices.Delete(cfg.Hidden, i, i+1)
	if cfg.Readable != nil {
		cfg.Readable = append(cfg.Readable, dir)
	}
	for _, e := range entries {
		if name := e.Name(); name != "config" && !strings.HasPrefix(name, "known_hosts") && !strings.HasSuffix(name, ".pub") {
			cfg.Hidden = append(cfg.Hidden, filepath.Join(dir, name))
		}
	}
}
