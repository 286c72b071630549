package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentkit-go/agentkit/pkg/serve"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// The bounds of what a far end may do.
const (
	maxLine  = serve.MaxLine    // bytes of a line: a result with its attachments
	maxAsks  = 200              // questions that a call may ask
	silence  = 60 * time.Second // without any sign of life, while we listen
	beat     = 15 * time.Second // between two signs of life
	graceful = 15 * time.Second // for a call to end that was cancelled
)

// A Conn is a connection to a far end. Any number of calls may run over it.
type Conn struct {
	target  *Target
	carrier *carrier
	hello   *serve.Hello
	out     chan []byte
	dead    chan struct{} // closed when nothing more comes
	why     error         // set before that
	fall    sync.Once
	waits   atomic.Int64 // since when the next line is waited for, in Unix nanoseconds; 0 while one is dealt with

	mu      sync.Mutex // guards what follows
	last    int64
	running map[int64]*pending
}

// A pending is a call that runs.
type pending struct {
	ctx   context.Context //nolint:containedctx // of the call: what is asked meanwhile ends with it
	name  string
	peer  tool.Peer
	asked int // by the goroutine that reads
	asks  sync.WaitGroup
	done  chan *tool.Result // holds one

	mu   sync.Mutex // held while the peer hears something
	over bool       // the peer hears nothing more

	unasked *tool.Error // why nobody could be asked, where that lies on this side
}

func newConn(t *Target, c *carrier, in *bufio.Reader, hello *serve.Hello) *Conn {
	conn := &Conn{target: t, carrier: c, hello: hello, out: make(chan []byte), dead: make(chan struct{}), running: map[int64]*pending{}}
	conn.waits.Store(time.Now().UnixNano())
	go conn.read(in)
	go conn.write()
	go conn.watch()
	return conn
}

// Hello is what the far end says of itself.
func (c *Conn) Hello() *serve.Hello { return c.hello }

// Close lets go of the far end. What it still runs is finished there, and jobs go on.
func (c *Conn) Close() {
	c.fail(errors.New("the connection was closed"))
	c.carrier.close(leave)
}

// fail ends the connection: all calls that run fail.
func (c *Conn) fail(err error) {
	c.fall.Do(func() {
		c.why = err
		close(c.dead)
	})
}

// break ends the connection at once, and the carrier with it.
func (c *Conn) violated(err error) {
	c.fail(err)
	go c.carrier.close(0)
}

// write sends what calls have to say.
func (c *Conn) write() {
	for {
		select {
		case <-c.dead:
			return
		case line := <-c.out:
			if _, err := c.carrier.in.Write(line); err != nil {
				select {
				case <-c.dead: // the reader has seen the end, too
				case <-time.After(leave): // it hears nothing more, and says no end
					c.violated(io.EOF)
				}
				return
			}
		}
	}
}

