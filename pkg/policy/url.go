package policy

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A urlGlob is a compiled fetch or net pattern.
type urlGlob struct {
	scheme  string // "" for any
	host    string // normalised; lower case
	parts   []string
	exact   bool   // host is literal
	domain  bool   // subdomains too
	port    int    // 0: the scheme's own, or 80 and 443
	anyPort bool   // :*
	path    string // glob; "" for everything on the host
	paths   []alternative
	below   []alternative // what lies below path, too
	preset  []*urlGlob    // any of these, instead of all that
}

var (
	errURL  = errors.New("want https://HOST/PATH with globs, or domain:HOST")
	errHost = errors.New("that is not a host name or address")
	errPort = errors.New("a port is a number from 1 to 65535 or *")
	errUser = errors.New("a user name in a URL pattern never matches")
)

// parseURLGlob compiles "https://host/path/**" or "domain:host"; with bare
// true also a plain "host", "*.host" or "host:port".
func parseURLGlob(s string, bare bool) (*urlGlob, error) {
	u := &urlGlob{}
	if strings.ContainsFunc(s, isControl) || strings.Contains(s, " ") {
		return nil, errURL
	}
	scheme, rest, isURL := strings.Cut(s, "://")
	switch {
	case isURL:
		u.scheme = strings.ToLower(scheme)
		if scheme == "*" {
			u.scheme = ""
		}
		host, path, hasPath := strings.Cut(rest, "/")
		if hasPath {
			u.path = "/" + path
			var err error
			if u.paths, err = compileGlob(path, false); err != nil {
				return nil, err
			}
			if u.below, err = compileGlob(path, true); err != nil {
				return nil, err
			}
		}
		return u, u.setHost(host)
	case strings.HasPrefix(s, "domain:"):
		u.domain = true
		return u, u.setHost(s[len("domain:"):])
	case bare:
		return u, u.setHost(s)
	}
	return nil, errURL
}

func (u *urlGlob) setHost(s string) error {
	if strings.Contains(s, "@") {
		return errUser
	}
	host, port := splitPort(s)
	switch {
	case port == "*":
		u.anyPort = true
	case port != "":
		n, err := strconv.Atoi(port)
		if err != nil || n < 1 || n > 65535 {
			return errPort
		}
		u.port = n
	}
	if !strings.Contains(host, "*") {
		h, ok := parseHost(host)
		if !ok {
			return errHost
		}
		u.host, u.exact = h.name, true
		return nil
	}
	host = strings.ToLower(host)
	if _, ok := parseHost(strings.ReplaceAll(host, "*", "x")); !ok && host != "*" && host != "**" {
		return errHost
	}
	u.host, u.parts = host, strings.Split(strings.ReplaceAll(host, "**", "*"), "*")
	return nil
}

// splitPort cuts a port off, leaving IPv6 addresses whole.
func splitPort(s string) (host, port string) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || strings.HasSuffix(s, "]") || strings.Count(s, ":") > 1 && !strings.HasPrefix(s, "[") {
		return s, ""
	}
	return s[:i], s[i+1:]
}

// A target is where a net access leads, normalised.
type target struct {
	scheme   string
	host     hostName
	port     int
	path     string // cleaned, without the first slash
	url      bool   // there is a URL, so the path is known
	user     bool   // the URL carries a user name
	strange  bool   // the path holds what servers read differently
	bad      string // why nothing may go there; "" when it may
	explicit bool   // the port is not the scheme's own
}

