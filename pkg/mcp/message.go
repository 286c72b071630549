package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/agentkit-go/agentkit/pkg/param"
)

// A message is one of JSON-RPC: a request, a notification, or the client's answer to a
// request of ours.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *Error          `json:"error"`

	about func() (meta, *Error) // beside the parameters; the error is why it is none
}

// asks reports whether m wants an answer.
func (m *message) asks() bool { return m.Method != "" && m.ID != nil }

// answers reports whether m answers a request of ours.
func (m *message) answers() bool { return m.Method == "" && m.ID != nil }

// An Error is why a request was not done.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// The codes: of JSON-RPC, one of our own, and those of the protocol.
const (
	parseError         = -32700
	invalidRequest     = -32600
	methodNotFound     = -32601
	invalidParams      = -32602
	busy               = -32000
	oldNotFound        = -32002 // a resource, up to 2025-11-25
	headerMismatch     = -32020
	unsupportedVersion = -32022
)

func fail(code int, text string) *Error { return &Error{Code: code, Message: text} }

// A response is the answer to a request.
type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

func respond(id json.RawMessage, result any, err *Error) *response {
	if id == nil {
		id = json.RawMessage("null")
	}
	if err != nil {
		result = nil
	}
	return &response{"2.0", id, result, err}
}

// A notice is a notification of ours, or with an ID a request of ours.
type notice struct {
	Version string `json:"jsonrpc"`
	ID      string `json:"id,omitempty"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
}

// An object is a result or parameters of ours.
type object map[string]any

// parse reads one message, or several in a list, as 2025-03-26 has them.
func parse(raw []byte) (list []*message, batch bool, err *Error) {
	raw = bytes.TrimSpace(raw)
	if !json.Valid(raw) {
		return nil, false, fail(parseError, "this is no JSON: send one JSON-RPC message")
	}
	each := []json.RawMessage{raw}
	if batch = raw[0] == '['; batch {
		if json.Unmarshal(raw, &each) != nil || len(each) == 0 {
			return nil, true, fail(invalidRequest, "a list of messages holds something else: send at least one, each an object")
		}
	}
	for _, raw := range each {
		var m *message
		if json.Unmarshal(raw, &m) != nil {
			return nil, batch, noMessage("it, or one of its members, is of another kind")
		}
		if name := param.Twice(raw); name != "" {
			return append(list, m), batch, fail(invalidRequest, "a message holds "+name+" twice: send it once")
		}
		list = append(list, m)
	}
	for _, m := range list {
		if m == nil {
			return list, batch, noMessage("it is null")
		}
		if err := m.check(); err != nil {
			return list, batch, noMessage(err.Error())
		}
		m.about = sync.OnceValues(func() (meta, *Error) { return metaOf(m.Params) }) // parameters can be long
	}
	return list, batch, nil
}

// noMessage is the error for what is no message.
func noMessage(why string) *Error {
	return fail(invalidRequest, `this is no message of JSON-RPC 2.0, for `+why+`: send {"jsonrpc":"2.0","id":1,"method":…,"params":{…}}`)
}

// check reports what no message has.
func (m *message) check() error {
	switch {
	case m.Version != "2.0":
		return errors.New("its jsonrpc is not 2.0")
	case m.ID != nil && (len(m.ID) > maxID || m.ID[0] != '"' && m.ID[0] != '-' && (m.ID[0] < '0' || m.ID[0] > '9')):
		return errors.New("its id is neither a text of up to 1 KiB nor a number")
	case m.Method == "" && (m.ID == nil || m.Result == nil && m.Error == nil):
		return errors.New("it asks and answers nothing")
	}
	return nil
}

// maxID bounds an id: it comes back in each message about its request.
const maxID = 1 << 10

// A meta is what the protocol says beside the parameters of a request.
type meta struct {
	Token   json.RawMessage `json:"progressToken"`
	Version *string         `json:"io.modelcontextprotocol/protocolVersion"`
	Client  *capabilities   `json:"io.modelcontextprotocol/clientCapabilities"`
	Info    *program        `json:"io.modelcontextprotocol/clientInfo"`
}

// A program is what a client says that it is.
type program struct {
	Name string `json:"name"`
}

// hands reports whether the client hands structured content to its model instead of the
// text. All of the metadata would then cost the model's tokens, so it gets the text alone.
func (p *program) hands() bool {
	return p != nil && slices.Contains([]string{"claude-code", "codex-mcp-client"}, p.Name)
}

// The capabilities of a client, as far as they matter here.
type capabilities struct {
	Elicitation *struct {
		Form json.RawMessage `json:"form"`
		URL  json.RawMessage `json:"url"`
	} `json:"elicitation"`
}

// forms reports whether the client shows forms to its user.
func (c *capabilities) forms() bool {
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

// metaOf is the meta of a message. One that is not what it should be fails.
func metaOf(params json.RawMessage) (m meta, err *Error) {
	if params == nil {
		return m, nil
	}
	var p struct {
		Meta meta `json:"_meta"`
	}
	if failed := json.Unmarshal(params, &p); failed != nil {
		at := "params"
		if e, ok := errors.AsType[*json.UnmarshalTypeError](failed); ok && e.Field != "" {
			at += "." + e.Field
		}
		return m, fail(invalidParams, at+" is not of the kind that the protocol has there: correct it, or leave it out")
	}
	return p.Meta, nil
}

// compact is JSON without the spaces that mean nothing.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// name is what a request is about: a tool's name or a resource's address.
func (m *message) name() string {
	var p struct{ Name, URI string }
	_ = json.Unmarshal(m.Params, &p)
	if m.Method == "tools/call" {
		return p.Name
	}
	return p.URI
}
