package audit

import (
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A Told is what a call was given and what it answered. It is kept beside the audit, for
// people to look at, and is no part of the record: contents are not the record's business.
type Told struct {
	ID   string `json:"id"`             // of the call
	Args string `json:"args,omitempty"` // the parameters that were given, a JSON object
	Text string `json:"text,omitempty"` // both ends of what the model was told
	Diff string `json:"diff,omitempty"` // and of what it changed
}

const (
	toldName  = "calls.jsonl"
	toldOlder = "calls.1.jsonl"
	maxTold   = 16 << 20 // bytes of a file; there are two at most
)

// Tell keeps what a call was given or has answered, without secrets. The call is on record
// already, so the directory is there; what cannot be kept is not shown later.
func (a *Audit) Tell(t Told) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.ready(); err != nil {
		return err
	}
	for _, s := range []*string{&t.Args, &t.Text, &t.Diff} {
		*s = bound(a.o.Redactor.Redact(*s), maxString)
	}
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	f, err := a.dir.OpenFile(toldName, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		_, err = f.Write(append(line, '\n')) // in one piece, so that lines of several processes stay whole
	}
	if err = errors.Join(err, f.Close()); err == nil && info.Size() > maxTold {
		err = a.dir.Rename(toldName, toldOlder)
	}
	return err
}

// Fill adds to calls what they were given and have answered, as far as it was kept.
func (a *Audit) Fill(calls ...*Call) {
	known := map[string]*Call{}
	for _, c := range calls {
		known[c.ID] = c
	}
	dir, err := safefile.OpenDir(a.path)
	if err != nil {
		return
	}
	defer dir.Close()
	for _, name := range []string{toldOlder, toldName} {
		f, err := dir.OpenFile(name, os.O_RDONLY)
		if err != nil {
			continue
		}
		fill(known, f)
		_ = f.Close()
	}
}

func fill(known map[string]*Call, r io.Reader) {
	for line, err := range lines(r) {
		var t Told
		if err != nil || json.Unmarshal(line, &t) != nil {
			continue // a line that was torn
		}
		c := known[t.ID]
		if c == nil {
			continue
		}
		if t.Args != "" {
			c.Args = Args(t.Args)
		}
		c.Text, c.Diff = c.Text+t.Text, c.Diff+t.Diff
	}
}
