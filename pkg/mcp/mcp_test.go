package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// calls are the tools of the tests: say answers, push asks first, ask has questions, wait
// lasts until it is ended.
type calls struct {
	began, ended atomic.Int64
}

func (c *calls) call(ctx context.Context, p tool.Peer, name string, args json.RawMessage) *tool.Result {
	switch name {
	case "say":
		return &tool.Result{Title: "said", Output: string(args), Metadata: map[string]int{"n": 1}, Attachments: []tool.Attachment{{Type: "image", Filename: "a.png", MIMEType: "image/png", Content: []byte("png")}}}
	case "count":
		for _, text := range []string{"one\n", "two\nthree\n"} {
			if p.Hear != nil {
				p.Hear(tool.Event{Name: "output", Value: tool.OutputEvent{Text: text}})
			}
			time.Sleep(often)
		}
		return &tool.Result{Title: "counted", Output: "3"}
	case "push", "pushes":
		if p.Ask == nil {
			return tool.Fail(name, tool.Errorf(tool.ApprovalRequired, "nobody can be asked").WithHint("ask later"))
		}
		said := ""
		for i := range strings.Count(name, "e") + 1 { // pushes asks twice
			r := &tool.Request{Tool: name, Details: tool.ApprovalDetails{Request: policy.Request{ID: fmt.Sprint(i), Suggestions: []policy.Suggestion{{Rules: []string{"bash(git push)"}}}}}}
			a, err := p.Ask(ctx, r)
			if err != nil {
				return tool.Fail(name, err)
			}
			said += fmt.Sprintf("%v %s %s %s\n", a.Yes, a.Scope, strings.Join(a.Rules, " "), a.Reason)
		}
		return &tool.Result{Title: name, Output: said}
	case "ask":
		questions := []tool.Question{
			{Header: "Colour", Question: "Which?", Options: []tool.Option{{Label: "Red"}, {Label: "Blue", Description: "as the sky"}}},
			{Header: "Sizes", Question: "Which ones?", Multiple: true, Options: []tool.Option{{Label: "S"}, {Label: "L"}}},
			{Header: "Name", Question: "How is it called?", Custom: true},
		}
		given, err := p.Consult(ctx, questions)
		if err == nil {
			given, err = tool.Replies(questions, given)
		}
		if err != nil {
			return tool.Fail(name, err)
		}
		return &tool.Result{Title: name, Output: fmt.Sprint(given)}
	case "insist": // asks again when nobody has answered
		for range 3 {
			if _, err := p.Ask(ctx, new(tool.Request)); err == nil {
				break
			}
		}
		return &tool.Result{Title: name}
	case "wait":
		c.began.Add(1)
		<-ctx.Done()
		c.ended.Add(1)
		return tool.Fail(name, context.Cause(ctx))
	}
	return tool.Fail(name, errors.New("unknown"))
}

func serving() (*Server, *calls) {
	c := new(calls)
	names := []string{"say", "count", "push", "pushes", "ask", "wait"}
	declare := func() (list []any, err error) {
		for _, name := range names {
			list = append(list, object{"name": name, "inputSchema": object{"type": "object"}})
		}
		return list, nil
	}
	return New(Options{Version: "test", Instructions: "help", Tools: names, Declare: declare, Call: c.call, Asks: true, Describe: func(r *tool.Request) string { return r.Tool + "?" }, Resources: texts{}}), c
}

// texts are one text.
type texts struct{}

func (texts) List(context.Context, tool.Peer) ([]Resource, error) {
	return []Resource{{URI: "agentkit://job/a", Name: "a"}}, nil
}

func (texts) Templates() []Resource {
	return []Resource{{Template: "agentkit://job/{id}", Name: "job"}}
}

func (texts) Read(_ context.Context, _ tool.Peer, uri string) (*tool.Result, error) {
	if uri != "agentkit://job/a" {
		return nil, nil
	}
	return &tool.Result{Output: "text of a"}, nil
}

// A person is who a client asks.
type person struct {
	mu    sync.Mutex
	seen  []string
	reply func(*sdk.ElicitParams) *sdk.ElicitResult
	heard []string
}

