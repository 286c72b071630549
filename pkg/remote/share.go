package remote

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// longestSocket is how long the name of a directory for ssh's sockets may be: their own
// names take sixty more of the hundred bytes that systems allow.
const longestSocket = 43

// shared has ssh keep its connection for the calls that follow, with a socket in a directory
// that only this user can reach. One that nobody uses ends after two minutes, and one that
// is dead after a minute, so that no call waits for it long. Without such a directory each
// call has a connection of its own.
func shared(argv []string, dir string) []string {
	if dir == "" || argv[0] != "ssh" || runtime.GOOS == "windows" || len(dir) > longestSocket || strings.ContainsAny(dir, "% \t\"'\\$") {
		return argv
	}
	d, err := safefile.MakeDir(dir)
	if err != nil {
		return argv
	}
	_ = d.Close()
	return slices.Insert(slices.Clone(argv), 1, "-o", "ControlMaster=auto", "-o", "ControlPath="+filepath.Join(dir, "%C"), "-o", "ControlPersist=120",
		"-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3")
}