// send has v sent as a line.
func (c *Conn) send(ctx context.Context, v any) error {
	line, err := tool.Encode(v)
	if err != nil {
		return err
	}
	select {
	case c.out <- append(line, '\n'):
		return nil
	case <-c.dead:
		return c.why
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// errSilent is that a far end is not there any more, or no way to it.
var errSilent = errors.New("nothing has been heard for a minute")

// A ping is answered at once by a far end that lives.
type ping struct {
	Ping int64 `json:"ping"`
}

// watch ends the connection when nothing has been heard for long.
func (c *Conn) watch() {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for n := int64(1); ; n++ {
		select {
		case <-c.dead:
			return
		case <-tick.C:
		}
		if c.silent(time.Now()) {
			c.violated(errSilent)
			return
		}
		soon, cancel := context.WithTimeout(context.Background(), beat)
		_ = c.send(soon, ping{n}) // where it cannot be sent, nothing is heard either
		cancel()
	}
}

// silent reports whether nothing has been heard for too long: not a byte, for a line may be
// long and the way slow.
func (c *Conn) silent(now time.Time) bool {
	since := c.waits.Load()
	return since != 0 && now.Sub(time.Unix(0, max(since, c.carrier.heard.Load()))) > silence
}

// A call is a call as it is sent.
type call struct {
	ID        int64           `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Events    []string        `json:"events"`
	Hears     int64           `json:"hears,omitempty"`
	Key       string          `json:"idempotency_key,omitempty"`
	Caller    string          `json:"caller,omitempty"`
	Message   string          `json:"message_id,omitempty"`
	Agent     string          `json:"agent,omitempty"`
	Ask       bool            `json:"ask"`
	Colour    bool            `json:"colour,omitempty"`
	Room      int             `json:"room,omitempty"`
}

// Call makes a call, and reports whether the far end may have heard of it.
func (c *Conn) Call(ctx context.Context, p tool.Peer, name string, args json.RawMessage) (_ *tool.Result, sent bool) {
	msg := call{Name: name, Arguments: args, Events: []string{}, Hears: p.Hears, Key: p.Key, Caller: p.Name, Message: p.Origin.Message, Agent: p.Origin.Agent, Ask: p.Ask != nil || p.Consult != nil, Colour: p.Colour, Room: p.Room}
	if p.Hear != nil {
		msg.Events = []string{"start", "output", "progress"}
	}
	if msg.Ask {
		msg.Events = append(msg.Events, "ask")
	}
	limit, over := context.WithTimeoutCause(ctx, longest(name, args), errOverdue)
	defer over()
	limit, end := context.WithCancel(limit)
	defer end()
	one := &pending{ctx: limit, name: name, peer: p, done: make(chan *tool.Result, 1)}
	c.mu.Lock()
	c.last++
	msg.ID = c.last
	c.running[msg.ID] = one
	c.mu.Unlock()
	defer func() {
		end()
		c.mu.Lock()
		delete(c.running, msg.ID)
		c.mu.Unlock()
		one.mu.Lock()
		one.over = true
		one.mu.Unlock()
		one.asks.Wait()
	}()
	if err := c.send(limit, msg); err != nil {
		return c.failed(limit, name, err, "nothing was run"), false
	}
	select {
	case r := <-one.done:
		return one.told(r), true
	case <-c.dead:
		return c.lost(limit, one), true
	case <-limit.Done():
	}
	return c.cancel(limit, one, msg.ID), true
}

// told is a result, less the far end's words for what has gone wrong here: it knows only that
// nobody has answered.
func (p *pending) told(r *tool.Result) *tool.Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unasked != nil && r.Error != nil && r.Error.Code == tool.ApprovalRequired {
		e := *p.unasked
		if e.Code == r.Error.Code {
			e.Details = r.Error.Details
		}
		r.Fail(&e)
	}
	return r
}

// A cancellation ends a call.
type cancellation struct {
	Cancel int64 `json:"cancel"`
}

// cancel has the far end end a call, and waits for its result a while.
func (c *Conn) cancel(ctx context.Context, one *pending, id int64) *tool.Result {
	soon, stop := context.WithTimeout(context.WithoutCancel(ctx), graceful)
	defer stop()
	signal, bySignal := errors.AsType[*tool.Signal](context.Cause(ctx))
	var again <-chan struct{}
	if bySignal {
		again = signal.Hurry()
	}
	_ = c.send(soon, cancellation{id})
	select {
	case r := <-one.done:
		if bySignal && r.Error != nil && r.Error.Code == tool.Interrupted {
			r.Interrupt(signal)
		}
		return r
	case <-c.dead:
	case <-again:
	case <-soon.Done():
	}
	return c.failed(ctx, one.name, context.Cause(ctx), "what it has done is not known")
}

// errOverdue is that a far end has sent no result long after every limit that a call has.
var errOverdue = errors.New("no result has come long after the call's own time limit")

// longest is how long the result of a call may take: what the call may take itself, and
// some time for people to answer. A far end cannot make anybody wait for ever.
func longest(name string, args json.RawMessage) time.Duration {
	var given struct {
		Timeout json.RawMessage `json:"timeout_ms"`
	}
	_ = json.Unmarshal(args, &given) // what is wrong with it the far end says
	limit := 10 * time.Minute
	if name == "batch" || name == "script" {
		limit = 6 * time.Hour
	}
	text, _ := strconv.Unquote(string(given.Timeout))
	if text == "" {
		text = string(given.Timeout)
	}
	if n, err := strconv.ParseInt(text, 10, 32); err == nil && n > 0 {
		limit = min(limit, time.Duration(n)*time.Millisecond)
	}
	return limit + 10*time.Minute
}

// lost is the result of a call whose connection has ended. One that has come just before counts.
func (c *Conn) lost(ctx context.Context, one *pending) *tool.Result {
	select {
	case r := <-one.done:
		return r
	default:
	}
	return c.failed(ctx, one.name, c.why, "the call may have been made, or a part of it")
}

func (c *Conn) failed(ctx context.Context, name string, err error, ran string) *tool.Result {
	if signal, ok := errors.AsType[*tool.Signal](context.Cause(ctx)); ok {
		return c.at(tool.Fail(name, signal))
	}
	code := tool.Network
	switch {
	case errors.Is(err, errOverdue):
		code = tool.Timeout
	case errors.Is(err, errLong):
		code = tool.TooLarge
	}
	why := "the connection was lost"
	if err != nil && !errors.Is(err, io.EOF) {
		why = clip(err.Error())
	}
	if said := c.carrier.said.text(); said != "" {
		why += ": " + said
	}
	return c.at(tool.Fail(name, tool.Errorf(code, "%s: %s; %s", c.target, why, ran).WithHint("look at what is there before you call again")))
}

// at says of a result where the call was made.
func (c *Conn) at(r *tool.Result) *tool.Result {
	r.Place(c.target.String())
	return r
}
