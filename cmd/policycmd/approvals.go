package policycmd

import (
	"errors"
	"fmt"
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
				fmt.Fprintf(&b, "%s %s %s in %s\n", one.ID, one.Answer, one.Tool, tool.Visible(one.Root))
				for _, access := range one.Report.Accesses {
					fmt.Fprintf(&b, "    %-5s %s %s\n", access.Decision, access.Kind, access.Subject)
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

func (h Host) approveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "approve ID",
		Short: "let the very call of a request pass once",
		Args:  cobra.ExactArgs(1),

		ValidArgsFunction: h.waiting,
		RunE: func(c *cobra.Command, args []string) error {
			return h.answer(c, func(s *policy.Approvals) (policy.Approval, error) { return s.Approve(c.Context(), args[0]) })
		},
	}
}

func (h Host) refuseCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "refuse ID [REASON]",
		Short: "make the very call of a request fail, with a reason for the model",
		Args:  cobra.RangeArgs(1, 2),

		ValidArgsFunction: h.waiting,
		RunE: func(c *cobra.Command, args []string) error {
			reason := strings.Join(args[1:], " ")
			return h.answer(c, func(s *policy.Approvals) (policy.Approval, error) { return s.Refuse(c.Context(), args[0], reason) })
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

func (h Host) answer(c *cobra.Command, do func(*policy.Approvals) (policy.Approval, error)) error {
	if err := h.Person(); err != nil {
		return err
	}
	env, err := h.Env(c.Context())
	if err != nil {
		return err
	}
	one, err := do(env.Approvals)
	if err != nil && !errors.Is(err, policy.ErrNoApproval) && !errors.Is(err, policy.ErrAnswered) {
		return err
	}
	if err != nil {
		return tool.Errorf(tool.NotFound, "%w", err).WithHint("agentkit policy approvals lists the requests")
	}
	h.Emit(&tool.Result{Title: string(one.Answer) + " " + one.ID, Output: fmt.Sprintf("%s: %s in %s\n", one.Answer, one.Tool, tool.Visible(one.Root)), Metadata: one})
	return nil
}
