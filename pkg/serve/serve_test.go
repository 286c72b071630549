package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A peer is the other end of a connection.
type peer struct {
	t     *testing.T
	in    io.WriteCloser
	lines *bufio.Scanner
	write sync.Mutex
	done  chan error
}

// A heard line is one that came.
type heard struct {
	ID     json.RawMessage
	Event  string
	Value  struct{ ID, Text string }
	Result *struct {
		Output string
		Error  *struct{ Code, Message string }
	}
}

func connect(ctx context.Context, t *testing.T, call tool.Caller) *peer {
	t.Helper()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	p := &peer{t: t, in: inWrite, lines: bufio.NewScanner(outRead), done: make(chan error, 1)}
	p.lines.Buffer(nil, 1<<20)
	go func() {
		err := Run(ctx, Options{Call: call, Brief: func(string) bool { return true }, Asks: true, In: inRead, Out: outWrite})
		_ = outWrite.Close()
		p.done <- err
	}()
	t.Cleanup(func() { _ = inWrite.Close() })
	if !p.lines.Scan() || !strings.Contains(p.lines.Text(), `"protocol":1`) {
		t.Fatalf("the first line is %q", p.lines.Text())
	}
	return p
}

func (p *peer) send(format string, args ...any) {
	p.write.Lock()
	defer p.write.Unlock()
	if _, err := fmt.Fprintf(p.in, format+"\n", args...); err != nil {
		p.t.Error(err)
	}
}

// next is the next line; false at the end.
func (p *peer) next() (h heard, more bool) {
	if !p.lines.Scan() {
		return h, false
	}
	if err := json.Unmarshal(p.lines.Bytes(), &h); err != nil {
		p.t.Errorf("%q: %v", p.lines.Text(), err)
	}
	return h, true
}

// said is the arguments of a call that is made in these tests.
type said struct {
	N    int
	Does string
}

// work is a call that does what its arguments say, under its own number.
func work(ctx context.Context, p tool.Peer, name string, args json.RawMessage) *tool.Result {
	var s said
	if err := json.Unmarshal(args, &s); err != nil {
		return tool.Fail(name, tool.Errorf(tool.BadInput, "%w", err))
	}
	own := fmt.Sprint(s.N)
	if p.Hear != nil {
		p.Hear(tool.Event{Name: "output", Value: tool.OutputEvent{Text: own}})
	}
	switch s.Does {
	case "ask":
		a, err := p.Ask(ctx, &tool.Request{ID: own, Tool: name})
		if err != nil {
			return tool.Fail(name, err)
		}
		return &tool.Result{Title: name, Output: a.Reason}
	case "ask twice":
		first, err := p.Ask(ctx, &tool.Request{ID: own + "a", Tool: name})
		if err != nil {
			return tool.Fail(name, err)
		}
		second, err := p.Ask(ctx, &tool.Request{ID: own + "b", Tool: name})
		if err != nil {
			return tool.Fail(name, err)
		}
		return &tool.Result{Title: name, Output: first.Reason + " " + second.Reason}
	case "wait":
		<-ctx.Done()
		return tool.Fail(name, &tool.Signal{Number: 2})
	}
	return &tool.Result{Title: name, Output: own}
}

