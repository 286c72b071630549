package remote

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/serve"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A keeper is a process of this machine that keeps a connection for the calls of others, as
// ssh's ControlMaster does. The rules:
//
//   - It speaks package serve's protocol on a socket in a directory that only this user can
//     reach, and knows nothing of policies: the far end decides as it was told when the
//     connection was opened.
//   - Its name is made of all that was told then, and of all that may lead elsewhere: program,
//     target, user, directory and environment. Calls that differ in any of it never meet.
//   - It ends when nobody has called for a while, when its socket is gone, and when the
//     connection cannot be opened again.
const (
	idle      = 2 * time.Minute
	keepers   = 16               // at a time
	again     = 30 * time.Second // until another is tried where one has failed
	lookEvery = time.Second
	greeting  = 10 * time.Second // for one that is there to say so
	swept     = time.Hour        // age of what a killed one has left
)

// keptAt is where the socket of a keeper for such calls is; "" where none may be.
func (o *Options) keptAt() string {
	p, err := own(o.Self, o.Version)
	if o.Keep == "" || err != nil {
		return ""
	}
	welcome, err := tool.Encode(o.Welcome)
	if err != nil {
		return ""
	}
	h := sha256.New()
	for _, part := range append([]string{p.name, o.Target.String(), fmt.Sprint(os.Geteuid()), string(welcome)}, o.Around...) {
		_, _ = fmt.Fprintf(h, "%d %s", len(part), part)
	}
	path := filepath.Join(o.Keep, hex.EncodeToString(h.Sum(nil)[:10]))
	if len(path+unready) > longestPath {
		return ""
	}
	return path
}

// longestPath is how long the name of a socket may be on every system.
const longestPath = 100

// kept is a connection to the far end that a keeper has; nil where there is none.
func kept(o *Options) *Conn {
	path := o.keptAt()
	if path == "" || safefile.Check(filepath.Dir(path), true) != nil {
		return nil
	}
	sock, err := net.Dial("unix", path)
	if err != nil {
		return nil
	}
	d := &dialog{carrier: &carrier{in: sock, out: sock, said: new(lastWords), over: make(chan struct{})}, o: o}
	d.in = bufio.NewReaderSize(d.carrier, 64<<10)
	_ = sock.SetDeadline(time.Now().Add(greeting))
	hello, err := d.hello()
	if err = cmp.Or(err, sock.SetDeadline(time.Time{})); err != nil {
		d.carrier.close(0)
		return nil
	}
	return newConn(o.Target, d.carrier, d.in, hello)
}

// keep starts a keeper for the calls that follow, where there is none. That it cannot be is
// no news: each call has a connection of its own then.
func keep(o *Options) {
	path := o.keptAt()
	if path == "" {
		return
	}
	d, err := safefile.MakeDir(o.Keep)
	if err != nil {
		return
	}
	list, err := d.ReadDir()
	info, absent := d.Lstat(filepath.Base(path) + locked)
	if err := errors.Join(err, d.Close()); err != nil || len(list) >= 2*keepers || absent == nil && time.Since(info.ModTime()) < again {
		return
	}
	welcome, err := tool.Encode(o.Welcome)
	if err != nil {
		return
	}
	in, out, err := os.Pipe()
	if err != nil {
		return
	}
	defer out.Close()                                                                                              //nolint:errcheck // it may not have been read
	c := exec.Command(o.Self, "--on", o.Target.String(), "--state", filepath.Dir(o.Keep), "serve", "--keep", path) //nolint:gosec // it is this very program
	c.Stdin = in
	c.Env = append(c.Environ(), "SSH_ASKPASS_REQUIRE=never") // nobody expects a question then
	away(c)
	err = c.Start()
	_ = in.Close()
	if err != nil {
		return
	}
	_ = out.SetWriteDeadline(time.Now().Add(leave))
	_, _ = out.Write(append(welcome, '\n'))
	_ = c.Process.Release()
}

// What stands behind the name of a socket.
const (
	locked  = ".lock" // the file that its keeper holds
	unready = ".new"  // the socket, while others may reach it
)

