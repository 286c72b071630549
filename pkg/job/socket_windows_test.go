package job

import (
	"bufio"
	"errors"
	"net"
	"testing"
	"time"
)

// TestPipe: clients come one after the other and together, a deadline ends a
// read, and Close ends the wait for the next client.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	l, err := listenAt(dir)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				ended <- err
				return
			}
			go func() {
				defer c.Close()
				line, _ := bufio.NewReader(c).ReadString('\n')
				_, _ = c.Write([]byte("got " + line))
			}()
		}
	}()
	var open []net.Conn
	for range 5 {
		c, err := dialAt(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	for _, c := range open {
		if err := c.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Errorf("read %d %v", n, err)
		}
		if err := c.SetReadDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte("x\n")); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(c).ReadString('\n'); line != "got x\n" || err != nil {
			t.Errorf("%q %v", line, err)
		}
		_ = c.Close()
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept: %v", err)
	}
	if _, err := dialAt(t.Context(), dir); err == nil {
		t.Error("a closed one was reached")
	}
}
