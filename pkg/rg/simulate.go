package rg

import "sync/atomic"

// A thread is a place in the program and where its match began.
type thread struct {
	at    int32
	start int
}

// A threadList is a set of threads in order of preference.
type threadList struct {
	list []thread
	mark []uint32
	gen  uint32
}

func (l *threadList) clear() {
	l.list = l.list[:0]
	l.gen++
	if l.gen == 0 {
		clear(l.mark)
		l.gen = 1
	}
}

// A simulator runs a program over a text and finds the leftmost match that a
// backtracking engine would prefer. It is slow and exact: the lazy automaton
// finds the lines, the simulator finds what to highlight in those shown.
type simulator struct {
	p         *program
	cur, next threadList
	stack     []int32
	stop      *atomic.Bool // set when the search is over; may be nil
}

func newSimulator(p *program, stop *atomic.Bool) *simulator {
	s := &simulator{p: p, stop: stop}
	s.cur.mark = make([]uint32, len(p.insts))
	s.next.mark = make([]uint32, len(p.insts))
	return s
}

// add follows the program from at as far as it goes without a byte.
func (s *simulator) add(l *threadList, at int32, start int, holds look) {
	s.stack = append(s.stack[:0], at)
	for len(s.stack) > 0 {
		at := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		if l.mark[at] == l.gen {
			continue
		}
		l.mark[at] = l.gen
		in := &s.p.insts[at]
		switch in.kind {
		case instSplit:
			s.stack = append(s.stack, in.arg, in.out)
		case instLook:
			if holds&in.look != 0 {
				s.stack = append(s.stack, in.out)
			}
		case instFail:
		default:
			l.list = append(l.list, thread{at, start})
		}
	}
}

// find gives the first match that begins at pos or after, and how far it had
// to look for it.
func (s *simulator) find(text []byte, pos int) (start, end, looked int, ok bool) {
	s.cur.clear()
	for i := pos; i <= len(text); i++ {
		if i&0xFFFF == 0 && s.stop != nil && s.stop.Load() {
			return 0, 0, 0, false
		}
		if len(s.cur.list) == 0 {
			if ok {
				break
			}
			s.cur.clear() // it may hold marks of assertions that failed at another place
			if i = s.skip(text, i); i < 0 {
				break
			}
		}
		looked = i
		if !ok {
			s.add(&s.cur, s.p.start, i, s.holds(text, i))
		}
		s.next.clear()
		var after look
		if i < len(text) {
			after = s.holds(text, i+1)
		}
		for _, t := range s.cur.list {
			in := &s.p.insts[t.at]
			if in.kind == instMatch {
				start, end, ok = t.start, i, true
				break
			}
			if i == len(text) {
				continue
			}
			if to := in.step(text[i]); to != dead {
				s.add(&s.next, to, t.start, after)
			}
		}
		s.cur, s.next = s.next, s.cur
	}
	return start, end, looked, ok
}

// skip gives the first position from i where a match can begin, or -1.
func (s *simulator) skip(text []byte, i int) int {
	if s.p.empty {
		return i
	}
	for ; i < len(text); i++ {
		if s.p.first[text[i]] {
			return i
		}
	}
	return -1
}

func (s *simulator) holds(text []byte, i int) look {
	if s.p.looks == 0 {
		return 0
	}
	return placeAt(text, i).holds()
}
