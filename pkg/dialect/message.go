package dialect

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// The forms in which providers hand over calls, and want the answers.
const (
	OpenAI    = "openai"           // chat completions, and services compatible with it
	Responses = "openai-responses" // OpenAI's Responses API
	Anthropic = "anthropic"        // the Messages API
	Gemini    = "gemini"           // generateContent
)

// Forms are all of them.
func Forms() []string { return []string{OpenAI, Responses, Anthropic, Gemini} }

// A Message is the calls in what a model has answered.
type Message struct {
	Form  string // in whose form it came; "" where it holds nothing that tells
	ID    string // what the provider calls it; "" where it does not say
	Calls []Request

	twice string // a member that stands twice in it
}

// A Request is one call in a message.
type Request struct {
	ID        string
	Name      string
	Arguments json.RawMessage
	Kind      string // the type of the item that it came in
}

// Native reports whether r is a call of a tool that OpenAI declares itself, whatever
// dialect the others are in.
func (r *Request) Native() bool {
	return slices.Contains([]string{shellCall, localShellCall, applyPatchCall}, r.Kind)
}

// The types of items.
const (
	functionCall   = "function_call"
	customCall     = "custom_tool_call"
	shellCall      = "shell_call"
	localShellCall = "local_shell_call"
	applyPatchCall = "apply_patch_call"
)

