package confine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/steps"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/wall"
)

// A secret is hidden from a command at the path where the walk of the root has found it.
// If another command moved a directory meanwhile, the secret would lie open at a path that
// the walk did not see. So a command can move no directory that holds a secret, unless its
// call does nothing but that: then it holds this file's lock alone. Each other command
// shares the lock from its walk until its sandbox stands.
type moves struct {
	file *os.File
	once sync.Once
}

const (
	waitMoves  = 10 * time.Second       // for a call that moves things to end
	waitOthers = 300 * time.Millisecond // for the sandboxes of other commands to stand
	clockTick  = 20 * time.Millisecond  // times of files are at most so much behind
)

func openMoves(env *tool.Env) (*os.File, error) {
	name := filepath.Join(wall.Dir(env.Session.StateDir()), filepath.Base(filepath.Dir(env.Session.Dir()))+".moves")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if os.IsNotExist(err) {
		if err = os.MkdirAll(filepath.Dir(name), 0o700); err == nil {
			f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		}
	}
	return f, err
}

// moving reports whether a call that moves things runs now.
func moving(env *tool.Env) bool {
	f, err := openMoves(env)
	if err != nil {
		return true
	}
	defer f.Close()
	locked, err := safefile.Locked(f, false)
	return locked || err != nil
}

// holdMoves takes the lock: alone is granted where nobody else holds it in time. It also
// reports whether a walk that began at a time may have met with a move.
func holdMoves(env *tool.Env, alone bool, begun time.Time) (m *moves, granted, stale bool, err error) {
	f, err := openMoves(env)
	if err != nil {
		return nil, false, false, err
	}
	m = &moves{file: f}
	try := func(exclusive bool, most time.Duration) error {
		if err := safefile.TryLock(f, exclusive); err == nil {
			return nil
		}
		stale = true
		ctx, cancel := context.WithTimeout(context.Background(), most)
		defer cancel()
		return safefile.WaitLock(ctx, f, exclusive)
	}
	if alone && try(true, waitOthers) == nil {
		now := time.Now()
		return m, true, stale, os.Chtimes(f.Name(), now, now)
	}
	if err := try(false, waitMoves); err != nil {
		m.release()
		if !errors.Is(err, context.DeadlineExceeded) {
			return nil, false, false, fmt.Errorf("sharing the lock of moves: %w", err)
		}
		return nil, false, false, tool.Errorf(tool.Conflict, "another call is moving or removing directories that hold secrets").
			WithHint("nothing was run; repeat the call when that one has ended")
	}
	if i, err := f.Stat(); err != nil || !i.ModTime().Before(begun.Add(-clockTick)) {
		stale = true
	}
	return m, false, stale, nil
}

// release gives the lock back; m may be nil. The command's init has the file open too, so closing
// it would not do.
func (m *moves) release() {
	if m != nil {
		m.once.Do(func() {
			_ = safefile.Unlock(m.file)
			_ = m.file.Close()
		})
	}
}

// movesSecrets reports whether what a call moves or removes holds something hidden: nobody
// waits for the end of another.
func movesSecrets(needs []policy.Access, w *wall.Wall) bool {
	return slices.ContainsFunc(needs, func(a policy.Access) bool {
		return a.Op == policy.Delete && slices.ContainsFunc(w.Hidden, func(p string) bool { return safefile.Below(a.Path, p) })
	})
}

// removes reports whether a call that only moves files removes them all, so that what is
// hidden may go with them: mv copies what goes to another file system.
func removes(needs []policy.Access) bool {
	return !slices.ContainsFunc(needs, func(a policy.Access) bool { return a.Kind == policy.Exec && steps.Name(&a) == "mv" })
}
