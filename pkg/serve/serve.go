// Package serve speaks the stream protocol: calls, answers and cancellations come as
// lines of JSON, results and events go out as such, many calls at a time.
//
// The rules:
//
//   - The first line that goes out says what we are. The peer may answer with what it
//     speaks and wants to hear; without that it hears everything.
//   - Each line that comes is one message. What is none is answered with an error, and
//     nothing is done.
//   - The result is the last line of a call.
//   - When the input ends, what was called is finished, and nobody can be asked any
//     more. When the output is lost or ctx ends, all that runs is ended.
package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// Protocol is the version that is spoken.
const Protocol = 1

// The bounds of what comes.
const (
	MaxLine  = 64 << 20  // bytes of a line
	maxQueue = 256 << 20 // bytes of the calls that run or wait
	MaxCalls = 256       // calls that run at a time; further ones wait
)

// A Hello is the first line that goes out.
type Hello struct {
	Agentkit string   `json:"agentkit"` // the version of the program
	Protocol int      `json:"protocol"`
	Tools    []string `json:"tools"`
	Root     string   `json:"root"`
	Level    string   `json:"level"` // how far commands are confined
	Events   []string `json:"events"`
	MaxLine  int      `json:"max_line"`
	MaxCalls int      `json:"max_calls"`

	// For a caller at another place:
	OutputBytes int    `json:"output_bytes,omitempty"` // that results may hold
	Spill       string `json:"spill,omitempty"`        // the directory of outputs that were too long for them
}

// Events are those that a peer may hear.
func Events() []string { return []string{"start", "output", "progress", "ask"} }

// Options says what is served, and where.
type Options struct {
	Hello Hello
	Call  tool.Caller
	Brief func(name string) bool // of a tool whose calls mostly take less than a millisecond; nil for none
	Asks  bool                   // the peer is asked; false where somebody else is, or nobody
	In    io.Reader
	Out   io.Writer

	// Whole says that the peer shows results as if it had made the calls itself:
	// replies also say what its exit status would be, and how much of the output the tool
	// has put out.
	Whole bool
}

// A server is one connection.
type server struct {
	o     Options
	end   context.CancelCauseFunc // of everything
	slots chan struct{}
	calls sync.WaitGroup
	idle  chan func()   // to goroutines that have made a call, and have the stack for the next
	ended chan error    // what ended the input
	deaf  chan struct{} // closed when nothing more comes
	over  chan struct{} // closed when Run is
	turn  reading

	write sync.Mutex
	put   func(kind string, text []byte) error // writes one line, whatever frames it

	mu      sync.Mutex // guards what follows
	running map[string]*call
	queued  int
	hears   map[string]bool
	asks    bool
}

