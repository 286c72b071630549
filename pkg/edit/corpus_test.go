package edit

import (
	"fmt"
	"go/build"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sources are real files of a few hundred lines: of Go's standard library, and
// two written for these tests.
func sources(t testing.TB) []string {
	t.Helper()
	names, _ := filepath.Glob("testdata/source/*")
	own := len(names)
	for _, dir := range []string{"strings", "bufio", "encoding/json", "go/parser", "net/http", "text/template"} {
		more, _ := filepath.Glob(filepath.Join(build.Default.GOROOT, "src", dir, "*.go"))
		names = append(names, more...)
	}
	var out []string
	for i, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(data), "\n"); n < 60 || n > 900 || strings.Contains(string(data), "\r") {
			continue
		}
		out = append(out, string(data))
		if i < own { // so that they are not lost among so many
			out = slices.Concat(out, slices.Repeat([]string{string(data)}, 9))
		}
	}
	if len(out) < 60 {
		t.Fatalf("only %d sources", len(out))
	}
	return out
}

// A madeCase is an edit whose right answer is known from the way it was made.
type madeCase struct {
	file  string
	edits []Edit
	after string   // what is right
	codes []string // refusals that are right too, or alone where after is ""
}

// scoreMade makes cases of one kind and judges the answers to them: at least
// 95 % right, none wrong. To say that the change is made already, where it is
// not, is wrong.
func scoreMade(t *testing.T, kind string, n int, build func(r *rand.Rand, lines []string) (madeCase, bool)) {
	t.Helper()
	files := sources(t)
	r := rand.New(rand.NewPCG(uint64(len(kind)), hashString(kind)))
	right, wrong, made := 0, 0, 0
	missed := map[string]int{}
	for tries := 0; made < n && tries < 50*n; tries++ {
		c, ok := build(r, strings.Split(files[r.IntN(len(files))], "\n"))
		if !ok {
			continue
		}
		made++
		out, err := Plan([]byte(c.file), c.edits, Options{})
		switch {
		case err == nil && c.after != "" && string(out.After) == c.after, err != nil && slices.Contains(c.codes, code(err)):
			right++
		case err == nil || code(err) == AlreadyApplied && !slices.Contains(c.codes, AlreadyApplied):
			wrong++
			if wrong <= 3 {
				t.Errorf("%s: wrong: %v\n%s", kind, err, describeMade(c, out))
			}
		default:
			if missed[code(err)]++; missed[code(err)] <= 2 && testing.Verbose() {
				t.Logf("%s: missed: %v\n%s", kind, err, describeMade(c, nil))
			}
		}
	}
	t.Logf("%s: %d of %d right, %d wrong, missed %v", kind, right, made, wrong, missed)
	if made < n || wrong > 0 || 100*right < 95*made {
		t.Errorf("%s: %d of %d right, %d wrong", kind, right, made, wrong)
	}
}

func describeMade(c madeCase, out *Outcome) string {
	var b strings.Builder
	for _, e := range c.edits {
		fmt.Fprintf(&b, "--- old\n%s\n--- new\n%s\n", e.Old, e.New)
	}
	if c.after != "" {
		fmt.Fprintf(&b, "--- want\n%s\n", Diff("f", "f", []byte(c.file), []byte(c.after), 2))
	}
	if out != nil {
		fmt.Fprintf(&b, "--- have\n%s\n", Diff("f", "f", []byte(c.file), out.After, 2))
	}
	return b.String()
}

// oneOf is a line that is indented, says something and stands once in the file
// without its indentation; -1 where a few tries find none.
func oneOf(r *rand.Rand, lines []string) int {
	file := "\n" + strings.Join(lines, "\n")
	for range 40 {
		k := r.IntN(len(lines))
		if body := strings.TrimSpace(lines[k]); len(body) > 6 && lead(lines[k]) != "" && strings.Count(file, body) == 1 {
			return k
		}
	}
	return -1
}

// stretch is a stretch of lines that begins and ends with lines that are not
// blank and stands once in the file.
func stretch(r *rand.Rand, lines []string, most int) (from, to int, ok bool) {
	file := strings.Join(lines, "\n")
	for range 40 {
		n := 1 + r.IntN(most)
		if from = r.IntN(len(lines)); from+n >= len(lines) {
			continue
		}
		to = from + n
		if !blank(lines[from]) && !blank(lines[to-1]) && strings.Count(file, strings.Join(lines[from:to], "\n")) == 1 {
			return from, to, true
		}
	}
	return 0, 0, false
}

