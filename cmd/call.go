package cmd

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/param"
)

// A callRequest is a call as agent frameworks hand it over. Members that only
// carry bookkeeping, such as an id, are theirs and left alone.
type callRequest struct {
	Name      string
	Arguments json.RawMessage
	ID, Type  string
}

// Params declares the members of the request.
func (r *callRequest) Params(p *param.Set) {
	p.String(&r.Name, "name", "the tool").Required().Alias("tool", "tool_name")
	p.Raw(&r.Arguments, "arguments", "its parameters").Alias("input", "args", "parameters")
	p.String(&r.ID, "id", "the caller's own name for the call").Alias("call_id", "tool_call_id", "tool_use_id")
	p.String(&r.Type, "type", "the caller's own kind of request")
}

const callName = "call"

func (a *app) callCommand() *cobra.Command {
	return &cobra.Command{
		Use:   callName + " [TOOL]",
		Short: "run a tool with the JSON object on standard input",
		Long: strings.TrimSpace(`
With TOOL, standard input holds the tool's parameters as one JSON object.
Without, it holds {"name": TOOL, "arguments": {...}}. The result is JSON, whatever
the configuration says and wherever it goes; only the flag -o changes that.`),
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return Tools.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			raw, err := a.readStdin()
			if err != nil {
				return err
			}
			req := &callRequest{Arguments: raw}
			if len(args) == 1 {
				req.Name = args[0]
			} else if req, err = readRequest(raw); err != nil {
				return err
			}
			d, err := a.spoken()
			if err != nil {
				return err
			}
			if d != nil {
				return a.speak(c, d, req.Name, req.Arguments)
			}
			t, err := Tools.Find(req.Name)
			if err != nil {
				return err
			}
			return a.do(c, t, req.Arguments)
		},
	}
}

func readRequest(raw json.RawMessage) (*callRequest, error) {
	req := new(callRequest)
	if err := param.Of(req).Decode(raw); err != nil {
		return nil, err
	}
	if len(req.Arguments) == 0 {
		req.Arguments = json.RawMessage("{}")
	}
	return req, nil
}
