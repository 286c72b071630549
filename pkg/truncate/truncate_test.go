package truncate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// memSpill is a SpillFile in memory with an optional cap.
type memSpill struct {
	bytes.Buffer
	cap    int // 0: none
	fail   error
	closed int
}

func (m *memSpill) Write(p []byte) (int, error) {
	if m.fail != nil {
		return 0, m.fail
	}
	if m.cap > 0 && m.Len()+len(p) > m.cap {
		n, _ := m.Buffer.Write(p[:m.cap-m.Len()])
		return n, ErrSpillFull
	}
	return m.Buffer.Write(p)
}
func (m *memSpill) Close() error { m.closed++; return nil }
func (m *memSpill) Path() string { return "/spill/call-1.txt" }

// opened counts how often a spill is opened.
func (m *memSpill) options(o Options, opened *int) Options {
	o.Spill = func() (SpillFile, error) { *opened++; return m, nil }
	return o
}

func readOn(path string, line int64) string {
	return fmt.Sprintf("agentkit read %s --offset %d", path, line)
}

// numbered returns n lines "line I" with a newline after each.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

// checker matches a Result's Text against the input it was made from.
type checker struct {
	lines []string // of the input, with their newlines
	o     Limits
	res   Result
}

func splitLines(s string) []string {
	l := strings.SplitAfter(s, "\n")
	if l[len(l)-1] == "" {
		l = l[:len(l)-1]
	}
	return l
}

func markerRE() *regexp.Regexp {
	return regexp.MustCompile(`^\[… (\d+) lines? \((\d+)(?:-(\d+))?\), (\d+) bytes? left out …\]$`)
}

func inlineRE() *regexp.Regexp {
	return regexp.MustCompile(`^([^…]*?)(?:\[… (\d+) bytes left out …\]|…(\d+)…|…)([^…]*)$`)
}

// check verifies limits, markers and footer of a Result for an input that holds
// neither "…" nor invalid bytes.
func (c *checker) check() error {
	lim := c.o.Resolved()
	text, r := c.res.Text, c.res
	if len(text) > lim.Bytes || countLines([]byte(text)) > lim.Lines {
		return fmt.Errorf("%d bytes, %d lines exceed %+v", len(text), countLines([]byte(text)), lim)
	}
	if !utf8.ValidString(text) {
		return errors.New("text is not valid UTF-8")
	}
	if r.TotalLines != int64(len(c.lines)) {
		return fmt.Errorf("TotalLines %d, want %d", r.TotalLines, len(c.lines))
	}
	if !r.Truncated {
		if text != strings.Join(c.lines, "") {
			return errors.New("fitting text was changed")
		}
		return nil
	}
	return c.checkPieces(splitLines(text), lim)
}

