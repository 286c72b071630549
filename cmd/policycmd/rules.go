package policycmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

func (h Host) lintCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lint",
		Short: "find rules that do nothing, or more than they should",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			env, err := h.Env(c.Context())
			if err != nil {
				return err
			}
			faults := policy.Lint(env.Policy)
			list := append(slices.Clip(faults), policy.LintWall(env.Policy)...)
			var b strings.Builder
			for _, f := range list {
				fmt.Fprintf(&b, "%s:%d: %s: %s: %s\n", f.File, f.Line, f.Kind, tool.VisibleName(f.Rule), f.Message)
			}
			if len(list) == 0 {
				b.WriteString("nothing found\n")
			}
			h.Emit(&tool.Result{
				Title: fmt.Sprintf("%d findings", len(list)), Output: b.String(), No: len(faults) > 0,
				Metadata: map[string]any{"findings": append([]policy.Finding{}, list...)},
			})
			return nil
		},
	}
}

func (h Host) ruleCommand(v policy.Verdict) *cobra.Command {
	return &cobra.Command{
		Use:   v.String() + " RULE",
		Short: fmt.Sprintf("add a rule to the %s list of the user's policy", v),
		Args:  cobra.ExactArgs(1),

		ValidArgsFunction: WaitingRules(h.Env),
		RunE: func(c *cobra.Command, args []string) error {
			if err := h.Person(); err != nil {
				return err
			}
			env, err := h.Env(c.Context())
			if err != nil {
				return err
			}
			file, err := policy.UserFile(env.Sources.User)
			if err != nil {
				return err
			}
			title, text := "added to ", ""
			if h.DryRun() {
				title, text = "would add to ", "would add "
				err = policy.CheckRule(env.Sources, file, v, args[0])
			} else {
				err = policy.AddRule(c.Context(), env.Sources, file, v, args[0])
			}
			if err != nil {
				return tool.Errorf(tool.BadInput, "adding the rule: %w", err).WithHint("a rule is tool(pattern), such as 'bash(go test *)'; the file is unchanged")
			}
			h.Emit(&tool.Result{Title: title + file, Output: fmt.Sprintf("%s%s: %s\n", text, v, args[0]), Metadata: map[string]string{"path": file, "rule": args[0]}})
			return nil
		},
	}
}
