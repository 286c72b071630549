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
		a.emit(failed(call, err))
		return nil
	}
	t, err := Tools.Find(call.To)
	if err != nil {
		return err
	}
	a.listen()
	a.prepare(t)
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
	if t.Passes || t.ReadOnly { // what changes something is not left half done
		ctx, unread = whileRead(ctx, a.stdout)
	}
	var result *tool.Result
	if r.far != nil { // which speaks the dialect itself
		result = r.far.call(ctx, p, name, raw)
	} else {
		result = r.answer(ctx, call, func() (*tool.Env, error) { return r.fresh(p), nil })
	}
	if unread() {
		a.exit = exitUnread
		return nil
	}
	a.emit(result)
	return nil
}

// caller makes calls in our own names, or in those of the dialect that is set, and
// says which names these are.
func (r *runner) caller() (tool.Caller, []string) {
	if r.far != nil {
		return r.far.call, r.far.Hello().Tools
	}
	names := Tools.Names()
	if r.dialect != nil {
		names = nil
		for _, t := range r.dialect.Listed() {
			names = append(names, t.Name)
		}
	}
	return func(ctx context.Context, p tool.Peer, name string, args json.RawMessage) (result *tool.Result) {
		defer caught(name, &result)
		d := r.dialect
		if r.app.carried != nil {
			d, name = spokenIn(name, d)
		}
		if d == nil && name == gcName && r.app.carried != nil {
			return r.collected(ctx, args)
		}
		if d == nil {
			return r.call(ctx, p, name, args)
		}
		call, err := d.Decode(name, args)
		if err != nil {
			return failed(call, err)
		}
		return r.answer(ctx, call, func() (*tool.Env, error) { return r.env(ctx, p) })
	}, names
}

// collected is gc, for a caller at another place.
func (r *runner) collected(ctx context.Context, args json.RawMessage) *tool.Result {
	var g gcCall
	err := json.Unmarshal(args, &g)
	if err == nil {
		var result *tool.Result
		if result, err = r.app.collect(ctx, &g); err == nil {
			return result
		}
	}
	return tool.Fail(gcName, err)
}

// failed is the result of a call in a dialect that was not made.
func failed(call *dialect.Call, err error) *tool.Result {
	result := call.Failed(err)
	if call != nil {
		t, err := Tools.Find(call.To)
		result.Passes = err == nil && t.Passes
	}
	return result
}

// answer makes a call that came in a dialect, in an environment of its own; the result is
// in the dialect, too.
func (r *runner) answer(ctx context.Context, call *dialect.Call, own func() (*tool.Env, error)) (result *tool.Result) {
	defer caught(call.Tool.Name, &result)
	t, err := r.may.Find(call.To)
	if err != nil {
		return failed(call, err)
	}
	in, err := tool.Decode(t, call.Arguments())
	if err != nil {
		return failed(call, err)
	}
	env, err := own()
	if err != nil {
		return failed(call, err)
	}
	env.Names = call.Names()
	if room := call.Tool.Room; room > 0 {
		if n := env.Policy.Limits().OutputBytes; n > 0 {
			room = min(room, n)
		}
		env.Limits.Bytes, env.Limits.Lines, env.Limits.LineChars = room, math.MaxInt32, math.MaxInt32
	}
	return call.Show(r.made(ctx, env, in), dialect.Place{Root: env.Workspace.Root(), Max: r.app.most()})
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