// checkPieces walks the text's lines along the input's.
func (c *checker) checkPieces(shown []string, lim Limits) error {
	r := c.res
	at, left, leftBytes, shortened, inline := 0, 0, 0, 0, 0
	firstCut := 0
	note := func(line int) {
		if firstCut == 0 {
			firstCut = line
		}
	}
	marker, short := markerRE(), inlineRE()
	i := 0
	for ; i < len(shown) && (at < len(c.lines) || marker.MatchString(strings.TrimSuffix(shown[i], "\n"))); i++ {
		l := strings.TrimSuffix(shown[i], "\n")
		if strings.HasPrefix(l, "[truncated") || l == "…" && len(shown) == 1 {
			break
		}
		if n := utf8.RuneCountInString(l); n > lim.LineChars && !strings.HasPrefix(l, "[") {
			return fmt.Errorf("a line has %d characters, limit %d: %q", n, lim.LineChars, l)
		}
		if m := marker.FindStringSubmatch(l); m != nil {
			n, _ := strconv.Atoi(m[1])
			from, _ := strconv.Atoi(m[2])
			size, _ := strconv.Atoi(m[4])
			if from != at+1 || at+n > len(c.lines) || len(strings.Join(c.lines[at:at+n], "")) != size {
				return fmt.Errorf("marker %q is wrong at line %d: %d bytes", l, at+1, len(strings.Join(c.lines[at:min(at+n, len(c.lines))], "")))
			}
			note(from)
			at, left, leftBytes = at+n, left+n, leftBytes+size
			continue
		}
		want := strings.TrimSuffix(c.lines[at], "\n")
		if l != want {
			m := short.FindStringSubmatch(l)
			if m == nil || !strings.HasPrefix(want, m[1]) || !strings.HasSuffix(want, m[4]) || len(m[1])+len(m[4]) >= len(want) {
				return fmt.Errorf("line %d shown as %q is not from %q", at+1, l, want)
			}
			missing := len(want) - len(m[1]) - len(m[4])
			if s := m[2] + m[3]; s != "" && s != strconv.Itoa(missing) {
				return fmt.Errorf("line %d: %s bytes said to be missing, %d are", at+1, s, missing)
			}
			note(at + 1)
			shortened++
			inline += missing
		}
		at++
	}
	if at == 0 {
		left, leftBytes = len(c.lines), len(strings.Join(c.lines, ""))
		note(1)
	} else if at != len(c.lines) {
		return fmt.Errorf("lines after %d are neither shown nor said to be missing", at)
	}
	if r.LeftOutLines != int64(left) || r.LeftOutBytes != int64(leftBytes+inline) || r.ShortenedLines != int64(shortened) || r.TruncatedAtLine != int64(firstCut) {
		return fmt.Errorf("left out %d lines %d bytes, %d shortened, cut at %d; the Result says %+v", left, leftBytes+inline, shortened, firstCut, r)
	}
	if n := r.HeadLines + r.TailLines + r.ErrorLines + r.LeftOutLines; n != r.TotalLines {
		return fmt.Errorf("head, tail, errors and left out add up to %d of %d", n, r.TotalLines)
	}
	foot := strings.Join(shown[i:], "")
	if strings.HasPrefix(foot, "[truncated: ") && !strings.Contains(foot, plural(r.TotalLines, "line")+" and "+plural(r.TotalBytes, "byte")+" in all") {
		return fmt.Errorf("footer %q lacks the totals", foot)
	}
	return nil
}

func mustCheck(t *testing.T, input string, lim Limits, r Result) {
	t.Helper()
	c := checker{splitLines(input), lim, r}
	if input == "" {
		c.lines = nil
	}
	if err := c.check(); err != nil {
		t.Fatalf("%v\ntext:\n%s", err, r.Text)
	}
}

func TestFittingInputIsUnchanged(t *testing.T) {
	exact := strings.Repeat(strings.Repeat("x", 1023)+"\n", 50)
	for name, in := range map[string]string{
		"empty": "", "newline": "\n", "no final newline": "a\nb", "crlf": "a\r\nb\r\n", "2000 lines": numbered(2000),
		"exactly 51200 bytes": exact, "escape bytes": "\x1b[31mred\x1b[0m\r\n", "2000 wide characters": strings.Repeat("漢", 2000),
		"blank lines": strings.Repeat("\n", 2000), "nul": "a\x00b",
	} {
		t.Run(name, func(t *testing.T) {
			n, spill := 0, &memSpill{}
			r := String(in, spill.options(Options{}, &n))
			if r.Text != in || r.Truncated || n != 0 || r.TruncatedAtLine != 0 || r.TotalBytes != int64(len(in)) {
				t.Errorf("got %d bytes, truncated %t, %d spills", len(r.Text), r.Truncated, n)
			}
			mustCheck(t, in, Limits{}, r)
		})
	}
	line := strings.Repeat("y", 100)
	if r := String(line, Options{Limits: Limits{Bytes: 100}}); r.Text != line {
		t.Errorf("a line of exactly the limit became %q", r.Text)
	}
}