// An envelope is every member that tells a call, or what calls lie in.
type envelope struct {
	Object string `json:"object"`
	Type   string `json:"type"`
	Role   string `json:"role"`
	ID     string `json:"id"`
	CallID string `json:"call_id"`

	ResponseID string `json:"responseId"` // Gemini's
	Name       string `json:"name"`
	Choices    []struct {
		Message json.RawMessage `json:"message"`
	} `json:"choices"`
	ToolCalls    []json.RawMessage `json:"tool_calls"`
	Output       json.RawMessage   `json:"output"`
	Content      json.RawMessage   `json:"content"`
	Candidates   []json.RawMessage `json:"candidates"`
	Parts        []json.RawMessage `json:"parts"`
	FunctionCall *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Function *struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
	Custom *struct {
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"custom"`
	Arguments json.RawMessage `json:"arguments"`
	Input     json.RawMessage `json:"input"`
	Action    json.RawMessage `json:"action"`
	Operation json.RawMessage `json:"operation"`
}

// Parse finds the calls in what a model has answered: a whole response of a provider,
// the message in it, a list of its parts, or one of them. It is nil for what is none
// of these. What is said twice is an error: another reader might have seen the other call.
func Parse(raw json.RawMessage) (*Message, error) {
	m := new(Message)
	switch told := m.read(raw); {
	case m.twice != "":
		return nil, tool.Errorf(tool.BadInput, "%.80s: stands twice in the message", m.twice).WithHint("send the message with each member once")
	case !told || m.Form == "":
		return nil, nil
	}
	return m, nil
}

// once notes which member of a part of a message, or of the call in it, stands twice.
// Arguments are left to the tool.
func (m *Message) once(raw json.RawMessage) {
	var inner struct {
		Function     json.RawMessage `json:"function"`
		FunctionCall json.RawMessage `json:"functionCall"`
		Custom       json.RawMessage `json:"custom"`
	}
	_ = json.Unmarshal(raw, &inner) // as it was before
	for _, part := range []json.RawMessage{raw, inner.Function, inner.FunctionCall, inner.Custom} {
		m.twice = cmp.Or(m.twice, param.Twice(part))
	}
}

// read adds the calls in raw, and reports whether it could tell what that is.
func (m *Message) read(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '[' {
		return m.readAll(raw)
	}
	var e envelope
	if json.Unmarshal(raw, &e) != nil {
		return false
	}
	m.once(raw)
	if e.Choices != nil || e.Candidates != nil || e.Object == "response" || e.Type == "message" && e.Role == "assistant" {
		m.ID = cmp.Or(m.ID, e.ID, e.ResponseID)
	}
	switch {
	case m.call(&e):
	case e.Choices != nil:
		m.is(OpenAI)
		for _, c := range e.Choices {
			m.read(c.Message)
		}
	case e.ToolCalls != nil:
		m.is(OpenAI)
		return m.each(e.ToolCalls)
	case e.Candidates != nil:
		m.is(Gemini)
		return m.each(e.Candidates)
	case e.Parts != nil:
		m.is(Gemini)
		return m.each(e.Parts)
	case e.Object == "response" && e.Output != nil, e.Name == "" && bytes.HasPrefix(e.Output, []byte("[")):
		m.is(Responses)
		return m.readAll(e.Output)
	case e.Type == "reasoning", e.Type == "output_text", e.Type == "refusal":
		m.is(Responses)
	case e.Role == "assistant" && len(e.Content) > 0 && e.Content[0] == '[': // the parts tell
		told := m.readAll(e.Content)
		m.is(Anthropic)
		return told
	case e.Type == "text", e.Type == "thinking":
		m.is(Anthropic)
	case e.Role == "assistant":
		m.is(OpenAI)
	case len(e.Content) > 0 && e.Content[0] == '{': // of a candidate
		return m.read(e.Content)
	}
	return true // a text, a thought: no call
}

// is tells the form; what was told first holds.
func (m *Message) is(form string) {
	if m.Form == "" {
		m.Form = form
	}
}

func (m *Message) readAll(raw json.RawMessage) bool {
	var list []json.RawMessage
	return json.Unmarshal(raw, &list) == nil && m.each(list)
}

func (m *Message) each(list []json.RawMessage) bool {
	return !slices.ContainsFunc(list, func(raw json.RawMessage) bool { return !m.read(raw) })
}

// call adds the call that e is, and reports whether it is one.
func (m *Message) call(e *envelope) bool {
	r, form := Request{ID: e.ID, Name: e.Name, Kind: e.Type}, Responses
	if e.CallID != "" {
		r.ID = e.CallID
	}
	switch {
	case e.FunctionCall != nil:
		form, r = Gemini, Request{e.FunctionCall.ID, e.FunctionCall.Name, e.FunctionCall.Args, ""}
	case e.Function != nil:
		form, r.Name, r.Arguments = OpenAI, e.Function.Name, unpacked(e.Function.Arguments)
	case e.Custom != nil:
		form, r.Name, r.Kind, r.Arguments = OpenAI, e.Custom.Name, customCall, e.Custom.Input
	case e.Type == "tool_use":
		form, r.Arguments = Anthropic, e.Input
	case e.Type == functionCall:
		r.Arguments = unpacked(e.Arguments)
	case e.Type == customCall:
		r.Arguments = e.Input
	case e.Type == shellCall, e.Type == localShellCall:
		r.Name, r.Arguments = e.Type, e.Action
	case e.Type == applyPatchCall:
		r.Name, r.Arguments = e.Type, e.Operation
	default:
		return false
	}
	m.is(form)
	m.Calls = append(m.Calls, r)
	return true
}

// unpacked is an object that came as a text. A text that would lose bytes stays one, and
// is refused.
func unpacked(raw json.RawMessage) json.RawMessage {
	var text string
	if bad, _ := param.Flaw(raw); bad >= 0 || len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
		return raw
	}
	if text == "" {
		return json.RawMessage("{}")
	}
	return json.RawMessage(text)
}

// Named returns our name and parameters of a call that came without a dialect.
func (r *Request) Named() (string, json.RawMessage) {
	if r.Kind == customCall { // of free form
		raw, _ := tool.Encode(map[string]json.RawMessage{"input": r.Arguments})
		return r.Name, raw
	}
	if len(r.Arguments) == 0 {
		return r.Name, json.RawMessage("{}")
	}
	return r.Name, r.Arguments
}

// Reply is the answers to calls, in a provider's form.
func Reply(form string, calls []Request, results []*tool.Result) any {
	list := []any{}
	var seen []any // the images of a chat, whose answers are texts
	for i, r := range results {
		switch c := &calls[i]; form {
		case OpenAI:
			list = append(list, chatReply{"tool", c.ID, r.Said()})
			for _, a := range images(r) {
				seen = append(seen, map[string]any{"type": "image_url", "image_url": map[string]string{"url": dataURL(a)}})
			}
		case Responses:
			list = append(list, responsesReply(c, r))
		case Anthropic:
			list = append(list, anthropicReply{"tool_result", c.ID, anthropicContent(r), r.Error != nil})
		case Gemini:
			list = append(list, geminiReply(c, r)...)
		}
	}
	switch form {
	case Anthropic:
		return struct {
			Role    string `json:"role"`
			Content []any  `json:"content"`
		}{"user", list}
	case Gemini:
		return struct {
			Role  string `json:"role"`
			Parts []any  `json:"parts"`
		}{"user", list}
	}
	if len(seen) > 0 {
		list = append(list, map[string]any{"role": "user", "content": seen})
	}
	return list
}

type chatReply struct {
	Role    string `json:"role"`
	ID      string `json:"tool_call_id"`
	Content string `json:"content"`
}

type itemReply struct {
	Type   string `json:"type"`
	ID     string `json:"call_id"`
	Status string `json:"status,omitempty"`
	Output any    `json:"output"`
}

func responsesReply(c *Request, r *tool.Result) itemReply {
	reply := itemReply{Type: "function_call_output", ID: c.ID, Output: r.Said()}
	if c.Kind == customCall || c.Native() {
		reply.Type = c.Kind + "_output"
	}
	switch {
	case c.Kind == shellCall && json.Valid([]byte(r.Output)):
		reply.Output = json.RawMessage(r.Output) // what shellOutcome has made
	case c.Kind == shellCall: // nothing was run
		reply.Output = []shellResult{shellAnswer(r.Said(), r.Error != nil)}
	case c.Kind == applyPatchCall:
		reply.Status = "completed"
		if r.Error != nil {
			reply.Status = "failed"
		}
	case len(r.Attachments) > 0:
		parts := []any{map[string]string{"type": "input_text", "text": r.Said()}}
		for _, a := range images(r) {
			parts = append(parts, map[string]string{"type": "input_image", "image_url": dataURL(a)})
		}
		reply.Output = parts
	}
	return reply
}

// dataURL is an image as an address that holds it.
func dataURL(a tool.Attachment) string {
	return "data:" + a.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(a.Content)
}

type anthropicReply struct {
	Type    string `json:"type"`
	ID      string `json:"tool_use_id"`
	Content any    `json:"content"`
	Failed  bool   `json:"is_error,omitempty"`
}

func anthropicContent(r *tool.Result) any {
	list := images(r)
	if len(list) == 0 {
		return r.Said()
	}
	parts := []any{map[string]any{"type": "text", "text": r.Said()}}
	for _, a := range list {
		parts = append(parts, map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": a.MIMEType, "data": a.Content}})
	}
	return parts
}

func geminiReply(c *Request, r *tool.Result) []any {
	key := "output"
	if r.Error != nil {
		key = "error"
	}
	type response struct {
		ID       string         `json:"id,omitempty"`
		Name     string         `json:"name"`
		Response map[string]any `json:"response"`
	}
	parts := []any{map[string]any{"functionResponse": response{c.ID, c.Name, map[string]any{key: r.Said()}}}}
	for _, a := range images(r) {
		parts = append(parts, map[string]any{"inlineData": map[string]any{"mimeType": a.MIMEType, "data": a.Content}})
	}
	return parts
}

// images are the attachments that models look at.
func images(r *tool.Result) []tool.Attachment {
	return slices.DeleteFunc(slices.Clone(r.Attachments), func(a tool.Attachment) bool { return a.Type != "image" })
}
