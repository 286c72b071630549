package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// A Result is what every call prints, as one JSON object.
type Result struct {
	Title       string       // one line for people
	Output      string       // for the model
	Metadata    any          // a struct or map that marshals to an object; nil for an empty one
	Attachments []Attachment // images and other files that go along
	Error       *Error       // the call failed or was refused; what was done before stands beside it

	No     bool // done, and the answer is no: the process exits with status 1
	Status int  // the command's own exit status, where it is passed through
	Passes bool // the call passes a command's status through

	Pretty func(paint func(Style, string) string) string // Output for a terminal with colours; nil for Output itself

	Tail    string // the end of Output that no output event has shown while the call ran
	Trimmed bool   // Output is within the limits and says itself what was left out
	extra   []field
}

// An Attachment is a file that goes along with the output, such as an image.
type Attachment struct {
	Type     string `json:"type"` // image, file or data
	Filename string `json:"filename"`
	MIMEType string `json:"mime_type"`
	Content  []byte `json:"content"` // base64 in JSON
}

type field struct {
	name  string
	value any
}

// Add sets a member of the metadata beside the tool's own; a name that is
// there already keeps the tool's value.
func (r *Result) Add(name string, value any) { r.extra = append(r.extra, field{name, value}) }

// Fail is the Result of a run that failed with err before any tool was called.
func Fail(title string, err error) *Result {
	return &Result{Title: title, Error: AsError(err), Trimmed: true}
}

// Exit is the status of a process that made this call alone.
func (r *Result) Exit() int {
	switch {
	case r.Error != nil && r.Error.Code == Interrupted:
		if s, ok := errors.AsType[*Signal](r.Error.err); ok {
			return ExitSignal + int(s.Number)
		}
		return r.Error.Code.Exit()
	case r.Error != nil && r.Passes && r.Error.Code.Exit() == ExitError:
		return ExitAgentkit
	case r.Error != nil:
		return r.Error.Code.Exit()
	case r.Passes:
		return r.Status
	case r.No:
		return ExitNo
	}
	return ExitDone
}

// MarshalJSON implements json.Marshaler: the contract's fields in the
// contract's order, metadata always an object. A failed call that has no output
// gets the error's words for it.
func (r *Result) MarshalJSON() ([]byte, error) {
	meta, err := r.metadata()
	if err != nil {
		return nil, err
	}
	output := r.Output
	if r.Error != nil && output == "" {
		output = r.Error.Words()
	}
	return encode(struct {
		Title       string          `json:"title"`
		Output      string          `json:"output"`
		Metadata    json.RawMessage `json:"metadata"`
		Attachments []Attachment    `json:"attachments,omitempty"`
		Error       *Error          `json:"error,omitempty"`
	}{r.Title, output, meta, r.Attachments, r.Error})
}

func (r *Result) metadata() (json.RawMessage, error) {
	meta := []byte("{}")
	if r.Metadata != nil {
		var err error
		if meta, err = encode(r.Metadata); err != nil {
			return nil, err
		}
	}
	if len(meta) < 2 || meta[0] != '{' {
		return nil, fmt.Errorf("metadata of %q is not an object", r.Title)
	}
	if len(r.extra) == 0 {
		return meta, nil
	}
	return merge(meta, r.extra)
}

// merge adds members to an object, in order. A member that is there already
// stays as the tool has it, but for truncated: whoever cuts says so.
func merge(object json.RawMessage, extra []field) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	out, have := []byte("{"), map[string]bool{}
	put := func(name string, value json.RawMessage) {
		if len(have) > 0 {
			out = append(out, ',')
		}
		have[name] = true
		out = fmt.Appendf(out, "%q:%s", name, value)
	}
	cut := slices.Contains(extra, field{"truncated", true})
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		name, _ := key.(string)
		if name == "truncated" && cut {
			value = json.RawMessage("true")
		}
		put(name, value)
	}
	for _, f := range extra {
		if have[f.name] {
			continue
		}
		value, err := encode(f.value)
		if err != nil {
			return nil, err
		}
		put(f.name, value)
	}
	return append(out, '}'), nil
}

// encode is json.Marshal without the escapes that only web pages need.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Learn has encoding/json work out how v is written, which takes it a tenth of a
// millisecond and more the first time, beside what else is to be done.
func Learn(v any) { _, _ = encode(v) }

// A Style says what a piece of text is, for those who see colours.
type Style int

// The styles.
const (
	Plain   Style = iota
	Match         // what was searched for
	Name          // a path
	Number        // a line number
	Added         // a line that came
	Removed       // a line that went
	Faint         // what matters less
)

// Unpainted is text as those see it who see no colours.
func Unpainted(_ Style, text string) string { return text }
