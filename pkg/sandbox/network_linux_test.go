//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// ownServer is a program that serves itself on the loopback.
const ownServer = `python3 -c '
import threading, urllib.request, http.server
s = http.server.HTTPServer(("", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=s.serve_forever, daemon=True).start()
print("own", urllib.request.build_opener(urllib.request.ProxyHandler({})).open("http://localhost:%d/" % s.server_port).status)
' 2>/dev/null
`

// TestNetworks shows what a command reaches in each mode: a server of its own,
// one of the machine by the proxy, and one that is not listed.
func TestNetworks(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "from-the-machine") }))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range levels() {
		for mode, want := range map[Network][]string{
			Loopback: {"own 200", "no-proxy"},
			Hosts:    {"own 200", "listed from-the-machine", "unlisted 403"},
			Open:     {"own 200", "direct from-the-machine"},
		} {
			b := newBox(t, os.Getuid(), level)
			b.Network, b.Hosts = mode, nil
			if mode == Hosts {
				b.Hosts = []string{"127.0.0.1:" + port}
			}
			b.bash(t, ownServer+strings.ReplaceAll(`
				if [ -z "$HTTP_PROXY" ]; then echo no-proxy; else
					echo listed $(curl -s --noproxy '' http://127.0.0.1:PORT/)
					echo unlisted $(curl -s --noproxy '' -o /dev/null -w '%{http_code}' http://127.0.0.2:PORT/); fi
				echo direct $(curl -s --noproxy '*' http://127.0.0.1:PORT/)`, "PORT", port))
			for _, w := range want {
				if !strings.Contains(b.stdout, w) {
					t.Errorf("%s %s: no %q in %q %s", level, mode, w, b.stdout, b.stderr)
				}
			}
			if reached := strings.Contains(b.stdout, "direct from-the-machine"); mode != Open && level == L3 && reached {
				t.Errorf("%s %s: it reached the machine: %s", level, mode, b.stdout)
			}
			if mode == Hosts && (len(b.report.Denials) != 1 || b.report.Denials[0].Kind != DeniedHost) {
				t.Errorf("%s: reported %+v", level, b.report.Denials)
			}
			if b.report.Network != mode {
				t.Errorf("%s: the report says %s", level, b.report.Network)
			}
		}
	}
}
