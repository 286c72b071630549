package job

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/killtree"
)

// Output says where a command's output goes. Each part may be nil. Writes do
// not overlap, and an error of one stops only that writer.
type Output struct {
	Both   io.Writer // standard output and error in the order of arrival
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
		r.done.Go(func() { pump(r.terminal, &mu, out.Stdout, out.Both) })
		return nil
	}
	outR, outW, err := r.pipe()
	if err != nil {
		return err
	}
	errR, errW, err := r.pipe()
	if err != nil {
		return err
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
	r.done.Go(func() { pump(outR, &mu, out.Stdout, out.Both) })
	r.done.Go(func() { pump(errR, &mu, out.Stderr, out.Both) })
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

// pump copies from to each of the writers until its end.
func pump(from io.Reader, mu *sync.Mutex, to ...io.Writer) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
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
		}
		if err != nil {
			return
		}
	}
}
