package policy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// Suggest returns the rules that let the same call pass when they are granted
// with --allow, narrowest first; the accesses are those of one call. It
// returns nothing when no rule that one should keep can do that: the call
// runs a shell, an interpreter or a wrapper, has words that are not known
// before it runs, is dangerous or opaque, or starts a program from the root.
func (p *Policy) Suggest(accesses []Access) []string {
	return p.suggest(accesses, ruleSpec{list: Allow, layer: CommandLine, grant: true})
}

// Always returns those of the suggestions that also do it when they stand in
// the user's file: no rule there lifts an ask rule.
func (p *Policy) Always(accesses []Access) []string {
	return p.suggest(accesses, ruleSpec{list: Allow, layer: User})
}

// Narrowest returns those of the suggestions that let the call pass together:
// for each access that is not allowed the narrowest one.
func (p *Policy) Narrowest(accesses []Access) []string {
	exact, _ := p.suggestions(accesses, ruleSpec{list: Allow, layer: CommandLine, grant: true})
	return exact
}

func (p *Policy) suggest(accesses []Access, as ruleSpec) []string {
	exact, wide := p.suggestions(accesses, as)
	return unique(append(exact, wide...))
}

func (p *Policy) suggestions(accesses []Access, as ruleSpec) (exact, wide []string) {
	for i := range accesses {
		a := &accesses[i]
		if p.Decide(a).Verdict == Allow {
			continue
		}
		rules := p.suggestOne(a, as)
		if len(rules) == 0 {
			return nil, nil
		}
		exact = append(exact, rules[0])
		wide = append(wide, rules[1:]...)
	}
	return unique(exact), wide
}

