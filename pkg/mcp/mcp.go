// Package mcp serves tools over the Model Context Protocol, on a stream or over HTTP,
// in the revisions from 2024-11-05, which begin with a handshake, to 2026-07-28, in which
// each request stands alone.
//
// The rules:
//
//   - What may be called, where, and by which policy was fixed by whoever started the
//     server. Nothing that a client says widens it; its roots are not asked for.
//   - A call that needs a yes asks the client for one, where it shows forms to its user.
//     Elsewhere the result says what is missing, in words for the model.
//   - A client that has gone, or has cancelled a request, ends what that has started.
//   - Logs go to standard error, never to the client.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// The revisions: newest is the first without a handshake, latest the last with one.
const (
	newest = "2026-07-28"
	latest = "2025-11-25"
)

// Versions are the revisions that are spoken, the newest first.
func Versions() []string {
	return []string{newest, latest, "2025-06-18", "2025-03-26", "2024-11-05"}
}

// The bounds of what comes.
const (
	MaxLine  = 64 << 20  // bytes of a message
	maxCalls = 256       // calls that run at a time; further ones wait
	maxWait  = 1024      // requests of one client that run or wait
	maxBytes = 256 << 20 // of these
)

// Options says what is served.
type Options struct {
	Version      string   // of the program
	Instructions string   // for the model
	Tools        []string // the names of those that are served

	// Declare returns the tools as tools/list has them. It is asked once, when somebody
	// wants to know.
	Declare func() ([]any, error)

	Call  tool.Caller
	Plain bool // results are text only: their programs' part is of no use to this client
	Asks  bool // the client is asked; false where somebody else is, or nobody

	// Describe says what is asked about, for a person.
	Describe func(*tool.Request) string

	Resources Resources // nil for none
}

// Resources are texts that belong to the session.
type Resources interface {
	// List are those that there are.
	List(context.Context, tool.Peer) ([]Resource, error)
	// Templates say what else can be read.
	Templates() []Resource
	// Read returns the text of one; nil where there is none of that address.
	Read(ctx context.Context, p tool.Peer, uri string) (*tool.Result, error)
}

