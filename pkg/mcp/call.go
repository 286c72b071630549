package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A toolCall is what tools/call asks for; from 2026-07-28 on with the answers to what an
// earlier request of the same call was asked.
type toolCall struct {
	Name      string               `json:"name"`
	Arguments json.RawMessage      `json:"arguments"`
	State     *string              `json:"requestState"`
	Responses map[string]*elicited `json:"inputResponses"`
}

// call makes a call of a tool, or goes on with one that has waited for an answer.
func (r *request) call(ctx context.Context) (object, *Error) {
	var c toolCall
	if err := json.Unmarshal(r.m.Params, &c); err != nil || c.Name == "" {
		return nil, fail(invalidParams, "tools/call needs the name of a tool, and arguments that are an object")
	}
	if name := param.Twice(r.m.Params); name != "" {
		return nil, fail(invalidParams, "the parameters of tools/call hold "+name+" twice: send it once")
	}
	if c.Arguments == nil || string(c.Arguments) == "null" {
		c.Arguments = json.RawMessage("{}")
	}
	s := r.link.server
	if !slices.Contains(s.o.Tools, c.Name) {
		return nil, fail(invalidParams, fmt.Sprintf("there is no tool %.80s; tools/list names those that there are", c.Name))
	}
	if r.modern() && (r.forms && s.o.Asks || c.State != nil) {
		return r.fly(ctx, &c)
	}
	p := tool.Peer{Name: tool.CallerName(r.m.ID), Hear: (&progress{begun: time.Now(), notify: r.notify()}).listener()}
	if r.forms && s.o.Asks {
		a := &asking{describe: s.o.Describe, elicit: r.elicit}
		p.Ask, p.Consult = a.ask, a.consult
	}
	result := s.run(ctx, p, &c)
	return r.object(result), nil
}

// run makes the call when it is its turn.
func (s *Server) run(ctx context.Context, p tool.Peer, c *toolCall) *tool.Result {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return tool.Fail(c.Name, context.Cause(ctx))
	}
	return s.o.Call(ctx, p, c.Name, c.Arguments)
}

// object is a result as the protocol has it: text and images for the model, and all of
// it as data. Images are not in the data again.
func (r *request) object(result *tool.Result) object {
	content := []object{}
	if text := result.Said(); text != "" || len(result.Attachments) == 0 {
		content = append(content, object{"type": "text", "text": text})
	}
	for _, a := range result.Attachments {
		if a.Type == "image" {
			content = append(content, object{"type": "image", "data": a.Content, "mimeType": a.MIMEType})
			continue
		}
		content = append(content, object{"type": "resource", "resource": object{"uri": "attachment:" + a.Filename, "mimeType": a.MIMEType, "blob": a.Content}})
	}
	o := object{"content": content}
	if result.Error != nil {
		o["isError"] = true
	}
	if !r.plain {
		data := *result
		data.Attachments = nil
		o["structuredContent"] = &data
	}
	return o
}

// A progress tells the client how a call goes on.
type progress struct {
	begun  time.Time
	notify func(elapsed float64, text string) // nil where the client does not want to know

	mu   sync.Mutex
	last time.Time
	line string // the last that a command has printed
}

// listener hears the events of a call; nil where nobody wants to.
func (p *progress) listener() func(tool.Event) {
	if p.notify == nil {
		return nil
	}
	return p.hear
}

// often is the time between two reports at least.
const often = 100 * time.Millisecond

// maxLine bounds the line of output that a report shows, in bytes.
const maxLine = 200

func (p *progress) hear(e tool.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch v := e.Value.(type) {
	case tool.OutputEvent:
		text := strings.TrimRight(v.Text, "\r\n")
		text = text[strings.LastIndexByte(text, '\n')+1:]
		p.line = strings.ToValidUTF8(text[:min(len(text), maxLine)], "")
	case tool.ProgressEvent:
		if p.line == "" {
			p.line = fmt.Sprintf("%d bytes of output", v.OutputBytes)
		}
	default:
		return
	}
	now := time.Now()
	if now.Sub(p.last) < often {
		return
	}
	p.last = now
	p.notify(now.Sub(p.begun).Seconds(), p.line)
}

// notify returns what reports progress to the client of r; nil where it wants none.
func (r *request) notify() func(float64, string) {
	token := r.meta.Token
	if token == nil {
		return nil
	}
	return func(elapsed float64, text string) {
		r.send(notice{Version: "2.0", Method: "notifications/progress", Params: object{"progressToken": token, "progress": elapsed, "message": text}})
	}
}

// elicit shows a form to the client's user, up to 2025-11-25: by a request of ours.
func (r *request) elicit(ctx context.Context, form object) (*elicited, error) {
	l := r.link
	answer := make(chan *message, 1)
	l.mu.Lock()
	l.count++
	id := fmt.Sprintf("ask-%d", l.count)
	l.asked[id] = answer
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.asked, id)
		l.mu.Unlock()
	}()
	r.send(notice{"2.0", id, "elicitation/create", form})
	select {
	case m := <-answer:
		e := new(elicited)
		if m.Error != nil || json.Unmarshal(m.Result, e) != nil {
			return nil, &tool.NobodyError{Why: "the client could not ask"}
		}
		return e, nil
	case <-l.deaf:
		return nil, &tool.NobodyError{Why: "the client is gone, nobody can answer"}
	case <-ctx.Done():
		r.send(notice{Version: "2.0", Method: "notifications/cancelled", Params: object{"requestId": id}})
		return nil, context.Cause(ctx)
	}
}
