package fetch

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// An animal is one behaviour of a server, and what has to come of it.
type animal struct {
	name   string
	serve  http.HandlerFunc
	change func(*Request)
	config func(*Config)
	https  bool

	code       Code   // of the error; "" for an answer
	phase      string // of the error
	body       string // the answer's body
	part       string // the beginning of it
	status     int    // 0 for 200
	truncated  bool
	incomplete string // a word of the reason
	requests   int    // that the server saw; 0 for 1
}

// raw answers with these bytes and closes the connection.
func raw(answer string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, buf, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		_, _ = buf.WriteString(answer)
		_ = buf.Flush()
	}
}

// endless answers with a beginning, and then with the same again and again until the
// other side has had enough, or 64 MiB went out.
func endless(begin, again string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, begin); err != nil {
			return
		}
		block := []byte(strings.Repeat(again, max(1, 32<<10/len(again))))
		for sent := 0; sent < 64<<20; sent += len(block) {
			if _, err := conn.Write(block); err != nil {
				return
			}
		}
	}
}

// coded answers with a body that is coded so.
func codedBody(coding string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", coding)
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write(body)
	}
}

// pack codes a body.
func pack(coding string, body []byte) []byte {
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "br":
		w = brotli.NewWriterLevel(&b, 1)
	case "zstd":
		w, _ = zstd.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "raw deflate":
		w, _ = flate.NewWriter(&b, 1)
	}
	_, _ = w.Write(body)
	_ = w.Close()
	return b.Bytes()
}

// silence waits until the other side gives up.
func silence(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-time.After(5 * time.Second):
	}
}

// flushed writes text that leaves at once.
func flushed(w http.ResponseWriter, text string) {
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
}

// hurry and short are for servers that never answer, and that never go on: all other
// limits are wide, for this machine may be slow.
func hurry(c *Config) { c.Limits.Headers = 100 * time.Millisecond }
func short(c *Config) { c.Limits.Idle = 100 * time.Millisecond }

