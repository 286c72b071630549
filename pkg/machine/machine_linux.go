package machine

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// holders tells what holds this process apart from others of the same user: the
// container, or another sandbox, takes away what namespaces and filters need.
func holders() string {
	users, _ := os.Readlink("/proc/self/ns/user")
	processes, _ := os.Readlink("/proc/self/ns/pid")
	ask := func(option, arg int) int {
		r, err := unix.PrctlRetInt(option, uintptr(arg), 0, 0, 0)
		if err != nil {
			return -1
		}
		return r
	}
	var files unix.Rlimit
	_ = unix.Getrlimit(unix.RLIMIT_NOFILE, &files)
	return fmt.Sprintf("%s %s %d %d%d%d", users, processes, min(files.Cur, 1024), ask(unix.PR_GET_SECCOMP, 0), ask(unix.PR_GET_NO_NEW_PRIVS, 0), ask(unix.PR_CAPBSET_READ, unix.CAP_SYS_ADMIN))
}

// bootID is another one after each start of the machine.
func bootID() string {
	fd, err := unix.Open("/proc/sys/kernel/random/boot_id", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	var buf [64]byte
	n, _ := unix.Read(fd, buf[:])
	return strings.TrimSpace(string(buf[:max(n, 0)]))
}
