//go:build !windows

package job

import (
	"context"
	"net"
)

// listenAt opens the socket of the job whose directory is dir.
func listenAt(dir string) (net.Listener, error) {
	name, done, err := socketName(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	l, err := net.Listen("unix", name)
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false) // its name may not be the one in the directory
	}
	return l, err
}

// dialAt connects to the socket of the job whose directory is dir.
func dialAt(ctx context.Context, dir string) (net.Conn, error) {
	name, done, err := socketName(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	var d net.Dialer
	return d.DialContext(ctx, "unix", name)
}
