package job

import (
	"cmp"
	"syscall"
	"time"

	"github.com/agentkit-go/agentkit/pkg/killtree"
)

func (s *supervisor) wish(e ending) {
	select {
	case s.end <- e:
	default: // it is on its way
	}
}

// wait waits for the end of everything.
func (s *supervisor) wait() {
	tree := s.run.tree
	limit := s.limit.C
	defer s.limit.Stop()
	stops := tree.Stopped()
	if s.Spec.TTY || !s.Tied {
		stops = nil
	}
	var st Status
	how := s.until(tree, limit, stops, &st)
	st.Wall = time.Since(s.run.begin)
	drained := s.run.wait(drain)
	kept := false
	if s.run.left(drained) {
		if kept = s.Spec.Keep && how == ""; !kept {
			st.Leftovers = tree.End(drain) && how == ""
		}
	}
	if !kept && !drained {
		st.Held = !s.run.rest()
	}
	st.account(tree)
	if !kept {
		s.settle()
	}
	s.ended(st, how, kept)
	if kept {
		s.loosen()
		s.keep(tree, limit)
		_ = s.run.rest()
		s.settle()
		s.mu.Lock()
		s.info.Kept = false
		_ = s.store()
		s.signalChange()
		s.mu.Unlock()
	}
}

// forever is a time limit that is none.
const forever = 1 << 62

// limited starts the time limit.
func (s *supervisor) limited() {
	s.limit = time.NewTimer(cmp.Or(s.Spec.Timeout, forever))
}

// loosen puts the time limit in force that holds when the caller has let go.
func (s *supervisor) loosen() {
	switch {
	case !s.Spec.Loose:
	case s.Spec.Later > 0:
		s.limit.Reset(s.Spec.Later - time.Since(s.run.begin))
	default:
		s.limit.Stop()
	}
}

// stopped reports whether the command itself, or all that is left of it, is held
// by a signal.
func (s *supervisor) stopped() bool {
	members := s.run.tree.Members()
	return len(members) > 0 && (members[0].State == 'T' || members[0].State == 't')
}

// settle has the Confiner finish its work, and lets go of what is held until then. What goes wrong is for the Confiner's report.
func (s *supervisor) settle() {
	if s.confiner != nil && s.Spec.Report != "" {
		_ = s.confiner.Settle(s.Spec.Report)
	}
	if s.held != nil {
		_ = s.held.Close()
	}
}

// until returns when the command has ended; the state is that of a wish which
// made it end.
func (s *supervisor) until(tree *killtree.Tree, limit <-chan time.Time, stops <-chan syscall.Signal, st *Status) State {
	for {
		select {
		case <-tree.Exited():
			return ""
		case <-limit:
			tree.End(s.Spec.grace())
			return TimedOut
		case e := <-s.end:
			s.endBy(tree, e)
			return e.state
		case n := <-stops:
			if s.free.Load() {
				continue // somebody can continue it
			}
			st.stop(n)
			tree.End(0)
			return Failed
		}
	}
}

// endBy ends the tree; a wish that grants no grace cuts it short.
func (s *supervisor) endBy(tree *killtree.Tree, e ending) {
	now := make(chan struct{})
	over := make(chan struct{})
	go func() {
		for {
			select {
			case next := <-s.end:
				if next.grace == 0 {
					close(now)
					return
				}
			case <-over:
				return
			}
		}
	}()
	end(tree, e.grace, now)
	close(over)
}

// ended makes the command's end known.
func (s *supervisor) ended(st Status, how State, kept bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := &s.info
	i.Ended, i.Wall, i.User, i.System, i.MaxRSS = time.Now(), st.Wall, st.User, st.System, st.MaxRSS
	i.ExitCode, i.Signal = &st.ExitCode, st.Signal
	i.Crowded, i.Exhausted, i.Leftovers, i.Held, i.Kept, i.OpenStdin, i.Waiting = st.Crowded, st.Exhausted, st.Leftovers, st.Held, kept, i.OpenStdin && kept, nil
	i.Killed = how == "" && st.Signal != "" && s.sent[st.Signal]
	switch {
	case how != "":
		i.State = how
	case st.ExitCode == 0:
		i.State = Completed
	default:
		i.State = Failed
	}
	if err := s.store(); err != nil {
		i.Incomplete = "the status could not be written: " + err.Error()
	}
	s.signalChange()
	close(s.done)
}

// keep waits until what the command left running has ended.
func (s *supervisor) keep(tree *killtree.Tree, limit <-chan time.Time) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for tree.Alive() {
		select {
		case <-tick.C:
		case <-limit:
			s.mu.Lock()
			s.info.Overtime = true
			s.mu.Unlock()
			tree.End(s.Spec.grace())
		case e := <-s.end:
			s.mu.Lock()
			s.info.Killed = true
			s.mu.Unlock()
			s.endBy(tree, e)
		}
	}
}
