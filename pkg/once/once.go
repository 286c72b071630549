// Package once remembers by a key what became of a call, so that whoever does not know whether
// it was made can ask for it again without making it twice.
//
// The rules:
//
//   - A record is a file of the session, and whoever makes the call holds its lock: a second
//     one with the same key waits.
//   - That a call begins is on the disk before it does. A record that says no more, and whose
//     lock is free, is of a call that was cut off: what it has done is not known.
//   - Records are forgotten after a while, or when there are too many; never one that is held.
package once

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
)

// The bounds of what is remembered of a session.
const (
	MaxResult = 4 << 20        // bytes of one result
	maxTotal  = 64 << 20       // bytes of all
	maxKept   = 1000           // records
	maxAge    = 24 * time.Hour // of a record
	small     = 64 << 10       // bytes of a result after which nothing is counted: maxKept of them are maxTotal
	every     = 16             // so often all records are looked at, whatever the results are
)

// dir is where records lie in a session's state.
const dir = "once"

// A Begun is what a record says first: which call it is of.
type Begun struct {
	Call  string          `json:"call"` // tells it from every other call
	At    time.Time       `json:"at"`
	About json.RawMessage `json:"about"` // the caller's own
}

// A Record is that of one key, held.
type Record struct {
	Begun  *Begun          // nil where no call has begun
	Result json.RawMessage // nil where none has ended

	d    *safefile.Dir
	name string
	f    *os.File
}

// Take takes the record of a key, and waits for whoever holds it. The record must be closed.
func Take(ctx context.Context, s *session.Session, key string) (*Record, error) {
	path, err := s.Mkdir(dir)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(key))
	r := &Record{name: hex.EncodeToString(sum[:16])}
	if r.d, err = safefile.OpenDir(path); err != nil {
		return nil, err
	}
	if r.f, err = r.d.Lock(ctx, r.name); err != nil {
		return nil, errors.Join(err, r.d.Close())
	}
	text, err := io.ReadAll(r.f)
	if err != nil {
		return nil, errors.Join(err, r.f.Close(), r.d.Close())
	}
	first, rest, whole := bytes.Cut(text, []byte("\n"))
	begun := new(Begun)
	if !whole || json.Unmarshal(first, begun) != nil {
		return r, nil // it has not begun: this line is on the disk before it does
	}
	r.Begun = begun
	if last, whole := bytes.CutSuffix(rest, []byte("\n")); whole && json.Valid(last) {
		r.Result = last
	}
	return r, nil
}

// Begin says that the call begins.
func (r *Record) Begin(b *Begun) error {
	line, err := json.Marshal(b)
	if err != nil {
		return err
	}
	if err := r.f.Truncate(0); err != nil {
		return err
	}
	if _, err := r.f.WriteAt(append(line, '\n'), 0); err != nil {
		return err
	}
	if _, err := r.f.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	r.Begun = b
	return errors.Join(r.f.Sync(), r.d.Sync())
}

// End says what became of the call, in one line of JSON of about MaxResult bytes at most.
func (r *Record) End(result []byte) error {
	r.Result = result
	_, err := r.f.Write(append(slices.Clone(result), '\n'))
	return err
}

// Close lets go of the record. One whose call has not begun is as if it had never been.
func (r *Record) Close() error {
	var err error
	if r.Begun == nil {
		err = r.d.Remove(r.name)
	}
	// A child that was forked meanwhile may have the file open as well.
	return errors.Join(err, safefile.Unlock(r.f), r.f.Close(), r.d.Close())
}

// Forget removes what is too old or too much, where the record, which is closed, makes it
// likely that there is such.
func (r *Record) Forget(now time.Time) error {
	d, err := safefile.OpenDir(r.d.Path())
	if err != nil {
		return err
	}
	defer d.Close() //nolint:errcheck // what was removed is removed
	list, err := d.ReadDir()
	if err != nil || len(list) <= maxKept && len(list)%every != 0 && len(r.Result) <= small {
		return err
	}
	type file struct {
		name string
		size int64
		at   time.Time
	}
	var all []file
	for _, e := range list {
		if info, err := e.Info(); err == nil {
			all = append(all, file{e.Name(), info.Size(), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b file) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.name, b.name)) })
	total := int64(0)
	for i, one := range all {
		total += one.size
		if i < maxKept && total <= maxTotal && now.Sub(one.at) <= maxAge {
			continue
		}
		f, err := d.TryLock(one.name, true)
		if err != nil {
			continue // somebody has it
		}
		err = errors.Join(d.Remove(one.name), f.Close())
		if err != nil {
			return err
		}
	}
	return nil
}
