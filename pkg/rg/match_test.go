package rg

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// compareWithStdlib runs one pattern over one line in every way there is. The
// pattern must mean the same to both, the line must be valid UTF-8.
func compareWithStdlib(t *testing.T, pattern string, line []byte) {
	t.Helper()
	re, err := regexp.Compile("(?m:" + pattern + ")")
	if err != nil {
		return
	}
	tree, err := parsePattern(pattern, false, false, false, false, false, false)
	if err != nil {
		return
	}
	prog, ok := compile(tree, true)
	if !ok {
		return
	}
	want := re.FindIndex(line)
	start, end, _, found := newSimulator(prog, nil).find(line, 0)
	if found != (want != nil) || found && (start != want[0] || end != want[1]) {
		t.Errorf("%q on %q: simulator %d %d %v, want %v", pattern, line, start, end, found, want)
	}
	_, _, v := newLazyDFA(prog, true, nil).find(line, 0, true)
	if v != unsure && (v == matched) != (want != nil) {
		t.Errorf("%q on %q: automaton %v, want %v", pattern, line, v, want)
	}
	compareGuide(t, pattern, prog, line, 0)
	need := requiredOf(tree)
	if f, exact := need.finder(); f != nil {
		at := f.index(line, 0)
		if at < 0 && want != nil || exact && (at >= 0) != (want != nil) {
			t.Errorf("%q on %q: candidate %d (exact %v), want %v", pattern, line, at, exact, want)
		}
	}
}

// compareGuide finds every match of a text, from each position, by the guide
// and by the simulator.
func compareGuide(t *testing.T, pattern string, prog *program, text []byte, from int) {
	t.Helper()
	sim, g := newSimulator(prog, nil), newGuide(prog, text, from, nil)
	for pos := from; pos <= len(text); pos++ {
		start, end, _, found := sim.find(text, pos)
		if a, b, ok := g.find(pos); ok != found || found && (a != start || b != end) {
			t.Errorf("%q on %q from %d: guide %d %d %v, simulator %d %d %v", pattern, text, pos, a, b, ok, start, end, found)
		}
	}
}

func TestGuideLikeSimulator(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	patterns := []string{`a+b|a`, `(?s)a.*?b|\n`, `\bfoo\b|o+$`, `(a|)+b|x*`, `\w+\s+\w+`, `^a|b$|\Ak|\z`, `(?:a*)*b|a`, `(?i)k+\b.|\B`}
	for k := range 5000 {
		pattern := patterns[k%len(patterns)]
		if k >= len(patterns) && r.IntN(2) == 0 {
			pattern = asciiPattern(r, 4)
		}
		tree, err := parsePattern(pattern, false, false, false, true, false, true)
		if err != nil {
			continue
		}
		prog, ok := compile(tree, false)
		if !ok {
			continue
		}
		text := randomLine(r)
		for range r.IntN(4) {
			text = append(append(text, '\n'), randomLine(r)...)
		}
		if r.IntN(4) == 0 {
			text = append(text, "\xc3o\xff"...)
		}
		compareGuide(t, pattern, prog, text, r.IntN(len(text)+1))
	}
}

// TestAssertionBehindSkippedText: an assertion that failed where a match came to
// nothing is looked at again where the next one may begin.
func TestAssertionBehindSkippedText(t *testing.T) {
	root := t.TempDir()
	put(t, root, "f.txt", "ék\nx\n", "g.txt", "é kkz foo\n")
	for pattern, want := range map[string]int64{`(?:k|)^x`: 1, `é?(?:kk|)\bfoo`: 1} {
		for _, multi := range []bool{false, true} {
			if r := find(t, Query{Root: root, Pattern: pattern, Multiline: multi}); r.Matches != want {
				t.Errorf("%s, multiline %v: %d matches, want %d", pattern, multi, r.Matches, want)
			}
		}
	}
	tree, err := parsePattern(`(?:k|)^.`, false, false, false, true, false, false)
	if err != nil {
		t.Fatal(err)
	}
	prog, _ := compile(tree, false)
	if start, end, _, ok := newSimulator(prog, nil).find([]byte("ak\nx"), 1); !ok || start != 3 || end != 4 {
		t.Errorf("%d %d %v, want 3 4", start, end, ok)
	}
}

