//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stage is the process between who starts a command and the command.
func stage(args, env []string, build func(json.RawMessage) (Decider, error), stderr io.Writer) int {
	if len(args) < 3 || args[1] != "--" {
		return 125
	}
	fd, err := strconv.Atoi(args[0])
	if err != nil || fd < 3 {
		return 125
	}
	c, err := readConfig(fd)
	if err != nil {
		fmt.Fprintf(stderr, "agentkit: error: %v\n", err)
		return 125
	}
	catchSignals()
	argv := args[2:]
	path, err := exec.LookPath(argv[0])
	if err != nil {
		fmt.Fprintf(stderr, "agentkit: error: %v\n", err)
		return 127
	}
	attr := &syscall.ProcAttr{Env: env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}}
	p, err := c.Start(path, argv, attr, c.decider(build))
	if err != nil {
		fmt.Fprintf(stderr, "agentkit: error: %v\n", err)
		if errors.Is(err, ErrLevel) {
			return 125
		}
		return 126
	}
	return mirror(p.Pid)
}

// readConfig reads the configuration from a file that was handed down, and
// closes it.
func readConfig(fd int) (*Config, error) {
	f := os.NewFile(uintptr(fd), "configuration")
	defer f.Close()
	c := &Config{}
	if err := json.NewDecoder(f).Decode(c); err != nil {
		return nil, fmt.Errorf("reading the sandbox's configuration: %w", err)
	}
	return c, nil
}

// unnamed returns a file of content that has no name, positioned at its start.
func unnamed(content []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("sandbox", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making an unnamed file: %w", err)
	}
	f := os.NewFile(uintptr(fd), "sandbox")
	if _, err = f.Write(content); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("writing an unnamed file: %w", err)
	}
	return f, nil
}

// catchSignals has those signals that end or stop a process do nothing here:
// the command is in the same process group and gets them itself. Ignored
// ones would stay so in the command.
func catchSignals() {
	sink := make(chan os.Signal, 1)
	for _, s := range [...]syscall.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGABRT, unix.SIGTERM, unix.SIGTSTP, unix.SIGUSR1, unix.SIGUSR2} {
		if !signal.Ignored(s) {
			signal.Notify(sink, s)
		}
	}
}

// mirror waits for the command and does what it did: exits, dies of the same
// signal, or stops.
func mirror(pid int) int {
	for {
		var w unix.WaitStatus
		got, err := unix.Wait4(-1, &w, unix.WUNTRACED, nil)
		switch {
		case errors.Is(err, unix.EINTR) || err == nil && got != pid:
		case err != nil:
			return 125
		case w.Stopped():
			_ = unix.Kill(unix.Getpid(), unix.SIGSTOP)
		case w.Signaled():
			die(w.Signal())
			return 128 + int(w.Signal())
		default:
			return w.ExitStatus()
		}
	}
}

// die ends this process by a signal, without a core of its own. The runtime's
// handler would not let every signal do so.
func die(s syscall.Signal) {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	var def [4]uintptr
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&def)), 0, 8, 0, 0)
	_ = unix.Kill(unix.Getpid(), s)
	for range 100 { // it may be another thread that takes it
		t := unix.Timespec{Nsec: 1e6}
		_ = unix.Nanosleep(&t, nil)
	}
}
