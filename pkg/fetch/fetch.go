// Package fetch gets one resource over HTTP, for a caller that trusts neither the
// address nor the server.
//
// The rules:
//
//   - Every connection is made to an address that the caller's Guard has seen, after
//     the name was looked up: redirects, odd spellings, and names that change their
//     address between two look-ups all pass it.
//   - Redirects are followed by hand; the caller's Visit is asked about each.
//   - One deadline covers everything, the body too. What was read until then is kept.
//   - A body is read whole, decoded, within a limit that counts decoded bytes.
//   - Nothing is taken from the process: proxies, authorities, cache, clock and
//     resolver come in through Config.
package fetch

import (
	"cmp"
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// A Config is what a Client may use of the world.
type Config struct {
	// Guard is asked before each connection, with the name that was looked up and the
	// address it has. nil refuses every address.
	Guard func(ctx context.Context, host string, at netip.AddrPort) error

	Proxy   func(*url.URL) (*url.URL, error) // the proxy for an address; nil for none. Guard does not see the connection to it
	Roots   *x509.CertPool                   // the authorities that are trusted; nil for the system's
	Cache   Store                            // nil keeps nothing
	Agent   string                           // the honest User-Agent
	Resolve Resolve                          // looks up names; nil asks the system
	Connect Connect                          // connects to an address that Guard has let pass; nil for the system
	Limits  Limits

	Now  func() time.Time                           // nil for the clock
	Wait func(context.Context, time.Duration) error // sleeps before a retry; nil for a timer
}

// A Resolve looks up the addresses of a host.
type Resolve func(ctx context.Context, host string) ([]netip.Addr, error)

// A Connect connects to an address.
type Connect func(ctx context.Context, at netip.AddrPort) (net.Conn, error)

// Limits bound what a server may cost. A field that is 0 has its default.
type Limits struct {
	Connect   time.Duration // until a connection stands: 5 s
	TLS       time.Duration // of its handshake: 5 s
	Headers   time.Duration // from the request to the answer's headers: 15 s
	Idle      time.Duration // without a byte of the body: 10 s
	HeaderMax int64         // bytes of the headers: 256 KiB
	Redirects int           // 5
	Retries   int           // 2; less than 0 for none
}

func (l Limits) withDefaults() Limits {
	l.Connect = cmp.Or(l.Connect, 5*time.Second)
	l.TLS = cmp.Or(l.TLS, 5*time.Second)
	l.Headers = cmp.Or(l.Headers, 15*time.Second)
	l.Idle = cmp.Or(l.Idle, 10*time.Second)
	l.HeaderMax = cmp.Or(l.HeaderMax, 256<<10)
	l.Redirects = cmp.Or(l.Redirects, 5)
	l.Retries = max(0, cmp.Or(l.Retries, 2))
	return l
}

// A Client makes requests. It may be used by several goroutines.
type Client struct {
	c         Config
	transport *http.Transport
}

// New returns a Client. Close lets go of its connections.
func New(c Config) *Client {
	c.Limits = c.Limits.withDefaults()
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Wait == nil {
		c.Wait = sleep
	}
	if c.Resolve == nil {
		c.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if c.Connect == nil {
		c.Connect = func(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", at.String())
		}
	}
	client := &Client{c: c}
	client.transport = client.newTransport()
	return client
}

// Close lets go of the connections that are kept for another request.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A Request is what is asked for.
type Request struct {
	Method string // "" for GET
	URL    *url.URL
	Header http.Header // an Accept, User-Agent or anything else that is not the connection's own; goes to the first host only
	Body   []byte

	MaxBytes int64         // of the decoded body; 0 for 5 MiB
	Timeout  time.Duration // for everything; 0 for 30 s

	// Visit is asked before each request, with the address and the one that led there,
	// nil for the first. It may write the host in another form, which is then used.
	Visit func(ctx context.Context, to, from *url.URL) error

	Browser string // the User-Agent of a second try where the first met a wall for robots; "" for none
	Mode    Mode
}

// A Mode says what the cache is used for.
type Mode int

// The modes.
const (
	Fresh  Mode = iota // an answer is used while it is fresh, and confirmed when it is not
	Reload             // no answer is used; the new one is kept
	Kept               // the last answer is used, however old
)

// A Response is what came.
type Response struct {
	URL       *url.URL // where it came from in the end
	Status    int
	Header    http.Header
	Body      []byte // without its content codings
	Proto     string // HTTP/1.1 or HTTP/2.0
	Redirects []Hop

	Wire       int64         // bytes of the body as it travelled
	Truncated  bool          // there is more than MaxBytes
	Incomplete string        // why the body ends early otherwise
	Retries    int           // tries before this one
	Agent      string        // the User-Agent that was answered
	Challenge  string        // whose wall for robots stands there; "" for none
	Cached     string        // hit, revalidated, stale or kept; "" where it came over the network
	Age        time.Duration // since it was got, where it is cached
	Proxied    bool

	key string         // of the entry that holds it
	at  netip.AddrPort // where it came from; the zero value where a proxy got it
}

// A Hop is one redirect.
type Hop struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Status int    `json:"status"`
}

// DefaultMaxBytes bounds a body where the request does not.
const DefaultMaxBytes = 5 << 20

// Do makes a request and those that redirects and retries lead to. Whatever status
// came is a Response; an *Error says why there is none.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	r.Method = cmp.Or(r.Method, http.MethodGet)
	r.MaxBytes = cmp.Or(r.MaxBytes, DefaultMaxBytes)
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(r.Timeout, 30*time.Second))
	defer cancel()
	if r.Mode == Kept {
		if res, err := c.kept(ctx, &r); res != nil || err != nil {
			return res, err
		}
	}
	res, err := c.follow(ctx, &r)
	if err != nil {
		return nil, err
	}
	c.keep(ctx, &r, res)
	return res, nil
}

