package session

import (
	"crypto/rand"
	"time"
)

// alphabet is base 32 in lower case without i, l, o and u; it sorts as its
// values do, so IDs that start with a time sort by it.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// NewID returns prefix followed by 16 characters of [0-9a-z] that nobody can
// guess: 80 random bits. It serves for jobs, calls and approvals.
func NewID(prefix string) string {
	var random [10]byte
	_, _ = rand.Read(random[:]) // it never fails: crypto/rand ends the program instead
	return prefix + encode(random[:])
}

// NewSortableID returns prefix followed by 21 characters of [0-9a-z]: the time
// in microseconds, then 50 random bits. IDs sort by their time.
func NewSortableID(prefix string, at time.Time) string {
	return prefix + encodeTime(at.UnixMicro()) + NewID("")[:10]
}

// encodeTime gives 11 characters: 55 bits of microseconds last a thousand years.
func encodeTime(micro int64) string {
	var out [11]byte
	v := uint64(max(micro, 0))
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = alphabet[v&31]
		v >>= 5
	}
	return string(out[:])
}

// encode writes bytes, a multiple of five, as base 32.
func encode(data []byte) string {
	out := make([]byte, 0, len(data)*8/5)
	var acc uint64
	var bits uint
	for _, b := range data {
		acc = acc<<8 | uint64(b)
		for bits += 8; bits >= 5; bits -= 5 {
			out = append(out, alphabet[acc>>(bits-5)&31])
		}
	}
	return string(out)
}
