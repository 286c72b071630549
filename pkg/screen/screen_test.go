package screen

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var standard = []Size{{Rows: 24, Cols: 80}}

func TestReplay(t *testing.T) {
	small := []Size{{Rows: 3, Cols: 10}}
	for _, c := range []struct {
		name, output string
		sizes        []Size
		text         string
		row, col     int
		alternate    bool
	}{
		{"nothing", "", standard, "", 1, 1, false},
		{"lines", "one\r\ntwo\r\n", standard, "one\ntwo", 3, 1, false},
		{"a line feed alone keeps the column", "one\ntwo", standard, "one\n   two", 2, 7, false},
		{"what has scrolled away", "1\r\n2\r\n3\r\n4\r\n5", small, "3\n4\n5", 3, 2, false},
		{"a long line goes on in the next", "0123456789ab", small, "0123456789\nab", 2, 3, false},
		{"a counter over itself", "  1%\r 50%\r100%\x1b[K", standard, "100%", 1, 5, false},
		{"moved and erased", "\x1b[2J\x1b[3;5Hx\x1b[1;1Htop\x1b[2;1Hgone\x1b[2K", standard, "top\n\n    x", 2, 5, false},
		{"colours", "\x1b[1;31mred\x1b[0m \x1b[38;5;200mpink\x1b[m", standard, "red pink", 1, 9, false},
		{"wide characters", "日本語|\r\nñ|é|\U0001f44d|", standard, "日本語|\nñ|é|\U0001f44d|", 2, 8, false},
		{"over half of a wide character", "日\x1b[1;2Hx", standard, " x", 1, 3, false},
		{"marks", "e\u0301x", standard, "e\u0301x", 1, 3, false},
		{"lines drawn by a character set", "\x1b(0lqk\x1b(B", standard, "┌─┐", 1, 4, false},
		{"the alternate screen", "shell\r\n\x1b[?1049h\x1b[Heditor", standard, "editor", 1, 7, true},
		{"the alternate screen left", "shell\r\n\x1b[?1049h\x1b[Heditor\x1b[?1049l$ ", standard, "shell\n$", 2, 3, false},
		{"a region that scrolls", "head\x1b[24;1Hfoot\x1b[2;23r\x1b[23;1Hline\n\x1b[r", standard, "head" + strings.Repeat("\n", 21) + "line\n\nfoot", 1, 1, false},
		{"a region larger than the screen", "\x1b[1;9999r\x1b[H\x1b[99999Lx\x1b[99999M\x1b[My", standard, "y", 1, 2, false},
		{"questions are answered by nobody", "\x1b[c\x1b[6n\x1b[>c\x1b]11;?\x07\x1b[?1$pok", standard, "ok", 1, 3, false},
		{"bytes that are no text", "a\xff\x00b", standard, "ab", 1, 3, false},
	} {
		s, err := Replay(t.Context(), []byte(c.output), 0, c.sizes)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if s.Text() != c.text || s.Row != c.row || s.Col != c.col || s.Alternate != c.alternate || len(s.Lines) != s.Rows {
			t.Errorf("%s: %q at %d,%d alternate %v, want %q at %d,%d alternate %v", c.name, s.Text(), s.Row, s.Col, s.Alternate, c.text, c.row, c.col, c.alternate)
		}
		if got := Alternate([]byte(c.output)); got != c.alternate {
			t.Errorf("%s: Alternate is %v", c.name, got)
		}
	}
}

// TestResize shows output on the terminal as large as it was when it came.
func TestResize(t *testing.T) {
	output := []byte("0123456789\x1b[2J\x1b[H0123456789")
	sizes := []Size{{0, 2, 5}, {10, 3, 10}, {17, 4, 20}}
	for from, want := range map[int64]Screen{
		0:  {Rows: 4, Cols: 20, Row: 1, Col: 11},
		10: {Rows: 4, Cols: 20, Row: 1, Col: 11},
		17: {Rows: 4, Cols: 20, Row: 1, Col: 11},
	} {
		s, err := Replay(t.Context(), output[from:], from, sizes)
		if err != nil || s.Text() != "0123456789" || s.Rows != want.Rows || s.Cols != want.Cols || s.Row != want.Row || s.Col != want.Col {
			t.Errorf("from %d: %+v %v", from, s, err)
		}
	}
	s, err := Replay(t.Context(), []byte("0123456789"), 0, sizes[:1])
	if err != nil || s.Text() != "01234\n56789" {
		t.Errorf("%+v %v", s, err)
	}
}

