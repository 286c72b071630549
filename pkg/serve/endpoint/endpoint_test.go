package endpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// echo answers with the body that it got.
func echo(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }

// serve starts an endpoint; the function ends it and returns what Serve said.
func serve(t *testing.T, o Options, h http.HandlerFunc) (*Endpoint, func() error) {
	t.Helper()
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	e, err := Listen(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Serve(ctx, h) }()
	end := sync.OnceValue(func() error {
		cancel(errors.New("the end"))
		return <-done
	})
	t.Cleanup(func() { _ = end() })
	return e, end
}

// TestWhoMayCall: only who has the token, by a name that is ours, and from no page that
// is not listed, is answered; /healthz needs no token.
func TestWhoMayCall(t *testing.T) {
	e, _ := serve(t, Options{Token: "0123456789abcdef", Origins: []string{"https://good.example"}, Hosts: []string{"host.docker.internal"}}, echo)
	const good = "Bearer 0123456789abcdef"
	for _, c := range []struct {
		method, path, host, origin, token string
		want                              int
	}{
		{"POST", "/x", "", "", good, 200},
		{"POST", "/x", "", "", "bearer 0123456789abcdef", 200},
		{"POST", "/x", "", "", "", 401},
		{"POST", "/x", "", "", "Bearer 0123456789abcdeF", 401},
		{"POST", "/x", "", "", "Bearer ", 401},
		{"POST", "/x", "", "", "Basic 0123456789abcdef", 401},
		{"POST", "/x?token=0123456789abcdef", "", "", "", 401},
		{"POST", "/x", "localhost:99", "", good, 200},
		{"POST", "/x", "LocalHost.", "", good, 200},
		{"POST", "/x", "[::1]:80", "", good, 200},
		{"POST", "/x", "host.docker.internal:80", "", good, 200},
		{"POST", "/x", "evil.example", "", good, 403},
		{"POST", "/x", "127.0.0.1.evil.example:80", "", good, 403},
		{"POST", "/x", "localhost.evil.example", "", good, 403},
		{"GET", "/healthz", "evil.example", "", "", 403},
		{"POST", "/x", "", "https://good.example", good, 200},
		{"POST", "/x", "", "https://good.example", "", 401},
		{"POST", "/x", "", "https://good.example.evil", good, 403},
		{"POST", "/x", "", "http://good.example", good, 403},
		{"POST", "/x", "", "null", good, 403},
		{"OPTIONS", "/x", "", "https://good.example", "", 204},
		{"OPTIONS", "/x", "", "https://evil.example", "", 403},
		{"OPTIONS", "/x", "", "", good, 403},
		{"GET", "/healthz", "", "", "", 200},
		{"GET", "/healthz", "", "https://evil.example", "", 403},
		{"POST", "/healthz", "", "", good, 405},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, e.URL()+c.path, strings.NewReader("hello"))
		if err != nil {
			t.Fatal(err)
		}
		req.Host = c.host
		for name, value := range map[string]string{"Origin": c.origin, "Authorization": c.token} {
			if value != "" {
				req.Header.Set(name, value)
			}
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("%v: %d %s", c, resp.StatusCode, body)
		}
		if allowed := resp.Header.Get("Access-Control-Allow-Origin"); allowed != "" && allowed != "https://good.example" {
			t.Errorf("%v: a browser may read it from %s", c, allowed)
		}
		if sent := resp.Header.Get("Access-Control-Allow-Headers"); c.want == 204 && !strings.Contains(sent, "Idempotency-Key") {
			t.Errorf("%v: a page may send %s", c, sent)
		}
		var said struct {
			Error struct{ Code, Message, Hint string }
		}
		if c.want >= 400 && (json.Unmarshal(body, &said) != nil || said.Error.Code == "" || said.Error.Message == "" || said.Error.Hint == "") {
			t.Errorf("%v is refused with %s", c, body)
		}
	}
}

