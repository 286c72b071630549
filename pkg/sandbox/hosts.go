package sandbox

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// A hostRule is one of Config.Hosts.
type hostRule struct {
	name string // lower case; with a leading dot what ends in it, "." for every one
	addr netip.Addr
	many string // a range of IPv4 addresses: 192.0.2.*
	port uint16 // 0 for the usual ones
	any  bool   // every port
}

// parseHost reads one of Config.Hosts.
func parseHost(s string) (r hostRule, err error) {
	host, port := s, ""
	if h, p, err := net.SplitHostPort(s); err == nil {
		host, port = h, p
	}
	if r.any = port == "*"; port != "" && !r.any {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return r, fmt.Errorf("host %q: its port is no number from 1 to 65535", s)
		}
		r.port = uint16(n)
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if a, err := netip.ParseAddr(host); err == nil {
		r.addr = a.Unmap()
		return r, nil
	}
	if strings.Contains(host, "*") && strings.ContainsAny(host, "0123456789") && strings.Trim(host, "0123456789.*") == "" {
		r.many = host
		return r, nil
	}
	if host == "*" {
		r.name = "."
		return r, nil
	}
	name, sub := strings.CutPrefix(host, "*.")
	if name, err = hostName(name); err != nil {
		return r, fmt.Errorf("host %q: %w", s, err)
	}
	r.name = name
	if sub {
		r.name = "." + name
	}
	return r, nil
}

// hostName checks and folds a name. What is not letters, digits, hyphens and
// dots, and what a resolver might take for an address, is none.
func hostName(s string) (string, error) {
	s = strings.ToLower(strings.TrimSuffix(s, "."))
	if s == "" || len(s) > 253 {
		return "", errors.New("it is no host's name")
	}
	labels := strings.Split(s, ".")
	for _, l := range labels {
		bad := strings.ContainsFunc(l, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
		})
		if l == "" || len(l) > 63 || bad {
			return "", errors.New("it is no host's name")
		}
	}
	if last := labels[len(labels)-1]; last[0] >= '0' && last[0] <= '9' {
		return "", errors.New("it is an address in an odd form")
	}
	return s, nil
}

// allows reports whether the host may be reached at port. Explicit says that
// the rule names an address, which then may be a private one.
func (p *proxy) allows(host string, port uint16) (ok, explicit bool) {
	addr, err := netip.ParseAddr(host)
	isAddr := err == nil
	for _, r := range p.hosts {
		if !r.reaches(port) {
			continue
		}
		switch {
		case isAddr:
			if r.addr.IsValid() && r.addr == addr.Unmap() {
				return true, true
			}
		case !r.means(host):
		case strings.HasPrefix(r.name, ".") && slices.ContainsFunc(p.refused, func(r hostRule) bool { return (r.port == 0 || r.port == port) && r.means(host) }):
		default:
			return true, false
		}
	}
	return false, false
}

// reaches reports whether the rule is about the port: without one, about those of
// ssh, the web and git.
func (r hostRule) reaches(port uint16) bool {
	return r.any || r.port == port || r.port == 0 && (port == 22 || port == 80 || port == 443 || port == 9418)
}

// means reports whether the rule is about the name host.
func (r hostRule) means(host string) bool {
	if strings.HasPrefix(r.name, ".") {
		return r.name == "." || strings.HasSuffix(host, r.name)
	}
	return r.name != "" && r.name == host
}

// permits is allows, and where that says no, what someone says who can be asked. A
// host that stays closed is reported.
func (p *proxy) permits(host string, port uint16) (ok, explicit bool) {
	if ok, explicit = p.allows(host, port); ok {
		return ok, explicit
	}
	addr, err := netip.ParseAddr(host)
	target := net.JoinHostPort(host, strconv.Itoa(int(port)))
	p.mu.Lock()
	ok = p.opened[target]
	p.mu.Unlock()
	// The policy's own loopback is the session's, where no proxy is needed.
	if ok || p.decide == nil || err == nil && (addr.Unmap().IsLoopback() || addr.Unmap().IsUnspecified()) {
		if !ok {
			p.refuse(target, "the policy does not let commands reach this host", netRule(host, strconv.Itoa(int(port))))
		}
		return ok, err == nil
	}
	a := p.decide(p.ctx, &Exec{Host: target})
	if !a.Allow {
		p.refuse(target, a.Why, a.Grant)
		return false, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.opened == nil {
		p.opened = map[string]bool{}
	}
	p.opened[target] = true
	return true, err == nil
}

// netRule is the rule of a policy that allows a host.
func netRule(host, port string) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err == nil && !(hostRule{}).reaches(uint16(n)) {
		host += ":" + port
	}
	return "net(" + host + ")"
}

// publicOnly refuses to connect to what is not on the public Internet, or to what the
// policy refuses as an address, whatever name led there, unless it allows the very address.
func (p *proxy) publicOnly(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	denied := slices.ContainsFunc(p.refused, func(r hostRule) bool { return (r.port == 0 || r.port == at.Port()) && r.holds(at.Addr().Unmap()) })
	if public(at.Addr()) && !denied {
		return nil
	}
	if _, named := p.allows(at.Addr().Unmap().String(), at.Port()); named {
		return nil
	}
	if denied {
		p.refuse(address, "a name leads to this address, which the policy does not let commands reach", "")
		return fmt.Errorf("%s %w", at.Addr(), errDenied)
	}
	p.refuse(address, "a name leads to this address, which is not a public one", netRule(at.Addr().Unmap().String(), strconv.Itoa(int(at.Port()))))
	return fmt.Errorf("%s %w", at.Addr(), errNotPublic)
}

// holds reports whether the rule is about the address.
func (r hostRule) holds(a netip.Addr) bool {
	if r.many != "" {
		is, _ := path.Match(r.many, a.String())
		return is && a.Is4()
	}
	return r.addr.IsValid() && r.addr == a
}

// errDenied is why no connection is made to an address that a rule names.
var errDenied = errors.New("is denied by the policy")

// errNotPublic is why no connection is made to an address that nobody has named.
var errNotPublic = errors.New("is not a public address")

// special lists what is routed, if at all, within a site, or to elsewhere than
// the address says.
func special() []string {
	return []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
	}
}

func public(a netip.Addr) bool {
	a = a.Unmap()
	if a.Zone() != "" || !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() {
		return false
	}
	for _, s := range special() {
		if netip.MustParsePrefix(s).Contains(a) {
			return false
		}
	}
	return true
}
