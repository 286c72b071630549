package policycmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

func (h Host) approvalsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "approvals",
		Short: "list the calls that wait for a person",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			env, err := h.Env(c.Context())
			if err != nil {
				return err
			}
			all, err := env.Approvals.List(c.Context())
			if err != nil {
				return err
			}
			var b strings.Builder
			for _, one := range all {
				fmt.Fprintf(&b, "%s %s %s in %s\n", one.ID, one.Answer, one.Tool, tool.VisibleName(one.Root))
				show(&b, &one)
				for i, s := range one.Report.Suggestions {
					fmt.Fprintf(&b, "    suggestion %d: %s (%s)\n", i+1, tool.VisibleName(strings.Join(s.Rules, "  ")), s.Width)
				}
			}
			if len(all) == 0 {
				b.WriteString("nothing waits\n")
			}
			h.Emit(&tool.Result{Title: fmt.Sprintf("%d requests", len(all)), Output: b.String(), Metadata: map[string]any{"approvals": append([]policy.Approval{}, all...)}})
			return nil
		},
	}
}

// maxShown bounds what is shown of one of a call's arguments, in bytes.
const maxShown = 1000

// show prints what a request is about: what is asked, and the words of the call.
func show(b *strings.Builder, one *policy.Approval) {
	for _, access := range one.Report.Accesses {
		fmt.Fprintf(b, "    %-5s %s %s\n", access.Decision, access.Kind, access.Subject)
	}
	var arguments map[string]json.RawMessage
	if json.Unmarshal(one.Arguments, &arguments) != nil {
		return // the call itself says what is wrong with them
	}
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		var decoded any
		if json.Unmarshal(arguments[name], &decoded) != nil {
			continue
		}
		encoded, err := tool.Encode(decoded) // as it was typed: json.Marshal escapes what web pages need
		if err != nil {
			continue
		}
		value := string(encoded)
		if strings.ContainsAny(value[:1], "0123456789-fn") || slices.Contains([]string{`""`, `"."`, "[]", "{}"}, value) {
			continue // a number, or nothing
		}
		cut := ""
		if len(value) > maxShown {
			value, cut = strings.ToValidUTF8(value[:maxShown], ""), fmt.Sprintf(" ... of %d bytes; -o json shows all", len(value))
		}
		fmt.Fprintf(b, "    %s: %s%s\n", name, tool.VisibleName(value), cut)
	}
}

func (h Host) approveCommand() *cobra.Command {
	var g granting
	c := &cobra.Command{
		Use:   "approve ID",
		Short: "let the very call of a request pass once, or grant rules for longer",
		Long: strings.TrimSpace(`
Lets the very call of a request pass once, within a quarter of an hour. With
--scope session or always it also grants rules, to the session that the call
belongs to or in the user's policy: those of a suggestion, by its number in
"agentkit policy approvals", or rules of your own with --rule.`),
		Args: cobra.ExactArgs(1),

		ValidArgsFunction: h.waiting,
		RunE: func(c *cobra.Command, args []string) error {
			env, err := h.decider(c)
			if err != nil {
				return err
			}
			g.dry = h.DryRun()
			answer, err := g.answer(c, env, args[0])
			if err != nil {
				return err
			}
			return h.answer(env, answer.Rules, func(s *policy.Approvals) (policy.Approval, error) { return s.Approve(c.Context(), args[0]) })
		},
	}
	c.Flags().StringVar(&g.scope, "scope", "once", "how long the yes holds: once, session or always")
	c.Flags().IntVar(&g.number, "suggestion", 1, "for session and always: the suggestion whose rules are granted")
	c.Flags().StringArrayVar(&g.rules, "rule", nil, "for session and always: a rule that is granted instead; may be repeated")
	return c
}

// granting is what a yes grants beyond the very call.
type granting struct {
	scope  string
	number int
	rules  []string
	dry    bool // say what would be granted, and grant nothing
}

// answer checks what is to be granted for a request, and grants it.
func (g *granting) answer(c *cobra.Command, env *tool.Env, id string) (answer tool.Answer, err error) {
	switch {
	case !slices.Contains([]string{"once", "session", "always"}, g.scope):
		return answer, tool.Errorf(tool.BadInput, "--scope is %q", g.scope).WithHint("it is once, session or always").Suggest("once", "session", "always")
	case g.scope == "once" && (len(g.rules) > 0 || c.Flags().Changed("suggestion")):
		return answer, tool.Errorf(tool.BadInput, "a yes for once grants no rules").WithHint("add --scope session or --scope always")
	case g.scope == "once":
		return answer, nil
	}
	all, err := env.Approvals.List(c.Context())
	if err != nil {
		return answer, err
	}
	i := slices.IndexFunc(all, func(one policy.Approval) bool { return one.ID == id && one.Answer == policy.Pending })
	if i < 0 {
		return answer, nil // the answer itself says so
	}
	answer = tool.Answer{Yes: true, Scope: tool.Scope(g.scope), Rules: g.rules}
	if len(g.rules) == 0 {
		if answer.Rules, err = g.suggested(all[i].Report.Suggestions); err != nil {
			return answer, err
		}
	} else if err := covers(env, &all[i], g.rules); err != nil {
		return answer, err
	}
	if g.dry {
		return answer, nil
	}
	return answer, answer.GrantFrom(c.Context(), env, all[i].Root, all[i].Session)
}

