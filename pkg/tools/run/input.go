package run

import (
	"context"
	_ "embed"
	"errors"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/job"
	"github.com/agentkit-go/agentkit/pkg/loss"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

//go:embed input.md
var inputDoc string

// Input types into a job.
var Input = tool.Tool{
	Name:      "input",
	Summary:   "type into a job, and read what it answers",
	Doc:       &inputDoc,
	New:       func() tool.Call { return &inputCall{YieldMS: 250} },
	OpenWorld: true,

	Others: []string{"writestdin", "sendinput", "sendkeys", "stdin"},

	Examples: []string{
		"agentkit input j7k2 --text 'print(1)' --keys enter",
		"agentkit input j7k2 --keys ctrl-c",
	},

	IDs: jobIDs,

	Metadata: (*jobOutput)(nil),
}

type inputCall struct {
	ID      string
	Text    string
	Keys    []string
	Close   bool
	YieldMS int
	Rows    *int
	Cols    *int

	keys   []string // as bytes
	job    *job.Job
	aside  []string // what is taken away outside the root, to be copied before
	secret bool     // the terminal does not show what is typed
}

// Params implements tool.Call.
func (i *inputCall) Params(p *param.Set) {
	jobID(p, &i.ID)
	p.String(&i.Text, "text", "what to type").FromStdin().Alias("chars", "input")
	p.Strings(&i.Keys, "keys", "keys to press after the text")
	p.Bool(&i.Close, "close", "end its input").Alias("eof")
	p.Millis(&i.YieldMS, "yield_ms", "how long to wait for its answer").Between(0, 600_000).Alias("yield_time_ms", "timeout", "timeout_ms")
	p.OptionalInt(&i.Rows, "rows", "resize its terminal").Between(1, 1000).Shown("as it is").Rare()
	p.OptionalInt(&i.Cols, "cols", "resize its terminal").Between(1, 1000).Shown("as it is").Rare()
}

// Needs implements tool.Call. What is typed into a shell runs like any other
// command, so it is decided like one; see line.
func (i *inputCall) Needs(ctx context.Context, env *tool.Env) ([]policy.Access, error) {
	if (i.Rows == nil) != (i.Cols == nil) {
		return nil, tool.Errorf(tool.BadInput, "rows and cols belong together").WithHint("give both, or neither")
	}
	for _, name := range i.Keys {
		key, err := job.Key(name)
		if err != nil {
			return nil, tool.Errorf(tool.BadInput, "keys: %w", err).WithHint("use enter, tab, esc, up, down, ctrl-c and the like; plain text belongs in text")
		}
		i.keys = append(i.keys, key)
	}
	var err error
	if i.job, err = openJob(env, i.ID); err != nil {
		return nil, err
	}
	needs := []policy.Access{{Kind: policy.Tool, Tool: "input", Name: i.ID}}
	info, err := i.job.Live(ctx)
	if info.Silent {
		return nil, jobError(job.ErrSilent)
	}
	if err != nil || !info.Alive() || i.Text == "" && len(i.keys) == 0 {
		return needs, nil // nothing is typed, or Run says why
	}
	l := &line{env: env, info: info, text: i.Text, keys: i.keys}
	typed := l.judge(ctx)
	i.aside, i.secret = l.aside, l.secret()
	return policy.Append(needs, typed...), nil
}

// Typed implements tool.Typist.
func (i *inputCall) Typed() (text string, shown bool) {
	text = i.Text
	for _, name := range i.Keys {
		text += "[" + name + "]"
	}
	return text, !i.secret
}

// echo is how many bytes a terminal shows of what is typed, at most.
func (i *inputCall) echo(info job.Info) int64 {
	if !info.TTY {
		return 0
	}
	n := len(i.Text) + strings.Count(i.Text, "\n")
	for _, key := range i.keys {
		n += 2 * len(key)
	}
	return int64(n)
}

// Run implements tool.Call.
func (i *inputCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	if i.Rows != nil {
		if err := i.job.Resize(ctx, uint16(*i.Rows), uint16(*i.Cols)); err != nil {
			return nil, jobError(err)
		}
	}
	aside := &loss.Aside{}
	before, err := i.job.Info()
	if err != nil {
		return nil, jobError(err)
	}
	if i.Text != "" || len(i.keys) > 0 || i.Close {
		if aside, err = loss.CopyAside(env, i.aside); err != nil {
			return nil, err
		}
		if err := i.job.Input(ctx, []byte(i.Text), i.keys, i.Close); err != nil {
			return nil, jobError(err)
		}
	}
	wait, cancel := context.WithTimeout(ctx, time.Duration(i.YieldMS)*time.Millisecond)
	defer cancel()
	// At first it still waits for what it is just being sent.
	settle, enough := context.WithTimeout(wait, 200*time.Millisecond)
	_, err = i.job.Wait(settle, job.WaitFor{})
	enough()
	if err == nil {
		_, err = i.job.Wait(wait, job.WaitFor{Input: true, Quiet: true, Ready: true, From: before.Total, Echo: i.echo(before)})
	}
	if err != nil {
		return nil, jobError(err)
	}
	r, err := readJob(ctx, env, i.job, jobView{Query: job.Query{SinceLast: true}})
	if r != nil {
		r.Passes = false
		if aside.Note != nil {
			r.Notes = append(r.Notes, *aside.Note)
		}
	}
	return r, errors.Join(err, context.Cause(ctx))
}