// Run serves until the input ends and all calls are done, or until ctx ends. The error
// is what ended it before that.
func Run(ctx context.Context, o Options) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	s := &server{
		o: o, end: end, slots: make(chan struct{}, MaxCalls), idle: make(chan func()), ended: make(chan error, 1), deaf: make(chan struct{}), over: make(chan struct{}),
		running: map[string]*call{}, hears: hearsAll(), asks: o.Asks,
		put: func(_ string, text []byte) error {
			_, err := o.Out.Write(text)
			return err
		},
	}
	s.o.Hello.Protocol, s.o.Hello.Events, s.o.Hello.MaxLine, s.o.Hello.MaxCalls = Protocol, Events(), MaxLine, MaxCalls
	s.send(s.o.Hello)
	in := bufio.NewReaderSize(o.In, 64<<10)
	s.beside(func() { s.read(ctx, in) })
	var err error
	select {
	case err = <-s.ended:
	case <-ctx.Done():
	}
	close(s.deaf)
	defer close(s.over)
	done := make(chan struct{})
	go func() {
		s.calls.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		select {
		case <-done:
		case <-time.After(patience): // nobody reads what they have to say
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// hearsAll is the events of a peer that has not said which it wants.
func hearsAll() map[string]bool {
	all := map[string]bool{}
	for _, name := range Events() {
		all[name] = true
	}
	return all
}

// patience is how long calls may take to end, and their results to be read, when ctx has ended.
const patience = 15 * time.Second

// An input is a line that comes, without its end.
type input struct {
	text []byte
	long bool // it was longer than MaxLine, and is not there
}

// read does line for line what comes, up to the first call, which it makes, while another
// goroutine reads on: a call need not wait until a thread has woken up. After a brief call behind
// which no other has come it reads on itself.
func (s *server) read(ctx context.Context, in *bufio.Reader) {
	for {
		l, over := next(in)
		call, name, err := s.message(ctx, l)
		on := func() { s.beside(func() { s.read(ctx, in) }) }
		switch {
		case err != nil || over != nil:
			if errors.Is(over, io.EOF) {
				over = nil
			}
			s.ended <- errors.Join(err, over)
		case call == nil:
			continue
		case s.o.Brief != nil && s.o.Brief(name) && in.Buffered() == 0:
			s.turn.lend(on)
			if call(); s.turn.back() {
				continue
			}
			return
		default:
			on()
		}
		if call != nil {
			call()
		}
		return
	}
}

// next reads a line. The error, after which no line comes, is io.EOF at the end.
func next(in *bufio.Reader) (l input, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if l.long = l.long || len(l.text)+len(part) > MaxLine; l.long {
			l.text = nil
		} else {
			l.text = append(l.text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l, err
		}
	}
}

// beside has work done beside what else runs.
func (s *server) beside(work func()) {
	select {
	case s.idle <- work:
	default:
		go func() {
			for {
				work()
				select {
				case work = <-s.idle:
				case <-s.over:
					return
				}
			}
		}()
	}
}

// A reply is a result that goes out.
type reply struct {
	ID     json.RawMessage `json:"id"`
	Result *tool.Result    `json:"result"`

	whole, colour bool
}

// A pong answers a ping.
type pong struct {
	Pong int64 `json:"pong"`
}

// An event is something that happens while a call runs, as it goes out.
type event struct {
	ID    json.RawMessage `json:"id"`
	Event string          `json:"event"`
	Value any             `json:"value"`
}

// null is the id of what belongs to no call.
func null() json.RawMessage { return json.RawMessage("null") }

// fail answers what is no message that can be understood.
func (s *server) fail(id json.RawMessage, err error) {
	if id == nil {
		id = null()
	}
	s.send(reply{ID: id, Result: tool.Fail("serve", err)})
}

// send writes one line. When nobody takes it any more, everything ends.
func (s *server) send(v any) {
	if r, ok := v.(reply); ok {
		r.whole = s.o.Whole
		v = r
	}
	text, err := line(v)
	if err != nil {
		failed, id := tool.Fail("serve", tool.Errorf(tool.Internal, "encoding: %w", err)), null()
		if r, ok := v.(reply); ok {
			id = r.ID
		}
		if text, err = line(reply{ID: id, Result: failed}); err != nil {
			return
		}
	}
	kind := "result"
	if e, ok := v.(event); ok {
		kind = e.Event
	}
	s.write.Lock()
	defer s.write.Unlock()
	if s.put(kind, text) != nil {
		s.end(&tool.Signal{Number: syscall.SIGPIPE})
	}
}

// line is v as a line. A result, which may be long, is encoded once and not looked
// through again.
func line(v any) ([]byte, error) {
	r, ok := v.(reply)
	if !ok {
		text, err := tool.Encode(v)
		return append(text, '\n'), err
	}
	result, err := r.Result.MarshalJSON()
	if err != nil {
		return nil, err
	}
	text := make([]byte, 0, len(result)+len(r.ID)+len(`{"id":,"result":}`)+1)
	text = append(append(append(text, `{"id":`...), key(r.ID)...), `,"result":`...)
	text = append(text, result...)
	if r.whole {
		text = fmt.Appendf(text, `,"exit":%d,"output_bytes":%d`, r.Result.Exit(), r.Result.Own())
	}
	if r.whole && r.colour && r.Result.Pretty != nil {
		pretty, err := tool.Encode(r.Result.Pretty(tool.Mark))
		if err != nil {
			return nil, err
		}
		text = append(append(text, `,"pretty":`...), pretty...)
	}
	return append(text, '}', '\n'), nil
}
