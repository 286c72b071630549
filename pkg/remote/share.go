package remote

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// longestSocket is how long the name of a directory for ssh's sockets may be: their own
// names take sixty more of the hundred bytes that systems allow.
const longestSocket = 43

// How long ssh keeps a connection that nobody uses, in seconds.
const (
	persist = 120
	briefly = 5 // where no further call to the place is awaited
)

// shared has ssh keep its connection for the calls that follow, with a socket in a directory
// that only this user can reach. One that nobody uses ends after two minutes, and one that
// is dead after a minute, so that no call waits for it long. Without such a directory each
// call has a connection of its own.
func shared(argv []string, o *Options) (_ []string, sharing bool) {
	dir := o.Share
	if dir == "" || argv[0] != "ssh" || runtime.GOOS == "windows" || len(dir) > longestSocket || strings.ContainsAny(dir, "% \t\"'\\$") {
		return argv, false
	}
	d, err := safefile.MakeDir(dir)
	if err != nil {
		return argv, false
	}
	_ = d.Close()
	seconds := persist
	if o.Brief {
		seconds = briefly
	}
	return slices.Insert(slices.Clone(argv), 1, "-o", "ControlMaster=auto", "-o", "ControlPath="+filepath.Join(dir, "%C"), "-o", "ControlPersist="+strconv.Itoa(seconds),
		"-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3"), true
}

// openShared opens the connection that ssh keeps, where there is none, while it may ask on the
// terminal: an ssh that uses it asks nothing, and need not be in front, where interrupts end it.
func openShared(ctx context.Context, o *Options, argv []string) error {
	own := argv[1 : len(argv)-1] // less what is run there
	check, err := o.command(ctx, slices.Concat([]string{argv[0], "-O", "check"}, own))
	if err != nil {
		return err
	}
	if check.Run() == nil {
		return nil
	}
	said := new(lastWords)
	c, err := o.command(ctx, slices.Concat(argv[:1], own, []string{"true"}))
	if err != nil {
		return err
	}
	c.Stderr, c.WaitDelay = said, leave
	err = c.Run()
	switch cause := context.Cause(ctx); {
	case cause != nil:
		return cause
	case c.ProcessState == nil:
		return unstarted(argv[0], err)
	case c.ProcessState.ExitCode() != 255: // which is ssh's own
		return nil
	}
	return o.impassable(tool.Network, "it ended before agentkit was there", said)
}
