// Package audit keeps the record of what was decided and done: an audit that
// cannot lose or change a line unnoticed.
//
// The audit is audit.jsonl in a session's directory, one JSON object a line:
//
//	{"v":1,"seq":7,"time":…,"id":…,"session":…,"tool":…,"event":…,"accesses":[…],…,"prev":"<hash>","hash":"<hash>"}
//
// prev is the hash of the line before, 64 zeros in the first line. hash is the
// SHA-256, in lower-case hex, of prev, a line feed, and the line's own bytes up
// to `,"hash":` with a closing brace in place of what follows. seq counts from
// 1 without gaps.
//
// How far the audit had come stands in the file .audit.jsonl.lock too, which is
// also the lock of all writers: so lines cut off the end are missed. It is
// written after the line, so a process killed in between leaves it one behind,
// which is fine; a line torn by a kill stands behind it, and is dropped by the
// next append, which says so in a line of its own (event repair).
//
// At its size limit the file is renamed to audit.<last seq>.jsonl; the first
// line of the new one (event rotate) names it, and its prev is the last hash.
//
// The chain finds changes, it does not prevent them: whoever may write to both
// files can forge a whole chain. They lie outside what commands may write.
package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// FileName is the name of the audit in a session's directory.
const FileName = "audit.jsonl"

// An Event says what a line of the audit is about.
type Event string

// The events. Append takes the first four; the others are the audit's own.
const (
	Decision Event = "decision" // the policy decided about a call
	Result   Event = "result"   // a call ended
	Ask      Event = "ask"      // someone was asked, or has to be
	Grant    Event = "grant"    // someone allowed or refused something

	Rotate Event = "rotate" // the file follows the one named in File
	Repair Event = "repair" // a line was torn or lines are missing; Note says which
)

// An Access is one thing a call wanted to do, and what was decided about it.
type Access struct {
	Kind     string `json:"kind"`
	Subject  string `json:"subject"` // the path, command, host …
	Decision string `json:"decision,omitempty"`
	Rule     string `json:"rule,omitempty"`
	File     string `json:"file,omitempty"` // where the rule stands
	Line     int    `json:"line,omitempty"`
	Why      string `json:"why,omitempty"`
}

// An Entry is what the caller knows of a line. Secrets in its strings are
// redacted when it is written, and strings beyond 16 KiB are cut.
type Entry struct {
	Time     time.Time `json:"time"`              // zero means now
	ID       string    `json:"id,omitempty"`      // of the call
	Session  string    `json:"session,omitempty"` // "" means that of Options
	Tool     string    `json:"tool,omitempty"`
	Event    Event     `json:"event"`
	Accesses []Access  `json:"accesses,omitempty"`
	Decision string    `json:"decision,omitempty"` // of the call as a whole
	Level    string    `json:"level,omitempty"`    // of the sandbox
	Policy   string    `json:"policy,omitempty"`   // hash of the policy that decided
	Exit     *int      `json:"exit,omitempty"`     // status of a command that ran
	Code     string    `json:"code,omitempty"`     // error code of a call that failed
	Note     string    `json:"note,omitempty"`
	Caller   string    `json:"caller,omitempty"`  // what the caller calls the call, as it came
	Message  string    `json:"message,omitempty"` // what the caller calls the message that holds the call
	Agent    string    `json:"agent,omitempty"`   // which of the caller's agents makes it
	Parent   string    `json:"parent,omitempty"`  // the call that made this one
	Asked    bool      `json:"asked,omitempty"`   // decision: about something that came up while Parent ran
	Typed    string    `json:"typed,omitempty"`   // decision: what is typed into a program
	Title    string    `json:"title,omitempty"`   // result: in one line
	Millis   int64     `json:"ms,omitempty"`      // result: how long the call took, with waiting for an answer
	Change   string    `json:"change,omitempty"`  // result: what undo calls what it changed
	Job      string    `json:"job,omitempty"`     // result: what goes on
	File     string    `json:"file,omitempty"`    // rotate: the file before
}

// A Record is a line of the audit as it was written.
type Record struct {
	V   int    `json:"v"` // version of the format: 1
	Seq uint64 `json:"seq"`
	Entry
	Prev string `json:"prev"`
	Hash string `json:"hash,omitempty"`
}

// Options says how an Audit is written.
type Options struct {
	Session  string           // the session field of entries that have none
	Redactor *Redactor        // nil redacts the well-known shapes only
	Now      func() time.Time // the clock; nil is time.Now
	Sync     bool             // Append returns only when the line is on the disk
	MaxBytes int64            // size at which the file is rotated; zero or less means 64 MiB
}

