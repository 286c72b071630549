package fetch

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"sync"
	"testing"
	"time"
)

// A zoo is servers that behave badly in every way we know of, on loopback, under
// public names and addresses that only its client resolves and connects to.
type zoo struct {
	t     *testing.T
	mux   map[string]http.HandlerFunc // by path
	ports map[uint16]string           // where a public port leads
	roots *x509.CertPool

	mu     sync.Mutex
	asked  []string // "HOST PATH" of each request
	names  map[string][]string
	dialed []string // each connection that was made
	store  map[string][]byte
	now    time.Time
	waits  []time.Duration // before retries
}

// newZoo starts the servers: port 80 speaks HTTP, 443 TLS with HTTP/2, 444 has an
// expired certificate, 445 one for another host, 446 one that nobody signed, 447
// speaks an old TLS, 448 is closed.
func newZoo(t *testing.T) *zoo {
	z := &zoo{
		t: t, mux: map[string]http.HandlerFunc{}, ports: map[uint16]string{}, roots: x509.NewCertPool(), now: time.Now(),
		store: map[string][]byte{}, names: map[string][]string{},
	}
	for i, name := range []string{"a.zoo.test", "b.zoo.test", "www.a.zoo.test"} {
		z.names[name] = []string{fmt.Sprintf("93.184.215.%d", i+10)}
	}
	ca, key := z.certificate(nil, nil, "zoo authority", time.Hour)
	z.roots.AddCert(ca)
	z.serve(80, nil)
	for port, c := range map[uint16]struct {
		name string
		life time.Duration
		max  uint16
	}{443: {"*.zoo.test", time.Hour, 0}, 444: {"*.zoo.test", -time.Minute, 0}, 445: {"other.test", time.Hour, 0}, 447: {"*.zoo.test", time.Hour, tls.VersionTLS11}} {
		leaf, leafKey := z.certificate(ca, key, c.name, c.life)
		z.serve(port, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{leaf.Raw}, PrivateKey: leafKey}}, MaxVersion: c.max, MinVersion: tls.VersionTLS10})
	}
	own, ownKey := z.certificate(nil, nil, "a.zoo.test", time.Hour)
	z.serve(446, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{own.Raw}, PrivateKey: ownKey}}})
	return z
}

// certificate makes a certificate that parent signs, or an authority.
func (z *zoo) certificate(parent *x509.Certificate, parentKey *ecdsa.PrivateKey, name string, life time.Duration) (*x509.Certificate, *ecdsa.PrivateKey) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		z.t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(life), IsCA: parent == nil, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	if parent == nil {
		parent, parentKey = c, key
	}
	raw, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, parentKey)
	if err != nil {
		z.t.Fatal(err)
	}
	c, err = x509.ParseCertificate(raw)
	if err != nil {
		z.t.Fatal(err)
	}
	return c, key
}

func (z *zoo) serve(port uint16, c *tls.Config) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(z.handle))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if c == nil {
		s.Start()
	} else {
		s.TLS, s.EnableHTTP2 = c, true
		s.StartTLS()
	}
	z.t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	z.ports[port] = s.Listener.Addr().String()
}

func (z *zoo) handle(w http.ResponseWriter, r *http.Request) {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	z.mu.Lock()
	z.asked = append(z.asked, host+" "+r.URL.Path)
	h := z.mux[r.URL.Path]
	z.mu.Unlock()
	if h == nil {
		http.NotFound(w, r)
		return
	}
	h(w, r)
}

// requests are the paths that were asked for since the last time.
func (z *zoo) requests() []string {
	z.mu.Lock()
	defer z.mu.Unlock()
	list := z.asked
	z.asked = nil
	return list
}

// Load and Save make the zoo a Store.
func (z *zoo) Load(key string) []byte { z.mu.Lock(); defer z.mu.Unlock(); return z.store[key] }

func (z *zoo) Save(_ context.Context, key string, data []byte) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.store[key] = data
}

var errPrivate = errors.New("not a public address")

// client is a client to which the zoo is the whole internet.
func (z *zoo) client(change ...func(*Config)) *Client {
	c := Config{
		Agent: "honest/1", Roots: z.roots, Now: func() time.Time { return z.now },
		Wait: func(_ context.Context, d time.Duration) error {
			z.mu.Lock()
			defer z.mu.Unlock()
			z.waits = append(z.waits, d)
			return nil
		},
		Limits: Limits{Connect: 10 * time.Second, TLS: 10 * time.Second, Headers: 10 * time.Second, Idle: 10 * time.Second},
		Guard: func(_ context.Context, _ string, at netip.AddrPort) error {
			if a := at.Addr(); !a.IsGlobalUnicast() || a.IsPrivate() {
				return errPrivate
			}
			return nil
		},
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			z.mu.Lock()
			defer z.mu.Unlock()
			var list []netip.Addr
			for _, a := range z.names[host] {
				list = append(list, netip.MustParseAddr(a))
			}
			if list == nil {
				return nil, &net.DNSError{Name: host, Err: "no such host", IsNotFound: true}
			}
			return list, nil
		},
		Connect: func(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
			z.mu.Lock()
			z.dialed = append(z.dialed, at.String())
			to := z.ports[at.Port()]
			z.mu.Unlock()
			if to == "" {
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
			}
			return new(net.Dialer).DialContext(ctx, "tcp", to)
		},
	}
	for _, f := range change {
		f(&c)
	}
	client := New(c)
	z.t.Cleanup(client.Close)
	return client
}

func parse(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// get fetches an address of the zoo.
func (z *zoo) get(raw string, change ...func(*Config)) (*Response, error) {
	return z.client(change...).Do(z.t.Context(), Request{URL: parse(z.t, raw)})
}

// on has the servers answer at a path.
func (z *zoo) on(path string, h http.HandlerFunc) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.mux[path] = h
}

func codeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}
