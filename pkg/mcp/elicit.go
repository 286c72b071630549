package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// An elicited is what the client's user has made of a form.
type elicited struct {
	Action  string                     `json:"action"` // accept, decline or cancel
	Content map[string]json.RawMessage `json:"content"`
}

// text is a member of the form that is a text.
func (e *elicited) text(name string) (text string) {
	_ = json.Unmarshal(e.Content[name], &text) // what is none stays empty
	return strings.TrimSpace(text)
}

// ticked is a member of the form that is a box.
func (e *elicited) ticked(name string) (on bool) {
	_ = json.Unmarshal(e.Content[name], &on) // what is none stays empty
	return on
}

// An asking asks the client's user what one call needs to know, one question at a time.
type asking struct {
	describe func(*tool.Request) string
	elicit   func(context.Context, object) (*elicited, error)
	turn     sync.Mutex
}

func (a *asking) show(ctx context.Context, message string, members object, required []string) (*elicited, error) {
	a.turn.Lock()
	defer a.turn.Unlock()
	return a.elicit(ctx, object{"message": message, "requestedSchema": object{"type": "object", "properties": members, "required": required}})
}

// The decisions of a form.
const (
	once    = "once"
	session = "session"
	no      = "no"
)

// ask is a tool.Asker. Only a form that was sent off with a yes in it is one; one that
// was closed is no answer, and the call can be approved from elsewhere.
func (a *asking) ask(ctx context.Context, r *tool.Request) (tool.Answer, error) {
	choices, names := []string{once, no}, []string{"Yes, this once", "No"}
	rules := r.Details.Request.Narrowest()
	if len(rules) > 0 {
		choices, names = []string{once, session, no}, []string{"Yes, this once", "Yes, until the session ends: " + tool.VisibleName(strings.Join(rules, ", ")), "No"}
	}
	e, err := a.show(ctx, a.describe(r), object{
		"decision": object{"type": "string", "title": "Allow it?", "enum": choices, "enumNames": names},
		"reason":   object{"type": "string", "title": "Why not", "description": "for the model, where the answer is no"},
	}, []string{"decision"})
	switch {
	case err != nil:
		return tool.Answer{}, err
	case e.Action == "decline":
		return tool.Answer{Reason: e.text("reason")}, nil
	case e.Action != "accept":
		return tool.Answer{}, &tool.NobodyError{Why: "the question was closed without an answer"}
	}
	switch e.text("decision") {
	case once:
		return tool.Answer{Yes: true, Scope: tool.Once}, nil
	case session:
		if len(rules) > 0 {
			return tool.Answer{Yes: true, Scope: tool.Session, Rules: rules}, nil
		}
	}
	return tool.Answer{Reason: e.text("reason")}, nil
}

// consult is a tool.Consultant: all questions stand on one form.
func (a *asking) consult(ctx context.Context, questions []tool.Question) ([]tool.Reply, error) {
	members, required := object{}, []string{}
	var message strings.Builder
	for i, q := range questions {
		fmt.Fprintf(&message, "%s\n", tool.Visible(q.Question))
		required = append(required, place(members, i, &q)...)
	}
	e, err := a.show(ctx, strings.TrimSpace(message.String()), members, required)
	switch {
	case err != nil:
		return nil, err
	case e.Action == "decline":
		return nil, tool.Errorf(tool.Denied, "nobody wants to answer").WithHint("go on without an answer, or ask otherwise")
	case e.Action != "accept":
		return nil, &tool.NobodyError{Why: "the questions were closed without an answer"}
	}
	var replies []tool.Reply
	for i, q := range questions {
		r := tool.Reply{Index: i, Custom: e.text(own(i))}
		if label := e.text(one(i)); label != "" && (!q.Custom || r.Custom == "") {
			r.Selected = append(r.Selected, label)
		}
		for k, o := range q.Options {
			if q.Multiple && e.ticked(box(i, k)) {
				r.Selected = append(r.Selected, o.Label)
			}
		}
		replies = append(replies, r)
	}
	return replies, nil
}

// The names of the members that a question has on the form.
func one(i int) string    { return fmt.Sprintf("q%d", i+1) }
func own(i int) string    { return fmt.Sprintf("q%d_other", i+1) }
func box(i, k int) string { return fmt.Sprintf("q%d_%d", i+1, k+1) }

// place puts a question on the form, and returns what has to be filled in. Where several
// answers are welcome each is a box, which all revisions know.
func place(members object, i int, q *tool.Question) (required []string) {
	title := tool.Visible(q.Header)
	if title == "" {
		title = tool.Visible(q.Question)
	}
	var labels, names []string
	for k, o := range q.Options {
		name := o.Label
		if o.Description != "" {
			name += ": " + o.Description
		}
		labels, names = append(labels, o.Label), append(names, tool.Visible(name))
		if q.Multiple {
			members[box(i, k)] = object{"type": "boolean", "title": title + ": " + tool.Visible(o.Label), "description": tool.Visible(o.Description)}
		}
	}
	if len(labels) > 0 && !q.Multiple {
		members[one(i)] = object{"type": "string", "title": title, "description": tool.Visible(q.Question), "enum": labels, "enumNames": names}
		if !q.Custom {
			required = append(required, one(i))
		}
	}
	if q.Custom {
		members[own(i)] = object{"type": "string", "title": title + ": in your own words", "description": tool.Visible(q.Question)}
	}
	return required
}
