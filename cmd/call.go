package cmd

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/dialect"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A callRequest is a call as agent frameworks hand it over. Members that only
// carry bookkeeping, such as an id, are theirs and left alone.
type callRequest struct {
	Name      string
	Arguments json.RawMessage
	ID, Type  string
	Key       string
	Origin    tool.Origin
}

// Params declares the members of the request.
func (r *callRequest) Params(p *param.Set) {
	p.String(&r.Name, "name", "the tool").Required().Alias("tool", "tool_name")
	p.Raw(&r.Arguments, "arguments", "its parameters").Alias("input", "args", "parameters")
	p.String(&r.ID, "id", "the caller's own name for the call").Alias("call_id", "tool_call_id", "tool_use_id")
	p.String(&r.Type, "type", "the caller's own kind of request")
	p.String(&r.Key, "idempotency_key", "as --idempotency-key")
	p.String(&r.Origin.Message, "message_id", "the caller's own name for the message that holds the call").Alias("messageID", "messageId")
	p.String(&r.Origin.Agent, "agent", "which of the caller's agents makes it")
}

const callName = "call"

func (a *app) callCommand() *cobra.Command {
	var wrap wrapping
	c := &cobra.Command{
		Use:   callName + " [TOOL]",
		Short: "run a tool with the JSON object on standard input",
		Long: strings.TrimSpace(`
With TOOL, standard input holds the tool's parameters as one JSON object.
Without, it holds {"name": TOOL, "arguments": {...}}, or what a model has answered, as
OpenAI (chat completions and Responses), Anthropic and Gemini hand it over: the whole
response, the message in it, or its calls. All its calls are made, those that only
read and follow one another side by side, and each result is a line; with --wrap there
is one line, the message that the provider wants next. Where a message holds no call
the status is 1. The result is JSON, whatever the configuration says and wherever
it goes; only the flag -o changes that.`),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return tool.Errorf(tool.BadInput, "what follows the tool %q is no part of call", args[0]).
					WithHint("the parameters are one JSON object on standard input: agentkit call %s <parameters.json; or agentkit %[1]s --json '{…}'", args[0])
			}
			return nil
		},
		ValidArgsFunction: toolNames,
		RunE: func(c *cobra.Command, args []string) error {
			if err := wrap.check(); err != nil {
				return err
			}
			raw, err := a.readObject()
			if err != nil {
				return err
			}
			m := &dialect.Message{Calls: []dialect.Request{{Arguments: raw}}}
			if len(args) == 1 {
				m.Calls[0].Name = args[0]
			} else if m, err = a.readMessage(raw); err != nil {
				return err
			}
			req := &dialect.Request{}
			if len(m.Calls) == 1 {
				req = &m.Calls[0]
				a.named = req.ID
			}
			if wrap != "" || req.Name == "" || req.Native() {
				return a.converse(c, m, wrap)
			}
			d, err := a.spoken()
			if err != nil {
				return err
			}
			if d != nil {
				return a.speak(c, d, req.Name, req.Arguments)
			}
			name, input := req.Named()
			t, err := Tools.Find(name)
			if err != nil {
				return err
			}
			if len(raw) == 0 {
				input = raw // who pipes nothing has forgotten something
			}
			return a.do(c, t, input)
		},
	}
	c.Flags().StringVar((*string)(&wrap), "wrap", "", "print the message that a provider wants next: "+strings.Join(dialect.Forms(), ", "))
	_ = c.RegisterFlagCompletionFunc("wrap", cobra.FixedCompletions(dialect.Forms(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

// readMessage reads what a model has answered, or one call by its name, which may bring its key.
func (a *app) readMessage(raw json.RawMessage) (*dialect.Message, error) {
	if m, err := dialect.Parse(raw); m != nil || err != nil {
		if m != nil {
			a.origin.Message = m.ID
		}
		return m, err
	}
	req := new(callRequest)
	if err := param.Of(req).Decode(raw); err != nil {
		return nil, err
	}
	a.key, a.origin = cmp.Or(req.Key, a.key), req.Origin
	if len(req.Arguments) == 0 {
		req.Arguments = json.RawMessage("{}")
	}
	return &dialect.Message{Calls: []dialect.Request{{ID: req.ID, Name: req.Name, Arguments: req.Arguments}}}, nil
}
