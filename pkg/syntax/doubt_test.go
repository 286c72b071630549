package syntax

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDoubt breaks files of every language by one bracket, quote or word at a
// time. A symbol that is then given without doubt must end where it ends in the
// whole file: who replaces its lines must not delete what follows.
func TestDoubt(t *testing.T) {
	files, err := filepath.Glob("testdata/broken/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := Outline(file, data)
			if errors.Is(err, ErrNoGrammar) {
				t.Skip("this build has no grammar for it")
			}
			if err != nil {
				t.Fatal(err)
			}
			ends := map[string]Symbol{}
			for _, s := range whole {
				if s.Doubt != nil {
					t.Errorf("whole file: %s is in doubt: %v", s.Path(), *s.Doubt)
				}
				ends[s.Name] = s
			}
			sure, doubted := 0, 0
			for _, broken := range breaks(string(data)) {
				symbols, _ := Outline(file, []byte(broken.text))
				for _, s := range symbols {
					was, known := ends[s.Name]
					if s.Doubt != nil || !known || was.Kind == Constant || was.Kind == Variable {
						doubted++
						continue
					}
					sure++
					if s.Line == was.Line && s.EndLine != was.EndLine || s.First < was.First {
						t.Errorf("%s: %s is said to be lines %d-%d, and was %d-%d", broken.what, s.Path(), s.First, s.EndLine, was.First, was.EndLine)
					}
				}
			}
			t.Logf("%d sure, %d in doubt", sure, doubted)
			if sure == 0 {
				t.Error("everything is in doubt")
			}
		})
	}
}

type breakage struct{ what, text string }

// breaks are the ways to leave out one bracket, quote or closing word, or to
// write it twice.
func breaks(text string) []breakage {
	var list []breakage
	line := 1
	for i := 0; i < len(text); i++ {
		n := 0
		switch {
		case text[i] == '\n':
			line++
		case strings.IndexByte("(){}[]\"", text[i]) >= 0:
			n = 1
		case strings.HasPrefix(text[i:], "end\n"), strings.HasPrefix(text[i:], " do\n"):
			n = 3
		case strings.HasPrefix(text[i:], ":\n"):
			n = 1
		}
		if n == 0 {
			continue
		}
		what := "line " + itoa(line) + " without " + text[i:i+n]
		list = append(list, breakage{what, text[:i] + text[i+n:]}, breakage{strings.Replace(what, "without", "with two", 1), text[:i+n] + text[i:]})
	}
	return list
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

// TestNamespaces: what is in a namespace of C++ mostly stands as far left as the
// namespace, and is no sign of a missing bracket; where it is indented, it is one.
func TestNamespaces(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		doubt int // the line of it; 0 for none
	}{
		"plain":    {"namespace a {\n\nstruct X { int y; };\n\nint f() {\n  return 1;\n}\n\n}  // namespace a\n", 0},
		"brackets": {"namespace a\n{\n/* x */\nint f(int a) { return a; }\n}\n", 0},
		"macro":    {"LIB_NAMESPACE_BEGIN\nnamespace a\n{\nstruct X { int y; };\nint f(int a) { return a; }\n}  // namespace a\nLIB_NAMESPACE_END\n", 0},
		"indented": {"namespace a {\n  struct X { int y; };\n  int f() { return 1; }\nint g() { return 2; }\n}\n", 4},
		"class":    {"class A {\nint f() { return 1; }\n};\n", 2},
	} {
		symbols, err := Outline(name+".hpp", []byte(c.text))
		if errors.Is(err, ErrNoGrammar) {
			t.Skip("this build has no grammar for C++")
		}
		line := 0
		for _, s := range symbols {
			if s.Doubt != nil {
				line = s.Doubt.Line
			}
		}
		if err != nil || len(symbols) == 0 || line != c.doubt {
			t.Errorf("%s: doubt in line %d, want %d; %d symbols, %v", name, line, c.doubt, len(symbols), err)
		}
	}
}

// TestAccessMacro: a macro that stands for private: or public: hides nothing.
func TestAccessMacro(t *testing.T) {
	symbols, err := Outline("a.hpp", []byte("template<class T>\nclass A\n{\n  using t = T;\n\n  LIB_PRIVATE_UNLESS_TESTED:\n    // of others\n    using lexer = ::lib::lexer_base<T>;\n\n    template<typename I>\n    static ::lib::parser<T, I> parser(I i)\n    {\n        return {};\n    }\n\n  private:\n    int f(int a) { return a; }\n};\n"))
	if errors.Is(err, ErrNoGrammar) {
		t.Skip("this build has no grammar for C++")
	}
	var have []string
	for _, s := range symbols {
		have = append(have, s.Name)
		if s.Doubt != nil {
			t.Errorf("%s is in doubt: %v", s.Name, *s.Doubt)
		}
	}
	if got := strings.Join(have, " "); err != nil || got != "A t lexer parser f" {
		t.Errorf("%q, %v", got, err)
	}
}
