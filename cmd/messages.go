package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/dialect"
	"github.com/agentkit-go/agentkit/pkg/nearest"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A wrapping is the form that answers are wrapped in.
type wrapping string

// check finds the form for a message.
func (w wrapping) check() error {
	if w == "" {
		return nil
	}
	return wantOneOf("--wrap", string(w), dialect.Forms())
}

// wantOneOf is the error for the value of a flag that is none of those it may have; nil
// for one that is.
func wantOneOf(flag, value string, known []string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return tool.Errorf(tool.BadInput, "%s: want one of %s, got %q", flag, strings.Join(known, ", "), value).
		WithHint("choose the format of your provider").Suggest(nearest.Words(value, known, 3)...)
}

// converse makes all calls of a message, and prints their results: one a line, or in
// the provider's form.
func (a *app) converse(c *cobra.Command, m *dialect.Message, w wrapping) error {
	if len(m.Calls) == 0 {
		a.exit = tool.ExitNo
	}
	r, err := a.open(c.Context())
	if err != nil {
		return err
	}
	defer r.close(c.Context())
	steps := make([]step, len(m.Calls))
	for i := range m.Calls {
		steps[i] = r.step(&m.Calls[i])
	}
	results := r.all(c.Context(), a.quiet(r), steps)
	for _, one := range results {
		if one.Error != nil && a.exit == 0 {
			a.exit = one.Exit()
		}
	}
	if w != "" {
		a.deliver(a.printer().line(dialect.Reply(string(w), m.Calls, results)))
		return nil
	}
	for _, one := range results {
		a.deliver(a.printer().result(one))
	}
	return nil
}

// quiet is the peer of several calls: what they print stands in their results, and
// they ask one after the other.
func (a *app) quiet(r *runner) tool.Peer {
	p := a.peer(r.limits())
	if a.format() != "events" {
		p.Hear = nil
	}
	if ask := p.Ask; ask != nil {
		var one sync.Mutex
		p.Ask = func(ctx context.Context, request *tool.Request) (tool.Answer, error) {
			one.Lock()
			defer one.Unlock()
			return ask(ctx, request)
		}
	}
	return p
}

// A step is one call of a message.
type step struct {
	name  string // our tool
	there string // how another place knows it
	args  json.RawMessage
	call  *dialect.Call // nil for one in our own names
	raw   json.RawMessage
	id    string // what the message calls it
	err   error  // it makes no sense
}

func (r *runner) step(c *dialect.Request) step {
	s := step{raw: c.Arguments, id: c.ID}
	d := r.dialect
	s.there = c.Name
	if c.Native() {
		d, s.err = dialect.Find("openai")
		s.there = "openai/" + c.Name
	}
	if d == nil || s.err != nil {
		s.name, s.args = c.Named()
		return s
	}
	if s.call, s.err = d.Decode(c.Name, c.Arguments); s.err == nil {
		s.name, s.args = s.call.To, s.call.Arguments()
	}
	return s
}

// run makes the call of s.
func (r *runner) make(ctx context.Context, p tool.Peer, s *step) *tool.Result {
	switch {
	case s.err != nil:
		return failed(s.call, s.err)
	case r.far != nil && s.call != nil: // which it speaks itself
		return r.far.call(ctx, p, s.there, s.raw)
	case s.call != nil:
		return r.answer(ctx, s.call, func() (*tool.Env, error) { return r.env(ctx, p) })
	}
	return r.call(ctx, p, s.name, s.args)
}

// all makes calls in their order; those that only read, and follow one another, side by
// side.
func (r *runner) all(ctx context.Context, p tool.Peer, steps []step) []*tool.Result {
	results := make([]*tool.Result, len(steps))
	reads := func(i int) bool {
		t, err := Tools.Find(steps[i].name)
		return err == nil && t.ReadOnly
	}
	for i := 0; i < len(steps); {
		i = tool.InOrder(i, len(steps), reads, func(k int) {
			own := p
			own.Name = steps[k].id
			if own.Key != "" && len(steps) > 1 {
				own.Key += fmt.Sprintf("#%d", k)
			}
			results[k] = r.make(ctx, own, &steps[k])
		})
	}
	return results
}
