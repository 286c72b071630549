package lsp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain is also the servers that the tests start: real processes that speak on real
// pipes, and most of them badly.
func TestMain(m *testing.M) {
	if mode, ok := strings.CutPrefix(filepath.Base(os.Args[0]), "server-"); ok {
		badServer(mode)
		return
	}
	os.Exit(m.Run())
}

// badServer does what a mode says. "good" is a server as it should be, to which others
// add what is wrong with them.
func badServer(mode string) {
	switch mode {
	case "crash":
		fmt.Fprintln(os.Stderr, "no memory for this")
		os.Exit(3)
	case "silent":
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	case "deaf":
		time.Sleep(time.Hour)
	case "header":
		for {
			if _, err := fmt.Print(strings.Repeat("X", 4096)); err != nil {
				return
			}
		}
	case "huge":
		fmt.Print("Content-Length: 1073741824\r\n\r\n")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	case "noise":
		fmt.Print("Content-Length: 5\r\n\r\nhello")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	r := bufio.NewReaderSize(os.Stdin, maxHeader)
	send := func(v any) {
		raw, _ := json.Marshal(v)
		_, _ = os.Stdout.Write(frame(raw))
	}
	for {
		body, err := readMessage(r)
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				TextDocument struct {
					URI     string
					Version int
					Text    string
				}
				ContentChanges []struct{ Text string }
			}
		}
		if json.Unmarshal(body, &m) != nil {
			return
		}
		switch m.Method {
		case "initialize":
			switch mode {
			case "ids":
				for _, id := range []any{99, "x", -1, nil, 1.5} {
					send(map[string]any{"jsonrpc": "2.0", "id": id, "result": "not yours"})
				}
			case "asks":
				for i := range 100 * maxQueue { // and reads no answer
					send(map[string]any{"jsonrpc": "2.0", "id": i, "method": "workspace/configuration", "params": map[string]any{"items": []any{map[string]string{"section": "a"}}}})
				}
			}
			send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": map[string]any{"capabilities": map[string]any{"positionEncoding": "utf-8"}}})
		case "textDocument/didOpen", "textDocument/didChange":
			doc := m.Params.TextDocument
			text := doc.Text
			if len(m.Params.ContentChanges) > 0 {
				text = m.Params.ContentChanges[0].Text
			}
			if mode == "dies" {
				os.Exit(4)
			}
			publish(send, mode, doc.URI, doc.Version, text)
		case "shutdown":
			send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": nil})
		case "exit":
			return
		case "test/echo":
			send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": "heard"})
			send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": "heard twice"})
		case "test/large":
			send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": strings.Repeat("y", maxAnswer+1)})
		}
	}
}

// publish says that each line with BAD in it is.
func publish(send func(any), mode, uri string, version int, text string) {
	list := []any{}
	for i, line := range strings.Split(text, "\n") {
		if at := strings.Index(line, "BAD"); at >= 0 {
			place := map[string]int{"line": i, "character": at}
			list = append(list, map[string]any{"range": map[string]any{"start": place, "end": place}, "message": line, "severity": 1})
		}
	}
	if mode == "old" { // it always speaks of the text before
		version--
	}
	if mode == "many" {
		for i := range 3 * maxFiles {
			send(map[string]any{"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": map[string]any{"uri": fmt.Sprintf("file:///x/%d.c", i), "diagnostics": list}})
		}
	}
	send(map[string]any{"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": map[string]any{"uri": uri, "version": version, "diagnostics": list}})
}

// A talk is a keeper and what is said to it.
type talk struct {
	t    *testing.T
	to   *io.PipeWriter
	from *bufio.Scanner
	over chan struct{}
	dir  string

	program string
}

func newTalk(t *testing.T, mode string) *talk {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "server-"+mode)
	if err := os.Symlink(self, program); err != nil {
		t.Skip(err) // Windows
	}
	in, to := io.Pipe()
	from, out := io.Pipe()
	k := &talk{t, to, bufio.NewScanner(from), make(chan struct{}), dir, program}
	k.from.Buffer(nil, 2*maxAnswer)
	go func() {
		if !Work([]string{WorkArg, "clangd"}, in, out) {
			t.Error("it is no keeper")
		}
		_ = out.Close()
		close(k.over)
	}()
	t.Cleanup(func() {
		_ = to.Close()
		for k.from.Scan() {
		}
		select {
		case <-k.over:
		case <-time.After(30 * time.Second):
			t.Error("the keeper does not end")
		}
	})
	return k
}

// ask makes a request and returns its answer, which has to be whole.
func (k *talk) ask(q Request) (a Answer) {
	k.t.Helper()
	q.Program = k.program
	raw, err := json.Marshal(q)
	if err != nil {
		k.t.Fatal(err)
	}
	if _, err := k.to.Write(append(raw, '\n')); err != nil {
		k.t.Fatal(err)
	}
	for i := range 2 {
		if !k.from.Scan() {
			k.t.Fatalf("line %d did not come: %v", i, k.from.Err())
		}
		want := any(&a)
		var d Done
		if i == 1 {
			want = &d
		}
		if err := json.Unmarshal(k.from.Bytes(), want); err != nil {
			k.t.Fatal(err)
		}
		if i == 1 && d.Done != q.ID || a.ID != q.ID {
			k.t.Fatalf("asked %s, answered %s, done %s", q.ID, a.ID, d.Done)
		}
	}
	return a
}