func (p *person) client(version string) (*sdk.Client, *sdk.ClientSessionOptions) {
	o := &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.heard = append(p.heard, r.Params.Message)
	}}
	if p.reply != nil {
		o.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.seen = append(p.seen, r.Params.Message)
			return p.reply(r.Params), nil
		}
	}
	return sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o), &sdk.ClientSessionOptions{ProtocolVersion: version}
}

// streams connects a client to s over two pipes. The function hangs up, and returns how
// serving ended.
func streams(t *testing.T, s *Server, p *person, version string) (*sdk.ClientSession, func() error) {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- s.Run(context.Background(), in, out)
		_ = out.Close()
	}()
	client, o := p.client(version)
	session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session, func() error {
		_ = toServer.Close()
		return <-ended
	}
}

// overHTTP connects a client to s over HTTP.
func overHTTP(t *testing.T, s *Server, p *person, version string) *sdk.ClientSession {
	t.Helper()
	h := httptest.NewServer(s.Handler(context.WithoutCancel(t.Context())))
	t.Cleanup(h.Close)
	client, o := p.client(version)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: h.URL + Path, DisableStandaloneSSE: true}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// everywhere runs a test for each revision, on streams and over HTTP.
func everywhere(t *testing.T, reply func(*sdk.ElicitParams) *sdk.ElicitResult, f func(*testing.T, *sdk.ClientSession, *person, *calls)) {
	for _, version := range Versions() {
		t.Run("stdio "+version, func(t *testing.T) {
			s, c := serving()
			p := &person{reply: reply}
			session, _ := streams(t, s, p, version)
			f(t, session, p, c)
		})
		t.Run("http "+version, func(t *testing.T) {
			s, c := serving()
			p := &person{reply: reply}
			f(t, overHTTP(t, s, p, version), p, c)
		})
	}
}

func text(r *sdk.CallToolResult) string {
	for _, c := range r.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			return t.Text
		}
	}
	return ""
}

func call(t *testing.T, s *sdk.ClientSession, name string) *sdk.CallToolResult {
	t.Helper()
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: map[string]any{"a": "<b>"}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRevisions: a client of each revision lists and calls tools, sees images, data, errors
// and progress, and reads texts.
func TestRevisions(t *testing.T) {
	everywhere(t, nil, func(t *testing.T, s *sdk.ClientSession, p *person, _ *calls) {
		if got := s.InitializeResult(); !strings.HasSuffix(t.Name(), got.ProtocolVersion) || got.Instructions != "help" || got.ServerInfo.Name != "agentkit" {
			t.Errorf("agreed on %+v", got)
		}
		tools, err := s.ListTools(t.Context(), nil)
		if err != nil || len(tools.Tools) != 6 {
			t.Fatalf("%v %v", tools, err)
		}
		r := call(t, s, "say")
		data, _ := json.Marshal(r.StructuredContent)
		if text(r) != `{"a":"<b>"}` || r.IsError || string(data) != `{"metadata":{"n":1},"output":"{\"a\":\"\u003cb\u003e\"}","title":"said"}` {
			t.Errorf("%s %s", text(r), data)
		}
		if i, ok := r.Content[1].(*sdk.ImageContent); !ok || string(i.Data) != "png" || i.MIMEType != "image/png" {
			t.Errorf("%v", r.Content[1])
		}
		if r := call(t, s, "push"); !r.IsError || !strings.Contains(text(r), "nobody can be asked\nhint: ask later") {
			t.Errorf("%v %s", r.IsError, text(r))
		}
		if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "nothing"}); err == nil {
			t.Error("a tool that is not there was called")
		}
		params := &sdk.CallToolParams{Name: "count"}
		params.SetProgressToken("p")
		if _, err := s.CallTool(t.Context(), params); err != nil {
			t.Fatal(err)
		}
		wait(t, func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			return slices.Equal(p.heard, []string{"one", "three"})
		}, "progress")
		list, err := s.ListResources(t.Context(), nil)
		if err != nil || len(list.Resources) != 1 {
			t.Errorf("%v %v", list, err)
		}
		if kinds, err := s.ListResourceTemplates(t.Context(), nil); err != nil || len(kinds.ResourceTemplates) != 1 {
			t.Errorf("%v %v", kinds, err)
		}
		if read, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "agentkit://job/a"}); err != nil || read.Contents[0].Text != "text of a" {
			t.Errorf("%v %v", read, err)
		}
		if _, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "file:///etc/passwd"}); err == nil {
			t.Error("a file was read as a resource")
		}
	})
}

