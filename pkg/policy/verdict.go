package policy

import (
	"fmt"
	"strconv"
)

// A Verdict is the answer to an access. The smaller is the stricter, and the
// zero value denies: what was never decided does not happen.
type Verdict uint8

// The verdicts, strictest first.
const (
	Deny Verdict = iota
	Ask
	Allow
)

// String returns deny, ask or allow.
func (v Verdict) String() string {
	switch v {
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	}
	return "deny"
}

// MarshalText writes the verdict as its word.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads one of the three words.
func (v *Verdict) UnmarshalText(text []byte) error {
	got, ok := ParseVerdict(string(text))
	if !ok {
		return fmt.Errorf("reading verdict %q: want allow, ask or deny", text)
	}
	*v = got
	return nil
}

// ParseVerdict reads allow, ask or deny.
func ParseVerdict(s string) (Verdict, bool) {
	for _, v := range [...]Verdict{Deny, Ask, Allow} {
		if s == v.String() {
			return v, true
		}
	}
	return Deny, false
}

// A Layer is where a rule stands. What a layer denies, no later one lifts.
type Layer uint8

// The layers, highest authority first.
const (
	BuiltIn     Layer = iota // the protections and profiles of this package
	Machine                  // the administrator's file
	User                     // the user's file
	Project                  // the repository's file
	CommandLine              // --policy, --allow, --profile
)

// String returns the layer as explanations name it.
func (l Layer) String() string {
	return [...]string{"built-in", "machine", "user", "project", "command line"}[min(l, CommandLine)]
}

// MarshalText writes the layer as String does.
func (l Layer) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (l *Layer) UnmarshalText(text []byte) error {
	for have := BuiltIn; have <= CommandLine; have++ {
		if have.String() == string(text) {
			*l = have
			return nil
		}
	}
	return fmt.Errorf("reading layer %q: no such layer", text)
}

// A Decision is the answer to one access, and where it comes from.
type Decision struct {
	Verdict Verdict
	Rule    string // the rule as its author wrote it, or the name of a built-in one
	File    string // the file it stands in; "" for built-in ones and grants
	Line    int    // 1-based; 0 where File is ""
	Layer   Layer
	Why     string // what made the rule decide, for people
	Reason  string // what the rule's author wants the model to be told; often ""
	Default bool   // no rule matched: the profile decides
	Doubt   bool   // the rule is a deny rule that may match: a part is not known
}

// Where returns file:line, or the layer's name where there is no file.
func (d *Decision) Where() string {
	if d.File == "" {
		return d.Layer.String()
	}
	return d.File + ":" + strconv.Itoa(d.Line)
}

// An Outcome is the answer to a whole call.
type Outcome struct {
	Verdict   Verdict    // the strictest of the decisions; Allow when there are none
	By        int        // index of the first access with that verdict; -1 when there are none
	Accesses  []Access   // as they were given
	Decisions []Decision // beside Accesses
	Shown     string     // tells the files that whoever is asked is shown from what they may become; "" for none
}

// Deciding returns the decision that made the verdict; the zero Decision with
// Allow when the call touches nothing.
func (o *Outcome) Deciding() Decision {
	if o.By < 0 || o.By >= len(o.Decisions) {
		return Decision{Verdict: o.Verdict, Why: "the call touches nothing", Default: true}
	}
	return o.Decisions[o.By]
}

// A Report is an Outcome as policy check prints it.
type Report struct {
	Decision Verdict        `json:"decision" doc:"allow, ask or deny: the strictest of all"`
	Accesses []AccessReport `json:"accesses" doc:"everything that the call would touch"`
	Level    int            `json:"level" doc:"the sandbox level that the decision counted on"`
	Sandbox  string         `json:"sandbox" doc:"what holds a command: L0 to L3, or outer"`
	Unheld   []string       `json:"unheld,omitempty" doc:"what that does not hold of this policy"`

	Suggestions []Suggestion `json:"suggestions,omitempty" doc:"of what asks: sets of rules that each let the call pass, narrowest first"`
}

// An AccessReport is one access of a Report.
type AccessReport struct {
	Kind     Kind    `json:"kind" doc:"read, write, exec, net, env or tool"`
	Subject  string  `json:"subject" doc:"the path, command, host or tool"`
	Decision Verdict `json:"decision" doc:"allow, ask or deny"`
	Rule     string  `json:"rule" doc:"the rule that decides"`
	File     string  `json:"file" doc:"where the rule stands"`
	Line     int     `json:"line" doc:"and on which line"`
	Layer    Layer   `json:"layer" doc:"whose rule it is"`
	Why      string  `json:"why" doc:"what made the rule decide"`
	Reason   string  `json:"reason,omitempty" doc:"what the policy says about it"`
	Held     string  `json:"held" doc:"what makes sure that no more happens: tool, kernel, text or none"`
}

// Report returns the outcome in the form that policy check prints.
func (p *Policy) Report(o *Outcome) Report {
	r := Report{Decision: o.Verdict, Accesses: make([]AccessReport, len(o.Accesses)), Level: p.Level(), Sandbox: p.Wall(), Unheld: p.Unheld()}
	for i := range o.Accesses {
		d := &o.Decisions[i]
		r.Accesses[i] = AccessReport{
			Kind: o.Accesses[i].Kind, Subject: Subject(&o.Accesses[i]), Decision: d.Verdict,
			Rule: d.Rule, File: d.File, Line: d.Line, Layer: d.Layer, Why: d.Why, Reason: d.Reason,
			Held: p.held(&o.Accesses[i]),
		}
	}
	if o.Verdict == Ask {
		r.Suggestions = p.Suggestions(o.Accesses)
	}
	return r
}

// Subject returns what an access touches as one line of plain text: quoted
// words for a program, a path, an address, an assignment. Control and
// invisible characters are escaped.
func Subject(a *Access) string {
	switch a.Kind {
	case Exec:
		return quoteWords(a.Argv)
	case Read, Write:
		return visible(orElse(orElse(a.Path, a.Named), a.Source))
	case Net:
		if a.Publishes {
			return visible(netSubject(a)) + " (publishing)"
		}
		return visible(netSubject(a))
	case Env:
		return visible(a.Name + "=" + a.Value)
	}
	if a.Name == "" {
		return visible(a.Tool)
	}
	return visible(a.Tool + " " + a.Name)
}

func netSubject(a *Access) string {
	switch {
	case a.URL != "":
		return a.URL
	case a.Host == "":
		return "an unknown host, by " + a.Source
	case a.Port != 0:
		return a.Host + ":" + strconv.Itoa(a.Port)
	}
	return a.Host
}

func orElse(s, other string) string {
	if s != "" {
		return s
	}
	return other
}
