package sandbox

import "sync"

// A quiet says when the gatekeeper does nothing more in the view of a command that has ended.
type quiet struct {
	mu   sync.RWMutex
	over bool
}

// begin reports whether something may still be done there, until end.
func (q *quiet) begin() bool {
	q.mu.RLock()
	if q.over {
		q.mu.RUnlock()
		return false
	}
	return true
}

func (q *quiet) end() { q.mu.RUnlock() }

// Quiet waits until the gatekeeper has done what it began in the command's place in a view
// of the root: nothing changes there afterwards. The command must have ended.
func (f *Confiner) Quiet() {
	if f == nil {
		return
	}
	f.quiet.mu.Lock()
	defer f.quiet.mu.Unlock()
	f.quiet.over = true
}
