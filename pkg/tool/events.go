package tool

import (
	"encoding/json"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// An ApprovalDetails is what stands in the error of a call that needs a yes.
type ApprovalDetails struct {
	Request   policy.Request        `json:"request" doc:"what is wanted, for whoever may decide"`
	Accesses  []policy.AccessReport `json:"accesses" doc:"everything the call would touch, and what the policy says of each"`
	Questions []Question            `json:"questions,omitempty" doc:"what a model asks, where it is that: answer with --answers"`
}

// Codes implements Details.
func (ApprovalDetails) Codes() []Code { return []Code{ApprovalRequired} }

// QuestionRequest is a request in the form of an approval, for those who show
// only these.
func QuestionRequest(questions []Question) policy.Request {
	r := policy.Request{Permission: "question", Patterns: []string{}, Always: []string{}, Suggestions: []policy.Suggestion{}, Metadata: map[string]any{}}
	for _, q := range questions {
		r.Patterns = append(r.Patterns, q.Question)
	}
	return r
}

// QuestionDetails are the details of an error that hands questions to the caller.
func QuestionDetails(questions []Question) ApprovalDetails {
	return ApprovalDetails{Request: QuestionRequest(questions), Accesses: []policy.AccessReport{}, Questions: questions}
}

// A StartEvent is the value of the first event of a call.
type StartEvent struct {
	Tool      string          `json:"tool"`
	ID        string          `json:"id" doc:"the call's, as the audit log has it"`
	Arguments json.RawMessage `json:"arguments" doc:"the parameters that were given, as they were understood"`
}

// An OutputEvent is the value of an output event: a piece of what a command
// prints, lines ending as those of the result do.
type OutputEvent struct {
	Text string `json:"text" doc:"a piece of what the command prints"`
}

// A ProgressEvent says, every second, that a command still runs.
type ProgressEvent struct {
	ElapsedMS   int64 `json:"elapsed_ms" doc:"time since the call began"`
	OutputBytes int64 `json:"output_bytes" doc:"what the command has printed until now"`
}

// An AskEvent is the value of the event that someone is asked.
type AskEvent struct {
	Tool string `json:"tool"`
	ID   string `json:"id" doc:"the call's"`
	ApprovalDetails
}