func TestOneOverTheLimitIsCut(t *testing.T) {
	for name, in := range map[string]string{
		"2001 lines": numbered(2001), "51201 bytes": strings.Repeat(strings.Repeat("x", 1023)+"\n", 50) + "x",
		"2001 characters": strings.Repeat("漢", 2001), "2001 blank": strings.Repeat("\n", 2001),
	} {
		t.Run(name, func(t *testing.T) {
			n, spill := 0, &memSpill{}
			r := String(in, spill.options(Options{ReadOn: readOn}, &n))
			if !r.Truncated || n != 1 || spill.String() != in || spill.closed != 1 || r.SpillBytes != int64(len(in)) {
				t.Errorf("truncated %t, %d spills, %d bytes in it, closed %d times", r.Truncated, n, spill.Len(), spill.closed)
			}
			mustCheck(t, in, Limits{}, r)
		})
	}
}

func TestShapeAndFooter(t *testing.T) {
	in := numbered(100_000)
	for shape, want := range map[Shape][2]int64{Head: {1000, 200}, Tail: {300, 900}} {
		n, spill := 0, &memSpill{}
		r := String(in, spill.options(Options{Shape: shape, ReadOn: readOn}, &n))
		mustCheck(t, in, Limits{}, r)
		if r.HeadLines < want[0] || r.TailLines < want[1] || r.HeadLines+r.TailLines < 1900 {
			t.Errorf("shape %d shows %d and %d lines", shape, r.HeadLines, r.TailLines)
		}
		foot := fmt.Sprintf("[truncated: 100000 lines and %d bytes in all; shown: the first %d, the last %d]\n[full output: /spill/call-1.txt]\n[read on: agentkit read /spill/call-1.txt --offset %d]",
			len(in), r.HeadLines, r.TailLines, r.HeadLines+1)
		if !strings.HasSuffix(r.Text, foot) {
			t.Errorf("footer is\n%s\nwant\n%s", r.Text[len(r.Text)-300:], foot)
		}
	}
}

func TestHugeLineShowsBothEnds(t *testing.T) {
	in := "START" + strings.Repeat("é", 5_000_000) + "END"
	for _, in := range []string{in, in + "\n", "before\n" + in + "\nafter\n"} {
		for _, lim := range []Limits{{}, {LineChars: -1}, {Bytes: 300}, {Lines: 4}, {LineChars: 20}} {
			r := String(in, Options{Limits: lim})
			mustCheck(t, in, lim, r)
			if !strings.Contains(r.Text, "START") || lim.LineChars != 20 && !strings.Contains(r.Text, "END") {
				t.Errorf("limits %+v: start or end is missing in %q", lim, r.Text[:min(len(r.Text), 400)])
			}
		}
	}
}

func TestManyLongLinesAreAllShown(t *testing.T) {
	in := strings.Repeat(strings.Repeat("z", 100_000)+"\n", 10)
	r := String(in, Options{})
	mustCheck(t, in, Limits{}, r)
	if r.ShortenedLines != 10 || r.LeftOutLines != 0 {
		t.Errorf("%d lines shortened, %d left out", r.ShortenedLines, r.LeftOutLines)
	}
}

func TestErrorLinesAreKept(t *testing.T) {
	errs := []string{
		"src/main.c:12:5: error: expected ';' before '}' token",
		"error[E0308]: mismatched types",
		"--- FAIL: TestAdd (0.00s)",
		"Traceback (most recent call last):",
		"TypeError: unsupported operand",
		"panic: runtime error: index out of range",
		"fatal: not a git repository",
		"ld: undefined reference to `foo'",
		"npm ERR! code ELIFECYCLE",
		"Exception in thread \"main\" java.lang.NullPointerException",
		"Tests: 3 failed, 12 passed",
		"bash: foo: command not found",
		"2026-01-01 ERROR connection lost",
		"Segmentation fault (core dumped)",
		"not ok 3 - parses",
		"make: *** [all] Error 2",
	}
	quiet := []string{
		"0 errors, 0 failed", "compiled without error handling? no errors", "cp src/errors/error.go build/", "failover ready", "12 passed, 0 failed", "read error_log", "pass: 9, fail: 0, error: 0",
	}
	for _, l := range errs {
		if !looksLikeError([]byte(l)) {
			t.Errorf("not seen as an error: %s", l)
		}
	}
	for _, l := range quiet {
		if looksLikeError([]byte(l)) {
			t.Errorf("seen as an error: %s", l)
		}
	}
	var b strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&b, "ok %d %s\n", i, quiet[i%len(quiet)])
		if i%3000 == 2999 {
			fmt.Fprintln(&b, errs[i/3000%len(errs)])
		}
	}
	for _, shape := range []Shape{Head, Tail} {
		r := String(b.String(), Options{Shape: shape})
		mustCheck(t, b.String(), Limits{}, r)
		for _, l := range errs {
			if !strings.Contains(r.Text, "\n"+l+"\n") {
				t.Errorf("shape %d: lost %q", shape, l)
			}
		}
	}
}

