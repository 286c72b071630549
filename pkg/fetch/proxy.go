package fetch

import (
	"net/url"

	"golang.org/x/net/http/httpproxy"
)

// EnvProxy is the proxy that the environment names in HTTP_PROXY, HTTPS_PROXY and
// NO_PROXY, in either case; nil where it names none.
func EnvProxy(getenv func(string) string) func(*url.URL) (*url.URL, error) {
	first := func(names ...string) string {
		for _, name := range names {
			if v := getenv(name); v != "" {
				return v
			}
		}
		return ""
	}
	c := httpproxy.Config{
		HTTPProxy:  first("HTTP_PROXY", "http_proxy"),
		HTTPSProxy: first("HTTPS_PROXY", "https_proxy"),
		NoProxy:    first("NO_PROXY", "no_proxy"),
	}
	if c.HTTPProxy == "" && c.HTTPSProxy == "" {
		return nil
	}
	return c.ProxyFunc()
}
