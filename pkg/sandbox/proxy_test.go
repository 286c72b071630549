package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestHosts(t *testing.T) {
	p, err := newProxy([]string{"Example.org", "*.test", "*.sub.example.net:8443", "192.0.2.7", "[2001:db8::1]:8080", "10.0.0.1:22", "every.org:*"}, nil, &reportLog{})
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]bool{
		"example.org:443": true, "example.org:80": true, "example.org:22": true, "example.org:25": false, "every.org:25": true, "www.example.org:443": false, "notexample.org:443": false,
		"a.test:443": true, "a.b.test:80": true, "test:443": false, "atest:443": false,
		"x.sub.example.net:8443": true, "x.sub.example.net:443": false,
		"192.0.2.7:443": true, "192.0.2.8:443": false, "::ffff:192.0.2.7:443": true, "2001:db8::1:8080": true, "10.0.0.1:22": true, "10.0.0.1:443": false,
	} {
		i := strings.LastIndexByte(target, ':')
		var port uint16
		if _, err := fmt.Sscan(target[i+1:], &port); err != nil {
			t.Fatal(err)
		}
		if got, _ := p.allows(target[:i], port); got != want {
			t.Errorf("%s: %v", target, got)
		}
	}
	p, err = newProxy([]string{"*.test", "named.bad.test"}, []string{"*.bad.test", "odd.test:443", "named.bad.test"}, &reportLog{})
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]bool{"a.test": true, "a.bad.test": false, "bad.test": true, "odd.test": false, "named.bad.test": true} {
		if got, _ := p.allows(host, 443); got != want {
			t.Errorf("with what is refused, %s: %v", host, got)
		}
	}
	all, err := newProxy([]string{"*"}, []string{"evil.test"}, &reportLog{})
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]bool{"a.test": true, "test": true, "evil.test": false, "192.0.2.7": false} {
		if got, _ := all.allows(host, 443); got != want {
			t.Errorf("with every name, %s: %v", host, got)
		}
	}
	if ok, _ := p.allows("odd.test", 80); !ok {
		t.Error("a refused port is that of another")
	}
	for _, bad := range []string{"", "a b", "*.", "ex*mple.org", "host:0", "host:70000", "0x7f.1", "127.1", "2130706433", "a\x00.test", "a..b", "①.test", "host:x"} {
		if r, err := parseHost(bad); err == nil {
			t.Errorf("%q is read as %+v", bad, r)
		}
	}
}

func TestPublic(t *testing.T) {
	for addr, want := range map[string]bool{
		"93.184.216.34": true, "2606:2800:220:1::1": true, "127.0.0.1": false, "::1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false,
		"169.254.169.254": false, "100.64.0.1": false, "0.0.0.0": false, "::": false, "::ffff:127.0.0.1": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false,
		"fe80::1": false, "fd00::1": false, "fec0::1": false, "224.0.0.1": false, "255.255.255.255": false, "198.18.0.1": false, "::127.0.0.1": false, "2001::1": false,
	} {
		if got := public(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %v", addr, got)
		}
		if err := (&proxy{log: &reportLog{}}).publicOnly("", netip.AddrPortFrom(netip.MustParseAddr(addr), 80).String(), nil); (err == nil) != want {
			t.Errorf("connecting to %s: %v", addr, err)
		}
	}
}

// startProxy starts a proxy to hosts, which names are all found at server.
func startProxy(t *testing.T, server string, hosts ...string) (at string) {
	t.Helper()
	p, err := newProxy(hosts, nil, &reportLog{})
	if err != nil {
		t.Fatal(err)
	}
	p.dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go p.serve(l)
	return l.Addr().String()
}

func TestProxy(t *testing.T) {
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %q proxy=%q", r.Method, r.Host, r.URL.Path, body, r.Header.Get("Proxy-Authorization"))
	})
	plain, secure := httptest.NewServer(answer), httptest.NewTLSServer(answer)
	defer plain.Close()
	defer secure.Close()
	for _, server := range []*httptest.Server{plain, secure} {
		at := startProxy(t, server.Listener.Addr().String(), "*.test")
		client := server.Client()
		transport := client.Transport.(*http.Transport).Clone()
		transport.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: at, User: url.UserPassword("a", "b")})
		transport.TLSClientConfig = transport.TLSClientConfig.Clone()
		if transport.TLSClientConfig != nil {
			transport.TLSClientConfig.ServerName = "example.com"
		}
		client.Transport = transport
		scheme, _, _ := strings.Cut(server.URL, ":")
		for range 3 {
			resp, err := client.Post(scheme+"://a.test/x", "text/plain", strings.NewReader("body"))
			if err != nil {
				t.Fatal(err)
			}
			got, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if want := `POST a.test /x "body" proxy=""`; string(got) != want {
				t.Errorf("%s: %s, want %s", scheme, got, want)
			}
		}
		resp, err := client.Get(scheme + "://other.example/")
		if scheme == "https" {
			if err == nil || !strings.Contains(err.Error(), "Forbidden") {
				t.Errorf("https: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := io.ReadAll(resp.Body); resp.StatusCode != 403 || !strings.Contains(string(got), "policy") {
			t.Errorf("%s: %d %s", scheme, resp.StatusCode, got)
		}
		_ = resp.Body.Close()
	}
}

