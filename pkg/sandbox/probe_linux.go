//go:build linux && (amd64 || arm64)

package sandbox

import (
	"context"
	"fmt"
	"syscall"
)

// probe makes a sandbox that starts nothing, the best one first.
func probe() Enforced {
	var missing []string
	for level := L3; level >= L2; level-- {
		s := &start{
			// A root that does not exist is passed over.
			Config: &Config{Root: "/nonexistent", Gate: true, Level: level}, log: &reportLog{}, level: level, trial: true,
			attr: &syscall.ProcAttr{Dir: "/"}, decide: func(context.Context, *Exec) Answer { return Answer{} },
		}
		p, err := s.run()
		if err == nil {
			s.abandon()
			p.Missing, p.Network = missing, ""
			return p.Enforced
		}
		missing = append(missing, fmt.Sprintf("%s: %s", level, why(err)))
	}
	return Enforced{Missing: missing}
}
