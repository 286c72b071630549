package remote

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"sync/atomic"

	"github.com/agentkit-go/agentkit/pkg/serve"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A Link makes calls at a far end over a connection that is opened again when it is lost.
// Each call has a key there, by which it is made once: one that was cut off is asked for
// again.
type Link struct {
	o      *Options
	hello  *serve.Hello
	turn   chan struct{} // holds one while nobody opens the connection
	conn   *Conn         // for whoever has the turn
	before []*Conn       // those that calls may still use
	kept   bool          // conn is one that another process keeps
	failed atomic.Bool   // it could not be opened again
}

// attempts is how often a call is sent where the connection is lost each time.
const attempts = 3

// Open opens a link.
func Open(ctx context.Context, o *Options) (*Link, error) {
	l := &Link{o: o, turn: make(chan struct{}, 1)}
	if err := l.open(ctx); err != nil {
		return nil, err
	}
	l.hello = l.conn.Hello()
	l.turn <- struct{}{}
	return l, nil
}

// open opens the connection: one that another process keeps, or one of its own.
func (l *Link) open(ctx context.Context) (err error) {
	l.conn, l.kept = kept(l.o), true
	if l.conn == nil {
		l.kept = false
		l.conn, err = Dial(ctx, *l.o)
	}
	return err
}

// Hello is what the far end said of itself when the link was opened.
func (l *Link) Hello() *serve.Hello { return l.hello }

// Close lets go of the far end. What it still runs is finished there, and jobs go on. Where
// connections are kept, one is for the next calls.
func (l *Link) Close() {
	<-l.turn
	if l.conn == nil {
		return
	}
	if !l.kept && !l.conn.gone() {
		keep(l.o)
	}
	for _, c := range append(l.before, l.conn) {
		c.Close()
	}
}

// live is the connection, opened again where it is lost. Where it has to be an own one, it is
// none that another process keeps.
func (l *Link) live(ctx context.Context, own bool) (_ *Conn, err error) {
	select {
	case <-l.turn:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { l.turn <- struct{}{} }()
	own = own && l.kept
	switch {
	case l.conn != nil && !l.conn.gone() && !own:
		return l.conn, nil
	case l.conn != nil && l.conn.gone():
		l.conn.carrier.close(0)
	case l.conn != nil:
		l.before = append(l.before, l.conn)
	}
	if own {
		l.kept = false
		l.conn, err = Dial(ctx, *l.o)
	} else {
		err = l.open(ctx)
	}
	if err != nil {
		l.conn = nil
	}
	l.failed.Store(err != nil)
	return l.conn, err
}

// Call is a tool.Caller. What a command prints without end comes over a connection of its own:
// a reader that is slow must slow down nobody else.
func (l *Link) Call(ctx context.Context, p tool.Peer, name string, args json.RawMessage) *tool.Result {
	if p.Key == "" {
		p.Key = "on-" + rand.Text()
	}
	if hear := p.Hear; hear != nil {
		var begun atomic.Bool
		p.Hear = func(e tool.Event) {
			if e.Name != "start" || !begun.Swap(true) { // it is told of once
				hear(e)
			}
		}
	}
	var last *tool.Result
	sent := false
	for range attempts {
		conn, err := l.live(ctx, p.Hear != nil && p.Hears == 0)
		if err != nil {
			if !sent {
				last = tool.Fail(name, err)
				last.Place(l.o.Target.String())
			}
			break
		}
		r, now := conn.Call(ctx, p, name, args)
		if r.Error == nil || r.Error.Code != tool.Network {
			return r
		}
		last = latest(last, r, sent, now)
		if sent = sent || now; !conn.gone() || ctx.Err() != nil {
			return last
		}
	}
	if sent {
		_ = last.Error.WithHint("the connection could not be opened again; the same call with --idempotency-key %s tells what became of it", p.Key)
	}
	return last
}

// latest is what is known of a call that was tried again: what came of it when it was sent
// before is not known, although it could not be sent this time.
func latest(last, r *tool.Result, sent, now bool) *tool.Result {
	if now || !sent {
		return r
	}
	return last
}

// gone reports whether the connection has ended by itself: not by a far end that does not
// keep to the protocol, which would do the same again.
func (c *Conn) gone() bool {
	select {
	case <-c.dead:
		return errors.Is(c.why, io.EOF) || errors.Is(c.why, errSilent)
	default:
		return false
	}
}
