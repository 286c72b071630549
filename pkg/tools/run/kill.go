package run

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/agentkit-go/agentkit/pkg/confine"
	"github.com/agentkit-go/agentkit/pkg/job"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

//go:embed kill.md
var killDoc string

// Kill ends a job.
var Kill = tool.Tool{
	Name:       "kill",
	Summary:    "end a job with all it started",
	Doc:        &killDoc,
	New:        func() tool.Call { return &killCall{GraceMS: 2000} },
	Idempotent: true,

	Others: []string{"killshell", "killbash", "killjob", "stop", "terminate", "stopjob", "taskstop"},

	Examples: []string{
		"agentkit kill j7k2",
		"agentkit kill j7k2 --signal HUP",
		"agentkit kill -9 j7k2",
		"agentkit kill all",
	},

	IDs: jobIDs,

	Metadata: (*killMeta)(nil),
}

type killCall struct {
	ID      string
	All     bool
	Signal  string
	GraceMS int

	signal syscall.Signal // 0 to end it
}

// allJobs is the id that stands for every job of the session.
const allJobs = "all"

// Params implements tool.Call.
func (k *killCall) Params(p *param.Set) {
	id := jobID(p, &k.ID)
	id.Usage, id.Must = "the job, or all", false
	p.Bool(&k.All, "all", "every job of the session, as id all").Unlisted()
	p.String(&k.Signal, "signal", "only send this signal, such as INT or 9").Shown("TERM, then KILL, to everything").Rare().
		Dashed(func(word string) bool { _, err := job.ParseSignal(word); return err == nil })
	p.Millis(&k.GraceMS, "grace_ms", "time from TERM to KILL").Between(0, 60_000).Alias("grace").Rare()
}

// Needs implements tool.Call.
func (k *killCall) Needs(context.Context, *tool.Env) ([]policy.Access, error) {
	switch {
	case k.All && k.ID != "" && k.ID != allJobs:
		return nil, tool.Errorf(tool.BadInput, "both all and the job %s are given", k.ID).WithHint("give one of them")
	case k.All:
		k.ID = allJobs
	case k.ID == "":
		return nil, tool.Errorf(tool.BadInput, "id is required: the job").WithHint("give the id that {bash} returned, or all for every job of the session")
	}
	if k.Signal != "" {
		var err error
		if k.signal, err = job.ParseSignal(k.Signal); err != nil {
			return nil, tool.Errorf(tool.BadInput, "signal: %w", err).WithHint("use a name such as INT, TERM, HUP or USR1, or leave it out to end the job")
		}
	}
	return []policy.Access{{Kind: policy.Tool, Tool: "kill", Name: k.ID}}, nil
}

type killMeta struct {
	ID       string    `json:"id" doc:"the whole id, or all"`
	Status   string    `json:"status" doc:"of the job as it is now; with all: of the last"`
	Killed   bool      `json:"killed" doc:"it ran, and has ended by this"`
	ExitCode *int      `json:"exit_code" doc:"null where it did not end by itself"`
	Signal   string    `json:"signal,omitempty" doc:"the signal that it died by"`
	Jobs     []jobLine `json:"jobs" doc:"those that the call was about"`
}

// Run implements tool.Call.
func (k *killCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	list, err := k.jobs(env)
	if err != nil {
		return nil, err
	}
	meta := killMeta{ID: k.ID, Status: "none", Jobs: []jobLine{}}
	var out strings.Builder
	ended := make([]ending, len(list))
	tool.SideBySide(len(list), askedAtOnce, func(n int) { ended[n] = k.end(ctx, list[n]) })
	var failed []error
	for _, e := range ended {
		if e.err != nil {
			failed = append(failed, jobError(e.err))
			continue
		}
		confine.OfJob(e.after)
		line := newJobLine(e.after)
		meta.Jobs = append(meta.Jobs, line)
		if k.ID != allJobs {
			meta.ID = line.ID // a beginning was given, perhaps
		}
		meta.Status, meta.ExitCode, meta.Signal = line.Status, line.ExitCode, line.Signal
		meta.Killed = meta.Killed || e.before.Alive() && !e.after.Alive()
		switch {
		case !e.before.Alive():
			fmt.Fprintf(&out, "%s had ended already: %s\n", line.ID, line.Status)
		case e.after.Alive():
			fmt.Fprintf(&out, "%s got %s and still runs\n", line.ID, signalLabel(k.Signal))
		case e.before.Kept:
			fmt.Fprintf(&out, "what %s had left running was ended; the command itself had ended before: %s\n", line.ID, line.Status)
		default:
			fmt.Fprintf(&out, "%s has ended: %s\n", line.ID, line.Status)
		}
	}
	if len(list) == 0 {
		out.WriteString("no job is running\n")
	}
	if cause := context.Cause(ctx); cause != nil { // then each of them has failed for that
		failed = []error{cause}
	}
	return &tool.Result{Title: "kill " + meta.ID, Output: out.String(), Metadata: meta}, errors.Join(failed...)
}

// jobs are those that are meant.
func (k *killCall) jobs(env *tool.Env) ([]*job.Job, error) {
	if k.ID != allJobs {
		j, err := openJob(env, k.ID)
		return []*job.Job{j}, err
	}
	reg := registry(env)
	infos, err := reg.List()
	var list []*job.Job
	for _, i := range infos {
		if !i.Alive() {
			continue
		}
		j, failed := reg.Open(i.ID)
		if failed == nil {
			list = append(list, j)
		}
	}
	return list, err
}

// An ending is what a job was before it was to end and what it was then, or why that
// is not known.
type ending struct {
	before, after job.Info
	err           error
}

// end ends the job, or only sends it a signal.
func (k *killCall) end(ctx context.Context, j *job.Job) (e ending) {
	if e.before, e.err = j.Info(); e.err != nil || !e.before.Alive() {
		e.after = e.before
		return e
	}
	grace := time.Duration(k.GraceMS) * time.Millisecond
	if k.signal == 0 {
		wait, cancel := context.WithTimeout(ctx, grace+10*time.Second)
		defer cancel()
		e.after, e.err = j.Kill(wait, grace)
		return e
	}
	if e.err = j.Signal(ctx, k.signal, false); e.err != nil && !errors.Is(e.err, job.ErrEnded) {
		return e
	}
	wait, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	e.after, e.err = j.Wait(wait, job.WaitFor{})
	return e
}

func signalLabel(name string) string {
	if name == "" {
		return "SIGKILL"
	}
	return "SIG" + strings.TrimPrefix(strings.ToUpper(name), "SIG")
}
