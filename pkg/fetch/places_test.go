package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestPlaces goes where a request may lead, and where it may not.
func TestPlaces(t *testing.T) {
	z := newZoo(t)
	z.names["inside.test"] = []string{"127.0.0.1"}
	z.names["six.test"] = []string{"::1"}
	z.names["mapped.test"] = []string{"::ffff:10.0.0.1"}
	z.names["mixed.test"] = []string{"93.184.215.99", "10.0.0.1"}
	z.on("/plain", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "hello %s", r.UserAgent()) })
	for _, at := range []string{"http://a.zoo.test/plain", "https://b.zoo.test/plain"} {
		res, err := z.get(at)
		if err != nil || string(res.Body) != "hello honest/1" || res.Status != 200 {
			t.Fatalf("%s: %v %+v", at, err, res)
		}
		if want := map[string]string{"http": "HTTP/1.1", "https": "HTTP/2.0"}[res.URL.Scheme]; res.Proto != want {
			t.Errorf("%s: %s", at, res.Proto)
		}
	}
	z.requests()
	z.dialed = nil
	for at, want := range map[string]Code{
		"https://a.zoo.test:444/": TLS, "https://a.zoo.test:445/": TLS, "https://a.zoo.test:446/": TLS, "https://a.zoo.test:447/": TLS, "https://a.zoo.test:80/": TLS,
		"http://a.zoo.test:448/": Connection, "http://nowhere.test/": DNS,
		"http://127.0.0.1/plain": Refused, "http://[::1]/plain": Refused, "http://10.0.0.1/plain": Refused, "http://inside.test/plain": Refused,
		"https://six.test/plain": Refused, "http://mapped.test/plain": Refused, "http://mixed.test/plain": Refused,
		"ftp://a.zoo.test/": BadURL, "file:///etc/passwd": BadURL, "http:///x": BadURL, "http://u:p@a.zoo.test/": BadURL, "http://a.zoo.test:0/": BadURL,
	} {
		res, err := z.get(at)
		if e, ok := errors.AsType[*Error](err); !ok || e.Code != want || e.Message == "" {
			t.Errorf("%s: %v, %v; want %s", at, res, err, want)
		}
		if want == Refused {
			if guard, ok := errors.AsType[*GuardError](err); !ok || !errors.Is(err, errPrivate) || guard.Host == "" {
				t.Errorf("%s: %v does not say what Guard said", at, err)
			}
		}
	}
	if list := z.requests(); list != nil {
		t.Errorf("requests were made: %q", list)
	}
	for _, at := range z.dialed {
		if !strings.HasPrefix(at, "93.184.215.1") {
			t.Errorf("a connection to %s", at)
		}
	}
	if _, err := z.get("http://a.zoo.test/plain", func(c *Config) { c.Guard = nil }); codeOf(err) != Refused {
		t.Errorf("without a guard: %v", err)
	}
}

