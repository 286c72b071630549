package job

import (
	"context"
	"errors"
	"syscall"
	"time"
)

// Live returns what the supervisor knows at this moment, with Waiting and
// Stopped, which Info does not know; it takes a tenth of a second when the job has an input.
func (j *Job) Live() (Info, error) {
	r, err := j.ask(request{Op: opInfo})
	if r.Info != nil && (err == nil || errors.Is(err, ErrEnded)) {
		return *r.Info, nil
	}
	return Info{}, err
}

// Input writes text and then the sequences of keys (see Key) to the job, and
// with eof ends its input. Where there is no terminal ctrl-c is a SIGINT,
// ctrl-d the end of input, and enter a line feed. It fails with ErrNoInput,
// with ErrEnded, and with ErrBusy when the job does not read for five seconds;
// part of the input may have been taken then.
func (j *Job) Input(text []byte, keys []string, eof bool) error {
	_, err := j.ask(request{Op: opInput, Text: text, Keys: keys, EOF: eof})
	return err
}

// Resize tells the job's terminal its size.
func (j *Job) Resize(rows, cols uint16) error {
	_, err := j.ask(request{Op: opResize, Rows: rows, Cols: cols})
	return err
}

// Kill ends the job with all it started, by SIGTERM and, after grace, by
// SIGKILL, and waits for that as long as ctx allows. A job that has ended is
// no error.
func (j *Job) Kill(ctx context.Context, grace time.Duration) (Info, error) {
	_, err := j.ask(request{Op: opKill, Grace: int64(max(grace, 0))})
	if err != nil && !errors.Is(err, ErrEnded) {
		return Info{}, err
	}
	// Also what the command left running ends, and after it the supervisor.
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		i, err := j.Info()
		if err != nil || !i.Alive() || ctx.Err() != nil {
			return i, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// Signal sends a signal to the group of processes that the command leads, as
// a terminal would, or to all of the job.
func (j *Job) Signal(s syscall.Signal, all bool) error {
	_, err := j.ask(request{Op: opSignal, Signal: s, All: all})
	return err
}
