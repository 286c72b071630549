package lsp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	maxHeader  = 8 << 10  // bytes in front of a message
	maxMessage = 32 << 20 // bytes of a message
)

// readMessage reads one message of a server. It allocates no more than what has really
// come, whatever the header promises.
func readMessage(r *bufio.Reader) ([]byte, error) {
	size, seen := -1, 0
	for {
		line, err := r.ReadSlice('\n')
		if seen += len(line); err != nil || seen > maxHeader {
			if err == nil || errors.Is(err, bufio.ErrBufferFull) {
				err = fmt.Errorf("the header of a message has more than %d bytes", maxHeader)
			}
			return nil, err
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			break
		}
		if name, value, _ := strings.Cut(text, ":"); strings.EqualFold(name, "Content-Length") {
			if size, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || size < 0 || size > maxMessage {
				return nil, fmt.Errorf("a message of %s bytes is not taken: the most is %d", strings.TrimSpace(value), maxMessage)
			}
		}
	}
	if size < 0 {
		return nil, errors.New("a message does not say how long it is")
	}
	var body bytes.Buffer
	_, err := io.CopyN(&body, r, int64(size))
	return body.Bytes(), err
}

// frame is a message as it is sent.
func frame(body []byte) []byte {
	return append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...)
}
