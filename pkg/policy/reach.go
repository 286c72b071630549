package policy

import (
	"net/netip"
	"strings"
)

// A Reach says where a host lies, by its name or address.
type Reach int

// Where a host lies.
const (
	AtPublic   Reach = iota
	AtHome           // at home: another machine of this network, or an address of no use
	AtLoopback       // this machine
	AtMetadata       // the service that hands out a cloud machine's credentials
)

// Host returns a host in the form in which rules know it, and where it lies by that
// form: what its name leads to is another question. ok is false for what no host can
// be called.
func Host(host string) (name string, reach Reach, ok bool) {
	h, ok := parseHost(host)
	switch {
	case !ok:
		return "", AtHome, false
	case h.isMetadata():
		return h.name, AtMetadata, true
	case h.isLoopback():
		return h.name, AtLoopback, true
	case h.isPrivate():
		return h.name, AtHome, true
	}
	return h.name, AtPublic, true
}

// Address tells where an address lies. One that holds another, for networks without
// IPv4 (NAT64, RFC 6052), lies where that does.
func Address(a netip.Addr) Reach {
	a = within(a)
	if a.Zone() != "" {
		return AtHome
	}
	_, reach, ok := Host(a.String())
	if !ok {
		return AtHome
	}
	return reach
}

// within is the IPv4 address that another one holds.
func within(a netip.Addr) netip.Addr {
	a = a.Unmap()
	if raw := a.As16(); a.Is6() && netip.MustParsePrefix("64:ff9b::/96").Contains(a) {
		a = netip.AddrFrom4([4]byte(raw[12:]))
	}
	return a
}

// DecideAddress says of an access to an address, to which a name has led, whether a rule
// that names this address, or a range with it, denies it or asks. What rules say about the
// name is decided by itself, and so is where the address lies.
func (p *Policy) DecideAddress(a *Access) Decision {
	if p == nil {
		return p.Decide(a)
	}
	at := *a
	if addr, err := netip.ParseAddr(a.Host); err == nil {
		at.Host = within(addr).String()
	}
	f := facts{target: parseTarget(&Access{Scheme: a.Scheme, Host: at.Host, Port: a.Port})}
	if a.URL != "" {
		f.target.url = true
		t := parseTarget(a)
		f.target.path, f.target.strange = t.path, t.strange
	}
	var rules []*rule
	for _, r := range p.rules.net {
		if r.list == Allow && r.grant || r.list != Allow && r.url.isAddress() {
			rules = append(rules, r)
		}
	}
	return p.settle(p.scan(rules, &at, &f, found{}), &setting{verdict: Allow}, "")
}

// isAddress reports whether a pattern is one of addresses, not of names.
func (u *urlGlob) isAddress() bool {
	if u == nil || u.preset != nil {
		return false
	}
	if h, ok := parseHost(u.host); u.exact {
		return ok && h.addr.IsValid()
	}
	return strings.ContainsAny(u.host, "0123456789") && (strings.Trim(u.host, "0123456789.*") == "" || strings.Contains(u.host, ":"))
}

// Local reports whether a tool asks this machine itself for something.
func (a *Access) Local() bool {
	t := parseTarget(a)
	return a.Kind == Net && a.Tool != commandTool && t.host.isLoopback()
}