// TestListen: only loopback is listened on, and there is always a token, unless that is
// chosen otherwise.
func TestListen(t *testing.T) {
	for _, c := range []struct {
		o    Options
		says string // of the error; "" for none
	}{
		{Options{Addr: "127.0.0.1:0"}, ""},
		{Options{Addr: "localhost:0"}, ""},
		{Options{Addr: "0"}, ""},
		{Options{Addr: ":0"}, ""},
		{Options{Addr: "0.0.0.0:0", Insecure: true}, ""},
		{Options{Addr: "0.0.0.0:0"}, "others can reach"},
		{Options{Addr: "[::]:0"}, "others can reach"},
		{Options{Addr: ""}, "no address"},
		{Options{Addr: "127.0.0.1"}, "no address"},
		{Options{Addr: "127.0.0.1:99999"}, "no address"},
		{Options{Addr: "0", Token: "short"}, "needs 16"},
		{Options{Addr: "0", Origins: []string{"*"}}, "no origin"},
		{Options{Addr: "0", Origins: []string{"null"}}, "no origin"},
		{Options{Addr: "0", Origins: []string{"https://a.example/"}}, "no origin"},
	} {
		e, err := Listen(t.Context(), c.o)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%+v: %v", c.o, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c.o, err)
			continue
		}
		if !strings.HasPrefix(e.URL(), "http://127.0.0.1:") || e.Made == c.o.Insecure || e.Made != (len(e.Token) >= 26) {
			t.Errorf("%+v: %s, token %q", c.o, e.URL(), e.Token)
		}
		if _, err := Listen(t.Context(), Options{Addr: strings.TrimPrefix(e.URL(), "http://"), Insecure: c.o.Insecure}); err == nil {
			t.Errorf("%+v: the port is taken, and was listened on", c.o)
		}
		_ = e.listener.Close()
	}
}

// TestLimits: a body that is too long, and more requests than are served at a time, are
// refused, but for some that are urgent; a peer that has sent its request is waited for as long as its handler takes.
func TestLimits(t *testing.T) {
	held := make(chan struct{})
	isUrgent := func(r *http.Request, body []byte) bool { return r.URL.Path == "/answer" && string(body) == "y" }
	e, _ := serve(t, Options{Addr: "0", Token: "0123456789abcdef", Urgent: isUrgent}, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hold" {
			<-held
		}
	})
	call := func(path string, body io.Reader) (int, error) {
		req, err := http.NewRequestWithContext(t.Context(), "POST", e.URL()+path, body)
		if err != nil {
			return 0, err
		}
		req.Header.Set("Authorization", "Bearer "+e.Token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, err
		}
		return resp.StatusCode, resp.Body.Close()
	}
	if status, err := call("/x", io.LimitReader(endless{}, MaxBody+1)); err != nil || status != 413 {
		t.Errorf("too long a body: %d %v", status, err)
	}
	if n := len(e.long.taken); n != 0 {
		t.Errorf("%d MiB are counted when none are there", n)
	}
	answers := make(chan error, MaxCalls)
	for range MaxCalls {
		go func() {
			status, err := call("/hold", strings.NewReader("x"))
			if err == nil && status != 200 {
				err = fmt.Errorf("status %d", status)
			}
			answers <- err
		}()
	}
	until(t, func() bool { return e.served(usual) == MaxCalls })
	if status, err := call("/x", nil); err != nil || status != 429 {
		t.Errorf("one more: %d %v", status, err)
	}
	for _, c := range []struct {
		path string
		body io.Reader
		want int
	}{
		{"/x", strings.NewReader("y"), 429},
		{"/answer", strings.NewReader("n"), 429},
		{"/answer", strings.NewReader("y"), 200}, // what is served may wait for it
		{"/answer", io.LimitReader(endless{}, 1), 429},
		{"/answer", strings.NewReader(strings.Repeat("y", maxShort+1)), 429},
	} {
		if status, err := call(c.path, c.body); err != nil || status != c.want {
			t.Errorf("%s beside all that are served: %d %v", c.path, status, err)
		}
	}
	for range maxUrgent {
		e.limiter.admit(&request{limiter: e.limiter}, urgent)
	}
	if status, err := call("/answer", strings.NewReader("y")); err != nil || status != 429 {
		t.Errorf("one more that is urgent: %d %v", status, err)
	}
	close(held)
	for range MaxCalls {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
}

// until waits for something.
func until(t *testing.T, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come")
		}
	}
}

// served is how many requests of a kind have their slots.
func (e *Endpoint) served(k kind) int {
	e.limiter.mu.Lock()
	defer e.limiter.mu.Unlock()
	return len(e.limiter.served[k])
}