// altered is a version of some lines in which one is another.
func altered(r *rand.Rand, lines []string) []string {
	out := slices.Clone(lines)
	k := r.IntN(len(out))
	switch r.IntN(3) {
	case 0:
		out = slices.Insert(out, k, lead(out[k])+fmt.Sprintf("added%d()", r.IntN(100)))
	case 1:
		out[k] = lead(out[k]) + fmt.Sprintf("replaced%d()", r.IntN(100))
	default:
		out[k] += fmt.Sprintf(" // note %d", r.IntN(100))
	}
	return out
}

// with is a text in which some lines have become others.
func with(lines []string, from, to int, news ...string) string {
	return strings.Join(slices.Concat(lines[:from], news, lines[to:]), "\n")
}

// Lines that are quoted with a line ending that the new text lacks stay lines
// of their own.
func TestMadeLineEnds(t *testing.T) {
	for _, ends := range [][4]string{{"", "\n", "", ""}, {"\n", "", "", ""}, {"\n", "\n", "", ""}, {"\n", "\n", "", "\n"}, {"\n", "\n", "\n", ""}} {
		scoreMade(t, fmt.Sprintf("line ends %q", ends), 200, func(r *rand.Rand, lines []string) (madeCase, bool) {
			from, to, ok := stretch(r, lines, 6)
			if !ok || from == 0 && ends[0] != "" {
				return madeCase{}, false
			}
			news := altered(r, lines[from:to])
			e := Edit{Old: ends[0] + strings.Join(lines[from:to], "\n") + ends[1], New: ends[2] + strings.Join(news, "\n") + ends[3]}
			return madeCase{strings.Join(lines, "\n"), []Edit{e}, with(lines, from, to, news...), nil}, true
		})
	}
	scoreMade(t, "lines removed", 200, func(r *rand.Rand, lines []string) (madeCase, bool) {
		from, to, ok := stretch(r, lines, 4)
		if !ok || from == 0 || blank(lines[from-1]) || blank(lines[to]) {
			return madeCase{}, false
		}
		old := strings.Join(lines[from:to], "\n")
		e := Edit{Old: [...]string{old, "\n" + old, old + "\n", "\n" + old + "\n", strings.TrimLeft(old, " \t"), strings.TrimLeft(old, " \t") + "\n"}[r.IntN(6)]}
		return madeCase{strings.Join(lines, "\n"), []Edit{e}, with(lines, from, to), nil}, strings.Count(strings.Join(lines, "\n"), e.Old) == 1
	})
}

// A line that is quoted without its indentation becomes several that have it.
func TestMadeIndentation(t *testing.T) {
	indented := func(by string, lines ...string) []string {
		out := slices.Clone(lines)
		for i := range out {
			out[i] = by + out[i]
		}
		return out
	}
	unit := func(lines []string, k int) string {
		if strings.HasPrefix(lines[k], "\t") {
			return "\t"
		}
		return indentUnit(len(lines), func(i int) string { return lines[i] })
	}
	forms := func(body, unit string) map[string][]string {
		return map[string][]string{
			"line after":  {body, "after_it(1)"},
			"line before": {"before_it(1)", body},
			"two instead": {"first_of(2)", "second_of(2)"},
			"in a block":  {"if ready {", unit + "go_on()", "}"},
			"in Python":   {"if ready:", unit + "go_on()", "else:", unit + "wait()"},
			"around it":   {"with lock:", unit + body},
			"on a call":   {"first_of(2,", unit + "second)", "third()"},
		}
	}
	for name := range forms("", "") {
		scoreMade(t, "indentation, "+name, 100, func(r *rand.Rand, lines []string) (madeCase, bool) {
			k := oneOf(r, lines)
			if k < 0 {
				return madeCase{}, false
			}
			body := strings.TrimSpace(lines[k])
			news := forms(body, unit(lines, k))[name]
			e := Edit{Old: body, New: strings.Join(news, "\n")}
			return madeCase{strings.Join(lines, "\n"), []Edit{e}, with(lines, k, k+1, indented(lead(lines[k]), news...)...), nil}, true
		})
		scoreMade(t, "indentation, all, "+name, 100, func(r *rand.Rand, lines []string) (madeCase, bool) {
			k := oneOf(r, lines)
			if k < 0 {
				return madeCase{}, false
			}
			body := strings.TrimSpace(lines[k])
			news := forms(body, unit(lines, k))[name]
			two := slices.Insert(slices.Clone(lines), k+1, "", lead(lines[k])+unit(lines, k)+body, "")
			want := slices.Concat(lines[:k], indented(lead(lines[k]), news...), []string{""}, indented(lead(lines[k])+unit(lines, k), news...), []string{""}, lines[k+1:])
			return madeCase{strings.Join(two, "\n"), []Edit{{Old: body, New: strings.Join(news, "\n"), All: true}}, strings.Join(want, "\n"), nil}, true
		})
	}
	scoreMade(t, "indentation of the first line alone", 100, func(r *rand.Rand, lines []string) (madeCase, bool) {
		k := oneOf(r, lines)
		if k < 0 {
			return madeCase{}, false
		}
		body, in := strings.TrimSpace(lines[k]), lead(lines[k])
		if goesOn(body, "") {
			return madeCase{}, false
		}
		e := Edit{Old: body, New: body + "\n" + in + "second(2)\n" + in + "third(3)"}
		return madeCase{strings.Join(lines, "\n"), []Edit{e}, with(lines, k, k+1, lines[k], in+"second(2)", in+"third(3)"), nil}, true
	})
	scoreMade(t, "a part of a line", 100, func(r *rand.Rand, lines []string) (madeCase, bool) {
		k := oneOf(r, lines)
		if k < 0 {
			return madeCase{}, false
		}
		body := strings.TrimSpace(lines[k])
		cut := strings.IndexByte(body, ' ')
		if cut < 3 || strings.Count(strings.Join(lines, "\n"), body[cut+1:]) != 1 || len(body)-cut < 5 {
			return madeCase{}, false
		}
		return madeCase{strings.Join(lines, "\n"), []Edit{{Old: body[cut+1:], New: "one(\ntwo)"}}, with(lines, k, k+1, lead(lines[k])+body[:cut+1]+"one(", "two)"), nil}, true
	})
}

