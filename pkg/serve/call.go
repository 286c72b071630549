package serve

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"sync"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A call is one that runs, or waits for its turn.
type call struct {
	server *server
	id     json.RawMessage
	cancel context.CancelCauseFunc
	key    string
	origin tool.Origin
	own    *message // what it says itself of events and asking; nil for what holds for all

	turn    sync.Mutex // one question at a time
	mu      sync.Mutex // guards what follows
	waiting chan *message
	about   string // what is asked: the id of the ask event's value
}

// begin returns what makes a call and has to be called; nil for one that cannot be made,
// which is answered.
func (s *server) begin(ctx context.Context, m *message, size int) func() {
	if m.ID == nil {
		m.ID = null()
	}
	if m.Arguments == nil {
		m.Arguments = json.RawMessage("{}")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	c := &call{server: s, id: m.ID, cancel: cancel, own: m, key: m.Key, origin: tool.Origin{Message: m.Message, Agent: m.Agent}}
	name, named := key(m.ID), string(m.ID) != "null"
	s.mu.Lock()
	_, twice := s.running[name]
	full := s.queued+size > maxQueue
	if !twice && !full {
		s.queued += size
		if named {
			s.running[name] = c
		}
	}
	s.mu.Unlock()
	switch {
	case twice:
		s.fail(m.ID, tool.Errorf(tool.BadInput, "a call with the id %s runs already", name).WithHint("give each call an id of its own"))
		cancel(nil)
		return nil
	case full:
		s.fail(m.ID, tool.Errorf(tool.TooLarge, "more than %d MiB of calls wait", maxQueue>>20).WithHint("wait for results, and send it again"))
		cancel(nil)
		return nil
	}
	s.calls.Add(1)
	return func() {
		defer s.calls.Done()
		defer cancel(nil)
		result := c.run(ctx, *m.Name, m.Arguments)
		s.mu.Lock()
		s.queued -= size
		if named {
			delete(s.running, name)
		}
		s.mu.Unlock()
		s.send(reply{ID: m.ID, Result: result, colour: m.Colour})
	}
}

// run makes the call when it is its turn.
func (c *call) run(ctx context.Context, name string, args json.RawMessage) *tool.Result {
	select {
	case c.server.slots <- struct{}{}:
		defer func() { <-c.server.slots }()
	case <-ctx.Done():
		return tool.Fail(name, context.Cause(ctx))
	}
	c.server.mu.Lock()
	hears, asks := len(c.server.hears) > 0, c.server.asks
	c.server.mu.Unlock()
	p := tool.Peer{Key: c.key, Origin: c.origin}
	if c.own != nil {
		p.Name = tool.CallerName(c.id)
		p.Hears = c.own.Hears
		if c.server.o.Whole {
			p.Room, p.Name = c.own.Room, c.own.Caller
		}
		if c.own.Events != nil {
			hears = len(*c.own.Events) > 0
		}
		if c.own.Ask != nil {
			asks = c.server.o.Asks && *c.own.Ask
		}
	}
	if hears {
		p.Hear = func(e tool.Event) {
			if e.Name != "ask" { // which goes out when somebody waits for the answer
				c.tell(e.Name, e.Value)
			}
		}
	}
	if asks {
		p.Ask, p.Consult = c.ask, c.consult
	}
	return c.server.o.Call(ctx, p, name, args)
}

// tell sends an event that the peer wants to hear.
func (c *call) tell(name string, value any) {
	c.server.mu.Lock()
	wanted := c.server.hears[name]
	c.server.mu.Unlock()
	if c.own != nil && c.own.Events != nil {
		wanted = slices.Contains(*c.own.Events, name)
	}
	if wanted {
		c.server.send(event{c.id, name, value})
	}
}

// ask is a tool.Asker.
func (c *call) ask(ctx context.Context, r *tool.Request) (tool.Answer, error) {
	m, err := c.wait(ctx, tool.AskEvent{Tool: r.Tool, ID: r.ID, ApprovalDetails: r.Details})
	if err != nil {
		return tool.Answer{}, err
	}
	a := tool.Answer{Yes: m.Decision == "yes" || m.Decision == "session", Scope: tool.Once, Reason: m.Reason}
	rules := r.Details.Request.Narrowest()
	if m.Rules != nil {
		rules = m.Rules
	}
	if m.Decision == "session" && len(rules) > 0 {
		a.Scope, a.Rules = tool.Session, rules
	}
	return a, nil
}

// consult is a tool.Consultant.
func (c *call) consult(ctx context.Context, questions []tool.Question) ([]tool.Reply, error) {
	m, err := c.wait(ctx, tool.AskEvent{Tool: "question", ID: rand.Text(), ApprovalDetails: tool.QuestionDetails(questions)})
	switch {
	case err != nil:
		return nil, err
	case m.Decision == "no":
		return nil, tool.Errorf(tool.Denied, "nobody wants to answer: %s", m.Reason).WithHint("go on without an answer, or ask otherwise")
	}
	return m.Answers, nil
}

// wait asks the peer, and waits for its answer as long as one may come.
func (c *call) wait(ctx context.Context, value tool.AskEvent) (*message, error) {
	c.turn.Lock()
	defer c.turn.Unlock()
	select {
	case <-c.server.deaf:
		return nil, &tool.NobodyError{Why: "the input has ended, nobody can answer"}
	default:
	}
	answer := make(chan *message, 1)
	c.set(answer, value.ID)
	defer c.set(nil, "")
	c.server.send(event{c.id, "ask", value})
	select {
	case m := <-answer:
		if m.Decision == "nobody" {
			return nil, &tool.NobodyError{Why: m.Reason}
		}
		return m, nil
	case <-c.server.deaf:
		return nil, &tool.NobodyError{Why: "the input has ended, nobody can answer"}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (c *call) set(waiting chan *message, about string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting, c.about = waiting, about
}

// answer hands on an answer, where one is waited for. One that says what it is about
// counts for nothing else, such as what is asked next.
func (c *call) answer(m *message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == nil || m.To != nil && *m.To != c.about {
		return false
	}
	c.waiting <- m
	c.waiting = nil
	return true
}
