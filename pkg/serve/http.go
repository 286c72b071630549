package serve

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/serve/endpoint"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// HTTP says what is served over HTTP. Who may call at all is a matter of package
// endpoint.
type HTTP struct {
	Call  tool.Caller
	Tools func(format string) (any, error) // the tools as they are declared
	Asks  bool                             // callers are asked; false where somebody else is, or nobody
	Limit time.Duration                    // of a call; 0 for none
}

// Handler answers requests:
//
//   - POST /v1/call makes a call, {"name":TOOL,"arguments":{…}}, or {"name","input"}. The
//     answer has success, result, and the error of a call that failed. To one who accepts
//     text/event-stream it comes as the last of the events of the call.
//   - POST /v1/answer answers an ask event.
//   - GET /v1/tools declares the tools.
//
// A caller that goes away ends its call.
func (h HTTP) Handler() http.Handler {
	s := &streams{HTTP: h, asked: map[string]*call{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/call", s.make)
	mux.HandleFunc("POST /v1/answer", s.answer)
	mux.HandleFunc("GET /v1/tools", s.tools)
	other := func(w http.ResponseWriter, r *http.Request) {
		status, err := http.StatusNotFound, tool.Errorf(tool.NotFound, "nothing is at %s", r.URL.Path)
		for at, method := range map[string]string{"/v1/call": http.MethodPost, "/v1/answer": http.MethodPost, "/v1/tools": http.MethodGet} {
			if r.URL.Path == at {
				w.Header().Set("Allow", method)
				status, err = http.StatusMethodNotAllowed, tool.Errorf(tool.BadInput, "%s takes no %s", at, r.Method)
			}
		}
		endpoint.Refuse(w, status, err.WithHint("POST /v1/call makes a call, GET /v1/tools lists the tools"))
	}
	mux.HandleFunc("/", other)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path.Clean("/"+r.URL.Path) { // the mux would lead it on, with the call
			other(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// Urgent reports whether a request answers what a call asks, which waits for it.
func Urgent(r *http.Request, _ []byte) bool {
	return r.Method == http.MethodPost && r.URL.Path == "/v1/answer"
}

// The streams are the calls whose callers hear events.
type streams struct {
	HTTP
	mu    sync.Mutex
	asked map[string]*call // that may ask, by an id which only their callers know
}

// A request is the body of POST /v1/call.
type request struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Input     json.RawMessage `json:"input"`           // another name for arguments
	ID        json.RawMessage `json:"id"`              // the caller's own, for its own use
	Ask       bool            `json:"ask"`             // the caller answers ask events
	Key       string          `json:"idempotency_key"` // or the header Idempotency-Key
	Message   string          `json:"message_id"`      // what the caller calls the message of a model that holds the call
	Agent     string          `json:"agent"`           // which of the caller's agents makes the call
}

// origin is from where the call comes.
func (q *request) origin() tool.Origin { return tool.Origin{Message: q.Message, Agent: q.Agent} }

// An outcome is the answer to POST /v1/call.
type outcome struct {
	ID      json.RawMessage `json:"id,omitempty"`
	Success bool            `json:"success"`
	Result  *tool.Result    `json:"result"`
	Error   *tool.Error     `json:"error,omitempty"`
}

// make answers POST /v1/call.
func (s *streams) make(w http.ResponseWriter, r *http.Request) {
	var q request
	if !read(w, r, &q) {
		return
	}
	streams := strings.Contains(r.Header.Get("Accept"), "text/event-stream")
	switch {
	case q.Name == "":
		bad(w, "name is missing: the tool")
		return
	case q.Arguments != nil && q.Input != nil:
		bad(w, "arguments and input are the same: send one of them")
		return
	case q.Ask && !streams:
		bad(w, "ask needs a stream of events: send Accept: text/event-stream, too")
		return
	case q.Arguments == nil:
		q.Arguments = q.Input
	}
	if q.Arguments == nil {
		q.Arguments = json.RawMessage("{}")
	}
	key := r.Header.Get("Idempotency-Key")
	if q.Key != "" && key != "" && q.Key != key {
		bad(w, "idempotency_key is not the header Idempotency-Key: send one of them")
		return
	}
	q.Key = cmp.Or(q.Key, key)
	ctx := r.Context()
	if s.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.Limit, errLimit)
		defer cancel()
	}
	if streams {
		s.stream(ctx, w, &q)
		return
	}
	endpoint.Answer(w, http.StatusOK, s.outcome(&q, s.limited(ctx, tool.Peer{Key: q.Key, Origin: q.origin()}, q.Name, q.Arguments)))
}

var errLimit = errors.New("the time limit of calls")

// limited is a Caller that says of a call whose time was over that it was.
func (s *streams) limited(ctx context.Context, p tool.Peer, name string, args json.RawMessage) *tool.Result {
	result := s.Call(ctx, p, name, args)
	if result.Error == nil || !errors.Is(context.Cause(ctx), errLimit) {
		return result
	}
	ended := *result
	ended.Error = tool.Errorf(tool.Timeout, "the call took longer than %s, and was ended", s.Limit).WithHint("start what takes long in the background, and look at it again")
	return &ended
}

func (s *streams) outcome(q *request, r *tool.Result) outcome {
	return outcome{q.ID, r.Error == nil, r, r.Error}
}

// beat is the time between two signs of life on a stream.
const beat = 15 * time.Second

// stream makes a call whose events the caller hears, the result last.
func (s *streams) stream(ctx context.Context, w http.ResponseWriter, q *request) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	head := w.Header()
	head.Set("Content-Type", "text/event-stream")
	head.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	_ = control.Flush()
	one := &server{
		o: Options{Call: s.limited}, end: end, slots: make(chan struct{}, 1), deaf: make(chan struct{}), hears: hearsAll(), asks: s.Asks && q.Ask,
		put: func(kind string, text []byte) error {
			frame := make([]byte, 0, len(kind)+len(text)+len("event: \ndata: \n"))
			frame = append(append(append(frame, "event: "...), kind...), "\ndata: "...)
			_, err := w.Write(append(append(frame, text...), '\n'))
			return errors.Join(err, control.Flush())
		},
	}
	id := rand.Text()
	c := &call{server: one, id: json.RawMessage(`"` + id + `"`), cancel: end, key: q.Key, origin: q.origin()}
	s.mu.Lock()
	s.asked[id] = c
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.asked, id)
		s.mu.Unlock()
	}()
	made := make(chan *tool.Result, 1)
	go func() { made <- c.run(ctx, q.Name, q.Arguments) }()
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case r := <-made:
			one.send(s.outcome(q, r))
			return
		case <-tick.C:
			one.write.Lock()
			if _, err := io.WriteString(w, ":\n\n"); err != nil || control.Flush() != nil {
				end(nil)
			}
			one.write.Unlock()
		}
	}
}

