package tool

import (
	"context"
	"encoding/json"
)

// A Peer is whoever made a call: who hears what happens while it runs, and who is
// asked. The zero Peer is nobody.
type Peer struct {
	Hear     func(Event) // nil where nobody listens; may be called from several goroutines
	Hears    int64       // bytes of a command's output that Hear wants; 0 for all
	Ask      Asker       // nil where nobody can answer
	Approver string      // the program that answers for Ask, which no command may change; "" for none
	Consult  Consultant  // answers a model's questions; nil where nobody can
}

// A Caller makes one call for a peer. It may be called from several goroutines. The
// Result is never nil.
type Caller func(ctx context.Context, p Peer, name string, args json.RawMessage) *Result

// Inner makes a call for the one that env belongs to, as if it had been made alone:
// with its own needs, decision, record and result.
func (env *Env) Inner(ctx context.Context, name string, args json.RawMessage) *Result {
	t, err := env.Tools.Find(name)
	if err != nil {
		return Fail(name, err)
	}
	return Do(ctx, env, t, args)
}
