package sandbox

import (
	"encoding/binary"
	"strings"
	"testing"
)

// question is one of DNS about a name.
func question(name string, kind uint16) []byte {
	q := []byte{0xab, 0xcd, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}
	for label := range strings.SplitSeq(name, ".") {
		q = append(append(q, byte(len(label))), label...)
	}
	q = append(q, 0)
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(q, kind), 1)
}

// TestReply: every name that could be a host's has one address, which leads back to it.
func TestReply(t *testing.T) {
	n := &names{}
	for _, name := range []string{"example.org", "EXAMPLE.org", "a.b-c.test"} {
		r := n.reply(question(name, dnsA))
		if len(r) < 16 || r[3]&15 != 0 || r[7] != 1 {
			t.Fatalf("%s: % x", name, r)
		}
		addr, err := n.addr(strings.ToLower(name))
		four := addr.As4()
		if err != nil || string(r[len(r)-4:]) != string(four[:]) || n.host(addr) != strings.ToLower(name) {
			t.Errorf("%s: % x, %s", name, r, addr)
		}
	}
	if a, b := n.reply(question("example.org", dnsA)), n.reply(question("example.org", 28)); a[7] != 1 || b[7] != 0 || b[3]&15 != 0 {
		t.Errorf("it has no other kind of address, and is there: % x", b)
	}
	for _, name := range []string{"nodots", "a b.test", "0x7f.1", "127.1", "a\x00.test"} {
		if r := n.reply(question(name, dnsA)); r == nil || r[3]&15 != dnsNoName || r[7] != 0 {
			t.Errorf("%q: % x", name, r)
		}
	}
	for _, q := range [][]byte{nil, {1, 2, 3}, question("a.test", 1)[:18], make([]byte, 12), append(question("a.test", 1)[:12], 0xc0, 12, 0, 1, 0, 1)} {
		if r := n.reply(q); r != nil {
			t.Errorf("% x is answered by % x", q, r)
		}
	}
}

func FuzzReply(f *testing.F) {
	f.Add(question("example.org", 1))
	f.Fuzz(func(_ *testing.T, q []byte) { (&names{}).reply(q) })
}