// ErrEvent is returned by Append for an event that callers cannot write.
var ErrEvent = errors.New("not an event to append")

// An Audit writes and reads the audit of one directory. Its methods may be
// called concurrently, and by any number of processes.
type Audit struct {
	path string // of the directory
	o    Options

	mu   sync.Mutex
	dir  *safefile.Dir
	lock held
	file held
	told held
	size int64 // of file behind the line that was written last; 0 where that is not known
	last link  // which is that line
}

// held is a file that is kept open: the zero value is none.
type held struct {
	*os.File
	info fs.FileInfo // as it was opened: which file it is
}

// hold keeps f; err is that of opening it.
func hold(f *os.File, err error) (held, error) {
	if err != nil {
		return held{}, err
	}
	info, err := f.Stat()
	if err != nil {
		return held{}, errors.Join(err, f.Close())
	}
	return held{f, info}, nil
}

// is reports whether now describes the file that is held.
func (h *held) is(now fs.FileInfo) bool { return h.File != nil && os.SameFile(h.info, now) }

// close closes the file, where one is held.
func (h *held) close() error {
	f := h.File
	if *h = (held{}); f == nil {
		return nil
	}
	return f.Close()
}

// Open prepares the audit in the directory dir, an absolute path. It creates
// nothing: the first Append does, with the directory. A directory or file that
// is a link or not ours alone is safefile.ErrUnsafe. The caller holds the
// session ([session.Session.Use]), so that gc does not take the directory away.
func Open(dir string, o Options) (*Audit, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("opening the audit: the directory %q is not an absolute path", dir)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 64 << 20
	}
	a := &Audit{path: filepath.Clean(dir), o: o}
	opened, err := safefile.OpenDir(a.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("opening the audit: %w", err)
	}
	a.dir = opened
	return a, nil
}

// Path returns the path of the file that is being written.
func (a *Audit) Path() string { return filepath.Join(a.path, FileName) }

// Close lets go of the files. A later Append opens them again.
func (a *Audit) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.close()
}

func (a *Audit) close() error {
	err := errors.Join(a.file.close(), a.told.close(), a.lock.close())
	if a.dir != nil {
		err = errors.Join(err, a.dir.Close())
	}
	a.dir = nil
	return err
}

// Append writes one line and returns when it is written; with Options.Sync,
// when it is on the disk. On an error the call it is about has to be refused.
// It waits for other writers until ctx ends.
func (a *Audit) Append(ctx context.Context, e Entry) error {
	switch e.Event {
	case Decision, Result, Ask, Grant:
	default:
		return fmt.Errorf("appending %q to the audit: %w", e.Event, ErrEvent)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.acquire(ctx); err != nil {
		return fmt.Errorf("appending to the audit: %w", err)
	}
	err := a.append(a.complete(e))
	if err = errors.Join(err, safefile.Unlock(a.lock.File)); err != nil {
		return fmt.Errorf("appending to the audit: %w", err)
	}
	return nil
}

// complete fills in what the entry leaves to us, and redacts it.
func (a *Audit) complete(e Entry) Entry {
	if e.Time.IsZero() {
		e.Time = a.o.Now()
	}
	e.Time = e.Time.UTC()
	if e.Session == "" {
		e.Session = a.o.Session
	}
	return e.redacted(a.o.Redactor)
}

// acquire takes the writers' lock. The directory may have been removed and
// made anew since the last time: a lock nobody else can find locks nobody out.
func (a *Audit) acquire(ctx context.Context) error {
	for range 100 {
		if err := a.ready(); err != nil {
			return err
		}
		if err := safefile.WaitLock(ctx, a.lock.File, true); err != nil {
			return fmt.Errorf("waiting for the lock: %w", err)
		}
		if now, err := os.Lstat(filepath.Join(a.path, lockName)); err == nil && a.lock.is(now) {
			return nil
		}
		if err := a.close(); err != nil {
			return err
		}
	}
	return errors.New("the directory keeps changing")
}

func (a *Audit) ready() (err error) {
	if a.dir == nil {
		if a.dir, err = safefile.MakeDir(a.path); err != nil {
			return err
		}
	}
	if a.lock.File == nil {
		a.lock, err = hold(a.dir.OpenFile(lockName, os.O_RDWR|os.O_CREATE))
		if errors.Is(err, fs.ErrNotExist) { // the directory was removed since Open
			_ = a.dir.Close()
			a.dir, err = safefile.MakeDir(a.path)
			if err == nil {
				a.lock, err = hold(a.dir.OpenFile(lockName, os.O_RDWR|os.O_CREATE))
			}
		}
	}
	return err
}
