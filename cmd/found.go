package cmd

import (
	"sync"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
)

// found is what is found out about the machine when it is first asked for.
type found struct {
	self  func() string   // absolute path of this program; "" where unknown
	where func() string   // see machine.Where
	own   func() []string // the directories of the PATH that nobody else may write to
}

func find(getenv func(string) string) found {
	self := sync.OnceValue(machine.Self)
	return found{
		self:  self,
		where: sync.OnceValue(func() string { return machine.Where(self()) }),
		own:   sync.OnceValue(func() []string { return machine.OwnDirs(policy.TrustedDirs(), getenv("PATH")) }),
	}
}
