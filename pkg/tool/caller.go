package tool

import (
	"context"
	"encoding/json"
	"sync"
)

// A Peer is whoever made a call: who hears what happens while it runs, and who is
// asked. The zero Peer is nobody.
type Peer struct {
	Hear     func(Event) // nil where nobody listens; may be called from several goroutines
	Hears    int64       // bytes of a command's output that Hear wants; 0 for all
	Ask      Asker       // nil where nobody can answer
	Approver string      // the program that answers for Ask, which no command may change; "" for none
	Room     int         // bytes that the output may have for a caller at another place; 0 for the usual
	Colour   bool        // the result is shown in colour
	Consult  Consultant  // answers a model's questions; nil where nobody can
	Name     string      // what the caller calls the call; "" for nothing
	Key      string      // the same for calls of which only one is to be made; "" for none
	Origin   Origin      // from where the call comes
}

// CallerName is an id of a caller's, a text or another value of JSON, as a Peer's Name.
func CallerName(id json.RawMessage) string {
	var text string
	if json.Unmarshal(id, &text) == nil { // which null is, too
		return text
	}
	return string(id)
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

// besides is how many calls run side by side at most.
const besides = 8

// InOrder makes calls from the one with a number on, up to another: the first alone, or,
// where it only reads, with those behind it that do, side by side. It returns the number
// of the first that was not made.
func InOrder(from, to int, reads func(int) bool, call func(int)) int {
	next := from + 1
	if reads(from) {
		for next < to && reads(next) {
			next++
		}
	}
	SideBySide(next-from, besides, func(i int) { call(from + i) })
	return next
}

// SideBySide does work(0) to work(n-1), at most so many at a time, and returns when all are
// done.
func SideBySide(n, most int, work func(int)) {
	turns := make(chan struct{}, most)
	var all sync.WaitGroup
	for i := range n {
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			work(i)
		})
	}
	all.Wait()
}
