//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// waits has the box print something, and returns what it printed so far.
func waits(t *testing.T, b *box, word string) string {
	t.Helper()
	for range 5000 {
		if text, err := os.ReadFile(b.out.Name()); err == nil && strings.Contains(string(text), word) {
			return string(text)
		}
		time.Sleep(10 * time.Millisecond)
	}
	errors, _ := os.ReadFile(b.err.Name())
	t.Fatalf("it did not come to print %s: %s", word, errors)
	return ""
}

// TestSession: commands that name the same directory share a loopback while one of
// them lives, and nothing else: not what the other may reach, not its processes.
func TestSession(t *testing.T) {
	machine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "from-the-machine") }))
	defer machine.Close()
	_, port, err := net.SplitHostPort(machine.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, uid := range users(t) {
		first, second := newBox(t, uid, L3), newBox(t, uid, L3)
		share := filepath.Join(filepath.Dir(first.Report), "net")
		if err := os.Mkdir(share, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(share, uid, uid); err != nil {
			t.Fatal(err)
		}
		// What a killed one has left is passed over.
		if l, err := net.Listen("unixpacket", filepath.Join(share, "1-1.sock")); err != nil { //nolint:noctx // it listens at once
			t.Fatal(err)
		} else {
			l.(*net.UnixListener).SetUnlinkOnClose(false)
			_ = l.Close()
		}
		first.Share, second.Share = share, share
		first.Network, first.Hosts, second.Network = Hosts, []string{"127.0.0.1:" + port}, Hosts
		tree := first.start(t, "/bin/bash", "-c", `curl -s --noproxy '' http://127.0.0.1:`+port+`/; echo; readlink /proc/self/ns/net; python3 -c '
import socket, time
s = socket.create_server(("127.0.0.1", 3000))
a = socket.socket(socket.AF_UNIX); a.bind("\0session"); a.listen()
print("up", flush=True)
while True: s.accept()[0].sendall(b"hello")'`)
		printed := waits(t, first, "up\n")
		if !strings.HasPrefix(printed, "from-the-machine\n") {
			t.Errorf("%d: the first does not get out: %s", uid, printed)
		}
		second.bash(t, `readlink /proc/self/ns/net; python3 -c '
import socket, os
print(socket.create_connection(("127.0.0.1", 3000)).recv(9))
print("processes", len([p for p in os.listdir("/proc") if p.isdigit()]))
# every port that listens here: one of them is the proxy of the first
for line in open("/proc/net/tcp").read().splitlines()[1:]:
    f = line.split()
    at = int(f[1].split(":")[1], 16)
    if f[3] != "0A" or at == 3000: continue
    c = socket.create_connection(("127.0.0.1", at)); c.settimeout(5)
    try:
        c.sendall(b"GET http://127.0.0.1:`+port+`/ HTTP/1.1\r\nHost: x\r\n\r\n"); print("proxy", b"".join(iter(lambda: c.recv(999), b"")))
    except OSError as e: print("proxy", e)'
curl -s --noproxy '' -o /dev/null -w 'own %{http_code}\n' http://127.0.0.1:`+port+`/
awk '$1 == "lo:" && $2 > 0 {print "bytes"}' /proc/net/dev`)
		network := strings.Split(printed, "\n")[1]
		if !strings.HasPrefix(second.stdout, network+"\nb'hello'\n") || !strings.HasSuffix(second.stdout, "own 403\nbytes\n") {
			t.Errorf("%d: %s\n%s %+v", uid, second.stdout, second.stderr, second.report)
		}
		if strings.Contains(second.stdout, "from-the-machine") || strings.Count(second.stdout, "proxy ") < 2 {
			t.Errorf("%d: it gets where the other may go: %s", uid, second.stdout)
		}
		third := newBox(t, uid, L3)
		third.bash(t, "readlink /proc/self/ns/net; (exec 3<>/dev/tcp/127.0.0.1/3000 && head -c5 <&3) || echo refused")
		if strings.Contains(third.stdout, network) || !strings.Contains(third.stdout, "refused") {
			t.Errorf("%d: who is not of the session: %s", uid, third.stdout)
		}
		tree.End(0)
		// The number of a namespace that has ended may be given to the next one, so that
		// it is told by what has passed its loopback.
		passed := `awk '$1 == "lo:" {print $2}' /proc/net/dev`
		// Who answers for the ended command may find out a moment later.
		for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
			if second.bash(t, passed); second.stdout == "0\n" {
				break
			}
			if time.Since(begun) > 2*time.Minute {
				t.Errorf("%d: the network outlives its commands: %q bytes have passed", uid, second.stdout)
				break
			}
		}
	}
}

