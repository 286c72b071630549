package run

import (
	"context"
	_ "embed"
	"errors"
	"regexp"
	"time"

	"github.com/agentkit-go/agentkit/pkg/job"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

//go:embed output.md
var outputDoc string

// Output shows what a job prints.
var Output = tool.Tool{
	Name:    "output",
	Summary: "read what a job prints, and wait for its end",
	Doc:     &outputDoc,
	New:     func() tool.Call { return &outputCall{Wait: true, TimeoutMS: 30_000, SinceLast: true} },
	Passes:  true,

	Others: []string{"bashoutput", "readoutput", "taskoutput", "getoutput", "getterminaloutput"},

	Examples: []string{
		"agentkit output j7k2",
		"agentkit output j7k2 --until 'listening on'",
		"agentkit output j7k2 --grep error --since-last=false",
	},

	IDs: jobIDs,

	Metadata: (*jobOutput)(nil),
}

type outputCall struct {
	ID        string
	Wait      bool
	TimeoutMS int
	Offset    *int
	SinceLast bool
	Until     string
	Grep      string
	Lines     *int
	Screen    bool

	until, grep *regexp.Regexp
}

// Params implements tool.Call.
func (o *outputCall) Params(p *param.Set) {
	jobID(p, &o.ID)
	p.Bool(&o.Wait, "wait", "wait for its end, or for news").Alias("block")
	p.Millis(&o.TimeoutMS, "timeout_ms", "longest wait").Between(0, 600_000).Alias("timeout", "timeoutMs", "yield_ms")
	p.OptionalInt(&o.Offset, "offset", "the byte to start at; negative from the end").Shown("what is new").Rare()
	p.Bool(&o.SinceLast, "since_last", "only what was not read before").Rare()
	untilParam(p, &o.Until, "wait for a line that matches this regular expression")
	p.String(&o.Grep, "grep", "only lines that match").Alias("filter", "pattern")
	p.OptionalInt(&o.Lines, "lines", "only the last so many lines").Between(1, 1_000_000).Alias("tail").Shown("all").Rare()
	p.Bool(&o.Screen, "screen", "the screen of its terminal").Rare()
}

// Needs implements tool.Call: the job is the session's own.
func (o *outputCall) Needs(context.Context, *tool.Env) ([]policy.Access, error) {
	if o.Screen && (o.Offset != nil || o.Grep != "" || o.Lines != nil) {
		return nil, tool.Errorf(tool.BadInput, "screen shows all of the screen").WithHint("leave out {.offset}, {.grep} and {.lines}, or {.screen}")
	}
	var err error
	if o.grep, err = pattern("grep", o.Grep); err != nil {
		return nil, err
	}
	o.until, err = pattern("until", o.Until)
	return nil, err
}

// Run implements tool.Call.
func (o *outputCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	j, err := openJob(env, o.ID)
	if err != nil {
		return nil, err
	}
	found, err := j.Info()
	switch {
	case err != nil:
		return nil, jobError(err)
	case o.Screen && !found.TTY:
		return nil, jobError(job.ErrNoTerminal)
	case o.Wait:
		wait, cancel := context.WithTimeout(ctx, time.Duration(o.TimeoutMS)*time.Millisecond)
		if env.Emit != nil {
			go beat(wait, env.Emit, func() int64 {
				i, _ := j.Live(wait)
				return i.Total
			})
		}
		found, err = j.Wait(wait, job.WaitFor{Input: true, Quiet: o.until == nil, Until: o.until, From: o.from(j)})
		cancel()
		if err != nil {
			return nil, jobError(err)
		}
	}
	q := jobView{Query: job.Query{SinceLast: o.SinceLast && o.Offset == nil, Grep: o.grep}, screen: o.Screen}
	if found.Silent {
		q.silent = &found
	}
	if o.Offset != nil {
		q.Offset = int64(*o.Offset)
	}
	if o.Lines != nil {
		q.Lines = *o.Lines
	}
	r, err := readJob(ctx, env, j, q)
	if r != nil && o.until != nil {
		if m, ok := r.Metadata.(*jobOutput); ok {
			m.Until = found.Found
		}
		if found.Found == nil {
			r.Notes = append(r.Notes, noLine())
		}
	}
	if r != nil && o.Wait && r.Status == 0 {
		r.Status = exitOf(r)
	}
	return r, errors.Join(err, context.Cause(ctx))
}

// from is where the output begins that this call is for.
func (o *outputCall) from(j *job.Job) int64 {
	switch {
	case o.Offset != nil && *o.Offset >= 0:
		return int64(*o.Offset)
	case o.Offset == nil && o.SinceLast:
		return j.Unread()
	}
	return 0
}

func exitOf(r *tool.Result) int {
	if m, ok := r.Metadata.(*jobOutput); ok && m.ExitCode != nil {
		return *m.ExitCode
	}
	return 0
}
