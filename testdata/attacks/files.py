# What files.c tries, as a Python program would: by the library's own ways, and by
# tools that it has. See README.md.
import ctypes, fcntl, mmap, os, shutil, signal, socket, sqlite3, subprocess, sys, tarfile, tempfile, threading, zipfile

root = os.environ["ATTACK_ROOT"]
libc = ctypes.CDLL(None, use_errno=True)
serial = 0


def mine(what):
    global serial
    serial += 1
    return f"{root}/loot/py-{what}{os.getpid()}-{serial}"


def own(text=b"EVIL"):
    name = mine("own")
    with open(name, "wb") as f:
        f.write(text)
    return name


def put(fd):
    os.write(fd, b"EVIL")


def write(name, mode="r+b", **how):
    with open(name, mode, **how) as f:
        f.write(b"EVIL")


def at(p):
    return os.open(os.path.dirname(p), os.O_PATH | os.O_DIRECTORY)


def base(p):
    return os.path.basename(p)


def linked(p):
    n = mine("link")
    os.symlink(p, n)
    return n


def c(nr, *args):
    ctypes.set_errno(0)
    if libc.syscall(nr, *args) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def run(*argv, **how):
    subprocess.run(argv, check=True, stdout=how.pop("stdout", subprocess.DEVNULL), stderr=subprocess.DEVNULL, **how)


def tar_over(p):
    n = mine("tar")
    with tarfile.open(n, "w") as t:
        i = tarfile.TarInfo("x")
        t.addfile(i)
    os.chdir(os.path.dirname(p))
    t = tarfile.open(n)
    m = t.next()
    m.name = base(p)
    t.extract(m, filter="fully_trusted") if hasattr(tarfile, "data_filter") else t.extract(m)


def unzip(p):
    n = mine("zip")
    with zipfile.ZipFile(n, "w") as z:
        z.writestr(base(p), "EVIL")
    with zipfile.ZipFile(n) as z:
        z.extractall(os.path.dirname(p))


