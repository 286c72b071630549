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

// places are how many of a kind are served at a time.
func (k kind) places() int { return [...]int{MaxCalls, maxUrgent, maxWaiting}[k] }

// A guest is a request that is served, or whose body comes.
type guest struct {
	house   *house
	kind    kind
	control *http.ResponseController
	end     context.CancelCauseFunc // of the request
	since   time.Time               // when its peer began to send the body, or to take a part of the answer; zero where we do not wait for it
	limit   func(time.Time) error   // sets until when that may last
	out     bool                    // it had to give up its place
}

// A house is where guests have their places, and connections wait for requests.
type house struct {
	conns int // that may be open

	mu     sync.Mutex // guards what follows
	guests [waiting + 1]map[*guest]bool
	open   int
	idle   map[net.Conn]time.Time // connections on which no request is served, since when
}

func newHouse() *house {
	h := &house{conns: maxConns, idle: map[net.Conn]time.Time{}}
	for k := range h.guests {
		h.guests[k] = map[*guest]bool{}
	}
	return h
}

var errSlow = errors.New("the peer is slow, and others wait")

// enter gives g a place of a kind, and takes the one that it had. Where all are taken, the guest
// whose peer has been waited for longest has to go, when that is longer than a peer needs that
// is well. It reports whether there was a place.
func (h *house) enter(g *guest, k kind) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if g.out {
		return false
	}
	if len(h.guests[k]) >= k.places() {
		var slowest *guest
		for other := range h.guests[k] {
			if !other.since.IsZero() && (slowest == nil || other.since.Before(slowest.since)) {
				slowest = other
			}
		}
		if slowest == nil || time.Since(slowest.since) < slow {
			return false
		}
		slowest.cut()
		delete(h.guests[k], slowest)
	}
	delete(h.guests[g.kind], g)
	g.kind = k
	h.guests[k][g] = true
	return true
}

// leave gives the place of g back.
func (h *house) leave(g *guest) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.guests[g.kind], g)
}

// cut ends a request whose peer is waited for. The lock is held.
func (g *guest) cut() {
	g.out = true
	_ = g.limit(time.Unix(1, 0))
	g.end(errSlow)
}

// await notes that the peer of g is waited for, at most until a deadline, which set sets. It
// reports whether g still has its place.
func (g *guest) await(set func(time.Time) error, limit time.Duration) bool {
	g.house.mu.Lock()
	defer g.house.mu.Unlock()
	if g.out {
		return false
	}
	g.since, g.limit = time.Now(), set
	_ = set(g.since.Add(limit))
	return true
}

// came notes that the peer is not waited for any more. It reports whether g still has its place.
func (g *guest) came() bool {
	g.house.mu.Lock()
	defer g.house.mu.Unlock()
	g.since = time.Time{}
	return !g.out
}

// connKey is under which the context of a request holds its connection.
type connKey struct{}

// serves notes that a request of a connection is served, and returns what notes that it was.
func (h *house) serves(ctx context.Context) (done func()) {
	c, _ := ctx.Value(connKey{}).(net.Conn)
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.idle, c)
	return func() { h.rests(c) }
}

// rests notes that no request is served on a connection.
func (h *house) rests(c net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.idle[c] = time.Now()
}

// state follows connections. When there are too many, the one on which no request is served for
// the longest time is closed.
func (h *house) state(c net.Conn, s http.ConnState) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch s {
	case http.StateNew:
		h.open++
		h.idle[c] = time.Now()
	case http.StateClosed, http.StateHijacked:
		h.open--
		delete(h.idle, c)
		return
	default:
		return
	}
	if h.open <= h.conns {
		return
	}
	oldest, since := c, h.idle[c]
	for other, at := range h.idle {
		if at.Before(since) {
			oldest, since = other, at
		}
	}
	delete(h.idle, oldest)
	_ = oldest.Close()
}
