package web

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/fetch"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/truncate"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// An internet is one in which every name has the addresses that a test gives it, and
// whoever connects to a public address meets one server. What was connected to is noted.
type internet struct {
	env    *tool.Env
	server *httptest.Server
	names  map[string][]string

	mu     sync.Mutex
	dialed []netip.AddrPort
	asked  []string
}

// publicAddress is that of names which a test does not know.
const publicAddress = "93.184.215.14"

// newInternet begins with the policy of a workspace, and these rules. Its server sends
// those on who ask for /to?ADDRESS.
func newInternet(t *testing.T, rules ...string) *internet {
	t.Helper()
	dir := t.TempDir()
	root, state := filepath.Join(dir, "root"), filepath.Join(dir, "state")
	for _, d := range []string{root, state} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p, err := policy.Load(&policy.Sources{Root: root, State: state, Home: dir, Allow: rules})
	if err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(root, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(session.Options{State: state, Root: root, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	i := &internet{names: map[string][]string{}}
	i.env = &tool.Env{
		Workspace: w, Policy: p, Session: s, History: change.Open(w, s, change.Options{NoSync: true}), Now: time.Now,
		Getenv: func(string) string { return "" }, Limits: truncate.Limits{Lines: 2000, Bytes: 51_200},
	}
	i.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		i.asked = append(i.asked, r.Host+r.URL.Path)
		i.mu.Unlock()
		switch r.URL.Path {
		case "/to":
			w.Header().Set("Location", r.URL.RawQuery)
			w.WriteHeader(http.StatusFound)
		case "/pdf", "/gif":
			http.ServeFile(w, r, map[string]string{"/pdf": "../../pdftext/testdata/plain.pdf"}[r.URL.Path])
		default:
			_, _ = io.WriteString(w, "the server")
		}
	}))
	t.Cleanup(func() { i.server.Close(); _ = s.Close() })
	return i
}

// seam has a client reach this internet and no other.
func (i *internet) seam(c *fetch.Config) {
	c.Cache = nil
	c.Resolve = func(_ context.Context, host string) ([]netip.Addr, error) {
		i.mu.Lock()
		defer i.mu.Unlock()
		list := i.names[host]
		if list == nil {
			if a, ok := localNames()[host]; ok {
				list = []string{a}
			} else {
				list = []string{publicAddress}
			}
		}
		if len(list) > 1 && list[0] == "turn" { // another one each time
			i.names[host] = []string{"turn", list[2], list[1]}
			list = list[1:2]
		}
		var addrs []netip.Addr
		for _, a := range list {
			addrs = append(addrs, netip.MustParseAddr(a))
		}
		return addrs, nil
	}
	c.Connect = func(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
		i.mu.Lock()
		i.dialed = append(i.dialed, at)
		i.mu.Unlock()
		return new(net.Dialer).DialContext(ctx, "tcp", i.server.Listener.Addr().String())
	}
}

// localNames are what machines call themselves.
func localNames() map[string]string {
	return map[string]string{"localhost": "127.0.0.1", "ip6-localhost": "::1", "localhost.localdomain": "127.0.0.1"}
}

// fetch makes a call as tool.Do does, where the policy allows it.
func (i *internet) fetch(t *testing.T, address string, headers map[string]string) (*tool.Result, error) {
	t.Helper()
	call := Fetch.New().(*fetchCall)
	call.URL, call.Headers, call.seam = address, headers, i.seam
	needs, err := call.Needs(t.Context(), i.env)
	if err != nil {
		return nil, err
	}
	if out := i.env.Policy.DecideAll(needs); out.Verdict != policy.Allow {
		return nil, fmt.Errorf("the policy says %s", out.Verdict)
	}
	return call.Run(t.Context(), i.env)
}

// strangers are the connections that were made to what is not public.
func (i *internet) strangers() (list []netip.AddrPort) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, at := range i.dialed {
		if policy.Address(at.Addr()) != policy.AtPublic {
			list = append(list, at)
		}
	}
	return list
}

