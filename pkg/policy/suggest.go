package policy

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A Suggestion is a set of rules that let a call pass when they are granted
// together, as one answer of a person's may do.
type Suggestion struct {
	Width  string   `json:"width" doc:"how far the rules reach: exact, path, directory, project, host, packages, subcommand, program; several where the call's parts differ"`
	Rules  []string `json:"rules" doc:"the rules, to be granted together"`
	Always bool     `json:"always" doc:"the user's policy may keep them; else they are for a session at most"`
}

// The widths of a suggestion.
const (
	exactly    = "exact"
	directory  = "directory"
	project    = "project"
	pathWide   = "path"
	hostWide   = "host"
	packages   = "packages"
	subcommand = "subcommand"
	program    = "program"
)

// A candidate is a rule that may be suggested for an access.
type candidate struct {
	width, text string
	keep        bool // it may be kept for good: it names neither a shell, an interpreter, a wrapper, a program of the root nor anything dangerous
}

// A wanting is an access that is not allowed, and what of its candidates lets it pass.
type wanting struct {
	access *Access
	list   []candidate
}

// Suggestions returns sets of rules that each let the whole call pass, narrowest
// first; the accesses are those of one call. It returns nothing where no rule can
// do that: a part of the call is not known before it runs.
func (p *Policy) Suggestions(accesses []Access) (list []Suggestion) {
	wanted, ok := p.wants(accesses, grantSpec())
	most := 0
	for _, c := range wanted {
		most = max(most, len(c.list))
	}
	for k := 0; ok && k < most; k++ {
		s, sure := p.suggestion(wanted, k)
		same := func(o Suggestion) bool { return slices.Equal(o.Rules, s.Rules) }
		if sure && !slices.ContainsFunc(list, same) {
			list = append(list, s)
		}
	}
	return list
}

// suggestion takes the candidate number k of each access, or the widest where
// there are fewer.
func (p *Policy) suggestion(wanted []wanting, k int) (s Suggestion, ok bool) {
	with := p
	var widths []string
	for _, c := range wanted {
		if with.Decide(c.access).Verdict == Allow {
			continue
		}
		one := c.list[min(k, len(c.list)-1)]
		spec := grantSpec()
		spec.text = one.text
		next, err := with.adding(spec)
		if err != nil {
			return s, false
		}
		with, widths = next, append(widths, one.width)
		s.Rules = append(s.Rules, one.text)
	}
	s.Width = strings.Join(unique(widths), ", ")
	s.Always = p.keeps(wanted, s.Rules)
	return s, len(s.Rules) > 0
}

// keeps reports whether rules may stand in the user's file for good, and do there
// what they do for a session: no rule there lifts an ask rule.
func (p *Policy) keeps(wanted []wanting, rules []string) bool {
	with := p
	for _, text := range rules {
		next, err := with.adding(ruleSpec{list: Allow, layer: User, text: text})
		if err != nil {
			return false
		}
		with = next
	}
	for _, c := range wanted {
		i := slices.IndexFunc(c.list, func(one candidate) bool { return slices.Contains(rules, one.text) })
		if i >= 0 && !c.list[i].keep || with.Decide(c.access).Verdict != Allow {
			return false
		}
	}
	return true
}

// Uncovered returns the accesses of a call that are still not allowed with rules
// granted to it, as text for people, or says which rule is none.
func (p *Policy) Uncovered(accesses []Access, rules []string) (left []string, err error) {
	with := p
	for _, text := range rules {
		spec := grantSpec()
		spec.text = text
		if with, err = with.adding(spec); err != nil {
			return nil, fmt.Errorf("%s: %w", visible(text), err)
		}
	}
	for i := range accesses {
		if a := &accesses[i]; with.Decide(a).Verdict != Allow {
			left = append(left, string(a.Kind)+" "+Subject(a))
		}
	}
	return unique(left), nil
}

// grantSpec is a rule that is granted to a call or a session.
func grantSpec() ruleSpec { return ruleSpec{list: Allow, layer: CommandLine, grant: true} }

// Suggest returns the rules that let the same call pass when they are granted
// with --allow, narrowest first; the accesses are those of one call. It
// returns nothing when no rule that one should keep can do that: the call
// runs a shell, an interpreter or a wrapper, has words that are not known
// before it runs, is dangerous or opaque, or starts a program from the root.
func (p *Policy) Suggest(accesses []Access) []string { return p.suggest(accesses, grantSpec()) }