// answer answers POST /v1/answer.
func (s *streams) answer(w http.ResponseWriter, r *http.Request) {
	var m message
	if !read(w, r, &m) {
		return
	}
	err := m.check()
	if err == nil && m.Answer == nil {
		err = errors.New("it is no answer")
	}
	if err != nil {
		bad(w, err.Error())
		return
	}
	var id string
	_ = json.Unmarshal(m.Answer, &id) // what is no text is no id
	s.mu.Lock()
	c := s.asked[id]
	s.mu.Unlock()
	if c == nil || !c.answer(&m) {
		endpoint.Refuse(w, http.StatusNotFound, tool.Errorf(tool.NotFound, "nothing is asked for %s", key(m.Answer)).WithHint("answer an ask event, once, by its id"))
		return
	}
	endpoint.Answer(w, http.StatusOK, struct {
		Success bool `json:"success"`
	}{true})
}

// tools answers GET /v1/tools.
func (s *streams) tools(w http.ResponseWriter, r *http.Request) {
	list, err := s.Tools(r.URL.Query().Get("format"))
	if err != nil {
		endpoint.Refuse(w, http.StatusBadRequest, err)
		return
	}
	endpoint.Answer(w, http.StatusOK, struct {
		Tools any `json:"tools"`
	}{list})
}

// read reads a body, or refuses it. The type of a body keeps out the pages of browsers
// that may send other types without asking.
func read(w http.ResponseWriter, r *http.Request, v any) bool {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		endpoint.Refuse(w, http.StatusUnsupportedMediaType, tool.Errorf(tool.BadInput, "the body is not said to be JSON").WithHint("send Content-Type: application/json"))
		return false
	}
	body, err := endpoint.Body(r)
	if err == nil {
		err = decode(body, v)
	}
	if err != nil {
		bad(w, wrong(err))
		return false
	}
	return true
}

// decode reads one JSON value that has no other members than v.
func decode(text []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	switch err := dec.Decode(v); {
	case errors.Is(err, io.EOF):
		return errors.New("there is nothing")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it ends before it is whole")
	case err != nil:
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more than one value")
	}
	if name := param.Twice(text); name != "" {
		return fmt.Errorf("%s: it stands twice", name)
	}
	return nil
}

func bad(w http.ResponseWriter, what string) {
	endpoint.Refuse(w, http.StatusBadRequest, tool.Errorf(tool.BadInput, "no call: %s", what).WithHint(`send {"name":TOOL,"arguments":{…}}`))
}
