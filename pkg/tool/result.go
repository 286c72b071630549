package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A Result is what every call prints, as one JSON object.
type Result struct {
	Title       string       // one line for people
	Output      string       // for the model; of a command, what it printed and nothing else
	Notes       []Note       // what we say about Output, each for a line of its own behind it
	Metadata    any          // a struct or map that marshals to an object; nil for an empty one
	Inner       []*Result    // of the calls that it made, in their order
	Attachments []Attachment // images and other files that go along
	Error       *Error       // the call failed or was refused; what was done before stands beside it

	No     bool // done, and the answer is no: the process exits with status 1
	Status int  // the command's own exit status, where it is passed through
	Passes bool // the call passes a command's status through

	Pretty func(paint func(Style, string) string) string // Output for a terminal with colours; nil for Output itself

	Trimmed bool // Output is within the limits and says itself what was left out
	shared  *Shared
	exit    *int   // what another process says is the status; nil for what the rest says
	said    string // the text, where another process has made it; "" where none has
}

// An Attachment is a file that goes along with the output, such as an image.
type Attachment struct {
	Type     string `json:"type" doc:"image, file or data"`
	Filename string `json:"filename"`
	MIMEType string `json:"mime_type"`
	Content  []byte `json:"content" doc:"in base64"`
}

// Shared is what the metadata of any tool may hold beside the tool's own.
type Shared struct {
	On         string   `json:"on,omitempty" doc:"the place where the call was made; absent for this machine"`
	Repeated   bool     `json:"repeated,omitempty" doc:"nothing was run: this is the result of an earlier call with the same idempotency key"`
	Ignored    []string `json:"ignored,omitempty" doc:"parameters that came and mean nothing to the tool"`
	Notes      []string `json:"notes,omitempty" doc:"what was understood otherwise than it was written, such as a time limit above the most"`
	Approved   string   `json:"approved,omitempty" doc:"how a person's yes came: once, session or always, and the rule"`
	Truncated  bool     `json:"truncated,omitempty" doc:"the output leaves something out"`
	TotalLines int64    `json:"total_lines,omitempty" doc:"lines of the whole output"`
	TotalBytes int64    `json:"total_bytes,omitempty" doc:"bytes of the whole output"`
	CutAt      int64    `json:"truncated_at_line,omitempty" doc:"the first line that is left out"`
	SpillPath  string   `json:"spill_path,omitempty" doc:"the file that holds the whole output"`
	Incomplete string   `json:"incomplete,omitempty" doc:"why something could not be kept"`
}

// beside is what the metadata holds beside the tool's own. A name that is there
// already keeps the tool's value.
func (r *Result) beside() *Shared {
	if r.shared == nil {
		r.shared = new(Shared)
	}
	return r.shared
}

// Ignore adds a parameter that came and means nothing.
func (r *Result) Ignore(name string) {
	s := *r.beside()
	s.Ignored = append(s.Ignored, name)
	r.shared = &s
}

// Fail is the Result of a run that failed with err before any tool was called.
func Fail(title string, err error) *Result {
	return &Result{Title: fmt.Sprintf("%.200s", title), Error: AsError(err), Trimmed: true} // which may be all that came
}

// Exit is the status of a process that made this call alone.
func (r *Result) Exit() int {
	switch {
	case r.exit != nil:
		return *r.exit
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

// Text is the output with the notes behind it.
func (r *Result) Text() string {
	if r.said != "" {
		return r.said
	}
	if len(r.Notes) == 0 {
		return r.Output
	}
	text := r.Output
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	for _, n := range r.Notes {
		text += n.String() + "\n"
	}
	return text
}

// Said is what a model is told: the text, or the error's words where a failed call has
// none.
func (r *Result) Said() string {
	if text := r.Text(); r.Error == nil || text != "" {
		return text
	}
	return r.Error.Words()
}

// MarshalJSON implements json.Marshaler: the contract's fields in the
// contract's order, metadata always an object.
func (r *Result) MarshalJSON() ([]byte, error) {
	meta, err := r.MetadataJSON()
	if err != nil {
		return nil, err
	}
	return Encode(wireResult{r.Title, r.Said(), meta, r.Attachments, r.Error})
}

// A wireResult is a Result as JSON has it.
type wireResult struct {
	Title       string          `json:"title" doc:"one line for people"`
	Output      string          `json:"output" doc:"for the model; of a call that failed, what is wrong and what to do"`
	Metadata    json.RawMessage `json:"metadata" doc:"for programs"`
	Attachments []Attachment    `json:"attachments,omitempty" doc:"images and other files that go along"`
	Error       *Error          `json:"error,omitempty" doc:"the call failed or was refused; what was done before stands beside it"`
}

// MetadataJSON is the metadata as JSON has it: an object, with what any tool's may hold.
func (r *Result) MetadataJSON() (json.RawMessage, error) {
	meta := []byte("{}")
	if r.Metadata != nil {
		var err error
		if meta, err = Encode(r.Metadata); err != nil {
			return nil, err
		}
	}
	if len(meta) < 2 || meta[0] != '{' {
		return nil, fmt.Errorf("metadata of %q is not an object", r.Title)
	}
	if r.shared == nil {
		return meta, nil
	}
	more, err := Encode(r.shared)
	if err != nil {
		return nil, err
	}
	return merge(meta, more, r.shared.Truncated)
}

// merge adds to an object the members of another that it has none of, in order.
// Of truncated the second is right where cut is set: whoever cuts says so.
func merge(object, more json.RawMessage, cut bool) (json.RawMessage, error) {
	put := map[string]json.RawMessage{}
	if cut {
		put["truncated"] = json.RawMessage("true")
	}
	return joined(put, map[string]bool{}, object, more)
}

// joined is several objects as one, their members in order: of a name the first one, and
// none that had has. What put says of a name counts in the place of its value.
func joined(put map[string]json.RawMessage, had map[string]bool, objects ...json.RawMessage) (json.RawMessage, error) {
	out := []byte("{")
	for _, raw := range objects {
		dec := json.NewDecoder(bytes.NewReader(raw))
		if _, err := dec.Token(); err != nil {
			return nil, err
		}
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
			if had[name] {
				continue
			}
			if own, ok := put[name]; ok {
				value = own
			}
			if len(out) > 1 {
				out = append(out, ',')
			}
			had[name] = true
			quoted, err := Encode(name)
			if err != nil {
				return nil, err
			}
			out = append(append(append(out, quoted...), ':'), value...)
		}
	}
	return append(out, '}'), nil
}

// Encode is json.Marshal without the escapes that only web pages need.
func Encode(v any) ([]byte, error) {
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
func Learn(v any) { _, _ = Encode(v) }

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

// The characters of private use that mark a style until everything else in a text has been made
// visible, and which take a style to another place.
const (
	FirstMark = '\uf8e0' // plus the style
	LastMark  = '\uf8ef' // ends it
)

// Mark puts text into a style by characters around it.
func Mark(s Style, text string) string {
	if s == Plain || text == "" {
		return text
	}
	return string(FirstMark+rune(s)) + text + string(LastMark)
}

// Unpainted is text as those see it who see no colours.
func Unpainted(_ Style, text string) string { return text }
