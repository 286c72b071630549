package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// message is any message of JSON-RPC.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error implements error.
func (e *rpcError) Error() string { return clip(e.Message, maxText) }

// maxQueue is how many messages may wait for a server that does not read.
const maxQueue = 1024

var (
	errDeaf = errors.New("the server does not read what it is sent")
	errOver = errors.New("the connection to the server has ended")
)

// A conn is the connection to a server.
type conn struct {
	out    chan []byte
	notify func(method string, params json.RawMessage) // hears what the server tells
	asked  func(method string, params json.RawMessage) (any, *rpcError)

	mu      sync.Mutex
	last    int
	waiting map[int]chan message
	err     error         // why it has ended
	over    chan struct{} // closed when it has
}

func newConn() *conn {
	return &conn{out: make(chan []byte, maxQueue), waiting: map[int]chan message{}, over: make(chan struct{})}
}

// end ends the connection, once.
func (c *conn) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
		close(c.over)
	}
}

// write sends what is queued. Reading must never wait for it: a server may stop to read
// until its own messages are taken.
func (c *conn) write(w io.Writer) {
	for {
		select {
		case <-c.over:
			return
		case b := <-c.out:
			if _, err := w.Write(b); err != nil {
				c.end(fmt.Errorf("%w: %w", errDeaf, err))
				return
			}
		}
	}
}

// read takes in messages until the end or the first that is none.
func (c *conn) read(from io.Reader) {
	r := bufio.NewReaderSize(from, maxHeader)
	for {
		body, err := readMessage(r)
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = errOver
			}
			c.end(err)
			return
		}
		var m message
		if err := json.Unmarshal(body, &m); err != nil {
			c.end(fmt.Errorf("the server has sent what is no message: %w", err))
			return
		}
		c.take(&m)
	}
}

func (c *conn) take(m *message) {
	switch {
	case m.Method != "" && len(m.ID) > 0:
		result, failed := c.asked(m.Method, m.Params)
		answer := message{ID: m.ID, Error: failed}
		if failed == nil {
			answer.Result, _ = json.Marshal(result)
		}
		_ = c.send(&answer)
	case m.Method != "":
		c.notify(m.Method, m.Params)
	default:
		var id int
		if json.Unmarshal(m.ID, &id) != nil {
			return
		}
		c.mu.Lock()
		wait := c.waiting[id]
		delete(c.waiting, id) // an answer to nothing, or a second one, is dropped
		c.mu.Unlock()
		if wait != nil {
			wait <- *m
		}
	}
}

func (c *conn) send(m *message) error {
	m.Version = "2.0"
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	select {
	case <-c.over:
		return c.err
	case c.out <- frame(raw):
		return nil
	default:
		c.end(errDeaf)
		return errDeaf
	}
}

// tell sends a notification.
func (c *conn) tell(method string, params any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	return c.send(&message{Method: method, Params: raw})
}

// call makes a request and waits for its answer.
func (c *conn) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	wait := make(chan message, 1)
	c.mu.Lock()
	c.last++
	id := c.last
	c.waiting[id] = wait
	c.mu.Unlock()
	if err := c.send(&message{ID: json.RawMessage(fmt.Sprint(id)), Method: method, Params: raw}); err != nil {
		return nil, err
	}
	select {
	case m := <-wait:
		if m.Error != nil {
			return nil, m.Error
		}
		return m.Result, nil
	case <-c.over:
		return nil, c.err
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
		_ = c.tell("$/cancelRequest", map[string]int{"id": id})
		return nil, ctx.Err()
	}
}
