package policy

import (
	"maps"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A Policy decides. It never changes after Load, so any number of goroutines
// may share it. A nil Policy denies everything.
type Policy struct {
	world
	level    int
	sandbox  string // auto, require or off
	noShell  bool   // profile argv
	settings [cells]setting
	rules    ruleIndex
	writes   func() *guardIndex
	reads    func() *guardIndex
	hard     []string // folded directories that are never written: state, policies
	kept     []string // see Sources
	inKept   []string // the same, folded
	all      []*rule  // every rule in force, for lint and listing
	asleep   []*rule  // allow rules of an untrusted project file
	limits   Limits
	undo     Undo
	env      Environment
	files    []File
	state    string // the folded directory of session state; "" for none

	rulesHash string // of the rules and settings alone: what approvals are bound to
	basis     string // of these without what the command line and the session allow
	allow     []string
	hash      string // of everything
}

// A ruleIndex finds the rules that may match an access.
type ruleIndex struct {
	programs map[string][]*rule // by the program's name
	anyProg  []*rule
	read     []*rule
	write    []*rule
	net      []*rule
	env      []*rule
	tool     []*rule
}

// Decide answers for one access. It takes microseconds and touches nothing, but
// for what Sources.Committed looks at when a file has the name of a secret.
func (p *Policy) Decide(a *Access) Decision {
	if p == nil {
		return Decision{Verdict: Deny, Rule: "no policy", Why: "the policy did not load"}
	}
	switch a.Kind {
	case Exec:
		return p.decideExec(a)
	case Read, Write:
		d := p.decideFile(a)
		if a.Kind == Read && a.Guess && d.Verdict == Deny {
			d.Verdict = Ask // nothing says that it will be read
		}
		return d
	case Net:
		return p.decideNet(a)
	case Env:
		f := facts{known: p.Holds()}
		return p.settle(p.scan(p.rules.env, a, &f, found{}), &p.settings[setEnv], a.Opaque)
	case Tool:
		f := facts{}
		def := &p.settings[useTool]
		if a.Tool == PublishTool {
			def = &p.settings[portPublish]
		}
		if a.Opaque != "" {
			def = p.atLeastAsk(def, a.Opaque)
		}
		return p.settle(p.scan(p.rules.tool, a, &f, found{}), def, a.Opaque)
	}
	return Decision{Verdict: Deny, Rule: "unknown kind of access", Why: "nothing is known about " + string(a.Kind)}
}

// Blind reports whether an access passes though its text does not tell what it
// does, and no rule speaks of it: because something is counted on that holds it.
func (p *Policy) Blind(a *Access) bool {
	if a.Kind == Exec {
		var f facts
		p.programFacts(a, &f)
		if c, _ := p.execCell(a, &f); c != runUnknown {
			return false
		}
	} else if a.Opaque == "" && a.Kind != Env {
		return false
	}
	d := p.Decide(a)
	return d.Verdict == Allow && (d.Default || d.Rule == sandboxedRule)
}

// sandboxedRule allows what the sandbox holds.
const sandboxedRule = commandTool + "(sandboxed)"

// DecideAll answers for a call: the strictest of its accesses' decisions.
func (p *Policy) DecideAll(accesses []Access) Outcome {
	o := Outcome{Verdict: Allow, By: -1, Accesses: accesses, Decisions: make([]Decision, len(accesses))}
	for i := range accesses {
		o.Decisions[i] = p.Decide(&accesses[i])
		if v := o.Decisions[i].Verdict; o.By < 0 || v < o.Verdict {
			o.Verdict, o.By = v, i
		}
	}
	return o
}

// ExecFacts is what a caller knows of a program start besides its words.
type ExecFacts struct {
	Class  Class
	Danger string
	Opaque string
}

// DecideExec answers for one program start, as seen when it happens: program is
// absolute and resolved, argv is final. cwd makes a relative argv[0] absolute.
// Decision.Default tells that no rule spoke, so that a gate may let the
// children of an allowed command run.
func (p *Policy) DecideExec(program string, argv []string, cwd string, f ExecFacts) Decision {
	a := Access{Kind: Exec, Tool: commandTool, Argv: argv, Program: program, Class: f.Class, Danger: f.Danger, Opaque: f.Opaque}
	if len(argv) == 0 {
		a.Argv = []string{program}
	} else if name := slashed(argv[0]); cwd != "" && strings.Contains(name, "/") && name[0] != '/' && !isDrive(name) {
		a.Argv = append([]string{path.Join(slashed(cwd), name)}, argv[1:]...)
	}
	return p.Decide(&a)
}

// found is what the rules say about an access.
type found struct {
	deny, doubt, ask *rule // doubt: a deny rule that may match
	allow            *rule
	asks             tri // whether ask matches, or only may
}

// scan asks the rules of a list, which stands sorted by verdict and layer.
func (p *Policy) scan(list []*rule, a *Access, f *facts, got found) found {
	for _, r := range list {
		switch {
		case r.list == Allow:
			if (got.allow == nil || !got.allow.grant && r.grant) && r.allows(a, f) {
				got.allow = r
			}
		case r.list == Deny && got.deny == nil:
			switch r.matches(a, f) {
			case yes:
				got.deny = r
				return got
			case maybe:
				got.doubt = r
			}
		case r.list == Ask && got.asks != yes:
			if m := r.matches(a, f); m > got.asks {
				got.ask, got.asks = r, m
			}
		}
	}
	return got
}

// settle turns what the rules say into a decision; def decides where they say
// nothing, and opaque says why no allow rule counts.
func (p *Policy) settle(got found, def *setting, opaque string) Decision {
	switch {
	case got.deny != nil:
		return got.deny.decision(got.deny.why)
	case def.verdict == Deny && !(got.allow != nil && def.lifts(got.allow)):
		if got.ask != nil && opaque == "" {
			return def.decision(got.ask.text + " would ask, but lifts nothing that is denied without it")
		}
		return def.decision(why(def, opaque))
	case got.doubt != nil:
		d := got.doubt.decision("a part that is not known before it runs could match this deny rule")
		d.Verdict, d.Doubt = Ask, true
		return d
	case got.ask != nil && !(got.allow != nil && got.allow.grant):
		if got.asks == maybe {
			return got.ask.decision("a part that is not known before it runs could match this ask rule")
		}
		return got.ask.decision(got.ask.why)
	case got.allow != nil:
		return got.allow.decision(got.allow.why)
	}
	return def.decision(why(def, opaque))
}

func (r *rule) decision(why string) Decision {
	return Decision{Verdict: r.list, Rule: r.text, File: r.file, Line: r.line, Layer: r.layer, Why: why, Reason: r.reason}
}

func why(def *setting, opaque string) string {
	switch {
	case opaque != "":
		return opaque
	case def.why != "":
		return def.why
	case def.layer == BuiltIn:
		return "no rule matches"
	}
	return "no rule matches, and the policy sets this"
}

// decideExec answers for a program.
func (p *Policy) decideExec(a *Access) Decision {
	var f facts
	p.programFacts(a, &f)
	switch {
	case p.sandbox == "require" && p.level < 2:
		return Decision{Verdict: Deny, Rule: "sandbox: require", Why: "this machine offers no sandbox of level 2"}
	case p.noShell && (isShell(f.name) || isShell(f.base)):
		return Decision{Verdict: Deny, Rule: "profile argv: no shell", Why: "a shell runs whatever its argument says"}
	}
	return p.decideProgram(a, &f)
}

// decideProgram is what the rules say about a program, and the profile where
// they say nothing.
func (p *Policy) decideProgram(a *Access, f *facts) Decision {
	got := p.scan(p.rules.anyProg, a, f, found{})
	if len(a.Dynamic) > 0 && a.Dynamic[0] || len(a.Argv) == 0 {
		for _, name := range slices.Sorted(maps.Keys(p.rules.programs)) { // any of them may be meant; the first is named
			if next := p.scan(p.rules.programs[name], a, f, found{}); got.doubt == nil {
				got.doubt = orRule(next.doubt, next.deny)
			}
		}
	} else {
		got = p.scanProgram(f.name, a, f, got)
		if f.base != f.name {
			got = p.scanProgram(f.base, a, f, got)
		}
		if f.argv != nil {
			if usual := programName(f.argv[0]); usual != f.name && usual != f.base {
				got = p.scanProgram(usual, a, f, got)
			}
		}
	}
	c, opaque := p.execCell(a, f)
	return p.settle(got, &p.settings[c], opaque)
}

func orRule(a, b *rule) *rule {
	if a != nil {
		return a
	}
	return b
}

func (p *Policy) scanProgram(name string, a *Access, f *facts, got found) found {
	if name == "" || got.deny != nil {
		return got
	}
	return p.scan(p.rules.programs[name], a, f, got)
}

// mayChangeModes reports whether a danger is that modes are changed in the workspace, of which the sandbox keeps what is protected. Where
// it closes that, what changes the modes of all fails on the way.
func (p *Policy) mayChangeModes(danger string) bool {
	all, is := programs.ChangesModes(danger)
	return is && p.Holds() && !(all && p.closes())
}

// execCell says which row of the profile table a program belongs to, and why
// where that needs saying.
func (p *Policy) execCell(a *Access, f *facts) (c cell, why string) {
	switch {
	case a.Danger != "" && !p.mayChangeModes(a.Danger):
		return runDangerous, a.Danger
	case a.Opaque != "":
		return runUnknown, a.Opaque
	case !f.trusted && a.Class != Unknown:
		return runUnknown, "the program lies in no trusted directory"
	case a.Class == ReadOnly:
		return runReadOnly, ""
	case a.Class == Known:
		return runKnown, ""
	}
	return runUnknown, ""
}

func (p *Policy) programFacts(a *Access, f *facts) {
	f.path = slashed(a.Program)
	if len(a.Argv) > 0 {
		called := slashed(a.Argv[0])
		f.name = programName(called)
		f.slash = strings.Contains(called, "/")
		f.named = f.slash && p.trusts(called)
	}
	switch {
	case f.path != "":
		f.base = programName(f.path)
		f.trusted = p.trusts(f.path)
	case a.Builtin:
		f.base, f.trusted = f.name, true
	default:
		// What is not found cannot run; what is called by a path may appear.
		f.base, f.trusted = f.name, !f.slash
	}
	f.known = p.Holds()
	f.argv, f.dynamic = canonical(a.Argv, a.Dynamic)
}

// trusts reports whether a program lies in a trusted directory, and not in
// the root or a temporary directory. A root that is that of the file system holds
// every program.
func (w *world) trusts(prog string) bool {
	if w.root != "/" && holds(w.root, prog) || w.inTemp(prog, false) || foldsCase && slices.ContainsFunc(w.temp, func(dir string) bool { return holds(dir, prog) }) {
		return false
	}
	return slices.ContainsFunc(w.trusted, func(dir string) bool { return holds(dir, prog) })
}

// holds is within for the paths of programs, which PATH may spell in another
// case than their directories do.
func holds(dir, prog string) bool {
	return safefile.Below(dir, prog) || foldsCase && safefile.Below(strings.ToLower(dir), strings.ToLower(prog))
}

// decideNet answers for a host.
func (p *Policy) decideNet(a *Access) Decision {
	f := facts{target: parseTarget(a)}
	t := &f.target
	switch {
	case t.bad != "":
		return Decision{Verdict: Deny, Rule: "address", Why: t.bad}
	case a.Tool != commandTool && t.scheme != "" && t.scheme != "http" && t.scheme != "https":
		return Decision{Verdict: Deny, Rule: "address", Why: "only http and https are fetched"}
	case t.host.isMetadata():
		return Decision{Verdict: Deny, Rule: "metadata services", Why: "the address hands out credentials"}
	}
	private, whose := t.host.isPrivate(), "the host is not on the public network"
	if a.Addr != "" {
		addr, err := netip.ParseAddr(a.Addr)
		switch at := Address(addr); {
		case err != nil || at == AtMetadata:
			return Decision{Verdict: Deny, Rule: "metadata services", Why: "the host leads to " + a.Addr + ", which hands out credentials"}
		case at == AtLoopback:
			private, whose = true, "the host leads to "+a.Addr+", which is this machine itself"
		case at == AtHome:
			private, whose = true, "the host leads to "+a.Addr+", which is not on the public network"
		}
	}
	got := p.scan(p.rules.net, a, &f, found{})
	c, opaque := netCommand, a.Opaque
	switch {
	case a.Tool == commandTool && t.host.isLoopback() && p.Holds():
		return p.settle(got, &p.settings[netLoopback], "") // whatever is not known of it, others are out of reach
	case a.Tool == commandTool && a.Publishes:
		c, opaque = netPublish, "it changes something there, and no rule names the command"
		got.allow = p.namedBy(a)
	case a.Tool == commandTool:
		if len(a.Argv) > 0 { // no rule could name the host
			got.allow = orRule(got.allow, p.namedBy(a))
		}
	case t.host.name == "" || !private:
		c = netPublic
	default:
		c, opaque = netPrivate, whose
		if got.allow != nil && !(got.allow.url != nil && got.allow.url.exact && got.allow.url.host == t.host.name) {
			got.allow = nil // a wildcard never means a host at home
		}
	}
	return p.settle(got, p.atLeastAsk(&p.settings[c], a.Opaque), opaque)
}

// namedBy is a rule that allows the command which publishes, or whose settings say where
// it goes: its words name the program, and what it is to do where that is to publish.
func (p *Policy) namedBy(a *Access) *rule {
	e := Access{Kind: Exec, Tool: commandTool, Argv: a.Argv, Dynamic: a.Dynamic, Program: a.Program}
	if len(e.Argv) == 0 {
		return nil
	}
	var f facts
	p.programFacts(&e, &f)
	n, known := commandWords(e.Argv)
	if !known || !a.Publishes {
		n = 1
	}
	for _, name := range []string{f.name, f.base} {
		for _, r := range p.rules.programs[name] {
			if r.list == Allow && len(r.words) >= n && literalWords(r.words[:n]) && r.allows(&e, &f) {
				return r
			}
		}
	}
	return nil
}

// atLeastAsk keeps a setting from allowing what is not known.
func (p *Policy) atLeastAsk(s *setting, opaque string) *setting {
	if opaque == "" || s.verdict != Allow {
		return s
	}
	next := *s
	next.verdict = Ask
	return &next
}
