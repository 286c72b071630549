package serve

import (
	"sync"
	"time"
)

// brief is how long a call may keep whoever reads the input from reading on.
const brief = time.Millisecond

// A reading is who reads the input. To wake another goroutine costs more than most calls that
// only read: so the one that has read such a call makes it, and reads on when it is done. When
// that takes longer, another one takes over.
type reading struct {
	mu    sync.Mutex // guards what follows
	next  func()     // reads on; nil where the reader is not kept
	since time.Time  // when it began to be
	timer *time.Timer
	armed bool
}

// lend says that the reader makes a call, and what reads on when it is kept for too long.
func (r *reading) lend(next func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next, r.since = next, time.Now()
	if r.armed {
		return // since an earlier call: one look at a time is enough
	}
	if r.armed = true; r.timer == nil {
		r.timer = time.AfterFunc(brief, r.look)
		return
	}
	r.timer.Reset(brief)
}

// look has another one take over where the reader is kept for too long.
func (r *reading) look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.next == nil:
		r.armed = false
	case time.Since(r.since) < brief:
		r.timer.Reset(brief)
	default:
		next := r.next
		r.next, r.armed = nil, false
		next()
	}
}

// back reports whether the reader, whose call is done, is to read on: nobody has taken over.
func (r *reading) back() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	on := r.next != nil
	r.next = nil
	return on
}
