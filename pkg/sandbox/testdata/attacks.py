# Attacks on a sandbox, as attacks.c has them.
import ctypes, fcntl, mmap, os, resource, shutil, signal, socket, sqlite3, subprocess, sys, tempfile, zipfile

base = sys.argv[1]
at = lambda *names: os.path.join(base, *names)
victim = at("out", "victim")
mine = [os.getpid()]


def others():
    return [int(p) for p in os.listdir("/proc") if p.isdigit() and int(p) not in mine] + [1]


def each(do):
    last = ProcessLookupError()
    for pid in others():
        try:
            return do(pid)
        except (PermissionError, OSError) as e:
            last = e
    raise last


def write(name, mode="w"):
    with open(name, mode) as f:
        f.write("x")


def zipped():
    with zipfile.ZipFile(at("root", "z.zip"), "w") as z:
        z.writestr("a", "x")
    with zipfile.ZipFile(at("root", "z.zip")) as z:
        z.extractall(at("out", "unzipped"))


def database():
    with sqlite3.connect(at("out", "db")) as c:
        c.execute("create table t(a)")


def shell(text):
    subprocess.run(["sh", "-c", text], check=True, stderr=subprocess.DEVNULL)


def script():
    with open(at("root", "s.sh"), "w") as f:
        f.write("#!/bin/sh\necho x >>%s\n" % victim)
    os.chmod(f.name, 0o700)
    subprocess.run([f.name], check=True, stderr=subprocess.DEVNULL)


def loader():
    path = next(p for p in ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1") if os.path.exists(p))
    subprocess.run([path, "/bin/cp", "/dev/null", victim], check=True, stderr=subprocess.DEVNULL)


def memory():
    fd = os.memfd_create("cp", 0)
    with open("/bin/cp", "rb") as f:
        os.write(fd, f.read())
    subprocess.run(["cp", "/dev/null", victim], executable="/proc/self/fd/%d" % fd, pass_fds=[fd], check=True, stderr=subprocess.DEVNULL)


def tcp(host):
    with open(at("out", "port")) as f:
        port = int(f.read())
    socket.create_connection((host, port), 1).close()


def udp():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.sendto(b"x", ("192.0.2.1", 9))


def local(name):
    socket.socket(socket.AF_UNIX).connect(name)


def detached():
    # a process that leaves the session and lives on, but does no more than its parent may
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            try:
                write(victim, "a")
                os._exit(0)
            except OSError as e:
                os._exit(e.errno)
        _, s = os.wait()
        os._exit(os.waitstatus_to_exitcode(s))
    _, s = os.wait()
    if s:
        raise OSError(os.waitstatus_to_exitcode(s), "")


def secret(name=None):
    with open(name or at("state", "secret")) as f:
        if "secret" not in f.read():
            raise OSError(61, "covered")


def mapped():
    with open(victim, "r+b") as f:
        mmap.mmap(f.fileno(), 0)[0:1] = b"X"


def affinity(pid):
    os.sched_setaffinity(pid, os.sched_getaffinity(pid))


def limits(pid):
    resource.prlimit(pid, resource.RLIMIT_CORE, resource.prlimit(pid, resource.RLIMIT_CORE))


def stop(pid):
    os.kill(pid, signal.SIGTTIN)


def owner(pid):
    a, b = socket.socketpair()
    fcntl.fcntl(a, fcntl.F_SETOWN, pid)
    fcntl.fcntl(a, 10, signal.SIGTTIN)  # F_SETSIG
    fcntl.fcntl(a, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    b.send(b"x")


attacks = {
    "py limits": lambda: each(limits),
    "py affinity": lambda: each(affinity),
    "py priority": lambda: each(lambda p: os.setpriority(os.PRIO_PROCESS, p, 0)),
    "py scheduler": lambda: each(lambda p: os.sched_setscheduler(p, os.SCHED_OTHER, os.sched_param(0))),
    "py signal": lambda: each(stop),
    "py signal by file": lambda: each(lambda p: signal.pidfd_send_signal(os.pidfd_open(p), signal.SIGTTIN)),
    "py signal by a file's owner": lambda: each(owner),
    "py memory FAR": lambda: each(lambda p: open("/proc/%d/mem" % p, "r+b")),
    "py oom": lambda: each(lambda p: open("/proc/%d/oom_score_adj" % p, "w")),
    "py write": lambda: write(victim),
    "py append": lambda: write(victim, "a"),
    "py create": lambda: write(at("out", "pynew")),
    "py zip": zipped,
    "py database": database,
    "py move": lambda: shutil.copyfile("/etc/hostname", at("out", "copied")),
    "py tree": lambda: shutil.copytree(at("root", "sub"), at("out", "tree")),
    "py temp": lambda: tempfile.mkdtemp(dir=at("out")),
    "py truncate": lambda: os.truncate(victim, 1),
    "py times": lambda: os.utime(victim, (1, 1)),
    "py mode": lambda: os.chmod(victim, 0o600),
    "py attribute": lambda: os.setxattr(victim, "user.py", b"x"),
    "py shell": lambda: shell("echo x >>" + victim),
    "py script": script,
    "py loader": loader,
    "py memory file": memory,
    "py detached": detached,
    "py mapped": mapped,
    "py secret": secret,
    "py secret by cat": lambda: shell("grep -q secret " + at("state", "secret")),
    "py secret listed": lambda: os.listdir(at("state"))[0],
    "py secret by root": lambda: secret("/proc/self/root" + at("state", "secret")),
    "py tcp": lambda: tcp("192.0.2.1"),
    "py udp": udp,
    "py local": lambda: local(at("out", "sock")),
    "py state socket": lambda: local(at("state", "job.sock")),
    "py abstract": lambda: local("\0" + base),
    "py old socket": lambda: local(at("tmp", "old.sock")),
}
for name, do in attacks.items():
    pid = os.fork()
    if pid == 0:
        mine.append(os.getpid())
        signal.alarm(8)
        try:
            do()
            os._exit(0)
        except OSError as e:
            os._exit((e.errno or 1) & 0xFF)
        except BaseException:
            os._exit(250)
    _, status = os.waitpid(pid, 0)
    print("%s\t%d" % (name, os.waitstatus_to_exitcode(status)), flush=True)
