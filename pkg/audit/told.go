package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A Told is what a call was given and what it answered. It is kept beside the audit, for
// people to look at, and is no part of the record: contents are not the record's business.
type Told struct {
	ID   string `json:"id"`             // of the call
	Args string `json:"args,omitempty"` // the parameters that were given, a JSON object
	Text string `json:"text,omitempty"` // what the model was told
	Diff string `json:"diff,omitempty"` // and what it changed
}

const (
	toldName  = "calls.jsonl"
	toldOlder = "calls.1.jsonl"
	maxTold   = 16 << 20 // bytes of a file; there are two at most

	maxArgs = 8 << 10 // bytes of parameters that are kept as they are
	maxArg  = 1 << 10 // of each text in longer ones
	maxText = 2 << 10
	maxDiff = 4 << 10
)

// Tell keeps what a call was given or has answered, without secrets, and of what is long
// both ends. The call is on record already, so the directory is there; what cannot be kept
// is not shown later.
func (a *Audit) Tell(t Told) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.ready(); err != nil {
		return err
	}
	r := a.o.Redactor
	t.Args, t.Text, t.Diff = r.brief(t.Args), r.ends(t.Text, maxText), r.ends(t.Diff, maxDiff)
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	size, err := a.openTold()
	if err != nil {
		return err
	}
	if _, err = a.told.Write(append(line, '\n')); err != nil || size <= maxTold { // in one piece, so that lines of several processes stay whole
		return err
	}
	return errors.Join(a.told.close(), a.dir.Rename(toldName, toldOlder))
}

// openTold makes a.told the file of that name, and says how long it is: another process
// may have renamed the one that is held.
func (a *Audit) openTold() (size int64, err error) {
	if now, err := a.dir.Lstat(toldName); err == nil && a.told.is(now) {
		return now.Size(), nil
	}
	if err := a.told.close(); err != nil {
		return 0, err
	}
	if a.told, err = hold(a.dir.OpenFile(toldName, os.O_WRONLY|os.O_CREATE|os.O_APPEND)); err != nil {
		return 0, err
	}
	return a.told.info.Size(), nil
}

// Shorten is a parameter's text as Tell would keep it, where it is too long to be kept: a
// file or a patch need not become JSON only to be cut.
func (a *Audit) Shorten(text string) string {
	if len(text) <= maxArgs {
		return text
	}
	return a.o.Redactor.ends(text, maxArg)
}

// brief is the parameters of a call as they are kept: texts are cut where they are too
// many.
func (r *Redactor) brief(args string) string {
	if len(args) > maxArgs {
		var values any
		if json.Unmarshal([]byte(args), &values) != nil {
			return ""
		}
		raw, err := json.Marshal(r.shorter(values))
		if err != nil || len(raw) > 2*maxArgs {
			return ""
		}
		args = string(raw)
	}
	return bound(r.Redact(args), maxString)
}

// shorter is a JSON value with its texts cut.
func (r *Redactor) shorter(v any) any {
	switch v := v.(type) {
	case string:
		return r.ends(v, maxArg)
	case []any:
		for i := range v {
			v[i] = r.shorter(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = r.shorter(v[name])
		}
	}
	return v
}

// ends are the beginning and the end of a text without its secrets, of so many bytes in
// all, with how much is left out between them. Secrets are looked for before it is cut:
// half of one does not look like one.
func (r *Redactor) ends(s string, most int) string {
	left := 0
	if len(s) > 2*maxString { // what lies further in is not kept
		left = len(s) - 2*maxString
		s = s[:maxString] + s[len(s)-maxString:]
	}
	if s = r.Redact(s); len(s) <= most {
		return s
	}
	head, tail := most*2/3, most/3
	return strings.ToValidUTF8(s[:head], "") + cutMark + strconv.Itoa(left+len(s)-head-tail) + " bytes more]…" + strings.ToValidUTF8(s[len(s)-tail:], "")
}

const cutMark = "…["

// Fill adds to calls what they were given and have answered, as far as it was kept.
func (a *Audit) Fill(calls ...*Call) {
	if len(calls) == 0 {
		return
	}
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
		if err != nil {
			continue // a line that was torn
		}
		id, _, _ := bytes.Cut(bytes.TrimPrefix(line, []byte(`{"id":"`)), []byte(`"`))
		c := known[string(id)]
		var t Told
		if c == nil || json.Unmarshal(line, &t) != nil {
			continue // most are not asked for
		}
		if t.Args != "" {
			c.Args = Args(t.Args)
		}
		c.Text, c.Diff = c.Text+t.Text, c.Diff+t.Diff
	}
}
