// What the kernel offers to leave a sandbox by, or to get at others. See README.md.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *root, *other;
static char path[PATH_MAX];
static const char *at(const char *dir, const char *name) { snprintf(path, sizeof path, "%s/%s", dir, name); return path; }
static int opened(const char *p, int flags) { return open(p, flags | O_NOCTTY | O_NONBLOCK) < 0 ? -1 : 0; }
// done is for calls that are made without sense: only what refuses the call as such holds.
static int done(long r) { return r < 0 && (errno == EPERM || errno == ENOSYS || errno == EACCES) ? -1 : 0; }

static int a_mount(void) { return mount("tmpfs", at(root, "loot"), "tmpfs", 0, ""); }
static int a_bind(void) { return mount(other, at(root, "loot"), 0, MS_BIND, 0); }
static int a_remount(void) { return mount(0, "/", 0, MS_REMOUNT | MS_BIND, 0); }
static int a_shared(void) { return mount(0, "/", 0, MS_SHARED | MS_REC, 0); }
static int a_umount(void) { // whatever covers something
	char line[4096], p[2048];
	FILE *f = fopen("/proc/self/mountinfo", "r");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "%*s %*s %*s %*s %2047s", p) == 1 && umount2(p, MNT_DETACH) == 0) return 0;
	errno = EPERM;
	return -1;
}
static int a_opentree(void) { return syscall(428, AT_FDCWD, other, 1); }
static int a_opentreeattr(void) { return syscall(467, AT_FDCWD, other, 1, 0, 0); }
static int a_movemount(void) { return syscall(429, open(other, O_PATH), "", AT_FDCWD, at(root, "loot"), 4); }
static int a_fsopen(void) { return syscall(430, "tmpfs", 0); }
static int a_fspick(void) { return syscall(433, AT_FDCWD, "/", 0); }
static int a_setattr(void) { uint64_t a[4] = {0, 1, 0, 0}; return syscall(442, AT_FDCWD, "/", 0x8000, a, sizeof a); }
static int a_pivot(void) { return syscall(SYS_pivot_root, ".", "."); }
static int a_chroot(void) { return chroot(other); }
static int a_unshare(int flag) { return unshare(flag); }
static int a_userns(void) { return a_unshare(CLONE_NEWUSER); }
static int a_mountns(void) { return a_unshare(CLONE_NEWNS); }
static int a_netns(void) { return a_unshare(CLONE_NEWNET); }
static int a_pidns(void) { return a_unshare(CLONE_NEWPID); }
static int a_timens(void) { return a_unshare(0x80); }
static int a_userandmount(void) { return a_unshare(CLONE_NEWUSER | CLONE_NEWNS); }
static int a_clone(void) { long p = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0); if (p == 0) _exit(0); return p < 0 ? -1 : 0; }
static int a_clone3(void) { uint64_t a[11] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD}; long p = syscall(435, a, sizeof a); if (p == 0) _exit(0); return p < 0 ? -1 : 0; }
static int a_clone3plain(void) { uint64_t a[11] = {0, 0, 0, 0, SIGCHLD}; long p = syscall(435, a, sizeof a); if (p == 0) _exit(0); return p < 0 ? -1 : 0; }
static int a_setns(void) { return setns(open("/proc/self/ns/mnt", O_RDONLY), 0); }
static int a_setnsparent(void) { char p[64]; snprintf(p, 64, "/proc/%d/ns/net", getppid()); return setns(open(p, O_RDONLY), 0); }
static int a_setnspidfd(void) { return setns(syscall(SYS_pidfd_open, getppid(), 0), CLONE_NEWNS | CLONE_NEWNET); }
static int a_uring(void) { char p[256] = {0}; return syscall(SYS_io_uring_setup, 4, p); }
static int a_uringenter(void) { return done(syscall(SYS_io_uring_enter, 0, 0, 0, 0, 0)); }
static int a_bpf(void) { return done(syscall(SYS_bpf, 0, 0, 0)); }
static int a_perf(void) { return done(syscall(SYS_perf_event_open, 0, 0, -1, -1, 0)); }
static int a_uffd(void) { return done(syscall(SYS_userfaultfd, 1)); }
static int a_fanotify(void) { return done(syscall(SYS_fanotify_init, 0x200, 0)); }
static int a_keyctl(void) { return done(syscall(SYS_keyctl, 0, -3, 0)); }
static int a_addkey(void) { return done(syscall(SYS_add_key, "user", "evil", "x", 1, -4)); }
static int a_requestkey(void) { return done(syscall(SYS_request_key, "user", "evil", 0, -4)); }
static int a_module(void) { return done(syscall(SYS_delete_module, "nothing-of-that-name", 0)); }
static int a_initmodule(void) { return done(syscall(SYS_init_module, 0, 0, "")); }
static int a_kexec(void) { return done(syscall(SYS_kexec_load, 0, 0, 0, 1)); }
static int a_reboot(void) { return done(syscall(SYS_reboot, 0, 0, 0, 0)); }
static int a_swap(void) { return done(syscall(SYS_swapoff, "/nothing")); }
static int a_acct(void) { return done(syscall(SYS_acct, "/nothing/at/all")); }
static int a_hostname(void) { char b[256]; gethostname(b, 256); return sethostname(b, strlen(b)); }
static int a_clock(void) { return done(syscall(SYS_clock_settime, 99, 0)); }
static int a_syslog(void) { char b[4096]; return syscall(SYS_syslog, 3, b, sizeof b) < 0 ? -1 : 0; }
static int a_quota(void) { return done(syscall(SYS_quotactl, 0x80000100, 0, 0, 0)); }
static int a_vhangup(void) { return done(syscall(SYS_vhangup)); }
static int a_migrate(void) { return done(syscall(SYS_migrate_pages, getppid(), 0, 0, 0)); }
#ifdef __x86_64__
static int a_iopl(void) { return done(syscall(SYS_iopl, 3)); }
static int a_ioperm(void) { return done(syscall(SYS_ioperm, 0x80, 1, 1)); }
static int a_modify_ldt(void) { return done(syscall(SYS_modify_ldt, 99, 0, 0)); }
static int a_int80(void) { long r; __asm__ volatile("int $0x80" : "=a"(r) : "a"(20) : "memory"); return r == getpid() ? 0 : -1; }
static int a_x32(void) { return syscall(0x40000000 + SYS_getpid) == getpid() ? 0 : -1; }
#endif
static int a_listener(void) { // a filter of one's own that answers for the gatekeeper
	struct sock_filter f[] = {{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF}};
	struct sock_fprog p = {1, f};
	return syscall(SYS_seccomp, 1, 8, &p);
}
static int a_trace(void) { return ptrace(PTRACE_SEIZE, getppid() > 1 ? 1 : 0, 0, 0); }
static int above(void) { // the process above the runner's shell
	char p[64], line[256];
	int pid = getppid();
	for (int i = 0; i < 2; i++) {
		snprintf(p, 64, "/proc/%d/status", pid);
		FILE *f = fopen(p, "r");
		while (f && fgets(line, sizeof line, f))
			if (sscanf(line, "PPid: %d", &pid) == 1) break;
		if (f) fclose(f);
	}
	return pid > 0 ? pid : 1;
}
static int a_traceabove(void) { return ptrace(PTRACE_ATTACH, above(), 0, 0); }
static int a_readabove(void) { char b[8]; struct iovec l = {b, 8}, r = {(void *)0x400000, 8}; return process_vm_readv(above(), &l, 1, &r, 1, 0) > 0 || errno == EFAULT ? 0 : -1; }
static int a_writeabove(void) { char b[8] = {0}; struct iovec l = {b, 8}, r = {(void *)0x400000, 8}; return process_vm_writev(above(), &l, 1, &r, 1, 0) > 0 || errno == EFAULT ? 0 : -1; }
static int proc(const char *what, int flags) { char p[64]; snprintf(p, 64, "/proc/%d/%s", above(), what); return opened(p, flags); }
static int a_memabove(void) { return proc("mem", O_RDWR); }
static int a_environabove(void) { char b[9]; char p[64]; snprintf(p, 64, "/proc/%d/environ", above()); return read(open(p, O_RDONLY), b, 8) > 0 ? 0 : -1; }
static int a_mapsabove(void) { char b[9]; char p[64]; snprintf(p, 64, "/proc/%d/maps", above()); return read(open(p, O_RDONLY), b, 8) > 0 ? 0 : -1; }
static int a_oomabove(void) { return proc("oom_score_adj", O_WRONLY); }
static int a_fdabove(void) { char p[64], b[256]; snprintf(p, 64, "/proc/%d/fd/1", above()); return readlink(p, b, 255) > 0 ? 0 : -1; }
static int a_getfdabove(void) { return syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, above(), 0), 0, 0); }
static int a_kcmpabove(void) { return syscall(SYS_kcmp, getpid(), above(), 0, 0, 0); }
static int a_killabove(void) { return kill(above(), SIGCONT); }
static int a_stopabove(void) { return kill(above(), SIGSTOP); }
static int a_prlimitabove(void) { struct rlimit l = {64, 64}; return prlimit(above(), RLIMIT_NOFILE, &l, 0); }
static int a_niceabove(void) { return setpriority(PRIO_PROCESS, above(), 19); }
static int a_niceuser(void) { return setpriority(PRIO_USER, 0, 19); }
static int a_nicegroup(void) { return setpriority(PRIO_PGRP, 0, 19); }
static int a_ioprioabove(void) { return syscall(SYS_ioprio_set, 1, above(), 3 << 13); }
static int a_affinityabove(void) { cpu_set_t s; CPU_ZERO(&s); CPU_SET(0, &s); return sched_setaffinity(above(), sizeof s, &s); }
static int a_schedabove(void) { struct sched_param p = {0}; return sched_setscheduler(above(), SCHED_IDLE, &p); }
static int a_core(void) { return opened("/proc/sys/kernel/core_pattern", O_WRONLY); }
static int a_modprobe(void) { return opened("/proc/sys/kernel/modprobe", O_WRONLY); }
static int a_sysrq(void) { return opened("/proc/sysrq-trigger", O_WRONLY); }
static int a_uevent(void) { return opened("/sys/kernel/uevent_helper", O_WRONLY); }
static int a_binfmt(void) { return opened("/proc/sys/fs/binfmt_misc/register", O_WRONLY); }
static int a_kmsg(void) { return opened("/dev/kmsg", O_WRONLY); }
static int a_mem(void) { return opened("/dev/mem", O_RDONLY); }
static int a_kvm(void) { return opened("/dev/kvm", O_RDWR); }
static int a_fuse(void) { return opened("/dev/fuse", O_RDWR); }
static int a_tun(void) { return opened("/dev/net/tun", O_RDWR); }
static int a_disk(void) { return opened("/dev/vda", O_RDONLY) && opened("/dev/sda", O_RDONLY) ? -1 : 0; }
static int a_mknod(void) { at(root, "loot/disk"); mknod(path, S_IFCHR | 0666, 0x0101); return opened(path, O_RDONLY); }
static int a_cgroup(void) { return opened("/sys/fs/cgroup/cgroup.procs", O_WRONLY); }
static int a_uidmap(void) { return write(open("/proc/self/uid_map", O_WRONLY), "0 0 1", 5) == 5 ? 0 : -1; }
static int a_sti(int fd) { char c = 'x'; return fd < 0 ? -1 : ioctl(fd, TIOCSTI, &c) == 0 || errno == EIO ? 0 : -1; }
static int a_stitty(void) { return a_sti(open("/dev/tty", O_RDWR)); }
static int a_stiptmx(void) { return a_sti(open("/dev/ptmx", O_RDWR | O_NOCTTY)); }
static int a_stihigh(void) { char c = 'x'; return syscall(SYS_ioctl, open("/dev/ptmx", O_RDWR | O_NOCTTY), 0xffffffff00000000ul | TIOCSTI, &c) == 0 || errno == EIO ? 0 : -1; }
static int a_linux(void) { char c = 11; return ioctl(open("/dev/ptmx", O_RDWR | O_NOCTTY), 0x541C, &c) == 0 ? 0 : errno == EPERM || errno == ENOTTY || errno == EBADF || errno == EACCES ? -1 : 0; }
static int a_privs(void) { // no rights, and none to be had
	char line[256];
	int bad = 1;
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f)) {
		unsigned long long caps;
		if (!strncmp(line, "NoNewPrivs:\t1", 13)) bad &= ~1;
		if (!strncmp(line, "Seccomp:\t0", 10)) bad |= 2;
		if ((!strncmp(line, "CapEff", 6) || !strncmp(line, "CapPrm", 6) || !strncmp(line, "CapAmb", 6)) && sscanf(line + 7, "%llx", &caps) == 1 && caps & ~0x4ffull) bad |= 4; // what root may do to files of its own
	}
	return bad ? 0 : -1;
}
static int a_filecaps(void) {
	unsigned char c[20] = {1, 0, 0, 2, 0xff, 0xff, 0xff, 0xff};
	at(root, "loot/caps");
	int fd = open(path, O_RDWR | O_CREAT, 0755);
	(void)fd;
	return syscall(SYS_setxattr, path, "security.capability", c, 20, 0);
}
static int a_fds(void) { // descriptors that nobody meant to hand on
	char p[64], to[PATH_MAX], up[PATH_MAX];
	for (int fd = 3; fd < 300; fd++) {
		snprintf(p, 64, "/proc/self/fd/%d", fd);
		ssize_t n = readlink(p, to, sizeof to - 1);
		if (n <= 0) continue;
		to[n] = 0;
		snprintf(up, sizeof up, "%s", other);
		if (strstr(to, up) || write(fd, "EVIL", 4) == 4) return 0;
	}
	errno = EBADF;
	return -1;
}
static int a_shm(void) { return shmat(atoi(getenv("ATTACK_SHM") ? getenv("ATTACK_SHM") : "-1"), 0, 0) == (void *)-1 ? -1 : 0; }
static int a_devshm(void) { return opened(getenv("ATTACK_DEVSHM") ? getenv("ATTACK_DEVSHM") : "/nothing", O_RDWR); }
static int a_mqueue(void) { return syscall(SYS_mq_open, getenv("ATTACK_MQ") ? getenv("ATTACK_MQ") : "nothing", O_RDWR, 0, 0) < 0 ? -1 : 0; }