// follow makes the request and follows its redirects.
func (c *Client) follow(ctx context.Context, r *Request) (*Response, error) {
	at, from, header, hops := *r.URL, (*url.URL)(nil), r.Header.Clone(), []Hop(nil)
	method, body := r.Method, r.Body
	for {
		if err := check(&at); err != nil {
			return nil, err
		}
		if r.Visit != nil {
			if err := r.Visit(ctx, &at, from); err != nil {
				return nil, err
			}
		}
		res, err := c.once(ctx, r, method, &at, header, body)
		if err != nil {
			return nil, err
		}
		res.Redirects = hops
		next, err := c.next(res)
		if err != nil || next == nil {
			return res, err
		}
		if len(hops) >= c.c.Limits.Redirects {
			return nil, errorf(Redirects, next, "more than %d redirects, the last to %s", c.c.Limits.Redirects, next.Redacted())
		}
		hops = append(hops, Hop{at.String(), next.String(), res.Status})
		if !sameOrigin(&at, next) {
			header = onlyNegotiation(header)
		}
		if method != http.MethodHead && (res.Status <= 303 && method != http.MethodGet) {
			method, body = http.MethodGet, nil
			header.Del("Content-Type")
		}
		here := at
		from, at = &here, *next
	}
}

// isRedirect reports whether an answer says where to go on; its body is not read then, which may
// never come.
func isRedirect(res *Response) bool {
	switch res.Status {
	case 301, 302, 303, 307, 308:
		return res.Header.Get("Location") != ""
	}
	return false
}

// next is where an answer leads; nil where it is the last one.
func (c *Client) next(res *Response) (*url.URL, error) {
	if !isRedirect(res) {
		return nil, nil
	}
	where := res.Header.Get("Location")
	next, err := res.URL.Parse(where)
	if err != nil {
		return nil, errorf(Redirects, res.URL, "the redirect leads to no address: %q", where)
	}
	if err := check(next); err != nil {
		return nil, errorf(Redirects, res.URL, "the redirect leads to %s: %w", next.Redacted(), err)
	}
	if res.URL.Scheme == "https" && next.Scheme == "http" {
		return nil, errorf(Downgrade, next, "the redirect leads from https to %s", next.Redacted())
	}
	if next.Fragment == "" {
		next.Fragment = res.URL.Fragment
	}
	return next, nil
}

// check refuses an address that no request is made to.
func check(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return errorf(BadURL, u, "only http and https are fetched, not %q", u.Scheme)
	case u.Hostname() == "":
		return errorf(BadURL, u, "the address names no host")
	case u.User != nil:
		return errorf(BadURL, u, "the address holds a user name")
	case u.Port() == "0":
		return errorf(BadURL, u, "there is no port 0")
	}
	return nil
}

func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Host, b.Host) && (a.Scheme == b.Scheme || a.Scheme == "http")
}

// onlyNegotiation is what another host gets of the headers: what a caller adds may be
// a secret, whatever it is called.
func onlyNegotiation(h http.Header) http.Header {
	kept := http.Header{}
	for _, name := range []string{"Accept", "Accept-Language", "User-Agent"} {
		if v := h.Values(name); len(v) > 0 {
			kept[name] = v
		}
	}
	return kept
}
