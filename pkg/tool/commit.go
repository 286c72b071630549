package tool

import (
	"context"

	"github.com/agentkit-go/agentkit/pkg/change"
)

// Commit makes the changes that a call has asked for itself, see [Env.Wrote].
func (env *Env) Commit(ctx context.Context, set change.Set) (change.Record, error) {
	record, err := env.History.Commit(ctx, set)
	if err == nil {
		env.Wrote(record)
	}
	return record, err
}

// Wrote lets Made hear of each file that holds something new after a change which a call has made itself, and
// was allowed to.
func (env *Env) Wrote(record change.Record) {
	if env.Made == nil {
		return
	}
	for i := range record.Files {
		f := &record.Files[i]
		known := f.Before.Kind == change.Missing || f.Before.Hash != ""
		if f.After.Kind == change.Regular && f.After.Hash != "" && known {
			env.Made(env.Policy, f)
		}
	}
}
