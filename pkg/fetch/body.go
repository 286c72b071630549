package fetch

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/andybalholm/brotli"

	"github.com/agentkit-go/agentkit/pkg/zstd"
)

// A wire reads a body as it travels. Each byte of it counts, and each wind the clock
// that ends a body which has stopped coming.
type wire struct {
	r    io.Reader
	n    int64
	max  int64
	idle *time.Timer
	wait time.Duration
}

var (
	errIdle = errors.New("the body has stopped coming")
	errWire = errors.New("the body is larger than the limit before it is decoded")
)

func (w *wire) Read(p []byte) (int, error) {
	if w.n >= w.max {
		return 0, errWire
	}
	n, err := w.r.Read(p[:min(int64(len(p)), w.max-w.n)])
	if n > 0 {
		w.n += int64(n)
		w.idle.Reset(w.wait)
	}
	return n, err
}

// readBody reads the answer's body into res. What was read before something went
// wrong is kept; where that is nothing, it is an error.
func (c *Client) readBody(ctx context.Context, cancel context.CancelCauseFunc, q *query, answer *http.Response, res *Response) error {
	if answer.ContentLength == 0 || answer.StatusCode == http.StatusNotModified || answer.StatusCode == http.StatusNoContent {
		return nil
	}
	limit := c.c.Limits.Idle
	w := &wire{r: answer.Body, max: q.max + 1, wait: limit, idle: time.AfterFunc(limit, func() { cancel(errIdle) })}
	defer w.idle.Stop()
	// A body must not be larger on its way than it may be in the end: what does not
	// get smaller by its coding is no text.
	decoded, err := decoder(bufio.NewReader(w), answer.Header.Get("Content-Encoding"))
	var body []byte
	if err == nil {
		body, err = readUpTo(decoded, q.max)
	}
	res.Body, res.Wire = body, w.n
	var coding *codingError
	switch {
	case errors.Is(err, errLimit), errors.Is(err, errWire):
		res.Truncated = true
		return nil
	case err == nil:
		return nil
	case errors.As(err, &coding) && len(body) == 0 && context.Cause(ctx) == nil:
		return errorf(Decode, q.url, "the body of %s cannot be decoded: %w", q.url.Host, coding.err)
	case len(body) == 0:
		return c.bodyError(ctx, q, err)
	}
	res.Incomplete = c.bodyError(ctx, q, err).Error()
	return nil
}

// bodyError says why a body ends early.
func (c *Client) bodyError(ctx context.Context, q *query, err error) error {
	if errors.Is(context.Cause(ctx), errIdle) {
		e := errorf(Timeout, q.url, "%s has sent nothing more for %v", q.url.Host, c.c.Limits.Idle)
		e.Phase, e.Retryable = "body", true
		return e
	}
	var coding *codingError
	if errors.As(err, &coding) && context.Cause(ctx) == nil {
		return errorf(Decode, q.url, "the body of %s ends early or is damaged: %w", q.url.Host, coding.err)
	}
	return c.failure(ctx, q.url, err)
}

var errLimit = errors.New("the body is larger than the limit")

// readUpTo reads at most limit bytes; errLimit says that there are more.
func readUpTo(r io.Reader, limit int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, limit+1))
	if int64(len(body)) > limit {
		return body[:limit:limit], errLimit
	}
	return body, err
}

// A codingError is of a body that is not coded as its header says.
type codingError struct{ err error }

func (e *codingError) Error() string { return e.err.Error() }
func (e *codingError) Unwrap() error { return e.err }

// A coded reader marks the errors of its coding.
type coded struct{ r io.Reader }

func (c coded) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, errWire) {
		err = &codingError{err}
	}
	return n, err
}

// maxWindow bounds what a zstd frame has us keep, as browsers do (RFC 8878, 3.1.1.1.2).
const maxWindow = 8 << 20

// decoder undoes a content coding. There is one: several of them multiply.
func decoder(r *bufio.Reader, codings string) (io.Reader, error) {
	var list []string
	for name := range strings.SplitSeq(strings.ToLower(codings), ",") {
		if name = strings.TrimSpace(name); name != "" && name != "identity" {
			list = append(list, name)
		}
	}
	switch {
	case len(list) == 0:
		return r, nil
	case len(list) > 1:
		return nil, &codingError{fmt.Errorf("it is coded %d times: %s", len(list), strings.Join(list, ", "))}
	}
	head, _ := r.Peek(4)
	if len(head) == 0 {
		return r, nil // an empty body needs no coding
	}
	switch list[0] {
	case "gzip", "x-gzip":
		if len(head) < 2 || head[0] != 0x1f || head[1] != 0x8b {
			return r, nil // servers say gzip of what is none
		}
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, &codingError{err}
		}
		return coded{z}, nil
	case "deflate":
		if head[0]&0x0f == 8 && len(head) > 1 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			z, err := zlib.NewReader(r)
			if err != nil {
				return nil, &codingError{err}
			}
			return coded{z}, nil
		}
		return coded{flate.NewReader(r)}, nil
	case "br":
		return coded{brotli.NewReader(r)}, nil
	case "zstd":
		return coded{zstd.NewReader(r, maxWindow)}, nil
	}
	return nil, &codingError{fmt.Errorf("nobody knows the coding %q", list[0])}
}
