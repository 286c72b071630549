package cmd

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// patience is how long a call takes before a person is told that it still runs.
const patience = 2 * time.Second

// A waiting says on the last line of a terminal that a call still runs, until there is
// something else to see: what a command prints, a question, the result.
type waiting struct {
	out   io.Writer
	name  string
	begun time.Time

	mu    sync.Mutex
	timer *time.Timer
	drawn bool
	asked int // questions that stand on the terminal
	over  bool
}

// await begins to wait for a call of a tool by p, until the function is called. Where
// standard error is no terminal, and where whoever reads hears of each event, it says nothing.
func (a *app) await(name string, p *tool.Peer) (end func()) {
	if a.format() == "events" || a.getenv("TERM") == "dumb" || !machine.IsTerminal(a.stderr) {
		return func() {}
	}
	w := &waiting{out: a.stderr, name: name, begun: time.Now()}
	w.timer = time.AfterFunc(patience, w.draw)
	if hear := p.Hear; hear != nil {
		p.Hear = func(e tool.Event) {
			if _, ok := e.Value.(tool.OutputEvent); ok {
				w.end()
			}
			hear(e)
		}
	}
	if ask := p.Ask; ask != nil {
		p.Ask = func(ctx context.Context, r *tool.Request) (tool.Answer, error) {
			defer w.yield()()
			return ask(ctx, r)
		}
	}
	if consult := p.Consult; consult != nil {
		p.Consult = func(ctx context.Context, questions []tool.Question) ([]tool.Reply, error) {
			defer w.yield()()
			return consult(ctx, questions)
		}
	}
	return w.end
}

func (w *waiting) draw() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	if w.asked == 0 {
		_, _ = fmt.Fprintf(w.out, "\r\x1b[Kagentkit: %s still runs, %s", w.name, time.Since(w.begun).Round(time.Second))
		w.drawn = true
	}
	w.timer.Reset(time.Second)
}

// clear takes the line away; w.mu is held.
func (w *waiting) clear() {
	if w.drawn {
		_, _ = io.WriteString(w.out, "\r\x1b[K")
		w.drawn = false
	}
}

// yield leaves the terminal to a question, until the function is called.
func (w *waiting) yield() func() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	w.clear()
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.asked--
	}
}

func (w *waiting) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.timer.Stop()
	w.clear()
}
