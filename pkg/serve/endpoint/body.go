package endpoint

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A budget is the memory of long bodies, of which a request takes what its own needs.
type budget struct {
	queue chan struct{} // holds as many as may wait
	turn  chan struct{} // held by the one that takes
	taken chan struct{} // holds what is taken, by MiB
}

func newBudget() *budget {
	return &budget{make(chan struct{}, maxQueued), make(chan struct{}, 1), make(chan struct{}, maxLong>>20)}
}

// take waits, in turn, until n MiB are there. It reports whether they are taken.
func (b *budget) take(ctx context.Context, n int) bool {
	ctx, cancel := context.WithTimeout(ctx, bodyTime)
	defer cancel()
	select {
	case b.queue <- struct{}{}:
		defer func() { <-b.queue }()
	default:
		return false
	}
	select {
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	case <-ctx.Done():
		return false
	}
	for i := range n {
		select {
		case b.taken <- struct{}{}:
		case <-ctx.Done():
			b.give(i)
			return false
		}
	}
	return true
}

// give gives n MiB back.
func (b *budget) give(n int) {
	for range n {
		<-b.taken
	}
}

// A body is one that is there whole.
type body struct {
	bytes.Reader
	raw []byte
}

// Close implements io.Closer.
func (b *body) Close() error { return nil }

// Bytes is all of it. It is not to be changed.
func (b *body) Bytes() []byte { return b.raw }

// Body is the body of a request that is served. It is not to be changed.
func Body(r *http.Request) ([]byte, error) {
	if b, ok := r.Body.(*body); ok {
		return b.raw, nil
	}
	return io.ReadAll(r.Body)
}

var errBudget = errors.New("too many long bodies are served")

// whole reads the body of r, which is there for the handler then, or refuses r. give gives the
// memory of the body back.
func (e *Endpoint) whole(w *writer, r *http.Request) (raw []byte, give func(), ok bool) {
	give = func() {}
	if r.Body == nil || r.Body == http.NoBody {
		return nil, give, true
	}
	long := tool.Errorf(tool.TooLarge, "the body is longer than %d MiB", MaxBody>>20).WithHint("send less at a time")
	switch coded := r.Header.Get("Content-Encoding"); {
	case r.ContentLength > MaxBody: // said beforehand
		Refuse(w, http.StatusRequestEntityTooLarge, long)
		return nil, give, false
	case coded != "" && !strings.EqualFold(coded, "identity"):
		Refuse(w, http.StatusUnsupportedMediaType, tool.Errorf(tool.BadInput, "the body is coded as %.40q", coded).WithHint("send it as it is"))
		return nil, give, false
	}
	raw, taken, err := e.read(r, w.request)
	_, over := errors.AsType[*http.MaxBytesError](err)
	switch {
	case over:
		Refuse(w, http.StatusRequestEntityTooLarge, long)
	case errors.Is(err, errBudget):
		w.Header().Set("Retry-After", "1")
		Refuse(w, http.StatusTooManyRequests, tool.Errorf(tool.TooLarge, "%w", err).WithHint("wait for answers, and send it again; a body of up to %d KiB need not wait", maxShort>>10))
	case errors.Is(err, errSlow):
		_ = w.request.control.SetWriteDeadline(time.Now().Add(lingerTime))
		Refuse(w.ResponseWriter, http.StatusRequestTimeout, tool.Errorf(tool.Timeout, "the body did not come, and others wait").WithHint("send all of it at once"))
	case err != nil:
		Refuse(w, http.StatusBadRequest, tool.Errorf(tool.BadInput, "reading the body: %w", err).WithHint("send all of it within %s", bodyTime))
	}
	if err == nil {
		w.Header().Del("Connection")
	}
	r.Body, r.ContentLength = &body{*bytes.NewReader(raw), raw}, int64(len(raw))
	return raw, func() { e.long.give(taken) }, err == nil
}

// read reads a body while its peer is waited for. taken is the memory of a long one, by MiB.
func (e *Endpoint) read(r *http.Request, q *request) (raw []byte, taken int, err error) {
	size := r.ContentLength
	from := io.Reader(http.MaxBytesReader(nil, r.Body, MaxBody))
	if size <= maxShort { // or it is not known
		if err := q.awaited(func() error {
			raw, err = readUpTo(from, size)
			return err
		}); err != nil || size >= 0 || len(raw) <= maxShort {
			return raw, 0, err
		}
	}
	taken = int((max(size, 0) + 1<<20 - 1) >> 20)
	if size < 0 {
		taken = maxLong >> 20
	}
	if !e.long.take(r.Context(), taken) {
		return nil, 0, errBudget
	}
	err = q.awaited(func() (err error) {
		if size >= 0 {
			raw, err = readUpTo(from, size)
			return err
		}
		rest := bytes.NewBuffer(raw)
		_, err = rest.ReadFrom(from)
		raw = rest.Bytes()
		return err
	})
	if need := (len(raw) + 1<<20 - 1) >> 20; need < taken {
		e.long.give(taken - need)
		taken = need
	}
	return raw, taken, err
}

// awaited reads what the peer of q sends.
func (q *request) awaited(read func() error) error {
	if !q.await(q.control.SetReadDeadline, bodyTime) {
		return errSlow
	}
	err := read()
	if !q.came() {
		return errSlow
	}
	_ = q.control.SetReadDeadline(time.Time{})
	return err
}

// readUpTo reads size bytes, or where that is not known as many as a short body has and one more.
func readUpTo(from io.Reader, size int64) ([]byte, error) {
	if size >= 0 {
		raw := make([]byte, size)
		_, err := io.ReadFull(from, raw)
		return raw, err
	}
	return io.ReadAll(io.LimitReader(from, maxShort+1))
}
