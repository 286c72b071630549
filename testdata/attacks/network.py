# Ways to reach what is not the command's own by sockets. Where something was reached
# the servers outside notice; what is said here is only how. See README.md.
import ctypes, os, signal, socket, struct, subprocess, sys

tcp = int(os.environ["ATTACK_TCP"])  # a server on every address of the machine
udp = int(os.environ["ATTACK_UDP"])
ip = os.environ["ATTACK_IP"]  # the machine's own address that is not its loopback
path = os.environ["ATTACK_SOCKET"]
level = os.environ["ATTACK_LEVEL"]
libc = ctypes.CDLL(None, use_errno=True)
ways = {}
word = b"GET /reached HTTP/1.0\r\n\r\n"


def way(f):
    ways[f.__name__] = f
    return f


def tell(family, to, kind=socket.SOCK_STREAM, proto=0):
    s = socket.socket(family, kind, proto)
    s.settimeout(2)
    s.connect(to)
    s.sendall(word)
    if kind == socket.SOCK_STREAM and not s.recv(1):
        raise OSError("nobody answered")


def family(name, number, kind, proto=0):
    def f():
        socket.socket(number, kind, proto)
    f.__name__ = name
    ways[name] = f


@way
def tcp_out(): tell(socket.AF_INET, (ip, tcp))
@way
def tcp_mapped(): tell(socket.AF_INET6, ("::ffff:" + ip, tcp))
@way
def tcp_nonblocking():
    s = socket.socket()
    s.setblocking(False)
    s.connect_ex((ip, tcp))
    s.setblocking(True)
    s.settimeout(1)
    s.sendall(word)
@way
def tcp_bound():
    s = socket.socket()
    s.bind((ip, 0))
    s.connect((ip, tcp))
@way
def tcp_fastopen():
    socket.socket().sendto(word, 0x20000000, (ip, tcp))
@way
def tcp_fastopen_connect():
    s = socket.socket()
    s.setsockopt(socket.IPPROTO_TCP, 30, 1)
    s.settimeout(2)
    s.connect((ip, tcp))
    s.sendall(word)
    s.recv(1)
@way
def mptcp(): tell(socket.AF_INET, (ip, tcp), proto=262)
@way
def sctp(): tell(socket.AF_INET, (ip, tcp), proto=132)
@way
def udp_out(): socket.socket(type=socket.SOCK_DGRAM).sendto(b"reached", (ip, udp))
@way
def udp_connected():
    s = socket.socket(type=socket.SOCK_DGRAM)
    s.connect((ip, udp))
    s.send(b"reached")
@way
def udp_loopback(): tell_udp(("127.0.0.1", udp))
def tell_udp(to):
    s = socket.socket(type=socket.SOCK_DGRAM)
    s.settimeout(1)
    s.sendto(b"reached", to)
    s.recv(10)
@way
def udp_broadcast():
    s = socket.socket(type=socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    s.sendto(b"reached", ("255.255.255.255", udp))
@way
def udp_multicast(): socket.socket(type=socket.SOCK_DGRAM).sendto(b"reached", ("224.0.0.251", 5353))
@way
def udplite(): socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 136).sendto(b"reached", (ip, udp))
@way
def device():
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, 25, b"eth0\0")
    s.settimeout(1)
    s.connect((ip, tcp))
    s.recv(1)
@way
def reconnected():  # first to what is allowed
    l = socket.socket()
    l.bind(("127.0.0.1", 0))
    l.listen()
    s = socket.socket()
    s.connect(l.getsockname())
    libc.connect(s.fileno(), bytes(16), 16)
    s.settimeout(1)
    s.connect((ip, tcp))
    s.sendall(word)
@way
def many_messages():
    s = socket.socket()
    s.sendmsg([word], [], 0x20000000, (ip, tcp))
@way
def link_up():  # netlink: an address of one's own
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    s.bind((0, 0))
    body = struct.pack("BBBBI", socket.AF_INET, 8, 0, 0, 1) + struct.pack("HH4s", 8, 2, socket.inet_aton("10.9.8.7"))
    s.send(struct.pack("IHHII", 16 + len(body), 20, 5, 1, 0) + body)
    if struct.unpack("i", s.recv(4096)[16:20])[0]:
        raise OSError("refused")