// bodies are the animals that answer badly.
func bodies() []animal {
	hello := []byte("hello, hello, hello")
	zeros := make([]byte, 8<<20)
	small := func(r *Request) { r.MaxBytes = 64 << 10 }
	return []animal{
		{name: "gzip", serve: codedBody("gzip", pack("gzip", hello)), body: string(hello)},
		{name: "x-gzip", serve: codedBody("x-gzip", pack("gzip", hello)), body: string(hello)},
		{name: "brotli", serve: codedBody("br", pack("br", hello)), body: string(hello)},
		{name: "zstd", serve: codedBody("zstd", pack("zstd", hello)), body: string(hello)},
		{name: "deflate", serve: codedBody("deflate", pack("deflate", hello)), body: string(hello)},
		{name: "deflate-raw", serve: codedBody("deflate", pack("raw deflate", hello)), body: string(hello)},
		{name: "gzip-h2", https: true, serve: codedBody("gzip", pack("gzip", hello)), body: string(hello)},
		{name: "gzip-of-none", serve: codedBody("gzip", hello), body: string(hello)},
		{name: "gzip-empty", serve: codedBody("gzip", nil), body: ""},
		{name: "identity", serve: codedBody("identity", hello), body: string(hello)},
		{name: "coded-twice", serve: codedBody("gzip, gzip", pack("gzip", pack("gzip", hello))), code: Decode},
		{name: "coding-unknown", serve: codedBody("rot13", hello), code: Decode},
		{name: "gzip-cut", serve: codedBody("gzip", pack("gzip", []byte(strings.Repeat("words and ", 5000)))[:150]), part: "words and ", incomplete: "ends early"},
		{name: "gzip-broken", serve: codedBody("gzip", []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\xff\xff")), code: Decode},
		{name: "bomb-gzip", serve: codedBody("gzip", pack("gzip", zeros)), change: small, truncated: true, part: "\x00"},
		{name: "bomb-br", serve: codedBody("br", pack("br", zeros)), change: small, truncated: true, part: "\x00"},
		{name: "bomb-zstd", serve: codedBody("zstd", pack("zstd", zeros)), change: small, truncated: true, part: "\x00"},
		// a frame that wants a window of 1 GiB
		{name: "zstd-window", serve: codedBody("zstd", []byte("\x28\xb5\x2f\xfd\x00\xa0\x01\x00\x00")), code: Decode},
		{name: "endless-body", serve: endless("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n", "line\n"), truncated: true, part: "line\n"},
		{name: "length-huge", serve: raw("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\nshort"), part: "short", incomplete: "closed"},
		{name: "length-short", serve: raw("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfour and more"), body: "four"},
		{name: "exactly", serve: codedBody("", []byte("12345")), change: func(r *Request) { r.MaxBytes = 5 }, body: "12345"},
		{name: "one-more", serve: codedBody("", []byte("123456")), change: func(r *Request) { r.MaxBytes = 5 }, part: "12345", truncated: true},
		{name: "stalled-body", serve: func(w http.ResponseWriter, r *http.Request) { flushed(w, "first words"); silence(r) }, config: short, part: "first words", incomplete: "nothing more"},
		{name: "stalled-body-h2", https: true, serve: func(w http.ResponseWriter, r *http.Request) { flushed(w, "first words"); silence(r) }, config: short, part: "first words", incomplete: "nothing more"},
		{name: "stalled-at-once", serve: func(w http.ResponseWriter, r *http.Request) { flushed(w, ""); silence(r) }, config: short, code: Timeout, phase: "body"},
		{name: "stalled-in-coding", serve: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			flushed(w, "\x1f\x8b\x08\x00")
			silence(r)
		}, config: short, code: Timeout, phase: "body"},
		{name: "dripping", serve: func(w http.ResponseWriter, r *http.Request) {
			for range 300 {
				flushed(w, "drop ")
				time.Sleep(10 * time.Millisecond)
				if r.Context().Err() != nil {
					return
				}
			}
		}, change: func(r *Request) { r.Timeout = time.Second }, part: "drop ", incomplete: "time limit"},
		{name: "chunks-broken", serve: raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n"), part: "hello", incomplete: "answer"},
		{name: "chunks-cut", serve: raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n9\r\nwor"), part: "hello", incomplete: "closed"},
		{name: "trailers-endless", serve: endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", "X-T: y\r\n"), part: "hello", incomplete: "trailer"},
		{name: "empty", serve: func(http.ResponseWriter, *http.Request) {}, body: ""},
		{name: "no-content", serve: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, status: 204},
		{name: "not-found", serve: func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "gone away", http.StatusNotFound) }, status: 404, body: "gone away\n"},
		{name: "status-odd", serve: raw("HTTP/1.1 799 Odd\r\nContent-Length: 2\r\n\r\nok"), status: 799, body: "ok"},
	}
}

// heads are the animals that answer worse: not at all, or with no HTTP.
func heads() []animal {
	return []animal{
		{name: "silent", serve: func(_ http.ResponseWriter, r *http.Request) { silence(r) }, config: hurry, code: Timeout, phase: "headers"},
		{name: "silent-h2", https: true, serve: func(_ http.ResponseWriter, r *http.Request) { silence(r) }, config: hurry, code: Timeout, phase: "headers"},
		{name: "silent-longer", serve: func(_ http.ResponseWriter, r *http.Request) { silence(r) }, change: func(r *Request) { r.Timeout = 50 * time.Millisecond }, code: Timeout, phase: "total"},
		{name: "headers-endless", serve: endless("HTTP/1.1 200 OK\r\n", "X-H: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n"), code: Protocol},
		{name: "header-long", serve: endless("HTTP/1.1 200 OK\r\nX-H: ", "aaaaaaaa"), code: Protocol},
		{name: "interim-endless", serve: endless("", "HTTP/1.1 100 Continue\r\n\r\n"), code: Protocol},
		{name: "interim", serve: raw("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), body: "ok"},
		{name: "malformed", serve: raw("hello, who is there?\r\n\r\n"), code: Protocol},
		{name: "closed", serve: raw(""), code: Connection, requests: 3},
		{name: "http-09", serve: raw("<html>just a page"), code: Protocol},
	}
}

// liars are the animals that say something else of their answer than it is.
func liars() []animal {
	hello := []byte("hello, hello, hello")
	gzip, zip := pack("gzip", hello), pack("zstd", hello)
	skipped := "\x50\x2a\x4d\x18\x04\x00\x00\x00skip" // a frame that decoders pass over
	twice := func(first, then http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.RawQuery == "" {
				first(w, r)
				return
			}
			then(w, r)
		}
	}
	there := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "there") }
	return []animal{
		{name: "gzip-twice-behind-each-other", serve: codedBody("gzip", append(slices.Clip(gzip), gzip...)), body: string(hello) + string(hello)},
		{name: "gzip-and-more", serve: codedBody("gzip", append(slices.Clip(gzip), "<!-- cached -->"...)), part: string(hello), incomplete: "damaged"},
		{name: "gzip-of-nothing", serve: codedBody("gzip", bytes.Repeat(pack("gzip", nil), 100_000)), body: ""},
		{name: "zstd-frames", serve: codedBody("zstd", []byte(skipped+string(zip)+skipped+string(zip))), body: string(hello) + string(hello)},
		{name: "zstd-skips", serve: codedBody("zstd", bytes.Repeat([]byte(skipped), 300_000)), body: ""},
		{name: "zstd-cut", serve: codedBody("zstd", pack("zstd", []byte(strings.Repeat("words and ", 50_000)))[:40]), part: "words and ", incomplete: "ends early"},
		{name: "br-cut", serve: codedBody("br", pack("br", []byte(strings.Repeat("words and ", 5000)))[:12]), code: Decode},
		{name: "lengths-differ", serve: raw("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nhello"), code: Protocol},
		{name: "length-negative", serve: raw("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello"), code: Protocol},
		{name: "length-of-words", serve: raw("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nhello"), code: Protocol},
		{name: "length-and-chunks", serve: raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), body: "hello"},
		{name: "transfer-unknown", serve: raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), code: Protocol},
		{name: "header-without-name", serve: raw("HTTP/1.1 200 OK\r\n: x\r\n\r\nhello"), code: Protocol},
		{name: "header-with-space", serve: raw("HTTP/1.1 200 OK\r\nX-A : b\r\n\r\nhello"), body: "hello"},
		{name: "headers-cut", serve: raw("HTTP/1.1 200 OK\r\nContent-Type: text/pl"), code: Connection, requests: 3},
		{name: "status-short", serve: raw("HTTP/1.1 20 OK\r\n\r\nhello"), code: Protocol},
		{name: "version-none", serve: raw("HTTP/x.1 200 OK\r\n\r\nhello"), code: Protocol},
		{name: "switching", serve: raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nsecrets"), code: Protocol},
		{name: "not-modified", serve: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) }, status: 304},
		{name: "aborted", serve: func(w http.ResponseWriter, _ *http.Request) { flushed(w, "first words"); panic(http.ErrAbortHandler) }, part: "first words", incomplete: "closed"},
		{name: "aborted-h2", https: true, serve: func(w http.ResponseWriter, _ *http.Request) { flushed(w, "first words"); panic(http.ErrAbortHandler) }, part: "first words", incomplete: "stream error"},
		{name: "aborted-at-once-h2", https: true, serve: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, code: Connection, requests: 3},
		{name: "redirect-stalled", serve: twice(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "?there")
			w.WriteHeader(http.StatusFound)
			flushed(w, "")
			silence(r)
		}, there), body: "there", requests: 2},
		{name: "redirect-endless", serve: twice(endless("HTTP/1.1 301 Moved Permanently\r\nLocation: ?there\r\n\r\n", "moved "), there), body: "there", requests: 2},
		{name: "redirect-coded-badly", serve: twice(raw("HTTP/1.1 302 Found\r\nLocation: ?there\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8bxx"), there), body: "there", requests: 2},
	}
}