#define F(x) {#x, x}
static struct { const char *name; int (*f)(void); } list[] = {F(a_mount), F(a_bind), F(a_remount), F(a_shared), F(a_umount), F(a_opentree), F(a_opentreeattr), F(a_movemount), F(a_fsopen), F(a_fspick), F(a_setattr), F(a_pivot), F(a_chroot), F(a_userns), F(a_mountns), F(a_netns), F(a_pidns), F(a_timens), F(a_userandmount), F(a_clone), F(a_clone3), F(a_clone3plain), F(a_setns), F(a_setnsparent), F(a_setnspidfd), F(a_uring), F(a_uringenter), F(a_bpf), F(a_perf), F(a_uffd), F(a_fanotify), F(a_keyctl), F(a_addkey), F(a_requestkey), F(a_module), F(a_initmodule), F(a_kexec), F(a_reboot), F(a_swap), F(a_acct), F(a_hostname), F(a_clock), F(a_syslog), F(a_quota), F(a_vhangup), F(a_migrate),
#ifdef __x86_64__
F(a_iopl), F(a_ioperm), F(a_modify_ldt), F(a_int80), F(a_x32),
#endif
F(a_listener), F(a_trace), F(a_traceabove), F(a_readabove), F(a_writeabove), F(a_memabove), F(a_environabove), F(a_mapsabove), F(a_oomabove), F(a_fdabove), F(a_getfdabove), F(a_kcmpabove), F(a_killabove), F(a_stopabove), F(a_prlimitabove), F(a_niceabove), F(a_niceuser), F(a_nicegroup), F(a_ioprioabove), F(a_affinityabove), F(a_schedabove), F(a_core), F(a_modprobe), F(a_sysrq), F(a_uevent), F(a_binfmt), F(a_kmsg), F(a_mem), F(a_kvm), F(a_fuse), F(a_tun), F(a_disk), F(a_mknod), F(a_cgroup), F(a_uidmap), F(a_stitty), F(a_stiptmx), F(a_stihigh), F(a_linux), F(a_privs), F(a_filecaps), F(a_fds), F(a_shm), F(a_devshm), F(a_mqueue)};

int main(void) {
	root = getenv("ATTACK_ROOT"), other = getenv("ATTACK_OTHER");
	if (!root || !other || chdir(root)) return 2;
	mkdir(at(root, "loot"), 0700);
	setvbuf(stdout, 0, _IONBF, 0);
	for (unsigned i = 0; i < sizeof list / sizeof *list; i++) {
		int st = 0;
		pid_t child = fork();
		if (child == 0) {
			alarm(5);
			_exit(list[i].f() < 0);
		}
		waitpid(child, &st, 0);
		printf("C %s\t%s\n", list[i].name, WIFEXITED(st) && WEXITSTATUS(st) == 0 ? "out" : "held");
	}
	return 0;
}