// TestApart: of hundreds of calls at a time each gets its own answer, its own events and
// its own cancellation, whatever the others do. With -race it finds what they share.
func TestApart(t *testing.T) {
	p := connect(t.Context(), t, work)
	const calls = 600 // more than run at a time
	does := func(n int) string { return []string{"ask", "wait", "now"}[n%3] }
	go func() {
		for n := range calls {
			p.send(`{"id":{"n":%d},"name":"work","arguments":{"n":%d,"does":%q}}`, n, n, does(n))
		}
	}()
	for results := 0; results < calls; {
		h, more := p.next()
		if !more {
			t.Fatalf("it has ended after %d results", results)
		}
		var id struct{ N int }
		if err := json.Unmarshal(h.ID, &id); err != nil {
			t.Fatalf("a line for %s: %+v", h.ID, h)
		}
		own := fmt.Sprint(id.N)
		switch {
		case h.Event == "output" && h.Value.Text != own:
			t.Errorf("call %s hears %q", own, h.Value.Text)
		case h.Event == "output" && does(id.N) == "wait":
			go p.send(`{"cancel": {"n": %d}}`, id.N)
		case h.Event == "ask" && h.Value.ID != own:
			t.Errorf("call %s is asked about %q", own, h.Value.ID)
		case h.Event == "ask":
			go p.send(`{"answer":{"n":%d},"decision":"no","reason":"%d"}`, id.N, id.N)
		case h.Result != nil:
			results++
			interrupted := h.Result.Error != nil && h.Result.Error.Code == "interrupted"
			if interrupted != (does(id.N) == "wait") || !interrupted && h.Result.Output != own {
				t.Errorf("call %s, which does %s, ends with %+v", own, does(id.N), h.Result)
			}
		}
	}
	_ = p.in.Close()
	if _, more := p.next(); more {
		t.Error("something comes behind the last result")
	}
	if err := <-p.done; err != nil {
		t.Error(err)
	}
}