// TestRebinding has a name change its address between two look-ups: what was looked up
// is what is connected to.
func TestRebinding(t *testing.T) {
	z := newZoo(t)
	z.on("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		_, _ = io.WriteString(w, "public")
	})
	var looked atomic.Int32
	flip := func(c *Config) {
		c.Resolve = func(context.Context, string) ([]netip.Addr, error) {
			if looked.Add(1)%2 == 1 {
				return []netip.Addr{netip.MustParseAddr("93.184.215.10")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		}
	}
	client := z.client(flip)
	answers := map[string]int{}
	for range 6 {
		res, err := client.Do(t.Context(), Request{URL: parse(t, "http://rebind.test/")})
		if err == nil {
			answers[string(res.Body)]++
		} else {
			answers[string(codeOf(err))]++
		}
	}
	if answers["public"] != 3 || answers["address"] != 3 {
		t.Errorf("%v", answers)
	}
	for _, at := range z.dialed {
		if at != "93.184.215.10:80" {
			t.Errorf("a connection to %s", at)
		}
	}
}

// TestSlowAddress does not wait for an address that does not answer.
func TestSlowAddress(t *testing.T) {
	z := newZoo(t)
	z.names["two.test"] = []string{"93.184.215.250", "93.184.215.10"}
	z.on("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	hole := func(c *Config) {
		connect := c.Connect
		c.Connect = func(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
			if at.Addr().String() == "93.184.215.250" {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return connect(ctx, at)
		}
	}
	if res, err := z.get("http://two.test/", hole); err != nil || string(res.Body) != "ok" {
		t.Error(err)
	}
	z.names["hole.test"] = []string{"93.184.215.250"}
	_, err := z.get("http://hole.test/", hole, func(c *Config) { c.Limits.Connect = 30 * time.Millisecond })
	if e, ok := errors.AsType[*Error](err); !ok || e.Code != Timeout || e.Phase != "connect" || !e.Retryable {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := z.client().Do(ctx, Request{URL: parse(t, "http://a.zoo.test/")}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestRedirects follows, refuses and counts.
func TestRedirects(t *testing.T) {
	z := newZoo(t)
	z.names["inside.test"] = []string{"192.168.0.1"}
	to := func(path, location string, status int) {
		z.on(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", location)
			w.WriteHeader(status)
		})
	}
	z.on("/end", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s auth=%s cookie=%s key=%s accept=%s", r.Host, r.Method, body, r.Header.Get("Authorization"), r.Header.Get("Cookie"), r.Header.Get("X-Api-Key"), r.Header.Get("Accept"))
	})
	to("/relative", "end", 302)
	to("/host", "http://b.zoo.test/end", 302)
	to("/tls", "https://a.zoo.test/end", 301)
	to("/303", "/end", 303)
	to("/307", "/end", 307)
	to("/loop", "/loop", 302)
	for i := range 7 {
		to(fmt.Sprintf("/hop%d", i), fmt.Sprintf("/hop%d", i+1), 302)
	}
	to("/hop5b", "/end", 302)
	to("/private", "http://10.0.0.1/", 302)
	to("/name", "http://inside.test/", 302)
	to("/two", "http://b.zoo.test/private", 302)
	to("/file", "file:///etc/passwd", 302)
	to("/data", "data:text/html,x", 302)
	to("/user", "http://u:p@b.zoo.test/end", 302)
	to("/down", "http://a.zoo.test/end", 302)
	to("/bad", "http://[", 302)
	z.on("/nowhere", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(302) })
	z.on("/meta", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Refresh", "0; url=/end")
		_, _ = io.WriteString(w, `<meta http-equiv="refresh" content="0; url=/end">`)
	})
	secret := http.Header{"Authorization": {"Bearer s"}, "Cookie": {"a=b"}, "X-Api-Key": {"k"}, "Accept": {"text/x"}}
	all, none := " auth=Bearer s cookie=a=b key=k accept=text/x", " auth= cookie= key= accept=text/x"
	for _, c := range []struct {
		at, method, body string
		want             string
		code             Code
		requests         int
	}{
		{at: "http://a.zoo.test/relative", want: "a.zoo.test GET " + all, requests: 2},
		{at: "http://a.zoo.test/host", want: "b.zoo.test GET " + none, requests: 2},
		{at: "http://a.zoo.test/tls", want: "a.zoo.test GET " + all, requests: 2},
		{at: "http://a.zoo.test/303", method: "POST", body: "x", want: "a.zoo.test GET " + all, requests: 2},
		{at: "http://a.zoo.test/307", method: "POST", body: "x", want: "a.zoo.test POST x" + all, requests: 2},
		{at: "http://a.zoo.test/loop", code: Redirects, requests: 6},
		{at: "http://a.zoo.test/hop0", code: Redirects, requests: 6},
		{at: "http://a.zoo.test/private", code: Refused, requests: 1},
		{at: "http://a.zoo.test/name", code: Refused, requests: 1},
		{at: "http://a.zoo.test/two", code: Refused, requests: 2},
		{at: "http://a.zoo.test/file", code: Redirects, requests: 1},
		{at: "http://a.zoo.test/data", code: Redirects, requests: 1},
		{at: "http://a.zoo.test/user", code: Redirects, requests: 1},
		{at: "https://a.zoo.test/down", code: Downgrade, requests: 1},
		{at: "http://a.zoo.test/bad", code: Redirects, requests: 1},
		{at: "http://a.zoo.test/nowhere", want: "", requests: 1},
		{at: "http://a.zoo.test/meta", want: `<meta http-equiv="refresh" content="0; url=/end">`, requests: 1},
	} {
		r := Request{URL: parse(t, c.at), Method: c.method, Header: secret}
		if c.body != "" {
			r.Body = []byte(c.body)
		}
		res, err := z.client().Do(t.Context(), r)
		if n := len(z.requests()); n != c.requests {
			t.Errorf("%s: %d requests, want %d", c.at, n, c.requests)
		}
		if codeOf(err) != c.code || err == nil && string(res.Body) != c.want {
			t.Errorf("%s: %v, %q; want %s%q", c.at, err, bodyOf(res), c.code, c.want)
		}
		if err == nil && len(res.Redirects) != c.requests-1 {
			t.Errorf("%s: %v", c.at, res.Redirects)
		}
	}
	// who asked is asked about each hop, and what they refuse is not requested
	var hops []string
	_, err := z.client().Do(t.Context(), Request{URL: parse(t, "http://a.zoo.test/host#part"), Visit: func(_ context.Context, to, from *url.URL) error {
		hops = append(hops, to.String())
		if from != nil {
			return errPrivate
		}
		return nil
	}})
	if !errors.Is(err, errPrivate) || !slices.Equal(hops, []string{"http://a.zoo.test/host#part", "http://b.zoo.test/end#part"}) || len(z.requests()) != 1 {
		t.Errorf("%v, %q", err, hops)
	}
}

func bodyOf(r *Response) string {
	if r == nil {
		return ""
	}
	return string(r.Body)
}

// TestHeaders refuses what would write a request of its own.
func TestHeaders(t *testing.T) {
	z := newZoo(t)
	z.on("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header.Get("X-A")) })
	for name, value := range map[string]string{"Host": "127.0.0.1", "X-A": "b\r\nX-C: d", "Transfer-Encoding": "chunked", "Connection": "x", "Proxy-Authorization": "x", "content-length": "3", "X-B\r\nX-C": "d"} {
		_, err := z.client().Do(t.Context(), Request{URL: parse(t, "http://a.zoo.test/"), Header: http.Header{name: {value}}})
		if codeOf(err) != BadHeader {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := z.client().Do(t.Context(), Request{URL: parse(t, "http://a.zoo.test/"), Method: "GET\r\nX"}); codeOf(err) != BadURL {
		t.Errorf("method: %v", err)
	}
	if list := z.requests(); list != nil {
		t.Errorf("%q", list)
	}
}

// TestCache keeps what it may, as long as it may (RFC 9111).
func TestCache(t *testing.T) {
	for _, c := range []struct {
		name    string
		header  string // of each answer; a blank parts two
		after   time.Duration
		mode    Mode
		dead    bool // the server is gone by then
		cached  string
		body    string
		request bool // the second one reaches the server
	}{
		{name: "fresh", after: 14 * time.Minute, cached: "hit", body: "1"},
		{name: "old", after: 16 * time.Minute, body: "2", request: true},
		{name: "max-age", header: "Cache-Control: max-age=60", after: 59 * time.Second, cached: "hit", body: "1"},
		{name: "max-age-over", header: "Cache-Control: max-age=60", after: 61 * time.Second, body: "2", request: true},
		{name: "max-age-long", header: "Cache-Control: public, max-age=86400", after: 20 * time.Hour, cached: "hit", body: "1"},
		{name: "age", header: "Cache-Control: max-age=60|Age: 50", after: 11 * time.Second, body: "2", request: true},
		{name: "expires", header: "Expires: Thu, 01 Jan 1970 00:00:00 GMT", body: "2", request: true},
		{name: "expires-odd", header: "Expires: 0", body: "2", request: true},
		{name: "no-store", header: "Cache-Control: no-store", body: "2", request: true},
		{name: "no-cache", header: `Cache-Control: no-cache|ETag: "v"`, cached: "revalidated", body: "1", request: true},
		{name: "vary-all", header: "Vary: *", body: "2", request: true},
		{name: "etag", header: `ETag: "v"`, after: time.Hour, cached: "revalidated", body: "1", request: true},
		{name: "modified", header: "Last-Modified: Mon, 02 Jan 2006 15:04:05 GMT", after: time.Hour, cached: "revalidated", body: "1", request: true},
		{name: "reload", mode: Reload, body: "2", request: true},
		{name: "kept-no-store", header: "Cache-Control: no-store", mode: Kept, after: time.Hour, cached: "kept", body: "1"},
		{name: "stale", after: time.Hour, dead: true, cached: "stale", body: "1"},
		{name: "stale-too-old", after: 48 * time.Hour, dead: true, body: "connection"},
		{name: "must-revalidate", header: "Cache-Control: max-age=1, must-revalidate", after: time.Hour, dead: true, body: "connection"},
	} {
		t.Run(c.name, func(t *testing.T) {
			z := newZoo(t)
			n := 0
			z.on("/page", func(w http.ResponseWriter, r *http.Request) {
				for part := range strings.SplitSeq(c.header, "|") {
					if name, value, ok := strings.Cut(part, ": "); ok {
						w.Header().Set(name, value)
					}
				}
				if r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Modified-Since") != "" {
					w.WriteHeader(http.StatusNotModified)
					return
				}
				n++
				fmt.Fprint(w, n)
			})
			z.on("/", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Location", "/page"); w.WriteHeader(302) })
			keeping := func(config *Config) { config.Cache = z }
			if _, err := z.get("http://a.zoo.test/", keeping); err != nil {
				t.Fatal(err)
			}
			z.requests()
			z.now = z.now.Add(c.after)
			if c.dead {
				z.ports = map[uint16]string{}
			}
			at := "http://a.zoo.test/page"
			if c.mode == Kept {
				at = "http://a.zoo.test/" // by the way that led to it
			}
			res, err := z.client(keeping).Do(t.Context(), Request{URL: parse(t, at), Mode: c.mode})
			got := string(codeOf(err))
			if err == nil {
				got = string(res.Body)
				if res.Cached != c.cached || c.cached == "hit" && res.Age < c.after {
					t.Errorf("cached %q after %v, want %q", res.Cached, res.Age, c.cached)
				}
				if c.mode == Kept && len(res.Redirects) != 1 {
					t.Errorf("%v", res.Redirects)
				}
			}
			if list := z.requests(); got != c.body || (len(list) > 0) != c.request {
				t.Errorf("%s, %q; want %s, %t", got, list, c.body, c.request)
			}
		})
	}
}

// TestCacheApart keeps requests apart that may be answered differently, and believes no
// file that is not whole.
func TestCacheApart(t *testing.T) {
	z := newZoo(t)
	n := 0
	z.on("/", func(w http.ResponseWriter, _ *http.Request) { n++; fmt.Fprint(w, n) })
	get := func(r Request) string {
		t.Helper()
		r.URL = parse(t, "http://a.zoo.test/")
		res, err := z.client(func(c *Config) { c.Cache = z }).Do(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return string(res.Body)
	}
	mine := Request{Header: http.Header{"Authorization": {"me"}}}
	for i, c := range []struct {
		r    Request
		want string
	}{{mine, "1"}, {mine, "1"}, {Request{}, "2"}, {Request{Header: http.Header{"Authorization": {"you"}}}, "3"}, {Request{Method: "POST"}, "4"}, {Request{}, "2"}} {
		if got := get(c.r); got != c.want {
			t.Errorf("%d: %s, want %s", i, got, c.want)
		}
	}
	for key, data := range z.store {
		if bytes.Contains(data, []byte("Authorization")) {
			t.Errorf("%s holds the request's headers", key)
		}
		z.store[key] = data[:len(data)-1]
	}
	if got := get(Request{}); got != "5" {
		t.Errorf("damaged files: %s", got)
	}
	// what may be visited has changed since
	_, err := z.client(func(c *Config) { c.Cache = z }).Do(t.Context(), Request{URL: parse(t, "http://a.zoo.test/"), Mode: Kept, Visit: func(context.Context, *url.URL, *url.URL) error { return errPrivate }})
	if !errors.Is(err, errPrivate) {
		t.Errorf("kept without a visit: %v", err)
	}
}

// TestCacheReach answers nobody from the cache who could not have got the answer: the address that it came from
// is asked about again, and what a proxy got is for those who have one.
func TestCacheReach(t *testing.T) {
	z := newZoo(t)
	z.names["inside.test"] = []string{"10.0.0.1"}
	z.on("/page", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "secret") })
	z.on("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "http://inside.test/page")
		w.WriteHeader(http.StatusMovedPermanently)
	})
	keeping := func(c *Config) { c.Cache = z }
	open := func(c *Config) { c.Guard = func(context.Context, string, netip.AddrPort) error { return nil } }
	for _, scheme := range []string{"http", "https"} {
		z.names["inside.test"] = []string{"10.0.0.1"}
		if scheme == "https" { // whose certificate is for another name
			z.names["c.zoo.test"] = z.names["inside.test"]
		}
		inside := map[string]string{"http": "http://inside.test/page", "https": "https://c.zoo.test/page"}[scheme]
		if res, err := z.get(inside, keeping, open); err != nil || string(res.Body) != "secret" || res.Cached != "" {
			t.Fatalf("%+v, %v", res, err)
		}
		if res, err := z.get(inside, keeping, open); err != nil || res.Cached != "hit" {
			t.Fatalf("%+v, %v", res, err)
		}
		z.requests()
		for _, mode := range []Mode{Fresh, Reload, Kept} {
			for _, at := range []string{inside, "http://a.zoo.test/"} {
				if scheme == "https" && at != inside {
					continue
				}
				res, err := z.client(keeping).Do(t.Context(), Request{URL: parse(t, at), Mode: mode})
				if codeOf(err) != Refused {
					t.Errorf("%s, mode %d: %+v, %v", at, mode, res, err)
				}
			}
		}
		// the server is gone: what it said yesterday is for who could have asked it
		z.now = z.now.Add(time.Hour)
		gone := func(c *Config) {
			c.Connect = func(context.Context, netip.AddrPort) (net.Conn, error) { return nil, errors.New("gone") }
		}
		if res, err := z.get(inside, keeping, open, gone); err != nil || res.Cached != "stale" {
			t.Errorf("%+v, %v", res, err)
		}
		if res, err := z.get(inside, keeping, gone); codeOf(err) != Refused {
			t.Errorf("%+v, %v", res, err)
		}
		z.now = z.now.Add(-time.Hour)
		// the name leads elsewhere now, which is asked itself
		z.names["inside.test"] = []string{"93.184.215.10"}
		z.names["c.zoo.test"] = z.names["inside.test"]
		z.requests()
		if res, err := z.get(inside, keeping); err != nil || res.Cached != "" || len(z.requests()) != 1 {
			t.Errorf("%+v, %v", res, err)
		}
		z.store = map[string][]byte{}
	}
	// what a proxy got
	through := func(c *Config) {
		c.Proxy = func(*url.URL) (*url.URL, error) { return parse(t, "http://93.184.215.77:80"), nil }
	}
	if res, err := z.get("http://known.to.proxy/page", keeping, through); err != nil || string(res.Body) != "secret" {
		t.Fatalf("%+v, %v", res, err)
	}
	if res, err := z.get("http://known.to.proxy/page", keeping, through); err != nil || res.Cached != "hit" || !res.Proxied {
		t.Fatalf("%+v, %v", res, err)
	}
	if res, err := z.get("http://known.to.proxy/page", keeping); codeOf(err) != DNS {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestProxy goes through a proxy, which reaches nothing that we would not.
func TestProxy(t *testing.T) {
	z := newZoo(t)
	z.on("/plain", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "through") })
	var seen []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Method+" "+r.Host)
		if r.Method != http.MethodConnect {
			z.handle(w, r)
			return
		}
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		out, err := net.Dial("tcp", z.ports[443])
		if err != nil {
			return
		}
		defer out.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(out, conn) }()
		_, _ = io.Copy(conn, out)
	}))
	defer proxy.Close()
	z.names["inside.test"] = []string{"10.0.0.1"}
	env := map[string]string{"HTTP_PROXY": proxy.URL, "https_proxy": proxy.URL, "NO_PROXY": "b.zoo.test"}
	through := func(c *Config) {
		c.Proxy = EnvProxy(func(name string) string { return env[name] })
		connect := c.Connect
		c.Connect = func(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
			if at.String() == proxy.Listener.Addr().String() {
				return new(net.Dialer).DialContext(ctx, "tcp", at.String())
			}
			return connect(ctx, at)
		}
	}
	for _, c := range []struct {
		at, seen string
		code     Code
		proxied  bool
	}{
		{"http://a.zoo.test/plain", "GET a.zoo.test", "", true},
		{"https://a.zoo.test/plain", "CONNECT a.zoo.test:443", "", true},
		{"http://b.zoo.test/plain", "", "", false},
		{"http://unknown.test/plain", "GET unknown.test", "", true}, // which only the proxy can look up
		{"http://inside.test/plain", "", Refused, true},
		{"http://127.0.0.1/plain", "", Refused, true},
	} {
		seen = nil
		res, err := z.get(c.at, through)
		if codeOf(err) != c.code || strings.Join(seen, ",") != c.seen {
			t.Errorf("%s: %v, %q", c.at, err, seen)
		}
		if err == nil && (string(res.Body) != "through" || res.Proxied != c.proxied) {
			t.Errorf("%s: %q, proxied %t", c.at, res.Body, res.Proxied)
		}
	}
	if EnvProxy(func(string) string { return "" }) != nil {
		t.Error("a proxy out of nothing")
	}
}