// wait waits for what has to become true.
func wait(t *testing.T, ready func() bool, what string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ready(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: it did not come", what)
		}
	}
}

func accept(content map[string]any) func(*sdk.ElicitParams) *sdk.ElicitResult {
	return func(*sdk.ElicitParams) *sdk.ElicitResult {
		return &sdk.ElicitResult{Action: "accept", Content: maps.Clone(content)} // which the client fills up
	}
}

// TestApproval: only a form that was sent with a yes is one, for this call or the session.
func TestApproval(t *testing.T) {
	for _, c := range []struct {
		reply func(*sdk.ElicitParams) *sdk.ElicitResult
		want  string
	}{
		{accept(map[string]any{"decision": "once"}), "true once  \n"},
		{accept(map[string]any{"decision": "session"}), "true session bash(git push) \n"},
		{accept(map[string]any{"decision": "no", "reason": "not today"}), "false   not today\n"},
		{func(*sdk.ElicitParams) *sdk.ElicitResult { return &sdk.ElicitResult{Action: "decline"} }, "false   \n"},
		{func(*sdk.ElicitParams) *sdk.ElicitResult { return &sdk.ElicitResult{Action: "cancel"} }, "closed without an answer"},
	} {
		everywhere(t, c.reply, func(t *testing.T, s *sdk.ClientSession, p *person, _ *calls) {
			if r := call(t, s, "push"); !strings.Contains(text(r), c.want) || !slices.Equal(p.seen, []string{"push?"}) {
				t.Errorf("%q, asked %q; want %q", text(r), p.seen, c.want)
			}
			if r := call(t, s, "pushes"); !r.IsError && (text(r) != c.want+c.want || len(p.seen) != 3) {
				t.Errorf("asked twice: %q, %q", text(r), p.seen)
			}
		})
	}
}

// TestQuestions: all questions of a model stand on one form, and the answers are those of
// its members.
func TestQuestions(t *testing.T) {
	reply := accept(map[string]any{"q1": "Blue", "q2_1": true, "q2_2": true, "q3_other": "Ada"})
	everywhere(t, reply, func(t *testing.T, s *sdk.ClientSession, _ *person, _ *calls) {
		if want := "[{0 [Blue] } {1 [S L] } {2 [] Ada}]"; text(call(t, s, "ask")) != want {
			t.Errorf("%s", text(call(t, s, "ask")))
		}
	})
}

// TestCancel: who cancels a request ends what it has started.
func TestCancel(t *testing.T) {
	everywhere(t, nil, func(t *testing.T, s *sdk.ClientSession, _ *person, c *calls) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "wait"})
			done <- err
		}()
		wait(t, func() bool { return c.began.Load() == 1 }, "the call")
		cancel()
		if err := <-done; err == nil {
			t.Error("a cancelled call was answered")
		}
		wait(t, func() bool { return c.ended.Load() == 1 }, "its end")
		if r := call(t, s, "say"); r.IsError {
			t.Error(text(r))
		}
	})
}

// TestGone: a client that has gone ends what it has started, also what waits for its
// answer.
func TestGone(t *testing.T) {
	for _, version := range []string{newest, latest} {
		s, c := serving()
		session, hangUp := streams(t, s, &person{reply: accept(nil)}, version)
		go func() { _, _ = session.CallTool(context.Background(), &sdk.CallToolParams{Name: "wait"}) }()
		wait(t, func() bool { return c.began.Load() == 1 }, "the call")
		if err := hangUp(); err != nil || c.ended.Load() != 1 {
			t.Errorf("%s: %v, %d ended", version, err, c.ended.Load())
		}
	}
}

// TestParallel: many clients at once each get their own answers.
func TestParallel(t *testing.T) {
	s, _ := serving()
	h := httptest.NewServer(s.Handler(context.WithoutCancel(t.Context())))
	defer h.Close()
	var all sync.WaitGroup
	for _, version := range []string{newest, latest} {
		for i := range 4 {
			p := &person{}
			p.reply = accept(map[string]any{"decision": "no", "reason": fmt.Sprint(version, i)})
			client, o := p.client(version)
			session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: h.URL + Path, DisableStandaloneSSE: true}, o)
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			for range 5 {
				all.Go(func() {
					if r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "push"}); err != nil || text(r) != fmt.Sprintf("false   %s%d\n", version, i) {
						t.Errorf("%v %v", r, err)
					}
				})
			}
		}
	}
	all.Wait()
}