// insiders are hosts that nobody may reach from outside, however they are spelled.
func insiders() []string {
	return strings.Fields(`
		127.0.0.1 127.1 127.0.1 127.000.000.001 0177.0.0.1 0x7f.0.0.1 0x7f000001 2130706433 017700000001 127.0.0.1. 127.255.255.254
		0 0.0.0.0 0x0 localhost LOCALHOST localhost. foo.localhost localhost.localdomain ip6-localhost
		[::1] [0:0:0:0:0:0:0:1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [::ffff:0:127.0.0.1] [64:ff9b::7f00:1] [64:ff9b:1::7f00:1] [2002:7f00:1::] [2001:0:7f00:1::] [2606:4700::5efe:7f00:1] [2606:4700::200:5efe:7f00:1] [5f00::1] [::1%25lo]
		①②⑦.⓪.⓪.① 127。0。0。1 １２７.0.0.1 127.0.0.1%2523
		10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 100.64.0.1 100.127.255.255 169.254.1.1 192.0.0.1 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255
		[fe80::1] [fe80::1%25eth0] [fc00::1] [fd12:3456::1] [fec0::1] [ff02::1] [2001:db8::1] [100::1] [3fff::1] [64:ff9b::a00:1] [::ffff:10.0.0.1] [2002:a00:1::]
		169.254.169.254 2852039166 0xa9fea9fe [::ffff:169.254.169.254] [64:ff9b::a9fe:a9fe] [fd00:ec2::254] 100.100.100.200 192.0.0.192 168.63.129.16 169.254.170.2 metadata.google.internal metadata instance-data
		intranet printer.local x.internal host.docker.internal nas.lan router.home.arpa gateway.intranet kubernetes.default.svc`)
}

// TestInsiders asks for every one of them in five ways; none is reached.
func TestInsiders(t *testing.T) {
	i := newInternet(t)
	tried := 0
	for _, host := range insiders() {
		for _, address := range []string{"http://" + host + "/", "https://" + host + "/", "http://" + host + ":8080/x", "http://public.example/to?http://" + host + "/", "https://public.example/to?//" + host + ":443/"} {
			tried++
			if res, err := i.fetch(t, address, nil); err == nil {
				t.Errorf("%s: %+v", address, res)
			}
		}
	}
	for _, at := range []string{"127.0.0.1", "::1", "10.0.0.1", "169.254.169.254", "fd00:ec2::254", "192.168.1.1", "::ffff:127.0.0.1", "64:ff9b::a00:1", "0.0.0.0", "100.64.0.1", "fe80::1", "fc00::1"} {
		for _, list := range [][]string{{at}, {publicAddress, at}, {at, publicAddress}} {
			i.names["led.example"] = list
			for _, address := range []string{"http://led.example/", "http://led.example:8080/", "http://public.example/to?http://led.example/"} {
				tried++
				if res, err := i.fetch(t, address, nil); err == nil {
					t.Errorf("%s at %s: %+v", address, list, res)
				}
			}
		}
	}
	if list := i.strangers(); list != nil {
		t.Errorf("reached: %v", list)
	}
	if tried < 400 {
		t.Errorf("only %d addresses were tried", tried)
	}
}

// TestTurning has a name lead somewhere else each time it is looked up.
func TestTurning(t *testing.T) {
	i := newInternet(t)
	i.names["turning.example"] = []string{"turn", publicAddress, "127.0.0.1"}
	came := 0
	for range 10 {
		if _, err := i.fetch(t, "http://turning.example/", nil); err == nil {
			came++
		}
	}
	if list := i.strangers(); list != nil || came != 5 {
		t.Errorf("reached: %v; %d came", list, came)
	}
}

// TestPublic refuses nobody who is public.
func TestPublic(t *testing.T) {
	i := newInternet(t)
	i.names["six.example"] = []string{"2606:2800:21f:cb07::1"}
	i.names["nat.example"] = []string{"64:ff9b::5db8:d70e"} // a network without IPv4
	for host := range strings.FieldsSeq(`
		example.org EXAMPLE.org example.org. a.b.c.d.example.co.uk xn--bcher-kva.example bücher.example 例え.jp _dmarc.example.org x--y.example 1.1.1.1 8.8.8.8 9.9.9.9.
		[2606:4700:4700::1111] [2001:4860:4860::8888] six.example nat.example localhost.example.org 127.0.0.1.nip.example metadata.example.org internal.example local.example 10.example.org
		100.63.255.255 100.128.0.1 172.15.0.1 172.32.0.1 192.167.0.1 198.17.0.1 198.20.0.1 11.0.0.1 128.0.0.1 169.253.0.1 169.255.0.1 223.255.255.254`) {
		for _, address := range []string{"http://" + host + "/", "http://" + host + ":8080/a?b=c#d", "http://example.org/to?http://" + host + "/"} {
			if _, err := i.fetch(t, address, nil); err != nil {
				t.Errorf("%s: %v", address, err)
			}
		}
	}
}

