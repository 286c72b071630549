package cmd

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/dialect"
	"github.com/agentkit-go/agentkit/pkg/nearest"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A wrapping is the form that answers are wrapped in.
type wrapping string

// check finds the form for a message.
func (w wrapping) check() error {
	known := dialect.Forms()
	if w == "" || slices.Contains(known, string(w)) {
		return nil
	}
	return tool.Errorf(tool.BadInput, "--wrap: want one of %s, got %q", strings.Join(known, ", "), w).
		WithHint("choose the form of your provider").Suggest(nearest.Words(string(w), known, 3)...)
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
		raw, err := json.Marshal(dialect.Reply(string(w), m.Calls, results))
		if err == nil {
			err = a.printer().line(json.RawMessage(raw))
		}
		a.deliver(err)
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
	name string // our tool
	args json.RawMessage
	call *dialect.Call // nil for one in our own names
	err  error         // it makes no sense
}

func (r *runner) step(c *dialect.Request) step {
	var s step
	d, err := r.app.spoken()
	switch {
	case err != nil:
		s.err = err
	case c.Native():
		d, s.err = dialect.Find("openai")
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
		return s.call.Failed(s.err)
	case s.call != nil:
		return r.answer(ctx, p, s.call)
	}
	return r.call(ctx, p, s.name, s.args)
}

// reads reports whether a call changes nothing, by what it touches.
func (r *runner) reads(ctx context.Context, p tool.Peer, s *step) bool {
	t, err := Tools.Find(s.name)
	if err != nil || s.err != nil {
		return false
	}
	in, err := tool.Decode(t, s.args)
	if err != nil {
		return false
	}
	env, err := r.env(ctx, p)
	if err != nil {
		return false
	}
	needs, err := in.Call.Needs(ctx, env)
	return err == nil && t.ReadOnly && !slices.ContainsFunc(needs, func(a policy.Access) bool { return a.Kind != policy.Read && a.Kind != policy.Tool })
}

// besides is how many calls run side by side at most.
const besides = 8

// all makes calls in their order; those that only read, and follow one another, side by
// side.
func (r *runner) all(ctx context.Context, p tool.Peer, steps []step) []*tool.Result {
	results := make([]*tool.Result, len(steps))
	for i := 0; i < len(steps); {
		n := 1
		for len(steps) > 1 && r.reads(ctx, p, &steps[i]) && i+n < len(steps) && r.reads(ctx, p, &steps[i+n]) {
			n++
		}
		turns := make(chan struct{}, besides)
		var group sync.WaitGroup
		for k := i; k < i+n; k++ {
			turns <- struct{}{}
			group.Go(func() {
				defer func() { <-turns }()
				results[k] = r.make(ctx, p, &steps[k])
			})
		}
		group.Wait()
		i += n
	}
	return results
}
