package cmd

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/truncate"
)

// TestHead: what is shown of an output while it comes is how its result begins,
// whatever it holds and however it is cut.
func TestHead(t *testing.T) {
	pieces := []string{"a", "line of words\n", "\n", "\r", "50 %\r", "\x1b[31mred\x1b[0m", "\b", "é", "\ufffd", "\x00", "error: it failed\n", strings.Repeat("long ", 700), "\tx\n", "\x1b[2K"}
	some := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		limits := truncate.Limits{Lines: 200 + r.IntN(2000), Bytes: 8<<10 + r.IntN(50_000), LineChars: 2000}
		if !streams(limits) {
			t.Fatalf("%+v", limits)
		}
		var shown bytes.Buffer
		a := &app{stdout: &shown}
		h := newHead(a, limits)
		w := truncate.New(truncate.Options{Limits: limits, Shape: truncate.Tail, Clean: true, Spill: nil, ReadOn: func(string, int64) string { return strings.Repeat("read on ", 20) }})
		for range r.IntN(3000) {
			text := pieces[r.IntN(len(pieces))]
			if r.IntN(3) > 0 {
				text = pieces[1]
			}
			if err := h.show(text); err != nil {
				t.Fatal(err)
			}
			_, _ = w.WriteString(text)
		}
		if got := w.Close(); !strings.HasPrefix(got.Text, shown.String()) || a.begun != shown.String() {
			t.Fatalf("seed %d: shown %q, the result is %q", seed, shown.String(), got.Text)
		}
		if shown.Len() > 0 {
			some++
		}
	}
	if some < 250 {
		t.Errorf("something was shown %d times", some)
	}
}
