package cmd

import (
	"bufio"
	"context"
	"io"
	"sync"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// attended reports whether a person is asked on the terminal. Without --ask one is only
// where they are surely there: standard input and output are both a terminal.
func (a *app) attended() bool {
	return a.Ask == "tty" || a.Ask == "" && machine.IsTerminal(a.stdin) && machine.IsTerminal(a.stdout)
}

// A console is the terminal that a person answers on: one question at a time. What else would be
// printed waits while one stands there, for it could look like another question: a command would
// have its own words answered in the place of ours.
type console struct {
	turn chan struct{} // holds one while a question stands, or somebody prints who must not meanwhile

	mu   sync.Mutex
	room *sync.Cond // of mu: there is room in held again
	asks bool
	held []func() // what is printed when the question is answered
	size int      // of held, in bytes
}

// mostHeld bounds what is held, in bytes: whoever prints more waits.
const mostHeld = 1 << 20

func newConsole() *console {
	c := &console{turn: make(chan struct{}, 1)}
	c.room = sync.NewCond(&c.mu)
	return c
}

// say has print print so many bytes, at once where no question stands.
func (c *console) say(size int, print func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.asks && c.size >= mostHeld {
		c.room.Wait()
	}
	if c.asks {
		c.held, c.size = append(c.held, print), c.size+size
		return
	}
	print()
}

// stand says that a question stands, until the function is called.
func (c *console) stand() (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asks = true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, print := range c.held {
			print()
		}
		c.asks, c.held, c.size = false, nil, 0
		c.room.Broadcast()
	}
}

// onTerminal opens the terminal and has ask use it, when nobody else does.
func onTerminal[T any](ctx context.Context, c *console, ask func(machine.Terminal) (T, error)) (none T, err error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
	tty, err := machine.OpenTerminal()
	if err != nil {
		return none, &tool.NobodyError{Why: "there is no terminal to ask on"}
	}
	defer tty.Close() //nolint:errcheck // nothing was written that could be lost
	defer c.stand()()
	return ask(tty)
}

// whileOpen lets ask wait for the terminal until ctx ends: a read of it knows
// nothing of signals, so it is left behind then.
func whileOpen[T any](ctx context.Context, tty io.Writer, ask func() (T, error)) (none T, err error) {
	type outcome struct {
		answer T
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		answer, err := ask()
		done <- outcome{answer, err}
	}()
	select {
	case o := <-done:
		return o.answer, o.err
	case <-ctx.Done():
		_, _ = io.WriteString(tty, "\n")
		return none, context.Cause(ctx)
	}
}

// A terminal is what questions are put on.
type terminal interface {
	io.ReadWriter
	Flush() // drops what was typed and not read
}

// A questioner puts questions on a terminal. What was typed before a question stands
// there was not meant for it: an Enter too many, or the y for another one.
type questioner struct {
	tty terminal
	in  *bufio.Reader
}

func newQuestioner(tty terminal) questioner { return questioner{tty, bufio.NewReader(tty)} }

// ask shows a question and reads a line.
func (q questioner) ask(question string) (line string, err error) {
	q.tty.Flush()
	_, _ = q.in.Discard(q.in.Buffered())
	if _, err := io.WriteString(q.tty, question); err != nil {
		return "", err
	}
	return q.in.ReadString('\n')
}