// TestForeignNamespace: nobody is made to join the network of the machine.
func TestForeignNamespace(t *testing.T) {
	for _, kind := range []string{"net", "user"} {
		f, err := os.Open("/proc/self/ns/" + kind)
		if err != nil {
			t.Fatal(err)
		}
		if foreign(int(f.Fd()), kind) == nil {
			t.Errorf("our own %s namespace is taken for a session's", kind)
		}
		_ = f.Close()
	}
	f, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if foreign(int(f.Fd()), "net") == nil {
		t.Error("a device is taken for a namespace")
	}
}

// TestNames: a program that knows nothing of proxies finds and reaches hosts that are
// allowed, or that someone allows who is asked, and no others; what is refused is
// named.
func TestNames(t *testing.T) {
	for _, uid := range users(t) {
		for _, level := range levels() {
			b := newBox(t, uid, level)
			b.Network, b.Hosts = Hosts, []string{"listed.test:*", "127.0.0.5:8080"}
			b.Policy = json.RawMessage(`{"Hosts":["asked.test:443"]}`)
			b.bash(t, `python3 -c '
import socket
def reach(host, port):
    try:
        socket.create_connection((host, port), 10)
        print(host, "connected")
    except socket.gaierror: print(host, "unknown")
    except OSError as e: print(host, e.strerror)
reach("listed.test", 5432)
reach("asked.test", 443)
reach("asked.test", 22)
reach("other.test", 443)
reach("192.0.2.7", 443)
reach("nodots", 80)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try: s.connect(("192.0.2.7", 53)); print("udp connected")
except OSError as e: print("udp refused")
'`)
			want := "listed.test connected\nasked.test connected\nasked.test Permission denied\nother.test Permission denied\n192.0.2.7 Permission denied\nnodots unknown\nudp refused\n"
			if level == L2 { // there the socket itself is refused
				want = strings.Replace(want, "udp refused\n", "", 1)
			}
			if !strings.HasPrefix(b.stdout, want) {
				t.Errorf("%s as %d: %s%s", level, uid, b.stdout, b.stderr)
			}
			var refused []string
			for _, d := range b.report.Denials {
				if d.Kind == DeniedHost && d.Why == "nobody allows it" {
					refused = append(refused, d.Path)
				}
			}
			if !slices.Equal(refused, []string{"asked.test:22", "other.test:443", "192.0.2.7:443"}) {
				t.Errorf("%s as %d: refused %q", level, uid, refused)
			}
		}
	}
}

// TestSockets: of the sockets of others the command reaches those that are listed.
func TestSockets(t *testing.T) {
	for _, uid := range users(t) {
		for _, level := range levels() {
			b := newBox(t, uid, level)
			var list []string
			for _, name := range []string{"agent", "other"} {
				at := filepath.Join(filepath.Dir(b.dir), "out", name)
				l, err := net.Listen("unix", at) //nolint:noctx // it listens at once
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				if err := os.Chmod(at, 0o777); err != nil {
					t.Fatal(err)
				}
				list = append(list, at)
			}
			b.Sockets = list[:1]
			b.bash(t, fmt.Sprintf(`python3 -c '
import socket
for at in %q, %q:
    try: socket.socket(socket.AF_UNIX).connect(at); print("connected")
    except OSError as e: print(e.strerror)'`, list[0], list[1]))
			if b.stdout != "connected\nPermission denied\n" {
				t.Errorf("%s as %d: %s%s", level, uid, b.stdout, b.stderr)
			}
		}
	}
}

