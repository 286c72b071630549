//go:build unix

package job

import (
	"context"
	"errors"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/killtree"
)

// TestSilentSupervisor: a supervisor that is stopped holds up nobody for longer than
// the limit, and a job with it is ended all the same.
func TestSilentSupervisor(t *testing.T) {
	for _, method := range []string{"", "group"} {
		t.Run("method "+method, func(t *testing.T) {
			t.Parallel()
			silentSupervisor(t, method)
		})
	}
}

func silentSupervisor(t *testing.T, method string) {
	r := registry(t)
	r.Answer = 500 * time.Millisecond
	mark := strconv.Itoa(os.Getpid()) + "8" + strconv.Itoa(len(method))
	s := spec("echo there; sleep 1003." + mark + " & exec sleep 1003." + mark)
	s.OpenStdin, s.Tree.Method = true, method
	j := begin(t, r, s)
	until(t, j, "there")
	gone(t, "1003."+mark, false)
	stop(t, j)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	within := func(what string, limit time.Duration, do func() error, want error) {
		t.Helper()
		begin := time.Now()
		if err := do(); !errors.Is(err, want) {
			t.Errorf("%s: %v", what, err)
		}
		if took := time.Since(begin); took > limit+time.Minute {
			t.Errorf("%s took %v", what, took)
		}
	}
	look := func(what string, look func() (Info, error)) {
		t.Helper()
		within(what, r.answerLimit(), func() error {
			i, err := look()
			if !i.Silent || i.State != Running {
				t.Errorf("%s: %+v", what, i)
			}
			return err
		}, nil)
	}
	look("live", func() (Info, error) { return j.Live(ctx) })
	look("wait", func() (Info, error) { return j.Wait(ctx, WaitFor{Input: true}) })
	within("signal", r.answerLimit(), func() error { return j.Signal(ctx, syscall.SIGUSR1, false) }, ErrSilent)
	within("input", r.inputLimit(), func() error { return j.Input(ctx, []byte("x"), nil, false) }, ErrSilent)
	if got := text(t, j, Query{}); got != "there\n" {
		t.Errorf("the log is still there to read: %q", got)
	}
	// Nobody waits who does not want to.
	soon, cancel := context.WithTimeoutCause(ctx, 50*time.Millisecond, errHaste)
	defer cancel()
	within("an impatient look", 0, func() error { _, err := j.Live(soon); return err }, errHaste)
	within("kill", 2*r.answerLimit(), func() error {
		i, err := j.Kill(ctx, time.Minute)
		if i.State != Aborted || i.Incomplete == "" || i.Alive() {
			t.Errorf("%+v", i)
		}
		return err
	}, nil)
	gone(t, "1003."+mark, true)
	if i, err := j.Info(); err != nil || i.State != Aborted || text(t, j, Query{}) != "there\n" {
		t.Errorf("afterwards: %+v %v", i, err)
	}
}

var errHaste = errors.New("haste")

// TestSilentForeground: a command that still belongs to its caller is let go or
// ended although its supervisor is stopped.
func TestSilentForeground(t *testing.T) {
	for _, cancelled := range []bool{false, true} {
		t.Run(strconv.FormatBool(cancelled), func(t *testing.T) {
			t.Parallel()
			r := registry(t)
			r.Answer = 500 * time.Millisecond
			mark := strconv.Itoa(os.Getpid()) + map[bool]string{false: "90", true: "91"}[cancelled]
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			yield := time.Second
			if cancelled {
				yield = -1
			}
			go func() {
				for range 5000 {
					if list, err := r.List(); err == nil && len(list) == 1 && list[0].Head.Pid != 0 {
						time.Sleep(300 * time.Millisecond) // Run hears that the command runs, and waits for it
						stop(t, &Job{reg: r, id: list[0].ID})
						break
					}
					time.Sleep(10 * time.Millisecond)
				}
				if cancelled {
					cancel()
				}
			}()
			s := spec("exec sleep 1004." + mark)
			s.Grace = time.Millisecond
			begin := time.Now()
			i, _, err := r.Run(ctx, s, yield, WaitFor{}, Output{})
			switch took := time.Since(begin); {
			case err != nil || took > yield+4*r.answerLimit()+time.Minute:
				t.Errorf("%+v %v after %v", i, err, took)
			case cancelled && i.State != Aborted, !cancelled && !i.Silent:
				t.Errorf("%+v", i)
			}
			if cancelled {
				gone(t, "1004."+mark, true)
			}
		})
	}
}

// stop stops the supervisor.
func stop(t *testing.T, j *Job) {
	t.Helper()
	i, err := j.Info()
	if err == nil {
		err = syscall.Kill(i.Supervisor.Pid, syscall.SIGSTOP)
	}
	for range 1000 {
		p, ok := killtree.Find(i.Supervisor.Pid)
		if err != nil || !ok || p.State == 'T' {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestStarterGoneFirstSeenByWriting: the end of a starter shows by a failed write, too,
// when there is something to tell before its end of the line was read.
func TestStarterGoneFirstSeenByWriting(t *testing.T) {
	in, held, err := os.Pipe() // its other end stays open: nothing is read
	if err != nil {
		t.Fatal(err)
	}
	gone, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = gone.Close()
	defer func() { _, _, _ = in.Close(), held.Close(), out.Close() }()
	s := &supervisor{info: Info{State: Running}, end: make(chan ending, 4), change: make(chan struct{}), done: make(chan struct{})}
	go s.tied(newLine(pipes{in: in, out: out}))
	select {
	case e := <-s.end:
		if e.state != Aborted {
			t.Errorf("it is to be %s", e.state)
		}
	case <-time.After(time.Minute):
		t.Error("the command of a starter that is gone goes on")
	}
}
