package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// grace is how long calls may go on when the input has ended: the client has gone, but
// what it piped in may be answered.
const grace = time.Second

// errGone ends what a client has started that has gone.
var errGone = &tool.Error{Code: tool.Interrupted, Message: "the client has gone", Hint: "call again to start over"}

// A stream is the client at the other end of two streams.
type stream struct {
	*link
	calls sync.WaitGroup
	write sync.Mutex
	out   io.Writer
}

// Run serves one client on two streams, a message on each line, until the input ends, the
// client is lost or ctx ends; then it ends what runs, and waits for it. The error is what
// ended it before the input did.
func (s *Server) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	c := &stream{link: s.link(ctx), out: out}
	ended := make(chan error, 1)
	go func() { ended <- c.read(in) }()
	var err error
	select {
	case err = <-ended:
	case <-c.ctx.Done():
	}
	close(c.deaf)
	done := over(&c.calls)
	select {
	case <-done:
	case <-c.ctx.Done():
	case <-time.After(grace):
	}
	cause := context.Cause(c.ctx) // nil where only the input has ended
	c.cancel(errGone)
	s.end(cmp.Or(cause, error(errGone)))
	s.Wait()
	select {
	case <-done:
	case <-time.After(patience): // nobody reads what they have to say
	}
	return cmp.Or(cause, err)
}

// read does line for line what comes, until the input ends.
func (c *stream) read(from io.Reader) error {
	in := bufio.NewReaderSize(from, 64<<10)
	for {
		text, long, err := line(in)
		switch text = bytes.TrimSpace(text); {
		case long:
			c.send(respond(nil, nil, fail(invalidRequest, fmt.Sprintf("a line is longer than %d MiB: send less at a time", MaxLine>>20))))
		case len(text) > 0 && c.ctx.Err() == nil:
			c.take(text)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// line reads one line. Of one that is too long, longer than MaxLine, it keeps nothing.
func line(in *bufio.Reader) (text []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(text)+len(part) > MaxLine; long {
			text = nil
		} else {
			text = append(text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, long, err
		}
	}
}

// take does what a line says. Requests are begun in the order in which they come.
func (c *stream) take(text []byte) {
	list, _, err := parse(text)
	if err != nil {
		c.send(respond(nil, nil, err))
		return
	}
	for _, m := range list {
		if !m.asks() {
			c.tell(m)
			continue
		}
		ctx, end, err := c.begin(c.ctx, m)
		if err != nil {
			c.send(respond(m.ID, nil, err))
			continue
		}
		if m.Method == "initialize" { // what follows on the stream is understood by its answer
			c.finish(ctx, m, end)
			continue
		}
		c.calls.Go(func() { c.finish(ctx, m, end) })
	}
}

func (c *stream) finish(ctx context.Context, m *message, end func()) {
	r := c.answer(ctx, m, c.send, true)
	end() // who has the answer may use the id again
	if r != nil {
		c.send(r)
	}
}

// send writes one message. When nobody takes it any more, everything ends.
func (c *stream) send(v any) {
	if v == nil {
		return // a stream needs no sign of life
	}
	text := encode(v)
	c.write.Lock()
	defer c.write.Unlock()
	if _, err := c.out.Write(append(text, '\n')); err != nil {
		c.cancel(&tool.Signal{Number: syscall.SIGPIPE})
	}
}

// encode is a message as JSON on one line.
func encode(v any) []byte {
	text, err := tool.Encode(v)
	if err == nil {
		return text
	}
	failed := respond(nil, nil, fail(busy, "encoding the answer: "+err.Error()))
	if r, ok := v.(*response); ok {
		failed.ID = r.ID
	}
	text, _ = tool.Encode(failed)
	return text
}
