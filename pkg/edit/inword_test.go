package edit

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestInsideWordOnce: a line in which the text stands several times is shown once.
func TestInsideWordOnce(t *testing.T) {
	_, err := Plan([]byte("foobar foobar\nfoobar\n"), []Edit{{Old: "oba", New: "y"}}, Options{})
	r, ok := errors.AsType[*Refusal](err)
	if !ok || len(r.Places) != 2 || r.Places[0].Text != "foobar foobar\n" || r.Places[1].Lines != [2]int{2, 2} {
		t.Errorf("%+v", r)
	}
}

// A text that is found inside words or numbers alone, or there too, is not changed unless
// exact says so.
func TestInsideWord(t *testing.T) {
	for _, c := range []struct {
		file, old, new string
		all            bool
		code           string
	}{
		{"max = 1\n", "x = 1", "x = 2", false, Ambiguous},
		{"x = 10\n", "x = 1", "x = 2", false, Ambiguous},
		{"reload()\n", "load()", "load(1)", false, Ambiguous},
		{"reload()\nload()\n", "load()", "load(1)", false, Ambiguous},
		{"reload()\nload()\n", "load()", "load(1)", true, Ambiguous},
		{"elif a:\nif b:\n", "if a:", "if c:", false, Ambiguous},
		{"counter++\ncount++\n", "count", "total", true, Ambiguous},
		{"getUserRecord()\n", "Record", "Entry", false, Ambiguous},
		{"port: 8080\n", "port: 80", "port: 90", false, Ambiguous},
		{"replicas: 10\nport: 1\n", "replicas: 1", "replicas: 2", true, Ambiguous},
		{"FROM go:1.2.30\n", "go:1.2.3", "go:1.2.4", false, Ambiguous},
		{"image: app:v10\n", "image: app:v1", "image: app:v2", false, Ambiguous},
		{"limit: 1_000\n", "limit: 1", "limit: 2", false, Ambiguous},
		{"8080/tcp\n", "80/tcp", "90/tcp", false, Ambiguous},
		{"port: 8080\n", "```\nport: 80\n```", "```\nport: 90\n```", false, Ambiguous},
		{"timeout: 30s\n", "timeout: 30", "timeout: 60", false, ""},
		{"load()\nload()\n", "load()", "load(1)", true, ""},
		{"old_a\nold_b\n", "old_", "new_", true, ""}, // a part of a name, as the underscore says
		{"uses: docker-action@v1\n", "r-action@v1", "r-action@v2", false, ""},
		{"f(18, 57)\n", "8, 57)", "7, 56)", false, ""},
		{"今天天气很好\n", "天气", "空气", false, ""},
		{"a\xe9b = 1\n", "b = 1", "b = 2", false, ""},
	} {
		e := []Edit{{Old: c.old, New: c.new, All: c.all}}
		out, err := Plan([]byte(c.file), e, Options{})
		if code(err) != c.code {
			t.Errorf("%q in %q: %v %+v, want %q", c.old, c.file, err, out, c.code)
		}
		if c.code != "" && !strings.Contains(err.Error(), "longer word") && !strings.Contains(err.Error(), "longer number") {
			t.Errorf("%q in %q: %v does not say why", c.old, c.file, err)
		}
		if out, err := Plan([]byte(c.file), e, Options{Exact: true}); strings.Count(c.file, c.old) == 1 && (err != nil || string(out.After) != strings.Replace(c.file, c.old, c.new, 1)) {
			t.Errorf("%q in %q to the letter: %v %+v", c.old, c.file, err, out)
		}
	}
}

// Statements whose first word has lost its beginning.
func TestMadeInsideWord(t *testing.T) {
	made := func(r *rand.Rand, lines []string) (old string, k int) {
		k = oneOf(r, lines)
		if k < 0 {
			return "", 0
		}
		body := strings.TrimSpace(lines[k])
		first := tokens(body)[0]
		if len(first) < 5 || !isName(first) || !balanced(body) || !strings.Contains(body, " = ") && !strings.HasSuffix(body, ")") {
			return "", 0
		}
		old = body[1+r.IntN(len(first)-2):]
		if strings.Count(strings.Join(lines, "\n"), old) != 1 || old[0] == '_' {
			return "", 0
		}
		return old, k
	}
	scoreMade(t, "only inside a word", 150, func(r *rand.Rand, lines []string) (madeCase, bool) {
		old, _ := made(r, lines)
		return madeCase{strings.Join(lines, "\n"), []Edit{{Old: old, New: "changed(" + old}}, "", []string{Ambiguous}}, old != ""
	})
	for _, all := range []bool{false, true} {
		scoreMade(t, "inside a word and by itself", 150, func(r *rand.Rand, lines []string) (madeCase, bool) {
			old, k := made(r, lines)
			two := with(lines, k, k, lead(lines[k])+old)
			return madeCase{two, []Edit{{Old: old, New: "changed(" + old, All: all}}, "", []string{Ambiguous}}, old != ""
		})
	}
}
