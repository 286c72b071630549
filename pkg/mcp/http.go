package mcp

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Path is where the protocol is spoken over HTTP.
const Path = "/mcp"

// The bounds of sessions, which only the revisions with a handshake have.
const (
	maxSessions = 256
	idle        = time.Minute // after which one without requests may be forgotten
)

const sessionHeader = "Mcp-Session-Id"

// Handler answers over HTTP, until ctx ends. The requests of a revision without a
// handshake stand alone; the others belong to a session, which begins with one.
func (s *Server) Handler(ctx context.Context) http.Handler {
	context.AfterFunc(ctx, func() { s.end(context.Cause(ctx)) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != Path:
			(&answering{w: w}).refuse(http.StatusNotFound, nil, fail(invalidRequest, "nothing is here: send it to "+Path))
		case r.Method == http.MethodPost:
			s.post(ctx, w, r)
		case r.Method == http.MethodDelete && r.Header.Get(sessionHeader) != "":
			s.forget(w, r)
		default: // we send nothing on our own account, which GET would be for
			w.Header().Set("Allow", "POST, DELETE")
			(&answering{w: w}).refuse(http.StatusMethodNotAllowed, nil, fail(invalidRequest, "send requests with POST, and end a session with DELETE and its "+sessionHeader))
		}
	})
}

// Urgent reports whether a request over HTTP asks for nothing: it answers a form that a call
// waits for, or ends something.
func Urgent(r *http.Request, body []byte) bool {
	if r.Method == http.MethodDelete {
		return true
	}
	list, _, err := parse(body)
	return err == nil && !slices.ContainsFunc(list, (*message).asks)
}

// Waits reports whether a request over HTTP only waits for changes. What its headers say of one
// that stands alone is what its body does, or it is refused.
func Waits(r *http.Request) bool {
	return r.Header.Get("Mcp-Protocol-Version") >= newest && r.Header.Get("Mcp-Method") == listens
}

// forget ends a session and what runs in it.
func (s *Server) forget(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get(sessionHeader)
	s.mu.Lock()
	l := s.links[id]
	delete(s.links, id)
	s.mu.Unlock()
	if l == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	l.cancel(errGone)
	w.WriteHeader(http.StatusNoContent)
}

// post takes what a request over HTTP holds.
func (s *Server) post(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	a := &answering{w: w}
	json, sse := accepted(r, "application/json"), accepted(r, "text/event-stream")
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		a.refuse(http.StatusUnsupportedMediaType, nil, fail(invalidRequest, "send application/json"))
		return
	}
	if !json && !sse {
		a.refuse(http.StatusNotAcceptable, nil, fail(invalidRequest, "accept application/json and text/event-stream"))
		return
	}
	body, failed := bodyOf(r)
	if failed != nil {
		a.refuse(http.StatusBadRequest, nil, fail(invalidRequest, failed.Error()))
		return
	}
	list, batch, err := parse(body)
	if err != nil {
		a.refuse(http.StatusBadRequest, nil, err)
		return
	}
	if a.json, a.sse = json && !batch, sse; !a.json && !a.sse {
		a.refuse(http.StatusNotAcceptable, nil, fail(invalidRequest, "accept text/event-stream for a list of requests"))
		return
	}
	var status int
	var l *link
	if first := list[0]; !batch && modern(r, first) {
		if status, err = s.matches(r, first); err == nil {
			l = s.link(ctx)
			defer l.cancel(nil)
		}
	} else {
		l, status, err = s.session(ctx, w, r, list)
	}
	if err != nil {
		a.refuse(status, list[0].ID, err)
		return
	}
	l.serve(r.Context(), a, list)
}

// bodyOf is the body of a request, without a copy where it is there already.
func bodyOf(r *http.Request) ([]byte, error) {
	if whole, ok := r.Body.(interface{ Bytes() []byte }); ok {
		return whole.Bytes(), nil
	}
	return io.ReadAll(r.Body)
}

// serve answers the messages of one request over HTTP.
func (l *link) serve(ctx context.Context, a *answering, list []*message) {
	asks := slices.ContainsFunc(list, (*message).asks)
	var calls sync.WaitGroup
	for _, m := range list {
		if !m.asks() {
			l.tell(m)
			continue
		}
		own, end, err := l.begin(ctx, m)
		if err != nil {
			a.send(respond(m.ID, nil, err))
			continue
		}
		stop := context.AfterFunc(l.ctx, end) // the session ends
		calls.Go(func() {
			r := l.answer(own, m, a.send, a.sse)
			stop()
			end()
			if r != nil {
				a.send(r)
			}
		})
	}
	calls.Wait()
	if !asks {
		a.w.WriteHeader(http.StatusAccepted)
	}
}

// modern reports whether a message says that it stands alone.
func modern(r *http.Request, m *message) bool {
	about, err := m.about()
	return r.Header.Get("Mcp-Protocol-Version") >= newest || err == nil && about.Version != nil
}