func TestOneErrorInASmallText(t *testing.T) {
	in := numbered(2500) + "main.c:3:1: error: oops\n" + numbered(2500)
	for _, lim := range []Limits{{Lines: 20}, {Lines: 8}, {Bytes: 1000}} {
		r := String(in, Options{Limits: lim})
		mustCheck(t, in, lim, r)
		if !strings.Contains(r.Text, "error: oops\n") || r.ErrorLines != 1 {
			t.Errorf("limits %+v: the error is lost:\n%s", lim, r.Text)
		}
	}
}

func TestErrorSearchIsBounded(t *testing.T) {
	line := "error: this line looks like an error, number "
	var b strings.Builder
	for i := range 400_000 {
		fmt.Fprintf(&b, "%s%d\n", line, i)
	}
	r := String(b.String(), Options{})
	mustCheck(t, b.String(), Limits{}, r)
	if r.ErrorLines < 10 || r.SearchedBytes > r.TotalBytes/3 {
		t.Errorf("%d error lines shown, %d of %d bytes searched", r.ErrorLines, r.SearchedBytes, r.TotalBytes)
	}
}

func TestInvalidBytes(t *testing.T) {
	in := "caf\xe9\n" + strings.Repeat("\xff", 20_000)
	n, spill := 0, &memSpill{}
	r := String(in, spill.options(Options{}, &n))
	if !utf8.ValidString(r.Text) || len(r.Text) > 51200 || !strings.HasPrefix(r.Text, "caf\ufffd\n") || spill.String() != in {
		t.Errorf("valid %t, %d bytes, spill %d of %d", utf8.ValidString(r.Text), len(r.Text), spill.Len(), len(in))
	}
	if r := String("a\xe9b", Options{}); r.Text != "a\ufffdb" || r.Replaced != 1 || r.Truncated {
		t.Errorf("got %+v", r)
	}
}

