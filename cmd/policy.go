package cmd

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/cmd/policycmd"
	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

func (a *app) policyCommand() *cobra.Command {
	return policycmd.New(policycmd.Host{
		Tools: Tools, Env: a.env, Trust: a.trust, Person: a.personOnly, Format: a.format, Input: a.readStdin, Emit: a.emit, Deliver: a.deliver,
		Busy:   func(env *tool.Env) bool { return sandbox.Busy(filepath.Dir(env.Session.Dir()), env.Workspace.Root()) },
		DryRun: func() bool { return a.DryRun },
		Root: func() (string, error) {
			env, err := a.place()
			if err != nil {
				return "", err
			}
			defer env.Workspace.Close()
			return env.Workspace.Root(), nil
		},
	})
}

// personOnly refuses what only a person may decide when a command that an
// agent runs asks for it.
func (a *app) personOnly() error {
	if a.getenv("AGENTKIT") == "" && !machine.StartedByUs() {
		return nil
	}
	return tool.Errorf(tool.Denied, "this is for a person: it is refused to commands that agentkit runs").
		WithHint("run it in a terminal of your own")
}
