// Package policycmd is agentkit policy: it asks what calls may do, and changes it.
package policycmd

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/nearest"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// New returns the command policy with those below it.
func New(h Host) *cobra.Command {
	c := &cobra.Command{
		Use:   "policy",
		Short: "ask and change what calls may do",
		Args:  cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && h.Format() == "text" || len(args) == 1 && args[0] == "help" {
				return c.Help()
			}
			var known []string
			for _, sub := range c.Commands() {
				known = append(known, sub.Name())
			}
			hint := "use one of " + strings.Join(known, ", ")
			if len(args) == 0 {
				return tool.Errorf(tool.BadInput, "no policy command is named").WithHint("%s", hint)
			}
			near := nearest.Words(args[0], known, 3)
			if len(near) > 0 {
				hint = "did you mean " + near[0] + "? Else " + hint
			}
			return tool.Errorf(tool.BadInput, "unknown policy command %.80q", args[0]).WithHint("%s", hint).Suggest(near...)
		},
	}
	c.AddCommand(h.checkCommand(), h.explainCommand(), h.testCommand(), h.lintCommand(), h.initCommand(), h.importCommand(), h.trustCommand())
	for _, v := range []policy.Verdict{policy.Allow, policy.Ask, policy.Deny} {
		c.AddCommand(h.ruleCommand(v))
	}
	c.AddCommand(h.approvalsCommand(), h.approveCommand(), h.refuseCommand())
	return c
}
