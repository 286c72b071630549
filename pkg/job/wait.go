package job

import (
	"bytes"
	"context"
	"regexp"
	"strconv"
)

// A WaitFor says what ends a wait besides the end of the job.
type WaitFor struct {
	Input bool           // it waits for input
	Quiet bool           // it has printed something from From on, and then been quiet for a moment
	Ready bool           // as Quiet, and it would take input, as a full-screen program does
	Echo  int64          // so many bytes from From on are no news for Quiet: what was typed, which a terminal shows
	Until *regexp.Regexp // a line from From on matches, without its escape sequences; also one that is not complete yet
	From  int64          // a place in its output
}

func (w WaitFor) watch() bool { return w.Input || w.Quiet || w.Ready }

// met reports whether i is what is waited for.
func (w WaitFor) met(i *Info) bool {
	return w.Input && i.Waiting != nil || i.Quiet && (w.Quiet && i.Total > w.From+w.Echo || w.Ready && i.Reads && i.Total > w.From)
}

// Wait waits until the job has ended, with what is kept of it, until what w says,
// or until ctx ends, and returns what is known then; the end of ctx is no error.
// It does not wait for a supervisor that does not answer: then Info is Silent.
func (j *Job) Wait(ctx context.Context, w WaitFor) (Info, error) {
	i, err := j.Info()
	if err != nil || !i.Alive() && w.Until == nil {
		return i, err
	}
	f := newFollower(j, w)
	defer f.close()
	if i.Alive() {
		i, err = f.follow(ctx, w)
	} else {
		err = f.copy(i)
	}
	i.Found = f.until.line()
	return i, err
}

// Unread is where Read with SinceLast would start.
func (j *Job) Unread() int64 {
	raw, _ := j.reg.Session.ReadFile(j.file(cursorFile))
	return cursor(raw)
}

// cursor reads what a cursor's file holds; 0 where nothing was read yet.
func cursor(raw []byte) int64 {
	at, _ := strconv.ParseInt(string(bytes.TrimSpace(raw)), 10, 64)
	return at
}

// A finder looks for the first line that matches in an output that comes in pieces.
// A nil one finds nothing.
type finder struct {
	re    *regexp.Regexp
	part  []byte  // the beginning of a line that is not complete
	found *string // nil until then
}

// maxPartial is how much of a line that is not complete is looked at: its end.
const maxPartial = 8 << 10

func (f *finder) done() bool { return f.line() != nil }

// line is what was found; nil for nothing.
func (f *finder) line() *string {
	if f == nil {
		return nil
	}
	return f.found
}

// look takes the next piece.
func (f *finder) look(p []byte) {
	for f != nil && f.found == nil && len(p) > 0 {
		n := bytes.IndexByte(p, '\n') + 1
		whole := n > 0
		if !whole {
			n = len(p)
		}
		f.part = append(f.part, p[:n]...)
		p = p[n:]
		f.try()
		switch {
		case whole:
			f.part = f.part[:0]
		case len(f.part) > maxPartial:
			f.part = append(f.part[:0], f.part[len(f.part)-maxPartial:]...)
		}
	}
}

func (f *finder) try() {
	line := bytes.TrimRight(plain(f.part), "\r\n")
	if f.re.Match(line) {
		text := string(bytes.ToValidUTF8(line, []byte("\ufffd")))
		f.found = &text
	}
}
