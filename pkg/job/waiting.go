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
)

// watch looks for waiting until unwatch has been called as often.
func (s *supervisor) watch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched++
	if s.watched == 1 && s.info.OpenStdin {
		go s.sample()
	}
}

func (s *supervisor) unwatch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched--
}

// sample makes waiting known that two looks in a row have found.
func (s *supervisor) sample() {
	tick := time.NewTicker(sampling)
	defer tick.Stop()
	var last killtree.Process
	for {
		select {
		case <-s.done:
			return
		case <-tick.C:
		}
		p, secret, ok := s.blocked()
		same := ok && p.Pid == last.Pid && p.Start == last.Start
		last = p
		s.mu.Lock()
		if s.watched == 0 {
			s.info.Waiting = nil
			s.mu.Unlock()
			return
		}
		if was := s.info.Waiting; (was != nil) != same && s.info.State == Running {
			s.info.Waiting = nil
			if same {
				s.info.Waiting = s.waiting(p, secret)
			}
			s.signalChange()
		}
		s.mu.Unlock()
	}
}

// look looks twice, now.
func (s *supervisor) look() *Waiting {
	if i, _ := s.snapshot(); !i.OpenStdin {
		return nil
	}
	p, _, ok := s.blocked()
	if !ok {
		return nil
	}
	select {
	case <-s.done:
		return nil
	case <-time.After(glance):
	}
	again, secret, ok := s.blocked()
	if !ok || again.Pid != p.Pid || again.Start != p.Start {
		return nil
	}
	return s.waiting(p, secret)
}

func (s *supervisor) waiting(p killtree.Process, secret bool) *Waiting {
	return &Waiting{Pid: p.Pid, Program: p.Name, Argv: arguments(p), LastLine: s.lastLine(), Secret: secret}
}

// lastLine is the last line of the log that is not blank.
func (s *supervisor) lastLine() string {
	f, err := s.dir.OpenFile(logFile, os.O_RDONLY)
	if err != nil {
		return ""
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return ""
	}
	buf := make([]byte, min(st.Size(), tailSize))
	n, _ := f.ReadAt(buf, st.Size()-int64(len(buf)))
	return lastLine(buf[:n])
}

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
