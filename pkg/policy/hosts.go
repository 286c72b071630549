package policy

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Hosts lists what the policy lets commands reach, whether their text names it or
// not: the hosts of its network rules, as name, *.name for what lies below name, or
// address, with :port where the rule has one. What lies below a name but is refused,
// or has to be asked for, is in refused, in the same form. A rule that cannot be
// said so allows only what a command's text names.
func (p *Policy) Hosts() (allowed, refused []string) {
	if p == nil {
		return nil, nil
	}
	whole := true // refused says all that is refused
	for _, r := range p.rules.net {
		if r.tool != "network" && r.tool != "*" && r.tool != commandTool {
			continue
		}
		patterns := r.url.patterns()
		switch {
		case r.list != Allow && len(patterns) > 0 && len(r.except) == 0:
			refused = append(refused, patterns...)
		case r.list != Allow:
			whole = false
		case len(r.except) == 0:
			allowed = append(allowed, patterns...)
		}
	}
	allowed = slices.DeleteFunc(allowed, func(h string) bool {
		name, port := splitPort(h)
		sub, all := strings.CutPrefix(name, "*.")
		if all {
			name = "x." + sub
		}
		n, _ := strconv.Atoi(port)
		a := Access{Kind: Net, Tool: commandTool, Host: strings.Trim(name, "[]"), Port: cmp.Or(n, 443)}
		return all && !whole || p.Decide(&a).Verdict != Allow
	})
	return slices.Compact(slices.Sorted(slices.Values(allowed))), refused
}

// patterns says u in the form of Hosts; nil where it cannot be said.
func (u *urlGlob) patterns() []string {
	if u == nil || u.scheme != "" || u.path != "" {
		return nil
	}
	port := ""
	if u.port > 0 {
		port = ":" + strconv.Itoa(u.port)
	}
	name := u.host
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	switch {
	case u.exact && u.domain:
		return []string{name + port, "*." + name + port}
	case u.exact:
		return []string{name + port}
	case len(u.parts) == 2 && u.parts[0] == "" && strings.HasPrefix(u.parts[1], ".") && !u.domain:
		return []string{"*" + u.parts[1] + port}
	}
	return nil
}
