package policy

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A hostName is a host as resolvers understand it.
type hostName struct {
	name string     // lower case, ASCII (punycode), no final dot; addresses in their usual form
	addr netip.Addr // valid when the host is an address, in whatever spelling
}

// parseHost normalises a host: case, the final dot, full-width and other
// compatible letters, international names, and the spellings of IPv4
// addresses that C resolvers accept (decimal, hexadecimal, octal, fewer than
// four parts). ok is false for what no host can be called.
func parseHost(s string) (h hostName, ok bool) {
	if !asciiText(s) {
		if !utf8.ValidString(s) {
			return h, false
		}
		s = strings.Map(foldHostRune, norm.NFKC.String(s))
	}
	s = strings.ToLower(s)
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		s = s[1 : len(s)-1]
	}
	if strings.Contains(s, ":") {
		addr, err := netip.ParseAddr(s)
		return hostName{addr.Unmap().WithZone("").String(), addr.Unmap().WithZone("")}, err == nil
	}
	s = strings.TrimSuffix(s, ".")
	if s, ok = asciiLabels(s); !ok {
		return h, false
	}
	if addr, isAddr := parseIPv4(s); isAddr {
		return hostName{addr.String(), addr}, true
	}
	return hostName{name: s}, true
}

func asciiText(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func foldHostRune(r rune) rune {
	switch {
	case r == '。' || r == '．' || r == '｡': // the full stops of IDNA
		return '.'
	case r >= 0x80 && ignorable(r):
		return -1
	}
	return r
}

// asciiLabels checks the labels of a lower-case host and encodes the others.
func asciiLabels(s string) (string, bool) {
	if s == "" || len(s) > 253 {
		return "", false
	}
	if asciiText(s) {
		return s, validLabels(s)
	}
	labels := strings.Split(s, ".")
	for i, label := range labels {
		if !asciiText(label) {
			labels[i] = "xn--" + punycode(label)
		}
	}
	s = strings.Join(labels, ".")
	return s, validLabels(s)
}

func validLabels(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
		for i := 0; i < len(label); i++ {
			c := label[i]
			if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
				return false
			}
		}
	}
	return true
}

// parseIPv4 reads an address as inet_aton does: one to four parts, each
// decimal, 0x hexadecimal or 0 octal; the last fills the bytes that are left.
func parseIPv4(s string) (netip.Addr, bool) {
	var parts [4]uint64
	n := 0
	for part := range strings.SplitSeq(s, ".") {
		if n == 4 || part == "" {
			return netip.Addr{}, false
		}
		base := 10
		switch {
		case strings.HasPrefix(part, "0x"):
			base, part = 16, part[2:]
		case len(part) > 1 && part[0] == '0':
			base = 8
		}
		v, err := strconv.ParseUint(orElse(part, "0"), base, 32)
		if err != nil || part != "" && (part[0] == '+' || part[0] == '-') {
			return netip.Addr{}, false
		}
		parts[n] = v
		n++
	}
	value := parts[n-1]
	if value >= 1<<(8*(5-n)) {
		return netip.Addr{}, false
	}
	for i := range n - 1 {
		if parts[i] > 255 {
			return netip.Addr{}, false
		}
		value |= parts[i] << (24 - 8*i)
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}

// punycode encodes one label (RFC 3492).
func punycode(label string) string {
	const base, tMin, tMax, skew, damp, bias0, n0 = 36, 1, 26, 38, 700, 72, 128
	var out []byte
	runes := []rune(label)
	for _, r := range runes {
		if r < 0x80 {
			out = append(out, byte(r))
		}
	}
	basic := len(out)
	if basic > 0 {
		out = append(out, '-')
	}
	n, delta, bias, done := rune(n0), 0, bias0, basic
	for done < len(runes) {
		m := rune(utf8.MaxRune)
		for _, r := range runes {
			if r >= n {
				m = min(m, r)
			}
		}
		delta += int(m-n) * (done + 1)
		n = m
		for _, r := range runes {
			if r < n {
				delta++
			}
			if r != n {
				continue
			}
			q := delta
			for k := base; ; k += base {
				t := min(max(k-bias, tMin), tMax)
				if q < t {
					break
				}
				out = append(out, punyDigit(t+(q-t)%(base-t)))
				q = (q - t) / (base - t)
			}
			out = append(out, punyDigit(q))
			if done == basic {
				delta /= damp
			} else {
				delta /= 2
			}
			done++
			delta += delta / done
			k := 0
			for ; delta > (base-tMin)*tMax/2; k += base {
				delta /= base - tMin
			}
			bias = k + (base-tMin+1)*delta/(delta+skew)
			delta = 0
		}
		delta++
		n++
	}
	return string(out)
}

func punyDigit(d int) byte {
	if d < 26 {
		return 'a' + byte(d)
	}
	return '0' + byte(d-26)
}

// isPrivate reports whether a host is, or by its name certainly leads to,
// something other than the public network.
func (h *hostName) isPrivate() bool {
	if !h.addr.IsValid() {
		return !strings.Contains(h.name, ".") || hasSuffixOf(h.name, ".localhost", ".local", ".internal", ".lan", ".home.arpa", ".intranet", ".localdomain", ".svc", ".corp", ".home")
	}
	a := h.addr
	if a.IsPrivate() || !a.IsGlobalUnicast() || a.IsLinkLocalUnicast() {
		return true
	}
	b := a.As16()
	if a.Is4() {
		b := a.As4()
		return special4(b)
	}
	// 6to4, Teredo, NAT64, ISATAP, IPv4-compatible, site-local and segment routing's addresses
	// all lead to an address that is not looked at here (IANA special registry).
	switch {
	case b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe, b[0] == 0x5f && b[1] == 0:
		return true
	case b[0] == 0x20 && b[1] == 0x02, b[0] == 0x20 && b[1] == 0x01 && b[2] < 2, b[0] == 0x20 && b[1] == 0x01 && b[2] == 0x0d && b[3] == 0xb8:
		return true
	case b[0] == 0, b[0] == 1, b[0] == 0xfe && b[1]&0xc0 == 0xc0, b[0] == 0x3f && b[1] == 0xff && b[2] < 0x10:
		return true
	}
	return false
}

// special4 knows the special-purpose IPv4 blocks that netip has no name for.
func special4(b [4]byte) bool {
	switch {
	case b[0] == 0, b[0] >= 224, b[0] == 100 && b[1]&0xc0 == 64, b[0] == 198 && b[1]&0xfe == 18:
		return true
	case b[0] == 192 && b[1] == 0 && (b[2] == 0 || b[2] == 2), b[0] == 192 && b[1] == 88 && b[2] == 99:
		return true
	case b[0] == 198 && b[1] == 51 && b[2] == 100, b[0] == 203 && b[1] == 0 && b[2] == 113:
		return true
	}
	return false
}

// isLoopback reports whether a host is this machine's own loopback.
func (h *hostName) isLoopback() bool {
	if h.addr.IsValid() {
		return h.addr.IsLoopback() || h.addr.IsUnspecified()
	}
	return h.name == "localhost" || strings.HasSuffix(h.name, ".localhost")
}

// isMetadata reports the addresses where clouds hand out credentials.
func (h *hostName) isMetadata() bool {
	switch h.name {
	case "169.254.169.254", "168.63.129.16", "169.254.170.2", "169.254.170.23", "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254",
		"metadata.google.internal", "metadata", "instance-data", "instance-data.ec2.internal":
		return true
	}
	return false
}

func hasSuffixOf(s string, suffixes ...string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(s, suffix) {
			return true
		}
	}
	return false
}
