package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

// maxAttachments is how many a result can have: those of a batch of notebooks.
const maxAttachments = 2000

// attachments are those of a result that another process has sent. An empty one takes three
// bytes of a line and thirty times as many here, so they are counted while they are read.
type attachments []Attachment

// UnmarshalJSON implements json.Unmarshaler.
func (a *attachments) UnmarshalJSON(raw []byte) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t == nil {
		return err
	} else if t != json.Delim('[') {
		return errors.New("its attachments are no list")
	}
	for dec.More() {
		if len(*a) == maxAttachments {
			return errors.New("it has more attachments than a result can have")
		}
		var one Attachment
		if err := dec.Decode(&one); err != nil {
			return err
		}
		*a = append(*a, one)
	}
	return nil
}

// foreign are the details of an error that another process has sent.
type foreign json.RawMessage

// Codes implements Details.
func (foreign) Codes() []Code { return nil }

// MarshalJSON implements json.Marshaler.
func (f foreign) MarshalJSON() ([]byte, error) { return f, nil }

// Receive reads a result that another process has made in a place. Its metadata says
// which place that is, whatever else they say. The first bytes of its output are what the
// tool has put out, as many as own says, and behind them stands what is said of it; where
// own is negative, it is all the words of the error.
func Receive(raw json.RawMessage, place string, exit, own int) (*Result, error) {
	var in struct {
		Title, Output string
		Attachments   attachments
		Error         *struct {
			Code          Code
			Message, Hint string
			Suggestions   []string
			Retryable     bool
			Details       json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	meta, err := received(raw)
	if err != nil {
		return nil, err
	}
	if own > len(in.Output) || own < 0 && in.Error == nil {
		return nil, errors.New("its output is not as long as it says")
	}
	r := &Result{Title: in.Title, Output: in.Output[:max(own, 0)], Metadata: meta, Attachments: in.Attachments, Trimmed: true, exit: &exit}
	r.beside().On = place
	if own >= 0 {
		r.said = in.Output
	}
	if in.Error == nil {
		return r, nil
	}
	if !slices.Contains(Codes(), in.Error.Code) {
		return nil, errors.New("its error has a code that there is not")
	}
	r.Error = &Error{Code: in.Error.Code, Message: in.Error.Message, Hint: in.Error.Hint, Suggestions: in.Error.Suggestions, Retryable: in.Error.Retryable}
	if d := in.Error.Details; len(d) > 0 && d[0] == '{' {
		r.Error.Details = foreign(d)
	}
	if own < 0 {
		r.Error.said = in.Output
	}
	return r, nil
}

// received is the metadata of a result that another process has sent, in its order, less
// what only this side can tell.
func received(raw json.RawMessage) (json.RawMessage, error) {
	var in struct{ Metadata json.RawMessage }
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	if len(in.Metadata) == 0 || in.Metadata[0] != '{' {
		return nil, errors.New("its metadata is no object")
	}
	return joined(nil, map[string]bool{"on": true}, in.Metadata)
}

// Interrupt makes a result that of a call which a signal has ended.
func (r *Result) Interrupt(s *Signal) {
	r.exit, r.Error = nil, AsError(s)
}

// Fail makes e the error of a result, in the place of the one that it has.
func (r *Result) Fail(e *Error) { r.exit, r.Error = nil, e }

// Place says where the call was made.
func (r *Result) Place(name string) { r.beside().On = name }