// walls are the animals that do not like robots.
func walls() []animal {
	page := func(status int, header, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			name, value, _ := strings.Cut(header, ": ")
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set(name, value)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	always := func(answer func(http.ResponseWriter)) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { answer(w) }
	}
	robots := func(answer func(http.ResponseWriter)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.UserAgent(), "Browser") {
				_, _ = io.WriteString(w, "come in")
				return
			}
			answer(w)
		}
	}
	asBrowser := func(r *Request) { r.Browser = "Browser/1" }
	just := "<title>Just a moment...</title>"
	return []animal{
		{name: "wall-for-robots", serve: robots(page(403, "Cf-Mitigated: challenge", just)), change: asBrowser, body: "come in", requests: 2},
		{name: "wall-without-browser", serve: robots(page(403, "Cf-Mitigated: challenge", just)), status: 403, body: just},
		{name: "wall-for-all", serve: always(page(403, "Cf-Mitigated: challenge", just)), change: asBrowser, status: 403, body: just, requests: 2},
		{name: "forbidden-to-robots", serve: robots(page(403, "X: y", "no")), change: asBrowser, body: "come in", requests: 2},
		{name: "forbidden", serve: always(page(403, "X: y", "no")), change: asBrowser, status: 403, body: "no", requests: 2},
		{name: "wall-503", serve: always(page(503, "Server: cloudflare", just)), change: asBrowser, status: 503, body: just, requests: 2},
	}
}

