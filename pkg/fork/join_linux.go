//go:build linux && (amd64 || arm64)

package fork

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A joining is what a stand-in needs. Only a process with one thread can enter a
// user namespace, and only one that is in there may make the child's other
// namespaces. So the child is made by a stand-in, which enters and ends at once, as
// a child not of the stand-in but of ours.
type joining struct {
	users, net uintptr // open namespaces
	child      *int32  // shared with the stand-in: the PID, or what failed as a negative number
}

// Join has the child start in a user namespace and a network namespace that are
// open, with all rights in them. The flags that it is made with must name neither.
func (p *Plan) Join(users, net int) error {
	page, err := unix.Mmap(-1, 0, unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	if err != nil {
		return fmt.Errorf("joining namespaces: %w", err)
	}
	runtime.AddCleanup(p, func(b []byte) { _ = unix.Munmap(b) }, page)
	p.join = Place(p, joining{uintptr(users), uintptr(net), (*int32)(unsafe.Pointer(&page[0]))})
	return nil
}

// Joins reports whether the child starts in other namespaces, and hands on to q
// that it does.
func (p *Plan) Joins(q *Plan) bool {
	if p.join != nil && q != nil {
		q.join = p.join
	}
	return p.join != nil
}

// made collects the stand-in and returns the child that it has made.
func (j *joining) made(standIn int) (pid int, e unix.Errno) {
	for {
		if _, err := unix.Wait4(standIn, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	switch n := atomic.LoadInt32(j.child); {
	case n > 0:
		return int(n), 0
	case n < 0:
		return 0, unix.Errno(-n)
	}
	return 0, unix.ECHILD // it was killed
}

// standIn enters the namespaces and makes the child, in which alone it returns.
//
//go:norace
//go:nosplit
//go:noinline
func (c *child) standIn(flags uintptr) {
	j := c.join
	_, _, e := syscall.RawSyscall6(unix.SYS_SETNS, j.users, unix.CLONE_NEWUSER, 0, 0, 0, 0)
	if e == 0 {
		_, _, e = syscall.RawSyscall6(unix.SYS_SETNS, j.net, unix.CLONE_NEWNET, 0, 0, 0, 0)
	}
	var r uintptr
	if e == 0 {
		// New rights have closed it to others, and its own files of /proc to itself.
		syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1, 0, 0, 0, 0)
		r, _, e = syscall.RawSyscall6(unix.SYS_CLONE, flags|unix.CLONE_PARENT|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	}
	switch {
	case e != 0:
		*j.child = -int32(e)
	case r == 0:
		return
	default:
		*j.child = int32(r)
	}
	c.exit(0)
}