// Always returns those of the suggestions that also do it when they stand in
// the user's file: no rule there lifts an ask rule.
func (p *Policy) Always(accesses []Access) []string {
	return p.suggest(accesses, ruleSpec{list: Allow, layer: User})
}

// Narrowest returns those of the suggestions that let the call pass together:
// for each access that is not allowed the narrowest one.
func (p *Policy) Narrowest(accesses []Access) (exact []string) {
	wanted, ok := p.wants(accesses, grantSpec())
	if !ok || !kept(wanted) {
		return nil
	}
	for _, c := range wanted {
		exact = append(exact, c.list[0].text)
	}
	return unique(exact)
}

func (p *Policy) suggest(accesses []Access, as ruleSpec) (list []string) {
	wanted, ok := p.wants(accesses, as)
	if !ok || !kept(wanted) {
		return nil
	}
	for _, c := range wanted {
		list = append(list, c.list[0].text)
	}
	for _, c := range wanted {
		for _, one := range c.list[1:] {
			if one.keep {
				list = append(list, one.text)
			}
		}
	}
	return unique(list)
}

// kept reports whether the rules about every access may be kept for good.
func kept(wanted []wanting) bool {
	return !slices.ContainsFunc(wanted, func(c wanting) bool { return !c.list[0].keep })
}

// wanted are the accesses of a call that are not allowed, with what would allow
// each; ok tells that there is something for each of them.
func (p *Policy) wants(accesses []Access, as ruleSpec) (list []wanting, ok bool) {
	for i := range accesses {
		a := &accesses[i]
		if p.Decide(a).Verdict == Allow {
			continue
		}
		c := wanting{access: a}
		for _, one := range p.candidates(a) {
			if as.text = one.text; p.wouldAllow(a, as) {
				c.list = append(c.list, one)
			}
		}
		if len(c.list) == 0 {
			return nil, false
		}
		list = append(list, c)
	}
	return list, true
}

func unique(list []string) (out []string) {
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// candidates returns rules about one access, narrowest first.
func (p *Policy) candidates(a *Access) (list []candidate) {
	if a.Opaque != "" && !(a.Kind == Net && len(a.Argv) > 0) {
		return nil
	}
	switch a.Kind {
	case Exec:
		return p.suggestProgram(a)
	case Read:
		return p.suggestFile(a, "read")
	case Write:
		return p.suggestFile(a, "edit")
	case Net:
		return p.suggestNet(a)
	case Env:
		return []candidate{{exactly, "bash(" + quoteWords([]string{a.Name + "=" + a.Value}) + ")", false}}
	case Tool:
		if a.Tool == PublishTool {
			return []candidate{{exactly, PublishTool + "(" + a.Name + ")", true}}
		}
		return []candidate{{exactly, a.Tool, true}}
	}
	return nil
}

// wouldAllow reports whether the access passes with one rule more.
func (p *Policy) wouldAllow(a *Access, s ruleSpec) bool {
	q, err := p.adding(s)
	return err == nil && q.Decide(a).Verdict == Allow
}

// adding is the policy with one rule more.
func (p *Policy) adding(s ruleSpec) (*Policy, error) {
	r, err := p.compile(s)
	if err != nil {
		return nil, err
	}
	q := *p
	q.all, q.rules = append(slices.Clip(p.all), r), ruleIndex{}
	q.index()
	return &q, nil
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
		name = strings.TrimSuffix(name, "/") + "/**"
	}
	return keepBlanks(name)
}

// keepBlanks writes the blank that a pattern begins or ends with as a class, [ ]: a rule's own blanks
// count for nothing.
func keepBlanks(pattern string) string {
	if first, n := utf8.DecodeRuneInString(pattern); unicode.IsSpace(first) {
		pattern = "[" + pattern[:n] + "]" + pattern[n:]
	}
	if last, n := utf8.DecodeLastRuneInString(pattern); unicode.IsSpace(last) {
		pattern = pattern[:len(pattern)-n] + "[" + pattern[len(pattern)-n:] + "]"
	}
	return pattern
}