// TestTimeoutHint checks that a larger time limit is advised only where it was that limit.
func TestTimeoutHint(t *testing.T) {
	for phase, advised := range map[string]bool{"connect": false, "tls": false, "headers": false, "body": false, "total": true} {
		failed := tool.AsError(failure(&fetch.Error{Code: fetch.Timeout, Phase: phase}))
		if strings.Contains(failed.Hint, "timeout_ms") != advised {
			t.Errorf("%s: the hint is %q", phase, failed.Hint)
		}
	}
}

// TestNoAddress refuses what is no address of the web, whichever way a parser reads it.
func TestNoAddress(t *testing.T) {
	i := newInternet(t)
	for _, address := range []string{
		"", " ", "http://", "http://:80/", "//example.org/", "file:///etc/passwd", "dict://example.org:11211/", "gopher://example.org/", "jar:http://x!/", "data:text/html,x", "javascript:alert(1)",
		"about:blank", "view-source:http://example.org/", "unix:///var/run/docker.sock", "http+unix://%2Fvar%2Frun%2Fdocker.sock/info", "ws://example.org/", "ssh://h/", "ldap://x/", "ftp://example.org/",
		`http:\\example.org\`, "ht\ntp://example.org/", "http://example.org:0/", "http://example.org:-1/", "http://example.org:99999/", "http://example.org:80:80/", "http://ex ample.org/",
		`http://example.com\@example.org/`, "http://example.com%40example.org/", "http://example.com/\r\nX-A: 1", "http://[::1]@example.com/", "http://example.com[@example.org/", "http://me:pw@example.org/", "http://me@example.org/",
		"http://" + strings.Repeat("a", 64) + ".com/", "http://" + strings.Repeat("a.", 130) + "com/", "http://exa%mple.org/", "http://[1.2.3.4]/", "http://[::1/", "http://a..b/", "http://example.org%00.evil.test/",
	} {
		if res, err := i.fetch(t, address, nil); err == nil {
			t.Errorf("%q: %+v", address, res)
		}
	}
	for name, value := range map[string]string{"Host": "127.0.0.1", "X-A": "b\r\nX-C: d", "Connection": "upgrade", "Content-Length": "3"} {
		if _, err := i.fetch(t, "http://example.org/", map[string]string{name: value}); err == nil {
			t.Errorf("header %q", name)
		}
	}
	if i.asked != nil {
		t.Errorf("asked: %q", i.asked)
	}
}

