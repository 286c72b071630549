// Package script runs a piece of Lua that can do nothing but compute, print, and call
// the functions it is given.
//
// It runs in a process of its own, this very program started again (see Work), because
// Lua cannot be bounded from within: a pattern, a concatenation or a sort is one step
// that takes any time and memory. The process is ended when a limit is reached, and has
// neither files nor environment of ours. The two talk in lines of JSON.
package script

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"strings"
	"time"
)

// WorkArg is the first argument of the process that runs the script.
const WorkArg = "agentkit-script"

// A Function is what a script can call, by tables of its parameters.
type Function struct {
	Name  string   `json:"name"`
	Plain []string `json:"plain"` // the parameters that may be given without their names, in order
}

// Limits are what a script may take.
type Limits struct {
	Time   time.Duration
	Memory int // bytes of its own values
	Calls  int
	Output int // bytes that it prints
}

// Options says what runs, and with what.
type Options struct {
	Self   string // the program to start, which calls Work
	Code   string
	Args   []string // the global args
	Tools  []Function
	Limits Limits
	Call   func(ctx context.Context, name string, args json.RawMessage) (result json.RawMessage)

	// Values are what the session has kept, by keys, and SetValue keeps one, or removes it where
	// it is null.
	Values   func() (map[string]json.RawMessage, error)
	SetValue func(ctx context.Context, key string, value json.RawMessage) error
}

// An Outcome is what came of a script, as far as it came.
type Outcome struct {
	Printed string
	Value   json.RawMessage // what it returned; null for nothing
}

// An Error is a mistake in the script, in Lua's words.
type Error struct{ Message string }

// Error implements error.
func (e *Error) Error() string { return e.Message }

// A Limit is which one ended the script.
type Limit struct{ What, Most string }

// Error implements error.
func (l *Limit) Error() string {
	return fmt.Sprintf("the script was ended: its limit of %s is %s", l.What, l.Most)
}

// An order is what the process is told first.
type order struct {
	Code   string     `json:"code"`
	Args   []string   `json:"args"`
	Tools  []Function `json:"tools"`
	Memory int        `json:"memory"`
}

// A step is a line that the process writes.
type step struct {
	Call  string          `json:"call,omitempty"`
	Ask   string          `json:"ask,omitempty"` // values or set, of the session's values
	Key   string          `json:"key,omitempty"` // of the value; for values, "" is all
	Args  json.RawMessage `json:"args,omitempty"`
	Print *string         `json:"print,omitempty"`
	Done  bool            `json:"done,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
	Error string          `json:"error,omitempty"`
	Limit string          `json:"limit,omitempty"`
}

// maxStep bounds a line of the process.
const maxStep = 64 << 20

// Run runs a script. The Outcome is never nil.
func Run(ctx context.Context, o Options) (*Outcome, error) {
	limited, cancel := context.WithTimeoutCause(ctx, o.Limits.Time, &Limit{"time", o.Limits.Time.String()})
	defer cancel()
	c := exec.CommandContext(limited, o.Self, WorkArg)
	c.Env = []string{"GOMAXPROCS=2"}
	c.WaitDelay = time.Second
	var stderr tail
	c.Stderr = &stderr
	in, err := c.StdinPipe()
	if err != nil {
		return &Outcome{}, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return &Outcome{}, err
	}
	if err := c.Start(); err != nil {
		return &Outcome{}, err
	}
	defer func() {
		cancel() // kills it
		_ = c.Wait()
	}()
	run := &run{Options: o, in: in, out: bufio.NewReaderSize(out, 64<<10)}
	err = run.talk(limited)
	done := &Outcome{Printed: run.printed.String(), Value: run.value}
	switch cause := context.Cause(limited); {
	case err == nil:
	case cause != nil:
		err = cause
	case errors.Is(err, io.EOF):
		cancel()
		_ = c.Wait()
		err = died(stderr.String(), o.Limits)
	}
	return done, err
}

// died says why the process has ended by itself.
func died(said string, l Limits) error {
	switch {
	case strings.Contains(said, "stack"):
		return &Limit{"depth", "reached by code or a pattern that is nested too deeply"}
	case strings.Contains(said, "out of memory"), strings.Contains(said, "cannot allocate"), said == "":
		return &Limit{"memory", size(l.Memory)}
	}
	return fmt.Errorf("the script's process has ended: %s", said)
}

func size(bytes int) string { return fmt.Sprintf("%d MiB", bytes>>20) }

// A run is one script that runs.
type run struct {
	Options
	in      io.Writer
	out     *bufio.Reader
	printed strings.Builder
	value   json.RawMessage
	calls   int
}

// talk tells the process what to do, and does what it asks for.
func (r *run) talk(ctx context.Context) error {
	if err := r.send(order{r.Code, r.Args, r.Tools, r.Limits.Memory}); err != nil {
		return err
	}
	for {
		line, err := r.line()
		if err != nil {
			return err
		}
		var s step
		if err := json.Unmarshal(line, &s); err != nil {
			return err
		}
		switch {
		case s.Print != nil:
			if r.printed.WriteString(*s.Print); r.printed.Len() > r.Limits.Output {
				return &Limit{"output", size(r.Limits.Output)}
			}
		case s.Limit != "":
			return &Limit{s.Limit, size(r.Limits.Memory)}
		case s.Error != "":
			return &Error{s.Error}
		case s.Done:
			r.value = s.Value
			return nil
		default:
			if r.calls++; r.calls > r.Limits.Calls {
				return &Limit{"calls", fmt.Sprint(r.Limits.Calls)}
			}
			if err := r.send(r.answer(ctx, s)); err != nil {
				return err
			}
		}
	}
}

// answer does what the process asks for.
func (r *run) answer(ctx context.Context, s step) any {
	var a answer
	var err error
	switch s.Ask {
	case "values":
		a.Values, err = r.Values()
		if s.Key != "" {
			maps.DeleteFunc(a.Values, func(key string, _ json.RawMessage) bool { return key != s.Key })
		}
	case "set":
		err = r.SetValue(ctx, s.Key, s.Args)
	default:
		return r.Call(ctx, s.Call, s.Args)
	}
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

// An answer is about the session's values.
type answer struct {
	Values map[string]json.RawMessage `json:"values,omitempty"`
	Error  string                     `json:"error,omitempty"`
}

func (r *run) send(v any) error {
	raw, err := json.Marshal(v)
	if err == nil {
		_, err = r.in.Write(append(raw, '\n'))
	}
	return err
}

// line reads a line that is not longer than it may be.
func (r *run) line() ([]byte, error) {
	var line []byte
	for {
		part, err := r.out.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxStep {
			return nil, &Limit{"output", size(maxStep)}
		}
		if err == nil {
			return line, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, io.EOF
		}
	}
}

// A tail keeps the beginning of what is written to it.
type tail struct{ bytes.Buffer }

func (t *tail) Write(p []byte) (int, error) {
	if room := 4<<10 - t.Len(); room > 0 {
		t.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
