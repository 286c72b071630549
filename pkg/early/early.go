// Package early lets a process that agentkit started from itself be what it is
// for before the rest of the program is set up.
//
// Every command has such a process, the stage that collects and ends what it
// starts, and every job has its supervisor. Setting up the packages of the
// command line takes a third of their time and memory, for nothing. Packages
// whose dependencies are ready are initialised in the order of their paths
// (The Go Programming Language Specification, Package initialization), so this
// one comes before cobra, viper and the rest. It is the only package with an
// init function.
package early

import (
	"os"

	"github.com/agentkit-go/agentkit/pkg/gate"
	"github.com/agentkit-go/agentkit/pkg/job"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

func init() {
	if code, handled := job.Stage(os.Args[1:], sandbox.NewConfiner(gate.Build)); handled {
		os.Exit(code)
	}
}
