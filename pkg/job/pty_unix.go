//go:build unix

package job

import (
	"os"
	"os/exec"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// endOfInput is what a terminal takes for the end of input at the start of a
// line.
const endOfInput = "\x04"

// openTerminal gives cmd a terminal.
func (r *running) openTerminal(cmd *exec.Cmd, c Command) error {
	ours, theirs, err := pty.Open()
	if err != nil {
		return err
	}
	defer ours.Close()
	r.theirs = append(r.theirs, theirs)
	rows, cols := c.size()
	if err := pty.Setsize(theirs, &pty.Winsize{Rows: rows, Cols: cols}); err != nil {
		return err
	}
	// A descriptor of its own that never was in blocking mode: reads can be
	// given up, and writes have deadlines.
	fd, err := unix.FcntlInt(ours.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return err
	}
	r.terminal = os.NewFile(uintptr(fd), ours.Name())
	r.mine = append(r.mine, r.terminal)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if c.Stdin != "" {
		go func() { _, _ = r.terminal.WriteString(c.Stdin + endOfInput) }()
	}
	return nil
}

// resize tells the terminal its size.
func (r *running) resize(rows, cols uint16) error {
	raw, err := r.terminal.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols})
	})
	if err != nil {
		return err
	}
	return failed
}
