package syntax

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBlockCases runs the labelled cases, all of which hold.
func TestBlockCases(t *testing.T) {
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if root == filepath.Dir(root) {
			t.Fatal("no go.mod above")
		}
		root = filepath.Dir(root)
	}
	file, err := os.Open(filepath.Join(root, "..", "shared", "cases", "read", "indentation.jsonl"))
	if err != nil {
		t.Skipf("no labelled cases: %v", err)
	}
	defer file.Close()
	cases := 0
	for scan := bufio.NewScanner(file); scan.Scan(); cases++ {
		var c struct {
			Name, File, Codex, Want string
			Args                    struct {
				Limit       int
				Indentation struct {
					Anchor   int  `json:"anchor_line"`
					Levels   int  `json:"max_levels"`
					Siblings bool `json:"include_siblings"`
					Header   bool `json:"include_header"`
					Max      int  `json:"max_lines"`
				}
			}
		}
		if err := json.Unmarshal(scan.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		i := c.Args.Indentation
		limit := c.Args.Limit
		if i.Max > 0 {
			limit = min(limit, i.Max)
		}
		lines := strings.Split(strings.TrimSuffix(c.File, "\n"), "\n")
		first, last := Block(lines, i.Anchor, BlockOptions{MaxLevels: i.Levels, IncludeSiblings: i.Siblings, IncludeHeader: i.Header, MaxLines: limit})
		var got []string
		for n := first; n <= last; n++ {
			got = append(got, fmt.Sprintf("L%d: %s", n, lines[n-1]))
		}
		want := c.Want
		if want == "" {
			want = c.Codex
		}
		if text := strings.Join(got, "\n"); text != want {
			t.Errorf("%s:\n%s\nwant\n%s", c.Name, text, want)
		}
	}
	if cases == 0 {
		t.Error("no cases in the file")
	}
}

// block is a text, an anchor, options and the lines that are wanted.
type blockCase struct {
	name, text  string
	anchor      int
	o           BlockOptions
	first, last int
}