// TestSocketFiles: the commands of a session reach each other's servers that listen at files, also those
// that go on as their own children, and no servers of others.
func TestSocketFiles(t *testing.T) {
	const client = `
import socket, sys
for at in sys.argv[1:]:
    s = socket.socket(socket.AF_UNIX); s.settimeout(5)
    try: s.connect(at); print(at, s.recv(9).decode())
    except OSError as e: print(at, e.strerror)
`
	for _, uid := range users(t) {
		for _, level := range levels() {
			first, second, stranger := newBox(t, uid, level), newBox(t, uid, level), newBox(t, uid, level)
			share := filepath.Join(filepath.Dir(first.Report), "net")
			if err := os.Mkdir(share, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(share, uid, uid); err != nil {
				t.Fatal(err)
			}
			first.Share, second.Share = share, share
			for _, b := range []*box{second, stranger} {
				b.Root, b.dir = first.Root, first.dir
			}
			tree := first.start(t, "/usr/bin/python3", "-c", `
import os, socket, sys
def serve(at):
    s = socket.socket(socket.AF_UNIX); s.bind(at); s.listen()
    return s
stays, forks, moved = serve("stays"), serve("forks"), serve("before")
os.rename("before", "moved")
if os.fork() == 0:
    if os.fork() == 0:
        while True: forks.accept()[0].sendall(b"child")
    os._exit(0)
os.wait(); forks.close()
if os.fork() == 0:
    while True: moved.accept()[0].sendall(b"moved")
moved.close()
print("up", flush=True)
while True: stays.accept()[0].sendall(b"parent")`)
			waits(t, first, "up\n")
			foreign, err := net.Listen("unix", filepath.Join(first.dir, "foreign")) //nolint:noctx // it listens at once
			if err != nil {
				t.Fatal(err)
			}
			defer foreign.Close()
			if err := os.Chmod(filepath.Join(first.dir, "foreign"), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.Link(filepath.Join(first.dir, "foreign"), filepath.Join(first.dir, "link")); err != nil {
				t.Fatal(err)
			}
			const refused = "Permission denied\n"
			for _, c := range []struct {
				b    *box
				want string
			}{
				{second, "stays parent\nforks child\nmoved moved\nforeign " + refused + "link " + refused},
				{stranger, "stays " + refused + "forks " + refused + "moved " + refused + "foreign " + refused + "link " + refused},
			} {
				c.b.run(t, "/usr/bin/python3", "-c", client, "stays", "forks", "moved", "foreign", "link")
				if c.b.stdout != c.want {
					t.Errorf("%s as %d: %q, want %q; %s %+v", level, uid, c.b.stdout, c.want, c.b.stderr, c.b.report.Denials)
				}
			}
			// Within one command a server may have ended that began to listen.
			stranger.run(t, "/bin/bash", "-c", `python3 -c '
import os, socket
s = socket.socket(socket.AF_UNIX); s.bind("own"); s.listen()
if os.fork() == 0:
    s.accept()[0].sendall(b"own")
'; python3 -c "$0" own`, client)
			if level < L3 && stranger.stdout != "own own\n" { // it has a session's network there only
				t.Errorf("%s as %d: %q; %s %+v", level, uid, stranger.stdout, stranger.stderr, stranger.report.Denials)
			}
			tree.End(0)
		}
	}
}

// TestSocketLate: another's server that comes to listen while a command runs hears nothing of it, not even for as long as
// somebody looks whose it is. Who has not begun to listen yet is nobody's server.
func TestSocketLate(t *testing.T) {
	for _, uid := range users(t) {
		for _, level := range levels() {
			b := newBox(t, uid, level)
			b.Share = filepath.Join(filepath.Dir(b.Report), "net")
			if err := errors.Join(os.Mkdir(b.Share, 0o700), os.Chown(b.Share, uid, uid)); err != nil {
				t.Fatal(err)
			}
			tree := b.start(t, "/usr/bin/python3", "-c", `
import os, socket, time
print("up", flush=True)
while not os.path.exists("there"): time.sleep(0.01)
def attempt(at):
    s = socket.socket(socket.AF_UNIX); s.settimeout(5)
    try: s.connect(at); print(at, "connected", flush=True)
    except OSError as e: print(at, e.strerror, flush=True)
for n in range(20): attempt("late")
own = socket.socket(socket.AF_UNIX); own.bind("own")
attempt("own")
own.listen()
attempt("own")
print("end", flush=True)`)
			waits(t, b, "up\n")
			late, err := net.Listen("unix", filepath.Join(b.dir, "late")) //nolint:noctx // it listens at once
			if err != nil {
				t.Fatal(err)
			}
			heard := make(chan bool, 100)
			go func() {
				for {
					c, err := late.Accept()
					if err != nil {
						close(heard)
						return
					}
					heard <- true
					_ = c.Close()
				}
			}()
			if err := errors.Join(os.Chmod(filepath.Join(b.dir, "late"), 0o777), os.WriteFile(filepath.Join(b.dir, "there"), nil, 0o666)); err != nil { //nolint:gosec // the other user is to reach it
				t.Fatal(err)
			}
			out := waits(t, b, "end\n")
			if want := "up\n" + strings.Repeat("late Permission denied\n", 20) + "own Connection refused\nown connected\nend\n"; out != want {
				t.Errorf("%s as %d: %q, want %q", level, uid, out, want)
			}
			_ = late.Close()
			for range heard {
				t.Errorf("%s as %d: the server was connected to", level, uid)
			}
			tree.End(0)
		}
	}
}

// TestMachine: at L3 no spelling of the loopback leads to this machine's, nor does a
// name that the proxy may connect to.
func TestMachine(t *testing.T) {
	reached := make(chan string, 100)
	ports := map[string]string{}
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", at) //nolint:noctx // it listens at once
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				reached <- c.LocalAddr().String()
				_ = c.Close()
			}
		}()
		_, ports[at], _ = net.SplitHostPort(l.Addr().String())
	}
	abstract, err := net.Listen("unix", "@machine"+ports["127.0.0.1:0"]) //nolint:noctx // it listens at once
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	for _, uid := range users(t) {
		b := newBox(t, uid, L3)
		four, six := ports["127.0.0.1:0"], ports["[::1]:0"]
		b.Network, b.Hosts = Hosts, []string{"localhost:" + four, "localhost.localdomain:*"}
		b.bash(t, fmt.Sprintf(`python3 -c '
import socket
def attempt(family, to):
    s = socket.socket(family); s.settimeout(5)
    try: s.connect(to); print("connected", to)
    except OSError as e: print("refused")
for host in "127.0.0.1", "127.0.0.2", "0.0.0.0", "localhost": attempt(socket.AF_INET, (host, %[1]s))
for host in "::1", "::ffff:127.0.0.1", "::": attempt(socket.AF_INET6, (host, %[1]s)); attempt(socket.AF_INET6, (host, %[2]s))
attempt(socket.AF_UNIX, "\0machine%[1]s")
'
for host in localhost localhost.localdomain 127.0.0.1 '[::1]'; do curl -sS --noproxy '' -o /dev/null -w '%%{http_code}\n' http://$host:%[1]s/; done
curl -sS --noproxy '' -p -o /dev/null https://localhost:%[1]s/`, four, six))
		if strings.Contains(b.stdout, "connected") || strings.Count(b.stdout, "refused") != 11 || !strings.Contains(b.stdout, "403\n") {
			t.Errorf("%d: %s%s", uid, b.stdout, b.stderr)
		}
	}
	select {
	case at := <-reached:
		t.Errorf("%s of the machine was reached", at)
	default:
	}
}