// Keep keeps a connection for those who come to the socket at path, until it has to end.
func Keep(ctx context.Context, o *Options, path string) error {
	d, err := safefile.MakeDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer d.Close() //nolint:errcheck // it was only read
	sweep(d)
	name := filepath.Base(path)
	lock, err := d.TryLock(name+locked, true)
	if err != nil {
		return err // another one is there
	}
	defer lock.Close() //nolint:errcheck // the process ends
	if err := d.Touch(name+locked, time.Now()); err != nil {
		return err
	}
	l, err := Open(ctx, o)
	if err != nil {
		return err // the file stays, so that the next calls do not try it at once
	}
	defer l.Close()
	_ = d.Remove(name + unready)
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path + unready})
	if err != nil {
		return err
	}
	listener.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(path+unready, 0o600), d.Rename(name+unready, name)); err != nil {
		return errors.Join(err, listener.Close())
	}
	k := &keeper{link: l, came: make(chan net.Conn), gone: make(chan struct{})}
	go k.accept(listener)
	k.serve(ctx, func() bool {
		_, err := d.Lstat(name)
		return err == nil
	})
	_ = d.Remove(name) // which may be gone
	return errors.Join(d.Remove(name+locked), listener.Close())
}

// sweep removes what killed keepers have left.
func sweep(d *safefile.Dir) {
	list, _ := d.ReadDir() // what is not seen stays
	for _, e := range list {
		name, isLock := strings.CutSuffix(e.Name(), locked)
		info, err := e.Info()
		if !isLock || err != nil || time.Since(info.ModTime()) < swept {
			continue
		}
		if f, err := d.TryLock(e.Name(), true); err == nil {
			_ = errors.Join(d.Remove(name), d.Remove(e.Name()), f.Close())
		}
	}
}

type keeper struct {
	link *Link
	came chan net.Conn
	gone chan struct{} // one for each that has left
}

func (k *keeper) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		k.came <- c
	}
}

// serve lets callers come until nobody has for a while, or there is reason to end.
func (k *keeper) serve(ctx context.Context, wanted func() bool) {
	here, since := 0, time.Now()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case c := <-k.came:
			here++
			go k.one(ctx, c)
		case <-k.gone:
			here, since = here-1, time.Now()
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if here == 0 && (time.Since(since) > idle || k.link.failed.Load() || !wanted()) {
			return
		}
	}
}

// one serves one caller. When it goes away, what it has called is ended.
func (k *keeper) one(ctx context.Context, c net.Conn) {
	defer func() { k.gone <- struct{}{} }()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	one := &caller{Conn: c, end: end, more: make(chan struct{}, 1), over: make(chan struct{})}
	go one.write()
	_ = serve.Run(ctx, serve.Options{Hello: *k.link.Hello(), Call: k.link.Call, Asks: true, Whole: true, In: one, Out: one})
	one.finish()
	_ = c.Close()
}

// A caller is one of a keeper. What goes to it waits in memory: if it does not read, others that
// share the connection go on. It has no more than results and the beginnings of outputs to hear,
// see [Link.Call].
type caller struct {
	net.Conn
	end context.CancelCauseFunc

	more   chan struct{} // holds one where there may be something to write
	over   chan struct{} // closed when nothing more is written
	mu     sync.Mutex    // guards what follows
	waits  []byte
	last   bool // nothing more comes
	broken error
}

// Write has text written soon.
func (c *caller) Write(text []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits = append(c.waits, text...)
	c.wake()
	return len(text), c.broken
}

func (c *caller) wake() {
	select {
	case c.more <- struct{}{}:
	default:
	}
}

// write writes what waits.
func (c *caller) write() {
	defer close(c.over)
	for {
		<-c.more
		c.mu.Lock()
		text, last := c.waits, c.last
		c.waits = nil
		c.mu.Unlock()
		_, err := c.Conn.Write(text)
		c.mu.Lock()
		c.broken = err
		done := err != nil || last && len(c.waits) == 0
		c.mu.Unlock()
		if done {
			return
		}
	}
}

// finish waits until the last of it is written, or nobody reads it.
func (c *caller) finish() {
	c.mu.Lock()
	c.last = true
	c.wake()
	c.mu.Unlock()
	_ = c.SetWriteDeadline(time.Now().Add(leave))
	<-c.over
}

func (c *caller) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.end(tool.Errorf(tool.Interrupted, "the caller has gone away").WithHint("call again to start over"))
		err = io.EOF
	}
	return n, err
}