func unique(list []string) (out []string) {
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// suggestOne returns rules for one access, narrowest first, each checked to
// make it allowed.
func (p *Policy) suggestOne(a *Access, as ruleSpec) (rules []string) {
	if a.Opaque != "" {
		return nil
	}
	var candidates []string
	switch a.Kind {
	case Exec:
		candidates = p.suggestProgram(a)
	case Read:
		candidates = []string{"read(" + p.shortPath(a) + ")"}
	case Write:
		candidates = []string{"edit(" + p.shortPath(a) + ")"}
	case Net:
		candidates = p.suggestNet(a)
	case Tool:
		candidates = []string{a.Tool}
		if a.Tool == PublishTool {
			candidates = []string{PublishTool + "(" + a.Name + ")"}
		}
	}
	for _, text := range candidates {
		if as.text = text; p.wouldAllow(a, as) {
			rules = append(rules, text)
		}
	}
	return rules
}

// wouldAllow reports whether the access passes with one rule more.
func (p *Policy) wouldAllow(a *Access, s ruleSpec) bool {
	r, err := p.compile(s)
	if err != nil {
		return false
	}
	q := *p
	q.all, q.rules = append(slices.Clip(p.all), r), ruleIndex{}
	q.index()
	return q.Decide(a).Verdict == Allow
}

func (p *Policy) suggestProgram(a *Access) []string {
	if a.Danger != "" || len(a.Argv) == 0 || slices.Contains(a.Dynamic, true) {
		return nil
	}
	for _, name := range [...]string{a.Argv[0], a.Program} {
		if name != "" && roleOf(name) != programs.NoRole {
			return nil
		}
	}
	var f facts
	if p.programFacts(a, &f); !f.trusted || isRunner(a.Argv) {
		return nil
	}
	rules := []string{"bash(" + quoteWords(a.Argv) + ")"}
	if n, known := commandWords(a.Argv); known && n <= len(a.Argv) && !slices.ContainsFunc(a.Argv[1:n], isOption) {
		rules = append(rules, "bash("+quoteWords(a.Argv[:n])+" *)")
	}
	return rules
}

// shortPath writes a path as a pattern: below the root, below the home, or whole.
func (p *Policy) shortPath(a *Access) string {
	name := slashed(a.Path)
	switch {
	case name == p.root:
		name = "."
	case safefile.Below(p.root, name):
		name = escapeGlob(strings.TrimPrefix(name[len(p.root):], "/"))
	case p.home != "" && safefile.Below(p.home, name) && name != p.home:
		name = "~/" + escapeGlob(strings.TrimPrefix(name[len(p.home):], "/"))
	default:
		name = escapeGlob(name)
	}
	if a.Tree || a.File == Dir && a.Kind == Read {
		return strings.TrimSuffix(name, "/") + "/**"
	}
	return name
}

// suggestNet returns rules for a host; for what publishes there, rules that name
// the command.
func (p *Policy) suggestNet(a *Access) []string {
	if a.Publishes && a.Tool == commandTool {
		return p.suggestProgram(&Access{Kind: Exec, Tool: commandTool, Argv: a.Argv, Dynamic: a.Dynamic, Program: a.Program})
	}
	list := suggestHost(a)
	if packages := p.preset("packages"); a.Tool == commandTool && packages.matchHost(parseHostOnly(a)) {
		list = append(list, "net(packages)")
	}
	return list
}

func parseHostOnly(a *Access) string {
	t := parseTarget(a)
	return t.host.name
}

func suggestHost(a *Access) []string {
	t := parseTarget(a)
	if t.bad != "" || t.host.name == "" {
		return nil
	}
	host := t.host.name
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	port := ""
	if t.explicit {
		port = ":" + strconv.Itoa(t.port)
	}
	switch {
	case a.Tool == commandTool && slices.Contains(usualPorts(), t.port):
		return []string{"net(" + host + ")"}
	case a.Tool == commandTool:
		return []string{"net(" + host + port + ")"}
	case a.Tool == "websearch":
		return []string{"websearch"}
	case t.url && !t.strange:
		return []string{"fetch(" + t.scheme + "://" + host + port + "/" + escapeGlob(t.path) + ")", "fetch(domain:" + host + port + ")"}
	}
	return []string{"fetch(domain:" + host + port + ")"}
}

// A Request is what a caller shows when it asks a person: what is wanted, and
// the rules that would end the asking.
type Request struct {
	ID         string         `json:"id" doc:"what agentkit policy approve takes"`
	SessionID  string         `json:"session_id,omitempty" doc:"the caller's session"`
	Permission string         `json:"permission" doc:"the tool whose rules are asked: bash, read, edit, fetch …"`
	Patterns   []string       `json:"patterns" doc:"what exactly is wanted, as rule patterns"`
	Always     []string       `json:"always" doc:"rules to keep, narrowest first"`
	Metadata   map[string]any `json:"metadata" doc:"what the tool tells of the call: command, description, cwd, diff …; and level, where, why and accesses that are asked about"`
	Rule       string         `json:"rule" doc:"what asks"`
}

// Request makes the request for an outcome that asks. Its metadata names the
// accesses asked about and the places that ask.
func (p *Policy) Request(id, session string, o *Outcome) Request {
	by := o.Deciding()
	r := Request{ID: id, SessionID: session, Rule: by.Rule, Patterns: []string{}, Always: []string{}, Metadata: map[string]any{}}
	var asked []AccessReport
	report := p.Report(o)
	for i := range o.Accesses {
		if o.Decisions[i].Verdict == Allow {
			continue
		}
		asked = append(asked, report.Accesses[i])
		r.Patterns = append(r.Patterns, p.pattern(&o.Accesses[i]))
	}
	if o.By >= 0 {
		r.Permission = permission(&o.Accesses[o.By])
	}
	r.Always = append(r.Always, p.Always(o.Accesses)...)
	r.Metadata["accesses"], r.Metadata["level"] = asked, report.Level
	r.Metadata["where"], r.Metadata["why"] = by.Where(), by.Why
	return r
}

// permission is the tool that a rule about the access names.
func permission(a *Access) string {
	switch a.Kind {
	case Exec, Env:
		return commandTool
	case Read:
		return "read"
	case Write:
		return "edit"
	case Net:
		if a.Tool == commandTool {
			return "net"
		}
	}
	return a.Tool
}

// pattern is the access itself, as the pattern of a rule about it alone.
func (p *Policy) pattern(a *Access) string {
	switch {
	case (a.Kind == Read || a.Kind == Write) && a.Path != "":
		return p.shortPath(a)
	case a.Kind == Net:
		if rules := suggestHost(a); len(rules) > 0 {
			_, pattern, _, _ := splitRule(rules[0])
			return orElse(pattern, a.Host)
		}
	}
	return Subject(a)
}
