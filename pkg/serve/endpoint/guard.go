package endpoint

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
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
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		defer e.limiter.serves(r.Context())()
		ctx, end := within(r.Context())
		defer end(nil)
		r = r.WithContext(ctx)
		q := &request{limiter: e.limiter, control: http.NewResponseController(rw), end: end}
		w := &writer{rw, q}
		head := w.Header()
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Cache-Control", "no-store")
		if r.Body != nil && r.Body != http.NoBody {
			head.Set("Connection", "close") // until it is read: else an answer before it would wait for it, and without end
			_ = q.control.SetReadDeadline(time.Now().Add(lingerTime))
		}
		if !e.welcome(w, r) {
			return
		}
		full := !e.limiter.admit(q, usual)
		if full && (e.o.Urgent == nil || r.ContentLength < 0 || r.ContentLength > maxShort || !e.limiter.admit(q, urgent)) {
			many(w)
			return
		}
		defer e.limiter.release(q)
		raw, give, ok := e.whole(w, r)
		defer give()
		switch {
		case !ok:
		case e.o.Waits != nil && e.o.Waits(r):
			if !e.limiter.admit(q, waiting) {
				w.Header().Set("Retry-After", "1")
				Refuse(w, http.StatusTooManyRequests, tool.Errorf(tool.TooLarge, "%d requests wait for news already", maxWaiting).WithHint("end one of them, or do without: ask for what is new now and then"))
				return
			}
			h.ServeHTTP(w, r)
		case full && !e.o.Urgent(r, raw):
			many(w)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// errGone ends what a caller has started that has gone.
var errGone = &tool.Error{Code: tool.Interrupted, Message: "the caller has gone", Hint: "call again to start over, where there was an idempotency key with another one"}

// within is a context that ends with the one of a request, with words for why.
func within(request context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, end := context.WithCancelCause(context.WithoutCancel(request))
	context.AfterFunc(request, func() {
		cause := context.Cause(request)
		if errors.Is(cause, context.Canceled) {
			cause = errGone
		}
		end(cause)
	})
	return ctx, end
}

// welcome reports whether a request may be answered by what its headers say; it refuses those
// that may not, and says itself whether the server is well.
func (e *Endpoint) welcome(w http.ResponseWriter, r *http.Request) bool {
	if name := twice(r.Header); name != "" {
		Refuse(w, http.StatusBadRequest, tool.Errorf(tool.BadInput, "the header %s stands twice", name).WithHint("send it once"))
		return false
	}
	if !e.named(r.Host) {
		Refuse(w, http.StatusForbidden, tool.Errorf(tool.Denied, "the host %q is not served here", r.Host).WithHint("call by IP address or localhost, or have the server started with --host %q", r.Host))
		return false
	}
	if !e.mayBrowse(w, r) {
		return false
	}
	if r.URL.Path == "/healthz" {
		e.health(w, r)
		return false
	}
	if !e.knows(r) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="agentkit"`)
		Refuse(w, http.StatusUnauthorized, tool.Errorf(tool.Denied, "the token is missing or wrong").WithHint("send it as Authorization: Bearer TOKEN"))
		return false
	}
	return true
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

// A writer gives the peer time for each part of the answer, so that one that takes nothing
// holds nothing up; and it ends the request of one that does not take it.
type writer struct {
	http.ResponseWriter
	request *request
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (n int, err error) {
	err = w.taken(func() error {
		n, err = w.ResponseWriter.Write(p)
		return err
	})
	return n, err
}

// FlushError is for http.ResponseController.
func (w *writer) FlushError() error { return w.taken(w.request.control.Flush) }

// taken sends something that the peer has to take.
func (w *writer) taken(send func() error) error {
	if !w.request.await(w.request.control.SetWriteDeadline, writeTime) {
		return errSlow
	}
	defer func() { _ = w.request.came() }()
	err := send()
	if err != nil {
		w.request.end(err)
	}
	return err
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
