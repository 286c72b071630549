package edit

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A lone carriage return is no blank: a change that is quoted without it leaves it where it is,
// or is refused. Of other white space that is quoted otherwise the file's stays.
func TestLoneReturn(t *testing.T) {
	for _, c := range []struct{ file, old, new, after string }{
		{"    \r    TOKEN1\nb\n", "    TOKEN1", "    NEW", "    \r    NEW\nb\n"},
		{"a\nTOKEN1\r\r\nb\n", "TOKEN1", "NEW", "a\nNEW\r\r\nb\n"},
		{"x\n\tTOKEN1 tail\r", "\tTOKEN1 tail", "\tNEW tail", "x\n\tNEW tail\r"},
		{"\t\u0085\r\f\u2028\fTOKEN1\nb\n", "\f\u2028\fTOKEN1", "\f\u2028\fNEW", "\t\u0085\r\f\u2028\fNEW\nb\n"},
		{"x\r\nTOKEN1\rtail\r\ny\r\n", "TOKEN1", "NEW", "x\r\nNEW\rtail\r\ny\r\n"},
		{"first of all\n  \f  TOKEN1 (some more)\nthe last of it\n", "first of all\n TOKEN1 (some more)\nthe last of it", "first of all\n NEW (some more)\nthe last of it", "first of all\n  \f  NEW (some more)\nthe last of it\n"},
		{"first of all\ncount  =  TOKEN1\nthe last of it\n", "first of all\ncount = TOKEN1\nthe  last of it", "first of all\ncount = NEW\nthe  last of it", "first of all\ncount  =  NEW\nthe last of it\n"},
		{"first of all\n\tx=  TOKEN1;\nthe last of it\n", "first of all\n\tx=TOKEN1;\nthe last of it", "first of all\n\tx=TOKEN2;\nthe last of it", "first of all\n\tx=  TOKEN2;\nthe last of it\n"},
		{"one of them\n\r\r\nlast of them\n", "one of them\n\nlast of them", "one of them\nlast of them", ""},
		{"one of them\n\rgone()\nlast of them\n", "one of them\ngone()\nlast of them", "one of them\nlast of them", ""},
		{"é of them\n\rgoné()\nlast of them\n", "é of them\ngoné()\nlast of them", "é of them\nlast of them", ""},
	} {
		out, err := Plan([]byte(c.file), []Edit{{Old: c.old, New: c.new}}, Options{})
		if err == nil && string(out.After) != c.after || err != nil && c.after != "" && !strings.HasPrefix(c.file, "x\n") {
			t.Errorf("edit of %q: %+v, %v; want %q", c.file, out, err, c.after)
		}
		got, err := patched(c.file, c.old, c.new)
		if err == nil && got != c.after {
			t.Errorf("patch of %q: %q, want %q", c.file, got, c.after)
		}
	}
}

// A line of which the call quotes only the start or the end is no line to remove or to write anew:
// what it does not quote would be lost.
func TestPartlyQuoted(t *testing.T) {
	const first, last = "x\ncount = TOKEN1 + 2;\nthe rest of it is here\n", "x\nthe rest of it is here\nreturn TOKEN1 + 2; // why\n"
	for _, c := range []struct{ file, old, new string }{
		{first, "TOKEN1 + 2;\nthe  rest of it is here", "NEW + 2;\nthe  rest of it is here"},
		{first, "TOKEN1 + 2;\nthe  rest of it is here", "the  rest of it is here"},
		{last, "the  rest of it is here\nreturn TOKEN1 + 2;", "the  rest of it is here\nstop()"},
		{last, "the  rest of it is here\nreturn TOKEN1 + 2;", "the  rest of it is here"},
	} {
		if out, err := Plan([]byte(c.file), []Edit{{Old: c.old, New: c.new}}, Options{}); err == nil {
			t.Errorf("edit of %q: %q", c.file, out.After)
		}
		if got, err := patched(c.file, c.old, c.new); err == nil {
			t.Errorf("patch of %q: %q", c.file, got)
		}
	}
	// what changes one of its words does
	want := strings.Replace(last, "+ 2", "+ 3", 1)
	if out, err := Plan([]byte(last), []Edit{{Old: "the  rest of it is here\nreturn TOKEN1 + 2;", New: "the  rest of it is here\nreturn TOKEN1 + 3;"}}, Options{}); err != nil || string(out.After) != want {
		t.Errorf("%v, %+v", err, out)
	}
}