func TestSpillTrouble(t *testing.T) {
	in := numbered(20_000)
	boom := errors.New("disk full")
	for name, c := range map[string]struct {
		spill *memSpill
		open  error
		want  string
	}{
		"cap":   {&memSpill{cap: 100_000}, nil, fmt.Sprintf("the file with the full output is full: it holds the first 100000 of %d bytes", len(in))},
		"write": {&memSpill{fail: boom}, nil, fmt.Sprintf("writing the full output: disk full; the file holds the first 0 of %d bytes", len(in))},
		"open":  {&memSpill{}, boom, "keeping the full output: disk full"},
	} {
		t.Run(name, func(t *testing.T) {
			w := New(Options{Spill: func() (SpillFile, error) { return c.spill, c.open }})
			for l := range strings.Lines(in) {
				if n, err := io.WriteString(w, l); n != len(l) || err != nil {
					t.Fatalf("the producer got %d, %v", n, err)
				}
			}
			r := w.Close()
			if r.Incomplete != c.want || !strings.Contains(r.Text, "[incomplete: "+c.want) {
				t.Errorf("incomplete is %q, want %q", r.Incomplete, c.want)
			}
			if int64(c.spill.Len()) != r.SpillBytes || !strings.HasPrefix(in, c.spill.String()) {
				t.Errorf("spill holds %d bytes, said %d", c.spill.Len(), r.SpillBytes)
			}
			mustCheck(t, in, Limits{}, r)
			if again := w.Close(); again != r {
				t.Error("a second Close answers differently")
			}
			if _, err := w.Write(nil); !errors.Is(err, ErrClosed) {
				t.Errorf("write after close: %v", err)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	if r := (Limits{Tokens: 100}).Resolved(); r.Bytes != 400 || r.Lines != 2000 {
		t.Errorf("tokens: %+v", r)
	}
	if r := (Limits{Tokens: 1 << 30, Bytes: 1000}).Resolved(); r.Bytes != 1000 {
		t.Errorf("tokens loosened bytes: %+v", r)
	}
	in := strings.Repeat(strings.Repeat("w", 300)+"\n", 30_000)
	all := Limits{Lines: -1, Bytes: -1, LineChars: -1}
	if r := String(in, Options{Limits: all}); r.Text != in {
		t.Error("no limits, yet something is missing")
	}
	for _, lim := range []Limits{{Lines: -1}, {Bytes: -1}, {LineChars: -1}, {Lines: 1}, {Lines: 2}, {Lines: 3}, {Lines: 5}, {Bytes: 1}, {Bytes: 2}, {Bytes: 3}, {Bytes: 11}, {Bytes: 40}, {Bytes: 120}, {Bytes: 500}, {LineChars: 1}} {
		for _, shape := range []Shape{Head, Tail} {
			r := String(in, Options{Limits: lim, Shape: shape, ReadOn: readOn})
			mustCheck(t, in, lim, r)
		}
	}
}

// generate makes an input of a random nature.
func generate(r *rand.Rand) string {
	var b strings.Builder
	words := []string{"alpha", "größe", "漢字", "🙂", "error: x", "FAIL", "ok", "\t", " ", "fatal"}
	size := 1 << r.IntN(14)
	long := r.IntN(4) == 0
	for b.Len() < size {
		switch k := r.IntN(10); {
		case k < 6:
			b.WriteString(words[r.IntN(len(words))])
		case k < 9 || long && r.IntN(20) > 0:
			b.WriteString(strings.Repeat(words[r.IntN(len(words))], r.IntN(20)))
		default:
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func randomLimits(r *rand.Rand) Limits {
	return Limits{Lines: r.IntN(60) - 5, Bytes: r.IntN(3000) - 100, LineChars: r.IntN(300) - 30, Tokens: r.IntN(2) * r.IntN(500)}
}

// chopped writes s in random pieces.
func chopped(r *rand.Rand, s string, o Options) Result {
	w := New(o)
	for len(s) > 0 {
		n := min(1+r.IntN(1<<r.IntN(14)), len(s))
		_, _ = io.WriteString(w, s[:n])
		s = s[n:]
		if r.IntN(8) == 0 {
			w.Snapshot()
		}
	}
	return w.Close()
}

func TestProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 4000 {
		in := generate(r)
		lim := randomLimits(r)
		n, spill := 0, &memSpill{}
		o := spill.options(Options{Limits: lim, Shape: Shape(r.IntN(2))}, &n)
		if r.IntN(2) == 0 {
			o.ReadOn = readOn
		}
		res := String(in, o)
		c := checker{splitLines(in), lim, res}
		if err := c.check(); err != nil {
			t.Fatalf("case %d, limits %+v, shape %d: %v\ninput %q\ntext:\n%s", i, lim, o.Shape, err, in, res.Text)
		}
		if res.Truncated && spill.String() != in {
			t.Fatalf("case %d: spill holds %d of %d bytes", i, spill.Len(), len(in))
		}
		if !res.Truncated && n > 0 {
			t.Fatalf("case %d: a spill for input that fits", i)
		}
		spill2 := &memSpill{}
		if again := chopped(r, in, spill2.options(o, &n)); again != res || spill2.String() != spill.String() {
			t.Fatalf("case %d, limits %+v: other chunks, other result:\n%+v\n%+v", i, lim, res, again)
		}
	}
}

func TestChunksOfALargeStream(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	for i := 0; b.Len() < 40<<20; i++ {
		switch {
		case i%5000 == 0:
			fmt.Fprintf(&b, "x.go:%d: error: number %d\n", i, i)
		case i%70_000 == 1:
			b.WriteString(strings.Repeat("long ", 40_000) + "\n")
		default:
			fmt.Fprintf(&b, "%d: the quick brown fox jumps over the lazy dog\n", i)
		}
	}
	in := b.String()
	want := String(in, Options{Shape: Tail})
	mustCheck(t, in, Limits{}, want)
	if want.ErrorLines != suspectKeep {
		t.Errorf("%d error lines", want.ErrorLines)
	}
	w := New(Options{Shape: Tail})
	for s := in; len(s) > 0; {
		n := min(1+r.IntN(1<<r.IntN(18)), len(s))
		_, _ = io.WriteString(w, s[:n])
		s = s[n:]
	}
	if got := w.Close(); got != want {
		t.Errorf("other chunks, other result:\n%+v\n%+v", got, want)
	}
}

// TestErrorsWithoutLineLimit: a build's log that passes the limit of bytes alone
// still shows its start, its errors and its end.
func TestErrorsWithoutLineLimit(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		if i == 900 || i == 1100 {
			fmt.Fprintf(&b, "main.c:%d:3: error: expected expression\n", i)
		}
		fmt.Fprintf(&b, "cc -c src/%d.c\n", i)
	}
	lim := Limits{Lines: -1, Bytes: 10_000}
	got := String(b.String(), Options{Limits: lim, Shape: Tail})
	mustCheck(t, b.String(), lim, got)
	if got.HeadLines == 0 || got.TailLines == 0 || got.ErrorLines != 2 {
		t.Errorf("%d lines of the start, %d of the end, %d errors", got.HeadLines, got.TailLines, got.ErrorLines)
	}
}

func TestSnapshotWhileWriting(t *testing.T) {
	w := New(Options{Shape: Tail})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 50_000 {
			fmt.Fprintf(w, "line %d\n", i)
		}
	})
	for range 50 {
		if r := w.Snapshot(); len(r.Text) > 51200 || r.Truncated != (r.TotalLines > 2000) {
			t.Errorf("snapshot of %d lines: truncated %t", r.TotalLines, r.Truncated)
		}
	}
	wg.Wait()
	if r := w.Close(); r.TotalLines != 50_000 {
		t.Errorf("%d lines", r.TotalLines)
	}
}

func TestSnapshotEqualsClose(t *testing.T) {
	for _, in := range []string{"", "a", numbered(5000), numbered(3000) + "open"} {
		w := New(Options{})
		_, _ = io.WriteString(w, in)
		snap := w.Snapshot()
		if end := w.Close(); end != snap {
			t.Errorf("snapshot %+v, close %+v", snap, end)
		}
	}
}

func FuzzString(f *testing.F) {
	f.Add([]byte("a\nb\n"), uint16(3), uint16(10), uint16(5), true)
	f.Add([]byte(strings.Repeat("error: é\n", 50)), uint16(10), uint16(200), uint16(7), false)
	f.Add([]byte("\x1b[31mx\r\b\xff\n"), uint16(2), uint16(1), uint16(1), true)
	f.Fuzz(func(t *testing.T, in []byte, lines, size, chars uint16, clean bool) {
		lim := Limits{Lines: int(lines), Bytes: int(size), LineChars: int(chars)}
		n, spill := 0, &memSpill{}
		o := spill.options(Options{Limits: lim, Clean: clean, ReadOn: readOn}, &n)
		res := String(string(in), o)
		r := lim.Resolved()
		if len(res.Text) > r.Bytes || countLines([]byte(res.Text)) > r.Lines || !utf8.ValidString(res.Text) {
			t.Fatalf("%d bytes, %d lines, limits %+v", len(res.Text), countLines([]byte(res.Text)), lim)
		}
		if res.Truncated && !bytes.Equal(spill.Bytes(), in) {
			t.Fatal("spill is not the input")
		}
		o.Spill = func() (SpillFile, error) { return &memSpill{}, nil }
		w := New(o)
		for i, c := range slices.Collect(slices.Chunk(in, 3)) {
			_, _ = w.Write(c)
			if i < 20 {
				w.Snapshot()
			}
		}
		if got := w.Close(); got != res {
			t.Fatalf("other chunks, other result:\n%+v\n%+v", got, res)
		}
	})
}
