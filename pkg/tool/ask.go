package tool

import (
	"context"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// An Asker lets someone decide about a call that needs approval. It returns a
// NobodyError where that someone is not there: the call can be approved later.
type Asker func(context.Context, *Request) (Answer, error)

// A NobodyError says why an Asker could not ask.
type NobodyError struct{ Why string }

// Error implements error.
func (e *NobodyError) Error() string { return e.Why }

// A Request is what someone is asked.
type Request struct {
	ID      string
	Tool    string
	On      string // the place where the call is made; "" for this machine
	Dir     string // where a command that runs wants to start the program; "" for a call
	Outcome policy.Outcome
	Details ApprovalDetails // its suggestions are what a yes for longer could stand for

	// Uncovered says what of the call would still be asked about with rules of
	// one's own, or which of them is none; nil where only another place can tell.
	Uncovered func(rules []string) ([]string, error)
}

// A Scope says how far a yes reaches.
type Scope string

// The scopes.
const (
	Once    Scope = "once"    // this call
	Session Scope = "session" // these rules, until the session ends
	Always  Scope = "always"  // these rules, in the user's policy
)

// An Answer is what someone decided.
type Answer struct {
	Yes    bool
	Scope  Scope
	Rules  []string // what was granted, for session and always
	Reason string   // why not, for the model
}
