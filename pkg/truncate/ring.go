package truncate

import "unicode/utf8"

// A ring holds the last bytes of a stream.
type ring struct {
	buf []byte // allocated at the first write
	max int    // bytes held at most
	end int    // where the next byte goes
	n   int    // bytes held
}

// write appends p, forgetting the oldest bytes.
func (r *ring) write(p []byte) {
	if r.buf == nil {
		r.buf = make([]byte, r.max)
	}
	if len(p) >= r.max {
		copy(r.buf, p[len(p)-r.max:])
		r.end, r.n = 0, r.max
		return
	}
	r.n = min(r.n+len(p), r.max)
	for len(p) > 0 {
		k := copy(r.buf[r.end:], p)
		p = p[k:]
		if r.end += k; r.end == r.max {
			r.end = 0
		}
	}
}

// appendTo appends the bytes held to dst, oldest first.
func (r *ring) appendTo(dst []byte) []byte {
	start := r.end - r.n
	if start < 0 {
		dst = append(dst, r.buf[start+r.max:]...)
		start = 0
	}
	return append(dst, r.buf[start:r.end]...)
}

// dropRune forgets the last character and returns its length in bytes.
func (r *ring) dropRune() int {
	var last [utf8.UTFMax]byte
	k := min(r.n, len(last))
	for i := range k {
		last[len(last)-1-i] = r.buf[(r.end-1-i+r.max)%r.max]
	}
	_, size := utf8.DecodeLastRune(last[len(last)-k:])
	r.n -= size
	r.end = (r.end - size + r.max) % r.max
	return size
}

// reset forgets everything and keeps the memory.
func (r *ring) reset() { r.end, r.n = 0, 0 }
