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
	}
	for _, test := range tests {
		first, last, err := symbolSpan(context.Background(), test.file, []byte(test.text), test.symbol)
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