// suggested are the rules of a suggestion.
func (g *granting) suggested(list []policy.Suggestion) ([]string, error) {
	switch {
	case len(list) == 0:
		return nil, tool.Errorf(tool.BadInput, "no rule can stand for this call").WithHint("approve it for once: leave --scope out")
	case g.number < 1 || g.number > len(list):
		return nil, tool.Errorf(tool.BadInput, "there is no suggestion %d", g.number).WithHint("the request has %d; agentkit policy approvals shows them", len(list))
	case g.scope == "always" && !list[g.number-1].Always:
		return nil, tool.Errorf(tool.BadInput, "the rules of suggestion %d are not for always: %s", g.number, strings.Join(list[g.number-1].Rules, " ")).WithHint("grant them with --scope session, or others with --rule")
	}
	return list[g.number-1].Rules, nil
}

// covers reports, as an error, what rules of a person's own leave of a request to be
// asked about.
func covers(env *tool.Env, one *policy.Approval, rules []string) error {
	if one.Root != env.Sources.Root {
		return tool.Errorf(tool.BadInput, "the call is one of %s", tool.VisibleName(one.Root)).WithHint("with --rule, add --root %s", tool.QuoteWord(one.Root))
	}
	needs, err := env.Sources.Analyze(one.Tool, one.Arguments)
	if err != nil {
		return err
	}
	left, err := env.Policy.Uncovered(needs, rules)
	switch {
	case err != nil:
		return tool.Errorf(tool.BadInput, "that is no rule: %w", err).WithHint("a rule is tool(pattern), such as 'bash(go test *)'")
	case len(left) > 0:
		return tool.Errorf(tool.BadInput, "the rules leave to be asked about: %s", strings.Join(left, ", ")).WithHint("widen them, or approve the call for once")
	}
	return nil
}

func (h Host) refuseCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "refuse ID [REASON]",
		Short: "make the very call of a request fail, with a reason for the model",
		Args:  cobra.RangeArgs(1, 2),

		ValidArgsFunction: h.waiting,
		RunE: func(c *cobra.Command, args []string) error {
			reason := strings.Join(args[1:], " ")
			env, err := h.decider(c)
			if err != nil {
				return err
			}
			return h.answer(env, nil, func(s *policy.Approvals) (policy.Approval, error) { return s.Refuse(c.Context(), args[0], reason) })
		},
	}
}

// waiting completes the ids of the requests that nobody has answered.
func (h Host) waiting(c *cobra.Command, args []string, _ string) (list []string, _ cobra.ShellCompDirective) {
	env, err := h.Env(c.Context())
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	all, _ := env.Approvals.List(c.Context())
	for _, one := range all {
		if one.Answer == policy.Pending {
			list = append(list, one.ID+"\t"+one.Tool+" in "+tool.VisibleName(one.Root))
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// WaitingRules completes the rules that the requests suggest which nobody has answered.
func WaitingRules(open func(context.Context) (*tool.Env, error)) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, _ string) (list []string, _ cobra.ShellCompDirective) {
		env, err := open(c.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all, _ := env.Approvals.List(c.Context())
		for _, one := range all {
			for _, s := range one.Report.Suggestions {
				if one.Answer == policy.Pending && len(s.Rules) == 1 && tool.Visible(s.Rules[0]) == s.Rules[0] {
					list = append(list, s.Rules[0]+"\t"+one.Tool+": "+s.Width)
				}
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// decider is what a person who decides may use.
func (h Host) decider(c *cobra.Command) (*tool.Env, error) {
	if err := h.Person(); err != nil {
		return nil, err
	}
	env, err := h.Env(c.Context())
	if err == nil {
		env.Approvals.DryRun = h.DryRun()
	}
	return env, err
}

func (h Host) answer(env *tool.Env, rules []string, do func(*policy.Approvals) (policy.Approval, error)) error {
	one, err := do(env.Approvals)
	if err != nil && !errors.Is(err, policy.ErrNoApproval) && !errors.Is(err, policy.ErrAnswered) {
		return err
	}
	if err != nil {
		return tool.Errorf(tool.NotFound, "%w", err).WithHint("agentkit policy approvals lists the requests")
	}
	would := ""
	if h.DryRun() {
		would = "would be "
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s%s: %s in %s\n", would, one.Answer, one.Tool, tool.VisibleName(one.Root))
	show(&text, &one)
	for _, rule := range rules {
		fmt.Fprintf(&text, "%sgranted: %s\n", would, tool.VisibleName(rule))
	}
	h.Emit(&tool.Result{Title: would + string(one.Answer) + " " + one.ID, Output: text.String(), Metadata: one})
	return nil
}
