package tool

import (
	"context"

	"github.com/agentkit-go/agentkit/pkg/change"
)

// Commit makes the changes that a call has asked for itself, and lets Made hear of each file
// that holds something new then.
func (env *Env) Commit(ctx context.Context, set change.Set) (change.Record, error) {
	record, err := env.History.Commit(ctx, set)
	if err != nil || env.Made == nil {
		return record, err
	}
	for i := range set.Changes {
		c := &set.Changes[i]
		switch {
		case c.Source != nil: // larger than what a policy would be about
		case c.Op == change.Create, c.Op == change.Replace:
			env.Made(env.Policy, c.Path.Real, c.Data)
		case c.Op == change.Move && c.Data != nil:
			env.Made(env.Policy, c.To.Real, c.Data)
		}
	}
	return record, nil
}
