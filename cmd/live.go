package cmd

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/truncate"
)

// listener hears what happens while a call runs: with -o events all of it, with
// text what a command prints, otherwise nothing. On a terminal that is shown as it
// comes, but for while a question stands on c; elsewhere the beginning is, as far as the
// result will show it anyway. The number is how many bytes of it are wanted, 0 for all.
func (a *app) listener(c *console, limits truncate.Limits) (listen func(tool.Event), hears int64) {
	p := a.printer()
	hear := func(e tool.Event) { a.deliver(p.event(e.Name, e.Value)) }
	if p.format == "json" || p.format == "text" && !p.terminal && !streams(limits) {
		return nil, 0
	}
	if p.format == "text" {
		show := p.live
		if !p.terminal {
			h := newHead(a, limits)
			show, hears = h.show, int64(h.bytes)
		}
		hear = func(e tool.Event) {
			if said, ok := e.Value.(tool.OutputEvent); ok {
				a.shown = p.terminal
				a.deliver(show(said.Text))
			}
		}
	}
	return func(e tool.Event) {
		size := eventSize
		if said, ok := e.Value.(tool.OutputEvent); ok {
			size += len(said.Text)
		}
		c.say(size, func() { hear(e) })
	}, hears
}

// eventSize is about what an event takes beside its text, in bytes.
const eventSize = 100

// headShare is the part of the limits that is shown before a command has ended.
// The result of one that is cut shows a sixth of them from the start at least, see
// package truncate.
const headShare = 8

// streams reports whether the limits leave room to show anything before the end:
// the footer takes as much whatever they are.
func streams(l truncate.Limits) bool { return l.Bytes >= 8<<10 && l.Lines >= 200 }

// A head shows the first lines of a command's output as they come, so that whoever
// wants no more of them, such as head, can go away.
type head struct {
	app          *app
	text         *truncate.Writer
	lines, bytes int // that may still be shown
	over         bool
}

func newHead(a *app, l truncate.Limits) *head {
	h := &head{app: a, text: truncate.New(truncate.Options{Limits: l, Clean: true})}
	h.lines, h.bytes = l.Lines/headShare, l.Bytes/headShare
	return h
}

func (h *head) show(text string) error {
	if h.over {
		return nil
	}
	_, _ = h.text.WriteString(h.take(text))
	now := h.text.Snapshot()
	whole := now.Text[:strings.LastIndexByte(now.Text, '\n')+1]
	fresh, ok := strings.CutPrefix(whole, h.app.begun)
	if now.Truncated || !ok { // a line was shortened
		h.over = true
		return nil
	}
	h.app.begun = whole
	_, err := io.WriteString(h.app.stdout, fresh)
	return err
}

// take cuts text to what may still be shown.
func (h *head) take(text string) string {
	n := 0
	for n < len(text) && h.lines > 0 {
		i := strings.IndexByte(text[n:], '\n') + 1
		if i == 0 {
			i = len(text) - n
		} else {
			h.lines--
		}
		n += i
	}
	if n = min(n, h.bytes); n < len(text) {
		h.over = true
	}
	h.bytes -= n
	return text[:n]
}

// readerLooks is the time between two looks at whether anybody still reads.
const readerLooks = 100 * time.Millisecond

// whileRead returns a context that ends when whoever reads stdout, a pipe or a
// socket, has gone: nobody wants to know what a command prints then, so it ends as
// it does by SIGPIPE at the end of a pipeline. The function ends the looking, and
// reports whether nobody reads.
func whileRead(ctx context.Context, stdout io.Writer) (context.Context, func() (unread bool)) {
	f, ok := stdout.(*os.File)
	if !ok {
		return ctx, func() bool { return false }
	}
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		tick := time.NewTicker(readerLooks)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if machine.ReaderGone(f) {
				cancel(&tool.Signal{Number: syscall.SIGPIPE})
			}
		}
	}()
	return ctx, func() bool {
		cancel(nil) // which changes nothing where it was cancelled before
		s, ok := errors.AsType[*tool.Signal](context.Cause(ctx))
		return ok && s.Number == syscall.SIGPIPE
	}
}