// A Resource is a text, or with Template instead of URI a kind of them.
type Resource struct {
	URI         string `json:"uri,omitempty"`
	Template    string `json:"uriTemplate,omitempty"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
	Size        int64  `json:"size,omitempty"`
}

// A Server serves any number of clients.
type Server struct {
	o     Options
	slots chan struct{}

	calls sync.WaitGroup // those that outlive a request

	mu      sync.Mutex // guards what follows
	ended   error      // why nothing more is served
	paused  map[string]*flight
	flights map[*flight]bool
	links   map[string]*link // by the id of a session over HTTP
}

// New makes a server.
func New(o Options) *Server {
	o.Declare = sync.OnceValues(o.Declare)
	return &Server{o: o, slots: make(chan struct{}, maxCalls), paused: map[string]*flight{}, flights: map[*flight]bool{}, links: map[string]*link{}}
}

// end ends what outlives its request. Wait waits for it.
func (s *Server) end(cause error) {
	s.mu.Lock()
	s.ended = cause
	for f := range s.flights {
		f.cancel(cause)
	}
	for _, l := range s.links {
		l.cancel(cause)
	}
	s.mu.Unlock()
}

// Wait waits for calls that have outlived their requests, as long as they may take to end.
func (s *Server) Wait() {
	select {
	case <-over(&s.calls):
	case <-time.After(patience):
	}
}

// over is closed when all calls have ended.
func over(calls *sync.WaitGroup) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		calls.Wait()
		close(done)
	}()
	return done
}

// patience is how long calls may take to end when nobody waits for them any more.
const patience = 15 * time.Second

// A link is one client with what it has said of itself: that at the other end of the
// streams, or a session over HTTP.
type link struct {
	server *Server
	ctx    context.Context // a session outlives the requests that make it up
	cancel context.CancelCauseFunc
	deaf   chan struct{} // closed when the client can answer nothing more

	mu      sync.Mutex // guards what follows
	version string     // what was agreed on; "" before that
	client  *capabilities
	info    *program
	running map[string]context.CancelCauseFunc
	bytes   int                      // of the parameters of these
	asked   map[string]chan *message // what we have asked and wait for
	count   int
	used    time.Time
}

func (s *Server) link(ctx context.Context) *link {
	l := &link{server: s, deaf: make(chan struct{}), running: map[string]context.CancelCauseFunc{}, asked: map[string]chan *message{}, used: time.Now()}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	return l
}

// A request is one that is being answered.
type request struct {
	link    *link
	m       *message
	meta    meta
	version string // of the protocol that it is made by
	forms   bool   // the client shows forms to its user
	plain   bool   // results are text only
	send    func(any)
}

// modern reports whether r stands alone.
func (r *request) modern() bool { return r.version >= newest }

// begin registers a request of the client and returns its context. The error is why
// it is not begun.
func (l *link) begin(ctx context.Context, m *message) (context.Context, func(), *Error) {
	key := string(m.ID)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used = time.Now()
	switch {
	case l.running[key] != nil:
		return nil, nil, fail(invalidRequest, "a request with this id runs already: give each an id of its own")
	case len(l.running) >= maxWait:
		return nil, nil, fail(busy, "too many requests run: wait for answers")
	case l.bytes+len(m.Params) > maxBytes:
		return nil, nil, fail(busy, fmt.Sprintf("requests of more than %d MiB run: wait for answers, and send it again", maxBytes>>20))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	l.running[key] = cancel
	l.bytes += len(m.Params)
	return ctx, func() {
		cancel(nil)
		l.mu.Lock()
		delete(l.running, key)
		l.bytes -= len(m.Params)
		l.mu.Unlock()
	}, nil
}

// errCancelled ends a request whose client wants no answer any more.
var errCancelled = &tool.Error{Code: tool.Interrupted, Message: "the client has cancelled the request", Hint: "call again to start over"}

// tell takes what wants no answer: a notification, or the answer to what we have asked.
func (l *link) tell(m *message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m.answers() {
		var id string
		if json.Unmarshal(m.ID, &id) == nil && l.asked[id] != nil {
			l.asked[id] <- m
			delete(l.asked, id)
		}
		return
	}
	if m.Method != "notifications/cancelled" {
		return
	}
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(m.Params, &p) == nil && l.running[string(p.ID)] != nil {
		l.running[string(p.ID)](errCancelled)
	}
}

// answer answers a request, whose client hears what is sent before the answer or does not.
// It returns nil where the client wants no answer any more.
func (l *link) answer(ctx context.Context, m *message, send func(any), hears bool) *response {
	r := &request{link: l, m: m, send: send}
	err := r.open()
	r.forms = r.forms && (hears || r.modern())
	var result object
	if err == nil {
		result, err = r.do(ctx)
	}
	if errors.Is(context.Cause(ctx), errCancelled) {
		return nil
	}
	if err == nil && !r.modern() {
		delete(result, "ttlMs")
		delete(result, "cacheScope")
	}
	if err == nil && r.modern() {
		if result["resultType"] == nil {
			result["resultType"] = "complete"
		}
		about, _ := result["_meta"].(object)
		if about == nil {
			about = object{}
		}
		about["io.modelcontextprotocol/serverInfo"] = l.server.about()
		result["_meta"] = about
	}
	return respond(m.ID, result, err)
}

// open works out by which revision r is made, and what its client can do.
func (r *request) open() (err *Error) {
	if r.meta, err = r.m.about(); err != nil {
		return err
	}
	l := r.link
	if r.meta.Version != nil {
		r.version = *r.meta.Version
		switch {
		case !slices.Contains(Versions(), r.version) || r.version < newest:
			return unsupported(r.version)
		case r.meta.Client == nil:
			return lacks("clientCapabilities")
		}
		r.forms, r.plain = r.meta.Client.forms(), l.server.o.Plain || r.meta.Info.hands()
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r.version, r.forms, r.plain = l.version, l.client.forms(), l.server.o.Plain || l.info.hands()
	if r.version == "" && r.m.Method != "initialize" && r.m.Method != "ping" {
		return fail(invalidRequest, "begin with initialize; or send io.modelcontextprotocol/protocolVersion in _meta, as from "+newest+" on")
	}
	return nil
}

// lacks is the error for a request that stands alone and does not say what it has to.
func lacks(name string) *Error {
	return fail(invalidParams, "_meta lacks io.modelcontextprotocol/"+name+": add it, or begin with initialize")
}

// unsupported is the error for a revision that is not spoken. Those with a handshake are
// agreed on by it, not by the request.
func unsupported(version string) *Error {
	e := fail(unsupportedVersion, fmt.Sprintf("the protocol version %.80s is not spoken here in this way: send one of %s", version, strings.Join(Versions(), ", ")))
	e.Data = object{"supported": Versions(), "requested": version}
	return e
}

// about is what the server says of itself.
func (s *Server) about() object {
	return object{"name": "agentkit", "title": "agentkit: the tools of a coding agent", "version": s.o.Version}
}
