package edit

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// naiveDistance is Levenshtein's distance by its definition.
func naiveDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			last, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, last+cost)
		}
	}
	return row[len(b)]
}

func naiveCommon(a, b string) int {
	row := make([]int, len(b)+1)
	for i := range len(a) {
		last := 0
		for j := range len(b) {
			up := row[j+1]
			if a[i] == b[j] {
				row[j+1] = last + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			last = up
		}
	}
	return row[len(b)]
}

func randomString(r *rand.Rand, most int) string {
	b := make([]byte, r.IntN(most))
	for i := range b {
		b[i] = byte('a' + r.IntN(4))
	}
	return string(b)
}

func TestDistanceAndCommon(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 2000 {
		most := []int{8, 70, 200}[r.IntN(3)]
		a, b := randomString(r, most), randomString(r, most)
		want := naiveDistance(a, b)
		if got := distance(a, b, most); got != want {
			t.Fatalf("distance(%q, %q) = %d, want %d", a, b, got, want)
		}
		if limit := r.IntN(20); want > limit && distance(a, b, limit) <= limit {
			t.Fatalf("distance(%q, %q) within %d, but it is %d", a, b, limit, want)
		}
		if got := common(a, b); got != naiveCommon(a, b) {
			t.Fatalf("common(%q, %q) = %d, want %d", a, b, got, naiveCommon(a, b))
		}
	}
}

func TestSimilarity(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{
		{"", "", 1},
		{"abc", "abc", 1},
		{"abcd", "abcx", 0.75},
		{"", "abc", 0},
		{"kitten", "sitting", 1 - 3.0/7},
		{"naïve", "naive", 0.8},
		{"日本語", "日本人", 1 - 1.0/3},
	} {
		if got := Similarity(c.a, c.b); got < c.want-1e-9 || got > c.want+1e-9 {
			t.Errorf("Similarity(%q, %q) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
	if s := Similarity("func parse(x int) error", "SELECT * FROM users;"); s >= Normal {
		t.Errorf("texts that share nothing are %v alike", s)
	}
}

// Whatever compare says, it turns the one sequence into the other.
func TestCompare(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for n := range 300 {
		size := []int{5, 40, 900}[n%3]
		a, b := make([]int32, r.IntN(size)), []int32(nil)
		for i := range a {
			a[i] = int32(r.IntN(1 + size/(1+r.IntN(4))))
			switch r.IntN(6) {
			case 0:
			case 1:
				b = append(b, int32(r.IntN(size)), a[i])
			default:
				b = append(b, a[i])
			}
		}
		i, j := 0, 0
		for _, o := range compare(a, b) {
			if o.i1 != i || o.j1 != j || o.equal && !slices.Equal(a[o.i1:o.i2], b[o.j1:o.j2]) {
				t.Fatalf("compare(%v, %v): %+v does not follow %d, %d", a, b, o, i, j)
			}
			i, j = o.i2, o.j2
		}
		if i != len(a) || j != len(b) {
			t.Fatalf("compare ends at %d, %d of %d, %d", i, j, len(a), len(b))
		}
	}
}

func TestFindRun(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 500 {
		all, want := make([]uint64, r.IntN(60)), make([]uint64, 1+r.IntN(4))
		for i := range all {
			all[i] = uint64(r.IntN(2))
		}
		for i := range want {
			want[i] = uint64(r.IntN(2))
		}
		var naive []int
		for i := 0; i+len(want) <= len(all); i++ {
			if slices.Equal(all[i:i+len(want)], want) {
				naive = append(naive, i)
			}
		}
		if got := findRun(all, want); !slices.Equal(got, naive) {
			t.Fatalf("findRun(%v, %v) = %v, want %v", all, want, got, naive)
		}
	}
}

func TestNeedle(t *testing.T) {
	line := strings.Repeat("a line that is everywhere in this file, and it is long enough\n", 3)
	file := strings.Repeat(line, 2000)
	for _, c := range []struct{ file, s string }{
		{file + line + "end", line + "end"},
		{file, line + "end"},
		{"x\n" + line + "y", "x\n" + line + "y"},
		{line, line + line},
	} {
		if got, want := newNeedle(c.s).index([]byte(c.file)), strings.Index(c.file, c.s); got != want {
			t.Errorf("found at %d, want %d", got, want)
		}
	}
	n := newNeedle(line + "end")
	n.budget = 1000
	if got, want := n.index([]byte(file+line+"end")), strings.Index(file+line+"end", line+"end"); got != want {
		t.Errorf("without a budget: found at %d, want %d", got, want)
	}
}

func TestReadings(t *testing.T) {
	for _, c := range []struct{ cleaned, old, new, wantOld, wantNew string }{
		{cleanNumbers, "12\tfoo\n13\t  bar", "12\tfoo\n13\t  baz", "foo\n  bar", "foo\n  baz"},
		{cleanNumbers, "    9→foo\n   10→bar", "x", "foo\nbar", "x"},
		{cleanNumbers, "00012| foo\n00013| bar", "00012| foo", "foo\nbar", "foo"},
		{cleanNumbers, "L3: a\nL4: b", "L3: a", "a\nb", "a"},
		{cleanNumbers, "3:ab1| a\n4:cd2| b", "", "a\nb", ""},
		{cleanNumbers, "pkg/a-1.go:12:foo\npkg/a-1.go-13-  bar", "pkg/a-1.go:12:foo\npkg/a-1.go-13-  baz", "foo\n  bar", "foo\n  baz"},
		{cleanNumbers, "a.go:7:\tfoo(1, 2)", "\tfoo(3)", "\tfoo(1, 2)", "\tfoo(3)"},
		{cleanNumbers, "12:foo\n13-bar", "foo", "foo\nbar", "foo"},
		{cleanNumbers, "2024-01-15 release", "x", "", ""},
		{cleanFence, "```go\na\n```", "```\nb\n```", "a", "b"},
		{cleanFence, "~~~\na\n~~~", "b", "a", "b"},
		{cleanDiff, " a\n-b\n c", " a\n+d\n c", "a\nb\nc", "a\nd\nc"},
		{cleanDiff, " a\n-b\n c", " a\n c", "a\nb\nc", "a\nc"},
		{cleanJSON, `a\n\tb "c"`, `a`, "", ""},
		{cleanJSON, `a\n\tb \"c\"`, `a\n`, "a\n\tb \"c\"", "a\n"},
		{cleanEscapes, `it\'s`, `it\'s not`, "it's", "it's not"},
		{cleanQuotes, `say \"x\" \n`, `\"y\" \n`, `say "x" \n`, `"y" \n`},
		{cleanHTML, "a &lt; b &amp;&amp; c", "a &gt; b", "a < b && c", "a > b"},
		{cleanOuter, "\n\na\n", "\nb\n", "a", "b"},
	} {
		found := slices.ContainsFunc(readings(c.old, c.new), func(r reading) bool {
			return len(r.cleaned) == 1 && r.cleaned[0] == c.cleaned && r.old == c.wantOld && r.new == c.wantNew
		})
		if found != (c.wantOld != "") {
			t.Errorf("%s of %q and %q: %+v", c.cleaned, c.old, c.new, readings(c.old, c.new))
		}
	}
	for _, l := range []string{"...", "// ... existing code ...", "# rest of the file …", "<!-- ... -->", "{/* ... */}", "  [...]", "/* ... the rest ... */"} {
		if !isElision(l) {
			t.Errorf("isElision(%q) = false", l)
		}
	}
	for _, l := range []string{"...args", "f(a, ...)", "return [...x]", "// wait ... what", "", "x := 1"} {
		if isElision(l) {
			t.Errorf("isElision(%q) = true", l)
		}
	}
}
