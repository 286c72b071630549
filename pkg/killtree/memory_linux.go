package killtree

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// machineMemory is what the machine has and what a program could still take of it, in
// bytes; 0 where that cannot be told.
func machineMemory() (total, available int64) {
	info, _ := os.ReadFile("/proc/meminfo")
	return kilobytes(info, "MemTotal:"), kilobytes(info, "MemAvailable:")
}

// kilobytes adds up the lines of a file of /proc that begin with one of the keys.
func kilobytes(text []byte, keys ...string) (sum int64) {
	for line := range bytes.Lines(text) {
		for _, key := range keys {
			if rest, ok := bytes.CutPrefix(line, []byte(key)); ok {
				number, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
				n, _ := strconv.ParseInt(string(number), 10, 64)
				sum += n << 10
			}
		}
	}
	return sum
}

// memory is what the processes of the tree hold in memory that is no file's, in bytes. What
// they share counts once, but to find that out takes long, so it is done only where the
// rough sum, in which it counts for each, is more than enough.
func (t *Tree) memory(enough int64) (sum int64) {
	members := t.Members()
	page := int64(os.Getpagesize())
	for _, p := range members {
		if pages, err := os.ReadFile("/proc/" + strconv.Itoa(p.Pid) + "/statm"); err == nil {
			if f := bytes.Fields(pages); len(f) > 2 {
				resident, _ := strconv.ParseInt(string(f[1]), 10, 64)
				sum += resident * page
			}
		}
	}
	if sum <= enough {
		return sum
	}
	exact := int64(0)
	for _, p := range members {
		rollup, err := os.ReadFile("/proc/" + strconv.Itoa(p.Pid) + "/smaps_rollup")
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ESRCH) {
			return sum // it shows itself to nobody
		}
		if exact += kilobytes(rollup, "Pss_Anon:", "Pss_Shmem:", "SwapPss:"); exact > enough {
			break
		}
	}
	return exact
}
