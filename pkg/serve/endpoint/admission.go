package endpoint

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// A kind says beside which others a request is served.
type kind int

const (
	usual   kind = iota // one that has work done
	urgent              // an answer for which those that are served may be waiting
	waiting             // one that only waits for news
)

// slots are how many of a kind are served at a time.
func (k kind) slots() int { return [...]int{MaxCalls, maxUrgent, maxWaiting}[k] }

// A request is one that is served, or whose body comes.
type request struct {
	limiter *limiter
	kind    kind
	control *http.ResponseController
	end     context.CancelCauseFunc // of the request
	since   time.Time               // when its peer began to send the body, or to take a part of the answer; zero where we do not wait for it
	limit   func(time.Time) error   // sets until when that may last
	evicted bool                    // it had to give up its slot
}

// A limiter bounds how many requests are served and connections open at a time.
type limiter struct {
	conns int // that may be open

	mu     sync.Mutex // guards what follows
	served [waiting + 1]map[*request]bool
	open   int
	idle   map[net.Conn]time.Time // connections on which no request is served, since when
}

func newLimiter() *limiter {
	l := &limiter{conns: maxConns, idle: map[net.Conn]time.Time{}}
	for k := range l.served {
		l.served[k] = map[*request]bool{}
	}
	return l
}

var errSlow = errors.New("the peer is slow, and others wait")

// admit gives q a slot of a kind, and takes the one that it had. Where all are taken, the request
// whose peer has been waited for longest has to go, when that is longer than a peer needs that
// is well. It reports whether there was a slot.
func (l *limiter) admit(q *request, k kind) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if q.evicted {
		return false
	}
	if len(l.served[k]) >= k.slots() {
		var slowest *request
		for other := range l.served[k] {
			if !other.since.IsZero() && (slowest == nil || other.since.Before(slowest.since)) {
				slowest = other
			}
		}
		if slowest == nil || time.Since(slowest.since) < slow {
			return false
		}
		slowest.evict()
		delete(l.served[k], slowest)
	}
	delete(l.served[q.kind], q)
	q.kind = k
	l.served[k][q] = true
	return true
}

// release gives the slot of q back.
func (l *limiter) release(q *request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.served[q.kind], q)
}

// evict ends a request whose peer is waited for. The lock is held.
func (q *request) evict() {
	q.evicted = true
	_ = q.limit(time.Unix(1, 0))
	q.end(errSlow)
}

// await notes that the peer of q is waited for, at most until a deadline, which set sets. It
// reports whether q still has its slot.
func (q *request) await(set func(time.Time) error, limit time.Duration) bool {
	q.limiter.mu.Lock()
	defer q.limiter.mu.Unlock()
	if q.evicted {
		return false
	}
	q.since, q.limit = time.Now(), set
	_ = set(q.since.Add(limit))
	return true
}

// came notes that the peer is not waited for any more. It reports whether q still has its slot.
func (q *request) came() bool {
	q.limiter.mu.Lock()
	defer q.limiter.mu.Unlock()
	q.since = time.Time{}
	return !q.evicted
}

// connKey is under which the context of a request holds its connection.
type connKey struct{}

// serves notes that a request of a connection is served, and returns what notes that it was.
func (l *limiter) serves(ctx context.Context) (done func()) {
	c, _ := ctx.Value(connKey{}).(net.Conn)
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.idle, c)
	return func() { l.rests(c) }
}

// rests notes that no request is served on a connection.
func (l *limiter) rests(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle[c] = time.Now()
}

// state follows connections. When there are too many, the one on which no request is served for
// the longest time is closed.
func (l *limiter) state(c net.Conn, s http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch s {
	case http.StateNew:
		l.open++
		l.idle[c] = time.Now()
	case http.StateClosed, http.StateHijacked:
		l.open--
		delete(l.idle, c)
		return
	default:
		return
	}
	if l.open <= l.conns {
		return
	}
	oldest, since := c, l.idle[c]
	for other, at := range l.idle {
		if at.Before(since) {
			oldest, since = other, at
		}
	}
	delete(l.idle, oldest)
	_ = oldest.Close()
}