// TestGuideBlocks has a text of many blocks.
func TestGuideBlocks(t *testing.T) {
	tree, err := parsePattern(`a+b|a|[a-z]+x\n?`, false, false, false, true, false, false)
	if err != nil {
		t.Fatal(err)
	}
	prog, _ := compile(tree, false)
	text := []byte(strings.Repeat(strings.Repeat("a", 3*guideBlock)+"b\nzzx\n", 2))
	sim, g := newSimulator(prog, nil), newGuide(prog, text, 0, nil)
	for _, pos := range []int{0, 1, guideBlock - 1, guideBlock, guideBlock + 1, 3*guideBlock + 1, 3*guideBlock + 2, len(text) - 4, len(text), 5} {
		start, end, _, found := sim.find(text, pos)
		if a, b, ok := g.find(pos); ok != found || a != start || b != end {
			t.Errorf("from %d: guide %d %d %v, simulator %d %d %v", pos, a, b, ok, start, end, found)
		}
	}
}

// asciiPattern builds a pattern that both engines read alike.
func asciiPattern(r *rand.Rand, depth int) string {
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	if depth == 0 || r.IntN(4) == 0 {
		return pick("a", "b", "ab", "foo", ".", "[ab]", "[^a]", "^", "$", "x", "[a-c]", "é", "(?i:fo)", "(?i:k)", "abc", "[fo]", `\x{e9}`, " ")
	}
	sub := func() string { return asciiPattern(r, depth-1) }
	switch r.IntN(7) {
	case 0, 1, 2:
		return sub() + sub()
	case 3:
		return "(" + sub() + "|" + sub() + ")"
	case 4:
		return "(?:" + sub() + ")" + pick("*", "+", "?", "{2}", "{1,3}", "*?", "+?", "??", "{2,}")
	case 5:
		return "(?:" + sub() + "|" + sub() + "|)"
	}
	return sub() + pick(".*", "b+", "") + sub()
}

func randomLine(r *rand.Rand) []byte {
	var b []byte
	for range r.IntN(24) {
		b = utf8.AppendRune(b, []rune("aabbcfoox ékK\u212a")[r.IntN(14)])
	}
	return b
}

func TestMatcherLikeStdlib(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		pattern := asciiPattern(r, 4)
		for range 8 {
			compareWithStdlib(t, pattern, randomLine(r))
		}
		if t.Failed() {
			return
		}
	}
}

func FuzzMatcherLikeStdlib(f *testing.F) {
	f.Add("a(b|c)*d", "xabcbcd")
	f.Add("(?i)k+|é{2}", "ééK")
	f.Fuzz(func(t *testing.T, pattern, line string) {
		if len(pattern) > 60 || len(line) > 200 || !utf8.ValidString(line) || strings.Contains(line, "\n") ||
			strings.ContainsAny(pattern, `\{&-~#`) || strings.Contains(pattern, "(?") || strings.Contains(pattern, "[") {
			return // what the two mean differently
		}
		compareWithStdlib(t, pattern, []byte(line))
	})
}

func FuzzPatternNeverPanics(f *testing.F) {
	for _, p := range fixedPatterns {
		f.Add(p.pattern, "some foo text\n\xff é")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 200 || len(text) > 2000 {
			return
		}
		q := Query{Pattern: pattern, Root: "/", Multiline: len(text)%2 == 0}
		p, err := newPlan(&q)
		if err != nil {
			return
		}
		m := newMatcher(p, nil)
		lines := []byte(text)
		if p.multi {
			m.nextMatch(lines, 0)
			return
		}
		for pos := 0; pos < len(lines); {
			start, end, ok := m.nextLine(lines, pos)
			if !ok {
				break
			}
			if start < pos || end < start || bytes.IndexByte(lines[start:end], '\n') >= 0 {
				t.Fatalf("%q on %q: line %d to %d from %d", pattern, text, start, end, pos)
			}
			if _, _, _, found := m.simulate().find(lines[start:end], 0); !found {
				t.Fatalf("%q on %q: line %q does not match", pattern, text, lines[start:end])
			}
			pos = end + 1
		}
	})
}