// A line that changes keeps its ending, in a file that has two kinds, too.
func TestEndingOfChanged(t *testing.T) {
	const file = "zero\n\tone\r\n\ttwo\n\tthree\r\nfour\n"
	for _, c := range []struct{ old, new, want string }{
		{"zero\n\tone\n\ttwo\n\tthree", "zero\n\tONE\n\tTWO\n\tTHREE", "zero\n\tONE\r\n\tTWO\n\tTHREE\r\nfour\n"},
		{"zero\none\ntwo\nthree", "zero\nONE\nTWO\nTHREE", "zero\n\tONE\r\n\tTWO\n\tTHREE\r\nfour\n"},
		{"zero\n\tone\n\ttwo", "ZERO\n\tONE\n\tTWO\n\t2.5", "ZERO\n\tONE\r\n\tTWO\n\t2.5\n\tthree\r\nfour\n"},
	} {
		if out, err := Plan([]byte(file), []Edit{{Old: c.old, New: c.new}}, Options{}); err != nil || string(out.After) != c.want {
			t.Errorf("edit to %q: %v, %q", c.new, err, out.After)
		}
		if got, err := patched(file, c.old, c.new); err != nil || got != c.want {
			t.Errorf("patch to %q: %v, %q", c.new, err, got)
		}
	}
}

// patched is what a patch makes of a file whose hunk is these lines.
func patched(file, old, new string) (string, error) {
	var hunk strings.Builder
	olds, news := strings.Split(old, "\n"), strings.Split(new, "\n")
	for _, o := range compareStrings(olds, news) {
		for _, l := range olds[o.i1:o.i2] {
			hunk.WriteString(map[bool]string{true: " ", false: "-"}[o.equal] + l + "\n")
		}
		for _, l := range news[o.j1:o.j2] {
			if !o.equal {
				hunk.WriteString("+" + l + "\n")
			}
		}
	}
	got, err := applyPatch("*** Begin Patch\n*** Update File: f\n@@\n"+hunk.String()+"*** End Patch\n", memory{"f": file}.read)
	if err != nil {
		return "", err
	}
	return string(got.Files[0].After), nil
}

// TestLooseBytes quotes lines with other white space and changes a word: whatever is made of
// that, nothing but the word changes, and the blanks at the end of its line.
func TestLooseBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	white := func() (s string) {
		for range rng.IntN(4) {
			s += pick(" ", " ", "\t", "\r", "\r", "\f", "\v", "\u00a0", "\u2028", "\u0085")
		}
		return s
	}
	apart := func() string { return pick(" ", "  ", "\t", "\r", " \r ", "\f") }
	made := 0
	for range 6_000 {
		var file, old, new []string
		for k := range 3 {
			word := pick("alpha", "beta(1)", "naïve", "if (gamma)", "x")
			if k == 1 {
				word = "TOKEN1"
			}
			head, tail := pick("", "count =", "call("), pick("", "of the rest", "+ 2;")
			line := func(word string, differ bool) string {
				if !differ {
					return head + " " + word + " " + tail
				}
				return white() + head + apart() + word + apart() + tail + white()
			}
			file = append(file, line(word, true))
			quoted := line(word, rng.IntN(2) == 0)
			if rng.IntN(2) == 0 {
				quoted = file[k]
				for range 1 + rng.IntN(2) {
					quoted = strings.Replace(quoted, pick(" ", "\t", "\r", "\f", "\u2028"), "", 1)
				}
			}
			if k == 1 || rng.IntN(2) == 0 {
				old, new = append(old, quoted), append(new, strings.Replace(quoted, "TOKEN1", "TOKEN2", 1))
			}
		}
		eol := pick("\n", "\n", "\r\n")
		text := strings.Join(file, eol) + pick("", eol)
		quoted := strings.Join(old, "\n")
		if strings.Contains(quoted+"\n", "\r\n") || !slices.Contains(tokens(quoted), "TOKEN1") {
			continue // what ends in a carriage return quotes a line ending; another word is not the file's
		}
		want := strings.Replace(text, "TOKEN1", "TOKEN2", 1)
		check := func(how, got string) {
			made++
			if got != want && unblanked(got) != unblanked(want) {
				t.Fatalf("%s of %q\n old %q\nmade %q\nwant %q", how, text, old, got, want)
			}
		}
		if out, err := Plan([]byte(text), []Edit{{Old: strings.Join(old, "\n"), New: strings.Join(new, "\n")}}, Options{}); err == nil {
			check("edit", string(out.After))
		}
		if got, err := patched(text, strings.Join(old, "\n"), strings.Join(new, "\n")); err == nil {
			check("patch", got)
		}
	}
	if made < 2_000 {
		t.Errorf("only %d changes were made", made)
	}
}

// unblanked is a text without the blanks at the ends of lines, but those behind a carriage return.
func unblanked(s string) string {
	return regexp.MustCompile(`(?m)([^ \t\r]|^)[ \t]+(\r?)$`).ReplaceAllString(s, "$1$2")
}