// A wire speaks to a server by hand.
type wire struct {
	t   *testing.T
	out io.Writer
	in  *bufio.Reader
}

func newWire(t *testing.T, s *Server) *wire {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	go func() { _ = s.Run(context.Background(), in, out) }()
	t.Cleanup(func() { _ = toServer.Close(); _ = fromServer.Close() })
	return &wire{t, toServer, bufio.NewReader(fromServer)}
}

func (w *wire) say(line string) string {
	w.t.Helper()
	if _, err := io.WriteString(w.out, line+"\n"); err != nil {
		w.t.Fatal(err)
	}
	got, err := w.in.ReadString('\n')
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimSpace(got)
}

const aware = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

// TestMistakes: what is no message, or no request of the revision, gets one error.
func TestMistakes(t *testing.T) {
	s, _ := serving()
	w := newWire(t, s)
	for _, c := range []struct{ line, want string }{
		{`{`, `"id":null,"error":{"code":-32700`},
		{`[]`, `"id":null,"error":{"code":-32600`},
		{`[1]`, `"code":-32600`},
		{`"x"`, `"code":-32600`},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, `"code":-32600`},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `"code":-32600`},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `"code":-32600`},
		{`{"jsonrpc":"2.0","id":2}`, `"code":-32600`},
		{`{"jsonrpc":"2.0","id":3,"method":"ping"}`, `"id":3,"result":{}`},
		{`{"jsonrpc":"2.0","id":"s","method":"ping"}`, `"id":"s","result":{}`},
		{`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`, `begin with initialize`},
		{`{"jsonrpc":"2.0","id":4,"method":"initialize","params":{}}`, `"code":-32602`},
		{`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"say","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, `"code":-32602`},
		{`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"say","_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}`, `"code":-32022`},
		{`{"jsonrpc":"2.0","id":4,"method":"initialize","params":{` + aware + `}}`, `"code":-32601`},
		{`{"jsonrpc":"2.0","id":4,"method":"ping","params":{` + aware + `}}`, `"code":-32601`},
		{`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":[1]}`, `"code":-32602`},
		{`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":7,` + aware + `}}`, `"code":-32602`},
		{`{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":"2030-01-01","capabilities":{}}}`, `"protocolVersion":"2025-11-25"`},
		{`{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{}}}`, `"protocolVersion":"2024-11-05"`},
		{`{"jsonrpc":"2.0","id":6,"method":"server/discover"}`, `"code":-32601`},
		{`{"jsonrpc":"2.0","id":6,"method":"prompts/list"}`, `"code":-32601`},
		{`{"jsonrpc":"2.0","id":6,"method":"ping","METHOD":"tools/list"}`, `"error":{"code":-32600,"message":"a message holds METHOD twice: send it once"`},
		{`[{"jsonrpc":"2.0","id":6,"method":"ping"},{"jsonrpc":"2.0","id":6,"id":9,"method":"ping"}]`, `"code":-32600`},
		{`[null]`, `"code":-32600`},
		{`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"say","arguments":{},"name":"pushes"}}`, `hold name twice`},
		{`{"jsonrpc":"2.0","id":6,"method":"tools/list","params":{"cursor":"bogus"}}`, `"code":-32602,"message":"there is no such cursor`},
		{`{"jsonrpc":"2.0","id":6,"method":"tools/list","params":{"cursor":5}}`, `"code":-32602`},
		{`{"jsonrpc":"2.0","id":6,"method":"resources/list","params":{"cursor":"bogus",` + aware + `}}`, `"code":-32602`},
		{`{"jsonrpc":"2.0","id":6,"method":"resources/templates/list","params":{"cursor":"bogus"}}`, `"code":-32602`},
		{`{"jsonrpc":"2.0","id":6,"method":"prompts/list","params":{"cursor":"bogus"}}`, `"code":-32601`},
		{`{"jsonrpc":"2.0","id":6,"method":"resources/list","params":{"cursor":null}}`, `"result":{"resources":[{`},
		{`{"jsonrpc":"2.0","id":6,"method":"resources/list","params":[]}`, `"message":"params is not of the kind that the protocol has there: correct it`},
		{`{"jsonrpc":"2.0","id":6,"method":"resources/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}}`, `"message":"params._meta.io.modelcontextprotocol/protocolVersion is not of the kind`},
		{`[{"jsonrpc":"2.0","id":7,"method":"ping"}]`, `"id":7,"result":{}`},
		{strings.Repeat(" ", 70<<10) + `{"jsonrpc":"2.0","id":8,"method":"ping"}`, `"id":8,"result":{}`},
	} {
		got := w.say(c.line)
		if !strings.Contains(got, c.want) {
			t.Errorf("%.200s: %s", c.line, got)
		}
		var said struct{ Error *Error }
		if err := json.Unmarshal([]byte(got), &said); err != nil || said.Error != nil && !regexp.MustCompile(`[:;] \S|^begin with|^initialize needs|^tools/call needs`).MatchString(said.Error.Message) {
			t.Errorf("%.200s: no next step: %s", c.line, got)
		}
	}
}

