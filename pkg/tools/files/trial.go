package files

import (
	"context"
	"errors"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/overlay"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// trialError explains why a trial cannot be applied.
func trialError(err error) error {
	switch {
	case errors.Is(err, overlay.ErrNone):
		return tool.Errorf(tool.NotFound, "%w", err).WithHint("it was applied or discarded, or was older than a week, or another session's; run {bash} with {bash.try} again")
	case errors.As(err, new(*overlay.ConflictError)), errors.As(err, new(*change.ChangedError)):
		return tool.Errorf(tool.Conflict, "nothing was changed: %w", err).WithHint("look at these files, and run {bash} with {bash.try} again: it begins with what they are now")
	}
	return err
}

// trialIDs are the trials that can be applied.
func trialIDs(_ context.Context, env *tool.Env) (list []string) {
	for _, id := range overlay.List(env.Session) {
		if t, err := overlay.Open(env.Session, env.Workspace.Root(), id); err == nil {
			list = append(list, id+"\t"+t.Title)
		}
	}
	return list
}
