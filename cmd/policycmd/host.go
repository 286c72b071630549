package policycmd

import (
	"context"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A Host is the run of the program that the commands are part of.
type Host struct {
	Tools   tool.List
	Env     func(context.Context) (*tool.Env, error) // what a call may use; an error without a policy that holds
	Root    func() (string, error)                   // of the workspace, whatever its policy
	Trust   func() *policy.TrustStore                // nil where nothing can be remembered
	Person  func() error                             // refuses what an agent's command may not decide
	Busy    func(*tool.Env) bool                     // whether a confined command runs that can write in the root
	DryRun  func() bool
	Format  func() string          // in which results are printed
	Input   func() ([]byte, error) // all of standard input
	Emit    func(*tool.Result)     // prints the result
	Deliver func(error)            // is told how writing to standard output went
}
