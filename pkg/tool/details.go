package tool

import "github.com/agentkit-go/agentkit/pkg/policy"

// A DeniedDetails is of a call that the policy denies.
type DeniedDetails struct{ policy.Report }

// Codes implements Details.
func (DeniedDetails) Codes() []Code { return []Code{Denied} }

// A PolicyDetails is of a policy that cannot be used.
type PolicyDetails struct {
	File string `json:"file" doc:"the policy"`
	Line int    `json:"line" doc:"of the first mistake; 0 where it belongs to no line"`
}

// Codes implements Details.
func (PolicyDetails) Codes() []Code { return []Code{BadInput} }

// A PanicDetails is of a bug.
type PanicDetails struct {
	Stack string `json:"stack" doc:"where in the program it happened"`
}

// Codes implements Details.
func (PanicDetails) Codes() []Code { return []Code{Internal} }
