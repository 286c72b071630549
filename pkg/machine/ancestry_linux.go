package machine

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/killtree"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// StartedByUs reports whether an agentkit call is among the processes that we
// descend from: its commands carry a mark. Root can take that off, so it looks at
// the processes above, too: for one that carries our mark in the environment it was started
// with, or one that is agentkit itself, since a shell that replaces itself by
// its last command leaves no other trace. In a PID namespace the stage of the
// command is the first process, and the parent of all that lost their own; only
// the name it gives itself tells it to an ordinary user.
// What cannot be looked at does not count.
func StartedByUs() bool {
	if carriesMark() {
		return true
	}
	self, err := os.Stat("/proc/self/exe")
	if err != nil {
		self = nil
	}
	for pid, depth := os.Getppid(), 0; pid > 0 && depth < 256; depth++ {
		if marked(pid) || isAgentkit(pid, self) {
			return true
		}
		pid = parent(pid)
	}
	return false
}

func marked(pid int) bool {
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && (bytes.HasPrefix(environ, []byte("AGENTKIT=1\x00")) || bytes.Contains(environ, []byte("\x00AGENTKIT=1\x00")))
}

// isAgentkit reports whether pid runs our own program. The name it goes by is
// its caller's choice, and so is trusted to tell a test of agentkit, which is
// the same file, from a call.
func isAgentkit(pid int, self os.FileInfo) bool {
	cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return false
	}
	name, _, _ := strings.Cut(string(cmdline), "\x00")
	if strings.HasSuffix(name, ".test") {
		return false
	}
	if base := filepath.Base(name); base == "agentkit" || base == killtree.InitName {
		return true
	}
	exe, err := os.Stat(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil && self != nil && os.SameFile(exe, self)
}

// parent is the parent of pid; 0 when it cannot be found.
func parent(pid int) int {
	fields := stat(pid)
	if len(fields) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(fields[1])
	return n
}

// stat is /proc/PID/stat from the state on; nil when it cannot be read. The name
// before that, in parentheses, may hold anything; what follows it does not.
func stat(pid int) []string {
	raw, err := safefile.ReadKernel(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
}
