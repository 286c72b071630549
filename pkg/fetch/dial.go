package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"
)

// newTransport makes the transport, whose connections all go through dial.
func (c *Client) newTransport() *http.Transport {
	l := c.c.Limits
	t := &http.Transport{
		DialContext:            c.dial,
		TLSClientConfig:        &tls.Config{RootCAs: c.c.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    l.TLS,
		ResponseHeaderTimeout:  l.Headers,
		MaxResponseHeaderBytes: l.HeaderMax,
		DisableCompression:     true, // the body's codings are ours
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        30 * time.Second,
	}
	if c.c.Proxy != nil {
		t.Proxy = func(r *http.Request) (*url.URL, error) {
			via, err := c.c.Proxy(r.URL)
			if via == nil || err != nil {
				return via, err
			}
			return via, c.behindProxy(r.Context(), r.URL)
		}
		t.DialContext = c.dialOrProxy
	}
	return t
}

// behindProxy asks Guard about the addresses of a host that a proxy connects to, as far
// as we can look them up. Where names are known to the proxy alone, the proxy decides.
func (c *Client) behindProxy(ctx context.Context, to *url.URL) error {
	port := portOf(to)
	list, err := c.lookup(ctx, to.Hostname())
	if err != nil {
		return nil //nolint:nilerr // only the proxy knows the name
	}
	for _, a := range list {
		if err := c.guard(ctx, to.Hostname(), netip.AddrPortFrom(a, port)); err != nil {
			return err
		}
	}
	return nil
}

// dialOrProxy is dial for what is no proxy of ours, which the caller has named itself.
func (c *Client) dialOrProxy(ctx context.Context, network, address string) (net.Conn, error) {
	for _, scheme := range []string{"http", "https"} {
		via, err := c.c.Proxy(&url.URL{Scheme: scheme, Host: "agentkit.invalid"})
		if err == nil && via != nil && address == net.JoinHostPort(via.Hostname(), strconv.Itoa(int(portOf(via)))) {
			return c.connect(ctx, via.Hostname(), portOf(via), nil)
		}
	}
	return c.dial(ctx, network, address)
}

func portOf(u *url.URL) uint16 {
	if n, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
		return uint16(n)
	}
	switch u.Scheme {
	case "https":
		return 443
	case "socks5", "socks5h":
		return 1080
	}
	return 80
}

// dial connects to a host by an address that Guard lets pass.
func (c *Client) dial(ctx context.Context, _, address string) (net.Conn, error) {
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return nil, err
	}
	return c.connect(ctx, host, uint16(port), c.guard)
}

var errConnect = errors.New("no connection in time")

// connect tries the addresses of a host, each a little after the one before it, and
// returns the first connection that stands. One address that is refused refuses all:
// who mixes them wants the other one to be taken.
func (c *Client) connect(ctx context.Context, host string, port uint16, guard func(context.Context, string, netip.AddrPort) error) (net.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.c.Limits.Connect, errConnect)
	defer cancel()
	list, err := c.lookup(ctx, host)
	if err != nil {
		return nil, timedOut(ctx, err)
	}
	for _, a := range list {
		if guard == nil {
			break
		}
		if err := guard(ctx, host, netip.AddrPortFrom(a, port)); err != nil {
			return nil, err
		}
	}
	type outcome struct {
		conn net.Conn
		at   netip.AddrPort
		err  error
	}
	results := make(chan outcome, len(list))
	started, failed := 0, []error(nil)
	start := func() {
		at := netip.AddrPortFrom(list[started], port)
		started++
		go func() {
			conn, err := c.c.Connect(ctx, at)
			results <- outcome{conn, at, err}
		}()
	}
	start()
	next := time.NewTicker(250 * time.Millisecond)
	defer next.Stop()
	for {
		select {
		case <-next.C:
			if started < len(list) {
				start()
			}
		case r := <-results:
			if r.err == nil {
				go func(left int) { // connections that come too late
					for range left {
						if late := <-results; late.conn != nil {
							_ = late.conn.Close()
						}
					}
				}(started - len(failed) - 1)
				return reached{r.conn, r.at}, nil
			}
			if failed = append(failed, r.err); len(failed) == len(list) {
				return nil, timedOut(ctx, errors.Join(failed...))
			}
			if started < len(list) {
				start()
			}
		}
	}
}

// A reached connection knows the address that it was made to, which Guard has let pass.
type reached struct {
	net.Conn
	at netip.AddrPort
}

// RemoteAddr implements net.Conn.
func (r reached) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(r.at) }

// timedOut is err, or that the time for connecting has passed.
func timedOut(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errConnect) {
		return fmt.Errorf("%w: %w", errConnect, err)
	}
	return err
}

// maxAddresses bounds how many addresses of one host are tried.
const maxAddresses = 8

// lookup returns the addresses of a host, which may be one itself.
func (c *Client) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a.Unmap()}, nil
	}
	list, err := c.c.Resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, &net.DNSError{Name: host, Err: "it has no address", IsNotFound: true}
	}
	list = list[:min(len(list), maxAddresses)]
	for i := range list {
		list[i] = list[i].Unmap()
	}
	return list, nil
}

func (c *Client) guard(ctx context.Context, host string, at netip.AddrPort) error {
	if c.c.Guard == nil {
		return &GuardError{host, fmt.Errorf("nobody has allowed a connection to %s", at)}
	}
	if err := c.c.Guard(ctx, host, at); err != nil {
		return &GuardError{host, err}
	}
	return nil
}
