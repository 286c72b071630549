package job

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/agentkit-go/agentkit/pkg/killtree"
)

// Live returns what the supervisor knows at this moment, with Waiting and
// Stopped, which Info does not know; it takes a tenth of a second when the job has an input.
// Of a supervisor that does not answer it returns what Info does, and Silent.
func (j *Job) Live(ctx context.Context) (Info, error) {
	r, err := j.ask(ctx, request{Op: opInfo})
	switch {
	case r.Info != nil && (err == nil || errors.Is(err, ErrEnded)):
		return *r.Info, nil
	case errors.Is(err, ErrSilent):
		return j.unheard()
	}
	return Info{}, err
}

// unheard is what is known of a job whose supervisor does not answer.
func (j *Job) unheard() (Info, error) {
	i, err := j.Info()
	i.Silent = i.Alive()
	return i, err
}

// Input writes text and then the sequences of keys (see Key) to the job, and
// with eof ends its input. Where there is no terminal ctrl-c is a SIGINT,
// ctrl-d the end of input, and enter a line feed. It fails with ErrNoInput,
// with ErrEnded, with ErrSilent, and with ErrBusy when the job does not read for
// five seconds; part of the input may have been taken then.
func (j *Job) Input(ctx context.Context, text []byte, keys []string, eof bool) error {
	_, err := j.ask(ctx, request{Op: opInput, Text: text, Keys: keys, EOF: eof})
	return err
}

// Resize tells the job's terminal its size.
func (j *Job) Resize(ctx context.Context, rows, cols uint16) error {
	_, err := j.ask(ctx, request{Op: opResize, Rows: rows, Cols: cols})
	return err
}

// Kill ends the job with all it started, by SIGTERM and, after grace, by
// SIGKILL, and waits for that as long as ctx allows. A job that has ended is
// no error. Where the supervisor does not answer it is killed, and with it at once
// all that it holds.
func (j *Job) Kill(ctx context.Context, grace time.Duration) (Info, error) {
	_, err := j.ask(ctx, request{Op: opKill, Grace: int64(max(grace, 0))})
	switch {
	case errors.Is(err, ErrSilent):
		return j.strike(ctx)
	case err != nil && !errors.Is(err, ErrEnded):
		return Info{}, err
	}
	return j.gone(ctx) // also what the command left running ends, and after it the supervisor
}

// strike kills the supervisor, and what ends the tree when that is gone does so.
// Then it writes the status in the supervisor's place.
func (j *Job) strike(ctx context.Context) (Info, error) {
	i, err := j.stored()
	if err != nil {
		return i, err
	}
	killtree.EndHeld(i.Method, i.Supervisor, i.Head)
	if now, err := j.gone(ctx); err != nil || now.Alive() {
		return now, err
	}
	for pause := time.Millisecond; i.Head.Alive() && ctx.Err() == nil; pause = min(2*pause, 20*time.Millisecond) {
		time.Sleep(pause)
	}
	release, err := j.reg.Session.HoldJob(ctx, j.id)
	if err != nil {
		return i, fmt.Errorf("noting the end of job %s: %w", j.id, err)
	}
	defer release()
	if i, err = j.stored(); err != nil || !i.Alive() {
		return i, err // it has ended by itself meanwhile
	}
	if i.State == Running {
		i.State, i.Ended = Aborted, time.Now()
		i.Wall = i.Ended.Sub(i.Started)
	}
	i.Kept, i.OpenStdin, i.Total = false, false, max(i.Total, j.size())
	i.Incomplete = cmp.Or(i.Incomplete, "the job's supervisor did not answer and was killed")
	raw, err := json.Marshal(i)
	if err == nil {
		err = j.reg.Session.WriteFile(ctx, j.file(statusFile), raw)
	}
	return i, err
}

// Signal sends a signal to the group of processes that the command leads, as
// a terminal would, or to all of the job.
func (j *Job) Signal(ctx context.Context, s syscall.Signal, all bool) error {
	_, err := j.ask(ctx, request{Op: opSignal, Signal: s, All: all})
	return err
}