// reworded is a line in which one word or number is another; false where it
// has none.
func reworded(r *rand.Rand, line, by string) (string, bool) {
	ts := tokens(line)
	var at []int
	for i, w := range ts {
		if isWord(w[0]) && len(w) > 1 {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return "", false
	}
	i := at[r.IntN(len(at))]
	ts[i] += by
	return strings.Join(ts, ""), true
}

// stale is a call whose line k is not what the file has.
func stale(r *rand.Rand, lines []string, most int) (from, to, k int, ok bool) {
	from, to, ok = stretch(r, lines, most)
	if !ok || to-from < 4 {
		return 0, 0, 0, false
	}
	for range 10 {
		if k = from + r.IntN(to-from); len(strings.TrimSpace(lines[k])) > 8 {
			return from, to, k, true
		}
	}
	return 0, 0, 0, false
}

// A change that is not there is never called made, however much of the rest of
// the new text is there.
func TestMadeStale(t *testing.T) {
	refused := []string{NoMatch, Conflict, Ambiguous}
	scoreMade(t, "the line that changes is stale", 200, func(r *rand.Rand, lines []string) (madeCase, bool) {
		from, to, k, ok := stale(r, lines, 16)
		if !ok {
			return madeCase{}, false
		}
		seed := r.Uint64()
		same := func(by string) (string, bool) { return reworded(rand.New(rand.NewPCG(seed, 1)), lines[k], by) }
		was, ok := same("Old9")
		now, _ := same("2")
		if r.IntN(2) == 0 {
			now += " // " + now // longer: the new text is not the nearer one for its length
		}
		old, news := slices.Clone(lines[from:to]), slices.Clone(lines[from:to])
		old[k-from], news[k-from] = was, now
		return madeCase{strings.Join(lines, "\n"), []Edit{{Old: strings.Join(old, "\n"), New: strings.Join(news, "\n")}}, "", refused}, ok
	})
	scoreMade(t, "a line beside the change is stale", 200, func(r *rand.Rand, lines []string) (madeCase, bool) {
		from, to, k, ok := stale(r, lines, 16)
		if !ok {
			return madeCase{}, false
		}
		was, ok := reworded(r, lines[k], "Old9")
		c := from + r.IntN(to-from)
		now, ok2 := reworded(r, lines[c], "2")
		if !ok || !ok2 || c == k {
			return madeCase{}, false
		}
		old := slices.Clone(lines[from:to])
		old[k-from] = was
		news := slices.Clone(old)
		news[c-from] = now
		return madeCase{strings.Join(lines, "\n"), []Edit{{Old: strings.Join(old, "\n"), New: strings.Join(news, "\n")}}, with(lines, c, c+1, now), nil}, true
	})
	scoreMade(t, "a line beside one that goes is stale", 200, func(r *rand.Rand, lines []string) (madeCase, bool) {
		from, to, k, ok := stale(r, lines, 16)
		if !ok {
			return madeCase{}, false
		}
		was, ok := reworded(r, lines[k], "Old9")
		c := from + r.IntN(to-from)
		if !ok || c == k || blank(lines[c]) || c > 0 && lines[c-1] == lines[c] || lines[c+1] == lines[c] {
			return madeCase{}, false
		}
		old := slices.Clone(lines[from:to])
		old[k-from] = was
		news := slices.Delete(slices.Clone(old), c-from, c-from+1)
		return madeCase{strings.Join(lines, "\n"), []Edit{{Old: strings.Join(old, "\n"), New: strings.Join(news, "\n")}}, with(lines, c, c+1), refused}, true
	})
	scoreMade(t, "a line that comes is like one that is there", 200, func(r *rand.Rand, lines []string) (madeCase, bool) {
		from, to, k, ok := stale(r, lines, 16)
		if !ok {
			return madeCase{}, false
		}
		was, ok := reworded(r, lines[k], "Old9")
		c := from + r.IntN(to-from)
		come, ok2 := reworded(r, lines[c], "2")
		if !ok || !ok2 || c == k {
			return madeCase{}, false
		}
		old := slices.Clone(lines[from:to])
		old[k-from] = was
		news := slices.Insert(slices.Clone(old), c-from+1, come)
		return madeCase{strings.Join(lines, "\n"), []Edit{{Old: strings.Join(old, "\n"), New: strings.Join(news, "\n")}}, with(lines, c+1, c+1, come), refused}, true
	})
	scoreMade(t, "made already", 200, func(r *rand.Rand, lines []string) (madeCase, bool) {
		from, to, k, ok := stale(r, lines, 12)
		if !ok {
			return madeCase{}, false
		}
		now, ok := reworded(r, lines[k], "Quite2")
		old, news := slices.Clone(lines[from:to]), slices.Clone(lines[from:to])
		news[k-from] = now
		return madeCase{with(lines, k, k+1, now), []Edit{{Old: strings.Join(old, "\n"), New: strings.Join(news, "\n")}}, "", []string{AlreadyApplied}}, ok
	})
}

// A call that names one function and quotes the body of another that is much
// like it is refused.
func TestMadeLookAlikes(t *testing.T) {
	headers := func(r *rand.Rand, lines []string) (from, to int, name string) {
		for range 30 {
			from = r.IntN(len(lines))
			if name, ok := definition(lines[from]); ok && lead(lines[from]) == "" && strings.Contains(lines[from], "(") && !strings.HasPrefix(lines[from], "#") && isName(name[strings.LastIndexByte(name, '.')+1:]) {
				to = from + 1
				for to < len(lines) && (blank(lines[to]) || lead(lines[to]) != "") {
					to++
				}
				if to-from > 6 && to-from < 60 {
					return from, to, name[strings.LastIndexByte(name, '.')+1:]
				}
			}
		}
		return 0, 0, ""
	}
	scoreMade(t, "look-alikes", 300, func(r *rand.Rand, lines []string) (madeCase, bool) {
		from, to, name := headers(r, lines)
		if name == "" {
			return madeCase{}, false
		}
		twin := slices.Clone(lines[from:to])
		twin[0] = strings.Replace(twin[0], name, [...]string{"Other" + name, name + "2", "quite" + strings.ToUpper(name)}[r.IntN(3)], 1)
		for range 1 + r.IntN(3) {
			k := 1 + r.IntN(len(twin)-1)
			if s, ok := reworded(r, twin[k], "Twin"); ok {
				twin[k] = s
			}
		}
		file := slices.Concat(lines[:from], twin, []string{lines[min(to, len(lines)-1)], ""}, lines[from:])
		n := 3 + r.IntN(min(12, len(twin)-3))
		old := slices.Clone(twin[:n])
		old[0] = lines[from]
		if strings.Contains(strings.Join(lines, "\n"), strings.Join(old, "\n")) {
			return madeCase{}, false // the function's own beginning
		}
		news := altered(r, old[1:])
		e := Edit{Old: strings.Join(old, "\n"), New: strings.Join(slices.Concat(old[:1], news), "\n")}
		return madeCase{strings.Join(file, "\n"), []Edit{e}, "", []string{Ambiguous, NoMatch, Conflict}}, true
	})
}
