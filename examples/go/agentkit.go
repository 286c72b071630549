// Package agentkit makes calls, one after the other, over one agentkit serve --stdio.
package agentkit

import (
	"encoding/json"
	"io"
)

// A Result is what a call returns. Output is for the model, also where the call failed.
type Result struct {
	Output   string
	Metadata json.RawMessage
	Error    *struct{ Code, Message, Hint string }
}

// Over returns what makes calls over the process's standard input and output. Where the
// policy asks, ask says "yes", "session" or "no", and why; value.request is what to show.
func Over(in io.Writer, out io.Reader, ask func(value json.RawMessage) (decision, reason string)) func(name string, args any) (*Result, error) {
	to, from := json.NewEncoder(in), json.NewDecoder(out)
	return func(name string, args any) (*Result, error) {
		message := map[string]any{"id": name, "name": name, "arguments": args}
		for {
			if err := to.Encode(message); err != nil {
				return nil, err
			}
			var l struct {
				Event  string
				Value  json.RawMessage
				Result *Result
			}
			for l.Event != "ask" {
				if err := from.Decode(&l); err != nil || l.Result != nil {
					return l.Result, err
				}
			}
			decision, reason := ask(l.Value)
			message = map[string]any{"answer": name, "decision": decision, "reason": reason}
		}
	}
}