// dial sends the beginning of a request with the token.
func (e *Endpoint) dial(t *testing.T, path, head, body string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(e.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s\r\n%s", path, e.Token, head, body)
	return conn
}

// answers reports whether a small request is answered; one for which there is no slot yet is
// sent again.
func (e *Endpoint) answers(t *testing.T) {
	t.Helper()
	until(t, func() bool {
		conn := e.dial(t, "/x", "Connection: close\r\nContent-Length: 1\r\n", "x")
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		all, err := io.ReadAll(conn)
		if err != nil {
			t.Fatal(err)
		}
		return strings.HasPrefix(string(all), "HTTP/1.1 200 ")
	})
}

// TestSlow: peers that send their bodies byte by byte, or do not take their answers, make room
// for others, long before their time is over.
func TestSlow(t *testing.T) {
	t.Run("bodies", func(t *testing.T) {
		e, _ := serve(t, Options{Token: "0123456789abcdef"}, echo)
		first := e.dial(t, "/x", "Content-Length: 100\r\n", "x")
		until(t, func() bool {
			e.limiter.mu.Lock()
			defer e.limiter.mu.Unlock()
			for q := range e.limiter.served[usual] {
				return !q.since.IsZero()
			}
			return false
		})
		for range MaxCalls - 1 {
			e.dial(t, "/x", "Content-Length: 100\r\n", "x")
		}
		until(t, func() bool { return e.served(usual) == MaxCalls })
		e.answers(t)
		_ = first.SetDeadline(time.Now().Add(bodyTime / 2))
		if all, _ := io.ReadAll(first); !strings.HasPrefix(string(all), "HTTP/1.1 408 ") || !strings.Contains(string(all), "send all of it at once") {
			t.Errorf("the slowest is told %q", all)
		}
	})
	t.Run("answers", func(t *testing.T) {
		ended := make(chan error, MaxCalls)
		e, _ := serve(t, Options{Token: "0123456789abcdef"}, func(w http.ResponseWriter, r *http.Request) {
			for r.URL.Path == "/endless" {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					ended <- context.Cause(r.Context())
					return
				}
			}
		})
		for range MaxCalls {
			e.dial(t, "/endless", "Content-Length: 1\r\n", "x")
		}
		until(t, func() bool { return e.served(usual) == MaxCalls })
		e.answers(t)
		if cause := <-ended; !errors.Is(cause, errSlow) {
			t.Errorf("one that took nothing ended with %v", cause)
		}
	})
}

// TestWaiting: requests that only wait for news keep nobody out but others of their kind.
func TestWaiting(t *testing.T) {
	e, _ := serve(t, Options{Token: "0123456789abcdef", Waits: func(r *http.Request) bool { return r.URL.Path == "/news" }}, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/news" {
			<-r.Context().Done()
		}
	})
	for range maxWaiting {
		e.dial(t, "/news", "Content-Length: 1\r\n", "x")
	}
	until(t, func() bool { return e.served(waiting) == maxWaiting })
	if n := e.served(usual); n != 0 {
		t.Errorf("%d of them have the slots of others", n)
	}
	e.answers(t)
	one := e.dial(t, "/news", "Connection: close\r\nContent-Length: 1\r\n", "x")
	if all, _ := io.ReadAll(one); !strings.HasPrefix(string(all), "HTTP/1.1 429 ") || !strings.Contains(string(all), "now and then") {
		t.Errorf("one more is told %q", all)
	}
}

// TestConnections: connections on which nothing is asked are closed when there are too many.
func TestConnections(t *testing.T) {
	e, _ := serve(t, Options{Token: "0123456789abcdef"}, echo)
	e.limiter.mu.Lock()
	e.limiter.conns = 8
	e.limiter.mu.Unlock()
	begin := time.Now()
	var first net.Conn
	for range 16 {
		conn := e.dial(t, "/x", "Content-Length: 1\r\n", "x")
		if _, err := conn.Read(make([]byte, 1)); err != nil { // it is answered, and asks nothing more
			t.Fatal(err)
		}
		first = cmp.Or(first, conn)
	}
	e.answers(t)
	_, _ = io.ReadAll(first) // until it is closed
	if took := time.Since(begin); took > idleTime/2 {
		t.Errorf("it was closed after %s", took)
	}
}

