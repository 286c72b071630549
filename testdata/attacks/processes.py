# Ways to end, stop, read or slow down a process of the same user that is not the
# command's: the victim is one outside, and whatever holds the command. See README.md.
import ctypes, fcntl, os, resource, signal, socket, struct, sys

libc = ctypes.CDLL(None, use_errno=True)
victim = int(os.environ["ATTACK_PID"])


def c(nr, *args):
    ctypes.set_errno(0)
    r = libc.syscall(nr, *args)
    if r < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return r


def above():  # whoever is above this process and has another program: agentkit, its init, the person's shell
    pid, found = os.getppid(), []
    for _ in range(20):
        try:
            found.append(pid)
            pid = int([l for l in open(f"/proc/{pid}/status") if l.startswith("PPid")][0].split()[1])
        except (OSError, IndexError):
            break
        if pid == 0:
            break
    return found[2:] or [1]


def mine(pid):
    return pid in (os.getpid(), os.getppid())


def see(pid):  # it is there at all, and may be ended
    os.stat(f"/proc/{pid}")


def owned(number, by):
    def f(pid):
        see(pid)
        a, b = socket.socketpair()
        by(a, pid)
        fcntl.fcntl(a, 10, number)  # F_SETSIG
        fcntl.fcntl(a, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
        b.send(b"x")
        raise OSError("the runner sees whether it lives")
    return f


def reads(what):
    def f(pid):
        fd = os.open(f"/proc/{pid}/{what}", os.O_RDONLY)
        text = os.read(fd, 4096)
        if not text:
            raise OSError("empty")
        os.write(1, text)
    return f


def peek(pid):
    see(pid)
    libc.ptrace.restype = ctypes.c_long
    if libc.ptrace(0x4206, pid, 0, 0) < 0:
        raise OSError("refused")


def vm(nr):
    def f(pid):
        see(pid)
        b = ctypes.create_string_buffer(8)
        l = struct.pack("QQ", ctypes.addressof(b), 8)
        try:
            c(nr, pid, l, 1, struct.pack("QQ", 0x400000, 8), 1, 0)
        except OSError as e:
            if e.errno != 14:
                raise
    return f


ways = {
    "SIGTERM": lambda p: os.kill(p, 15),
    "SIGKILL": lambda p: os.kill(p, 9),
    "SIGSTOP": lambda p: os.kill(p, 19),
    "SIGSEGV": lambda p: os.kill(p, 11),
    "SIGHUP": lambda p: os.kill(p, 1),
    "tkill": lambda p: c(200, p, 9),
    "tgkill": lambda p: c(234, p, p, 9),
    "rt_sigqueueinfo": lambda p: c(129, p, 9, struct.pack("iii", 9, 0, -1) + bytes(116)),
    "rt_tgsigqueueinfo": lambda p: c(297, p, p, 9, struct.pack("iii", 9, 0, -1) + bytes(116)),
    "pidfd_send_signal": lambda p: c(424, c(434, p, 0), 9, 0, 0),
    "killpg": lambda p: os.killpg(p, 9),
    "everybody": lambda p: os.kill(-1, 10),  # its own ignore it
    "SETOWN, SIGIO": owned(0, lambda s, p: fcntl.fcntl(s, fcntl.F_SETOWN, p)),
    "SETOWN, SIGKILL": owned(9, lambda s, p: fcntl.fcntl(s, fcntl.F_SETOWN, p)),
    "SETOWN of a group": owned(9, lambda s, p: fcntl.fcntl(s, fcntl.F_SETOWN, -p)),
    "SETOWN_EX": owned(9, lambda s, p: fcntl.fcntl(s, 15, struct.pack("ii", 1, p))),
    "SIOCSPGRP": owned(9, lambda s, p: fcntl.ioctl(s, 0x8902, struct.pack("i", p))),
    "prlimit": lambda p: c(302, p, 0, struct.pack("QQ", 1, 1), 0),
    "prlimit of files": lambda p: c(302, p, 7, struct.pack("QQ", 0, 0), 0),
    "setpriority": lambda p: os.setpriority(os.PRIO_PROCESS, p, 19),
    "setpriority of the group": lambda p: os.setpriority(os.PRIO_PGRP, p, 19),
    "setpriority of the user": lambda p: os.setpriority(os.PRIO_USER, os.getuid(), 19),
    "ioprio_set": lambda p: c(251, 1, p, 3 << 13),
    "ioprio_set of the user": lambda p: c(251, 3, os.getuid(), 3 << 13),
    "sched_setaffinity": lambda p: os.sched_setaffinity(p, {0}),
    "sched_setscheduler": lambda p: os.sched_setscheduler(p, os.SCHED_IDLE, os.sched_param(0)),
    "sched_setattr": lambda p: c(314, p, struct.pack("IIQiIQQQ", 48, 5, 0, 0, 0, 0, 0, 0), 0),
    "sched_setparam": lambda p: c(142, p, struct.pack("i", 0)),
    "ptrace": peek,
    "process_vm_readv": vm(310),
    "process_vm_writev": vm(311),
    "process_madvise": lambda p: c(440, c(434, p, 0), struct.pack("QQ", 0x400000, 4096), 1, 21, 0),
    "process_mrelease": lambda p: c(448, c(434, p, 0), 0),
    "pidfd_getfd": lambda p: c(438, c(434, p, 0), 0, 0),
    "kcmp": lambda p: c(312, os.getpid(), p, 0, 0, 0),
    "move_pages": lambda p: (see(p), c(279, p, 0, 0, 0, 0, 0)),
    "migrate_pages": lambda p: c(256, p, 0, 0, 0),
    "environ": reads("environ"),
    "maps": reads("maps"),
    "auxv": reads("auxv"),
    "syscall": reads("syscall"),
    "stack": reads("stack"),
    "mem": lambda p: os.open(f"/proc/{p}/mem", os.O_RDWR),
    "clear_refs": lambda p: os.open(f"/proc/{p}/clear_refs", os.O_WRONLY),
    "oom_score_adj": lambda p: os.open(f"/proc/{p}/oom_score_adj", os.O_WRONLY),
    "coredump_filter": lambda p: os.open(f"/proc/{p}/coredump_filter", os.O_WRONLY),
    "timerslack": lambda p: os.open(f"/proc/{p}/timerslack_ns", os.O_WRONLY),
    "comm": lambda p: os.open(f"/proc/{p}/comm", os.O_WRONLY),
    "root": lambda p: os.listdir(f"/proc/{p}/root/"),
    "cwd": lambda p: os.listdir(f"/proc/{p}/cwd/"),
    "exe": lambda p: os.open(f"/proc/{p}/exe", os.O_RDONLY),
    "fd": lambda p: os.readlink(f"/proc/{p}/fd/1"),
    "map_files": lambda p: os.listdir(f"/proc/{p}/map_files"),
    "setns": lambda p: c(308, c(434, p, 0), 0x20000),
    "ns": lambda p: os.readlink(f"/proc/{p}/ns/net"),
}
signal.signal(10, signal.SIG_IGN)
for name, do in ways.items():
    for what, pids in {"the victim": [victim], "what is above": above()}.items():
        if what != "the victim" and ("group" in name or name == "killpg"):
            continue  # it may be its own
        child = os.fork()
        if child == 0:
            signal.alarm(5)
            os.setsid()
            ok = False
            for pid in pids:
                try:
                    do(pid)
                    ok = True
                except BaseException:
                    pass
            os._exit(0 if ok else 1)
        print(f"processes {name}, {what}\t{'held' if os.waitpid(child, 0)[1] else 'tried' if name == 'everybody' else 'out'}", flush=True)
