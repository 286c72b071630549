package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Store keeps answers for a Client: a private cache (RFC 9111). What it loses is
// asked for again.
type Store interface {
	Load(key string) []byte // nil where there is none
	Save(ctx context.Context, key string, data []byte)
}

const (
	// lifetime is how long an answer is fresh that does not say so itself.
	lifetime = 15 * time.Minute

	// maxStale is how long after that it may stand in for one that cannot be got.
	maxStale = 24 * time.Hour
)

// An entry is an answer that is kept. All of it but the body is a line of JSON, which
// the body follows.
type entry struct {
	Key        string      `json:"key"`
	URL        string      `json:"url"`
	Status     int         `json:"status"`
	Header     http.Header `json:"header"`
	Proto      string      `json:"proto"`
	Agent      string      `json:"agent"`
	Challenge  string      `json:"challenge,omitempty"`
	Truncated  bool        `json:"truncated,omitempty"`
	Incomplete string      `json:"incomplete,omitempty"`
	Wire       int64       `json:"wire"`
	Length     int         `json:"length"`
	Got        time.Time   `json:"got"`
	Reusable   bool        `json:"reusable"` // as an answer to another request, and not only to read on in it

	At      netip.AddrPort `json:"at"` // where it came from; the zero value where a proxy got it
	Proxied bool           `json:"proxied,omitempty"`

	Body []byte `json:"-"`
}

// A trail leads from what was asked for to the entry that answered it.
type trail struct {
	Key       string `json:"key"`
	Redirects []Hop  `json:"redirects,omitempty"`
}

// key names what a query is answered by. All request headers are in it, so whatever an
// answer varies by is the same.
func (q *query) key() string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s %d\n", q.method, strings.SplitN(q.url.String(), "#", 2)[0], q.max)
	for _, name := range slices.Sorted(maps.Keys(q.header)) {
		fmt.Fprintf(h, "%s: %q\n", name, q.header[name])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// load returns what is kept for a query; nil where nothing is.
func (c *Client) load(ctx context.Context, q *query) *entry {
	if c.c.Cache == nil || q.method != http.MethodGet {
		return nil
	}
	return c.entry(ctx, q.key())
}

func (c *Client) entry(ctx context.Context, key string) *entry {
	line, body, found := bytes.Cut(c.c.Cache.Load(key), []byte("\n"))
	e := new(entry)
	if !found || json.Unmarshal(line, e) != nil || e.Length != len(body) || e.Key != key || !c.reachable(ctx, e) {
		return nil // none, not whole, or not for this client
	}
	e.Body = body
	return e
}

// reachable reports whether this client could have got e itself: who kept it may have been allowed
// to connect to more, or had a proxy that knows other names.
func (c *Client) reachable(ctx context.Context, e *entry) bool {
	at, err := url.Parse(e.URL)
	if err != nil {
		return false
	}
	if e.Proxied {
		if c.c.Proxy == nil {
			return false
		}
		via, err := c.c.Proxy(at)
		return via != nil && err == nil
	}
	return e.At.IsValid() && c.guard(ctx, at.Hostname(), e.At) == nil
}

// store keeps an answer: to be used again where it may be, and else to be read on in.
func (c *Client) store(ctx context.Context, q *query, res *Response) {
	if c.c.Cache == nil || q.method != http.MethodGet {
		return
	}
	e := &entry{
		Key: q.key(), URL: res.URL.String(), Status: res.Status, Header: res.Header, Proto: res.Proto, Agent: res.Agent, Challenge: res.Challenge,
		Truncated: res.Truncated, Incomplete: res.Incomplete, Wire: res.Wire, Body: res.Body, Got: c.c.Now(), At: res.at, Proxied: res.Proxied,
	}
	e.Reusable = e.reusable()
	if redirect := res.Status > 300 && res.Status < 400; redirect && !e.Reusable {
		return
	}
	c.save(ctx, e)
}

func (c *Client) save(ctx context.Context, e *entry) {
	e.Length = len(e.Body)
	line, err := json.Marshal(e)
	if err != nil {
		return
	}
	c.c.Cache.Save(ctx, e.Key, append(append(line, '\n'), e.Body...))
}

// reusable reports whether another request may be answered by e.
func (e *entry) reusable() bool {
	directives := control(e.Header)
	_, no := directives["no-store"]
	if no || e.Header.Get("Vary") == "*" || e.Incomplete != "" || e.Challenge != "" {
		return false
	}
	_, explicit := e.explicit()
	return explicit || usual(e.Status)
}

// usual are the statuses that may be kept without being told so (RFC 9110, 15.1), but
// for those of what is missing: that may be there in a moment.
func usual(status int) bool {
	switch status {
	case 200, 203, 300, 301, 308:
		return true
	}
	return false
}

// control is the Cache-Control of an answer.
func control(h http.Header) map[string]string {
	directives := map[string]string{}
	for part := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		directives[strings.ToLower(name)] = strings.Trim(value, `"`)
	}
	return directives
}

