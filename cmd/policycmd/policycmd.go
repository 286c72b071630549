// Package policycmd is agentkit policy: it asks what calls may do, and changes it.
package policycmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

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
			if len(args) == 0 && h.Format() == "text" {
				return c.Help()
			}
			var known []string
			for _, sub := range c.Commands() {
				known = append(known, sub.Name())
			}
			what := "no policy command is named"
			if len(args) > 0 {
				what = fmt.Sprintf("unknown policy command %q", args[0])
			}
			return tool.Errorf(tool.BadInput, "%s", what).WithHint("use one of %s", strings.Join(known, ", "))
		},
	}
	c.AddCommand(h.checkCommand(), h.explainCommand(), h.testCommand(), h.lintCommand(), h.initCommand(), h.importCommand(), h.trustCommand())
	for _, v := range []policy.Verdict{policy.Allow, policy.Ask, policy.Deny} {
		c.AddCommand(h.ruleCommand(v))
	}
	c.AddCommand(h.approvalsCommand(), h.approveCommand(), h.refuseCommand())
	return c
}