func TestBlock(t *testing.T) {
	const (
		python = "class A:\n    @property\n    # why\n    def one(self):\n        if x:\n            return 1\n        else:\n            return 2\n\n    def two(self):\n        return 3\n\ndef three():\n    pass\n"
		cpp    = "namespace sample {\nclass Runner {\npublic:\n    void setup() {\n        if (on) {\n            init();\n        }\n    }\n\n    // Runs.\n    int run() const {\n        switch (mode) {\n            case Mode::Fast:\n                return fast();\n            default:\n                return slow();\n        }\n    }\n\nprivate:\n    bool on;\n};\n}\n"
		script = "/**\n * Doc.\n */\n@Component({\n  a: 1,\n})\nclass A {\n  f(x) {\n    if (x) {\n      g();\n    } else {\n      h();\n    }\n    i();\n  }\n}\n\nconst b = 1;\n"
		ruby   = "module M\n  def a\n    case x\n    when 1\n      one\n    when 2\n      two\n    end\n  end\n\n  def b\n    2\n  end\nend\n"
		kernel = "int f(int a)\n{\n\tswitch (a) {\n\tcase 1:\n\t\tg();\n\t\tbreak;\n\tdefault:\n#ifdef X\n\t\th();\n#endif\n\t}\nout:\n\treturn 0;\n}\n\nint g(void)\n{\n\treturn 1;\n}\n"
		yaml   = "a:\n  b:\n    c: 1\n    d: 2\n  e: 3\nf: 4\n"
		allman = "void f()\n{\n    if (x)\n    {\n        a();\n    }\n    else if (y)\n    {\n        b();\n    }\n    else\n    {\n        c();\n    }\n    do\n    {\n        d();\n    }\n    while (z);\n    e();\n}\n"
		table  = "var t = []entry{\n\t{\n\t\tname: \"a\",\n\t\tsize: 1,\n\t},\n\t{\n\t\tname: \"b\",\n\t},\n\t{\n\t\tname: \"c\",\n\t},\n}\n"
		labels = "switch (x) {\ncase 1: {\n  a();\n}\ncase 2:\n  b();\ndefault:\n  c();\n}\nd();\n"
		when   = "case x\nwhen 1\n  a\nwhen 2\n  b\nelse\n  c\nend\nd\n"
		triple = "def f():\n    sql = \"\"\"\nselect 1\nfrom x\n\"\"\"\n    return sql\n\ndef g():\n    pass\n"
		here   = "run() {\n  cat <<EOF\ntext at the left\nEOF\n  after\n}\nnext\n"
		raw    = "const a = () => {\n  const t = `\nleft {\n`;\n  return t;\n};\nconst b = 1;\n"
		golang = "func f(\n\ta int,\n) error {\n\treturn nil\n}\n\nvar x = 1\n"
	)
	h := BlockOptions{MaxLevels: 1, IncludeHeader: true}
	for _, tt := range []blockCase{
		{"a method, not the next one's head", python, 6, BlockOptions{MaxLevels: 2, IncludeHeader: true}, 2, 8},
		{"an else belongs to its if", python, 8, BlockOptions{MaxLevels: 1}, 5, 8},
		{"the last method", python, 11, h, 10, 11},
		{"the class alone", python, 6, BlockOptions{}, 1, 11},
		{"siblings", python, 11, BlockOptions{MaxLevels: 1, IncludeSiblings: true}, 2, 11},
		{"on a decorator", python, 2, BlockOptions{MaxLevels: 1}, 1, 11},
		{"a switch", cpp, 14, BlockOptions{MaxLevels: 2}, 12, 17},
		{"a function and its comment", cpp, 14, BlockOptions{MaxLevels: 3, IncludeHeader: true}, 10, 18},
		{"a class with labels", cpp, 6, BlockOptions{MaxLevels: 3}, 2, 22},
		{"two spaces are one level", script, 10, h, 9, 13},
		{"the other branch", script, 12, h, 9, 13},
		{"two levels", script, 10, BlockOptions{MaxLevels: 2}, 8, 15},
		{"a decorator of several lines", script, 10, BlockOptions{IncludeHeader: true}, 1, 16},
		{"a case of ruby", ruby, 5, BlockOptions{MaxLevels: 2}, 3, 8},
		{"a method of ruby", ruby, 5, BlockOptions{MaxLevels: 3}, 2, 9},
		{"a label at the switch's indent", kernel, 5, BlockOptions{MaxLevels: 2}, 3, 11},
		{"a brace of its own", kernel, 5, BlockOptions{}, 1, 14},
		{"behind a goto label", kernel, 13, h, 1, 14},
		{"a key", yaml, 3, h, 2, 4},
		{"all keys above", yaml, 3, BlockOptions{}, 1, 5},
		{"a head of several lines", golang, 4, h, 1, 5},
		{"a parameter", golang, 2, h, 1, 5},
		{"if of Allman", allman, 5, BlockOptions{MaxLevels: 1}, 3, 14},
		{"else if of Allman", allman, 9, BlockOptions{MaxLevels: 1}, 3, 14},
		{"else of Allman", allman, 13, BlockOptions{MaxLevels: 1}, 3, 14},
		{"do and while of Allman", allman, 17, BlockOptions{MaxLevels: 1}, 15, 19},
		{"all of it", allman, 13, BlockOptions{}, 1, 21},
		{"the first entry", table, 3, BlockOptions{MaxLevels: 1}, 2, 5},
		{"a later entry", table, 7, BlockOptions{MaxLevels: 1}, 6, 8},
		{"the last entry", table, 10, BlockOptions{MaxLevels: 1}, 9, 11},
		{"the table", table, 10, BlockOptions{MaxLevels: 2}, 1, 12},
		{"a label with braces", labels, 3, BlockOptions{MaxLevels: 1}, 2, 4},
		{"a label", labels, 6, BlockOptions{MaxLevels: 1}, 5, 6},
		{"the default", labels, 8, BlockOptions{MaxLevels: 1}, 7, 8},
		{"the switch around the default", labels, 8, BlockOptions{MaxLevels: 2}, 1, 9},
		{"the switch around a brace", labels, 3, BlockOptions{MaxLevels: 2}, 1, 9},
		{"a when", when, 3, BlockOptions{MaxLevels: 1}, 2, 3},
		{"the last when", when, 5, BlockOptions{MaxLevels: 1}, 4, 5},
		{"the case around it", when, 5, BlockOptions{MaxLevels: 2}, 1, 8},
		{"a text at the left", triple, 6, BlockOptions{MaxLevels: 1}, 1, 6},
		{"within a text at the left", triple, 3, BlockOptions{}, 1, 6},
		{"a here-document", here, 5, BlockOptions{MaxLevels: 1}, 1, 6},
		{"a template", raw, 5, BlockOptions{MaxLevels: 1}, 1, 6},
		{"one line", golang, 7, h, 7, 7},
		{"beyond the end", golang, 99, h, 7, 8},
	} {
		first, last := Block(strings.Split(tt.text, "\n"), tt.anchor, tt.o)
		if first != tt.first || last != tt.last {
			t.Errorf("%s: %d-%d, want %d-%d", tt.name, first, last, tt.first, tt.last)
		}
	}
	if first, last := Block(nil, 1, BlockOptions{}); first != 0 || last != 0 {
		t.Errorf("no text: %d-%d", first, last)
	}
}

// TestBlockHolds checks what is true of every text: the anchor is inside, the
// limit holds, and more levels never give less.
func TestBlockHolds(t *testing.T) {
	words := []string{"if x {", "} else {", "}", "def f():", "else:", "@a", "# c", "// c", "", "case 1:", "end", "{", "})", "x = 1;", "*/", "/*", "public:"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 4000 {
		lines := make([]string, r.IntN(30)+1)
		for i := range lines {
			lines[i] = strings.Repeat([]string{"  ", "\t"}[r.IntN(2)], r.IntN(4)) + words[r.IntN(len(words))]
		}
		anchor := r.IntN(len(lines)) + 1
		before := 0
		for level := 1; level < 5; level++ {
			o := BlockOptions{MaxLevels: level, IncludeHeader: r.IntN(2) == 0}
			first, last := Block(lines, anchor, o)
			if first < 1 || last > len(lines) || first > anchor || last < anchor {
				t.Fatalf("%q anchor %d: %d-%d", lines, anchor, first, last)
			}
			o.IncludeHeader = false
			first, last = Block(lines, anchor, o)
			if last-first < before {
				t.Fatalf("%q anchor %d: level %d gives %d-%d", lines, anchor, level, first, last)
			}
			before = last - first
			o.MaxLines = r.IntN(4) + 1
			if first, last = Block(lines, anchor, o); last-first+1 > o.MaxLines || first > anchor || last < anchor {
				t.Fatalf("%q anchor %d: %d-%d for %d lines", lines, anchor, first, last, o.MaxLines)
			}
		}
	}
}