// TestLastLines shows of plain lines what showing all of them does, in no time.
func TestLastLines(t *testing.T) {
	sizes := []Size{{Rows: 5, Cols: 20}}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		var b strings.Builder
		for range r.IntN(20) {
			b.WriteString(strings.Repeat("ab日", r.IntN(15)) + []string{"", "\x1b[1;31mred\x1b[0m", "\t", "  1%\r 50%", "x\b"}[r.IntN(5)])
			b.WriteString([]string{"\r\n", "\r\n", "\r\n", "\n", ""}[r.IntN(5)])
		}
		short, err := Replay(t.Context(), []byte(b.String()), 0, sizes)
		all, failed := Replay(t.Context(), []byte("\x1b[H"+b.String()), 0, sizes) // which makes it no plain one
		if err != nil || failed != nil || short.Text() != all.Text() || short.Row != all.Row || short.Col != all.Col {
			t.Errorf("%q: %q at %d,%d, want %q at %d,%d", b.String(), short.Text(), short.Row, short.Col, all.Text(), all.Row, all.Col)
		}
	}
	begin := time.Now()
	if _, err := Replay(t.Context(), []byte(strings.Repeat("a line of output\r\n", 2_000_000)), 0, sizes); err != nil || time.Since(begin) > 2*time.Minute {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}

// TestHostile has the screen stand whatever a program prints, and in bounded time.
func TestHostile(t *testing.T) {
	pieces := []string{
		"\x1b[", "\x1b]", "\x1b(0", "\x1bP", "\x1b\\", "\x1b#8", "\x1bM", "\x1bD", "\x1b7", "\x1b8", "\x1bc", "\x1b[?1049h", "\x1b[?1049l",
		"\x1b[?6h", "\x1b[?69h", "\x1b[999999999b", "\x1b[99999999I", "\x1b[99999999Z", "\x1b[3;2r", "\x1b[0;0r", "\x1b[5;5r", "\x1b[1;99999r",
		"\x1b[99999999:3@", "\x1b[10;20s", "\x1b[70;20s", "\x1b[c", "\x1b[6n", "日", "\U0001f44d\U0001f3fd", "\u0301", "\u200d", "\ufe0f", "\r\n", "\t",
		"hello world ", "\x1b[2J", "\x1b[99999;99999H", "\x1b[4h", "\x1b[?7l", "\x1b[38;2;1;2;3m", "\x1b]0;t\x07", "\xff\xfe", "\x9b5A",
	}
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		for range 60 {
			switch r.IntN(6) {
			case 0:
				b.WriteByte(byte(r.IntN(256)))
			case 1:
				fmt.Fprintf(&b, "\x1b[%d;%d%c", r.IntN(100_000), r.IntN(120), 0x40+r.IntN(0x3f))
			default:
				b.WriteString(pieces[r.IntN(len(pieces))])
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		sizes := []Size{{0, uint16(1 + r.IntN(40)), uint16(1 + r.IntN(100))}, {int64(b.Len() / 2), uint16(1 + r.IntN(40)), uint16(1 + r.IntN(100))}}
		if s, err := Replay(ctx, []byte(b.String()), 0, sizes); err != nil {
			t.Errorf("seed %d: %.400v: %q", seed, err, b.String())
		} else if len(s.Lines) != s.Rows {
			t.Errorf("seed %d: %d lines of %d", seed, len(s.Lines), s.Rows)
		}
		cancel()
	}
}

func TestReplayEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := Replay(ctx, []byte("x"+strings.Repeat("\x1b[999999b", 1_000_000)), 0, []Size{{Rows: 1000, Cols: 1000}})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 2*time.Minute {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}