// TestHostileLines: whatever the lines hold, each is answered or none of them does
// anything, and what follows is served.
func TestHostileLines(t *testing.T) {
	p := connect(t.Context(), t, work)
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{
		`{`, `}`, `[`, `]`, `"`, `\`, `:`, `,`, `"id"`, `"name"`, `"cancel"`, `"answer"`, `"protocol"`, `"work"`, `1`, `null`, `-0`, `1e999`, `"\ud800"`, `"\u0000"`,
		"\x00", "\xff\xfe", "\r", "\t", `{"id":`, `"ID"`, `"arguments":{}`, `"decision":"yes"`, strings.Repeat("[", 20_000), `"events":null`, `"ask":true`,
	}
	count := 0
	go func() {
		for range 2000 {
			var b strings.Builder
			for range random.IntN(12) {
				b.WriteString(pieces[random.IntN(len(pieces))])
			}
			if !strings.Contains(b.String(), "protocol") {
				p.send("%s", b.String())
			}
		}
		for _, line := range []string{
			`{"id":1,"id":2,"name":"work","arguments":{"n":1}}`, `{"id":3,"name":"work","arguments":{"n":3},"arguments":{"n":4}}`,
			`{"answer":"last","decision":"yes"}`, `{"cancel":"last"}`, `{"answer":null,"decision":"yes"}`,
		} {
			p.send("%s", line)
		}
		p.send(`{"id":"last","name":"work","arguments":{"n":7,"does":"ask"}}`)
	}()
	for {
		h, more := p.next()
		if !more {
			t.Fatal("it has ended")
		}
		count++
		if string(h.ID) == `"last"` && h.Event == "ask" {
			break // no answer that came before is taken for it
		}
		if string(h.ID) == `"last"` && h.Result != nil {
			t.Fatalf("an answer from before: %+v", h.Result)
		}
	}
	p.send(`{"answer":"last","decision":"no","reason":"7"}`)
	for {
		if h, more := p.next(); !more || string(h.ID) == `"last"` && h.Result != nil {
			if !more || h.Result.Output != "7" {
				t.Errorf("the last call: %+v", h.Result)
			}
			break
		}
	}
	if count < 1000 {
		t.Errorf("%d answers to 2000 lines", count)
	}
}

// TestBrief: a call that was taken for a brief one and is not keeps no other line from being read.
func TestBrief(t *testing.T) {
	p := connect(t.Context(), t, work)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		for results := 0; results < 101; {
			h, more := p.next()
			if !more {
				return
			}
			if h.Result != nil {
				results++
			}
		}
	}()
	p.send(`{"id":"long","name":"work","arguments":{"does":"wait"}}`)
	for n := range 100 {
		p.send(`{"id":%d,"name":"work","arguments":{"n":%d}}`, n, n)
	}
	p.send(`{"cancel":"long"}`)
	select {
	case <-answered:
	case <-time.After(time.Minute):
		t.Fatal("nobody reads")
	}
}

// TestEnds: what ends a connection ends its calls, and says why.
func TestEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	p := connect(ctx, t, work)
	for n := range 20 {
		p.send(`{"id":%d,"name":"work","arguments":{"n":%d,"does":"wait"}}`, n, n)
	}
	for seen := 0; seen < 20; {
		if h, _ := p.next(); h.Event == "output" {
			seen++
		}
	}
	because := errors.New("enough")
	cancel(because)
	results := 0
	for {
		h, more := p.next()
		if !more {
			break
		}
		if h.Result != nil {
			results++
		}
	}
	select {
	case err := <-p.done:
		if !errors.Is(err, because) || results != 20 {
			t.Errorf("%d results, and %v", results, err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
}

// TestAnswersTo: an answer that says to what question it is counts for no other one of
// the call, when it comes twice or late.
func TestAnswersTo(t *testing.T) {
	p := connect(t.Context(), t, work)
	p.send(`{"id":1,"name":"work","arguments":{"n":1,"does":"ask twice"}}`)
	wait := func(wanted func(heard) bool) heard {
		for {
			h, more := p.next()
			if !more {
				t.Fatal("it has ended")
			}
			if wanted(h) {
				return h
			}
		}
	}
	asks := func(about string) func(heard) bool {
		return func(h heard) bool { return h.Event == "ask" && h.Value.ID == about }
	}
	refused := func(h heard) bool {
		return h.Result != nil && h.Result.Error != nil && h.Result.Error.Code == "not_found"
	}
	wait(asks("1a"))
	p.send(`{"answer":1,"to":"1b","decision":"yes","reason":"early"}`)
	wait(refused)
	p.send(`{"answer":1,"to":"1a","decision":"yes","reason":"one"}`)
	wait(asks("1b"))
	p.send(`{"answer":1,"to":"1a","decision":"yes","reason":"again"}`)
	wait(refused)
	p.send(`{"answer":1,"to":"1b","decision":"no","reason":"two"}`)
	if h := wait(func(h heard) bool { return h.Result != nil }); h.Result.Output != "one two" {
		t.Errorf("it ends with %+v", h.Result)
	}
}

// TestHTTPOrigin: what a request says of where its call comes from reaches the call, with
// events and without.
func TestHTTPOrigin(t *testing.T) {
	var got []tool.Peer
	h := HTTP{Call: func(_ context.Context, p tool.Peer, _ string, _ json.RawMessage) *tool.Result {
		got = append(got, p)
		return &tool.Result{}
	}}.Handler()
	for _, accept := range []string{"", "text/event-stream"} {
		r := httptest.NewRequest(http.MethodPost, "/v1/call", strings.NewReader(`{"name":"x","message_id":"m","agent":"a","idempotency_key":"k"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", accept)
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	if len(got) != 2 {
		t.Fatalf("%d calls", len(got))
	}
	for _, p := range got {
		if p.Origin != (tool.Origin{Message: "m", Agent: "a"}) || p.Key != "k" {
			t.Errorf("%+v", p)
		}
	}
}

// TestHTTPPaths shows that what is at no path of the server is not led on to one.
func TestHTTPPaths(t *testing.T) {
	h := HTTP{}.Handler()
	for path, want := range map[string]int{"//v1/call": 404, "/v1//call": 404, "/v1/./call": 404, "/x/../v1/call": 404, "/v1/call/": 404, "/v1/other": 404, "/v1/tools": 405} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("{}"))
		r.URL.Path = path
		if h.ServeHTTP(w, r); w.Code != want || w.Header().Get("Location") != "" {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}
