// Package tool says what a tool is and the one way a call of it runs: read the
// input, ask the policy about everything the call needs, record the decision,
// run, trim.
package tool

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/audit"
	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/committed"
	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/nearest"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/truncate"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// A Tool is one thing agentkit can do: a subcommand, a function that a model
// may call, a page of the manual.
type Tool struct {
	Name    string      // a lower-case word
	Summary string      // one line, no capital, no full stop
	Doc     *string     // in Markdown: what the model is told, a line of three dashes, what else there is to know
	New     func() Call // a call with every default filled in

	Examples []string // command lines, for people

	// IDs are what the parameter id may be, each with a tab and what it stands for; nil
	// where there is no such parameter.
	IDs func(context.Context, *Env) []string

	Metadata any       // a nil pointer to the struct that is the metadata of its results
	Details  []Details // what its errors may hold, beside what those of any tool may
	Plan     any       // the same for what its calls plan; nil where they are no Planner

	ReadOnly   bool // it changes nothing
	Additive   bool // it only adds; nothing that was there is lost
	Idempotent bool // doing it twice is doing it once
	OpenWorld  bool // it may reach beyond this machine
	Nests      bool // it makes calls of other tools
	Passes     bool // the process's exit status is that of the command it runs
	Program    bool // there is a program of this name, which knows more flags

	Others []string // what other agents and people call it, in small letters without - and _
}

// Told is what the model is told of t.
func (t *Tool) Told() string {
	told, _, _ := strings.Cut(*t.Doc, "\n---\n")
	return strings.TrimSpace(told)
}

// Page is all there is to know of t.
func (t *Tool) Page() string { return strings.TrimSpace(strings.Replace(*t.Doc, "\n---\n", "\n\n", 1)) }

// Fail is the Result of a call of t that failed with err before it did
// anything.
func (t *Tool) Fail(err error) *Result {
	r := Fail(t.Name, err)
	r.Passes = t.Passes
	return r
}

// A Call is one use of a tool; its fields are the parameters.
type Call interface {
	param.Declarer

	// Needs lists what Run will touch. The policy is asked about each access
	// before Run starts, so no tool can forget to. Paths are resolved here,
	// once; Run uses what was resolved and never the name again.
	Needs(context.Context, *Env) ([]policy.Access, error)

	// Run does the work. An error that AsError does not know is a bug. A
	// Result beside an error is what was done before it.
	Run(context.Context, *Env) (*Result, error)
}

// A Planner is a Call that can tell more of what Run would do than its needs.
type Planner interface {
	// Plan is asked after Needs, for a dry run; the value marshals to an object.
	Plan(*Env) any
}

// A Describer is a Call that can tell whoever has to approve it more than its
// needs: the members go into the request's metadata.
type Describer interface {
	Describe(context.Context, *Env) map[string]any
}

// A Shower is a Describer whose yes is for what it has described: Shown gives the versions of the
// files that were shown, by their real paths.
type Shower interface {
	Describer
	Shown() map[string]string
}

// A Maker hears, under the policy of the call, of a file that it has written.
type Maker func(p *policy.Policy, f *change.File)