func (k *talk) write(name, text string) string {
	k.t.Helper()
	path := filepath.Join(k.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		k.t.Fatal(err)
	}
	return path
}

const long = 30_000 // milliseconds

// TestKeeper: what a good server says, of files that change on the disk without a word.
func TestKeeper(t *testing.T) {
	k := newTalk(t, "good")
	a, b := k.write("a.c", "fine\nBAD 1\n"), k.write("b.c", "fine\n")
	got := k.ask(Request{ID: "q1", Open: []string{a, b}, Diagnose: true, WaitMS: long})
	if len(got.Files) != 1 || got.Files[0].Path != a || got.Files[0].List[0].Range.Start.Line != 1 || got.Late || got.Encoding != "utf-8" {
		t.Fatalf("got %+v", got)
	}
	k.write("b.c", "BAD 2, which is new\n")
	got = k.ask(Request{ID: "q2", Open: []string{a}, Diagnose: true, WaitMS: long})
	if len(got.Files) != 2 || got.Files[1].Path != b || got.Files[1].Fresh != 1 || got.Files[0].Fresh != 0 || !got.Known {
		t.Errorf("b.c has changed, got %+v", got)
	}
	if err := os.Remove(b); err != nil {
		t.Fatal(err)
	}
	k.write("a.c", "fine\n")
	got = k.ask(Request{ID: "q3", Open: []string{a}, Diagnose: true, WaitMS: long})
	if len(slices.DeleteFunc(got.Files, func(f File) bool { return f.Path == b })) != 0 {
		t.Errorf("a.c is fine now, got %+v", got)
	}
	if got := k.ask(Request{ID: "q4", Method: "test/echo", Params: json.RawMessage("{}"), WaitMS: long}); string(got.Result) != `"heard"` {
		t.Errorf("got %+v", got)
	}
}

// TestHostile: whatever a server does, each request is answered in time, and says why
// there is nothing.
func TestHostile(t *testing.T) {
	for _, tt := range []struct {
		mode string
		wait int64
		want string // in the error; "late" for none in time, "good" for an answer
	}{
		{"crash", long, "no memory for this"},
		{"header", long, "header of a message"},
		{"huge", long, "1073741824 bytes is not taken"},
		{"noise", long, "no message"},
		{"dies", long, "ended"},
		{"silent", 300, "late"},
		{"deaf", 300, "late"},
		{"old", 1000, "late"},
		{"ids", long, "good"},
		{"many", long, "good"},
		{"asks", long, "does not read"},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			k := newTalk(t, tt.mode)
			path := k.write("a.c", "BAD\n")
			begun := time.Now()
			a := k.ask(Request{ID: "q1", Open: []string{path}, Diagnose: true, WaitMS: tt.wait})
			switch {
			case time.Since(begun) > 2*time.Minute:
				t.Errorf("it took %v", time.Since(begun))
			case tt.want == "late" && (!a.Late || a.Error != ""):
				t.Errorf("got %+v, want none in time", a)
			case tt.want == "good" && (a.Error != "" || a.Late || !slices.ContainsFunc(a.Files, func(f File) bool { return f.Path == path })):
				t.Errorf("got %+.300v", a)
			case tt.want != "late" && tt.want != "good" && !strings.Contains(a.Error, tt.want):
				t.Errorf("got %+v, want an error with %q", a, tt.want)
			}
			if len(a.Files) > maxFiles+1 {
				t.Errorf("%d files are remembered", len(a.Files))
			}
		})
	}
}

// TestLargeAnswer: what is too large to be passed on is an error, and the next is not.
func TestLargeAnswer(t *testing.T) {
	k := newTalk(t, "good")
	if a := k.ask(Request{ID: "q1", Method: "test/large", Params: json.RawMessage("{}"), WaitMS: long}); !strings.Contains(a.Error, "the most is") {
		t.Errorf("got %.200q", a.Error)
	}
	if a := k.ask(Request{ID: "q2", Method: "test/echo", Params: json.RawMessage("{}"), WaitMS: long}); a.Error != "" {
		t.Error(a.Error)
	}
}

// TestNoKeeper: other arguments are none of a keeper's, and a server that is not known
// is an answer.
func TestNoKeeper(t *testing.T) {
	for _, args := range [][]string{nil, {"read"}, {WorkArg}, {WorkArg, "gopls", "more"}} {
		if Work(args, strings.NewReader(""), io.Discard) {
			t.Errorf("%q is taken for a keeper's", args)
		}
	}
	var out strings.Builder
	if !Work([]string{WorkArg, "mine"}, strings.NewReader(`{"id":"q1","program":"/bin/mine","wait_ms":1000}`+"\n"), &out) || !strings.Contains(out.String(), "no server") {
		t.Errorf("got %q", out.String())
	}
}
