package run

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// began is when the session began, as far as that can be told.
func began(env *tool.Env) time.Time {
	if born, ok := machine.Birth(env.Session.Dir()); ok {
		return born
	}
	return env.Now()
}

// bornSince reports whether a file was made at a time or later, or is not there.
func bornSince(path string, since time.Time) bool {
	born, ok := machine.Birth(path)
	if !ok {
		_, err := os.Lstat(path)
		return errors.Is(err, fs.ErrNotExist)
	}
	return !born.Before(since)
}