@way
def resolver():
    import re
    at = re.findall(r"nameserver (\S+)", open("/etc/resolv.conf").read())[0]
    s = socket.socket(type=socket.SOCK_DGRAM)
    s.settimeout(1)
    s.sendto(b"\0\1\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0\1", (at, 53))
    s.recv(512)


for n, (fam, kind, proto) in {"raw": (2, 3, 1), "ping": (2, 2, 1), "raw6": (10, 3, 58), "packet": (17, 3, 0), "packet_dgram": (17, 2, 0), "vsock": (40, 1, 0), "alg": (38, 5, 0), "key": (15, 3, 2), "xdp": (44, 3, 0), "bluetooth": (31, 3, 0), "can": (29, 3, 1), "rds": (21, 5, 0), "tipc": (30, 1, 0), "dccp": (2, 6, 33), "uevent": (16, 3, 15), "generic": (16, 3, 16), "netfilter": (16, 3, 12), "audit": (16, 3, 9), "connector": (16, 3, 11), "xfrm": (16, 3, 6), "inet_diag": (16, 3, 4), "unix_dgram": (1, 2, 0), "unix_raw": (1, 3, 0), "qipcrtr": (42, 2, 0), "smc": (43, 1, 0), "appletalk": (5, 2, 0), "kcm": (41, 2, 0), "nfc": (39, 5, 0)}.items():
    family(n, fam, kind, proto)