// retried are the animals that want to be asked again.
func retried() []animal {
	busy := func(status int, after string, times int) http.HandlerFunc {
		var asked int
		return func(w http.ResponseWriter, _ *http.Request) {
			if asked++; asked > times {
				_, _ = io.WriteString(w, "now")
				return
			}
			if after != "" {
				w.Header().Set("Retry-After", after)
			}
			http.Error(w, "busy", status)
		}
	}
	post := func(r *Request) { r.Method, r.Body = http.MethodPost, []byte("x") }
	return []animal{
		{name: "429-1s", serve: busy(429, "1", 1), body: "now", requests: 2},
		{name: "429-date", serve: busy(429, time.Now().Add(2*time.Second).UTC().Format(http.TimeFormat), 2), body: "now", requests: 3},
		{name: "429-too-long", serve: busy(429, "3600", 1), status: 429, body: "busy\n"},
		{name: "429-post", serve: busy(429, "1", 1), change: post, body: "now", requests: 2},
		{name: "503-twice", serve: busy(503, "", 2), body: "now", requests: 3},
		{name: "503-always", serve: busy(503, "0", 99), status: 503, body: "busy\n", requests: 3},
		{name: "502", serve: busy(502, "", 1), body: "now", requests: 2},
		{name: "502-post", serve: busy(502, "", 1), change: post, status: 502, body: "busy\n"},
		{name: "500", serve: busy(500, "", 1), status: 500, body: "busy\n"},
	}
}

// TestZoo meets every animal.
func TestZoo(t *testing.T) {
	z := newZoo(t)
	all := slices.Concat(bodies(), heads(), liars(), walls(), retried())
	if len(all) < 84 {
		t.Errorf("only %d animals", len(all))
	}
	for _, a := range all {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			z.meet(t, a)
		})
	}
}