// An Env is everything a call may use of the world outside it.
type Env struct {
	Workspace *workspace.Workspace   // the root; paths resolve against it
	Policy    *policy.Policy         // decides
	Sources   *policy.Sources        // what Policy was loaded from
	Ask       Asker                  // nil where nobody can answer
	Approver  string                 // the program that answers for Ask, which no command may change; "" for none
	Far       bool                   // the caller is at another place, and approves nothing there by a command of its own
	Consult   Consultant             // answers a model's questions; nil where nobody can
	Session   *session.Session       // todos, spill files, locks
	Audit     *audit.Audit           // gets every decision before anything runs
	Redactor  *audit.Redactor        // takes secrets out of what is recorded
	History   *change.History        // changes files all or none, and back
	Git       *committed.Files       // knows what git's history holds
	Made      Maker                  // hears what a call has written itself; nil where nobody listens
	Approvals *policy.Approvals      // answers that people gave from elsewhere
	Limits    truncate.Limits        // of the output
	MaxLines  int                    // of the output, where whoever runs the program chose it; 0 for the usual Limits.Lines
	Machine   func() machine.Machine // what it offers, looked at once
	Temp      []string               // directories for temporary files, without links
	Getenv    func(string) string
	Environ   func() []string
	Now       func() time.Time
	Stderr    io.Writer
	Emit      func(Event)   // hears what happens while the call runs; nil where nobody listens
	Hears     int64         // bytes of a command's output that Emit wants to hear; 0 for all
	DryRun    bool          // decide and report, run nothing
	Caller    string        // what the caller calls the call, for the audit; "" for nothing
	Origin    Origin        // from where the call comes, and what it calls itself
	Key       string        // a call that has it and may change something is made once; "" for none
	Names     Names         // what the model calls tools and parameters; nil for what we do
	Self      func() string // absolute path of the running program; "" where unknown
	NoFork    bool          // commands are started by the program started again, never by a fork of this process
	Ripgrep   string        // path of the ripgrep to use; "" for the one on PATH

	// Later is given what a call leaves to be done after its result is out, and
	// before the process ends; nil has it done at once.
	Later func(func())

	Tools   List                          // what a call may call itself, see Inner
	Granted func(*policy.Access) bool     // what somebody has approved beforehand, with other calls; nil for nothing
	Seen    map[string]string             // the versions of files that they were shown, by real path: edit and patch change no others of these
	StandIn func(*Invocation) *Invocation // the call that one really is; nil where each is what it says

	begin func(*policy.Outcome) error // hears that the call begins, and may refuse it; nil for nobody
	below *policy.Below               // what the yes to the call that runs says of what it comes upon
}

// An Event is something that happens while a call runs.
type Event struct {
	Name  string // start, output, progress or ask
	Value any    // marshals to an object
}

// After has f done when the result is out: see Later.
func (env *Env) After(f func()) {
	if env.Later == nil {
		f()
		return
	}
	env.Later(f)
}

func (env *Env) emit(name string, value any) {
	if env.Emit != nil {
		env.Emit(Event{name, value})
	}
}

// An Invocation is a call together with the parameters it was given.
type Invocation struct {
	Tool *Tool
	Call Call
	Set  *param.Set
}

// New returns an invocation of t with every parameter at its default.
func New(t *Tool) *Invocation {
	call := t.New()
	return &Invocation{t, call, param.Of(call)}
}

// Decode returns an invocation of t with the parameters in raw, one JSON
// object.
func Decode(t *Tool, raw json.RawMessage) (*Invocation, error) {
	in := New(t)
	if err := in.Set.Decode(raw); err != nil {
		return nil, err
	}
	return in, nil
}

// An Origin says from where a call comes, in the caller's own words, for the audit; "" for what
// the caller does not say.
type Origin struct {
	Message string // what the caller calls the message of a model that holds the call
	Agent   string // which of several agents makes it
}

// A List is the tools that there are.
type List []*Tool

// Names are the tools' names, in the list's order.
func (l List) Names() []string {
	var names []string
	for _, t := range l {
		names = append(names, t.Name)
	}
	return names
}

// Find returns the tool of a name; the error for one that is not there names the
// nearest.
func (l List) Find(name string) (*Tool, error) {
	for _, t := range l {
		if t.Name == name {
			return t, nil
		}
	}
	e := Errorf(BadInput, "unknown tool %.80q", name).WithHint("agentkit tools lists the tools")
	if meant := l.Meant(name); meant != "" {
		return nil, e.WithHint("the tool for this is %s", meant).Suggest(meant)
	}
	if l.IsCommand(name) {
		return nil, e.WithHint("name the tool {bash}, and give it this as its command").Suggest("bash")
	}
	near := nearest.Words(name, l.Names(), 3)
	_ = e.Suggest(near...)
	if len(near) > 0 {
		_ = e.WithHint("did you mean %s?", near[0])
	}
	return nil, e
}

// IsCommand reports whether somebody has named a command where a tool is named: tools have
// names of one word.
func (l List) IsCommand(name string) bool {
	return strings.ContainsAny(name, " \t\n") && slices.Contains(l.Names(), "bash")
}

// Meant is the tool that someone means by a name which others have for it; ""
// where nobody has.
func (l List) Meant(name string) string {
	name = strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name))
	for _, t := range l {
		if t.Name == name || slices.Contains(t.Others, name) {
			return t.Name
		}
	}
	return ""
}
