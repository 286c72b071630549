package world

import (
	"time"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// Began is when the session began, as far as that can be told.
func Began(env *tool.Env) time.Time {
	if born, ok := machine.Birth(env.Session.Dir()); ok {
		return born
	}
	return env.Now()
}
