package run

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/agentkit-go/agentkit/pkg/job"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/truncate"
)

// outputs takes in what a command prints: all together, and with split each
// stream apart, by the same limits.
type outputs struct {
	job.Output
	both, out, err *truncate.Writer // the last two nil without split
	zeros          *zeroCounter
	live           *liveOutput
	last           []*farewell

	text  string
	cut   truncate.Result
	apart *streamTexts // nil without split
}

// streamTexts are the streams of a command that was run with split.
type streamTexts struct {
	Stdout string `json:"stdout" doc:"with split: what it printed to standard output"`
	Stderr string `json:"stderr" doc:"with split: and to standard error"`
}

func newOutputs(env *tool.Env, split bool) *outputs {
	all := truncate.Options{Limits: env.Limits, Shape: truncate.Tail, Spill: env.Spill, ReadOn: env.ReadOn, Clean: true}
	o := &outputs{both: truncate.New(all)}
	o.zeros = &zeroCounter{to: o.both}
	o.Both = o.zeros
	if split {
		part := all
		part.Spill, part.ReadOn = nil, nil // the whole is kept once
		o.out, o.err = truncate.New(part), truncate.New(part)
		o.Stdout, o.Stderr = o.out, o.err
	}
	if env.Emit != nil {
		o.live = newLiveOutput(o.zeros, env)
		o.Both = o.live
	}
	return o
}

func (o *outputs) close() {
	for _, f := range o.last {
		f.close()
	}
	if o.live != nil {
		o.live.close()
	}
	o.cut = o.both.Close()
	o.text = o.cut.Text
	if o.out != nil {
		o.apart = &streamTexts{o.out.Close().Text, o.err.Close().Text}
	}
}

// A zeroCounter counts the zero bytes that pass through it. They are not shown, and the
// names that they part, as in the output of find -print0, stand together then.
type zeroCounter struct {
	to io.Writer
	n  int64
}

// Write implements io.Writer.
func (z *zeroCounter) Write(p []byte) (int, error) {
	z.n += int64(bytes.Count(p, []byte{0}))
	return z.to.Write(p)
}

// heartbeat is the time between two signs of life while a command runs.
const heartbeat = time.Second

// A liveOutput passes output on while the command runs, and says every second that it
// does.
type liveOutput struct {
	to    io.Writer
	emit  func(tool.Event)
	most  int64  // bytes that emit wants to hear; 0 for all
	rest  []byte // the beginning of a character or a line end whose rest has not come yet
	total atomic.Int64
	stop  context.CancelFunc
}

func newLiveOutput(to io.Writer, env *tool.Env) *liveOutput {
	ctx, stop := context.WithCancel(context.Background())
	l := &liveOutput{to: to, emit: env.Emit, most: env.Hears, stop: stop}
	go beat(ctx, env.Emit, l.total.Load)
	return l
}

// beat says every second, until ctx ends, that something runs, and how many bytes
// it has printed.
func beat(ctx context.Context, emit func(tool.Event), printed func() int64) {
	begin := time.Now()
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if ctx.Err() != nil {
				return
			}
			emit(tool.Event{Name: "progress", Value: tool.ProgressEvent{ElapsedMS: time.Since(begin).Milliseconds(), OutputBytes: printed()}})
		}
	}
}

// Write implements io.Writer.
func (l *liveOutput) Write(p []byte) (int, error) {
	if before := l.total.Add(int64(len(p))) - int64(len(p)); l.most > 0 && before >= l.most {
		l.rest = nil
		return l.to.Write(p)
	}
	text := append(l.rest, p...)
	whole := len(text) - unfinished(text)
	if whole > 0 && text[whole-1] == '\r' {
		whole-- // a line feed may follow, and then it is the end of a line
	}
	l.say(text[:whole])
	l.rest = append([]byte(nil), text[whole:]...)
	return l.to.Write(p)
}

func (l *liveOutput) say(text []byte) {
	if len(text) > 0 {
		plain := string(text)
		if !utf8.Valid(text) {
			plain = string([]rune(plain)) // a U+FFFD for each byte that is not UTF-8, as in the result
		}
		l.emit(tool.Event{Name: "output", Value: tool.OutputEvent{Text: strings.ReplaceAll(plain, "\r\n", "\n")}})
	}
}

func (l *liveOutput) close() {
	l.say(l.rest)
	l.rest = nil
	l.stop()
}

// unfinished is how many bytes at the end of text begin a character that is
// not whole.
func unfinished(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if c := text[len(text)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(text[len(text)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
