package cmd

import (
	"fmt"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A finding is what doctor says about one thing.
type finding struct {
	Name   string `json:"name"`
	Status string `json:"status"` // ok, warn or fail
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"` // the next step
	More   any    `json:"more,omitempty"` // the same for programs, part by part
}

func fine(detail string, args ...any) finding {
	return finding{Status: "ok", Detail: fmt.Sprintf(detail, args...)}
}

func warning(hint, detail string, args ...any) finding {
	return finding{Status: "warn", Detail: fmt.Sprintf(detail, args...), Hint: hint}
}

// with adds what programs want to know.
func (f finding) with(more any) finding {
	f.More = more
	return f
}

func failure(err error) finding {
	e := tool.AsError(err)
	return finding{Status: "fail", Detail: e.Message, Hint: e.Hint}
}
