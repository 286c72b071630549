package policycmd

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A checkRequest is a line of policy check --batch.
type checkRequest struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

func (h Host) checkCommand() *cobra.Command {
	var object string
	var batch bool
	c := &cobra.Command{
		Use:   "check TOOL [ARG]... | --batch",
		Short: "say what a call would get, and run nothing",
		Long: strings.TrimSpace(`
Prints the decision about a call, with every access, the rule that decides it,
its file and line. With --batch, standard input holds one call a line as
{"tool": TOOL, "arguments": {...}}, and one decision a line comes back. The exit
status is 0 whatever the decision, 2 for a call that could not be made.`),
		Args: cobra.ArbitraryArgs,

		ValidArgsFunction: h.toolFirst,
		RunE: func(c *cobra.Command, args []string) error {
			env, err := h.Env(c.Context())
			if err != nil {
				return err
			}
			if batch {
				return h.checkBatch(c, env)
			}
			_, out, err := h.decide(c, env, args, object)
			h.Emit(checked(env, out, err))
			return nil
		},
	}
	c.Flags().StringVar(&object, "json", "", "the call's parameters as one JSON `object`; - reads standard input")
	c.Flags().BoolVar(&batch, "batch", false, "read calls from standard input, one a line")
	return c
}

// decide asks the policy about a call without making it.
func (h Host) decide(c *cobra.Command, env *tool.Env, args []string, object string) (*tool.Invocation, *policy.Outcome, error) {
	if len(args) == 0 {
		return nil, nil, tool.Errorf(tool.BadInput, "no tool is named").WithHint("name one, with its parameters: %s bash 'rm -rf build'", c.CommandPath())
	}
	t, err := h.Tools.Find(args[0])
	if err != nil {
		return nil, nil, err
	}
	in := tool.New(t)
	switch {
	case c.Flags().Changed("json"):
		raw := []byte(object)
		if object == "-" {
			if raw, err = h.Input(); err != nil {
				return nil, nil, err
			}
		}
		in, err = tool.Decode(t, raw)
	default:
		err = in.Set.Fill(args[1:])
	}
	if err != nil {
		return nil, nil, err
	}
	in = env.Meant(in)
	out, err := outcome(c, env, in)
	return in, out, err
}

func outcome(c *cobra.Command, env *tool.Env, in *tool.Invocation) (*policy.Outcome, error) {
	needs, err := in.Needs(c.Context(), env)
	if err != nil {
		return nil, err
	}
	out := env.Policy.DecideAll(needs)
	return &out, nil
}

// checked is the result of policy check. A call that is refused before the
// policy is asked, such as one with an impossible path, counts as denied.
func checked(env *tool.Env, out *policy.Outcome, err error) *tool.Result {
	if err != nil {
		e := tool.AsError(err)
		return &tool.Result{Title: "refused", Error: e, Trimmed: true, Metadata: policy.Report{
			Decision: policy.Deny, Accesses: []policy.AccessReport{}, Level: env.Policy.Level(), Sandbox: env.Policy.Wall(),
		}}
	}
	report := env.Policy.Report(out)
	var b strings.Builder
	for _, one := range report.Accesses {
		fmt.Fprintf(&b, "%-5s %s %s", one.Decision, one.Kind, one.Subject)
		if one.Rule != "" {
			fmt.Fprintf(&b, " (%s", tool.VisibleName(one.Rule))
			if one.File != "" {
				fmt.Fprintf(&b, ", %s:%d", one.File, one.Line)
			}
			b.WriteByte(')')
		}
		b.WriteByte('\n')
	}
	return &tool.Result{Title: out.Verdict.String(), Output: out.Verdict.String() + "\n" + b.String(), Metadata: report, Trimmed: true}
}

func (h Host) checkBatch(c *cobra.Command, env *tool.Env) error {
	w := bufio.NewWriter(c.OutOrStdout())
	in := bufio.NewReader(c.InOrStdin())
	for {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			raw, fail := json.Marshal(h.checkLine(c, env, line))
			if fail != nil {
				return fail
			}
			_, _ = w.Write(append(raw, '\n'))
		}
		if err == io.EOF {
			h.Deliver(w.Flush())
			return nil
		}
		if err != nil {
			return tool.Errorf(tool.IO, "reading standard input: %w", err).WithHint("check what is connected to it")
		}
	}
}

// A checkAnswer is a decision of policy check --batch.
type checkAnswer struct {
	policy.Report
	Error *tool.Error `json:"error,omitempty"`
}

func (h Host) checkLine(c *cobra.Command, env *tool.Env, line []byte) checkAnswer {
	var req checkRequest
	err := json.Unmarshal(line, &req)
	var out *policy.Outcome
	if err != nil {
		err = tool.Errorf(tool.BadInput, "not a call: %w", err).WithHint(`send {"tool": TOOL, "arguments": {…}}`)
	} else {
		var t *tool.Tool
		var in *tool.Invocation
		if t, err = h.Tools.Find(req.Tool); err == nil {
			if in, err = tool.Decode(t, req.Arguments); err == nil {
				out, err = outcome(c, env, env.Meant(in))
			}
		}
	}
	if err != nil {
		return checkAnswer{policy.Report{Decision: policy.Deny, Accesses: []policy.AccessReport{}, Level: env.Policy.Level(), Sandbox: env.Policy.Wall()}, tool.AsError(err)}
	}
	return checkAnswer{Report: env.Policy.Report(out)}
}

func (h Host) explainCommand() *cobra.Command {
	var object string
	c := &cobra.Command{
		Use:   "explain TOOL [ARG]...",
		Short: "show as a tree what a call would do and which rule decides each part",

		ValidArgsFunction: h.toolFirst,
		RunE: func(c *cobra.Command, args []string) error {
			env, err := h.Env(c.Context())
			if err != nil {
				return err
			}
			in, out, err := h.decide(c, env, args, object)
			if err != nil {
				h.Emit(checked(env, nil, err))
				return nil
			}
			text := env.Policy.Explain(in.Tool.Name, subject(in), out).String()
			h.Emit(&tool.Result{Title: out.Verdict.String(), Output: text, Metadata: env.Policy.Report(out), Trimmed: true})
			return nil
		},
	}
	c.Flags().StringVar(&object, "json", "", "the call's parameters as one JSON `object`; - reads standard input")
	return c
}

// toolFirst completes the name of a tool, and then files.
func (h Host) toolFirst(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return h.Tools.Names(), cobra.ShellCompDirectiveNoFileComp
}

// subject is what a call is about, for a heading: its first parameter.
func subject(in *tool.Invocation) string {
	for _, p := range in.Set.Params {
		if p.Given() {
			return p.String()
		}
	}
	return ""
}
