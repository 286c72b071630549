package job

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Requests and replies are JSON, one a line. A connection carries one request
// and its reply, except for opFollow: its replies go on until the end.
const (
	opInfo   = "info"
	opFollow = "follow" // replies whenever something changes, the last one with done
	opDetach = "detach" // on a tied connection: the job now lives on without it
	opInput  = "input"
	opSignal = "signal"
	opResize = "resize"
	opKill   = "kill"
)

type request struct {
	Op     string         `json:"op"`
	Input  bool           `json:"input,omitempty"` // follow: watch for waiting
	Text   []byte         `json:"text,omitempty"`
	Keys   []string       `json:"keys,omitempty"` // byte sequences
	EOF    bool           `json:"eof,omitempty"`
	Signal syscall.Signal `json:"signal,omitempty"`
	All    bool           `json:"all,omitempty"`
	Rows   uint16         `json:"rows,omitempty"`
	Cols   uint16         `json:"cols,omitempty"`
	Grace  int64          `json:"grace_ns,omitempty"`
}

type reply struct {
	Info *Info  `json:"info,omitempty"`
	Done bool   `json:"done,omitempty"`
	N    int    `json:"n,omitempty"`
	Fail string `json:"fail,omitempty"`
	Code string `json:"code,omitempty"`
	Op   string `json:"op,omitempty"`
	Path string `json:"path,omitempty"`
	No   int    `json:"errno,omitempty"`
}

// A sentinel is an error that keeps its identity across the socket.
type sentinel struct {
	code string
	err  error
}

// sentinels is a function because a variable would cost every start.
func sentinels() []sentinel {
	return []sentinel{
		{"ended", ErrEnded},
		{"no-input", ErrNoInput},
		{"busy", ErrBusy},
		{"no-terminal", ErrNoTerminal},
		{"unsupported", errors.ErrUnsupported},
		{"not-found", exec.ErrNotFound},
	}
}

func failure(err error) reply {
	r := reply{Fail: err.Error()}
	for _, s := range sentinels() {
		if errors.Is(err, s.err) {
			r.Code = s.code
		}
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		r.Op, r.Path = p.Op, p.Path
		if n, ok := errors.AsType[syscall.Errno](p.Err); ok {
			r.No = int(n)
		}
	}
	return r
}

func (r reply) err() error {
	if r.Fail == "" {
		return nil
	}
	if r.No != 0 {
		return &fs.PathError{Op: r.Op, Path: r.Path, Err: syscall.Errno(r.No)}
	}
	for _, s := range sentinels() {
		if r.Code == s.code {
			if more, ok := strings.CutPrefix(r.Fail, s.err.Error()); ok {
				return fmt.Errorf("%w%s", s.err, more)
			}
			return fmt.Errorf("%w (%s)", s.err, r.Fail)
		}
	}
	return errors.New(r.Fail)
}

// maxMessage bounds a request or reply.
const maxMessage = 16 << 20

// A line is one side of a connection.
type line struct {
	conn io.ReadWriteCloser
	in   *bufio.Reader
}

func newLine(c io.ReadWriteCloser) *line { return &line{conn: c, in: bufio.NewReader(c)} }

func (l *line) send(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = l.conn.Write(append(raw, '\n'))
	return err
}

func (l *line) receive(v any) error {
	var raw []byte
	for {
		part, err := l.in.ReadSlice('\n')
		raw = append(raw, part...)
		if err == nil {
			return json.Unmarshal(raw, v)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if len(raw) > maxMessage {
			return errors.New("reading a message: it is too long")
		}
	}
}

// dial connects to a job's supervisor.
func (j *Job) dial() (*line, error) {
	c, err := dialAt(j.reg.Session.Path("jobs", j.id))
	if err != nil {
		return nil, err
	}
	return newLine(c), nil
}

// after looks at a job whose supervisor was just seen to be gone: one that is
// killed closes its socket before it gives up its lock.
func (j *Job) after() (Info, error) {
	begin := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		i, err := j.Info()
		if err != nil || !i.Alive() || time.Since(begin) > 2*time.Second {
			return i, err
		}
		time.Sleep(pause)
	}
}

// ask makes one request of a job that is alive.
func (j *Job) ask(q request) (reply, error) {
	i, err := j.Info()
	if err != nil {
		return reply{}, err
	}
	if !i.Alive() {
		return reply{Info: &i}, fmt.Errorf("%w: %s", ErrEnded, j.id)
	}
	l, err := j.dial()
	if err == nil {
		defer l.conn.Close()
		err = l.send(q)
	}
	var r reply
	if err == nil {
		err = l.receive(&r)
	}
	if err != nil {
		// The supervisor went away meanwhile, or does not answer.
		if i, again := j.after(); again == nil && !i.Alive() {
			return reply{Info: &i}, fmt.Errorf("%w: %s", ErrEnded, j.id)
		}
		return r, fmt.Errorf("reaching job %s: %w", j.id, err)
	}
	return r, r.err()
}
