package truncate

import (
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "a\tb\nc", "a\tb\nc"},
		{"colour", "\x1b[1;31merror\x1b[0m: x\n", "error: x\n"},
		{"colon parameters", "\x1b[38:2:1:2:3mx\x1b[m\n", "x\n"},
		{"title", "\x1b]0;my title\x07prompt\n", "prompt\n"},
		{"link", "\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\\n", "text\n"},
		{"charset", "\x1b(Bx\x1b=y\n", "xy\n"},
		{"device string", "\x1bP1$r0m\x1b\\ok\n", "ok\n"},
		{"crlf", "a\r\nb\r\r\n", "a\nb\n"},
		{"progress", "10%\r50%\r100%\ndone\n", "100%\ndone\n"},
		{"progress, of two steps", "step 1\rstep 2\n\r 50%\r100%\n", "step 2\n100%\n"},
		{"spinner of returns", "|\r/\r-\r\\\r|\n", "|\n"},
		{"numbers filled up", "\r  9%\r 10%\r100%\r\n\r 9\r10\r11\n", "100%\n11\n"},
		{"CR LF lines that were joined", "alpha\r beta\r gamma\r\nx\r,y\r,z\n", "alpha^M beta^M gamma\nx^M,y^M,z\n"},
		{"lines of a CR LF file", "(a\r)\n[b\r\tb\r\n x\rc\n", "(a^M)\n[b^M\tb\n x^Mc\n"},
		{"return, then an erased line", "ab\rx\x1b[2Ky\rz\n", "z\n"},
		{"progress, erased with blanks", "    \t \rnext\n\r  \rlast\n  \r\n", "next\nlast\n  \n"},
		{"progress, erased", "10%\r\x1b[K50%\r\x1b[Kdone\n", "done\n"},
		{"erased and left empty", "10%\r\x1b[K\nnext\n", "\nnext\n"},
		{"whole line erased", "junk\x1b[2Kkept\n", "kept\n"},
		{"column one", "old\x1b[1Gnew\n", "new\n"},
		{"erase to the end at the end", "kept\x1b[K\n", "kept\n"},
		{"backspace", "abx\bc\n", "abc\n"},
		{"backspace over a wide character", "a漢\bb\n", "ab\n"},
		{"overstrike", "N\bNA\bAM\bME\bE\n", "NAME\n"},
		{"backspace at the start", "\b\bx\n", "x\n"},
		{"spinner", "|\b/\b-\bok\n", "ok\n"},
		{"other controls", "a\x00b\x07c\x0ed\x7f\n", "abcd\n"},
		{"open at the end", "last\r", "last"},
		{"newline ends a sequence", "\x1b]0;never closed\nnext\x1b[31\nmore\n", "\nnext\nmore\n"},
		{"escape inside a sequence", "\x1b[3\x1b[31mx\n", "x\n"},
		{"cancelled", "\x1b[31\x18mx\n", "mx\n"},
		{"text after a broken sequence", "\x1bé\n", "é\n"},
		{"private mode", "\x1b[?25l\x1b[?2Kx\x1b[?25h\n", "x\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := String(c.in, Options{Clean: true})
			if r.Text != c.want || r.Truncated {
				t.Errorf("got %q, want %q", r.Text, c.want)
			}
			if want := int64(len(c.in) - len(c.want)); r.Cleaned != want {
				t.Errorf("Cleaned is %d, want %d", r.Cleaned, want)
			}
			w := New(Options{Clean: true})
			for i := range len(c.in) {
				_, _ = io.WriteString(w, c.in[i:i+1])
				w.Snapshot()
			}
			if got := w.Close(); got != r {
				t.Errorf("byte by byte: %q", got.Text)
			}
		})
	}
}

func TestCleanKeepsLineNumbersAndRawSpill(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	parts := []string{"text", "\x1b[31m", "\x1b[K", "\x1b]0;t\x07", "\r", "\b", "é", "\n", "error: bad\n", "\x1b", "[2K", "\x00"}
	for range 500 {
		var b strings.Builder
		for range r.IntN(3000) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		in := b.String()
		n, spill, spill2 := 0, &memSpill{}, &memSpill{}
		o := Options{Clean: true, Limits: Limits{Lines: 50, Bytes: 2000}}
		res := String(in, spill.options(o, &n))
		if strings.ContainsAny(res.Text, "\x1b\r\b\x00") {
			t.Fatalf("controls are left in %q", res.Text)
		}
		if d := res.TotalLines - int64(len(splitLines(in))); d > 0 || d < -1 {
			t.Fatalf("%d lines, the raw output has %d", res.TotalLines, len(splitLines(in)))
		}
		if res.Truncated && spill.String() != in {
			t.Fatal("spill is not raw")
		}
		if got := chopped(r, in, spill2.options(o, &n)); got != res || spill.String() != spill2.String() {
			t.Fatalf("other chunks, other result:\n%+v\n%+v", got, res)
		}
	}
}

func TestCleanProgressOfAnyLength(t *testing.T) {
	n, spill := 0, &memSpill{cap: 1 << 20}
	w := New(spill.options(Options{Clean: true}, &n))
	for range 200_000 {
		_, _ = io.WriteString(w, "\rdownloading, please wait ...")
	}
	_, _ = io.WriteString(w, "\rdone\n")
	r := w.Close()
	if r.Text != "done\n" || r.Truncated || n != 1 || r.Incomplete == "" {
		t.Errorf("%q, truncated %t, %d spills, incomplete %q", r.Text, r.Truncated, n, r.Incomplete)
	}
}

func FuzzClean(f *testing.F) {
	f.Add("\x1b[31mx\r\n\x1b]0;t\x07\b")
	f.Fuzz(func(t *testing.T, in string) {
		r := String(in, Options{Clean: true, Limits: Limits{Lines: -1, Bytes: -1, LineChars: -1}})
		for _, c := range r.Text {
			if isControl(c) {
				t.Fatalf("control %q is left of %q", c, in)
			}
		}
		if strings.Count(r.Text, "\n") != strings.Count(in, "\n") {
			t.Fatalf("newlines of %q changed", in)
		}
	})
}

// TestPlainLen: the words of eight bytes find what looking at each byte finds.
func TestPlainLen(t *testing.T) {
	naive := func(p []byte) int {
		for i, b := range p {
			if isControl(rune(b)) {
				return i
			}
		}
		return len(p)
	}
	r := rand.New(rand.NewPCG(1, 2))
	plain := []byte("\n\t a~\x80\xff\x1f\x7f\x00\r\x1b\xc2\xa0\x20")
	for range 200_000 {
		p := make([]byte, r.IntN(40))
		for i := range p {
			if p[i] = plain[r.IntN(len(plain))]; r.IntN(3) > 0 {
				p[i] = plain[r.IntN(7)]
			}
		}
		if got, want := plainLen(p), naive(p); got != want {
			t.Fatalf("%q: %d, not %d", p, got, want)
		}
	}
}