func (z *zoo) meet(t *testing.T, a animal) {
	path, seen := "/"+a.name, 0
	z.on(path, func(w http.ResponseWriter, r *http.Request) {
		z.mu.Lock()
		seen++
		z.mu.Unlock()
		a.serve(w, r)
	})
	r := Request{URL: parse(t, map[bool]string{true: "https", false: "http"}[a.https]+"://a.zoo.test"+path)}
	if a.change != nil {
		a.change(&r)
	}
	config := func(c *Config) {
		if a.config != nil {
			a.config(c)
		}
	}
	begun := time.Now()
	res, err := z.client(config).Do(t.Context(), r)
	if took := time.Since(begun); took > 25*time.Second {
		t.Errorf("it took %v", took)
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	if want := max(1, a.requests); seen != want {
		t.Errorf("the server saw %d requests, want %d", seen, want)
	}
	if a.code != "" {
		e, _ := err.(*Error) //nolint:errorlint // Do promises an *Error
		if e == nil || e.Code != a.code || e.Phase != a.phase {
			t.Fatalf("%.40q, %v; want %s %s", bodyOf(res), err, a.code, a.phase)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	body := string(res.Body)
	if want := max(a.status, 200); res.Status != want && !(a.status == 0 && res.Status == 200) {
		t.Errorf("status %d, want %d", res.Status, want)
	}
	if a.part != "" && !strings.HasPrefix(body, a.part) || a.part == "" && body != a.body {
		t.Errorf("body %.60q, want %q", body, a.body+a.part)
	}
	if res.Truncated != a.truncated || (a.incomplete == "") != (res.Incomplete == "") || !strings.Contains(res.Incomplete, a.incomplete) {
		t.Errorf("truncated %t, incomplete %q; want %t, %q", res.Truncated, res.Incomplete, a.truncated, a.incomplete)
	}
	if int64(len(res.Body)) > r.MaxBytes && r.MaxBytes > 0 {
		t.Errorf("%d bytes, more than %d", len(res.Body), r.MaxBytes)
	}
}

// TestZooMemory has a gigabyte of zeros come in a megabyte.
func TestZooMemory(t *testing.T) {
	z := newZoo(t)
	z.on("/bomb", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		zip, _ := gzip.NewWriterLevel(w, 1)
		block := make([]byte, 1<<20)
		for range 1 << 10 {
			if _, err := zip.Write(block); err != nil || r.Context().Err() != nil {
				return
			}
		}
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res, err := z.get("http://a.zoo.test/bomb")
	runtime.ReadMemStats(&after)
	if err != nil || !res.Truncated || len(res.Body) != DefaultMaxBytes {
		t.Fatalf("%v, %d bytes", err, len(res.Body))
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
		t.Errorf("%d MiB were allocated", n>>20)
	}
}

// TestWalls names whose wall it is, and takes no article about one for it.
func TestWalls(t *testing.T) {
	answer := func(status int, header, body string) *Response {
		name, value, _ := strings.Cut(header, ": ")
		return &Response{Status: status, Header: http.Header{"Content-Type": {"text/html"}, name: {value}}, Body: []byte(body)}
	}
	for i, c := range []struct {
		r    *Response
		want string
	}{
		{answer(403, "Cf-Mitigated: challenge", ""), "Cloudflare"},
		{answer(503, "X: y", "<title>Just a moment...</title>"), "Cloudflare"},
		{answer(429, "X-Vercel-Mitigated: challenge", ""), "Vercel"},
		{answer(202, "X-Amzn-Waf-Action: challenge", ""), "AWS WAF"},
		{answer(405, "X: y", "<script src=x.awswafintegration.js>"), "AWS WAF"},
		{answer(403, "X: y", "<script>var dd={'host':'geo.captcha-delivery.com'}</script>"), "DataDome"},
		{answer(403, "X: y", "<iframe src='/_Incapsula_Resource?x'>"), "Imperva"},
		{answer(403, "X: y", "<div id='px-captcha'>"), "HUMAN"},
		{answer(200, "X: y", "<h1>Making sure you&#39;re not a bot!</h1>"), "Anubis"},
		{answer(200, "X: y", "<p>How px-captcha and /cdn-cgi/challenge-platform/ work"), ""},
		{answer(403, "X: y", "<h1>Not for you</h1>"), ""},
		{answer(404, "X: y", "<title>Just a moment...</title>"), ""},
		{&Response{Status: 503, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`"g-recaptcha"`)}, ""},
	} {
		if got := Challenge(c.r); got != c.want {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Now()
	for text, want := range map[string]time.Duration{"3": 3 * time.Second, now.Add(time.Hour).UTC().Format(http.TimeFormat): time.Hour, "-1": -1, "soon": -1, "": -1, "99999999999999999999": -1} {
		got, ok := RetryAfter(http.Header{"Retry-After": {text}}, now)
		if ok != (want >= 0) || ok && (got-want).Abs() > 2*time.Second {
			t.Errorf("%q: %v, %t", text, got, ok)
		}
	}
	if text := StatusText(418); text != "418 I'm a teapot" || StatusText(799) != strconv.Itoa(799) {
		t.Error(fmt.Sprint(text))
	}
}