// explicit is the lifetime that the answer itself gives.
func (e *entry) explicit() (time.Duration, bool) {
	directives := control(e.Header)
	if text, ok := directives["max-age"]; ok {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			n = 0 // what cannot be read is stale
		}
		return time.Duration(n) * time.Second, true
	}
	if text := e.Header.Get("Expires"); text != "" {
		at, err := http.ParseTime(text)
		if err != nil {
			return 0, true
		}
		date, err := http.ParseTime(e.Header.Get("Date"))
		if err != nil {
			date = e.Got
		}
		return at.Sub(date), true
	}
	return 0, false
}

// age is how old the answer is, with the time that it lay in other caches.
func (e *entry) age(now time.Time) time.Duration {
	n, _ := strconv.ParseInt(e.Header.Get("Age"), 10, 32)
	return max(0, now.Sub(e.Got)) + time.Duration(max(n, 0))*time.Second
}

func (e *entry) life() time.Duration {
	directives := control(e.Header)
	if _, no := directives["no-cache"]; no {
		return 0
	}
	if d, ok := e.explicit(); ok {
		return d
	}
	return lifetime
}

func (e *entry) fresh(now time.Time) bool {
	return e.Reusable && e.age(now) < e.life()
}

// staleable reports whether e may stand in where no newer answer can be got.
func (e *entry) staleable(now time.Time) bool {
	directives := control(e.Header)
	for _, no := range []string{"must-revalidate", "no-cache", "proxy-revalidate"} {
		if _, is := directives[no]; is {
			return false
		}
	}
	return e.Reusable && e.Status == http.StatusOK && e.age(now) < e.life()+maxStale
}

// ask makes a request one that is answered by 304 where e still holds.
func (e *entry) ask(h http.Header) {
	if e == nil {
		return
	}
	if tag := e.Header.Get("Etag"); tag != "" {
		h.Set("If-None-Match", tag)
	}
	if at := e.Header.Get("Last-Modified"); at != "" {
		h.Set("If-Modified-Since", at)
	}
}

// refresh takes the headers of a 304 over into what it confirms.
func (c *Client) refresh(ctx context.Context, q *query, e *entry, res *Response) *Response {
	for name, values := range res.Header {
		if name != "Content-Length" && name != "Content-Encoding" && name != "Content-Type" {
			e.Header[name] = values
		}
	}
	if res.Header.Get("Age") == "" {
		e.Header.Del("Age")
	}
	e.Got, e.At, e.Proxied = c.c.Now(), res.at, res.Proxied
	c.save(ctx, e)
	confirmed := e.response(c.c.Now(), "revalidated")
	confirmed.URL = q.url
	return confirmed
}

// response is e as an answer.
func (e *entry) response(now time.Time, how string) *Response {
	at, err := url.Parse(e.URL)
	if err != nil {
		at = &url.URL{}
	}
	return &Response{
		URL: at, Status: e.Status, Header: e.Header.Clone(), Body: e.Body, Proto: e.Proto, Wire: e.Wire, Truncated: e.Truncated,
		Incomplete: e.Incomplete, Agent: e.Agent, Challenge: e.Challenge, Cached: how, Age: e.age(now), Proxied: e.Proxied, at: e.At,
	}
}

// asked is the query that a request begins with.
func (c *Client) asked(r *Request) *query {
	return &query{method: r.Method, url: r.URL, header: withDefault(r.Header, "User-Agent", c.c.Agent), max: r.MaxBytes}
}

// keep notes which answer a request had, so that it can be read on in.
func (c *Client) keep(ctx context.Context, r *Request, res *Response) {
	if c.c.Cache == nil || r.Method != http.MethodGet || res.key == "" {
		return
	}
	if data, err := json.Marshal(trail{res.key, res.Redirects}); err == nil {
		c.c.Cache.Save(ctx, c.asked(r).key()+"-last", data)
	}
}

// kept is the answer that a request had the last time; nil where there is none. Visit
// is asked again: what it allows may have changed.
func (c *Client) kept(ctx context.Context, r *Request) (*Response, error) {
	if c.c.Cache == nil || r.Method != http.MethodGet {
		return nil, nil
	}
	if r.Visit != nil {
		at := *r.URL
		if err := r.Visit(ctx, &at, nil); err != nil {
			return nil, err
		}
	}
	var t trail
	if json.Unmarshal(c.c.Cache.Load(c.asked(r).key()+"-last"), &t) != nil {
		return nil, nil
	}
	for _, hop := range t.Redirects {
		from, err1 := url.Parse(hop.From)
		to, err2 := url.Parse(hop.To)
		if err1 != nil || err2 != nil {
			return nil, nil
		}
		if r.Visit == nil {
			continue
		}
		if err := r.Visit(ctx, to, from); err != nil {
			return nil, err
		}
	}
	e := c.entry(ctx, t.Key)
	if e == nil {
		return nil, nil
	}
	res := e.response(c.c.Now(), "kept")
	res.Redirects, res.key = t.Redirects, t.Key
	return res, nil
}