// endless is a line without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// TestLong: a line that is too long gets an error, also where the input ends in it, and
// what follows is done.
func TestLong(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for what, c := range map[string]struct {
		rest  string
		lines int
	}{"the last": {"", 1}, "the first": {"\n" + ping + "\n", 2}} {
		s, _ := serving()
		var out bytes.Buffer
		if err := s.Run(t.Context(), io.MultiReader(io.LimitReader(endless{}, MaxLine+1), strings.NewReader(c.rest)), &out); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		got := out.String()
		if strings.Count(got, "\n") != c.lines || strings.Count(got, `"id":null,"error":{"code":-32600`) != 1 || !strings.Contains(got, "longer than 64 MiB") {
			t.Errorf("%s: %.300s", what, got)
		}
	}
}

// TestState: a state is good for one answer to the very call that it was given for.
func TestState(t *testing.T) {
	s, _ := serving()
	w := newWire(t, s)
	ask := func(name, more string) map[string]any {
		t.Helper()
		var m struct{ Result, Error map[string]any }
		got := w.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":{"a": 1},` + more + aware + `}}`)
		if err := json.Unmarshal([]byte(got), &m); err != nil {
			t.Fatal(err)
		}
		if m.Error != nil {
			return m.Error
		}
		return m.Result
	}
	first := ask("push", "")
	state, _ := first["requestState"].(string)
	if first["resultType"] != "input_required" || len(state) < 26 {
		t.Fatalf("%v", first)
	}
	yes := `"inputResponses":{"answer":{"action":"accept","content":{"decision":"once"}}},`
	for what, more := range map[string]string{"made up": `"requestState":"AAAAAAAAAAAAAAAAAAAAAAAAAA",` + yes, "empty": `"requestState":"",` + yes, "changed": `"requestState":"` + state + `x",` + yes} {
		if got := ask("push", more); got["code"] != -32602.0 {
			t.Errorf("%s: %v", what, got)
		}
	}
	if got := ask("pushes", `"requestState":"`+state+`",`+yes); got["code"] != -32602.0 {
		t.Errorf("of another call: %v", got)
	}
	again := ask("push", `"requestState":"`+state+`",`) // nothing is answered
	next, _ := again["requestState"].(string)
	if again["resultType"] != "input_required" || next == state {
		t.Fatalf("%v", again)
	}
	if got := ask("push", `"requestState":"`+next+`",`+yes); got["resultType"] != "complete" || !strings.Contains(fmt.Sprint(got["content"]), "true once") {
		t.Errorf("%v", got)
	}
	if got := ask("push", `"requestState":"`+next+`",`+yes); got["code"] != -32602.0 {
		t.Errorf("twice: %v", got)
	}
	if n := len(s.paused) + len(s.flights); n != 0 {
		t.Errorf("%d calls are left", n)
	}
}

