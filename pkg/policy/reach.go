package policy

import "net/netip"

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
	a = a.Unmap()
	if raw := a.As16(); a.Is6() && netip.MustParsePrefix("64:ff9b::/96").Contains(a) {
		a = netip.AddrFrom4([4]byte(raw[12:]))
	}
	if a.Zone() != "" {
		return AtHome
	}
	_, reach, ok := Host(a.String())
	if !ok {
		return AtHome
	}
	return reach
}

// Local reports whether a tool asks this machine itself for something.
func (a *Access) Local() bool {
	t := parseTarget(a)
	return a.Kind == Net && a.Tool != commandTool && t.host.isLoopback()
}
