package lsp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	idle       = 10 * time.Minute // without a request, after which a keeper ends
	startLimit = time.Minute      // for a server's first answer
	writeLimit = 10 * time.Second // for what it is sent to be read
	maxRequest = 1 << 20          // bytes of a line
	maxAnswer  = 8 << 20          // bytes of what is passed on of one
	most       = 16               // requests at a time
)

// Work is what main does first: where args, the arguments without the program's name,
// ask for a keeper, it is one until its end, and handled is true. They are WorkArg and
// the name of a Server; the workspace is the directory that it is started in. The program
// comes with the first request: as an argument it would look like a file to work on.
func Work(args []string, stdin io.Reader, stdout io.Writer) (handled bool) {
	if len(args) != 2 || args[0] != WorkArg {
		return false
	}
	k := &keeper{server: named(args[1]), to: stdout, quiet: idle, ready: make(chan struct{}), heard: make(chan struct{})}
	k.serve(bufio.NewReaderSize(stdin, 64<<10), args[1])
	k.stop()
	return true
}

// A keeper is the process that a server is started by.
type keeper struct {
	server  *Server
	program string
	root    string
	quiet   time.Duration

	outMu sync.Mutex
	to    io.Writer

	conn  *conn
	cmd   *exec.Cmd
	gone  chan struct{} // closed when the server has ended and all that it printed is there
	said  tail          // the end of what the server has printed as errors
	ready chan struct{} // closed when the server has started, or failed to
	state struct {
		sync.Mutex
		err      error  // why there is no server
		encoding string // of columns
	}

	docs documents

	mu        sync.Mutex
	published map[string]publication
	count     int           // of publications
	last      time.Time     // of the last one
	settled   bool          // the server says that it has nothing to do
	heard     chan struct{} // closed and replaced at each
}

// start starts the server; it gets ready beside what follows.
func (k *keeper) start(program string) (err error) {
	if k.root, err = filepath.Abs("."); err != nil {
		return err
	}
	k.program = program
	//nolint:noctx // it ends with us
	k.cmd = exec.Command(program, k.server.Args...)
	k.cmd.Dir, k.cmd.Stderr, k.cmd.WaitDelay = k.root, &k.said, time.Second
	k.gone = make(chan struct{})
	in, toServer, err := os.Pipe()
	if err != nil {
		return err
	}
	out, err := k.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	k.cmd.Stdin = in
	k.conn = newConn()
	k.conn.notify, k.conn.asked = k.hear, k.answer
	k.published, k.docs = map[string]publication{}, newDocuments(k.root, k.server)
	k.docs.look() // what changes from now on, the server is told
	err = k.cmd.Start()
	_ = in.Close()
	if err != nil {
		return fmt.Errorf("%s cannot be started: %w", k.server.Name, err)
	}
	go k.conn.write(&hasty{toServer})
	go func() {
		k.conn.read(out)
		_ = k.cmd.Process.Kill()
		_ = k.cmd.Wait() // also for what it has printed as errors
		close(k.gone)
	}()
	go k.initialize()
	return nil
}

// hasty is a pipe whose reader must not take long.
type hasty struct{ *os.File }

func (h hasty) Write(p []byte) (int, error) {
	_ = h.SetWriteDeadline(time.Now().Add(writeLimit)) // where pipes have none, there is none
	return h.File.Write(p)
}

