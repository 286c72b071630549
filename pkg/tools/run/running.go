package run

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/agentkit-go/agentkit/pkg/job"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/truncate"
)

// commandState is how a command stands, as every tool that knows of one reports it.
type commandState struct {
	ExitCode   *int         `json:"exit_code"` // null while it runs and when it did not end by itself
	Signal     string       `json:"signal,omitempty"`
	Status     string       `json:"status"`        // running, completed, failed, timed_out, aborted or lost
	Job        string       `json:"job,omitempty"` // while anything of it runs
	DurationMS int64        `json:"duration_ms"`
	UserMS     int64        `json:"user_ms"`
	SystemMS   int64        `json:"system_ms"`
	MaxRSS     int64        `json:"max_rss_bytes"`
	Killed     bool         `json:"killed"`                  // something it left running was ended
	Kept       bool         `json:"kept,omitempty"`          // something it left running goes on as a job
	Waiting    *job.Waiting `json:"waiting,omitempty"`       // it waits for input
	Until      string       `json:"until,omitempty"`         // the line that was waited for
	Stopped    bool         `json:"stopped,omitempty"`       // a signal holds it
	Silent     bool         `json:"not_answering,omitempty"` // its supervisor is stopped or stuck
	KillMethod string       `json:"kill_method"`

	outputHeld bool // something that could not be ended still held the output
	overtime   bool // what it left running was ended by the time limit
	wasStopped bool // and ended for that
	incomplete string
	zeroBytes  int64 // in what is shown, where they show nothing
}

// endedState is a command that has ended within the call.
func endedState(s job.Status) commandState {
	r := commandState{
		Signal: s.Signal, Status: string(job.Completed), DurationMS: s.Wall.Milliseconds(), UserMS: s.User.Milliseconds(),
		SystemMS: s.System.Milliseconds(), MaxRSS: s.MaxRSS, Killed: s.Leftovers, KillMethod: s.Method, outputHeld: s.Held, wasStopped: s.Stopped,
	}
	switch {
	case s.TimedOut:
		r.Status = string(job.TimedOut)
	case s.Aborted:
		r.Status = string(job.Aborted)
	case s.Signal != "" || s.ExitCode != 0:
		r.Status = string(job.Failed)
	}
	if !s.TimedOut && !s.Aborted {
		r.ExitCode = &s.ExitCode
	}
	return r
}

// jobState is a command that is, or was, under a supervisor.
func jobState(i job.Info, j *job.Job) commandState {
	r := commandState{
		ExitCode: i.ExitCode, Signal: i.Signal, Status: string(i.State), DurationMS: i.Wall.Milliseconds(), UserMS: i.User.Milliseconds(),
		SystemMS: i.System.Milliseconds(), MaxRSS: i.MaxRSS, Killed: i.Leftovers || i.Overtime, overtime: i.Overtime, Kept: i.Kept, Waiting: i.Waiting, Stopped: i.Stopped, Silent: i.Silent, KillMethod: i.Method,
		Until: i.Found, outputHeld: i.Held, incomplete: i.Incomplete,
	}
	if i.State == job.Running && !i.Started.IsZero() {
		r.DurationMS = time.Since(i.Started).Milliseconds()
	}
	if i.State == job.TimedOut || i.State == job.Aborted {
		r.ExitCode = nil
	}
	if j != nil {
		r.Job = j.ID()
	}
	return r
}

// noLine says that the line which was waited for has not come.
const noLine = "[no line has matched until so far]"

// notes say in words what the output of a command does not show.
func (r *commandState) notes(meaning string) []string {
	var list []string
	add := func(format string, args ...any) { list = append(list, "["+fmt.Sprintf(format, args...)+"]") }
	switch {
	case r.Status == string(job.TimedOut), r.Status == string(job.Aborted):
	case r.Status == string(job.Lost):
		add("lost: its supervisor was killed, and it with it")
	case r.Silent:
		add("running as job %s, but its supervisor does not answer; kill ends it all the same", r.Job)
	case r.Waiting != nil && r.Waiting.Secret:
		add("running as job %s; %s waits for something secret to be typed: send it with input, or end it with kill", r.Job, r.Waiting.Program)
	case r.Waiting != nil:
		add("running as job %s; %s waits for input: send it with input, or end it with kill", r.Job, r.Waiting.Program)
	case r.Stopped:
		add("running as job %s, but stopped by a signal: kill with the signal CONT lets it go on", r.Job)
	case r.Status == string(job.Running):
		add("running as job %s; output shows what it prints, kill ends it", r.Job)
	case r.wasStopped:
		add("stopped by %s and ended, for nobody could continue it", r.Signal)
	case r.Signal != "":
		add("ended by %s", r.Signal)
	case r.ExitCode != nil && *r.ExitCode != 0 && meaning != "":
		add("exit status %d: %s", *r.ExitCode, meaning)
	case r.ExitCode != nil && *r.ExitCode != 0:
		add("exit status %d", *r.ExitCode)
	}
	switch {
	case r.Kept:
		add("it left something running, which goes on as job %s", r.Job)
	case r.Killed && !r.overtime:
		add("it left something running, which was ended; keep lets it go on")
	case r.overtime:
		add("what it left running was ended by its time limit")
	}
	if r.zeroBytes > 0 {
		add("left out above: %s; tr '\\0' '\\n' makes lines of what they part", tool.Count(r.zeroBytes, "zero byte"))
	}
	return list
}

