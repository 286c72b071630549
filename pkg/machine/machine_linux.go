package machine

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"golang.org/x/sys/unix"
)

// holders tells what holds this process apart from others of the same user: the
// container, or another sandbox, takes away what namespaces and filters need. The
// numbers of namespaces are given out again, so the container is told by when its
// first process was started, too.
func holders() string {
	var b strings.Builder
	for _, ns := range []string{"user", "pid", "mnt"} {
		at, _ := os.Readlink("/proc/self/ns/" + ns)
		b.WriteString(at + " ")
	}
	var files unix.Rlimit
	_ = unix.Getrlimit(unix.RLIMIT_NOFILE, &files)
	fmt.Fprintf(&b, "%d %s %s", min(files.Cur, 1024), begun(1), sandbox.Confinement())
	return fmt.Sprintf("%x", sha256.Sum256([]byte(b.String())))[:32]
}

// begun is when a process was started, in ticks since the machine was; "" when that
// cannot be seen.
func begun(pid int) string {
	if fields := stat(pid); len(fields) > 19 {
		return fields[19]
	}
	return ""
}

// CoversProc reports whether something is mounted over parts of /proc, as containers
// do: the kernel then lets nobody in them mount another one.
func CoversProc() bool {
	raw, _ := safefile.ReadKernel("/proc/self/mountinfo")
	for line := range strings.Lines(string(raw)) {
		if f := strings.Fields(line); len(f) > 4 && strings.HasPrefix(f[4], "/proc/") && f[4] != "/proc/sys/fs/binfmt_misc" {
			return true
		}
	}
	return false
}

// bootID is another one after each start of the machine; "" where nobody can tell.
func bootID() string {
	id, _ := safefile.ReadKernel("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}