// TestLongBodies: of long bodies there are at a time as many as one may be long; all are served,
// and short ones need not wait.
func TestLongBodies(t *testing.T) {
	var now, most atomic.Int64
	e, _ := serve(t, Options{Token: "0123456789abcdef"}, func(_ http.ResponseWriter, r *http.Request) {
		raw, err := Body(r)
		if err != nil || len(raw) <= maxShort {
			return
		}
		n := now.Add(int64(len(raw)))
		for {
			have := most.Load()
			if n <= have || most.CompareAndSwap(have, n) {
				break
			}
		}
		time.Sleep(20 * time.Millisecond) // time for others to come beside it
		now.Add(-int64(len(raw)))
	})
	const size = 24 << 20
	answers := make(chan error, 6)
	for i := range cap(answers) {
		go func() {
			body := io.LimitReader(endless{}, size)
			req, err := http.NewRequestWithContext(t.Context(), "POST", e.URL()+"/x", body)
			if err == nil {
				if i%2 == 0 {
					req.ContentLength = size // else it is sent in chunks
				}
				req.Header.Set("Authorization", "Bearer "+e.Token)
				var resp *http.Response
				if resp, err = http.DefaultClient.Do(req); err == nil {
					_ = resp.Body.Close()
					if resp.StatusCode != 200 {
						err = errors.New(resp.Status)
					}
				}
			}
			answers <- err
		}()
	}
	e.answers(t)
	for range cap(answers) {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	if n := most.Load(); n > MaxBody {
		t.Errorf("%d bytes at a time", n)
	}
	until(t, func() bool { return len(e.long.taken) == 0 })
	e.dial(t, "/x", fmt.Sprintf("Content-Length: %d\r\n", MaxBody), "x") // holds all there is
	until(t, func() bool { return len(e.long.taken) == MaxBody>>20 })
	for range maxQueued {
		e.dial(t, "/x", fmt.Sprintf("Content-Length: %d\r\n", MaxBody), "x")
	}
	until(t, func() bool { return len(e.long.queue) == maxQueued })
	one := e.dial(t, "/x", "Connection: close\r\nContent-Length: 1000000\r\n", "x")
	if all, _ := io.ReadAll(one); !strings.HasPrefix(string(all), "HTTP/1.1 429 ") || !strings.Contains(string(all), "need not wait") {
		t.Errorf("one more is told %q", all)
	}
	e.answers(t)
}

// TestAtOnce: what can be refused by its headers is, though the body never comes: a peer
// that sends none holds nothing and waits for nothing.
func TestAtOnce(t *testing.T) {
	e, _ := serve(t, Options{Token: "0123456789abcdef", Origins: []string{"https://good.example"}}, echo)
	const auth, evil = "Authorization: Bearer 0123456789abcdef\r\n", "Origin: https://evil.example\r\n"
	for _, c := range []struct {
		head string
		want string
	}{
		{auth + "Content-Length: 99999999999\r\n", "413"},
		{auth + "Content-Encoding: gzip\r\nContent-Length: 100\r\n", "415"},
		{auth + "Authorization: Bearer x\r\nContent-Length: 100\r\n", "400"},
		{"Authorization: Bearer x\r\n" + auth + "Content-Length: 100\r\n", "400"},
		{auth + "Origin: https://good.example\r\n" + evil + "Content-Length: 100\r\n", "400"},
		{auth + "Content-Type: application/json\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n", "400"},
		{auth + evil + "Content-Length: 100\r\n", "403"},
		{"Authorization: Bearer x\r\nContent-Length: 100\r\n", "401"},
		{"Authorization: Bearer x\r\nTransfer-Encoding: chunked\r\n", "401"},
		{"Transfer-Encoding: chunked\r\nContent-Length: 100\r\n", "401"},
		{"Expect: 100-continue\r\nContent-Length: 100\r\n", "401"},
	} {
		t.Run(c.want, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", strings.TrimPrefix(e.URL(), "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			_ = conn.SetDeadline(time.Now().Add(50 * time.Second)) // less than a body may take
			_, _ = fmt.Fprintf(conn, "POST /x HTTP/1.1\r\nHost: localhost\r\n%s\r\n", c.head)
			all, err := io.ReadAll(conn)
			_, said, _ := strings.Cut(string(all), "\r\n\r\n")
			if _, status, _ := strings.Cut(string(all), " "); !strings.HasPrefix(status, c.want+" ") || !strings.Contains(said, `"hint"`) || err != nil {
				t.Errorf("%q: %q %v", c.head, all, err)
			}
		})
	}
}

type endless struct{}

// Read implements io.Reader.
func (endless) Read(p []byte) (int, error) { return len(p), nil }

// TestEnd: when it ends, a handler learns why and what it answers is sent; a peer that
// goes away ends its request.
func TestEnd(t *testing.T) {
	began, left := make(chan struct{}, 2), make(chan struct{})
	e, end := serve(t, Options{Token: "0123456789abcdef"}, func(w http.ResponseWriter, r *http.Request) {
		began <- struct{}{}
		<-r.Context().Done()
		if r.URL.Path == "/left" {
			if cause := context.Cause(r.Context()); !errors.Is(cause, errGone) {
				t.Errorf("the caller has gone: %v", cause)
			}
			close(left)
		}
		_, _ = fmt.Fprint(w, context.Cause(r.Context()))
	})
	conn, err := net.Dial("tcp", strings.TrimPrefix(e.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = fmt.Fprintf(conn, "POST /left HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 1\r\n\r\nx", e.Token)
	<-began
	_ = conn.Close()
	<-left
	got := make(chan string)
	go func() {
		req, _ := http.NewRequestWithContext(t.Context(), "POST", e.URL()+"/stay", strings.NewReader("x"))
		req.Header.Set("Authorization", "Bearer "+e.Token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			got <- err.Error()
			return
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		got <- string(body)
	}()
	<-began
	go func() { _ = end() }()
	if said := <-got; said != "the end" {
		t.Errorf("the last answer is %q", said)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}
