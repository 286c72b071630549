// Package endpoint answers HTTP on this machine for callers that show a token: what
// agentkit serve --http and agentkit mcp --http have in common.
//
// The rules:
//
//   - It listens on a loopback address only, and asks each caller for a token, unless
//     Options.Insecure is set.
//   - The Host header must be an IP address, localhost, or a name that was listed: a web
//     page whose name was pointed at this machine (DNS rebinding) is refused.
//   - A page in a browser sends an Origin header. One that is not listed is refused.
//   - Bodies, headers, the time that they take to come, the requests at a time and the
//     connections are bounded. A request that cannot be served is refused at once, with a
//     reason. One that answers what others ask, or only waits for news, is served beside these.
//   - A peer that does not send its body, or does not take its answer, makes room for others
//     when they need its slot.
//   - Long bodies are read one after the other when they are longer together than one may be.
//   - GET /healthz needs no token.
//   - When ctx ends, nothing more is accepted, the context of each request ends with the
//     cause of ctx, and what the handlers answer then is still sent.
package endpoint

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// The bounds of what comes.
const (
	MaxBody    = 64 << 20  // bytes of a request
	maxLong    = MaxBody   // bytes of all long requests that are served at a time
	maxShort   = 256 << 10 // bytes of a request that is not long; an urgent one is not
	maxQueued  = 16        // long requests that wait for memory
	MaxCalls   = 256       // requests that are served at a time
	maxUrgent  = 64        // urgent ones beside them
	maxWaiting = 256       // those that wait for news, beside them
	maxConns   = 1024      // connections, more than all these
	maxHeader  = 64 << 10  // bytes of the headers of a request
	minToken   = 16        // characters of a token that somebody chose
)

// The times after which a peer has failed.
const (
	headerTime = 10 * time.Second // to send the headers
	bodyTime   = time.Minute      // to send the body
	lingerTime = 2 * time.Second  // to send the body of a request that is refused without it
	writeTime  = time.Minute      // to take a part of the answer
	idleTime   = 2 * time.Minute  // between two requests
	slow       = 2 * time.Second  // to send the body or take a part of the answer, when others wait for the slot
	patience   = 15 * time.Second // for handlers to end when ctx has ended
)

// Options says where to listen, and who may call.
type Options struct {
	Addr     string    // host:port; without a host, 127.0.0.1; port 0 is any that is free
	Token    string    // what callers have to show; "" has Listen make one
	Origins  []string  // of web pages that may call, such as https://example.com
	Hosts    []string  // names in the Host header, beside localhost, such as host.docker.internal
	Insecure bool      // addresses that others reach are listened on, too; no token is made
	Log      io.Writer // gets what goes wrong with connections

	// Urgent reports whether a request is served although there are too many: an answer for
	// which those that are served may be waiting. nil is for none.
	Urgent func(r *http.Request, body []byte) bool

	// Waits reports whether a request only waits for news, by its headers: such ones have slots
	// of their own, so that they keep nobody out. nil is for none.
	Waits func(r *http.Request) bool
}

// An Endpoint is where to call.
type Endpoint struct {
	Token string // what callers have to show; "" for nothing
	Made  bool   // Token was made here, and its user has to be told

	o        Options
	listener net.Listener
	limiter  *limiter
	long     *budget
	ending   atomic.Bool
}

// Listen opens the address. Nothing is answered before Serve.
func Listen(ctx context.Context, o Options) (*Endpoint, error) {
	e := &Endpoint{o: o, Token: o.Token, limiter: newLimiter(), long: newBudget()}
	switch n := len(e.Token); {
	case n > 0 && n < minToken:
		return nil, tool.Errorf(tool.BadInput, "the token has %d characters, and needs %d", n, minToken).WithHint("choose a longer one, or none: one is made and printed")
	case n == 0 && !o.Insecure:
		e.Token, e.Made = rand.Text(), true
	}
	for _, origin := range o.Origins {
		if scheme, host, ok := strings.Cut(origin, "://"); !ok || scheme == "" || host == "" || strings.ContainsAny(host, "/*") {
			return nil, tool.Errorf(tool.BadInput, "%q is no origin", origin).WithHint("name scheme, host and port as the browser does: https://example.com or http://localhost:5173")
		}
	}
	addr, err := o.address(ctx)
	if err != nil {
		return nil, err
	}
	if e.listener, err = new(net.ListenConfig).Listen(ctx, "tcp", addr.String()); err != nil {
		return nil, tool.Errorf(tool.IO, "listening on %s: %w", addr, err).WithHint("choose another port; 0 is any that is free")
	}
	return e, nil
}

// address is what to listen on.
func (o *Options) address(ctx context.Context) (addr netip.AddrPort, err error) {
	const form = "give host:port, such as 127.0.0.1:8642, or a port alone"
	host, port, err := net.SplitHostPort(o.Addr)
	if err != nil { // a port alone
		host, port = "", o.Addr
	}
	number, err := net.DefaultResolver.LookupPort(ctx, "tcp", port)
	if err != nil || o.Addr == "" {
		return addr, tool.Errorf(tool.BadInput, "%q is no address to listen on", o.Addr).WithHint(form)
	}
	ip := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	if host != "" && host != "localhost" {
		found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		if err != nil || len(found) == 0 {
			return addr, tool.Errorf(tool.BadInput, "%q is no address of this machine", host).WithHint(form)
		}
		ip = found[0].Unmap()
	}
	if !ip.IsLoopback() && !o.Insecure {
		return addr, tool.Errorf(tool.BadInput, "others can reach %s", ip).
			WithHint("listen on 127.0.0.1; or give --insecure where nobody else can reach this machine, or something in front of it encrypts")
	}
	return netip.AddrPortFrom(ip, uint16(number)), nil //nolint:gosec // LookupPort returns 0 to 65535
}

// URL is where to call, without a path. Of an address that stands for all it names
// the loopback one.
func (e *Endpoint) URL() string {
	addr, ok := e.listener.Addr().(*net.TCPAddr)
	if !ok {
		return ""
	}
	at := addr.AddrPort()
	if ip := at.Addr().Unmap(); ip.IsUnspecified() {
		at = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port())
	}
	return "http://" + at.String()
}

// Serve has h answer, until ctx ends; then it waits for what h still has to say. The
// error is what ended it before that.
func (e *Endpoint) Serve(ctx context.Context, h http.Handler) error {
	logs := e.o.Log
	if logs == nil {
		logs = io.Discard
	}
	s := &http.Server{
		Handler:           e.guard(h),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
		ConnState:         e.limiter.state,
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(logs, "agentkit: ", 0),
	}
	stop := context.AfterFunc(ctx, func() { e.ending.Store(true) })
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(e.listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return errors.Join(s.Shutdown(last), s.Close())
}