def proxied(host, method="CONNECT"):
    def f():
        at = os.environ["HTTP_PROXY"].split("/")[2].rsplit(":", 1)
        s = socket.create_connection((at[0], int(at[1])), 2)
        s.settimeout(3)
        if method == "CONNECT":
            s.sendall(f"CONNECT {host}:{tcp} HTTP/1.1\r\n\r\n".encode())
        else:
            s.sendall(f"GET http://{host}:{tcp}/reached HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        if b" 200 " not in s.recv(100):
            raise OSError("refused")
    ways[f"{method} {host}"] = f


for host in ["127.0.0.1", "localhost", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "localhost.", "localtest.me", "a@127.0.0.1", "127.0.0.1%00.example.com", "example.com\\@127.0.0.1", "127.0.0.1#.allowed.example", ip, f"[::ffff:{ip}]", socket.gethostname(), "169.254.169.254", "metadata.google.internal"]:
    proxied(host)
    proxied(host, "GET")

ways["loopback"] = lambda: tell(socket.AF_INET, ("127.0.0.1", tcp))
ways["loopback 6"] = lambda: tell(socket.AF_INET6, ("::1", tcp))
ways["loopback mapped"] = lambda: tell(socket.AF_INET6, ("::ffff:127.0.0.1", tcp))
ways["loopback 2"] = lambda: tell(socket.AF_INET, ("127.0.0.2", tcp))
ways["unspecified"] = lambda: tell(socket.AF_INET, ("0.0.0.0", tcp))
ways["unspecified 6"] = lambda: tell(socket.AF_INET6, ("::", tcp))
ways["localhost"] = lambda: socket.create_connection(("localhost", tcp), 1)
ways["udp on the loopback"] = lambda: tell_udp(("127.0.0.1", udp))


def own():  # a server of the command's
    l = socket.create_server(("127.0.0.1", 0), backlog=200)
    return l, l.getsockname()[1]
@way
def loopback_swapped():  # the address changes while somebody looks at it
    import threading
    l, port = own()
    at = [struct.pack("=H", 2) + struct.pack("!H4s8x", p, socket.inet_aton("127.0.0.1")) for p in (port, tcp)]
    memory = ctypes.create_string_buffer(at[0], 16)
    stop = []
    def swap():
        while not stop:
            memory[0:16], memory[0:16] = at[1], at[0]
    t = threading.Thread(target=swap)
    t.start()
    won = False
    for _ in range(300):
        s = socket.socket()
        if libc.connect(s.fileno(), memory, 16) == 0 and s.getpeername()[1] == tcp:
            s.sendall(word)
            won = True
        s.close()
    stop.append(1)
    t.join()
    if not won:
        raise OSError("not reached")
@way
def loopback_later():  # with the first byte
    if level == "L3":
        raise OSError("its loopback is its own")
    l, port = own()
    s = socket.socket()
    s.setsockopt(socket.IPPROTO_TCP, 30, 1)
    s.setsockopt(socket.IPPROTO_TCP, 34, 1)
    s.connect(("127.0.0.1", port))
@way
def loopback_again():  # first to what is allowed
    l, port = own()
    s = socket.socket()
    s.connect(("127.0.0.1", port))
    libc.connect(s.fileno(), bytes(16), 16)
    s.settimeout(1)
    s.connect(("127.0.0.1", tcp))
    s.sendall(word)
    if not s.recv(1):
        raise OSError("nobody answered")
@way
def loopback_two_threads():  # one socket is connected to both
    import threading
    l, port = own()
    won = False
    for _ in range(100):
        s = socket.socket()
        s.setblocking(False)
        other = threading.Thread(target=lambda: [s.connect_ex(("127.0.0.1", tcp)), libc.connect(s.fileno(), bytes(16), 16), s.connect_ex(("127.0.0.1", tcp))])
        other.start()
        s.connect_ex(("127.0.0.1", port))
        other.join()
        try:
            if s.getpeername()[1] == tcp:
                s.sendall(word)
                won = True
        except OSError:
            pass
        s.close()
    if not won:
        raise OSError("not reached")
@way
def loopback_taken():  # a server of the command's where one of this machine's is
    if level == "L3":
        raise OSError("its loopback is its own")
    for option in (2, 15):
        l = socket.socket()
        l.setsockopt(socket.SOL_SOCKET, option, 1)
        try:
            l.bind(("127.0.0.1", tcp))
            l.listen()
            return
        except OSError:
            pass
    raise OSError("it is taken")


if level != "L3":
    def everybody():
        s = socket.socket()
        s.bind(("0.0.0.0", 0))
        s.listen()
        if s.getsockname()[0] != "0.0.0.0":
            raise OSError("it got the loopback")
    ways["listening to all"] = everybody

    def bound():
        s = socket.socket()
        s.bind((ip, 0))
        s.listen()
    ways["listening outside"] = bound

    def unbound():
        s = socket.socket()
        s.listen()
        if s.getsockname()[0] != "0.0.0.0":
            raise OSError("it got the loopback")
    ways["listening unbound"] = unbound


def unix(name, to):
    def f():
        tell(socket.AF_UNIX, to)
    ways["unix " + name] = f


def link(how):
    def f():
        n = f"{os.environ['ATTACK_ROOT']}/loot/s{os.getpid()}"
        how(path, n)
        tell(socket.AF_UNIX, n)
    return f


unix("path", path)
unix("root", "/proc/self/root" + path)
unix("in temp", os.environ["ATTACK_TEMP_SOCKET"])
unix("in temp, new", os.environ["ATTACK_LATE_SOCKET"])
unix("abstract", "\0" + os.environ["ATTACK_ABSTRACT"])
unix("agent", os.environ.get("SSH_AUTH_SOCK", "/nothing"))
unix("docker", "/var/run/docker.sock")
unix("dbus", "/run/dbus/system_bus_socket")
ways["unix link"] = link(os.symlink)
ways["unix hard link"] = link(os.link)


@way
def unix_descriptor():
    fd = os.open(path, os.O_PATH)
    tell(socket.AF_UNIX, f"/proc/self/fd/{fd}")
@way
def unix_relative():
    os.chdir(os.path.dirname(path))
    tell(socket.AF_UNIX, os.path.basename(path))
@way
def unix_pair():
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    a.sendto(b"reached", path + ".dgram")
@way
def unix_race():
    import threading
    n = f"{os.environ['ATTACK_ROOT']}/loot/race"
    own = socket.socket(socket.AF_UNIX)
    own.bind(n + "-own")
    own.listen()
    os.symlink(path, n + "-a"), os.symlink(n + "-own", n)
    stop = []
    def swap():
        while not stop:
            libc.renameat2(-100, n.encode(), -100, (n + "-a").encode(), 2)
    t = threading.Thread(target=swap)
    t.start()
    won = False
    for _ in range(150):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(0.05)
        try:
            s.connect(n)
            s.sendall(word)
            won = won or s.recv(1) == b"r"
        except OSError:
            pass
    stop.append(1)
    t.join()
    if not won:
        raise OSError("not reached")


os.makedirs(os.environ["ATTACK_ROOT"] + "/loot", exist_ok=True)
for name, do in ways.items():
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
        try:
            do()
            os._exit(0)
        except BaseException:
            os._exit(1)
    print(f"network {name}\t{'out' if os.waitpid(child, 0)[1] == 0 else 'held'}", flush=True)
