package job

import (
	"bytes"
	"os"
	"slices"
	"time"

	"github.com/agentkit-go/agentkit/pkg/killtree"
)

const (
	sampling = 150 * time.Millisecond // between two looks while somebody wants to know
	glance   = 60 * time.Millisecond  // between two looks for one answer
	tailSize = 4096                   // where the last line is looked for

	// quietFor is how long a job must print nothing, and work on next to nothing,
	// to be quiet: servers say what they have to within it, and a compiler that
	// says nothing for long works.
	quietFor = 1500 * time.Millisecond
)

// blocking is what a look has found out about who reads the job's input.
type blocking struct {
	reads  bool // somebody does
	waits  bool // and waits for it, see blocked
	who    killtree.Process
	secret bool // what is typed is not shown
}

// same reports whether an earlier look has found the same process waiting.
func (b blocking) same(as blocking) bool {
	return b.waits && as.waits && b.who.Pid == as.who.Pid && b.who.Start == as.who.Start
}

// watch looks for waiting and quiet until unwatch has been called as often.
func (s *supervisor) watch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched++
	if s.watched == 1 {
		go s.sample()
	}
}

func (s *supervisor) unwatch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched--
}

// sample makes known what two looks in a row have found about waiting, and when the
// job is quiet.
func (s *supervisor) sample() {
	tick := time.NewTicker(sampling)
	defer tick.Stop()
	var last blocking
	var still stillness
	for {
		select {
		case <-s.done:
			return
		case <-tick.C:
		}
		members := s.run.tree.Members()
		b := s.blocked(members)
		same := b.same(last)
		last = b
		s.mu.Lock()
		if s.watched == 0 {
			s.info.Waiting, s.quietAt = nil, -1
			s.mu.Unlock()
			return
		}
		if s.info.State == Running && s.learn(b, same, still.look(time.Now(), s.log.size, members)) {
			s.signalChange()
		}
		s.mu.Unlock()
	}
}

// learn takes in what a look has found, and reports whether it is news. The caller
// holds mu.
func (s *supervisor) learn(b blocking, waits, quiet bool) (news bool) {
	if was := s.info.Waiting; (was != nil) != waits {
		s.info.Waiting, news = nil, true
		if waits {
			s.info.Waiting = s.waiting(b)
		}
	}
	s.info.Reads = b.reads
	at := int64(-1)
	if quiet {
		at = s.log.size
	}
	news = news || quiet && s.quietAt != at
	s.quietAt = at
	return news
}

// stillness finds out since when a job has printed nothing and worked on nothing.
type stillness struct {
	since time.Time
	size  int64
	cpu   time.Duration
	looks int
	ready int // looks that found a process which runs, would run, or waits for a disk
}

// look reports whether it is quiet now, having printed size bytes.
func (q *stillness) look(now time.Time, size int64, members []killtree.Process) bool {
	var cpu time.Duration
	ready := 0
	for _, p := range members {
		cpu += p.CPU
		if p.State == 'R' || p.State == 'D' {
			ready = 1
		}
	}
	// A tenth of a processor is what waiting costs where a program looks around
	// now and then. One that has ended takes its time away.
	passed := now.Sub(q.since)
	if q.since.IsZero() || size != q.size || cpu < q.cpu || cpu-q.cpu > passed/10+30*time.Millisecond {
		*q = stillness{since: now, size: size, cpu: cpu}
		return false
	}
	q.looks++
	q.ready += ready
	if passed < quietFor {
		return false
	}
	// On a busy machine, who works may get less than a tenth, but is ready to run.
	if 2*q.ready >= q.looks {
		*q = stillness{since: now, size: size, cpu: cpu}
		return false
	}
	return true
}

// look looks twice, now.
func (s *supervisor) look() *Waiting {
	if i, _ := s.snapshot(); !i.OpenStdin {
		return nil
	}
	first := s.blocked(s.run.tree.Members())
	if !first.waits {
		return nil
	}
	select {
	case <-s.done:
		return nil
	case <-time.After(glance):
	}
	again := s.blocked(s.run.tree.Members())
	if !again.same(first) {
		return nil
	}
	return s.waiting(again)
}

func (s *supervisor) waiting(b blocking) *Waiting {
	return &Waiting{Pid: b.who.Pid, Program: b.who.Name, Argv: arguments(b.who), LastLine: lastLine(s.tail()), Secret: b.secret}
}

// tail is the end of the log.
func (s *supervisor) tail() []byte {
	f, err := s.dir.OpenFile(logFile, os.O_RDONLY)
	if err != nil {
		return nil
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil
	}
	buf := make([]byte, min(st.Size(), tailSize))
	n, _ := f.ReadAt(buf, st.Size()-int64(len(buf)))
	return buf[:n]
}

// prompts reports whether an output ends with a line that is not complete, as a
// question does. What is drawn all over the screen is none.
func prompts(tail []byte) bool {
	line := tail[bytes.LastIndexByte(tail, '\n')+1:]
	return len(bytes.TrimSpace(plain(line))) > 0 && !draws(line)
}

// draws reports whether text holds the control sequence that puts the cursor
// somewhere on the screen: CSI, numbers, H or f.
func draws(text []byte) bool {
	for {
		_, after, found := bytes.Cut(text, []byte("\x1b["))
		if !found {
			return false
		}
		if text = bytes.TrimLeft(after, "0123456789;"); len(text) > 0 && (text[0] == 'H' || text[0] == 'f') {
			return true
		}
	}
}

// lastLine is the last line that is not blank.
func lastLine(tail []byte) string {
	lines := bytes.FieldsFunc(plain(tail), func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range slices.Backward(lines) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return string(bytes.ToValidUTF8(line, []byte("\ufffd")))
		}
	}
	return ""
}

// plain leaves out what tells a terminal something: escape sequences and
// control characters other than line ends.
func plain(in []byte) []byte {
	out := make([]byte, 0, len(in))
	for i := 0; i < len(in); i++ {
		c := in[i]
		if c == 0x1b {
			i = skipEscape(in, i+1)
			continue
		}
		if c >= ' ' && c != 0x7f || c == '\n' || c == '\r' || c == '\t' {
			out = append(out, c)
		}
	}
	return out
}

// skipEscape returns the index of the last byte of the sequence whose first
// byte after the escape is at i.
func skipEscape(in []byte, i int) int {
	if i >= len(in) {
		return i
	}
	switch in[i] {
	case '[': // control sequence: up to a byte from @ to ~
		i++
		for i < len(in) && (in[i] < '@' || in[i] > '~') {
			i++
		}
	case ']': // system command: up to BEL or ST
		i++
		for i < len(in) && in[i] != 7 && in[i] != 0x1b {
			i++
		}
		if i < len(in) && in[i] == 0x1b {
			i++
		}
	case '(', ')':
		i++
	}
	return i
}
