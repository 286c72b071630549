package cmd

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/cmd/policycmd"
	"github.com/agentkit-go/agentkit/pkg/audit"
)

// completeGlobals says what the values of the flags of every command may be.
func (a *app) completeGlobals(root *cobra.Command) {
	for name, words := range enums() {
		_ = root.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	_ = root.RegisterFlagCompletionFunc("session", a.sessionNames)
	_ = root.RegisterFlagCompletionFunc("allow", policycmd.WaitingRules(a.env))
	_ = root.MarkFlagDirname("root")
	_ = root.MarkFlagDirname("state")
}

// sessionNames completes the sessions that this root has.
func (a *app) sessionNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	env, err := a.place()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer env.Workspace.Close()
	return env.Session.Beside(), cobra.ShellCompDirectiveNoFileComp
}

// callNames completes the newest calls of the session.
func (a *app) callNames(c *cobra.Command, _ []string, _ string) (list []string, _ cobra.ShellCompDirective) {
	env, err := a.place()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer env.Workspace.Close()
	log, err := audit.Open(env.Session.Dir(), audit.Options{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer log.Close()
	calls, _ := audit.Calls(log.Read(c.Context(), audit.Filter{}))
	for _, one := range slices.Backward(calls[max(0, len(calls)-50):]) {
		list = append(list, one.ID+"\t"+one.Tool+" at "+one.Time.Local().Format("15:04:05"))
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// toolNames completes the names of tools.
func toolNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return Tools.Names(), cobra.ShellCompDirectiveNoFileComp
}
