package sandbox

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Seatbelt returns the profile that confines a command on macOS, in the
// language of sandbox-exec, where the last rule that matches decides: files
// may be read but for the hidden ones, written only where the command may, and
// the network is as c says. Hosts are open by name nowhere in that language,
// so Network Hosts opens the loopback, where the proxy is.
func (c *Config) Seatbelt() string {
	var b strings.Builder
	b.WriteString("(version 1)\n(allow default)\n")
	b.WriteString("(deny file-write*)\n")
	rule(&b, "allow file-write*", "subpath", c.writable())
	rule(&b, "allow file-write*", "literal", []string{"/dev/null", "/dev/zero", "/dev/tty", "/dev/dtracehelper", "/dev/stdout", "/dev/stderr"})
	b.WriteString("(allow file-write* (regex #\"^/dev/(tty|pty)[a-z0-9]+$\"))\n")
	b.WriteString("(allow file-ioctl (regex #\"^/dev/(tty|pty)[a-z0-9]*$\"))\n")
	rule(&b, "deny file-write*", "subpath", c.ReadOnly)
	// What lies above a protected path must not be moved away with it.
	var above []string
	for _, p := range c.ReadOnly {
		for dir := parent(p); belowAny(dir, c.writable()) && !slices.Contains(c.writable(), dir); dir = parent(dir) {
			above = append(above, dir)
		}
	}
	slices.Sort(above)
	rule(&b, "deny file-write-unlink", "literal", slices.Compact(above))
	rule(&b, "deny file-read-data file-write*", "subpath", c.Hidden)
	c.seatbeltNetwork(&b)
	b.WriteString("(deny mach-priv-task-port)\n(deny process-info-pidinfo (target others))\n(deny signal)\n(allow signal (target same-sandbox))\n")
	b.WriteString("(deny system-socket)\n(deny appleevent-send)\n(deny job-creation)\n")
	return b.String()
}

func (c *Config) seatbeltNetwork(b *strings.Builder) {
	if c.network() == Open {
		return
	}
	b.WriteString("(deny network*)\n")
	rule(b, "allow network*", "subpath", c.writable()) // sockets in the file system
	if c.network() != NoNet {
		b.WriteString("(allow network* (local ip \"localhost:*\"))\n(allow network-outbound (remote ip \"localhost:*\"))\n")
	}
	for _, h := range c.Hosts {
		// Only addresses of this machine can be named.
		if at, err := netip.ParseAddrPort(h); err == nil && at.Addr().IsLoopback() {
			fmt.Fprintf(b, "(allow network-outbound (remote ip \"localhost:%d\"))\n", at.Port())
		}
	}
}

// rule writes one rule over paths, or nothing for none.
func rule(b *strings.Builder, what, match string, paths []string) {
	if len(paths) == 0 {
		return
	}
	b.WriteString("(" + what)
	for _, p := range paths {
		b.WriteString("\n  (" + match + " " + quoteScheme(p) + ")")
	}
	b.WriteString(")\n")
}

// quoteScheme quotes s as the profile's language does.
func quoteScheme(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