// TestRules opens what a rule names, exactly, and never the metadata of a cloud.
func TestRules(t *testing.T) {
	i := newInternet(t, "fetch(http://127.0.0.1:3000/**)", "fetch(domain:dev.example)", "fetch(http://*.wild.example/**)", "fetch(domain:169.254.169.254)", "fetch(https://10.1.1.1/api/**)", "fetch(domain:meta.example)")
	i.names["dev.example"] = []string{"127.0.0.1"}
	i.names["a.wild.example"] = []string{"10.0.0.1"}
	i.names["other.example"] = []string{"127.0.0.1"}
	i.names["meta.example"] = []string{"169.254.169.254"}
	for address, want := range map[string]bool{
		"http://127.0.0.1:3000/x": true, "http://127.1:3000/": true, "http://127.0.0.1:3001/": false, "http://127.0.0.1/": false, "http://127.0.0.2:3000/": false,
		"http://dev.example/": true, "http://dev.example:8080/": false, "http://other.example/": false, "http://a.wild.example/": false,
		"https://169.254.169.254/": false, "http://meta.example/": false, "http://10.1.1.1/api/x": false, "https://10.1.1.1/": false,
	} {
		_, err := i.fetch(t, address, nil)
		if (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
	// the port of another rule: a redirect is decided by itself
	if _, err := i.fetch(t, "http://example.org/to?http://127.0.0.1:3000/", nil); err != nil {
		t.Errorf("a redirect to what a rule opens: %v", err)
	}
	if _, err := i.fetch(t, "http://example.org/to?http://127.0.0.1:3001/", nil); err == nil {
		t.Error("a redirect to the port beside it")
	}
}

// TestAddressRules shows that a rule about an address holds for the names that lead there, and
// one about a name needs none about its address.
func TestAddressRules(t *testing.T) {
	i := newInternet(t)
	name := filepath.Join(t.TempDir(), "p.yaml")
	text := "version: 1\ndeny: ['fetch(domain:93.184.216.34)', 'fetch(domain:198.41.*)', 'fetch(http://8.8.8.8/secret/**)', 'fetch(domain:10.0.0.5)', 'fetch(domain:bad*.example)', 'fetch(domain:[2606:2800::1])']\nask: ['fetch(domain:9.9.9.9)']\nallow: ['fetch(domain:wiki.example)', 'fetch(domain:good.example)']\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := policy.Load(&policy.Sources{Root: i.env.Workspace.Root(), State: t.TempDir(), Home: t.TempDir(), Files: []string{name}})
	if err != nil {
		t.Fatal(err)
	}
	i.env.Policy = p
	maps.Copy(i.names, map[string][]string{
		"evil.example": {"93.184.216.34"}, "nat.example": {"64:ff9b::5db8:d822"}, "two.example": {publicAddress, "93.184.216.34"}, "range.example": {"198.41.7.9"}, "part.example": {"8.8.8.8"},
		"wiki.example": {"10.0.0.5"}, "asked.example": {"9.9.9.9"}, "six.example": {"2606:2800::1"}, "good.example": {"198.42.7.9"},
	})
	for address, want := range map[string]bool{
		"http://evil.example/": false, "http://evil.example:8080/a": false, "http://nat.example/": false, "http://two.example/": false, "http://range.example/": false, "http://wiki.example/": false,
		"http://asked.example/": false, "http://six.example/": false, "http://part.example/secret/x": false, "http://part.example/open": true, "http://good.example/": true, "http://any.example/": true,
	} {
		if _, err := i.fetch(t, address, nil); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
		if _, err := i.fetch(t, "http://good.example/to?"+address, nil); (err == nil) != want {
			t.Errorf("a redirect to %s: %v", address, err)
		}
	}
}

// TestKeptForOthers does not answer a call from what another policy of the same session has let in.
func TestKeptForOthers(t *testing.T) {
	i := newInternet(t, "fetch(domain:dev.example)")
	i.names["dev.example"] = []string{"127.0.0.1"}
	ask := func(offset int) (*tool.Result, error) {
		call := Fetch.New().(*fetchCall)
		call.URL, call.Offset = "http://dev.example/", offset
		call.seam = func(c *fetch.Config) {
			kept := c.Cache
			i.seam(c)
			c.Cache = kept
		}
		if _, err := call.Needs(t.Context(), i.env); err != nil {
			t.Fatal(err)
		}
		return call.Run(t.Context(), i.env)
	}
	for _, want := range []string{"", "hit"} {
		if res, err := ask(0); err != nil || res.Metadata.(*fetchMeta).Cache != want {
			t.Fatalf("%+v, %v", res, err)
		}
	}
	i.env.Policy = newInternet(t).env.Policy
	for _, offset := range []int{0, 3} {
		if res, err := ask(offset); err == nil || strings.Contains(res.Output, "server") {
			t.Errorf("from offset %d: %+v, %v", offset, res, err)
		}
	}
}

// TestProxyIsDecided asks about the proxy as about any other host.
func TestProxyIsDecided(t *testing.T) {
	for _, rule := range []string{"", "fetch(domain:127.0.0.1:3128)"} {
		var rules []string
		if rule != "" {
			rules = []string{rule}
		}
		i := newInternet(t, rules...)
		i.env.Getenv = func(name string) string { return map[string]string{"HTTP_PROXY": "http://127.0.0.1:3128"}[name] }
		res, err := i.fetch(t, "http://example.org/", nil)
		if (err == nil) != (rule != "") {
			t.Errorf("with %q: %v", rule, err)
		}
		if err == nil && !res.Metadata.(*fetchMeta).Proxied {
			t.Error("not through the proxy")
		}
		if _, err := i.fetch(t, "http://10.0.0.1/", nil); err == nil {
			t.Error("what is private, through a proxy")
		}
		i.env.Getenv = func(name string) string {
			return map[string]string{"HTTP_PROXY": "http://127.0.0.1:3128", "NO_PROXY": "*"}[name]
		}
		if _, err := i.fetch(t, "http://127.0.0.1/", nil); err == nil {
			t.Error("no proxy is no permission")
		}
	}
}

// TestPDF shows the text of a PDF file by its pages.
func TestPDF(t *testing.T) {
	i := newInternet(t)
	res, err := i.fetch(t, "http://example.org/pdf", nil)
	if err != nil {
		t.Fatal(err)
	}
	meta := res.Metadata.(*fetchMeta)
	if meta.Extraction != "pdf" || meta.ContentType != "application/pdf" || !strings.Contains(res.Output, "[page 1 of ") {
		t.Errorf("%+v %.200s", meta, res.Output)
	}
}

// TestFile takes the file behind the page of a host of code, where there is one.
func TestFile(t *testing.T) {
	i := newInternet(t)
	if _, err := i.fetch(t, "https://github.com/o/r/blob/main/a.go", nil); err == nil {
		t.Error("the server speaks no TLS")
	}
	call := Fetch.New().(*fetchCall)
	call.URL = "https://github.com/o/r/blob/main/a.go"
	if needs, err := call.Needs(t.Context(), i.env); err != nil || len(needs) != 2 || call.raw == nil {
		t.Fatalf("%v, %v", needs, err)
	}
	for _, u := range []*url.URL{call.url, call.raw} { // over HTTP, which the server speaks
		u.Scheme = "http"
	}
	call.seam = i.seam
	res, err := call.Run(t.Context(), i.env)
	if err != nil || res.Metadata.(*fetchMeta).FinalURL != "http://raw.githubusercontent.com/o/r/main/a.go" {
		t.Errorf("%v, %+v", err, res)
	}
}

// TestFileHeaders gives the headers of a call to the host of its address alone, and so to
// the file behind a page only where that is on the same host.
func TestFileHeaders(t *testing.T) {
	for _, c := range []struct {
		page, file string
		same       bool
	}{
		{"https://github.com/o/r/blob/main/a.go", "raw.githubusercontent.com/o/r/main/a.go", false},
		{"https://gist.github.com/o/0123456789abcdef0123", "gist.githubusercontent.com/o/0123456789abcdef0123/raw", false},
		{"https://www.codeberg.org/o/r/src/branch/main/a.go", "codeberg.org/o/r/raw/branch/main/a.go", false},
		{"https://codeberg.org/o/r/src/branch/main/a.go", "codeberg.org/o/r/raw/branch/main/a.go", true},
		{"https://git.example.org/o/r/-/blob/main/a.go", "git.example.org/o/r/-/raw/main/a.go", true},
	} {
		for _, there := range []bool{true, false} {
			i := newInternet(t)
			got := map[string]http.Header{}
			i.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got[r.Host+r.URL.Path] = r.Header
				if r.Host+r.URL.Path == c.file && !there {
					w.WriteHeader(http.StatusNotFound)
				}
			})
			call := Fetch.New().(*fetchCall)
			call.URL, call.UserAgent, call.seam = c.page, "bot", i.seam
			call.Headers = map[string]string{"Authorization": "Bearer s3cret", "X-Key": "s3cret", "Accept": "s3cret", "User-Agent": "s3cret"}
			if _, err := call.Needs(t.Context(), i.env); err != nil || call.raw == nil {
				t.Fatalf("%s: %v", c.page, err)
			}
			for _, u := range []*url.URL{call.url, call.raw} { // over HTTP, which the server speaks
				u.Scheme = "http"
			}
			if _, err := call.Run(t.Context(), i.env); err != nil {
				t.Fatalf("%s: %v", c.page, err)
			}
			for at, h := range got {
				own := at != c.file || c.same
				for _, name := range []string{"Authorization", "X-Key", "Accept", "User-Agent"} {
					if strings.Contains(h.Get(name), "s3cret") != own {
						t.Errorf("%s: %s got %s: %q", c.page, at, name, h.Get(name))
					}
				}
			}
			if got[c.file] == nil || len(got) != map[bool]int{true: 1, false: 2}[there] {
				t.Errorf("%s: asked %v", c.page, got)
			}
		}
	}
}

// TestRoots trusts an authority that a company has of its own beside the others.
func TestRoots(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	pool := roots(func(name string) string { return map[string]string{"NODE_EXTRA_CA_CERTS": file}[name] })
	if _, err := server.Certificate().Verify(x509.VerifyOptions{Roots: pool, DNSName: "example.com"}); pool == nil || err != nil {
		t.Error(err)
	}
	for _, name := range []string{"", file + ".none"} {
		if roots(func(string) string { return name }) != nil {
			t.Errorf("authorities from %q", name)
		}
	}
}
