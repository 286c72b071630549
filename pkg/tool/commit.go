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
	for i := range record.Files {
		f := &record.Files[i]
		known := f.Before.Kind == change.Missing || f.Before.Hash != ""
		if f.After.Kind == change.Regular && f.After.Hash != "" && known {
			env.Made(env.Policy, f)
		}
	}
	return record, nil
}