def mapped(p):
    fd = os.open(p, os.O_RDONLY)
    m = mmap.mmap(fd, 4, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
    m[:4] = b"EVIL"


def swapped(p, do):
    a, b = linked(p), linked(own())
    stop = []

    def swap():
        while not stop:
            t = mine("swap")
            os.rename(a, t), os.rename(b, a), os.rename(t, b)

    before = os.stat(p)
    t = threading.Thread(target=swap)
    t.start()
    for _ in range(150):
        try:
            do(a)
        except OSError:
            pass
    stop.append(1)
    t.join()
    after = os.stat(p)
    if (before.st_ctime_ns, before.st_size) == (after.st_ctime_ns, after.st_size):
        raise OSError("nothing has changed")


def sent(p):
    a, b = socket.socketpair()
    if os.fork() == 0:
        try:
            socket.send_fds(b, [b"x"], [os.open(p, os.O_WRONLY)])
        finally:
            os._exit(0)
    b.close()
    _, fds, _, _ = socket.recv_fds(a, 1, 1)
    put(fds[0])


change = {
    "open": write,
    "append": lambda p: write(p, "ab"),
    "w": lambda p: write(p, "wb"),
    "opener": lambda p: write(p, "r+b", buffering=0, opener=lambda n, f: os.open(n, os.O_RDWR | os.O_NOFOLLOW)),
    "dir_fd": lambda p: put(os.open(base(p), os.O_WRONLY, dir_fd=at(p))),
    "fd of proc": lambda p: put(os.open(f"/proc/self/fd/{os.open(p, os.O_RDONLY)}", os.O_WRONLY)),
    "root of proc": lambda p: write("/proc/self/root" + p),
    "root of the parent": lambda p: write(f"/proc/{os.getppid()}/root{p}"),
    "task": lambda p: write(f"/proc/self/task/{os.getpid()}/root{p}"),
    "mmap": mapped,
    "truncate": lambda p: os.truncate(p, 0),
    "ftruncate": lambda p: os.ftruncate(os.open(p, os.O_RDONLY), 0),
    "posix_fallocate": lambda p: os.posix_fallocate(os.open(p, os.O_RDONLY), 0, 9999),
    "sendfile": lambda p: os.sendfile(os.open(p, os.O_WRONLY), os.open(own(), os.O_RDONLY), 0, 4),
    "copy_file_range": lambda p: os.copy_file_range(os.open(own(), os.O_RDONLY), os.open(p, os.O_WRONLY), 4),
    "shutil.copy": lambda p: shutil.copy(own(), p),
    "shutil.copyfileobj": lambda p: shutil.copyfileobj(open(own(), "rb"), open(p, "wb")),
    "copystat": lambda p: shutil.copystat(own(), p),
    "symlink": lambda p: write(linked(p)),
    "hard link": lambda p: (os.link(p, n := mine("hard")), write(n)),
    "unnamed": lambda p: (os.link(f"/proc/self/fd/{os.open(root + '/loot', os.O_TMPFILE | os.O_RDWR)}", p, follow_symlinks=True)),
    "chmod": lambda p: os.chmod(p, 0o666),
    "chmod dir_fd": lambda p: os.chmod(base(p), 0o666, dir_fd=at(p)),
    "fchmod": lambda p: os.fchmod(os.open(p, os.O_RDONLY), 0o666),
    "chown": lambda p: os.chown(p, os.getuid(), os.getgid()),
    "utime": lambda p: os.utime(p, (1, 1)),
    "utime of a link": lambda p: os.utime(linked(p), (1, 1)),
    "utime fd": lambda p: os.utime(os.open(p, os.O_RDONLY), (2, 2)),
    "setxattr": lambda p: os.setxattr(p, "user.evil", b"x"),
    "removexattr": lambda p: os.removexattr(p, "user.there"),
    "setxattrat": lambda p: c(463, -100, p.encode(), 0, b"user.evil", (ctypes.c_uint64 * 2)(0, 0), 16),
    "file_setattr": lambda p: c(469, -100, p.encode(), (ctypes.c_uint64 * 4)(0x40, 0, 0, 0), 32, 0),
    "sqlite": lambda p: sqlite3.connect(p).executescript("create table x(y)"),
    "sent": sent,
    "dd": lambda p: run("dd", "if=/dev/zero", "of=" + p, "count=1", "conv=notrunc"),
    "sed -i": lambda p: run("sed", "-i", "s/./E/", p),
    "git apply": lambda p: run("git", "apply", "--unsafe-paths", "--directory=/", "-", input=f"--- {p}\n+++ {p}\n@@ -1 +1 @@\n-victim\n+EVIL\n".encode()),
    "tar": tar_over,
    "unzip": unzip,
    "race": lambda p: swapped(p, write),
    "race of modes": lambda p: swapped(p, lambda n: os.chmod(n, 0o666)),
    "replace": lambda p: os.replace(own(), p),
    "shutil.move": lambda p: shutil.move(own(), p),
    "rename": lambda p: os.rename(p, mine("stolen")),
    "remove": os.remove,
    "rmtree": lambda p: shutil.rmtree(os.path.dirname(p) if not p.startswith(root + "/") else p),
}
make = {
    "x": lambda p: write(p, "xb"),
    "mkdir": os.mkdir,
    "makedirs": lambda p: os.makedirs(p + "/a/b"),
    "symlink": lambda p: os.symlink("/etc/hostname", p),
    "link": lambda p: os.link(own(), p),
    "mkfifo": os.mkfifo,
    "mknod": os.mknod,
    "rename": lambda p: os.rename(own(), p),
    "copytree": lambda p: shutil.copytree(root + "/loot", p),
    "through a link": lambda p: write(linked(p), "wb"),
    "NamedTemporaryFile": lambda p: os.rename(tempfile.NamedTemporaryFile(dir=os.path.dirname(p), delete=False).name, p),
    "sqlite": lambda p: sqlite3.connect(p).executescript("create table x(y)"),
    "git init": lambda p: run("git", "init", "-q", p),
    "git clone": lambda p: run("git", "clone", "-q", root, p),
    "unix": lambda p: (os.chdir(os.path.dirname(p)), socket.socket(socket.AF_UNIX).bind(base(p))),
    "unzip": unzip,
}


def show(fd):
    os.write(1, os.read(fd, 4096) + b"\n")


read = {
    "open": lambda p: show(os.open(p, os.O_RDONLY)),
    "dir_fd": lambda p: show(os.open(base(p), os.O_RDONLY, dir_fd=at(p))),
    "proc": lambda p: show(os.open("/proc/self/root" + p, os.O_RDONLY)),
    "symlink": lambda p: show(os.open(linked(p), os.O_RDONLY)),
    "hard link": lambda p: (os.link(p, n := mine("hard")), show(os.open(n, os.O_RDONLY))),
    "mmap": lambda p: os.write(1, mmap.mmap(os.open(p, os.O_RDONLY), 0, mmap.MAP_PRIVATE, mmap.PROT_READ)[:]),
    "copy": lambda p: shutil.copy(p, mine("loot")),
    "sendfile": lambda p: os.sendfile(os.open(mine("loot"), os.O_WRONLY | os.O_CREAT), os.open(p, os.O_RDONLY), 0, 4096),
    "archive": lambda p: tarfile.open(mine("loot"), "w").add(p),
    "cat": lambda p: run("cat", p, stdout=None),
    "git hash-object": lambda p: run("git", "hash-object", "-w", p),
    "git add": lambda p: run("git", "-C", root, "add", "-f", p),
    "git diff": lambda p: run("git", "diff", "--no-index", "/dev/null", p, stdout=None),
    "curl": lambda p: run("curl", "-s", "file://" + p, stdout=None),
    "source": lambda p: subprocess.run(["sh", "-c", '. "$1"', "-", p], check=True),
    "import": lambda p: exec(compile(open(p).read(), p, "exec")),
    "env": lambda p: run("bash", "-c", 'exec 3<"$1"; cat <&3', "-", p, stdout=None),
    "ld.so": lambda p: run("/lib64/ld-linux-x86-64.so.2", "/bin/cat", p, stdout=None),
    "moved": lambda p: moved(p),
}

def moved(p):
    d, n = os.path.dirname(p), mine("dir")
    os.rename(d, n)
    try:
        show(os.open(n + "/" + base(p), os.O_RDONLY))
    finally:
        os.rename(n, d)


os.makedirs(root + "/loot", exist_ok=True)
for line in open(sys.argv[1]):
    kind, path = line.rstrip("\n").split("\t")
    for name, do in (read if kind == "secret" else make if kind in ("new", "plant") else change).items():
        sys.stdout.flush()
        if "ATTACK_FRESH" in os.environ: # makes again what the attempt before has changed
            subprocess.run(os.environ["ATTACK_FRESH"], shell=True, check=True)
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            os.chdir(root)
            try:
                do(path)
                os._exit(0)
            except BaseException:
                os._exit(1)
        print(f"Python {name} {kind} {path}\t{'out' if os.waitpid(child, 0)[1] == 0 else 'held'}", flush=True)
