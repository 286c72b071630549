package web

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/agentkit-go/agentkit/pkg/fetch"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

const (
	// honest is what we are called. browser, mobile and bot are what others are: pages that
	// send robots away, or look different to telephones and to search engines.
	honest  = "Mozilla/5.0 (compatible; agentkit; +https://github.com/agentkit-go/agentkit)"
	browser = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/146.0.0.0 Safari/537.36"
	mobile  = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/146.0.0.0 Mobile Safari/537.36"
	bot     = "agentkit/1 (+https://github.com/agentkit-go/agentkit)"
)

// A reach is where one call may go. The policy is asked about each address before a
// request is made to it, and about what its name leads to before a connection is.
type reach struct {
	env  *tool.Env
	tool string // whose call it is

	mu    sync.Mutex
	open  map[string]*url.URL     // by host, what may be asked there in this call
	asked map[netip.AddrPort]bool // addresses that somebody has said yes to
}

// config is what a client of the call may use of the world.
func (r *reach) config() fetch.Config {
	return fetch.Config{Guard: r.guard, Proxy: fetch.EnvProxy(r.env.Getenv), Roots: roots(r.env.Getenv), Agent: honest, Now: r.env.Now, Cache: &cache{r.env.Session}}
}

// roots are the system's authorities with those of the file that NODE_EXTRA_CA_CERTS
// names, which a company's network needs; nil for the system's alone. SSL_CERT_FILE and
// SSL_CERT_DIR take the place of the system's.
func roots(getenv func(string) string) *x509.CertPool {
	name := getenv("NODE_EXTRA_CA_CERTS")
	if name == "" {
		return nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	pool.AppendCertsFromPEM(data)
	return pool
}

// visit is fetch.Request.Visit. The first address has been decided before the call ran.
func (r *reach) visit(ctx context.Context, to, from *url.URL) error {
	if err := usual(to); err != nil {
		return err
	}
	if from != nil {
		a := access(r.tool, to)
		if d := r.env.Policy.Decide(&a); d.Verdict != policy.Allow {
			if answer := r.env.Approve(ctx, r.tool, a, ""); !answer.Yes {
				return tool.Errorf(tool.Denied, "%s redirects to %s, where the policy does not let it go: %s", from.Host, to.Redacted(), d.Why).
					WithHint("nothing was asked there; whoever may decide is asked for that address by itself").Suggest(to.Redacted())
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open = map[string]*url.URL{}
	}
	at := *to
	r.open[to.Hostname()] = &at
	return nil
}

// guard is fetch.Config.Guard. What is public may be reached, unless a rule names the
// address; what is not, where a rule allows it, or where the host was allowed as one that
// is not public itself.
func (r *reach) guard(ctx context.Context, host string, at netip.AddrPort) error {
	where := policy.Address(at.Addr())
	r.mu.Lock()
	asked, said := r.open[host], r.asked[at]
	r.mu.Unlock()
	if asked == nil {
		asked = &url.URL{Scheme: "http", Host: net.JoinHostPort(host, strconv.Itoa(int(at.Port())))}
	}
	literal := *asked
	literal.Host = at.String()
	named, itself := access(r.tool, asked), access(r.tool, &literal)
	if _, err := netip.ParseAddr(host); err != nil && !said { // an address has been decided as such
		d := r.env.Policy.DecideAddress(&itself)
		if d.Verdict == policy.Deny || d.Verdict == policy.Ask && !r.env.Approve(ctx, r.tool, itself, "").Yes {
			return tool.Errorf(tool.Denied, "%s leads to %s, where the policy does not let it go: %s", host, at.Addr(), strings.TrimSuffix(d.Rule+": "+d.Why, ": "))
		}
		if d.Verdict == policy.Ask {
			r.mu.Lock()
			if r.asked == nil {
				r.asked = map[netip.AddrPort]bool{}
			}
			r.asked[at] = true
			r.mu.Unlock()
		}
	}
	if where == policy.AtPublic {
		return nil
	}
	named.Addr = at.Addr().String()
	d := r.env.Policy.Decide(&named)
	_, own, _ := policy.Host(host)
	switch {
	case d.Verdict == policy.Allow, r.env.Policy.Decide(&itself).Verdict == policy.Allow:
		return nil
	case where == policy.AtMetadata:
		return tool.Errorf(tool.Denied, "%s", d.Why).WithHint("no rule opens it")
	case own == where && own != policy.AtPublic && d.Verdict == policy.Ask:
		return nil // somebody has said yes to this very host
	}
	return tool.Errorf(tool.Denied, "%s: %s", host, d.Why).WithHint("--allow %q would open it; that is for whoever may decide", named.HostRule())
}

// usual gives the host of an address its usual form, by which the policy knows it.
func usual(u *url.URL) error {
	name, _, ok := policy.Host(u.Hostname())
	if !ok {
		return tool.Errorf(tool.BadInput, "%q is no host", u.Hostname()).WithHint("give an address such as https://example.org/page")
	}
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if port := u.Port(); port != "" {
		name += ":" + port
	}
	u.Host = name
	return nil
}

// access is what the policy decides about an address.
func access(toolName string, u *url.URL) policy.Access {
	plain := *u
	plain.Fragment, plain.RawFragment = "", ""
	port, _ := strconv.Atoi(u.Port()) // 0 for the scheme's own
	return policy.Access{Kind: policy.Net, Tool: toolName, Scheme: u.Scheme, Host: u.Hostname(), Port: port, URL: plain.String()}
}

// accesses are those that a request to an address needs: its host, and the proxy that
// leads there.
func (r *reach) accesses(u *url.URL) []policy.Access {
	list := []policy.Access{access(r.tool, u)}
	if proxy := fetch.EnvProxy(r.env.Getenv); proxy != nil {
		if via, err := proxy(u); err == nil && via != nil {
			port, _ := strconv.Atoi(via.Port())
			list = append(list, policy.Access{Kind: policy.Net, Tool: r.tool, Host: via.Hostname(), Port: port, Source: "the proxy that the environment names"})
		}
	}
	return list
}