// TestLate: a call whose client never answers ends, however often it asks.
func TestLate(t *testing.T) {
	s, _ := serving()
	s.o.Tools = append(s.o.Tools, "insist")
	w := newWire(t, s)
	if got := w.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"insist",` + aware + `}}`); !strings.Contains(got, "input_required") {
		t.Fatal(got)
	}
	s.mu.Lock()
	for _, f := range s.paused {
		f.late.Reset(0)
	}
	s.mu.Unlock()
	wait(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.paused)+len(s.flights) == 0
	}, "the end of the call")
}

// TestHTTP: headers say what the body does, and sessions belong to the revisions that have
// them.
func TestHTTP(t *testing.T) {
	s, _ := serving()
	h := httptest.NewServer(s.Handler(t.Context()))
	defer h.Close()
	post := func(method, path, body string, headers ...string) (int, http.Header, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, h.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		raw, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, resp.Header, string(bytes.TrimSpace(raw))
	}
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + aware + `}}`
	say := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"say",` + aware + `}}`
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}`
	ping := `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	_, begun, _ := post("POST", Path, hello)
	id := begun.Get(sessionHeader)
	const version, method, name = "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"
	for i, c := range []struct {
		status  int
		want    string
		method  string
		path    string
		body    string
		headers []string
	}{
		{200, `"tools":[`, "POST", Path, list, []string{version, newest, method, "tools/list"}},
		{400, `-32020`, "POST", Path, list, []string{version, newest}},
		{400, `-32020`, "POST", Path, list, []string{version, newest, method, "tools/call"}},
		{400, `-32020`, "POST", Path, list, []string{method, "tools/list"}},
		{400, `-32020`, "POST", Path, list, []string{version, latest, method, "tools/list"}},
		{400, `-32022`, "POST", Path, strings.Replace(list, newest, "2027-01-01", 1), []string{version, "2027-01-01", method, "tools/list"}},
		{400, `-32602`, "POST", Path, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, []string{version, newest, method, "tools/list"}},
		{404, `"id":1,"error":{"code":-32601`, "POST", Path, strings.Replace(list, "tools/list", "ping", 1), []string{version, newest, method, "ping"}},
		{200, `"said"`, "POST", Path, say, []string{version, newest, method, "tools/call", name, "say"}},
		{200, `"said"`, "POST", Path, say, []string{version, newest, method, "tools/call", name, "=?base64?c2F5?="}},
		{400, `-32020`, "POST", Path, say, []string{version, newest, method, "tools/call", name, "wait"}},
		{200, `event: message` + "\n" + `data: {`, "POST", Path, say, []string{version, newest, method, "tools/call", name, "say", "Accept", "text/event-stream"}},
		{406, ``, "POST", Path, say, []string{"Accept", "text/html"}},
		{415, ``, "POST", Path, say, []string{"Content-Type", "text/plain"}},
		{400, `-32700`, "POST", Path, `{`, nil},
		{400, `begin with initialize`, "POST", Path, ping, nil},
		{404, `no session`, "POST", Path, ping, []string{sessionHeader, "other"}},
		{200, `"result":{}`, "POST", Path, ping, []string{sessionHeader, id}},
		{400, `-32022`, "POST", Path, ping, []string{sessionHeader, id, version, "1999-01-01"}},
		{202, ``, "POST", Path, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, []string{sessionHeader, id}},
		{200, `data: {"jsonrpc":"2.0","id":2,"result":{}}`, "POST", Path, `[` + ping + `]`, []string{sessionHeader, id}},
		{405, ``, "GET", Path, "", []string{sessionHeader, id}},
		{404, ``, "POST", "/other", ping, []string{sessionHeader, id}},
		{204, ``, "DELETE", Path, "", []string{sessionHeader, id}},
		{404, ``, "DELETE", Path, "", []string{sessionHeader, id}},
		{404, `no session`, "POST", Path, ping, []string{sessionHeader, id}},
		{405, ``, "DELETE", Path, "", nil},
	} {
		if status, _, got := post(c.method, c.path, c.body, c.headers...); status != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%d: %d %s", i, status, got)
		}
	}
}

