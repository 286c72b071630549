package files

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// TestAgain: a call that has waited long for a lock is done again all the same when
// somebody outside wrote to the file, and one whose file never rests ends.
func TestAgain(t *testing.T) {
	for name, c := range map[string]struct {
		each  time.Duration // what a try takes
		rests int           // the try before which nobody writes any more; 0 for never
		least time.Duration // that an unsuccessful call takes
		most  int           // tries
	}{
		"waits for a lock": {8 * time.Second, 3, 0, 3},
		"at once":          {time.Millisecond, 2, 0, 2},
		"a busy file":      {10 * time.Millisecond, 0, 5 * time.Second, 600},
		"a busy lock":      {8 * time.Second, 0, 5 * time.Second, 10},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun, tries := time.Now(), 0
			_, err := again(t.Context(), nil, func(context.Context, *tool.Env) (*tool.Result, error) {
				time.Sleep(c.each)
				if tries++; tries == c.rests {
					return &tool.Result{}, nil
				}
				return nil, &workspace.ConflictError{Path: "f"}
			})
			if c.rests > 0 && (err != nil || tries != c.rests) {
				t.Errorf("%s: %d tries, %v", name, tries, err)
			}
			if c.rests == 0 && (!errors.As(err, new(*workspace.ConflictError)) || tries > c.most || time.Since(begun) < c.least) {
				t.Errorf("%s: %d tries in %v, %v", name, tries, time.Since(begun), err)
			}
		})
	}
}
