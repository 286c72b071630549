package endpoint

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// guard lets h see the requests that it may answer, with their whole bodies.
func (e *Endpoint) guard(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w = &writer{w, http.NewResponseController(w)}
		head := w.Header()
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Cache-Control", "no-store")
		if r.Body != nil && r.Body != http.NoBody {
			head.Set("Connection", "close") // until it is read: else an answer before it would wait for it, and without end
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(lingerTime))
		}
		if name := twice(r.Header); name != "" {
			Refuse(w, http.StatusBadRequest, tool.Errorf(tool.BadInput, "the header %s stands twice", name).WithHint("send it once"))
			return
		}
		if !e.named(r.Host) {
			Refuse(w, http.StatusForbidden, tool.Errorf(tool.Denied, "the host %q is not served here", r.Host).WithHint("call by IP address or localhost, or have the server started with --host %q", r.Host))
			return
		}
		if !e.mayBrowse(w, r) {
			return
		}
		if r.URL.Path == "/healthz" {
			e.health(w, r)
			return
		}
		if !e.knows(r) {
			head.Set("WWW-Authenticate", `Bearer realm="agentkit"`)
			Refuse(w, http.StatusUnauthorized, tool.Errorf(tool.Denied, "the token is missing or wrong").WithHint("send it as Authorization: Bearer TOKEN"))
			return
		}
		leave, full := e.enter(r)
		if leave == nil {
			many(w)
			return
		}
		defer leave()
		raw, taken, ok := e.whole(w, r)
		defer e.bodies.Add(-taken)
		switch {
		case !ok:
		case full && !e.o.Urgent(r, raw):
			many(w)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// enter takes a place among the requests that are served, or among the urgent ones: full says
// that r has to be one. The function gives the place back; it is nil where there is none.
func (e *Endpoint) enter(r *http.Request) (leave func(), full bool) {
	select {
	case e.slots <- struct{}{}:
		return func() { <-e.slots }, false
	default:
	}
	if e.o.Urgent == nil || r.ContentLength < 0 || r.ContentLength > maxShort {
		return nil, true
	}
	select {
	case e.urgent <- struct{}{}:
		return func() { <-e.urgent }, true
	default:
		return nil, true
	}
}

// many refuses a request, for too many are served.
func many(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	Refuse(w, http.StatusTooManyRequests, tool.Errorf(tool.TooLarge, "%d requests are served at a time", MaxCalls).WithHint("wait for an answer, and send it again"))
}

// twice is a header that decides who calls and what comes, and stands there twice: what
// lies between may have gone by the other one. "" for none.
func twice(h http.Header) string {
	for _, name := range []string{"Authorization", "Origin", "Content-Type", "Content-Encoding", "Idempotency-Key", "Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"} {
		if len(h.Values(name)) > 1 {
			return name
		}
	}
	return ""
}

// named reports whether we go by the host of a request. An address does: only a name
// can be pointed at another machine.
func (e *Endpoint) named(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	_, err := netip.ParseAddr(host)
	return err == nil || host == "localhost" || slices.ContainsFunc(e.o.Hosts, func(name string) bool { return strings.EqualFold(name, host) })
}

// mayBrowse reports whether a page that sent r, if one did, is listed and wants an
// answer. What it may read and send is told to its browser.
func (e *Endpoint) mayBrowse(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	w.Header().Add("Vary", "Origin")
	switch {
	case origin == "" && r.Method != http.MethodOptions:
		return true
	case !slices.Contains(e.o.Origins, origin):
		Refuse(w, http.StatusForbidden, tool.Errorf(tool.Denied, "the origin %q may not call", origin).WithHint("whoever starts the server can list it: --origin %q", origin))
		return false
	}
	head := w.Header()
	head.Set("Access-Control-Allow-Origin", origin)
	head.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, Mcp-Protocol-Version")
	if r.Method != http.MethodOptions {
		return true
	}
	head.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	head.Set("Access-Control-Allow-Headers", "Accept, Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name")
	head.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return false
}

// knows reports whether the caller has the token.
func (e *Endpoint) knows(r *http.Request) bool {
	if e.Token == "" {
		return true
	}
	scheme, shown, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	want, got := sha256.Sum256([]byte(e.Token)), sha256.Sum256([]byte(strings.TrimSpace(shown)))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}

// health says whether calls are taken.
func (e *Endpoint) health(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		Refuse(w, http.StatusMethodNotAllowed, tool.Errorf(tool.BadInput, "%s is not answered here", r.Method).WithHint("use GET"))
	case e.ending.Load():
		Answer(w, http.StatusServiceUnavailable, map[string]string{"status": "ending"})
	default:
		Answer(w, http.StatusOK, map[string]string{"status": "ok"})
	}
}