// suggestNet returns rules for a host; for what publishes there, rules that name
// the command.
func (p *Policy) suggestNet(a *Access) (list []candidate) {
	if (a.Publishes || len(a.Argv) > 0) && a.Tool == commandTool {
		list = p.suggestProgram(&Access{Kind: Exec, Tool: commandTool, Argv: a.Argv, Dynamic: a.Dynamic, Program: a.Program})
		if u, err := url.Parse(a.URL); err == nil && u.Host != "" && u.User == nil && !a.User && len(list) > 0 {
			if n, known := commandWords(a.Argv); !known || n == 1 { // what has no subcommand is told apart by where it sends to
				at := quoteWords(a.Argv[:1]) + " * " + quoteWord(u.Scheme+"://"+u.Host+"/") + "*"
				list = slices.Insert(list[:1:1], 1, candidate{hostWide, "bash(" + at + " *)", false})
			}
		}
		return list
	}
	first := exactly
	if strings.ContainsAny(a.URL, "?") { // no rule tells one query from another
		first = pathWide
	}
	for i, text := range suggestHost(a) {
		list = append(list, candidate{[]string{first, hostWide}[i], text, true})
	}
	if list != nil && a.Tool == commandTool {
		list[0].width = hostWide
		if p.preset("packages").matchHost(parseHostOnly(a)) && a.Parent > 0 {
			list = append(list, candidate{packages, "net(packages)", true})
		}
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
	case a.Tool == "websearch" && t.host.isPrivate():
		return []string{"websearch(domain:" + host + port + ")"}
	case a.Tool == "websearch":
		return []string{"websearch"}
	case t.url && !t.strange:
		return []string{"fetch(" + t.scheme + "://" + host + port + "/" + escapeGlob(t.path) + ")", "fetch(domain:" + host + port + ")"}
	}
	return []string{"fetch(domain:" + host + port + ")"}
}

// HostRule is a rule that allows the access to its host, the widest that is suggested; ""
// for none.
func (a *Access) HostRule() string {
	list := suggestHost(a)
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

// A Request is what a caller shows when it asks a person: what is wanted, and
// the rules that would end the asking.
type Request struct {
	ID         string   `json:"id" doc:"what agentkit policy approve takes"`
	SessionID  string   `json:"session_id,omitempty" doc:"the caller's session"`
	Permission string   `json:"permission" doc:"the tool whose rules are asked: bash, read, edit, fetch …"`
	Patterns   []string `json:"patterns" doc:"what exactly is wanted, as rule patterns"`
	Always     []string `json:"always" doc:"rules to keep, narrowest first"`
	AlwaysFile string   `json:"always_file,omitempty" doc:"the file that a yes for always adds rules to, under allow"`

	Suggestions []Suggestion `json:"suggestions" doc:"sets of rules that each let the call pass, narrowest first"`

	Metadata map[string]any `json:"metadata" doc:"what the tool tells of the call: command, description, cwd, diff …; and level, where, why and accesses that are asked about"`
	Rule     string         `json:"rule" doc:"what asks"`
}

// Request makes the request for an outcome that asks. Its metadata names the
// accesses asked about and the places that ask.
func (p *Policy) Request(id, session string, o *Outcome) Request {
	by := o.Deciding()
	r := Request{ID: id, SessionID: session, Rule: by.Rule, Patterns: []string{}, Always: []string{}, Suggestions: []Suggestion{}, Metadata: map[string]any{}}
	var asked []AccessReport
	report := p.Report(o)
	for i := range o.Accesses {
		if o.Decisions[i].Verdict == Allow {
			continue
		}
		if pattern := p.pattern(&o.Accesses[i]); !slices.Contains(r.Patterns, pattern) {
			r.Patterns = append(r.Patterns, pattern)
		}
		if !slices.Contains(asked, report.Accesses[i]) {
			asked = append(asked, report.Accesses[i])
		}
	}
	if o.By >= 0 {
		r.Permission = permission(&o.Accesses[o.By])
	}
	r.Always = append(r.Always, p.Always(o.Accesses)...)
	r.Suggestions = append(r.Suggestions, report.Suggestions...)
	r.Metadata["accesses"], r.Metadata["level"] = asked, report.Level
	r.Metadata["where"], r.Metadata["why"] = by.Where(), by.Why
	return r
}

// Narrowest are the rules that let the call pass and reach no farther than any do.
func (r *Request) Narrowest() []string {
	if len(r.Suggestions) == 0 {
		return nil
	}
	return r.Suggestions[0].Rules
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
