package tool

import (
	"context"
	"time"

	"github.com/agentkit-go/agentkit/pkg/audit"
	"github.com/agentkit-go/agentkit/pkg/policy"
)

// A Tracer is metadata that knows what the call has left behind.
type Tracer interface {
	Traces() Traces
}

// Traces are what a call has left behind; what there is not is "".
type Traces struct {
	Change string // what undo calls it
	Diff   string // of files that may be read
	Job    string // what goes on
}

// A Typist is a call that types something into a program; it is not shown where the
// terminal does not show it either, as a password.
type Typist interface {
	Typed() (text string, shown bool)
}

// inside is the key of the call that a context belongs to.
type inside struct{}

// within is the context of what a call does, so that calls it makes are known for its own.
func within(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, inside{}, id)
}

// parent is the call that makes another; "" for none.
func parent(ctx context.Context) string {
	id, _ := ctx.Value(inside{}).(string)
	return id
}

func (env *Env) record(ctx context.Context, in *Invocation, id string, out *policy.Outcome, decision, note string) error {
	e := audit.Entry{
		Time: env.Now(), ID: id, Parent: parent(ctx), Tool: in.Tool.Name, Event: audit.Decision, Decision: decision, Note: note,
		Level: env.Policy.Wall(), Policy: env.Policy.Hash(), Caller: env.Caller, Message: env.Origin.Message, Agent: env.Origin.Agent,
	}
	e.Asked = in.Set == nil
	for i := range out.Accesses {
		d := &out.Decisions[i]
		e.Accesses = append(e.Accesses, audit.Access{
			Kind: string(out.Accesses[i].Kind), Subject: policy.Subject(&out.Accesses[i]),
			Decision: d.Verdict.String(), Rule: d.Rule, File: d.File, Line: d.Line, Why: d.Why,
		})
	}
	shown := true
	if t, ok := in.Call.(Typist); ok {
		if e.Typed, shown = t.Typed(); !shown {
			e.Typed = "(what the terminal does not show)"
		}
	}
	if err := env.append(ctx, e); err != nil || e.Asked || !shown {
		return err
	}
	_ = env.Audit.Tell(audit.Told{ID: id, Args: string(in.Set.Said(env.Audit.Shorten))}) // it is on record without
	return nil
}

// recordResult puts on record what came of a call. What a tool that only reads has told is
// still where it was read, and not copied.
func (env *Env) recordResult(ctx context.Context, t *Tool, id string, r *Result, took time.Duration) error {
	exit := r.Exit()
	e := audit.Entry{Time: env.Now(), ID: id, Tool: t.Name, Event: audit.Result, Exit: &exit, Title: r.Title, Millis: took.Milliseconds()}
	told := audit.Told{ID: id}
	if m, ok := r.Metadata.(Tracer); ok {
		left := m.Traces()
		e.Change, e.Job, told.Diff = left.Change, left.Job, left.Diff
	}
	if !t.ReadOnly || r.Error != nil {
		told.Text = r.Said()
	}
	if r.Error != nil {
		e.Code = string(r.Error.Code)
	}
	if err := env.append(context.WithoutCancel(ctx), e); err != nil {
		return err
	}
	if told.Text+told.Diff != "" {
		_ = env.Audit.Tell(told) // it is on record without
	}
	return nil
}

func (env *Env) append(ctx context.Context, e audit.Entry) error {
	if err := env.Audit.Append(ctx, e); err != nil {
		return Errorf(IO, "recording the call: %w", err).
			WithHint("calls are refused while %s cannot be written; check disk and owner, or choose another --state", env.Audit.Path())
	}
	return nil
}
