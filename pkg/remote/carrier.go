package remote

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A carrier is a program of this machine whose pipe leads to the far end.
type carrier struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  io.ReadCloser
	said *lastWords
	end  sync.Once
	over chan struct{} // closed when the program has ended

	heard atomic.Int64 // when something came last, in Unix nanoseconds
}

// Read reads what comes from the far end.
func (c *carrier) Read(p []byte) (int, error) {
	n, err := c.out.Read(p)
	c.heard.Store(time.Now().UnixNano())
	return n, err
}

// start starts the carrier of a target. It may ask for a password on the terminal, where there is
// one; not so docker and podman, and not ssh where a connection is shared, which is opened before.
func start(ctx context.Context, o *Options) (*carrier, error) {
	argv, sharing := shared(o.Target.Argv(), o)
	asks := hasTerminal() && argv[0] != "docker" && argv[0] != "podman"
	if asks && sharing {
		if err := openShared(ctx, o, argv); err != nil {
			return nil, err
		}
		asks = false
	}
	cmd, err := o.command(context.Background(), argv)
	if err != nil {
		return nil, err
	}
	c := &carrier{cmd: cmd, said: new(lastWords), over: make(chan struct{})}
	apart(c.cmd, asks)
	c.cmd.Stderr, c.cmd.WaitDelay = c.said, time.Second
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if c.out, err = c.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, unstarted(argv[0], err)
	}
	return c, nil
}

// command is one that starts a program of this machine, which ends when ctx does.
func (o *Options) command(ctx context.Context, argv []string) (*exec.Cmd, error) {
	if o.Find == nil {
		return exec.CommandContext(ctx, argv[0], argv[1:]...), nil //nolint:gosec // that is what it is for
	}
	path := o.Find(argv[0])
	if path == "" {
		return nil, unstarted(argv[0], exec.ErrNotFound)
	}
	c := exec.CommandContext(ctx, path, argv[1:]...) //nolint:gosec // that is what it is for
	c.Env = append(c.Environ(), "PATH="+o.Path)
	return c, nil
}

func unstarted(program string, err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return tool.Errorf(tool.Unsupported, "there is no %s on this machine that may lead to the other place", program).
			WithHint("install it in a directory of PATH; one in a root, or in a directory for temporary files, does not count, for a call can have put it there")
	}
	return err
}

// leave is how long a carrier may take to end by itself.
const leave = 3 * time.Second

// close lets go of the far end, and ends the carrier. It may be called several times.
func (c *carrier) close(wait time.Duration) {
	c.end.Do(func() {
		_ = c.in.Close()
		if c.cmd == nil { // a socket, behind which another process has the carrier
			close(c.over)
			return
		}
		go func() {
			_ = c.cmd.Wait()
			close(c.over)
		}()
		select {
		case <-c.over:
		case <-time.After(wait):
			end(c.cmd)
			_ = c.out.Close()
		}
	})
	<-c.over
}

// killOn ends the carrier when ctx ends; the function says that it need not any more.
func (c *carrier) killOn(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		end(c.cmd)
		_ = c.in.Close()
		_ = c.out.Close()
	})
}

// maxSaid bounds what is kept of what a carrier says, in bytes.
const maxSaid = 2 << 10

// lastWords keeps the end of what a carrier writes to standard error, to be told when it
// fails. The far end can write there, too.
type lastWords struct {
	mu   sync.Mutex
	kept []byte
}

func (l *lastWords) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, p[max(0, len(p)-maxSaid):]...)
	l.kept = slices.Clone(l.kept[max(0, len(l.kept)-maxSaid):])
	return len(p), nil
}

// text is what was said last, in one line.
func (l *lastWords) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return tool.VisibleName(strings.Join(strings.FieldsFunc(strings.ToValidUTF8(string(l.kept), "?"), func(r rune) bool { return r == '\n' || r == '\r' }), "; "))
}
