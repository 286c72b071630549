package files

import (
	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/syntax"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A placesDetails says where an edit or a hunk may have been meant.
type placesDetails struct {
	Edit   *int        `json:"edit,omitempty" doc:"which edit, from 0; of edit"`
	Hunk   *int        `json:"hunk,omitempty" doc:"which hunk, from 0; of patch"`
	Path   string      `json:"path"`
	Places []editPlace `json:"places,omitzero" doc:"what comes nearest, best first, or all equal ones; absent where the content may not be shown"`
}

// An editPlace is a part of a file that comes near what was asked for.
type editPlace struct {
	Lines      [2]int  `json:"lines"`
	Text       string  `json:"text"`
	Similarity float64 `json:"similarity"`
	Difference string  `json:"first_difference,omitempty"`
}

// Codes implements tool.Details.
func (placesDetails) Codes() []tool.Code {
	return []tool.Code{tool.BadInput, tool.NotFound, tool.Conflict, tool.Ambiguous, tool.NoMatch, tool.AlreadyApplied, tool.TooLarge}
}

// A gateDetails lists the syntax errors for which a change was refused.
type gateDetails struct {
	SyntaxErrors []gateProblem `json:"syntax_errors" doc:"what the change would bring"`
}

// A gateProblem is a syntax error that a change would bring.
type gateProblem struct {
	Path string `json:"path"`
	syntax.Problem
}

// Codes implements tool.Details.
func (gateDetails) Codes() []tool.Code { return []tool.Code{tool.BadInput} }

// A doubtDetails says why the end of a symbol is not sure.
type doubtDetails struct {
	Symbol    string `json:"symbol"`
	FirstLine int    `json:"first_line" doc:"of the symbol, as far as it can be read"`
	EndLine   int    `json:"end_line"`
	Line      int    `json:"line" doc:"of the mistake"`
	Reason    string `json:"reason"`
	Text      string `json:"text" doc:"what stands on that line"`
}

// Codes implements tool.Details.
func (doubtDetails) Codes() []tool.Code { return []tool.Code{tool.Conflict} }

// A candidatesDetails lists the symbols that a name can mean.
type candidatesDetails struct {
	Candidates []candidate `json:"candidates"`
}

type candidate struct {
	Name    string      `json:"name"`
	Kind    syntax.Kind `json:"kind"`
	Line    int         `json:"line"`
	EndLine int         `json:"end_line"`
	Text    string      `json:"text"`
}

// Codes implements tool.Details.
func (candidatesDetails) Codes() []tool.Code { return []tool.Code{tool.Ambiguous} }

// A changedDetails lists the files for which a change cannot be taken back.
type changedDetails struct {
	ID    string       `json:"id" doc:"the change"`
	Files []change.Gap `json:"files" doc:"what has changed since"`
}

// Codes implements tool.Details.
func (changedDetails) Codes() []tool.Code { return []tool.Code{tool.Conflict} }

// A gapsDetails lists what of a change was not kept.
type gapsDetails struct {
	ID   string       `json:"id" doc:"the change"`
	Gaps []change.Gap `json:"gaps" doc:"what was not kept"`
}

// Codes implements tool.Details.
func (gapsDetails) Codes() []tool.Code { return []tool.Code{tool.Unsupported} }