// compareKernels runs the finders beside what is obviously right.
func compareKernels(t *testing.T, text []byte, needle string, fold bool) {
	t.Helper()
	if needle == "" {
		return
	}
	hay := text
	if fold {
		needle = lowerASCII(needle)
		hay = []byte(lowerASCII(string(text)))
	}
	many := newManyFinder([]string{needle, needle + "x", "zq"}, fold)
	one := newLiteralFinder(needle, fold)
	for pos := 0; pos <= len(text); pos += 1 + pos/3 {
		want := bytes.Index(hay[pos:], []byte(needle))
		if want >= 0 {
			want += pos
		}
		if got := one.index(text, pos); got != want {
			t.Errorf("%q from %d in %q: %d, want %d", needle, pos, text, got, want)
		}
		if got := one.indexPortable(text, pos); got != want {
			t.Errorf("%q from %d in %q: portable %d, want %d", needle, pos, text, got, want)
		}
		if z := bytes.Index(hay[pos:], []byte("zq")); z >= 0 && (want < 0 || z+pos < want) {
			want = z + pos
		}
		if got := many.index(text, pos); got != want {
			t.Errorf("%q or zq from %d in %q: %d, want %d", needle, pos, text, got, want)
		}
		if got := many.indexPortable(text, pos); got != want {
			t.Errorf("%q or zq from %d in %q: portable %d, want %d", needle, pos, text, got, want)
		}
	}
	var set [256]bool
	for i := range len(needle) {
		set[needle[i]] = true
	}
	if f := newByteFinder(&set); f != nil {
		want := slices.IndexFunc(text, func(c byte) bool { return set[c] })
		if got := f.index(text, 0); got != want {
			t.Errorf("a byte of %q in %q: %d, want %d", needle, text, got, want)
		}
	}
}

func TestKernels(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 4000 {
		text := make([]byte, r.IntN(300))
		for i := range text {
			text[i] = "abcABCxqz \xc3\xa9\x00@`"[r.IntN(15)]
		}
		needle := make([]byte, 1+r.IntN(6))
		for i := range needle {
			needle[i] = "abcABCx \xc3\xa9@`"[r.IntN(12)]
		}
		compareKernels(t, text, string(needle), r.IntN(2) == 0)
		if t.Failed() {
			return
		}
	}
}

func FuzzKernels(f *testing.F) {
	f.Add([]byte(strings.Repeat("ab", 100)+"abc"), "abc", true)
	f.Fuzz(func(t *testing.T, text []byte, needle string, fold bool) {
		if len(text) < 4000 && len(needle) < 60 {
			compareKernels(t, text, needle, fold)
		}
	})
}

func TestUTF8Ranges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	edges := []rune{0, 0x41, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff}
	for range 300 {
		lo, hi := edges[r.IntN(len(edges))], edges[r.IntN(len(edges))]
		if r.IntN(2) == 0 {
			lo, hi = rune(r.IntN(0x11000)), rune(r.IntN(0x11000))
		}
		set := runeSet{min(lo, hi), max(lo, hi), 0x30, 0x39}.normal()
		auto := newByteSet(set)
		for range 300 {
			c := rune(r.IntN(0x110000))
			if r.IntN(2) == 0 {
				c = edges[r.IntN(len(edges))] + rune(r.IntN(3)) - 1
			}
			if !utf8.ValidRune(c) {
				continue
			}
			state := int32(0)
			for _, b := range utf8.AppendRune(nil, c) {
				if state >= 0 {
					state = auto.step(state, b)
				}
			}
			if (state == accept) != set.has(c) {
				t.Fatalf("%x in %x: %v", c, set, state)
			}
		}
	}
}