// TestProxyRefuses sends what is no request that may pass.
func TestProxyRefuses(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	at := startProxy(t, plain.Listener.Addr().String(), "a.test")
	for _, request := range []string{
		"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
		"GET ftp://a.test/ HTTP/1.1\r\n\r\n",
		"GET http://user@a.test/ HTTP/1.1\r\n\r\n",
		"GET http://a.test%00.evil/ HTTP/1.1\r\n\r\n",
		"CONNECT a.test HTTP/1.1\r\n\r\n",
		"CONNECT a.test:25 HTTP/1.1\r\n\r\n",
		"CONNECT 127.0.0.1:443 HTTP/1.1\r\n\r\n",
		"CONNECT 0x7f.1:443 HTTP/1.1\r\n\r\n",
		"CONNECT a.test.evil:443 HTTP/1.1\r\n\r\n",
		"CONNECT a.test\x00.evil:443 HTTP/1.1\r\n\r\n",
		"nonsense\r\n\r\n",
		"GET http://a.test/ HTTP/1.1\r\nX: " + strings.Repeat("x", maxHead) + "\r\n\r\n",
	} {
		c, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = io.WriteString(c, request) }()
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || resp.StatusCode != 400 && resp.StatusCode != 403 {
			t.Errorf("%.40q: %v %v", request, resp, err)
		}
		if err == nil {
			_ = resp.Body.Close()
		}
		_ = c.Close()
	}
}

func FuzzHostName(f *testing.F) {
	for _, s := range []string{"example.org", "0x7f.1", "a..b", "EXAMPLE.org.", "127.0.0.1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, err := hostName(s)
		if err != nil {
			return
		}
		if again, err := hostName(name); err != nil || again != name {
			t.Errorf("%q becomes %q, which becomes %q, %v", s, name, again, err)
		}
		if _, err := netip.ParseAddr(name); err == nil {
			t.Errorf("%q is an address", name)
		}
	})
}

// TestPrivate: a name that leads to an address that is not public is refused when it
// is connected to, whatever it led to before; naming the address itself allows it.
func TestPrivate(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "private") }))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for rule, want := range map[string]bool{"": false, "127.0.0.1:" + port: true, "127.0.0.1:1": false} {
		log := &reportLog{memory: true}
		p, err := newProxy(slices.DeleteFunc([]string{"localhost:" + port, rule}, func(s string) bool { return s == "" }), nil, log)
		if err != nil {
			t.Fatal(err)
		}
		c, status, err := p.open("localhost:" + port)
		if (err == nil) != want || !want && status != 403 {
			t.Errorf("with %q: %d %v", rule, status, err)
		}
		if err == nil {
			_ = c.Close()
			continue
		}
		denials := log.report().Denials
		if len(denials) == 0 || !slices.ContainsFunc(denials, func(d Denial) bool { return d.Allow == "net(127.0.0.1:"+port+")" }) {
			t.Errorf("with %q: %+v", rule, denials)
		}
	}
}

// TestDeniedAddress: an address that the policy denies is not connected to by a name that it allows.
func TestDeniedAddress(t *testing.T) {
	p, err := newProxy([]string{"good.test", "93.184.216.36"}, []string{"93.184.216.34", "198.41.*", "8.8.8.8:443", "93.184.216.36"}, &reportLog{})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]bool{
		"93.184.216.34:80": false, "[::ffff:93.184.216.34]:80": false, "93.184.216.35:80": true, "198.41.7.9:443": false, "198.42.7.9:443": true, "8.8.8.8:443": false, "8.8.8.8:80": true,
		"93.184.216.36:443": true, // somebody who was asked has opened it
	} {
		if err := p.publicOnly("tcp", address, nil); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
}
