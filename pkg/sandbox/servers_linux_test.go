//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestListening: both ways to ask tell the same servers, at every kind of address.
func TestListening(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "127.0.0.2:0", "0.0.0.0:0", "[::1]:0", "[::]:0", "[::ffff:127.0.0.1]:0"} {
		network := "tcp"
		if strings.HasPrefix(at, "0.0.0.0") {
			network = "tcp4"
		}
		l, err := net.Listen(network, at) //nolint:noctx // it listens at once
		if err != nil {
			t.Logf("no such address here: %v", err)
			continue
		}
		defer l.Close()
		bound := netip.MustParseAddrPort(l.Addr().String())
		bound = netip.AddrPortFrom(bound.Addr().Unmap(), bound.Port())
		asked, errAsked := askListening(bound.Port())
		read, errRead := readListening(bound.Port())
		if errAsked != nil || errRead != nil || len(asked) != 1 || !slices.Equal(asked, read) || asked[0].at != bound {
			t.Errorf("%s: asked %v %v, read %v %v", at, asked, errAsked, read, errRead)
		}
		if all, err := listening(0); err != nil || !slices.Contains(all, asked[0]) {
			t.Errorf("%s is not among all: %v %v", at, all, err)
		}
	}
}

// ownLoopback begins a program that tells what came of connections.
const ownLoopback = `import socket, sys, time, os, threading
def tells(port, host="127.0.0.1", kind=socket.AF_INET, wait=5):
    s = socket.socket(kind); s.settimeout(wait)
    try:
        s.connect((host, port)); return s.recv(20).decode() or "nothing"
    except OSError as e: return type(e).__name__
    finally: s.close()
def serve(port, host="127.0.0.1", text=b"session", n=9999, **o):
    l = socket.create_server((host, port), **o)
    def run():
        for _ in range(n): c = l.accept()[0]; c.sendall(text); c.close()
        l.close()
    threading.Thread(target=run, daemon=True).start()
    return l.getsockname()[1]
`

// machineServer serves outside of any session, as servers of the user's own do.
func machineServer(t *testing.T) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it listens at once
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("machine"))
			_ = c.Close()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

// TestSharedLoopback: where commands share the machine's loopback they reach each other's
// servers in one session, and no others.
func TestSharedLoopback(t *testing.T) {
	machine := machineServer(t)
	for _, uid := range users(t) {
		first, second, stranger, ruled := newBox(t, uid, L2), newBox(t, uid, L2), newBox(t, uid, L2), newBox(t, uid, L2)
		share := filepath.Join(filepath.Dir(first.Report), "net")
		if err := os.Mkdir(share, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(share, uid, uid); err != nil {
			t.Fatal(err)
		}
		first.Share, second.Share, ruled.Share = share, share, share
		ruled.Network, ruled.Hosts = Hosts, []string{"localhost:" + machine}
		tree := first.start(t, "/usr/bin/python3", "-c", ownLoopback+`
print("at", serve(0), serve(0, "::1", family=socket.AF_INET6) if socket.has_ipv6 else 0, flush=True); time.sleep(60)`)
		ports := strings.Fields(waits(t, first, "\n"))[1:]
		program := ownLoopback + fmt.Sprintf(`
print(tells(%[1]s), tells(%[1]s, "0.0.0.0"), tells(%[1]s, "::ffff:127.0.0.1", socket.AF_INET6), tells(%[2]s, "::1", socket.AF_INET6) if %[2]s else "session")
print(*sorted({tells(%[3]s), tells(%[3]s, "0.0.0.0"), tells(%[3]s, "::ffff:127.0.0.1", socket.AF_INET6), tells(%[3]s, "::ffff:0.0.0.0", socket.AF_INET6)}))
print(tells(1))
once = serve(0, n=1); print(tells(once))
both = serve(0, reuse_port=True); serve(both, reuse_port=True); print(*{tells(both) for _ in range(20)})
`, ports[0], ports[1], machine)
		for _, c := range []struct {
			b    *box
			want string
		}{
			{second, "session session session session\nConnectionRefusedError\nConnectionRefusedError\nsession\nsession\n"},
			{stranger, "ConnectionRefusedError ConnectionRefusedError ConnectionRefusedError ConnectionRefusedError\nConnectionRefusedError\nConnectionRefusedError\nsession\nsession\n"},
			{ruled, "session session session session\nmachine\nConnectionRefusedError\nsession\nsession\n"},
		} {
			c.b.run(t, "/usr/bin/python3", "-c", program)
			if c.b.stdout != c.want {
				t.Errorf("%d: %q, want %q; %s %+v", uid, c.b.stdout, c.want, c.b.stderr, c.b.report.Denials)
			}
		}
		if d := second.report.Denials; len(d) == 0 || d[0].Allow != "net(127.0.0.1:"+machine+")" {
			t.Errorf("%d: the rule is not said: %+v", uid, d)
		}
		tree.End(0)
	}
}

// TestServerReplaced: a connection that waits for a server of the session does not come to
// another that takes its address meanwhile, and nobody joins a server of the machine.
func TestServerReplaced(t *testing.T) {
	several := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		if at := c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) }); at != nil {
			return at
		}
		return err
	}}
	l, err := several.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, joint, _ := net.SplitHostPort(l.Addr().String())
	b := newBox(t, os.Getuid(), L2)
	tree := b.start(t, "/usr/bin/python3", "-c", ownLoopback+`
try: serve(`+joint+`, reuse_port=True); print("joined", tells(`+joint+`))
except OSError as e: print("alone")
full = socket.create_server(("127.0.0.1", 0), backlog=0); port = full.getsockname()[1]
queued = [socket.create_connection(("127.0.0.1", port))]
def late(): print(tells(port), flush=True)
threads = [threading.Thread(target=late) for _ in range(2)]
for thread in threads: thread.start()
time.sleep(.3); full.close()
print("swap", port, flush=True)
for thread in threads: thread.join()
other = socket.socket()
try: other.setsockopt(socket.IPPROTO_TCP, 30, 1); print("connects later")
except OSError: print("connects at once")
print("over", flush=True)`)
	defer tree.End(0)
	var joined, port string
	if n, err := fmt.Sscanf(waits(t, b, "swap "), "%s\nswap %s\n", &joined, &port); n != 2 || joined != "alone" {
		t.Fatalf("%s %s: %v", joined, port, err)
	}
	taken, err := several.Listen(t.Context(), "tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if all := waits(t, b, "over"); strings.Count(all, "ConnectionRefusedError") != 2 || !strings.Contains(all, "at once") {
		t.Errorf("%s", all)
	}
	if tcp, ok := taken.(*net.TCPListener); ok {
		_ = tcp.SetDeadline(time.Now().Add(50 * time.Millisecond))
	}
	if c, err := taken.Accept(); err == nil {
		t.Errorf("%s was connected to", c.LocalAddr())
	}
}
