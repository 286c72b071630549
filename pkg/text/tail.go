package text

import (
	"bytes"
	"io"
)

// Tail finds the last n lines of the first size bytes of r, which are in an
// ASCII superset with \n or \r\n line ends. It returns the offset of the first
// of them and how many there are, and reads no more than these lines and one
// block. A last line without a terminator counts.
func Tail(r io.ReaderAt, size int64, n int) (offset int64, lines int, err error) {
	if n <= 0 || size <= 0 {
		return size, 0, nil
	}
	const block = 64 << 10
	buf := make([]byte, min(block, size))
	for end := size; end > 0; {
		start := max(0, end-int64(len(buf)))
		part := buf[:end-start]
		if _, err := r.ReadAt(part, start); err != nil && err != io.EOF {
			return 0, 0, err
		}
		for {
			i := bytes.LastIndexByte(part, '\n')
			if i < 0 {
				break
			}
			// The newline at the very end closes the last line; any other
			// begins the one behind it.
			if at := start + int64(i) + 1; at < size {
				if lines++; lines == n {
					return at, lines, nil
				}
			}
			part = part[:i]
		}
		end = start
	}
	return 0, lines + 1, nil
}
