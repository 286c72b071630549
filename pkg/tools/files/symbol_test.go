package files

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

func TestSymbolSpan(t *testing.T) {
	const goFile = `package a

// T is one.
type T struct{ a, b int }

// Close ends it.
func (t *T) Close() {
}

type U struct {
	T T
}

func (u *U) Close() {}

var one, two = 1, 2
`
	const jsFile = "class A {\n  f() {\n    return 1\n  } }\nclass B { g() {} h() {} }\n"
	tests := []struct {
		file, text, symbol string
		first, last        int
		code               tool.Code
		suggests           string
	}{
		{"a.go", goFile, "T", 3, 4, "", ""},
		{"a.go", goFile, "T.Close", 6, 8, "", ""},
		{"a.go", goFile, "U", 10, 12, "", ""},
		{"a.go", goFile, "Close", 0, 0, tool.Ambiguous, "T.Close:7 U.Close:14"},
		{"a.go", goFile, "Close:14", 14, 14, "", ""},
		{"a.go", goFile, "T.Close:7", 6, 8, "", ""},
		{"a.go", goFile, "Close:1", 0, 0, tool.NotFound, ""},
		{"a.go", goFile, "U.Clsoe", 0, 0, tool.NotFound, "U.Close"},
		{"a.go", goFile, "T.a", 0, 0, tool.Ambiguous, ""}, // not alone on its line
		{"a.go", goFile, "one", 0, 0, tool.Ambiguous, ""},
		{"a.go", goFile, "", 0, 0, tool.NotFound, ""},
		{"a.go", "package a\n\nfunc f() {\n", "g", 0, 0, tool.NotFound, ""},
		{"a.txt", "x", "x", 0, 0, tool.Unsupported, ""},
		{"a.md", "# A\n\n## B\ntext\n\n## C\n", "B", 3, 4, "", ""},
		{"a.md", "# A\n\n## B\n\n# C\n\n## B\n", "A.B", 3, 3, "", ""},
		{"a.json", "{\n  \"a\": {\"b\": 1},\n  \"c\": 2\n}\n", "a", 2, 2, "", ""},
		{"a.json", "{\n  \"a\": {\"b\": 1},\n  \"c\": 2\n}\n", "a.b", 0, 0, tool.Ambiguous, ""},
		{"a.c", "int f(int a);\n\nint f(int a)\n{\n\treturn a;\n}\n", "f", 3, 6, "", ""},
		{"a.c", "typedef struct s {\n\tint a;\n} s;\n", "s", 1, 3, "", ""},
		{"a.py", "class A:\n    def f(self):\n        return '}'\n\n    @deco\n    def g(self):\n        pass\n", "A.g", 5, 7, "", ""},
		{"a.py", "class A:\n    def f(self):\n        return 1\n", "A.f", 2, 3, "", ""}, // ends where the class ends
		{"a.js", jsFile, "A.f", 0, 0, tool.Ambiguous, ""},                               // its last line ends the class, too
		{"a.js", jsFile, "B.g", 0, 0, tool.Ambiguous, ""},
		{"a.js", jsFile, "A", 1, 4, "", ""},
		// a missing brace swallows what follows, and a second one ends it early
		{"a.js", "function one() {\n  if (x) {\n    y();\n}\n\nfunction two() {\n}\n", "one", 0, 0, tool.NotFound, ""},
		{"a.ts", "function one() {\n  if (x) {\n  }}\n}\n\nfunction two() {\n}\n", "two", 6, 7, "", ""},
		{"a.c", "int one(void)\n{\n\tif (x) {\n\t\ty();\n}\n\nint two(void)\n{\n}\n", "one", 0, 0, tool.Conflict, ""},
		{"a.py", "def one():\n    x = (1,\n\ndef two():\n    pass\n", "one", 0, 0, tool.Conflict, ""},
		{"a.go", "package a\n\nfunc f() {\n\tx(\n}\n\nfunc g() {\n}\n", "f", 0, 0, tool.Conflict, ""},
		{"a.go", "package a\n\nfunc f() {\n\tx(\n}\n\nfunc g() {\n}\n", "g", 7, 8, "", ""},
		{"a.cs", "class A\n{\n    void F()\n    {\n#if X\n        if (a) {\n#else\n        if (b) {\n#endif\n        }\n    }\n\n    void G() { }\n}\n", "A.F", 3, 11, "", ""},
		{"a.cs", "class A\n{\n    void F()\n    {\n#if X\n        if (a) {\n#else\n        {{\n#endif\n        }\n    }\n\n    void G() { }\n}\n", "A.F", 0, 0, tool.Conflict, ""},
		{"a.rs", "struct A;\nimpl A {\n    fn f() {}\n}\nimpl From<u8> for A {\n    fn from(a: u8) -> A { A }\n}\n", "A.f", 3, 3, "", ""},
		{"a.rs", "struct A;\nimpl A {\n    fn f() {}\n}\nimpl From<u8> for A {\n    fn from(a: u8) -> A { A }\n}\n", "From<u8>", 5, 7, "", ""},
		{"a.ts", "class A {\n  constructor(private b: string) {}\n}\n", "A.constructor", 2, 2, "", ""},
		{"a.ex", "defmodule A do\n  @doc \"f\"\n  def f(1), do: 1\n  def f(n), do: n\nend\n", "f", 2, 4, "", ""},
		{"a.py", "def one():\r    pass\r\rdef two():\r    pass\r", "two", 4, 5, "", ""}, // as on old Macintoshes
	}
	for _, test := range tests {
		first, last, err := symbolSpan(context.Background(), test.file, []byte(test.text), test.symbol, true)
		var e *tool.Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%s %q: %v is no error for a caller", test.file, test.symbol, err)
			continue
		}
		if e != nil && e.Code == tool.Unsupported && test.code != tool.Unsupported && !strings.Contains(e.Hint, "Python") {
			continue // this build reads few languages, and says so
		}
		var code tool.Code
		suggests := ""
		if e != nil {
			code, suggests = e.Code, strings.Join(e.Suggestions, " ")
			if e.Hint == "" {
				t.Errorf("%s %q: no hint", test.file, test.symbol)
			}
		}
		if first != test.first || last != test.last || code != test.code || !strings.HasPrefix(suggests, test.suggests) {
			t.Errorf("%s %q: lines %d-%d, %q, suggestions %q; want %d-%d, %q, %q", test.file, test.symbol, first, last, code, suggests, test.first, test.last, test.code, test.suggests)
		}
	}
}
