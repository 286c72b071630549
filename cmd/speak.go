package cmd

import (
	"context"
	"encoding/json"
	"math"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/dialect"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// speak makes one call that came in a dialect, and prints its result in it.
func (a *app) speak(c *cobra.Command, d *dialect.Dialect, name string, raw json.RawMessage) error {
	call, err := d.Decode(name, raw)
	if err != nil {
		a.emit(call.Failed(err))
		return nil
	}
	a.listen()
	r, err := a.open(c.Context())
	if err != nil {
		return err
	}
	defer r.close(c.Context())
	p := a.peer(r.limits())
	if a.format() == "text" {
		p.Hear = nil // the text is made of the whole result
	}
	ctx, unread := c.Context(), func() bool { return false }
	if t, err := Tools.Find(call.To); err == nil && t.Passes {
		ctx, unread = whileRead(ctx, a.stdout)
	}
	result := r.answer(ctx, p, call)
	if unread() {
		a.exit = exitUnread
		return nil
	}
	a.emit(result)
	return nil
}

// caller makes calls in our own names, or in those of the dialect that is set, and
// says which names these are.
func (r *runner) caller() (tool.Caller, []string, error) {
	d, err := r.app.spoken()
	if err != nil || d == nil {
		return r.call, Tools.Names(), err
	}
	var names []string
	for _, t := range d.Listed() {
		names = append(names, t.Name)
	}
	return func(ctx context.Context, p tool.Peer, name string, args json.RawMessage) (result *tool.Result) {
		defer func() {
			if v := recover(); v != nil {
				result = tool.Fail(name, tool.Panicked(v))
			}
		}()
		call, err := d.Decode(name, args)
		if err != nil {
			return call.Failed(err)
		}
		return r.answer(ctx, p, call)
	}, names, nil
}

// answer makes a call that came in a dialect; the result is in it, too.
func (r *runner) answer(ctx context.Context, p tool.Peer, call *dialect.Call) *tool.Result {
	t, err := Tools.Find(call.To)
	if err != nil {
		return call.Failed(err)
	}
	in, err := tool.Decode(t, call.Arguments())
	if err != nil {
		return call.Failed(err)
	}
	env, err := r.env(ctx, p)
	if err != nil {
		return call.Failed(err)
	}
	env.Names = call.Names()
	if room := call.Tool.Room; room > 0 {
		if n := env.Policy.Limits().OutputBytes; n > 0 {
			room = min(room, n)
		}
		env.Limits.Bytes, env.Limits.Lines, env.Limits.LineChars = room, math.MaxInt32, math.MaxInt32
	}
	result, rest := r.run(ctx, env, in)
	r.rest.Go(func() { rest(ctx) })
	return call.Show(result, dialect.Place{Root: env.Workspace.Root(), Max: r.app.most()})
}

// most is how many bytes of output whoever runs the program allows; 0 for the usual
// limits.
func (a *app) most() int {
	switch n := 4 * a.MaxTokens; {
	case n > 0 && a.MaxBytes > 0:
		return min(n, a.MaxBytes)
	case n > 0:
		return n
	}
	return a.MaxBytes
}
