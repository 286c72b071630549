package job

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
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
	Watch  bool           `json:"watch,omitempty"` // follow: find out whether it waits for input, and whether it is quiet
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

// receiveWithin is receive with a limit, where the connection has limits; 0 is for
// none.
func (l *line) receiveWithin(v any, limit time.Duration) error {
	if c, ok := l.conn.(interface{ SetReadDeadline(t time.Time) error }); ok && limit > 0 {
		_ = c.SetReadDeadline(time.Now().Add(limit))
		defer func() { _ = c.SetReadDeadline(time.Time{}) }()
	}
	return l.receive(v)
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
	raw, err := safefile.EncodeJSON(v)
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
			return safefile.DecodeJSON(raw, v)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if len(raw) > maxMessage {
			return errors.New("reading a message: it is too long")
		}
	}
}

// answerLimit is how long a supervisor may take to answer. One that takes longer is
// stopped or stuck.
func (r *Registry) answerLimit() time.Duration { return cmp.Or(r.Answer, 5*time.Second) }

// inputLimit is the same for input, which may wait for another's and then for
// the command to read.
func (r *Registry) inputLimit() time.Duration { return 2*patience + r.answerLimit() }

// dial connects to a job's supervisor and sends it a request. The connection ends
// with ctx.
func (j *Job) dial(ctx context.Context, q request) (*line, error) {
	soon, cancel := context.WithTimeout(ctx, j.reg.answerLimit())
	defer cancel()
	c, err := dialAt(soon, j.reg.Session.Path("jobs", j.id))
	if err != nil {
		return nil, err
	}
	l := newLine(&contextConn{Conn: c, stop: context.AfterFunc(ctx, func() { _ = c.Close() })})
	_ = c.SetWriteDeadline(time.Now().Add(j.reg.answerLimit()))
	if err := l.send(q); err != nil {
		_ = l.conn.Close()
		return nil, err
	}
	return l, nil
}

// A contextConn is a connection that is closed when a context ends.
type contextConn struct {
	net.Conn
	stop func() bool
}

// Close implements net.Conn.
func (c *contextConn) Close() error {
	c.stop()
	return c.Conn.Close()
}

// silent is err, or what it means: the supervisor has not answered in time.
func (j *Job) silent(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %s", ErrSilent, j.id)
	}
	return fmt.Errorf("reaching job %s: %w", j.id, err)
}

// after looks at a job whose supervisor was just seen to be gone: one that is
// killed closes its socket before it gives up its lock.
func (j *Job) after(ctx context.Context) (Info, error) {
	soon, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return j.gone(soon)
}

// gone waits until nothing of the job runs, or ctx has ended.
func (j *Job) gone(ctx context.Context) (Info, error) {
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		i, err := j.Info()
		if err != nil || !i.Alive() || ctx.Err() != nil {
			return i, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// ask makes one request of a job that is alive.
func (j *Job) ask(ctx context.Context, q request) (reply, error) {
	i, err := j.Info()
	if err != nil {
		return reply{}, err
	}
	if !i.Alive() {
		return reply{Info: &i}, fmt.Errorf("%w: %s", ErrEnded, j.id)
	}
	limit := j.reg.answerLimit()
	if q.Op == opInput {
		limit = j.reg.inputLimit()
	}
	var r reply
	l, err := j.dial(ctx, q)
	if err == nil {
		defer l.conn.Close()
		err = l.receiveWithin(&r, limit)
	}
	if err == nil {
		return r, r.err()
	}
	if err = j.silent(ctx, err); errors.Is(err, ErrSilent) || ctx.Err() != nil {
		return r, err
	}
	// The supervisor went away meanwhile.
	if i, again := j.after(ctx); again == nil && !i.Alive() {
		return reply{Info: &i}, fmt.Errorf("%w: %s", ErrEnded, j.id)
	}
	return r, err
}
