package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A line is one that the far end sends: a result, an event, or the answer to a ping.
type line struct {
	ID     *int64          `json:"id"`
	Result json.RawMessage `json:"result"`
	Exit   int             `json:"exit"`
	Output int             `json:"output_bytes"`
	Pretty string          `json:"pretty"` // the output with marks for colours
	Event  string          `json:"event"`
	Value  json.RawMessage `json:"value"`
	Pong   int64           `json:"pong"`
}

// errNonsense is that a far end breaks the protocol.
var errNonsense = errors.New("what answers does not speak agentkit's protocol")

// read deals with what comes, line by line: who hears output slowly slows down those who
// print it.
func (c *Conn) read(in *bufio.Reader) {
	for {
		c.waits.Store(time.Now().UnixNano())
		text, err := readLine(in, maxLine)
		c.waits.Store(0)
		if err == nil {
			err = c.line(text)
		}
		switch {
		case err == nil:
		case errors.Is(err, errNonsense), errors.Is(err, errLong):
			c.violated(err)
			return
		default:
			c.fail(io.EOF)
			return
		}
	}
}

// line does what a line says.
func (c *Conn) line(text []byte) error {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return errNonsense
	}
	switch {
	case l.ID == nil && l.Pong != 0:
		return nil
	case l.ID == nil:
		return errNonsense
	}
	c.mu.Lock()
	one := c.running[*l.ID]
	known := one != nil || *l.ID <= c.last && *l.ID > 0
	if l.Result != nil {
		delete(c.running, *l.ID)
	}
	c.mu.Unlock()
	switch {
	case !known:
		return fmt.Errorf("%w: it speaks of a call that nobody made", errNonsense)
	case one == nil:
		return nil // nobody waits for it any more
	case l.Result != nil:
		r, err := tool.Receive(l.Result, c.target.String(), l.Exit&0xff, l.Output)
		if err != nil {
			return fmt.Errorf("%w: %w", errNonsense, err)
		}
		if l.Pretty != "" && one.peer.Colour {
			r.Pretty = func(func(tool.Style, string) string) string { return l.Pretty } // it is painted by tool.Mark
		}
		one.done <- r
		return nil
	}
	return one.event(c, *l.ID, &l)
}

// event hands on what happens while a call runs.
func (p *pending) event(c *Conn, id int64, l *line) error {
	var value any
	switch l.Event {
	case "start":
		value = new(tool.StartEvent)
	case "output":
		value = new(tool.OutputEvent)
	case "progress":
		value = new(tool.ProgressEvent)
	case "ask":
		value = new(tool.AskEvent)
	default:
		return errNonsense
	}
	if err := json.Unmarshal(l.Value, value); err != nil {
		return fmt.Errorf("%w: %w", errNonsense, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return nil
	}
	if e, ok := value.(*tool.AskEvent); ok {
		return p.ask(c, id, e)
	}
	if p.peer.Hear == nil {
		return fmt.Errorf("%w: it tells what nobody wants to hear", errNonsense)
	}
	switch v := value.(type) {
	case *tool.StartEvent:
		p.peer.Hear(tool.Event{Name: l.Event, Value: *v})
	case *tool.OutputEvent:
		p.peer.Hear(tool.Event{Name: l.Event, Value: *v})
	case *tool.ProgressEvent:
		p.peer.Hear(tool.Event{Name: l.Event, Value: *v})
	}
	return nil
}

// An answer is what somebody says to a question.
type answer struct {
	Answer   int64        `json:"answer"`
	To       string       `json:"to"`
	Decision string       `json:"decision,omitempty"`
	Reason   string       `json:"reason,omitempty"`
	Rules    []string     `json:"rules,omitempty"`
	Answers  []tool.Reply `json:"answers,omitempty"`
}

// ask lets somebody answer what the far end asks for a call, beside what else comes.
func (p *pending) ask(c *Conn, id int64, e *tool.AskEvent) error {
	p.asked++
	questions := len(e.Questions) > 0
	switch {
	case questions && p.peer.Consult == nil, !questions && p.peer.Ask == nil, p.asked > maxAsks:
		return fmt.Errorf("%w: it asks what it may not", errNonsense)
	}
	if p.peer.Hear != nil {
		p.peer.Hear(tool.Event{Name: "ask", Value: *e})
	}
	p.asks.Go(func() {
		a := answer{Answer: id, To: e.ID}
		var err error
		if questions {
			a.Answers, err = p.peer.Consult(p.ctx, e.Questions)
		} else {
			err = p.decide(p.ctx, c.target.String(), e, &a)
		}
		if err != nil {
			a.Decision, a.Reason = "nobody", err.Error()
			p.mu.Lock()
			p.unasked, _ = errors.AsType[*tool.Error](err)
			p.mu.Unlock()
		}
		_ = c.send(p.ctx, a) // where it cannot be sent, the call ends
	})
	return nil
}

// decide asks for approval, in the name of the place that this side knows.
func (p *pending) decide(ctx context.Context, place string, e *tool.AskEvent, a *answer) error {
	e.Request.AlwaysFile = "" // which would be a file of this side
	got, err := p.peer.Ask(ctx, &tool.Request{ID: e.ID, Tool: e.Tool, On: place, Details: e.ApprovalDetails})
	switch {
	case err != nil:
		return err
	case !got.Yes:
		a.Decision, a.Reason = "no", got.Reason
	case got.Scope == tool.Once || got.Scope == "":
		a.Decision = "yes"
	default:
		a.Decision, a.Rules = "session", got.Rules
	}
	return nil
}