// matches reports whether a request that stands alone is whole, and its headers say what
// its body does.
func (s *Server) matches(r *http.Request, m *message) (status int, err *Error) {
	about, err := m.about()
	header := r.Header.Get("Mcp-Protocol-Version")
	switch {
	case err != nil:
	case !m.asks():
		return http.StatusOK, nil
	case about.Version == nil:
		err = lacks("protocolVersion")
	case header != *about.Version:
		err = fail(headerMismatch, "the header Mcp-Protocol-Version is not io.modelcontextprotocol/protocolVersion of the body: send the same in both")
	case !slices.Contains(Versions(), header) || header < newest:
		err = unsupported(header)
	case about.Client == nil:
		err = lacks("clientCapabilities")
	case r.Header.Get("Mcp-Method") != m.Method:
		err = fail(headerMismatch, "the header Mcp-Method is not method of the body: send the same in both")
	case !s.known(m.Method):
		return http.StatusNotFound, s.noMethod(m.Method)
	case (m.Method == "tools/call" || m.Method == "resources/read") && plain(r.Header.Get("Mcp-Name")) != m.name():
		err = fail(headerMismatch, "the header Mcp-Name is not what the body names: send the same in both")
	}
	return http.StatusBadRequest, err
}

// plain is the value of a header that may be in base64.
func plain(value string) string {
	inner, ok := strings.CutPrefix(value, "=?base64?")
	if inner, end := strings.CutSuffix(inner, "?="); ok && end {
		raw, err := base64.StdEncoding.DecodeString(inner)
		if err != nil {
			return value
		}
		return string(raw)
	}
	return value
}

// session finds the session of a request, or begins one.
func (s *Server) session(ctx context.Context, w http.ResponseWriter, r *http.Request, list []*message) (*link, int, *Error) {
	id := r.Header.Get(sessionHeader)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(list) == 1 && list[0].asks() && list[0].Method == "initialize" {
		if !s.room() {
			return nil, http.StatusServiceUnavailable, fail(busy, "too many sessions: end one that nobody needs")
		}
		id = rand.Text()
		s.links[id] = s.link(ctx)
		w.Header().Set(sessionHeader, id)
	}
	l := s.links[id]
	version := r.Header.Get("Mcp-Protocol-Version")
	switch {
	case id == "":
		return nil, http.StatusBadRequest, fail(invalidRequest, "begin with initialize, and send its Mcp-Session-Id; or speak "+newest)
	case l == nil:
		return nil, http.StatusNotFound, fail(invalidRequest, "there is no session "+id+" any more: begin with initialize")
	case version != "" && !slices.Contains(Versions(), version):
		return nil, http.StatusBadRequest, unsupported(version)
	}
	return l, http.StatusOK, nil
}

// room makes room for one more session, where it has to by forgetting the one that was
// idle for the longest time.
func (s *Server) room() bool {
	if len(s.links) < maxSessions {
		return s.ended == nil
	}
	oldest, since := "", time.Now().Add(-idle)
	for id, l := range s.links {
		l.mu.Lock()
		if len(l.running) == 0 && l.used.Before(since) {
			oldest, since = id, l.used
		}
		l.mu.Unlock()
	}
	if oldest == "" {
		return false
	}
	s.links[oldest].cancel(errGone)
	delete(s.links, oldest)
	return s.ended == nil
}

// accepted reports whether a request accepts a type of answer.
func accepted(r *http.Request, want string) bool {
	for _, header := range r.Header.Values("Accept") {
		for one := range strings.SplitSeq(header, ",") {
			kind, _, _ := mime.ParseMediaType(strings.TrimSpace(one))
			major, _, _ := strings.Cut(want, "/")
			if kind == want || kind == "*/*" || kind == major+"/*" {
				return true
			}
		}
	}
	return false
}

// An answering is the answer to one request over HTTP: one object where nothing comes
// before it, else a stream of them.
type answering struct {
	w         http.ResponseWriter
	json, sse bool // what may be sent

	mu    sync.Mutex
	begun bool // a stream was begun, or the one object is out
}

// send sends one message; nil is a sign of life.
func (a *answering) send(v any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	last, final := v.(*response)
	switch {
	case final && !a.begun && a.json:
		a.begun = true
		a.write(http.StatusOK, last)
		return
	case !a.sse && !final:
		return // the client cannot hear it
	case !a.begun:
		a.begun = true
		head := a.w.Header()
		head.Set("Content-Type", "text/event-stream")
		head.Set("X-Accel-Buffering", "no")
		a.w.WriteHeader(http.StatusOK)
	}
	text := ":\n\n"
	if v != nil {
		text = "event: message\ndata: " + string(encode(v)) + "\n\n"
	}
	_, _ = io.WriteString(a.w, text) // a client that has gone ends the request's context
	_ = http.NewResponseController(a.w).Flush()
}

func (a *answering) refuse(status int, id []byte, err *Error) { a.write(status, respond(id, nil, err)) }

func (a *answering) write(status int, r *response) {
	a.w.Header().Set("Content-Type", "application/json")
	a.w.WriteHeader(status)
	_, _ = a.w.Write(append(encode(r), '\n'))
}
