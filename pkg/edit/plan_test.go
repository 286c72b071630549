package edit

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPlanStrategies(t *testing.T) {
	const goFile = "package a\n\nfunc f(x int) int {\n\tif x > 0 {\n\t\treturn g(x, 1)\n\t}\n\treturn h(x, \"a  b\")\n}\n\nfunc other() {\n\tcleanup(everything, now)\n}\n"
	for _, c := range []struct {
		strategy, file, old, new, after string
		all                             bool
	}{
		{Exact, "a b c", "b", "$& \\1 $1", "a $& \\1 $1 c", false},
		{LineTrimmed, "one   \ntwo\nthree\n", "one\ntwo", "one\nTWO", "one   \nTWO\nthree\n", false},
		{BlockAnchor, goFile, "func f(x int) int {\n\tif x > 1 {\n\t\treturn g(x, 1)\n\t}\n\treturn h(x, \"a  b\")\n}", "func f(x int) int {\n\tif x > 1 {\n\t\treturn g(x, 2)\n\t}\n\treturn h(x, \"a  b\")\n}", strings.Replace(goFile, "g(x, 1)", "g(x, 2)", 1), false},
		{WhitespaceNormalized, goFile, "\treturn h( x,  \"a b\" )", "\treturn k( x,  \"a b\" )", strings.Replace(goFile, "return h(", "return k(", 1), false},
		{WhitespaceNormalized, "x = foo(a,  b) + bar( c )\ny = foo(b, a)\n", "foo( a, b )", "foo( a, c )", "x = foo(a,  c) + bar( c )\ny = foo(b, a)\n", false},
		{IndentationFlexible, goFile, "if x > 0 {\n    return g(x, 1)\n}", "if x > 0 {\n    log()\n    return g(x, 1)\n}", strings.Replace(goFile, "\t\treturn g", "\t\tlog()\n\t\treturn g", 1), false},
		{EscapeNormalized, goFile, "\\treturn h(x, \\\"a  b\\\")\\n}", "\\treturn k(x, \\\"a  b\\\")\\n}", strings.Replace(goFile, "return h(", "return k(", 1), false},
		{TrimmedBoundary, goFile, "\n\n\tcleanup(everything, now)\n\n", "\n\n\tcleanup(everything)\n\n", strings.Replace(goFile, "(everything, now)", "(everything)", 1), false},
		{TrimmedBoundary, goFile, "```go\n\tcleanup(everything, now)\n```", "```go\n\tcleanup(everything)\n```", strings.Replace(goFile, "(everything, now)", "(everything)", 1), false},
		{TrimmedBoundary, goFile, "11\tfunc wrong\n", "", "", false},
		{ContextAware, goFile, "func f(x int) int {\n\tif x > 0 {\n\t\treturn g(x, 1)\n\t}\n\treturn h(x, \"a  B\")\n// never", "func f(x int) int {\n\tif x > 0 {\n\t\treturn g(x, 9)\n\t}\n\treturn h(x, \"a  B\")\n// never", strings.Replace(goFile, "g(x, 1)", "g(x, 9)", 1), false},
		{ContextAware, goFile, "func F(x int) int {\n\tif x > 0 {\n\t\treturn g(x, 1)\n\t}\n\treturn h(x, \"a  b\")", "func F(x int) int {\n\tif x > 0 {\n\t\treturn g(x, 9)\n\t}\n\treturn h(x, \"a  b\")", strings.Replace(goFile, "g(x, 1)", "g(x, 9)", 1), false},
		{MultiOccurrence, "a.b a.b\n", "a.b", "c$1", "c$1 c$1\n", true},
		{MultiOccurrence, "if a {\n\tfoo(1)\n\tbar(1)\n}\n\t\tfoo(1)\n\t\tbar(1)\n", "\tfoo(1)\n\tbar(1)", "\tfoo(2)\n\tbar(1)", "if a {\n\tfoo(2)\n\tbar(1)\n}\n\t\tfoo(2)\n\t\tbar(1)\n", true},
		{MultiOccurrence, "\tfoo(1)\n\t\tfoo(1)\n", "    foo(1)", "    foo(2)", "\tfoo(2)\n\t\tfoo(2)\n", true},
		{Merged, "alpha betta gamma\ndelta epsillon zeta\neta tetha iota\nkappa lamda mi\n", "alpha beta gamma\ndelta epsilon zeta\neta theta iota\nkappa lambda mi", "alpha beta gamma\ndelta epsilon zeta\nNEW\neta theta iota\nkappa lambda mi", "alpha betta gamma\ndelta epsillon zeta\nNEW\neta tetha iota\nkappa lamda mi\n", false},
	} {
		out, err := Plan([]byte(c.file), []Edit{{Old: c.old, New: c.new, All: c.all}}, Options{})
		if c.after == "" {
			if err == nil {
				t.Errorf("%s: %q was made of %q", c.strategy, out.After, c.old)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %q: %v", c.strategy, c.old, err)
			continue
		}
		if string(out.After) != c.after {
			t.Errorf("%s: %q became\n%q, want\n%q", c.strategy, c.old, out.After, c.after)
		}
		if out.Hits[0].Strategy != c.strategy {
			t.Errorf("%q: strategy %s, want %s", c.old, out.Hits[0].Strategy, c.strategy)
		}
	}
}

func TestPlanRefuses(t *testing.T) {
	const steps = "open the file here\nread all of its lines\n;sort them by length\ndrop the empty ones\n;count what is left\nwrite the numbers\n;close it at the end\nreturn the count\n"
	const file = "func a() {\n\tdoIt(1)\n}\n\nfunc b() {\n\tdoIt(1)\n}\n"
	for _, c := range []struct {
		name, file, old, new string
		code                 string
	}{
		{"empty", file, "", "x", BadInput},
		{"same", file, "doIt", "doIt", BadInput},
		{"two places", file, "doIt(1)", "doIt(2)", Ambiguous},
		{"two places, other blanks", file, "doIt( 1 )", "doIt(2)", Ambiguous},
		{"nowhere", file, "nothing like it at all", "x", NoMatch},
		{"blank nowhere", file, "\n\n\n\n", "x", NoMatch},
		{"applied", "a := 1\nb := second(3)\n", "b := one(3)", "b := second(3)", AlreadyApplied},
		{"applied around", "before\nx\n", "x", "before\nx", AlreadyApplied},
		{"two fragments", "x = call(a,  b) + 1 + 2 + 3\ny = 7 * 8 * call( a, b)\n", "call( a , b )", "call(c)", Ambiguous},
		{"part of a word", "recall(alpha, beta) + something_else\n", "call( alpha,beta )", "x", NoMatch},
		{"removed line differs", "start of it()\nvalue := compute(1, 2)\nend of it()\nmore and more()\n", "start of it()\nvalue := compute(1, 9)\nend of it()\nmore and more()", "start of it()\nend of it()\nmore and more()", Conflict},
		{"one line, two much like it", "begin here\nqotal := compute(alpha, beta, gamma)\nmiddle part\nqotalq:= cqmpute(alpha, beta, gamma)\nend it all\n", "total := compute(alpha, beta, gamma)", "something(new)", Ambiguous},
		{"scattered", strings.ReplaceAll(steps, ";", "something else\n"), strings.ReplaceAll(steps, ";", ""), strings.ReplaceAll(steps, ";", "") + "log the end\n", NoMatch},
		{"stale", "a()\nvalue := compute(1, 2)\nb()\n", "a()\nvalue := compute(1, 5)\nb()", "a()\nvalue := compute(1, 6)\nb()", Conflict},
	} {
		_, err := Plan([]byte(c.file), []Edit{{Old: c.old, New: c.new}}, Options{})
		var r *Refusal
		if !errors.As(err, &r) || r.Code != c.code {
			t.Errorf("%s: %v %+v, want %s", c.name, err, r, c.code)
			continue
		}
		if r.Hint == "" || r.Message == "" {
			t.Errorf("%s: no message or hint: %+v", c.name, r)
		}
	}
	_, err := Plan([]byte(file), []Edit{{Old: "doIt(1)", New: "x"}}, Options{})
	var r *Refusal
	errors.As(err, &r)
	if len(r.Places) != 2 || r.Places[0].Lines != [2]int{2, 2} || r.Places[1].Lines != [2]int{6, 6} || !strings.Contains(r.Message, "lines 2, 6") {
		t.Errorf("places of an ambiguous text: %+v", r)
	}
	_, err = Plan([]byte("a\n\tthe second line is here\nc\n"), []Edit{{Old: "    the second lion was there", New: "x"}}, Options{})
	errors.As(err, &r)
	if r.Code != NoMatch || len(r.Places) == 0 || r.Places[0].Lines[0] != 2 || !strings.Contains(r.Places[0].FirstDifference, "→") {
		t.Errorf("nearest place: %+v", r)
	}
}

func TestPlanOptions(t *testing.T) {
	file := []byte("a()\n\tcall(one, two)\nb()\ncall(x)\ncall(x)\n")
	if _, err := Plan(file, []Edit{{Old: "    call(one, two)", New: "    call(one)"}}, Options{Exact: true}); code(err) != NoMatch {
		t.Errorf("exact only: %v", err)
	}
	misquoted := []Edit{{Old: "first(line)\nsecond(line)\n\tcall(one, tow, tree, for)\nthird(line)\nfourth(line)", New: "first(line)\nsecond(line)\n\tcall(one, tow, tree, for)\nthird(line)\nfifth(line)"}}
	file = append([]byte("first(line)\nsecond(line)\n\tcall(one, two, three, four)\nthird(line)\nfourth(line)\n"), file...)
	out, err := Plan(file, misquoted, Options{})
	if err != nil || out.Hits[0].Similarity >= 0.98 || out.Hits[0].Similarity <= 0.5 || len(out.Hits[0].Kept) != 1 {
		t.Fatalf("misquoted: %v %+v", err, out)
	}
	if _, err := Plan(file, misquoted, Options{MinConfidence: 0.98}); code(err) != NoMatch {
		t.Errorf("strict: %v", err)
	}
	out, err = Plan(file, []Edit{{Old: "call(x)", New: "call(y)", Line: 10}}, Options{})
	if err != nil || !strings.HasSuffix(string(out.After), "call(x)\ncall(y)\n") || out.Hits[0].Lines != [2]int{10, 10} {
		t.Errorf("line hint: %v %+v", err, out)
	}
}

func TestPlanSeveral(t *testing.T) {
	file := []byte("one\ntwo\nthree\nfour\n")
	for _, c := range []struct {
		name  string
		edits []Edit
		after string
		code  string
	}{
		{"any order", []Edit{{Old: "four", New: "4\n4"}, {Old: "one\n", New: ""}, {Old: "two", New: "2"}}, "2\nthree\n4\n4\n", ""},
		{"shared context", []Edit{{Old: "one\ntwo\nthree", New: "1\ntwo\nthree"}, {Old: "two\nthree\nfour", New: "two\nthree\n4"}}, "1\ntwo\nthree\n4\n", ""},
		{"overlap", []Edit{{Old: "two", New: "2"}, {Old: "two\nthree", New: "x"}}, "", Conflict},
		{"same place", []Edit{{Old: "two", New: "2"}, {Old: "two", New: "zwei"}}, "", Conflict},
		{"one fails", []Edit{{Old: "two", New: "2"}, {Old: "nothing of the kind", New: "x"}}, "", NoMatch},
		{"later", []Edit{{Old: "two", New: "zwei"}, {Old: "zwei", New: "deux"}}, "one\ndeux\nthree\nfour\n", ""},
		{"later, beside it", []Edit{{Old: "two", New: "zwei"}, {Old: "zwei\nthree", New: "zwei\ndrei"}}, "one\nzwei\ndrei\nfour\n", ""},
		{"later, in what came", []Edit{{Old: "two", New: "two\nfunc load(path) {\n\treturn read(path)\n}"}, {Old: "    return read(path)", New: "    return read(path, 1)"}}, "one\ntwo\nfunc load(path) {\n\treturn read(path, 1)\n}\nthree\nfour\n", ""},
		{"later, over what came", []Edit{{Old: "two", New: "two and a half"}, {Old: "two and a half\nthree", New: "2.5\n3"}}, "one\n2.5\n3\nfour\n", ""},
		{"later, but elsewhere", []Edit{{Old: "two", New: "zwei"}, {Old: "nothing like it", New: "x"}}, "", NoMatch},
		{"none", nil, "", BadInput},
	} {
		out, err := Plan(file, c.edits, Options{})
		if code(err) != c.code {
			t.Errorf("%s: %v, want %q", c.name, err, c.code)
		} else if err == nil && string(out.After) != c.after {
			t.Errorf("%s: %q, want %q", c.name, out.After, c.after)
		}
	}
	out, err := Plan(file, []Edit{{Old: "four", New: "4\n4"}, {Old: "one\n", New: ""}}, Options{})
	if err != nil || out.Hits[0].Lines != [2]int{4, 4} || out.Hits[0].NewLines != [2]int{3, 4} || out.Hits[1].NewLines != [2]int{1, 0} {
		t.Errorf("lines: %v %+v", err, out.Hits)
	}
}

func TestPlanBytes(t *testing.T) {
	for _, c := range []struct{ name, file, old, new, after string }{
		{"Latin-1 beside", "caf\xe9\nname = 1\n\xff\xfe\n", "name = 1", "name = 2", "caf\xe9\nname = 2\n\xff\xfe\n"},
		{"Latin-1 in context", "# caf\xe9 au lait\nname = 1\nmore = 2\n", "# café au lait\nname = 1\nmore = 2", "# café au lait\nname = 3\nmore = 2", "# caf\xe9 au lait\nname = 3\nmore = 2\n"},
		{"GBK", "\xc4\xe3\xba\xc3\n  a = 1\n", "\ta = 1", "\ta = 2", "\xc4\xe3\xba\xc3\n  a = 2\n"},
		{"byte order mark", "\ufeffone\ntwo\n", "one\ntwo", "1\ntwo", "\ufeff1\ntwo\n"},
		{"byte order mark in the call", "\ufeffone\ntwo\n", "\ufeffone", "1", "\ufeff1\ntwo\n"},
		{"CRLF", "one\r\ntwo\r\n", "one\ntwo", "one\n1.5\ntwo", "one\r\n1.5\r\ntwo\r\n"},
		{"CRLF in the call", "one\ntwo\n", "one\r\ntwo", "one\r\n1.5\r\ntwo", "one\n1.5\ntwo\n"},
		{"mixed", "one\r\ntwo\nthree\r\nfour\n", "two\nthree\nfour", "TWO\nthree\nFOUR", "one\r\nTWO\nthree\r\nFOUR\n"},
		{"mixed, like", "\tone\r\n\ttwo\n\tthree\r\n\tfour\n", "two\nthree\nfour", "TWO\nthree\nFOUR", "\tone\r\n\tTWO\n\tthree\r\n\tFOUR\n"},
		{"only endings", "one\r\ntwo\r\n", "one\r\n", "one\n", "one\ntwo\r\n"},
		{"no final newline", "one\ntwo", "two", "two\nthree", "one\ntwo\nthree"},
		{"no final newline, like", "\tone of it\n\ttwo of it", "two of it", "two of it\nthree", "\tone of it\n\ttwo of it\n\tthree"},
		{"NUL bytes", "a\x00b\nc\n", "c", "d", "a\x00b\nd\n"},
		{"empty file", "", "", "new\n", "new\n"},
		{"lone CR", "a\rb\rc\n", "b", "B", "a\rB\rc\n"},
		{"removed line", "one\ntwo\nthree\n", "two", "", "one\nthree\n"},
		{"removed word", "one two three\n", "two ", "", "one three\n"},
	} {
		out, err := Plan([]byte(c.file), []Edit{{Old: c.old, New: c.new}}, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if string(out.After) != c.after {
			t.Errorf("%s: %q, want %q", c.name, out.After, c.after)
		}
	}
}

// New text that is in the file only as a part of something longer is not there.
func TestPlanAlready(t *testing.T) {
	const applied = AlreadyApplied
	const imports = "import os\nimport system\n"
	for _, c := range []struct {
		name, file, old, new string
		code                 string // "" is made as it reads
	}{
		{"prefix of a line, in a word", imports, "import os", "import os\nimport sys", ""},
		{"prefix of a line, in a number", "x = 1\ny = 10\n", "x = 1", "x = 1\ny = 1", ""},
		{"prefix of a line, at a word", "import os\nimport sys.path\n", "import os", "import os\nimport sys", ""},
		{"suffix of a line, in a word", "resystem\nimport os\n", "import os", "system\nimport os", ""},
		{"suffix of a line, at a word", "from x import y\nimport os\n", "import os", "import y\nimport os", ""},
		{"both", "import os\nimport sys\nimport system\n", "import os", "import os\nimport sys", applied},
		{"blanks behind", "import os\nimport sys  \nend\n", "import os", "import os\nimport sys", applied},
		{"last line", "import os\nimport sys", "import os", "import os\nimport sys", applied},
		{"last line, prefix", "import os\nimport system", "import os", "import os\nimport sys", ""},
		{"several lines", "a\nb\nc.d\n", "a\nb", "a\nb\nc", ""},
		{"several lines, there", "a\nb\nc\n", "a\nb", "a\nb\nc", applied},
		{"with the line ending", "a\nb\n", "a\n", "a\nb\n", applied},
		{"behind an indentation", "\tlog.run()\n\tend()\n", "end()", "run()\n\tend()", ""},
		{"behind an indentation, there", "\trun()\n\tend()\n", "end()", "run()\n\tend()", applied},
		{"blank line below", "a\nb\n", "a", "a\n", ""},
		{"blank line above", "a\nb\n", "b", "\nb", ""},
		{"blank line below, there", "a\n\nb\n", "a", "a\n", applied},
		{"blank line above, there", "a\n\nb\n", "b", "\nb", applied},
		{"own lines, there", "f(\n  b\n)\n", "b", "\n  b\n", applied},
		{"deeper above", "try:\n    import sys\nimport os\n", "import os", "import sys\nimport os", Ambiguous},
		{"word in a line", "f(a, bc)\n", "a", "a, b", ""},
		{"word in a line, there", "f(a, b)\n", "a", "a, b", applied},
		{"word before, in a line", "f(xa, b)\n", "b", "a, b", ""},
		{"word in a line broken, there", "f(a,\n  n, b)\n", "a,", "a,\n  n,", applied},
		{"part of a word, there", "x = 100\n", "x = 1", "x = 10", applied},
		{"word begun in a line, there", "f(ab)\n", "f(", "f(a", applied},
		{"word ended in a line, there", "(ab)\n", ")", "b)", applied},
		{"an assignment's end", "y = sys\nx = 2 # y\n", "x = 2", "sys\nx = 2", applied},
		{"an empty line too many, there", "a\nb\nc\n", "c", "\nb\nc", applied},
		{"empty lines with their endings", "a\n\nb\n", "a\n", "a\n\n", applied},
		{"byte order mark", "\ufeffimport sys\nimport os\n", "import os", "import sys\nimport os", applied},
	} {
		for _, eol := range []string{"\n", "\r\n"} {
			file := strings.ReplaceAll(c.file, "\n", eol)
			out, err := Plan([]byte(file), []Edit{{Old: c.old, New: c.new}}, Options{})
			if code(err) != c.code {
				t.Errorf("%s (%q): %v, want %q", c.name, eol, err, c.code)
				continue
			}
			if c.code == "" {
				if want := strings.Replace(file, c.old, strings.ReplaceAll(c.new, "\n", eol), 1); eol == "\n" && string(out.After) != want {
					t.Errorf("%s: %q, want %q", c.name, out.After, want)
				}
				if _, err := Plan(out.After, []Edit{{Old: c.old, New: c.new}}, Options{}); code(err) != AlreadyApplied {
					t.Errorf("%s (%q): the second time: %v", c.name, eol, err)
				}
			}
		}
	}
	// The same among several edits, and where the text is misquoted.
	want := "import os\nimport sys\nimport system\nEND\n"
	out, err := Plan([]byte(imports+"end\n"), []Edit{{Old: "end", New: "END"}, {Old: "import os", New: "import os\nimport sys"}}, Options{})
	if err != nil || string(out.After) != want {
		t.Errorf("several: %v %+v", err, out)
	}
	out, err = Plan([]byte(imports+"END\n"), []Edit{{Old: "1\timport os", New: "1\timport os\n2\timport sys"}}, Options{})
	if err != nil || string(out.After) != want {
		t.Errorf("with line numbers: %v %+v", err, out)
	}
	const block = "\tfirst.call(one)\n\tsecond.call(two)\n\tthird.call(three, 12345)\n"
	out, err = Plan([]byte(block), []Edit{{Old: "  first.call(one)\n  second.call(two)", New: "  first.call(one)\n  second.call(two)\n  third.call(three, 123"}}, Options{})
	if err != nil || string(out.After) != strings.Replace(block, "\n\tthird", "\n\tthird.call(three, 123\n\tthird", 1) {
		t.Errorf("misquoted: %v %+v", err, out)
	}
	out, err = Plan([]byte(block), []Edit{{Old: "\tfirst.cal(one)\n\tsecond.call(two)", New: "\tfirst.cal(one)\n\tsecond.call(two)\n\tthird.call(three, 123"}}, Options{})
	if err != nil || string(out.After) != strings.Replace(block, "\n\tthird", "\n\tthird.call(three, 123\n\tthird", 1) {
		t.Errorf("misquoted, with a typing error: %v %+v", err, out)
	}
	if _, err := Plan([]byte(block), []Edit{{Old: "something.wrong(at, all)", New: "third.call(three, 1234"}}, Options{}); code(err) != NoMatch {
		t.Errorf("old text nowhere, new text in a word: %v", err)
	}
	if _, err := Plan([]byte("fetchAccountById()\n"), []Edit{{Old: "getUserRecord", New: "fetchAccount"}}, Options{}); code(err) != AlreadyApplied {
		t.Errorf("a part of a name that was replaced: %v", err)
	}
	if _, err := Plan([]byte("a()\n        foo(one, two)\nb()\n"), []Edit{{Old: "\tfoo(one, two)", New: "    foo(one, two)"}}, Options{}); code(err) != Conflict {
		t.Errorf("a part of an indentation: %v", err)
	}
	if _, err := Plan([]byte("a()\n    foo(one, two)\nb()\n"), []Edit{{Old: "\tfoo(one, two)", New: "    foo(one, two)"}}, Options{}); code(err) != AlreadyApplied {
		t.Errorf("an indentation that is there: %v", err)
	}
	out, err = Plan([]byte("\tfoo(one, two)\nb()\n    foo(one, two)\n"), []Edit{{Old: "  foo(one, two) ", New: "    foo(one, two)", Line: 1}}, Options{})
	if code(err) == AlreadyApplied {
		t.Errorf("an indentation that is there elsewhere: %v %+v", err, out)
	}
}

// Lines that are reported are lines of the file.
func TestPlanLines(t *testing.T) {
	for _, c := range []struct {
		file, old, new string
		lines, after   [2]int
	}{
		{"", "", "x\n", [2]int{1, 1}, [2]int{1, 1}},
		{"", "", "x\ny", [2]int{1, 1}, [2]int{1, 2}},
		{"one\ntwo", "two", "two\n2\n", [2]int{2, 2}, [2]int{2, 3}},
		{"one\ntwo\n", "two\n", "2", [2]int{2, 2}, [2]int{2, 2}},
		{"one\ntwo\n", "one\n", "1\n", [2]int{1, 1}, [2]int{1, 1}},
	} {
		out, err := Plan([]byte(c.file), []Edit{{Old: c.old, New: c.new}}, Options{})
		if err != nil || out.Hits[0].Lines != c.lines || out.Hits[0].NewLines != c.after {
			t.Errorf("%q: %q: %v %+v, want %v and %v", c.file, c.old, err, out, c.lines, c.after)
		}
	}
}

// A place whose lines differ is less than quite similar.
func TestPlaceSimilarity(t *testing.T) {
	_, err := Plan([]byte("SECRET=hunter7\n"), []Edit{{Old: "SECRET=hunterX", New: "B"}}, Options{})
	var r *Refusal
	if !errors.As(err, &r) || len(r.Places) != 1 || r.Places[0].FirstDifference == "" || math.Abs(r.Places[0].Similarity-13.0/14) > 1e-9 {
		t.Errorf("one character: %+v", r)
	}
	words := strings.Repeat("word, ", longLine)
	l := newLocator(newIndex(newText([]byte(words+"x, y, z")), words), newForms([]string{words + "y, x, z"}))
	if s := l.similarity(place{pairs: []pair{{0, 1, 0, 1, 1}}, start: 0, end: 1}); s >= 1 || s < 0.99 {
		t.Errorf("words in another order: %v", s)
	}
}

// One line needs a greater lead over the next place than a block does.
func TestMarginOfOneLine(t *testing.T) {
	for _, c := range []struct{ file, code string }{
		{"total := computeTotal(orders, taxRate, discount)\ntotal := computeTotal(orders, rate, discount)\n", Ambiguous},
		{"total := computeTotal(orders, taxRate, discount)\nsum := somethingElse(entirely)\n", ""},
	} {
		out, err := Plan([]byte(c.file), []Edit{{Old: "total := computeTotal(orders, taxRate, discont)", New: "total := computeTotal(orders, taxRate, discont) + 1"}}, Options{})
		if code(err) != c.code {
			t.Errorf("%q: %v %+v, want %q", c.file, err, out, c.code)
		}
	}
}

// A place whose lines lie too far apart is none, even where each is there.
func TestScattered(t *testing.T) {
	call := []string{"first := open(path)", "second := read(first, size)", "third := parse(second, mode)", "fourth := check(third, rules)"}
	for between, want := range map[int]string{0: "", 2: "", 3: NoMatch, 9: NoMatch} {
		file := slices.Clone(call[:2])
		for i := range between {
			file = append(file, fmt.Sprintf("x%d", i))
		}
		file = append(file, call[2:]...)
		old := strings.Join(call, "\n")
		out, err := Plan([]byte(strings.Join(file, "\n")+"\n"), []Edit{{Old: old, New: strings.Replace(old, "rules)", "rules, 1)", 1)}}, Options{})
		if code(err) != want {
			t.Errorf("%d lines between: %v %+v, want %q", between, err, out, want)
		}
	}
}

// outside checks that bytes outside the reported lines are what they were.
func outside(t *testing.T, before []byte, out *Outcome) {
	t.Helper()
	hits := slices.Clone(out.Hits)
	slices.SortStableFunc(hits, func(a, b Hit) int { return a.Lines[0] - b.Lines[0] })
	a, b := newText(before), newText(out.After)
	at := func(x *text, line int) int {
		if line == 1 {
			return 0
		}
		return x.starts[min(max(line-1, 0), x.lines())]
	}
	i, j := 1, 1
	check := func(i2, j2 int) {
		x, y := before[at(a, i):at(a, max(i, i2))], out.After[at(b, j):at(b, max(j, j2))]
		if !bytes.Equal(x, y) {
			t.Fatalf("lines %d to %d, outside of %+v, were %q and are %q\nbefore %q\nafter  %q", i, i2, out.Hits, x, y, before, out.After)
		}
	}
	for _, h := range hits {
		if h.Lines[0] > i {
			check(h.Lines[0], h.NewLines[0])
		}
		if h.Lines[1]+1 > i {
			i, j = h.Lines[1]+1, h.NewLines[1]+1
		}
	}
	check(a.lines()+1, b.lines()+1)
}

// checkPlan checks what holds for every edit of every file.
func checkPlan(t *testing.T, file, old, new string, all bool, line int) (applied bool) {
	t.Helper()
	before := []byte(file)
	e := Edit{Old: old, New: new, All: all, Line: line}
	out, err := Plan(before, []Edit{e}, Options{})
	if string(before) != file {
		t.Fatalf("Plan(%q, %q, %q) has changed its input", file, old, new)
	}
	var r *Refusal
	if err != nil {
		if !errors.As(err, &r) || r.Code == "" || r.Message == "" || r.Hint == "" {
			t.Fatalf("Plan(%q, %q, %q): poor refusal %+v", file, old, new, err)
		}
	} else {
		if !all || !blank(old) { // without its line endings a file has no lines to tell
			outside(t, before, out)
		}
		if again, err := Plan(out.After, []Edit{e}, Options{}); err == nil && !all && telling(old, new) && (&planner{file: out.After}).count(old) == 0 {
			t.Fatalf("twice is not once: file %q old %q new %q: %q, then %q", file, old, new, out.After, again.After)
		}
	}
	plain := !strings.Contains(file, "\r") && !strings.Contains(old, "\r") && !strings.Contains(new, "\r")
	if body := strings.TrimPrefix(file, bom); plain && !all && old != "" && old != new && !strings.HasPrefix(old, bom) && !strings.HasPrefix(new, bom) && strings.Count(body, old) == 1 && len((&planner{file: before}).find(old, 2)) == 1 && new != "" && !strings.Contains(new, old) {
		want := file[:len(file)-len(body)] + strings.Replace(body, old, new, 1)
		if got, err := Plan(before, []Edit{e}, Options{Exact: true}); err != nil || string(got.After) != want {
			t.Fatalf("an exact unique text was not replaced literally on demand: file %q old %q new %q: %v %+v", file, old, new, err, got)
		}
		if partOfLine(body, old) && (err == nil || code(err) != Ambiguous) && (err != nil || string(out.After) != want) {
			t.Fatalf("a part of a line was not replaced literally: file %q old %q new %q: %v %+v", file, old, new, err, out)
		}
	}
	if plain {
		crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
		twin, err2 := Plan([]byte(crlf(file)), []Edit{e}, Options{})
		if code(err) != code(err2) || err == nil && string(twin.After) != crlf(string(out.After)) && strings.Contains(file, "\n") {
			t.Fatalf("LF and CRLF differ: file %q old %q new %q: %v %v\n%+v\n%+v", file, old, new, err, err2, out, twin)
		}
	}
	return err == nil
}

// partOfLine reports whether a text stands in a line beside others and does
// not reach its ends, or begins and ends where lines do.
func partOfLine(body, old string) bool {
	before, after, _ := strings.Cut(body, old)
	starts := before == "" || strings.HasSuffix(before, "\n")
	ends := strings.HasPrefix(after, "\n") || after == ""
	inside := !starts && !blank(before[strings.LastIndexByte(before, '\n')+1:]) && !ends && !blank(firstLine(after))
	return (starts && ends || inside) && strings.Trim(old, " \t\n") == old
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// telling reports whether most lines of a text, and all that are removed, are
// of one place only; a file of braces has no second time.
func telling(old, new string) bool {
	n, all := 0, 0
	left := strings.Split(new, "\n")
	for l := range strings.SplitSeq(old, "\n") {
		if blank(l) {
			continue
		}
		all++
		if x := slices.Index(left, l); x >= 0 {
			left = slices.Delete(left, x, x+1)
		} else if weight(l) <= 0.9 {
			return false
		}
		if weight(l) > 0.9 {
			n++
		}
	}
	return n > 1 && 2*n > all
}

func FuzzPlan(f *testing.F) {
	f.Add("a\n\tb\nc\n", "    b\nc", "    B\nc", false, 0)
	f.Add("foo( a,b )  bar\n", "a,b ) bar", "X", false, 0)
	f.Add("x\n\n\ny\n", "x\n\ny", "x\nz\n\ny", false, 2)
	f.Add("1\tone\n2\ttwo\n", "1\tone", "1\tuno", true, 1)
	f.Add("\ufeffa\xe9\nb", "b", "b\nc", false, 0)
	f.Fuzz(func(t *testing.T, file, old, new string, all bool, line int) {
		if len(file)+len(old)+len(new) > 4000 {
			t.Skip()
		}
		checkPlan(t, file, old, new, all, line)
	})
}

// distorted misquotes lines as models do.
func distorted(r *rand.Rand, lines []string) []string {
	var out []string
	kind := r.IntN(6)
	for _, l := range lines {
		switch {
		case kind == 0:
			l = strings.ReplaceAll(l, "\t", "  ")
		case kind == 1:
			l = strings.TrimPrefix(l, "\t")
		case kind == 2 && r.IntN(3) == 0:
			l += "  "
		case kind == 3 && r.IntN(4) == 0 && len(l) > 8:
			l = l[:5] + l[6:]
		case kind == 4 && r.IntN(5) == 0:
			continue
		case kind == 5 && r.IntN(4) == 0:
			out = append(out, "")
		}
		out = append(out, l)
	}
	return out
}

// Random edits of random files, quoted rightly and wrongly, keep the rules.
func TestPlanProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	pool := sourceLines(4000)
	applied := 0
	for range 3000 {
		at := r.IntN(len(pool) - 60)
		file := pool[at:][:1+r.IntN(50)]
		from := r.IntN(len(file))
		block := file[from:][:1+r.IntN(min(12, len(file)-from))]
		old := distorted(r, block)
		new := slices.Clone(old)
		for range 1 + r.IntN(2) {
			k := r.IntN(len(new) + 1)
			switch {
			case r.IntN(3) == 0 || k == len(new):
				new = slices.Insert(new, k, fmt.Sprintf("\t\tinserted(%d)", r.IntN(9)))
			case r.IntN(2) == 0:
				new = slices.Delete(new, k, k+1)
			default:
				new[k] += " // changed"
			}
		}
		end := strings.Repeat("\n", r.IntN(2))
		if checkPlan(t, strings.Join(file, "\n")+end, strings.Join(old, "\n"), strings.Join(new, "\n"), r.IntN(8) == 0, 0) {
			applied++
		}
	}
	if applied < 1000 {
		t.Errorf("only %d of 3000 were applied", applied)
	}
}

// Files and calls made to be slow are answered in bounded time.
func TestPlanBounded(t *testing.T) {
	long := strings.Repeat("ab cd ", 20_000)
	many := strings.Repeat("x := f(a, b, c)\n", 30_000)
	for name, c := range map[string][3]string{
		"one long line":      {long + "e\n", strings.Replace(long, "ab", "ba", 3000), "y"},
		"two long lines":     {long + "\n" + long + "z\n", strings.Replace(long, "cd", "dc", 5000) + "\nq", "y"},
		"equal lines":        {many, strings.Replace(many[:16*3000], "f(a", "g(a", 3), "y"},
		"call over the file": {many[:16*100], many, "y"},
		"blank lines":        {strings.Repeat("\n", 100_000), "\n \n \nx", "y"},
		"all blank":          {strings.Repeat(" \n", 50_000), strings.Repeat("\n", 500) + "x", "y"},
		"backslashes":        {many, strings.Repeat(`\"\n`, 10_000), "y"},
		"many equal places":  {strings.Repeat("begin\n\tmiddle(1)\nend\n", 10_000), "begin\n\tmiddle(2)\nend", "y"},
		"a long fragment":    {strings.Repeat("ab ", 100_000) + "\n", strings.Repeat("ab", 140) + " c", "y"},
		"half a million":     {strings.Repeat("{\n}\n", 250_000), "{\n} \n{\n}\n a", "y"},
	} {
		for _, all := range [...]bool{false, true} {
			start := time.Now()
			out, err := Plan([]byte(c[0]), []Edit{{Old: c[1], New: c[2], All: all}}, Options{})
			if out == nil && err == nil {
				t.Errorf("%s: no answer", name)
			}
			if d := time.Since(start); d > 2*time.Minute {
				t.Errorf("%s, all %v: took %v", name, all, d)
			} else {
				t.Logf("%s, all %v: %v %v", name, all, d, code(err))
			}
		}
	}
}

// TestPlanManyLoose: many edits that are not to the letter share an index, and
// are made as they are one by one.
func TestPlanManyLoose(t *testing.T) {
	var file strings.Builder
	var edits []Edit
	for n := range 40 {
		fmt.Fprintf(&file, "\tvalue%d := compute(%d, 'x')\n\tuse(value%d)\n", n, n, n)
		edits = append(edits, Edit{
			Old: fmt.Sprintf("  value%d  :=  compute(%d, \"x\")\n  use(value%d)", n, n, n),
			New: fmt.Sprintf("  value%d  :=  compute(%d, \"x\")\n  used(value%d)", n, n, n),
		})
	}
	want := []byte(file.String())
	for i, e := range edits {
		out, err := Plan(want, []Edit{e}, Options{})
		if err != nil {
			t.Fatalf("edit %d: %v", i, err)
		}
		want = out.After
	}
	out, err := Plan([]byte(file.String()), edits, Options{})
	if err != nil || string(out.After) != string(want) {
		t.Errorf("%v\n%+v", err, out)
	}
	p, made := &planner{file: []byte(file.String()), edits: edits}, map[*index]bool{}
	for i, e := range edits {
		if _, r := p.plan(e); r != nil {
			t.Fatalf("edit %d: %v", i, r)
		}
		made[p.index] = true
	}
	if len(made) > leastShared+1 {
		t.Errorf("%d edits read the file %d times", len(edits), len(made))
	}
}
