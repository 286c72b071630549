package job

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"
)

// Run runs a command that may become a job: it waits for it like the function
// Run, copying its output, but when yield has passed the command goes on as a
// job, and Info says that it runs. Until then the command belongs to the
// caller: it ends when ctx does, and when the caller dies. A yield of 0 makes
// it a job at once, a negative one never. With Spec.Keep the job also stays
// for what the command left running. The job is nil when nothing is left of
// it; then its log is gone, too.
//
// It becomes a job earlier when what w says has happened.
func (r *Registry) Run(ctx context.Context, spec Spec, yield time.Duration, w WaitFor, out Output) (Info, *Job, error) {
	j, l, err := r.start(ctx, spec, true)
	if err != nil {
		return Info{}, nil, err
	}
	defer l.conn.Close()
	f := newFollower(j, w)
	defer f.close()
	f.line, f.out = l, out
	i, err := f.foreground(ctx, spec, yield, w)
	i.Found = f.until.line()
	if err != nil {
		return i, j, err
	}
	if i.Alive() {
		return i, j, j.seen(ctx, f.at)
	}
	return i, nil, r.Session.RemoveAll("jobs/" + j.id)
}

// seen makes Read with SinceLast start behind what somebody has been shown.
func (j *Job) seen(ctx context.Context, at int64) error {
	return j.reg.Session.WriteFile(ctx, j.file(cursorFile), strconv.AppendInt(nil, at, 10))
}

// A follower copies a job's output while it waits for its end.
type follower struct {
	job   *Job
	line  *line
	out   Output
	until *finder    // also gets it all; nil for none
	log   *logReader // nil before the first output
	at    int64
	quit  chan struct{}
	err   error // why there are no more replies
}

func newFollower(j *Job, w WaitFor) *follower {
	f := &follower{job: j, at: w.From, quit: make(chan struct{})}
	if w.Until != nil {
		f.until = &finder{re: w.Until}
	}
	return f
}

func (f *follower) close() {
	close(f.quit)
	if f.log != nil {
		f.log.close()
	}
}

// foreground follows a tied job until it ends or is let go.
func (f *follower) foreground(ctx context.Context, spec Spec, yield time.Duration, w WaitFor) (Info, error) {
	// A command that has ended by now is told of without being asked.
	_ = f.line.send(request{Op: opFollow, Watch: w.watch()})
	var later <-chan time.Time
	if yield >= 0 {
		timer := time.NewTimer(yield)
		defer timer.Stop()
		later = timer.C
	}
	news := f.receive(0)
	end := ctx.Done()
	var now <-chan struct{}
	overdue := time.NewTimer(forever) // the answer to what it was told
	defer overdue.Stop()
	tell := func(q request) {
		_ = f.line.send(q)
		overdue.Reset(time.Duration(q.Grace) + f.job.reg.answerLimit())
	}
	var i Info
	for {
		select {
		case <-end:
			end, later, now = nil, nil, hurry(ctx)
			tell(request{Op: opKill, Grace: int64(spec.grace())})
		case <-now:
			now = nil
			tell(request{Op: opKill})
		case <-later:
			later = nil
			tell(request{Op: opDetach})
		case <-overdue.C:
			i, err := f.stuck(end == nil)
			if err != nil || i.Silent || !i.Alive() {
				return i, errors.Join(err, f.copy(i))
			}
			overdue.Reset(f.job.reg.answerLimit())
		case n, ok := <-news:
			if !ok {
				i, err := f.job.Info()
				return i, errors.Join(err, f.copy(i))
			}
			i = *n.Info
			if err := f.copy(i); err != nil {
				return i, err
			}
			if n.Op == opDetach || n.Done {
				return i, nil
			}
			if later != nil && (w.met(&i) || f.until.done()) {
				later = nil
				tell(request{Op: opDetach})
			}
		}
	}
}

// stuck looks at a supervisor that has not done what it was told to. One that does
// not even answer is killed where it was to end the command.
func (f *follower) stuck(kill bool) (Info, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 4*f.job.reg.answerLimit())
	defer cancel()
	i, err := f.job.Live(ctx)
	if err == nil && i.Silent && kill {
		return f.job.strike(ctx)
	}
	return i, err
}

// receive passes on replies until the connection ends. The first one has to come
// within limit; 0 is for none.
func (f *follower) receive(limit time.Duration) <-chan reply {
	c := make(chan reply)
	go func() {
		defer close(c)
		for ; ; limit = 0 {
			var r reply
			if f.err = f.line.receiveWithin(&r, limit); f.err != nil || r.Info == nil {
				return
			}
			select {
			case c <- r:
			case <-f.quit:
				return
			}
			if r.Done || r.Op == opDetach {
				return
			}
		}
	}()
	return c
}

// copy passes on what the log has and we have not.
func (f *follower) copy(i Info) error {
	if i.Total <= f.at || f.out == (Output{}) && f.until == nil {
		return nil
	}
	var err error
	if f.log == nil {
		f.log, err = f.job.openLog(i)
	} else {
		err = f.log.refresh(i)
	}
	if err != nil {
		return err
	}
	r := f.log
	buf := make([]byte, 64<<10)
	r.parts(f.at, func(p part) bool {
		to := [2]io.Writer{f.out.Both, f.out.Stdout}
		if p.origin == Stderr {
			to[1] = f.out.Stderr
		}
		for p.from < p.to {
			n, err := r.log.ReadAt(buf[:min(int64(len(buf)), p.to-p.from)], p.from)
			if n == 0 {
				return err == nil
			}
			p.from += int64(n)
			for _, w := range to {
				if w != nil {
					_, _ = w.Write(buf[:n])
				}
			}
			f.until.look(buf[:n])
		}
		return true
	})
	f.at = r.total
	return nil
}

// follow follows a job that is nobody's.
func (f *follower) follow(ctx context.Context, w WaitFor) (Info, error) {
	j := f.job
	l, err := j.dial(ctx, request{Op: opFollow, Watch: w.watch()})
	if err != nil {
		i, err := j.lost(ctx, err)
		return i, errors.Join(err, f.copy(i))
	}
	defer l.conn.Close()
	f.line = l
	news := f.receive(j.reg.answerLimit())
	for {
		select {
		case <-ctx.Done():
			return j.Info()
		case n, ok := <-news:
			if !ok {
				i, err := j.lost(ctx, f.err)
				return i, errors.Join(err, f.copy(i))
			}
			if err := f.copy(*n.Info); err != nil {
				return *n.Info, err
			}
			if n.Done || w.met(n.Info) || f.until.done() {
				return *n.Info, nil
			}
		}
	}
}

// lost is what is known of a job when the conversation with its supervisor ended
// with err.
func (j *Job) lost(ctx context.Context, err error) (Info, error) {
	err = j.silent(ctx, err)
	switch {
	case ctx.Err() != nil:
		return j.Info()
	case errors.Is(err, ErrSilent):
		return j.unheard()
	}
	i, again := j.after(ctx)
	if again == nil && i.State == Running && ctx.Err() == nil {
		return i, err
	}
	return i, again
}
