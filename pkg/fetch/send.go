package fetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// once gets one address: from the cache, or over the network with retries, and where
// a wall for robots stands there once more as a browser.
func (c *Client) once(ctx context.Context, r *Request, method string, at *url.URL, header http.Header, body []byte) (*Response, error) {
	q := &query{method: method, url: at, header: header, body: body, max: r.MaxBytes}
	q.header = withDefault(q.header, "User-Agent", c.c.Agent)
	stored := c.load(ctx, q)
	if r.Mode == Fresh && stored != nil && stored.fresh(c.c.Now()) {
		return stored.response(c.c.Now(), "hit").as(q.key()), nil
	}
	if r.Mode != Fresh || stored != nil && !stored.Reusable {
		stored = nil
	}
	res, err := c.try(ctx, q, stored)
	key := q.key()
	switch {
	case err != nil && stored != nil && stored.staleable(c.c.Now()) && passing(err):
		return stored.response(c.c.Now(), "stale").as(key), nil
	case err != nil:
		return nil, err
	case res.Status == http.StatusNotModified && stored != nil:
		return c.refresh(ctx, q, stored, res).as(key), nil
	}
	if res.Challenge = Challenge(res); (res.Challenge != "" || res.Status == 403 || res.Status == 406) && r.Browser != "" && q.header.Get("User-Agent") != r.Browser {
		again := *q
		again.header = withDefault(q.header, "Accept-Language", "en-US,en;q=0.9")
		again.header.Set("User-Agent", r.Browser)
		if second, err := c.try(ctx, &again, nil); err == nil {
			if second.Challenge = Challenge(second); second.Challenge == "" && second.Status < 400 {
				second.Retries += res.Retries + 1
				res = second
			}
		}
	}
	c.store(ctx, q, res)
	return res.as(key), nil
}

// as notes under which key an answer is kept.
func (r *Response) as(key string) *Response { r.key = key; return r }

func withDefault(h http.Header, name, value string) http.Header {
	if h = h.Clone(); h == nil {
		h = http.Header{}
	}
	if h.Get(name) == "" && value != "" {
		h.Set(name, value)
	}
	return h
}

// A query is one request to one address.
type query struct {
	method string
	url    *url.URL
	header http.Header
	body   []byte
	max    int64
}

// try sends a query, and again what a short wait may mend, as long as the deadline
// allows.
func (c *Client) try(ctx context.Context, q *query, stored *entry) (*Response, error) {
	for n := 0; ; n++ {
		res, err := c.send(ctx, q, stored)
		wait, again := c.again(q, res, err, n)
		if deadline, ok := ctx.Deadline(); !again || n >= c.c.Limits.Retries || ok && time.Until(deadline) < wait+100*time.Millisecond || c.c.Wait(ctx, wait) != nil {
			if res != nil {
				res.Retries = n
			}
			return res, err
		}
	}
}

// again tells whether and after which time a query is worth another try. One that
// may have changed something is not, unless the server says that it did nothing.
func (c *Client) again(q *query, res *Response, err error, n int) (time.Duration, bool) {
	safe := q.method == http.MethodGet || q.method == http.MethodHead
	pause := 250 * time.Millisecond << n
	if err != nil {
		e, ok := errors.AsType[*Error](err)
		return pause, ok && e.Retryable && e.Code == Connection && safe
	}
	switch res.Status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		after, given := RetryAfter(res.Header, c.c.Now())
		if given {
			return after, res.Status == http.StatusTooManyRequests || safe
		}
		return 2 * pause, safe && Challenge(res) == ""
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return pause, safe
	}
	return 0, false
}

// send makes one request and reads the answer.
func (c *Client) send(ctx context.Context, q *query, stored *entry) (*Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var body io.Reader
	if q.body != nil {
		body = bytes.NewReader(q.body)
	}
	plain := *q.url
	plain.Fragment, plain.RawFragment = "", ""
	req, err := http.NewRequestWithContext(ctx, q.method, plain.String(), body)
	if err != nil {
		return nil, errorf(BadURL, q.url, "%w", err)
	}
	if err := setHeader(req, q.header); err != nil {
		return nil, err
	}
	stored.ask(req.Header)
	var from netip.AddrPort
	req = req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
		if at, ok := i.Conn.RemoteAddr().(*net.TCPAddr); ok {
			from = at.AddrPort()
		}
	}}))
	headers := time.AfterFunc(c.c.Limits.Connect+c.c.Limits.TLS+c.c.Limits.Headers, func() { cancel(errHeaders) })
	answer, err := c.transport.RoundTrip(req)
	if !headers.Stop() && err == nil {
		err = errHeaders
		_ = answer.Body.Close()
	}
	if err != nil {
		return nil, c.failure(ctx, q.url, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusSwitchingProtocols {
		return nil, errorf(Protocol, q.url, "%s goes on in another protocol, which nobody asked for", q.url.Host)
	}
	at := *q.url
	res := &Response{URL: &at, Status: answer.StatusCode, Header: answer.Header, Proto: answer.Proto, Agent: q.header.Get("User-Agent")}
	if c.c.Proxy != nil {
		via, err := c.c.Proxy(q.url)
		res.Proxied = via != nil && err == nil
	}
	if !res.Proxied {
		res.at = from
	}
	switch {
	case q.method == http.MethodHead:
		return res, nil
	case isRedirect(res):
		drain(answer.Body, func() { cancel(errIdle) })
		return res, nil
	}
	return res, c.readBody(ctx, cancel, q, answer, res)
}

const (
	maxDrained = 2 << 10                // bytes of a body that nobody reads, which keep the connection
	drainTime  = 100 * time.Millisecond // to wait for them: a new connection costs about that
)

// drain reads the short body of a redirect, so that its connection can be used again; stop is called where
// that takes long.
func drain(body io.Reader, stop func()) {
	late := time.AfterFunc(drainTime, stop)
	defer late.Stop()
	_, _ = io.CopyN(io.Discard, body, maxDrained)
}

// setHeader adds the caller's headers; those of the connection itself are not theirs.
func setHeader(req *http.Request, header http.Header) error {
	for name, values := range header {
		switch http.CanonicalHeaderKey(name) {
		case "Host", "Connection", "Content-Length", "Transfer-Encoding", "Upgrade", "Te", "Trailer", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "Accept-Encoding":
			return errorf(BadHeader, req.URL, "the header %s belongs to the connection", http.CanonicalHeaderKey(name))
		}
		for _, v := range values {
			if strings.ContainsAny(name+v, "\r\n\x00") {
				return errorf(BadHeader, req.URL, "the header %q holds a line end", name)
			}
			req.Header.Add(name, v)
		}
	}
	req.Header.Set("Accept-Encoding", "gzip, br, zstd, deflate")
	return nil
}

var errHeaders = errors.New("no answer came")
