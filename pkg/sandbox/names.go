package sandbox

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
)

// Names gives the names that a command looks up addresses that stand for them.
// Programs that know nothing of proxies connect to one of these, and the gatekeeper
// leads them to the proxy, which looks up the name itself. The addresses are from
// the block for benchmarks (RFC 2544), which is routed nowhere.
type names struct {
	mu     sync.Mutex
	byName map[string]netip.Addr
	byAddr map[netip.Addr]string
}

// maxNames bounds them: the block has room for more.
const maxNames = 60_000

// addr is the address that stands for a name.
func (n *names) addr(name string) (netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if a, ok := n.byName[name]; ok {
		return a, nil
	}
	if n.byName == nil {
		n.byName, n.byAddr = map[string]netip.Addr{}, map[netip.Addr]string{}
	}
	i := len(n.byName) + 1
	if i > maxNames {
		return netip.Addr{}, errors.New("too many names")
	}
	a := netip.AddrFrom4([4]byte{198, 18, byte(i >> 8), byte(i)})
	n.byName[name], n.byAddr[a] = a, name
	return a, nil
}

// host is what an address stands for: a name, or itself.
func (n *names) host(a netip.Addr) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if name, ok := n.byAddr[a.Unmap()]; ok {
		return name
	}
	return a.Unmap().String()
}

// serve answers the questions of one TCP connection (RFC 1035 and RFC 7766).
func (n *names) serve(c net.Conn) {
	for {
		var size [2]byte
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(c, query); err != nil {
			return
		}
		reply := n.reply(query)
		if reply == nil {
			return
		}
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
			return
		}
	}
}

// What a message of DNS holds.
const (
	dnsHeader   = 12
	dnsResponse = 1<<15 | 1<<8 | 1<<7 // an answer, recursion wanted and had
	dnsNoName   = 3
	dnsA        = 1
	dnsInternet = 1
	dnsToName   = 0xc000 | dnsHeader // the name stands in the question
)

// reply answers one question: an address for every name that could be one, and
// nothing for other kinds of question. It is nil for what is none.
func (n *names) reply(query []byte) []byte {
	if len(query) < dnsHeader || binary.BigEndian.Uint16(query[4:]) != 1 || query[2]&0xf8 != 0 {
		return nil
	}
	var labels []string
	at := dnsHeader
	for at < len(query) && query[at] != 0 {
		size := int(query[at])
		if size > 63 || at+1+size > len(query) {
			return nil
		}
		labels = append(labels, string(query[at+1:at+1+size]))
		at += 1 + size
	}
	if at+5 > len(query) {
		return nil
	}
	question := query[dnsHeader : at+5]
	kind, class := binary.BigEndian.Uint16(query[at+1:]), binary.BigEndian.Uint16(query[at+3:])
	flags := uint16(dnsResponse)
	var addr netip.Addr
	name, err := hostName(strings.Join(labels, "."))
	if err == nil && strings.Contains(name, ".") {
		addr, err = n.addr(name)
	} else {
		err = errors.New("no name of a host elsewhere")
	}
	if err != nil {
		flags |= dnsNoName
	}
	found := err == nil && kind == dnsA && class == dnsInternet
	reply := append([]byte{}, query[:2]...)
	reply = binary.BigEndian.AppendUint16(reply, flags)
	reply = append(reply, 0, 1, 0, 0, 0, 0, 0, 0)
	reply = append(reply, question...)
	if found {
		reply[7] = 1
		four := addr.As4()
		for _, v := range []uint16{dnsToName, dnsA, dnsInternet, 0, 60, 4} {
			reply = binary.BigEndian.AppendUint16(reply, v)
		}
		reply = append(reply, four[:]...)
	}
	return reply
}
