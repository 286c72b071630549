package text

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	for _, tt := range []struct {
		in    string
		n     int
		want  string
		lines int
	}{
		{"", 3, "", 0},
		{"a", 1, "a", 1},
		{"a\n", 1, "a\n", 1},
		{"a\nb", 1, "b", 1},
		{"a\nb\n", 1, "b\n", 1},
		{"a\r\nb\r\n", 1, "b\r\n", 1},
		{"a\nb\nc\n", 2, "b\nc\n", 2},
		{"a\nb\nc\n", 3, "a\nb\nc\n", 3},
		{"a\nb\nc\n", 9, "a\nb\nc\n", 3},
		{"a\n\n\n", 2, "\n\n", 2},
		{"a\n", 0, "", 0},
	} {
		offset, lines, err := Tail(strings.NewReader(tt.in), int64(len(tt.in)), tt.n)
		if err != nil || tt.in[offset:] != tt.want || lines != tt.lines {
			t.Errorf("Tail(%q, %d) = %q, %d, %v; want %q, %d", tt.in, tt.n, tt.in[offset:], lines, err, tt.want, tt.lines)
		}
	}
}

// TestTailAgreesWithLines compares with reading from the front, over texts
// longer than a block.
func TestTailAgreesWithLines(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		var b bytes.Buffer
		for range rnd.IntN(4000) {
			b.WriteString(strings.Repeat("x", rnd.IntN(80)) + "\n")
		}
		b.WriteString(strings.Repeat("y", rnd.IntN(3)))
		data, n := b.Bytes(), 1+rnd.IntN(5000)
		var starts []int64
		for line, err := range Lines(bytes.NewReader(data), LineOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			starts = append(starts, line.Offset)
		}
		want, count := int64(len(data)), min(n, len(starts))
		if count > 0 {
			want = starts[len(starts)-count]
		}
		if got, lines, err := Tail(bytes.NewReader(data), int64(len(data)), n); err != nil || got != want || lines != count {
			t.Fatalf("Tail of %d lines, last %d: %d, %d, %v; want %d, %d", len(starts), n, got, lines, err, want, count)
		}
	}
}