// parseTarget reads the target of a net access and checks that its parts agree.
func parseTarget(a *Access) (t target) {
	t.scheme, t.port, t.user = strings.ToLower(a.Scheme), a.Port, a.User
	host := a.Host
	if a.URL != "" {
		u, err := url.Parse(a.URL)
		if err != nil || u.Host == "" {
			t.bad = "the address cannot be parsed"
			return t
		}
		if host != "" && !sameHost(host, u.Hostname()) {
			t.bad = "the address and its host differ"
			return t
		}
		host = u.Hostname()
		t.scheme, t.user = strings.ToLower(orElse(u.Scheme, t.scheme)), t.user || u.User != nil
		if n, err := strconv.Atoi(u.Port()); err == nil {
			if t.port != 0 && t.port != n {
				t.bad = "the address and its port differ"
				return t
			}
			t.port = n
		}
		t.url = true
		t.path, t.strange = cleanURLPath(u.EscapedPath())
	}
	if host != "" {
		var ok bool
		if t.host, ok = parseHost(host); !ok {
			t.bad = "that is not a host name or address"
			return t
		}
	}
	own := schemePort(t.scheme)
	if t.port == 0 {
		t.port = own
	}
	t.explicit = t.port != own
	return t
}

func sameHost(a, b string) bool {
	x, ok := parseHost(a)
	y, ok2 := parseHost(b)
	return ok && ok2 && x.name == y.name
}

// usualPorts are those of a host for which none is named: of ssh, the web and git.
func usualPorts() []int { return []int{22, 80, 443, 9418} }

func schemePort(scheme string) int {
	switch scheme {
	case "http", "ws":
		return 80
	case "https", "wss":
		return 443
	case "ssh", "git+ssh":
		return 22
	case "git":
		return 9418
	case "ftp":
		return 21
	}
	return 0
}

// cleanURLPath decodes a path once and resolves its dot segments. strange
// tells that servers may read it in more than one way.
func cleanURLPath(escaped string) (clean string, strange bool) {
	decoded, err := url.PathUnescape(escaped)
	lower := strings.ToLower(escaped)
	strange = err != nil || strings.Contains(lower, "%2f") || strings.Contains(lower, "%5c") || strings.Contains(lower, "%25") || strings.Contains(decoded, `\`) || strings.Contains(decoded, ";")
	if err != nil {
		decoded = escaped
	}
	var out []string
	segments := strings.SplitSeq(strings.TrimPrefix(decoded, "/"), "/")
	for s := range segments {
		switch s {
		case "", ".":
		case "..":
			out = out[:max(0, len(out)-1)]
		default:
			out = append(out, s)
		}
	}
	if clean = strings.Join(out, "/"); clean != "" && strings.HasSuffix(decoded, "/") {
		clean += "/"
	}
	return clean, strange
}

// match reports whether the pattern covers the target; cover is for deny and
// ask, where every doubt counts as a match.
func (u *urlGlob) match(t *target, cover bool) bool {
	if u.preset != nil {
		return slices.ContainsFunc(u.preset, func(one *urlGlob) bool { return one.match(t, cover) })
	}
	if !u.matchHost(t.host.name) {
		return false
	}
	if cover {
		if u.port != 0 && t.port != 0 && u.port != t.port || u.scheme != "" && t.scheme != "" && !u.matchScheme(t.scheme) {
			return false
		}
		return u.path == "" || !t.url || t.strange || matchGlob(u.below, t.path)
	}
	if t.user || u.scheme != "" && !u.matchScheme(t.scheme) || !u.matchPort(t) {
		return false
	}
	return u.path == "" || t.url && !t.strange && matchGlob(u.paths, t.path)
}

func (u *urlGlob) matchScheme(scheme string) bool {
	if u.scheme == "http*" {
		return scheme == "http" || scheme == "https"
	}
	return u.scheme == scheme
}

func (u *urlGlob) matchHost(name string) bool {
	if u.preset != nil {
		return slices.ContainsFunc(u.preset, func(one *urlGlob) bool { return one.matchHost(name) })
	}
	if u.exact {
		return u.host == name || u.domain && strings.HasSuffix(name, u.host) && strings.HasSuffix(name[:len(name)-len(u.host)], ".")
	}
	return matchOne(u.parts, name) || u.domain && matchParts(append([]string{""}, u.parts...), name)
}

func (u *urlGlob) matchPort(t *target) bool {
	switch {
	case u.anyPort:
		return true
	case u.port != 0:
		return u.port == t.port
	}
	return !t.explicit || t.scheme == "" && slices.Contains(usualPorts(), t.port)
}