// TestRobots reads robots.txt as RFC 9309 has it.
func TestRobots(t *testing.T) {
	file := "User-agent: other\nDisallow: /\n\nUser-agent: agentkit\nUser-Agent: x\nDisallow: /private\nAllow: /private/open\nDisallow: /*.pdf$\n\nUser-agent: *\nDisallow: /all\n"
	for path, want := range map[string]bool{
		"/": true, "/all": true, "/private": false, "/private/x": false, "/private/open/x": true, "/a.pdf": false, "/a.pdf?x": true, "/x": true,
	} {
		if allowed([]byte(file), "agentkit", path) != want {
			t.Errorf("%s: %t", path, !want)
		}
	}
	for c, want := range map[string]bool{"User-agent: *\nDisallow: /x": false, "User-agent: *\nDisallow:": true, "": true, "Disallow: /": true, "User-agent: *\nDisallow: /\nAllow: /": true} {
		if allowed([]byte(c), "agentkit", "/x") != want {
			t.Errorf("%q: %t", c, !want)
		}
	}
	z := newZoo(t)
	status := 200
	z.on("/robots.txt", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "User-agent: *\nDisallow: /no\n")
	})
	for _, c := range []struct {
		path   string
		status int
		want   bool
	}{{"/no", 200, false}, {"/yes", 200, true}, {"/no", 404, true}, {"/yes", 503, false}, {"/yes", 500, false}} {
		status = c.status
		got, err := z.client().Robots(t.Context(), Request{URL: parse(t, "http://a.zoo.test"+c.path)}, "agentkit")
		if err != nil || got != c.want {
			t.Errorf("%s, %d: %t, %v", c.path, c.status, got, err)
		}
	}
}

// TestRetriesUntilCancelled tells of the tries before a wait that was cancelled.
func TestRetriesUntilCancelled(t *testing.T) {
	z := newZoo(t)
	z.on("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	waits := 0
	res, err := z.get("http://a.zoo.test/", func(c *Config) {
		c.Wait = func(context.Context, time.Duration) error {
			if waits++; waits > 1 {
				return context.Canceled
			}
			return nil
		}
	})
	if err != nil || res.Status != http.StatusBadGateway || res.Retries != 1 || len(z.requests()) != 2 {
		t.Errorf("%+v, %v", res, err)
	}
}
