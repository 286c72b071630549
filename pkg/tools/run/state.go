package run

import (
	"errors"
	"os"
	"regexp"
	"time"

	"github.com/agentkit-go/agentkit/pkg/job"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// commandState is how a command stands, as every tool that knows of one reports it.
type commandState struct {
	ExitCode   *int         `json:"exit_code" doc:"null while it runs and when it did not end by itself"`
	Signal     string       `json:"signal,omitempty" doc:"the signal that it died by, such as SIGKILL"`
	Status     string       `json:"status" doc:"running, completed, failed, timed_out, aborted or lost"`
	Job        string       `json:"job,omitempty" doc:"while anything of it runs"`
	DurationMS int64        `json:"duration_ms" doc:"from its start until now or its end"`
	UserMS     int64        `json:"user_ms" doc:"processor time of it and what it started"`
	SystemMS   int64        `json:"system_ms" doc:"the same in the kernel"`
	MaxRSS     int64        `json:"max_rss_bytes" doc:"the most memory that a process of it took"`
	Killed     bool         `json:"killed" doc:"it, or something it left running, was ended by us"`
	Kept       bool         `json:"kept,omitempty" doc:"something it left running goes on as a job"`
	Waiting    *job.Waiting `json:"waiting,omitempty" doc:"it waits for input"`
	Until      *string      `json:"until,omitempty" doc:"the line that was waited for"`
	Stopped    bool         `json:"stopped,omitempty" doc:"a signal holds it"`
	Silent     bool         `json:"not_answering,omitempty" doc:"its supervisor is stopped or stuck"`
	KillMethod string       `json:"kill_method" doc:"what holds the tree of processes together"`

	outputHeld bool // something that could not be ended still held the output
	leftovers  bool // what it left running was ended
	overtime   bool // what it left running was ended by the time limit
	wasStopped bool // and ended for that
	crowded    bool // it had too many processes and was ended
	exhausted  bool // it held too much memory and was ended
	incomplete string
	zeroBytes  int64 // in what is shown, where they show nothing
}

// endedState is a command that has ended within the call.
func endedState(s job.Status) commandState {
	r := commandState{
		Signal: s.Signal, Status: string(job.Completed), DurationMS: s.Wall.Milliseconds(), UserMS: s.User.Milliseconds(),
		SystemMS: s.System.Milliseconds(), MaxRSS: s.MaxRSS, Killed: s.Leftovers || s.TimedOut || s.Aborted || s.Stopped || s.Crowded || s.Exhausted, leftovers: s.Leftovers, KillMethod: s.Method, outputHeld: s.Held, wasStopped: s.Stopped, crowded: s.Crowded, exhausted: s.Exhausted,
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
		SystemMS: i.System.Milliseconds(), MaxRSS: i.MaxRSS, Killed: i.Killed || i.Leftovers || i.Overtime || i.State == job.TimedOut || i.State == job.Aborted || i.Crowded || i.Exhausted, leftovers: i.Leftovers, overtime: i.Overtime, Kept: i.Kept, Waiting: i.Waiting, Stopped: i.Stopped, Silent: i.Silent, KillMethod: i.Method,
		Until: i.Found, outputHeld: i.Held, crowded: i.Crowded, exhausted: i.Exhausted, incomplete: i.Incomplete,
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
func noLine() tool.Note { return tool.Notef("no line has matched {.until} so far") }

// state is a note on how a command stands.
func state(format string, args ...any) tool.Note {
	return tool.Note{Advice: tool.Advise(format, args...), State: true}
}

// notes say in words what the output of a command does not show.
func (r *commandState) notes(meaning string) []tool.Note {
	var list []tool.Note
	add := func(format string, args ...any) { list = append(list, state(format, args...)) }
	switch {
	case r.Status == string(job.TimedOut), r.Status == string(job.Aborted):
	case r.Status == string(job.Lost):
		add("lost: its supervisor was killed, and it with it, as when a container or the machine ends")
	case r.Silent:
		add("running as job %s, but its supervisor does not answer; {kill} ends it all the same", r.Job)
	case r.Waiting != nil && r.Waiting.Secret:
		add("running as job %s; %s waits for something secret to be typed: send it with {input}, or end it with {kill}", r.Job, tool.VisibleName(r.Waiting.Program))
	case r.Waiting != nil:
		add("running as job %s; %s waits for input: send it with {input}, or end it with {kill}", r.Job, tool.VisibleName(r.Waiting.Program))
	case r.Stopped:
		add("running as job %s, but stopped by a signal: {kill} with the signal CONT lets it go on", r.Job)
	case r.Status == string(job.Running):
		add("running as job %s; {output} shows what it prints, {kill} ends it", r.Job)
		if os.Getpid() == 1 {
			add("agentkit is the first process of this container: the container ends with this call, and the job with it")
		}
	case r.wasStopped:
		add("stopped by %s and ended, for nobody could continue it", r.Signal)
	case r.crowded:
		add("ended, for it had more processes than it may have; limits: {processes: N} in a policy allows N")
	case r.exhausted:
		add("ended, for its processes held more memory than they may, or nearly all that the machine had left; limits: {total_memory_bytes: N} in a policy sets another bound")
	case r.Signal != "":
		add("ended by %s", r.Signal)
	case r.ExitCode != nil && *r.ExitCode != 0 && meaning != "":
		add("exit status %d: %s", *r.ExitCode, meaning)
	case r.ExitCode != nil && *r.ExitCode != 0:
		add("exit status %d", *r.ExitCode)
	}
	add = func(format string, args ...any) { list = append(list, tool.Notef(format, args...)) }
	switch {
	case r.Kept:
		add("it left something running, which goes on as job %s", r.Job)
	case r.leftovers && !r.overtime:
		add("it left something running, which was ended; {bash.keep} lets it go on")
	case r.overtime:
		add("what it left running was ended by its time limit")
	}
	if r.zeroBytes > 0 {
		add("left out above: %s; tr '\\0' '\\n' makes lines of what they part", tool.Count(r.zeroBytes, "zero byte"))
	}
	return list
}

// orNothing is notes, or where these and the output are empty, one that says so.
func orNothing(output string, notes []tool.Note) []tool.Note {
	if output == "" && len(notes) == 0 {
		return []tool.Note{state("no output")}
	}
	return notes
}

// heldOutput says why an output may not be whole.
const heldOutput = "something that could not be ended still held the output; what it printed later is not here"

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

// jobError says what can be done about an error of a job.
func jobError(err error) error {
	if _, interrupted := errors.AsType[*tool.Signal](err); interrupted {
		return err
	}
	switch {
	case errors.Is(err, job.ErrNotFound):
		return tool.Errorf(tool.NotFound, "%w", err).WithHint("see {jobs}")
	case errors.Is(err, job.ErrEnded):
		return tool.Errorf(tool.Conflict, "%w", err).WithHint("read what it printed with {output}, or start it again with {bash}")
	case errors.Is(err, job.ErrNoInput):
		return tool.Errorf(tool.Conflict, "%w", err).WithHint("start it again with {bash.tty}, or with {bash.background} and without {bash.stdin}; {kill} with {kill.signal} INT interrupts it")
	case errors.Is(err, job.ErrBusy):
		return tool.Errorf(tool.Timeout, "%w", err).WithHint("look at it with {output}; part of the input may have been taken")
	case errors.Is(err, job.ErrSilent):
		return tool.Errorf(tool.Timeout, "%w", err).WithHint("{kill} ends the job all the same; {output} shows what it has printed so far")
	case errors.Is(err, job.ErrNoTerminal):
		return tool.Errorf(tool.Unsupported, "%w", err).WithHint("start it again with {bash.tty}")
	}
	return tool.Errorf(tool.IO, "%w", err).WithHint("see {jobs}; the job's supervisor may be gone")
}