// TestBytes: the requests that run are bounded in bytes, too; those that have ended do not count.
func TestBytes(t *testing.T) {
	s, _ := serving()
	l := s.link(t.Context())
	half := make(json.RawMessage, maxBytes/2)
	_, end, err := l.begin(t.Context(), &message{ID: json.RawMessage("1"), Params: half})
	if err != nil {
		t.Fatal(err)
	}
	_, _, second := l.begin(t.Context(), &message{ID: json.RawMessage("2"), Params: half})
	_, _, third := l.begin(t.Context(), &message{ID: json.RawMessage("3"), Params: json.RawMessage("{}")})
	if second != nil || third == nil || !strings.Contains(third.Message, "wait for answers") {
		t.Errorf("the second %v, the third %v", second, third)
	}
	end()
	if _, _, err := l.begin(t.Context(), &message{ID: json.RawMessage("3"), Params: json.RawMessage("{}")}); err != nil {
		t.Errorf("when the first has ended: %v", err)
	}
}

// TestRoom: clients that have left without a word keep others out for a minute at most, and those
// in whose session a call runs stay.
func TestRoom(t *testing.T) {
	s, _ := serving()
	for i := range maxSessions {
		l := s.link(t.Context())
		l.used = time.Now().Add(-50 * time.Second)
		s.links[fmt.Sprint(i)] = l
	}
	if s.room() {
		t.Error("one that was just used had to go")
	}
	for _, id := range []string{"7", "8"} {
		s.links[id].used = time.Now().Add(-2 * time.Minute)
	}
	s.links["7"].running["1"] = func(error) {}
	if !s.room() || s.links["7"] == nil || s.links["8"] != nil {
		t.Errorf("room is made of others than the one that is idle: %d are left", len(s.links))
	}
}

// TestWaits: by its headers a request only waits if its body does: another one is refused.
func TestWaits(t *testing.T) {
	for _, c := range []struct {
		version, method string
		want            bool
	}{{newest, "subscriptions/listen", true}, {newest, "tools/call", false}, {latest, "subscriptions/listen", false}, {"", "subscriptions/listen", false}} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, Path, nil)
		r.Header.Set("Mcp-Protocol-Version", c.version)
		r.Header.Set("Mcp-Method", c.method)
		if Waits(r) != c.want {
			t.Errorf("%+v: %v", c, Waits(r))
		}
	}
}

// TestEnding: when the server is ended, what runs is too, over HTTP as well, and nothing
// more is begun.
func TestEnding(t *testing.T) {
	for _, version := range []string{newest, latest} {
		s, c := serving()
		ctx, cancel := context.WithCancelCause(context.Background())
		h := httptest.NewUnstartedServer(s.Handler(ctx))
		h.Start()
		p := &person{reply: accept(nil)} // so that the call outlives requests
		client, o := p.client(version)
		session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: h.URL + Path, DisableStandaloneSSE: true, MaxRetries: -1}, o)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = session.CallTool(context.Background(), &sdk.CallToolParams{Name: "wait"}) }()
		wait(t, func() bool { return c.began.Load() == 1 }, "the call")
		cancel(errors.New("the end"))
		wait(t, func() bool { return c.ended.Load() == 1 }, "its end")
		s.Wait()
		_ = session.Close()
		h.CloseClientConnections()
		h.Close()
	}
}

// TestTextOnly: a client that would hand all data of a result to its model gets the text
// alone, and no schemas of results, by either way to say its name; others get both.
func TestTextOnly(t *testing.T) {
	for _, name := range []string{"claude-code", "codex-mcp-client", "another"} {
		for _, version := range []string{"2025-06-18", newest} {
			s, _ := serving()
			s.o.Declare = func() ([]any, error) {
				return []any{object{"name": "say", "inputSchema": object{"type": "object"}, "outputSchema": object{"type": "object"}}}, nil
			}
			w, about := newWire(t, s), ""
			if version == newest {
				about = fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":%q,"version":"1"}}`, version, name)
			} else {
				w.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":%q,"version":"1"}}}`, version, name))
			}
			tools := w.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + about + `}}`)
			result := w.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"say","arguments":{"text":"hi"},` + strings.TrimPrefix(about+`,"x":0`, ",") + `}}`)
			want := name == "another"
			if !strings.Contains(tools, `"inputSchema"`) || strings.Contains(tools, `"outputSchema"`) != want {
				t.Errorf("%s, %s: the tools are %s", name, version, tools)
			}
			if !strings.Contains(result, `"type":"text"`) || strings.Contains(result, `"structuredContent"`) != want {
				t.Errorf("%s, %s: the result is %s", name, version, result)
			}
		}
	}
}
