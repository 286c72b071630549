package rg

import "golang.org/x/sys/cpu"

// pairAVX2 gives the first i < n, a multiple of 64, where p[i]|mask1 == c1 and
// p[i+gap]|mask2 == c2, or -1. It reads p[:n] and p[gap:gap+n].
//
//go:noescape
func pairAVX2(p *byte, n, gap int, c1, mask1, c2, mask2 byte) int

// masksAVX2 gives the first i < n, a multiple of 32, such that the three bytes
// at some place of the 32 from i on carry a common bit, or -1; found has a bit
// for each such place. It reads p[:n+2].
//
//go:noescape
func masksAVX2(p *byte, n int, nibbles *[6][32]byte) (i int, found uint32)

// bytesAVX2 gives the first i < n, a multiple of 64, such that one of the 64
// bytes from i on carries a bit of the first position, or -1; found has a bit
// for each such byte. It reads p[:n].
//
//go:noescape
func bytesAVX2(p *byte, n int, nibbles *[6][32]byte) (i int, found uint64)

// scanPair gives the first place from pos on where both rare bytes of the
// literal stand, or -1. It is false where the caller must look on by itself
// from the place it gives.
func (f *literalFinder) scanPair(text []byte, pos int) (int, bool) {
	n := (len(text) - pos - f.first - f.gap) &^ 63
	if n <= 0 || !cpu.X86.HasAVX2 {
		return pos, false
	}
	p := pairAVX2(&text[pos+f.first], n, f.gap, f.text[f.first], f.mask1, f.text[f.first+f.gap], f.mask2)
	if p < 0 {
		return pos + n, false
	}
	return pos + p, true
}

// scan gives the first block of 32 places from pos on, counted from there,
// with one whose three bytes carry a common bit, and a bit for each such place.
// It is false where the caller must look on by itself from the place it gives.
func (m *maskTable) scan(text []byte, pos int) (at int, found uint32, ok bool) {
	n := (len(text) - pos - 2) &^ 31
	if n <= 0 || !cpu.X86.HasAVX2 {
		return pos, 0, false
	}
	p, found := masksAVX2(&text[pos], n, &m.nibbles)
	if p < 0 {
		return pos + n, 0, false
	}
	return pos + p, found, true
}

// scanOne gives the first block of 64 places from pos on, counted from there,
// with a byte that carries a bit of the first position, and a bit for each such
// byte. It is false where the caller must look on by itself.
func (m *maskTable) scanOne(text []byte, pos int) (at int, found uint64, ok bool) {
	n := (len(text) - pos) &^ 63
	if n <= 0 || !cpu.X86.HasAVX2 {
		return pos, 0, false
	}
	p, found := bytesAVX2(&text[pos], n, &m.nibbles)
	if p < 0 {
		return pos + n, 0, false
	}
	return pos + p, found, true
}
