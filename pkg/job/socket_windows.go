package job

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Here a job's socket is a named pipe, for which a path of any length is short
// enough: addresses have room for 108 bytes, less than the state directory of
// a user with a long name takes. Its name cannot be guessed, and stands in a
// file where the socket would be.

// A pipeListener makes one instance of a named pipe after the other.
type pipeListener struct {
	name   string
	access *windows.SecurityAttributes
	next   windows.Handle // the instance that waits for a client
	over   windows.Handle // the event that Close sets
	mu     sync.Mutex     // held by Accept
	once   sync.Once
}

// listenAt opens the pipe of the job whose directory is dir.
func listenAt(dir string) (net.Listener, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	owner, err := windows.SecurityDescriptorFromString("D:P(A;;GA;;;" + user.User.Sid.String() + ")")
	if err != nil {
		return nil, err
	}
	l := &pipeListener{name: `\\.\pipe\agentkit-` + rand.Text(), access: &windows.SecurityAttributes{SecurityDescriptor: owner}}
	l.access.Length = uint32(unsafe.Sizeof(*l.access))
	if l.over, err = windows.CreateEvent(nil, 1, 0, nil); err != nil {
		return nil, err
	}
	if l.next, err = l.instance(windows.FILE_FLAG_FIRST_PIPE_INSTANCE); err == nil {
		err = os.WriteFile(filepath.Join(dir, socketFile), []byte(l.name), 0o600)
	}
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

func (l *pipeListener) instance(flag uint32) (windows.Handle, error) {
	name, err := windows.UTF16PtrFromString(l.name)
	if err != nil {
		return 0, err
	}
	const size = 64 << 10
	h, err := windows.CreateNamedPipe(name, windows.PIPE_ACCESS_DUPLEX|windows.FILE_FLAG_OVERLAPPED|flag,
		windows.PIPE_TYPE_BYTE|windows.PIPE_REJECT_REMOTE_CLIENTS, windows.PIPE_UNLIMITED_INSTANCES, size, size, 0, l.access)
	if err != nil {
		return 0, fmt.Errorf("making a named pipe: %w", err)
	}
	return h, nil
}

// Accept implements net.Listener.
func (l *pipeListener) Accept() (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == 0 {
		return nil, net.ErrClosed
	}
	if err := l.connect(); err != nil {
		_ = windows.CloseHandle(l.next)
		l.next = 0
		return nil, err
	}
	h := l.next
	next, err := l.instance(0)
	if err != nil {
		next = 0 // the next Accept ends
	}
	l.next = next
	return pipeConn{os.NewFile(uintptr(h), l.name)}, nil
}

// connect waits for a client of the instance.
func (l *pipeListener) connect() error {
	came, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(came)
	wait := windows.Overlapped{HEvent: came}
	switch err = windows.ConnectNamedPipe(l.next, &wait); {
	case errors.Is(err, windows.ERROR_PIPE_CONNECTED):
		return nil
	case !errors.Is(err, windows.ERROR_IO_PENDING):
		return err
	}
	which, err := windows.WaitForMultipleObjects([]windows.Handle{l.over, came}, false, windows.INFINITE)
	if err == nil && which == windows.WAIT_OBJECT_0 {
		err = net.ErrClosed
	}
	if err != nil {
		_ = windows.CancelIoEx(l.next, &wait)
	}
	var n uint32
	return errors.Join(err, windows.GetOverlappedResult(l.next, &wait, &n, true))
}

// Close implements net.Listener.
func (l *pipeListener) Close() error {
	l.once.Do(func() {
		_ = windows.SetEvent(l.over)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.next != 0 {
			_ = windows.CloseHandle(l.next)
			l.next = 0
		}
		_ = windows.CloseHandle(l.over)
	})
	return nil
}

// Addr implements net.Listener.
func (l *pipeListener) Addr() net.Addr { return pipeAddr(l.name) }

type pipeAddr string

func (pipeAddr) Network() string  { return "pipe" }
func (a pipeAddr) String() string { return string(a) }

type pipeConn struct{ *os.File }

func (c pipeConn) LocalAddr() net.Addr  { return pipeAddr(c.Name()) }
func (c pipeConn) RemoteAddr() net.Addr { return pipeAddr(c.Name()) }

// dialAt connects to the pipe of the job whose directory is dir.
func dialAt(ctx context.Context, dir string) (net.Conn, error) {
	raw, err := os.ReadFile(filepath.Join(dir, socketFile))
	if err != nil {
		return nil, err
	}
	name, err := windows.UTF16PtrFromString(string(raw))
	if err != nil {
		return nil, err
	}
	for ; ; time.Sleep(5 * time.Millisecond) {
		// The other side may know who we are, but not act in our name.
		h, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE, 0, nil, windows.OPEN_EXISTING,
			windows.FILE_FLAG_OVERLAPPED|windows.SECURITY_SQOS_PRESENT|windows.SECURITY_IDENTIFICATION, 0)
		if err == nil {
			return pipeConn{os.NewFile(uintptr(h), string(raw))}, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !errors.Is(err, windows.ERROR_PIPE_BUSY) {
			return nil, &os.PathError{Op: "open", Path: string(raw), Err: err}
		}
	}
}
