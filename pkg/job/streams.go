package job

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentkit-go/agentkit/pkg/killtree"
)

// Output says where a command's output goes. Each part may be nil. Writes do
// not overlap, and an error of one stops only that writer.
//
// Without Command.Split standard output and error share one pipe: what both
// print keeps its exact order, and Stdout gets all of it, as it does with a
// terminal. With Split they are two pipes, and the order between them is that of
// arrival.
type Output struct {
	Both   io.Writer // everything
	Stdout io.Writer
	Stderr io.Writer
}

// running is a command with our ends of its streams.
type running struct {
	tree     *killtree.Tree
	begin    time.Time
	mine     []*os.File // read from it
	theirs   []*os.File // closed when it has started
	input    *os.File   // written to it while its input is open; nil when it has ended at once
	terminal *os.File   // our side of the terminal, nil without one
	done     sync.WaitGroup
	busy     atomic.Int32  // pumps that have something in their hands
	finished chan struct{} // closed when everything is read
}

// launch starts cmd as c describes it. With open its input stays open.
func launch(cmd *exec.Cmd, c Command, out Output, open bool) (*running, error) {
	cmd.Dir, cmd.Env = c.Dir, c.Env
	r := &running{finished: make(chan struct{})}
	err := r.connect(cmd, c, out, open)
	if err == nil {
		r.begin = time.Now()
		r.tree, err = c.Tree.Start(cmd)
	}
	for _, f := range r.theirs {
		_ = f.Close()
	}
	go func() {
		r.done.Wait()
		close(r.finished)
	}()
	if err != nil {
		r.abandon()
		return nil, err
	}
	return r, nil
}

// connect gives cmd its streams.
func (r *running) connect(cmd *exec.Cmd, c Command, out Output, open bool) error {
	var mu sync.Mutex
	if c.TTY {
		if err := r.openTerminal(cmd, c); err != nil {
			return err
		}
		r.done.Go(func() { r.pump(&twice{from: r.terminal}, &mu, out.Stdout, out.Both) })
		return nil
	}
	outR, outW, err := r.pipe()
	if err != nil {
		return err
	}
	errR, errW := (*os.File)(nil), outW
	if c.Split {
		if errR, errW, err = r.pipe(); err != nil {
			return err
		}
	}
	cmd.Stdout, cmd.Stderr = outW, errW
	// Whoever holds the command's input open after it has ended must not
	// hold the caller.
	cmd.WaitDelay = drain
	switch {
	case open:
		inR, inW, err := os.Pipe()
		if err != nil {
			return err
		}
		cmd.Stdin, r.input = inR, inW
		r.theirs = append(r.theirs, inR)
	case c.Stdin != "":
		cmd.Stdin = strings.NewReader(c.Stdin)
	}
	r.done.Go(func() { r.pump(outR, &mu, out.Stdout, out.Both) })
	if errR != nil {
		r.done.Go(func() { r.pump(errR, &mu, out.Stderr, out.Both) })
	}
	return nil
}

func (r *running) pipe() (read, write *os.File, err error) {
	read, write, err = os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	r.mine, r.theirs = append(r.mine, read), append(r.theirs, write)
	enlarge(write)
	return read, write, nil
}

// wait reports whether everything was read to the end within limit.
func (r *running) wait(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-r.finished:
		return true
	case <-timer.C:
		return false
	}
}

// rest waits for the rest of the output once the tree has ended, for as long
// as there is some to be read: whatever is in a pipe then was printed in time,
// and a machine under load takes its time to hand it over. It reports false
// when the pipes are empty and somebody still holds them.
func (r *running) rest() bool {
	idle := 0
	for begin := time.Now(); idle < 3 && time.Since(begin) < drainLimit; {
		if r.wait(drain) {
			return true
		}
		if idle++; r.pending() {
			idle = 0
		}
	}
	return false
}

// pending reports whether output was printed that is not taken in yet.
func (r *running) pending() bool {
	if r.busy.Load() > 0 {
		return true
	}
	for _, f := range r.mine {
		if unread(f) > 0 {
			return true
		}
	}
	return r.busy.Load() > 0 || r.released()
}

// released reports whether nobody holds the output any more: what reads it has only to
// find that out, for which a machine under load takes its time, too.
func (r *running) released() bool {
	return len(r.mine) > 0 && !slices.ContainsFunc(r.mine, func(f *os.File) bool { return !atEnd(f) })
}

// abandon stops reading.
func (r *running) abandon() {
	for _, f := range r.mine {
		_ = f.Close()
	}
	if r.input != nil {
		_ = r.input.Close()
	}
	<-r.finished
}

// A twice is a terminal that is read once more after it seems to have ended: Linux
// may say that the other side is gone while the last that it has printed is on its way.
type twice struct {
	from io.Reader
	last error
}

// Read implements io.Reader.
func (t *twice) Read(b []byte) (int, error) {
	n, err := t.from.Read(b)
	if err == nil || errors.Is(err, os.ErrClosed) || t.last != nil && n == 0 {
		t.last = nil
		return n, err
	}
	if t.last = err; n > 0 {
		return n, nil
	}
	return t.Read(b)
}

// pump copies from to each of the writers until its end.
func (r *running) pump(from io.Reader, mu *sync.Mutex, to ...io.Writer) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			r.busy.Add(1)
			mu.Lock()
			for i, w := range to {
				if w == nil {
					continue
				}
				if _, err := w.Write(buf[:n]); err != nil {
					to[i] = nil
				}
			}
			mu.Unlock()
			r.busy.Add(-1)
		}
		if err != nil {
			return
		}
	}
}
