package session

import (
	"context"
	"os"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// jobLock is held by a job's supervisor while the job lives.
const jobLock = "lock"

// HoldJob creates jobs/ID/ and marks the job as alive until release is called
// or the process dies. While it is alive gc removes neither the job nor its
// session. A job that someone else holds is safefile.ErrLocked, after the second
// for which who asks [Session.JobAlive] is waited for at most: the question takes
// the lock, too.
func (s *Session) HoldJob(ctx context.Context, id string) (release func(), err error) {
	dir, base, err := s.makeParent(ctx, "jobs/"+id+"/"+jobLock)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	soon, cancel := context.WithTimeoutCause(ctx, time.Second, safefile.ErrLocked)
	defer cancel()
	f, err := dir.Lock(soon, base)
	if err != nil {
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// JobAlive reports whether a process holds the job.
func (s *Session) JobAlive(id string) (bool, error) {
	dir, base, err := s.openParent("jobs/" + id + "/" + jobLock)
	if err != nil {
		return false, err
	}
	defer dir.Close()
	f, err := dir.OpenFile(base, os.O_RDONLY)
	if err != nil {
		return false, err
	}
	defer f.Close()
	return safefile.Locked(f, false)
}
