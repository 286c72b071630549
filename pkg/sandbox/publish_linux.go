//go:build linux && (amd64 || arm64)

package sandbox

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// publishRetry is how often a port is tried that something else of the machine has.
const publishRetry = time.Second

// publish has the machine's own loopback answer at a port with what the session's
// network serves there, until ctx ends.
func (n *sessionNet) publish(ctx context.Context, port int) {
	for ctx.Err() == nil {
		var listen net.ListenConfig
		l, err := listen.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(publishRetry):
			}
			continue
		}
		stop := context.AfterFunc(ctx, func() { _ = l.Close() })
		for {
			c, err := l.Accept()
			if err != nil {
				break
			}
			go n.forward(c, port)
		}
		stop()
		_ = l.Close()
	}
}

func (n *sessionNet) forward(c net.Conn, port int) {
	defer c.Close()
	out, err := n.dial(port)
	if err != nil {
		return
	}
	defer out.Close()
	splice(c, c, out)
}

// dial connects to a port of the session's loopback.
func (n *sessionNet) dial(port int) (net.Conn, error) {
	c, err := n.dialTo(unix.AF_INET, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	if errors.Is(err, unix.ECONNREFUSED) {
		c, err = n.dialTo(unix.AF_INET6, &unix.SockaddrInet6{Port: port, Addr: [16]byte{15: 1}})
	}
	return c, err
}

func (n *sessionNet) dialTo(family int, to unix.Sockaddr) (net.Conn, error) {
	fd, err := n.socketIn(family, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "published")
	defer f.Close()
	for {
		if err = unix.Connect(fd, to); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return net.FileConn(f)
}
