package mcp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A flight is a call by a revision in which we may ask nothing by a request of ours:
// when something has to be asked, the request ends with the question, and the call waits
// for another request, which brings the answer. That one is known by a state that nobody
// can guess, which is good for one answer to the very same call.
type flight struct {
	server   *Server
	about    [sha256.Size]byte // what is called
	cancel   context.CancelCauseFunc
	done     chan *tool.Result
	question chan object
	answer   chan *elicited // nil for nobody's; closed when none can come any more
	form     object         // the question that waits for an answer
	late     *time.Timer    // ends the waiting

	mu    sync.Mutex
	watch func(float64, string) // tells the present request how the call goes on
}

// waits is how long a call waits for an answer, and maxPaused how many do at a time.
const (
	waits     = 10 * time.Minute
	maxPaused = 256
)

// theAnswer is the name of the one thing that is asked at a time.
const theAnswer = "answer"

// fly makes a call, or goes on with it, until it has ended or asks something.
func (r *request) fly(ctx context.Context, c *toolCall) (object, *Error) {
	s := r.link.server
	var f *flight
	if c.State != nil {
		if f = s.resume(c); f == nil {
			return nil, fail(invalidParams, "requestState belongs to no call of this tool with these arguments that waits for an answer: call without it")
		}
		e := c.Responses[theAnswer]
		if e == nil && r.forms { // nothing was answered: ask again
			return s.pause(f)
		}
		f.answer <- e
	} else if f = s.take(ctx, r, c); f == nil {
		return nil, fail(busy, "the server is ending: call again when it is started anew")
	}
	f.watched(r.notify())
	defer f.watched(nil)
	select {
	case result := <-f.done:
		return r.object(result), nil
	case f.form = <-f.question:
		return s.pause(f)
	case <-ctx.Done():
		f.cancel(context.Cause(ctx))
		return r.object(<-f.done), nil
	}
}

// take starts a call that may outlive its request; nil where nothing is started any more.
func (s *Server) take(ctx context.Context, r *request, c *toolCall) *flight {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	f := &flight{server: s, about: c.digest(), cancel: cancel, done: make(chan *tool.Result, 1), question: make(chan object), answer: make(chan *elicited, 1)}
	a := &asking{describe: s.o.Describe, elicit: f.elicit}
	p := tool.Peer{Name: tool.CallerName(r.m.ID), Ask: a.ask, Consult: a.consult}
	if r.meta.Token != nil {
		p.Hear = (&progress{begun: time.Now(), notify: f.tell}).hear
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		cancel(nil)
		return nil
	}
	s.flights[f] = true
	s.calls.Go(func() {
		f.done <- s.run(ctx, p, c)
		cancel(nil)
		s.mu.Lock()
		delete(s.flights, f)
		s.mu.Unlock()
	})
	return f
}

// pause ends a request with the question that its call waits for.
func (s *Server) pause(f *flight) (object, *Error) {
	state := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.paused) >= maxPaused || s.ended != nil {
		close(f.answer)
		return nil, fail(busy, "too many calls wait for answers: answer one of them, and call again")
	}
	s.paused[state] = f
	f.late = time.AfterFunc(waits, func() {
		s.mu.Lock()
		late := s.paused[state] == f
		delete(s.paused, state)
		s.mu.Unlock()
		if late {
			close(f.answer)
		}
	})
	ask := object{"method": "elicitation/create", "params": f.form}
	return object{"resultType": "input_required", "inputRequests": object{theAnswer: ask}, "requestState": state}, nil
}

// resume finds the call that a request brings an answer for; nil where there is none. A
// request of another call spoils nothing.
func (s *Server) resume(c *toolCall) *flight {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.paused[*c.State]
	if f == nil || f.about != c.digest() {
		return nil
	}
	delete(s.paused, *c.State)
	f.late.Stop()
	return f
}

// digest is what tells one call from another.
func (c *toolCall) digest() [sha256.Size]byte {
	return sha256.Sum256([]byte(c.Name + "\x00" + compact(c.Arguments)))
}

// elicit asks by ending the present request with the question.
func (f *flight) elicit(ctx context.Context, form object) (*elicited, error) {
	select {
	case f.question <- form:
	case <-f.answer: // which is closed: no request waits for the question
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case e := <-f.answer:
		if e == nil {
			return nil, &tool.NobodyError{Why: "the client has not answered"}
		}
		return e, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (f *flight) watched(by func(float64, string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watch = by
}

func (f *flight) tell(elapsed float64, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watch != nil {
		f.watch(elapsed, text)
	}
}