// joined puts notes on lines of their own after an output; an empty one says
// so.
func joined(output, notes string) string {
	if notes != "" {
		if output != "" && !strings.HasSuffix(output, "\n") {
			output += "\n"
		}
		output += notes + "\n"
	}
	if output == "" {
		return "[no output]\n"
	}
	return output
}

// outputs takes in what a command prints: all together, and with split each
// stream apart, by the same limits.
type outputs struct {
	job.Output
	both, out, err *truncate.Writer // the last two nil without split
	zeros          *zeroCounter
	live           *liveOutput

	text  string
	cut   truncate.Result
	apart *streamTexts // nil without split
}

// streamTexts are the streams of a command that was run with split.
type streamTexts struct {
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
}

func newOutputs(env *tool.Env, split bool) *outputs {
	all := truncate.Options{Limits: env.Limits, Shape: truncate.Tail, Spill: env.Spill, ReadOn: tool.ReadOn, Clean: true}
	o := &outputs{both: truncate.New(all)}
	o.zeros = &zeroCounter{to: o.both}
	o.Both = o.zeros
	if split {
		part := all
		part.Spill, part.ReadOn = nil, nil // the whole is kept once
		o.out, o.err = truncate.New(part), truncate.New(part)
		o.Stdout, o.Stderr = o.out, o.err
	}
	if env.Emit != nil {
		o.live = newLiveOutput(o.zeros, env.Emit)
		o.Both = o.live
	}
	return o
}

func (o *outputs) close() {
	if o.live != nil {
		o.live.close()
	}
	o.cut = o.both.Close()
	o.text = o.cut.Text
	if o.out != nil {
		o.apart = &streamTexts{o.out.Close().Text, o.err.Close().Text}
	}
}

// A zeroCounter counts the zero bytes that pass through it. They are not shown, and the
// names that they part, as in the output of find -print0, stand together then.
type zeroCounter struct {
	to io.Writer
	n  int64
}

// Write implements io.Writer.
func (z *zeroCounter) Write(p []byte) (int, error) {
	z.n += int64(bytes.Count(p, []byte{0}))
	return z.to.Write(p)
}

// heldOutput says why an output may not be whole.
const heldOutput = "something that could not be ended still held the output; what it printed later is not here"

// heartbeat is the time between two signs of life while a command runs.
const heartbeat = time.Second

// A liveOutput passes output on while the command runs, and says every second that it
// does.
type liveOutput struct {
	to    io.Writer
	emit  func(tool.Event)
	rest  []byte // the beginning of a character or a line end whose rest has not come yet
	total atomic.Int64
	stop  context.CancelFunc
}

func newLiveOutput(to io.Writer, emit func(tool.Event)) *liveOutput {
	ctx, stop := context.WithCancel(context.Background())
	l := &liveOutput{to: to, emit: emit, stop: stop}
	go beat(ctx, emit, l.total.Load)
	return l
}

// beat says every second, until ctx ends, that something runs, and how many bytes
// it has printed.
func beat(ctx context.Context, emit func(tool.Event), printed func() int64) {
	begin := time.Now()
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if ctx.Err() != nil {
				return
			}
			emit(tool.Event{Name: "progress", Value: map[string]int64{
				"elapsed_ms": time.Since(begin).Milliseconds(), "output_bytes": printed(),
			}})
		}
	}
}

// Write implements io.Writer.
func (l *liveOutput) Write(p []byte) (int, error) {
	l.total.Add(int64(len(p)))
	text := append(l.rest, p...)
	whole := len(text) - unfinished(text)
	if whole > 0 && text[whole-1] == '\r' {
		whole-- // a line feed may follow, and then it is the end of a line
	}
	l.say(text[:whole])
	l.rest = append([]byte(nil), text[whole:]...)
	return l.to.Write(p)
}

func (l *liveOutput) say(text []byte) {
	if len(text) > 0 {
		plain := strings.ReplaceAll(string([]rune(string(text))), "\r\n", "\n") // a U+FFFD for each byte that is not UTF-8, as in the result
		l.emit(tool.Event{Name: "output", Value: tool.OutputEvent{Text: plain}})
	}
}

func (l *liveOutput) close() {
	l.say(l.rest)
	l.rest = nil
	l.stop()
}

// unfinished is how many bytes at the end of text begin a character that is
// not whole.
func unfinished(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if c := text[len(text)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(text[len(text)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// pattern compiles the regular expression of a parameter; nil for "".
func pattern(name, text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, tool.Errorf(tool.BadInput, "%s: %w", name, err).WithHint("write it as RE2 does, or escape what is meant literally with \\")
	}
	return re, nil
}

// untilParam declares the pattern of a line that is waited for.
func untilParam(p *param.Set, into *string, usage string) {
	p.String(into, "until", usage).Alias("wait_for", "wait_until", "ready_pattern")
}
