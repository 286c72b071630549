package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
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
	urgent := func(r *http.Request, body []byte) bool { return r.URL.Path == "/answer" && string(body) == "y" }
	e, _ := serve(t, Options{Addr: "0", Token: "0123456789abcdef", Urgent: urgent}, func(_ http.ResponseWriter, r *http.Request) {
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
	if n := e.bodies.Load(); n != 0 {
		t.Errorf("%d bytes are counted when none are there", n)
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
	for end := time.Now().Add(time.Minute); len(e.slots) < MaxCalls; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d requests are served", len(e.slots))
		}
	}
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
		e.urgent <- struct{}{}
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
			_ = conn.SetDeadline(time.Now().Add(20 * time.Second)) // less than a body may take
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