// initialize makes the server's acquaintance.
func (k *keeper) initialize() {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	settings := k.server.settings(k.program)
	folder := map[string]string{"uri": URI(k.root), "name": "workspace"}
	raw, err := k.conn.call(ctx, "initialize", map[string]any{
		"processId": os.Getpid(), "rootUri": URI(k.root), "rootPath": k.root, "workspaceFolders": []any{folder},
		"clientInfo": map[string]string{"name": "agentkit"}, "capabilities": json.RawMessage(capabilities), "initializationOptions": settings,
	})
	var able struct {
		Capabilities struct {
			PositionEncoding string `json:"positionEncoding"`
		} `json:"capabilities"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &able)
	}
	if err == nil {
		err = k.conn.tell("initialized", struct{}{})
	}
	if err == nil && settings != nil {
		err = k.conn.tell("workspace/didChangeConfiguration", map[string]any{"settings": settings})
	}
	if err != nil {
		k.fail(fmt.Errorf("%s does not start: %w", k.server.Name, k.why(err)))
		return
	}
	k.state.Lock()
	k.state.encoding = "utf-16"
	if able.Capabilities.PositionEncoding == "utf-8" {
		k.state.encoding = "utf-8"
	}
	k.state.Unlock()
	close(k.ready)
}

// capabilities are what we can do with a server's answers.
const capabilities = `{
"general":{"positionEncodings":["utf-8","utf-16"]},
"workspace":{"configuration":true,"workspaceFolders":true,"didChangeConfiguration":{},"didChangeWatchedFiles":{"dynamicRegistration":true},
 "workspaceEdit":{"documentChanges":true},"symbol":{}},
"textDocument":{"synchronization":{},"publishDiagnostics":{"versionSupport":true},"hover":{"contentFormat":["plaintext","markdown"]},
 "definition":{},"implementation":{},"references":{},"rename":{},"callHierarchy":{},
 "documentSymbol":{"hierarchicalDocumentSymbolSupport":true},"completion":{"completionItem":{"snippetSupport":false}}},
"experimental":{"serverStatusNotification":true}}`

// fail notes why there is no server.
func (k *keeper) fail(err error) {
	k.state.Lock()
	k.state.err = err
	k.state.Unlock()
	close(k.ready)
}

// ended waits a moment until the server has ended.
func (k *keeper) ended() {
	select {
	case <-k.gone:
	case <-time.After(2 * time.Second): // something that it started may hold its output
	}
}

// why is err with what the server has printed last.
func (k *keeper) why(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("it has not answered in time")
	}
	if errors.Is(err, errOver) {
		k.ended()
	}
	if said := k.said.String(); said != "" {
		return fmt.Errorf("%w: %s", err, said)
	}
	return err
}

// serve answers requests until there are none any more, or no server.
func (k *keeper) serve(in *bufio.Reader, name string) {
	lines := make(chan []byte)
	go func() {
		defer close(lines)
		for {
			line, err := readLine(in)
			if err != nil {
				return
			}
			lines <- line
		}
	}()
	var over <-chan struct{} // closed when the server is gone; nil before it is there
	turns := make(chan struct{}, most)
	var all sync.WaitGroup
	defer all.Wait()
	for {
		select {
		case <-over:
			return
		case <-time.After(k.quiet):
			return
		case line, ok := <-lines:
			if !ok {
				return
			}
			var q Request
			if json.Unmarshal(line, &q) != nil || q.ID == "" || over == nil && q.Program == "" {
				continue
			}
			if over == nil {
				over = k.begin(name, q.Program)
			}
			turns <- struct{}{}
			all.Go(func() {
				k.reply(k.handle(&q))
				<-turns
			})
		}
	}
}

// begin starts the server, or notes why it cannot be.
func (k *keeper) begin(name, program string) (over <-chan struct{}) {
	err := fmt.Errorf("there is no server %q", name)
	if k.server != nil {
		err = k.start(program)
	}
	if err != nil {
		k.fail(err)
		return make(chan struct{}) // the answer says why; then there is nothing to wait for
	}
	return k.conn.over
}

func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if line = append(line, part...); err == nil {
			return line, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) || len(line) > maxRequest {
			return nil, err
		}
	}
}

// reply writes an answer, and that it is whole.
func (k *keeper) reply(a Answer) {
	raw, err := json.Marshal(a)
	if err == nil && len(raw) > maxAnswer {
		raw, err = json.Marshal(Answer{ID: a.ID, Error: fmt.Sprintf("the answer of %s has %d bytes: the most is %d", k.server.Name, len(raw), maxAnswer)})
	}
	if err != nil {
		raw, _ = json.Marshal(Answer{ID: a.ID, Error: err.Error()})
	}
	done, _ := json.Marshal(Done{a.ID})
	k.outMu.Lock()
	defer k.outMu.Unlock()
	_, _ = k.to.Write(append(append(append(raw, '\n'), done...), '\n'))
}

// handle does what one request asks for.
func (k *keeper) handle(q *Request) (a Answer) {
	a.ID = q.ID
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(q.WaitMS)*time.Millisecond)
	defer cancel()
	select {
	case <-k.ready:
	case <-ctx.Done():
		a.Late = true
		return a
	}
	k.state.Lock()
	err := k.state.err
	a.Encoding = k.state.encoding
	k.state.Unlock()
	if err != nil {
		a.Error = err.Error()
		return a
	}
	before := k.told()
	err = k.docs.sync(k.conn, q.Open, before.count)
	if err == nil && q.Method != "" {
		a.Result, err = k.conn.call(ctx, q.Method, q.Params)
	}
	if err == nil && q.Diagnose {
		k.settle(ctx, q.Open, before, &a)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		a.Late = true
	} else if err != nil {
		a.Error = k.why(err).Error()
	}
	return a
}

// stop ends the server, as the protocol wants it for a moment and then by force.
func (k *keeper) stop() {
	if k.conn == nil || k.cmd.Process == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := k.conn.call(ctx, "shutdown", nil); err == nil {
		_ = k.conn.tell("exit", nil)
	}
	k.conn.end(errOver)
	_ = k.cmd.Process.Kill()
	k.ended()
}

// A tail keeps the last that is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = bytes.Clone(t.text[max(0, len(t.text)-1000):])
	return len(p), nil
}

// String is its last lines.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(strings.TrimSpace(string(t.text)), "\ufffd")
}
