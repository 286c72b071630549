package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A message is a line that comes: a call, a cancellation, an answer, or what the peer
// speaks.
type message struct {
	ID        json.RawMessage `json:"id"`
	Name      *string         `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Key       string          `json:"idempotency_key"` // of a call of which only one is to be made
	Message   string          `json:"message_id"`      // what the peer calls the message of a model that holds the call
	Agent     string          `json:"agent"`           // which of the peer's agents makes the call

	Cancel json.RawMessage `json:"cancel"`

	Answer   json.RawMessage `json:"answer"`
	To       *string         `json:"to"` // the id of the ask event's value
	Decision string          `json:"decision"`
	Reason   string          `json:"reason"`
	Rules    []string        `json:"rules"` // what a yes for the session stands for
	Answers  []tool.Reply    `json:"answers"`

	Protocol *int      `json:"protocol"`
	Events   *[]string `json:"events"` // of all calls, or of the one it stands in
	Ask      *bool     `json:"ask"`    // the same
	Colour   bool      `json:"colour"` // of the call: its result is shown in colour
	Room     int       `json:"room"`   // bytes that the call's output may have
	Caller   string    `json:"caller"` // what whoever is behind the peer calls the call
	Hears    int64     `json:"hears"`  // bytes of the output that the call's events are to hold; 0 for all

	Ping *int64 `json:"ping"`
}

// forms says what a message may be.
const forms = `send {"id":…,"name":TOOL,"arguments":{…}}, {"cancel":ID}, {"answer":ID,"decision":"yes|no|session"} or {"protocol":1}, one on each line`

// message does what a line says; a call of the named tool is left to be made, by the function.
// The error ends the connection.
func (s *server) message(ctx context.Context, l input) (call func(), name string, err error) {
	if l.long {
		s.fail(nil, tool.Errorf(tool.TooLarge, "a line is longer than %d MiB", MaxLine>>20).WithHint("send less at a time"))
		return nil, "", nil
	}
	if l.text = bytes.TrimSpace(l.text); len(l.text) == 0 || ctx.Err() != nil {
		return nil, "", nil
	}
	var m message
	err = decode(l.text, &m)
	if err == nil {
		err = m.check()
	}
	switch {
	case err != nil:
		s.fail(m.ID, tool.Errorf(tool.BadInput, "no message: %s", wrong(err)).WithHint(forms))
	case m.Protocol != nil:
		return nil, "", s.agree(&m)
	case m.Ping != nil:
		s.send(pong{*m.Ping})
	case m.Cancel != nil:
		if c := s.call(m.Cancel); c != nil { // else it has ended by now
			c.cancel(tool.Errorf(tool.Interrupted, "the caller has cancelled the call").WithHint("call again to start over"))
		}
	case m.Answer != nil:
		if c := s.call(m.Answer); c == nil || !c.answer(&m) {
			s.fail(nil, tool.Errorf(tool.NotFound, "nothing is asked for %s", key(m.Answer)).WithHint("answer an ask event, once"))
		}
	default:
		return s.begin(ctx, &m, len(l.text)), *m.Name, nil
	}
	return nil, "", nil
}

// wrong says what is wrong with a line, without the words of Go.
func wrong(err error) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return strings.TrimPrefix(e.Field+": ", ": ") + "it cannot be of the kind " + e.Value
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// check reports what does not belong together.
func (m *message) check() error {
	kinds := 0
	for _, is := range []bool{m.Name != nil, m.Cancel != nil, m.Answer != nil, m.Protocol != nil, m.Ping != nil} {
		if is {
			kinds++
		}
	}
	switch {
	case kinds == 0:
		return errors.New("it has neither name, cancel, answer, protocol nor ping")
	case kinds > 1:
		return errors.New("it is several messages at once")
	case m.Name == nil && (m.Arguments != nil || m.ID != nil), m.Name == nil && (m.Hears != 0 || m.Key != "" || m.Colour || m.Room != 0 || m.Caller != "" || m.Message != "" || m.Agent != ""),
		m.Answer == nil && (m.To != nil || m.Decision != "" || m.Reason != "" || m.Answers != nil || m.Rules != nil), m.Protocol == nil && m.Name == nil && (m.Events != nil || m.Ask != nil):
		return errors.New("it has members of another kind of message")
	case m.Answer != nil && m.Answers == nil && !slices.Contains([]string{"yes", "no", "session", "nobody"}, m.Decision):
		return fmt.Errorf("decision: want yes, no, session or nobody, got %q", m.Decision)
	}
	return nil
}

// agree takes what the peer speaks and wants to hear.
func (s *server) agree(m *message) error {
	if *m.Protocol != Protocol {
		err := tool.Errorf(tool.Unsupported, "protocol %d is not spoken here", *m.Protocol).WithHint("speak protocol %d", Protocol)
		s.fail(nil, err)
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Events != nil {
		clear(s.hears)
		for _, name := range *m.Events {
			s.hears[name] = true
		}
	}
	if m.Ask != nil {
		s.asks = s.o.Asks && *m.Ask
	}
	return nil
}

// key is an id as it names a call: the same for equal ids, however they are spaced.
func key(id json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, id) != nil {
		return string(id)
	}
	return b.String()
}

// call is the one that an id names; nil where none such runs.
func (s *server) call(id json.RawMessage) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[key(id)]
}
