package killtree

import (
	"bytes"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A pidSetting is what a file of /proc is told about the PIDs of a namespace.
type pidSetting struct {
	file  string
	value string
}

const (
	reservedPIDs = 300 // those below are not given out a second time
	highestPID   = 29_000
)

// pidSettings lists them; most is Options.MaxProcesses. Where the numbers end no
// process can be made, nor a thread, whoever it is. And files that are named after a
// PID must not meet when every tree counts from 1.
func pidSettings(most int) []pidSetting {
	highest := highestPID
	var list []pidSetting
	if most > 0 && most < highestPID && ownPIDMax() {
		highest = reservedPIDs + max(most, 2)
		list = append(list, pidSetting{"/proc/sys/kernel/pid_max", strconv.Itoa(highest)})
	}
	last := reservedPIDs + rand.IntN(highest-reservedPIDs-1)
	return append(list, pidSetting{"/proc/sys/kernel/ns_last_pid", strconv.Itoa(last)})
}

// ownPIDMax reports whether pid_max is a namespace's own. Before Linux 6.14 it is the
// machine's.
func ownPIDMax() bool {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return false
	}
	parts := strings.SplitN(unix.ByteSliceToString(u.Release[:]), ".", 3)
	if len(parts) < 3 {
		return false
	}
	major, _ := strconv.Atoi(parts[0])
	minor, _ := strconv.Atoi(parts[1])
	return major > 6 || major == 6 && minor >= 14
}

// uncounted reports whether nothing bounds the processes of a tree of this method. The
// kernel's limit for a user does not hold for root.
func uncounted(m string) bool {
	switch {
	case os.Geteuid() != 0, namespaces(m) && ownPIDMax():
		return false
	case m != Cgroup:
		return true
	}
	base, err := ownCgroup()
	if err != nil {
		return true
	}
	controllers, _ := os.ReadFile(base + "/cgroup.subtree_control")
	return !bytes.Contains(controllers, []byte("pids"))
}

// Tasks is how many processes and threads the machine has.
func Tasks() int {
	load, _ := os.ReadFile("/proc/loadavg") // 0.00 0.01 0.05 1/123 4567
	if f := bytes.Fields(load); len(f) > 3 {
		_, all, _ := bytes.Cut(f[3], []byte("/"))
		n, _ := strconv.Atoi(string(all))
		return n
	}
	return 0
}