// whole reads the body of r, which is there for the handler then. The number is the
// bytes that were counted for it.
func (e *Endpoint) whole(w http.ResponseWriter, r *http.Request) (raw []byte, taken int64, ok bool) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, 0, true
	}
	long := tool.Errorf(tool.TooLarge, "the body is longer than %d MiB", MaxBody>>20).WithHint("send less at a time")
	switch coded := r.Header.Get("Content-Encoding"); {
	case r.ContentLength > MaxBody: // said beforehand
		Refuse(w, http.StatusRequestEntityTooLarge, long)
		return nil, 0, false
	case coded != "" && !strings.EqualFold(coded, "identity"):
		Refuse(w, http.StatusUnsupportedMediaType, tool.Errorf(tool.BadInput, "the body is coded as %.40q", coded).WithHint("send it as it is"))
		return nil, 0, false
	}
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Now().Add(bodyTime))
	body := counted{from: http.MaxBytesReader(w, r.Body, MaxBody), add: e.bodies.Add}
	raw, err := io.ReadAll(&body)
	_ = c.SetReadDeadline(time.Time{})
	_, over := errors.AsType[*http.MaxBytesError](err)
	switch {
	case over:
		Refuse(w, http.StatusRequestEntityTooLarge, long)
	case errors.Is(err, errBodies):
		Refuse(w, http.StatusTooManyRequests, tool.Errorf(tool.TooLarge, "%w", err).WithHint("wait for answers, and send it again"))
	case err != nil:
		Refuse(w, http.StatusBadRequest, tool.Errorf(tool.BadInput, "reading the body: %w", err).WithHint("send all of it within %s", bodyTime))
	}
	if err == nil {
		w.Header().Del("Connection")
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	return raw, body.taken, err == nil
}

var errBodies = errors.New("the bodies of all requests together are too long")

// A counted reader counts what it reads among the bytes of all requests.
type counted struct {
	from  io.Reader
	add   func(int64) int64
	taken int64
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.taken += int64(n)
	if c.add(int64(n)) > maxBodies {
		return 0, errBodies
	}
	return n, err
}

// A writer gives the peer time for each part of the answer, so that one that takes
// nothing holds nothing up.
type writer struct {
	http.ResponseWriter
	control *http.ResponseController
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	_ = w.control.SetWriteDeadline(time.Now().Add(writeTime))
	return w.ResponseWriter.Write(p)
}

// Flush implements http.Flusher.
func (w *writer) Flush() {
	_ = w.control.SetWriteDeadline(time.Now().Add(writeTime))
	_ = w.control.Flush()
}

// Unwrap is for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// A refusal is the answer to a request that was not done.
type refusal struct {
	Success bool        `json:"success"` // false
	Error   *tool.Error `json:"error"`
}

// Refuse answers a request that was not done, and says why.
func Refuse(w http.ResponseWriter, status int, err error) {
	Answer(w, status, refusal{Error: tool.AsError(err)})
}

// Answer answers with a JSON value.
func Answer(w http.ResponseWriter, status int, v any) {
	raw, err := tool.Encode(v)
	if err != nil {
		status = http.StatusInternalServerError
		raw, _ = tool.Encode(refusal{Error: tool.AsError(tool.Errorf(tool.Internal, "encoding: %w", err))})
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(raw, '\n')) // whoever is gone needs no answer
}
