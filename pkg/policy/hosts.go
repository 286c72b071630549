package policy

import (
	"slices"
	"strconv"
	"strings"
)

// sampleLabel stands for the names that a wildcard covers: no rule names it.
const sampleLabel = "any-name-k7w2q"

// metadataNames are the hosts that hand out credentials, as names.
func metadataNames() []string {
	return []string{"metadata.google.internal", "metadata", "instance-data", "instance-data.ec2.internal"}
}

// AsksHosts reports whether commands may reach hosts that no rule names if someone says
// so.
func (p *Policy) AsksHosts() bool { return p != nil && p.settings[netCommand].verdict == Ask }

// Published lists the ports that rules name to be published.
func (p *Policy) Published() (ports []int) {
	if p == nil {
		return nil
	}
	for _, r := range p.rules.tool {
		if r.tool != PublishTool || r.list != Allow || r.name == nil {
			continue
		}
		a := Access{Kind: Tool, Tool: PublishTool, Name: r.name.text}
		if n, err := strconv.Atoi(a.Name); err == nil && p.Decide(&a).Verdict == Allow {
			ports = append(ports, n)
		}
	}
	return ports
}

// OpenNetwork reports whether commands may reach every host: the policy allows it
// and names none that it refuses or asks about.
func (p *Policy) OpenNetwork() bool {
	return p.allHosts() && !slices.ContainsFunc(p.rules.net, func(r *rule) bool { return r.aboutCommands() && r.list != Allow })
}

// allHosts reports whether what no rule is about is allowed.
func (p *Policy) allHosts() bool {
	if p == nil || !p.allowsHost(sampleLabel+".example.net", 443) || !p.allowsHost(sampleLabel+".example.net", 80) {
		return false
	}
	return p.settings[netCommand].verdict == Allow || slices.ContainsFunc(p.rules.net, func(r *rule) bool {
		return r.aboutCommands() && r.list == Allow && len(r.except) == 0 && r.url != nil && strings.Trim(r.url.host, "*") == "" && r.url.host != ""
	})
}

// Address is the host of an access by a command in the form of Hosts; "" where that
// is not known, or where it is the loopback.
func (a *Access) Address() string {
	t := parseTarget(a)
	if a.Kind != Net || a.Opaque != "" || t.bad != "" || t.host.name == "" || t.host.isLoopback() {
		return ""
	}
	host := t.host.name
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if t.port != 0 && !slices.Contains(usualPorts(), t.port) {
		host += ":" + strconv.Itoa(t.port)
	}
	return host
}

// aboutCommands: a host of which nothing is to be fetched is not to be reached by commands either.
// Where only a part of it is meant, a connection does not show which, and what the text tells counts.
func (r *rule) aboutCommands() bool {
	return r.tool == "net" || r.tool == "*" || r.tool == commandTool || r.tool == "fetch" && r.list != Allow && (r.url == nil || r.url.path == "")
}

// hosts says whom a rule is about in the form of Hosts; nil where it cannot be said. A
// connection does not show the scheme.
func (r *rule) hosts() []string {
	if r.tool != "fetch" || r.url == nil {
		return r.url.patterns()
	}
	whole := *r.url
	whole.scheme = ""
	return whole.patterns()
}

func (p *Policy) allowsHost(host string, port int) bool {
	a := Access{Kind: Net, Tool: commandTool, Host: host, Port: port}
	return p.Decide(&a).Verdict == Allow
}

// Hosts lists what the policy lets commands reach, whether their text names it or
// not: the hosts of its net rules, as name, *.name for what lies below name, *
// for every name, or address, in refused also a range such as 192.0.2.*, with :port where only that one is meant, :* for every
// port, and else for the usual ones. What a * covers but is refused, or has to be asked for, is in
// refused, in the same form. A rule that cannot be said so allows only what a
// command's text names.
func (p *Policy) Hosts() (allowed, refused []string) {
	if p == nil {
		return nil, nil
	}
	whole := true // refused says all that is refused
	var patterns []string
	if p.allHosts() {
		patterns = append(patterns, "*")
	}
	for _, r := range p.rules.net {
		if !r.aboutCommands() {
			continue
		}
		said := r.hosts()
		switch {
		case r.list != Allow && len(said) > 0 && len(r.except) == 0:
			refused = append(refused, said...)
		case r.list != Allow:
			whole = false
			if r.url.isAddress() && !strings.Contains(r.url.host, ":") && r.url.scheme == "" && r.url.path == "" && len(r.except) == 0 {
				refused = append(refused, r.url.host+r.url.portText())
			}
		case len(r.except) == 0:
			patterns = append(patterns, said...)
		}
	}
	for _, pattern := range patterns {
		allowed = append(allowed, p.portsOf(pattern, whole)...)
	}
	if slices.ContainsFunc(allowed, func(h string) bool { return strings.HasPrefix(h, "*") }) {
		refused = append(refused, metadataNames()...)
	}
	return slices.Compact(slices.Sorted(slices.Values(allowed))), refused
}

// portsOf is the pattern with the ports that Decide allows.
func (p *Policy) portsOf(pattern string, whole bool) []string {
	name, port := splitPort(pattern)
	host := strings.Trim(name, "[]")
	if rest, all := strings.CutPrefix(host, "*"); all {
		if !whole {
			return nil
		}
		if rest == "" {
			rest = ".example.net"
		}
		host = sampleLabel + rest
	}
	if n, err := strconv.Atoi(port); err == nil || port == "*" {
		if p.allowsHost(host, n) {
			return []string{pattern}
		}
		return nil
	}
	var list []string
	for _, n := range usualPorts() {
		if p.allowsHost(host, n) {
			list = append(list, name+":"+strconv.Itoa(n))
		}
	}
	if len(list) == len(usualPorts()) {
		return []string{pattern}
	}
	return list
}

// patterns says u in the form of Hosts; nil where it cannot be said.
func (u *urlGlob) patterns() []string {
	if u == nil || u.scheme != "" || u.path != "" {
		return nil
	}
	if u.preset != nil {
		var list []string
		for _, one := range u.preset {
			list = append(list, one.patterns()...)
		}
		return list
	}
	name, port := u.host, u.portText()
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	switch {
	case u.exact && u.domain && !u.isAddress():
		return []string{name + port, "*." + name + port}
	case u.exact:
		return []string{name + port}
	case len(u.parts) == 2 && u.parts[0] == "" && strings.HasPrefix(u.parts[1], ".") && !u.domain:
		return []string{"*" + u.parts[1] + port}
	}
	return nil
}

// portText is the port of a pattern, with its colon; "" where it names none.
func (u *urlGlob) portText() string {
	switch {
	case u.anyPort:
		return ":*"
	case u.port > 0:
		return ":" + strconv.Itoa(u.port)
	}
	return ""
}
