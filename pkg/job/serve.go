package job

import (
	"errors"
	"os"
	"time"
)

// tied serves the starter of a job that belongs to it. When the starter is
// gone without having let the job go, the job ends.
func (s *supervisor) tied(l *line) {
	gone := make(chan struct{})
	requests := make(chan request)
	go func() {
		defer close(gone)
		for {
			var q request
			if l.receive(&q) != nil {
				return
			}
			select {
			case requests <- q:
			case <-s.done:
				return
			}
		}
	}()
	watching := false
	news := s.first()
	for {
		select {
		case <-gone:
			s.wish(ending{Aborted, 0})
			return
		case q := <-requests:
			switch q.Op {
			case opFollow:
				if q.Watch && !watching {
					watching = true
					s.watch()
					defer s.unwatch()
				}
			case opKill:
				s.wish(ending{Aborted, time.Duration(q.Grace)})
			case opDetach:
				s.free.Store(true)
				s.loosen()
				i, _ := s.snapshot()
				_ = l.send(reply{Info: &i, Op: opDetach, Done: i.State != Running})
				_ = l.conn.Close()
				return
			}
		case <-news:
			var i Info
			i, news = s.snapshot()
			err := l.send(reply{Info: &i, Done: i.State != Running})
			switch {
			case i.State != Running:
				return
			case err != nil: // the starter is gone, and this is the first to show it
				s.wish(ending{Aborted, 0})
				return
			}
			s.breathe()
		}
	}
}

// first is a change that has happened already.
func (s *supervisor) first() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// breathe bounds how often followers hear of output.
func (s *supervisor) breathe() {
	done := s.done
	if i, _ := s.snapshot(); i.State != Running {
		done = nil // what is kept goes on
	}
	select {
	case <-done:
	case <-time.After(3 * time.Millisecond):
	}
}

// accept serves whoever connects.
func (s *supervisor) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.clients.Go(func() {
			defer c.Close()
			l := newLine(c)
			_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
			var q request
			if err := l.receive(&q); err != nil {
				return
			}
			_ = c.SetReadDeadline(time.Time{})
			if q.Op == opFollow {
				s.follow(l, q)
				return
			}
			r, err := s.handle(q)
			if err != nil {
				r = failure(err)
			}
			_ = c.SetWriteDeadline(time.Now().Add(10 * time.Second))
			_ = l.send(r)
		})
	}
}

// follow sends what changes until the end, or until the client is gone.
func (s *supervisor) follow(l *line, q request) {
	if q.Watch {
		s.watch()
		defer s.unwatch()
	}
	gone := make(chan struct{})
	go func() {
		var none request
		_ = l.receive(&none)
		close(gone)
	}()
	for {
		i, news := s.snapshot()
		if l.send(reply{Info: &i, Done: !i.Alive()}) != nil || !i.Alive() {
			return
		}
		select {
		case <-gone:
			return
		case <-news:
			s.breathe()
		}
	}
}

// handle does what one request asks for.
func (s *supervisor) handle(q request) (reply, error) {
	switch q.Op {
	case opInfo:
		i, _ := s.snapshot()
		if i.State == Running {
			i.Waiting = s.look()
			if i.OpenStdin {
				i.Readers, i.Lines = s.readers()
				s.mu.Lock()
				i.Typed = s.typed
				s.mu.Unlock()
			}
			i.Stopped = s.stopped()
		}
		return reply{Info: &i}, nil
	case opInput:
		return reply{}, s.input(q)
	case opSignal:
		s.mu.Lock()
		s.sent[signalName(q.Signal)] = true
		s.mu.Unlock()
		if q.All {
			s.run.tree.SignalAll(q.Signal)
		} else {
			s.run.tree.Signal(q.Signal)
		}
		return reply{}, nil
	case opResize:
		if !s.Spec.TTY {
			return reply{}, ErrNoTerminal
		}
		return reply{}, s.resize(q.Rows, q.Cols)
	case opKill:
		s.wish(ending{Aborted, time.Duration(q.Grace)})
		return reply{}, nil
	}
	return reply{}, errNoSuchRequest
}

// resize tells the terminal its size, and notes it before anything is printed for it.
func (s *supervisor) resize(rows, cols uint16) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.run.resize(rows, cols); err != nil {
		return err
	}
	s.info.Sizes = append(s.info.Sizes, Size{From: s.log.size, Rows: rows, Cols: cols})
	s.info.Sizes = s.info.Sizes[max(0, len(s.info.Sizes)-mostSizes):]
	_ = s.store() // where the disk is full, the next change of the status tells
	return nil
}

// patience is how long the command may leave its input unread.
const patience = 5 * time.Second

// input writes to the command, one writer at a time.
func (s *supervisor) input(q request) error {
	if i, _ := s.snapshot(); !i.OpenStdin {
		return ErrNoInput
	}
	select {
	case <-s.feeding:
		defer func() { s.feeding <- struct{}{} }()
	case <-s.done:
		return ErrEnded
	case <-time.After(patience):
		return ErrBusy
	}
	text := append([]byte(nil), q.Text...)
	for _, k := range q.Keys {
		text = append(text, k...)
	}
	if !s.hidden() {
		s.mu.Lock()
		s.typed = remembered(s.typed, text)
		s.mu.Unlock()
	}
	if s.Spec.TTY {
		if q.EOF {
			text = append(text, endOfInput...)
		}
		return s.send(s.run.terminal, text)
	}
	if err := s.send(s.run.input, q.Text); err != nil {
		return err
	}
	for _, k := range q.Keys {
		if n, ok := controlSignal(k); ok {
			s.run.tree.Signal(n)
			continue
		}
		if k == endOfInput {
			q.EOF = true
			continue
		}
		if k == "\r" {
			k = "\n"
		}
		if err := s.send(s.run.input, []byte(k)); err != nil {
			return err
		}
	}
	if q.EOF {
		s.mu.Lock()
		s.info.OpenStdin = false
		s.mu.Unlock()
		return s.run.input.Close()
	}
	return nil
}

func (s *supervisor) send(to *os.File, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	s.wakes(text)
	_ = to.SetWriteDeadline(time.Now().Add(patience))
	_, err := to.Write(text)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrBusy
	}
	return ErrNoInput // whoever read it is gone
}
