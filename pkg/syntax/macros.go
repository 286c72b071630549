package syntax

import "strings"

// macros blanks macros that stand where the grammars expect something else.
func (p *preparer) macros() {
	level := 0
	for i := 0; i < len(p.tokens); i++ {
		t := p.tokens[i]
		word := p.src[t.start:t.end]
		switch {
		case !t.word:
			switch string(word) {
			case "{":
				level++
			case "}":
				level--
			case "=":
				p.emptyDefault(i)
			}
		case hasWord("class struct union enum", string(word)):
			p.exported(i + 1)
		case hasWord(conventions, string(word)):
			p.blank(t.start, t.end)
		case (string(word) == "signals" || string(word) == "slots") && p.text(i+1) == ":":
			if p.blank(t.start, t.end); string(word) == "signals" {
				p.blank(t.start, t.end+1)
			}
		case p.out[t.start] == ' ':
		case isMacroName(word):
			p.macro(i)
		case p.text(i+1) == "(" && t.first:
			p.call(i, level)
		}
	}
}

// call blanks what looks like the call of a function where there can be none:
// list_foreach(x, list) before a block, and generate_list(name) by itself.
func (p *preparer) call(i, level int) {
	next := p.behind(i)
	t, before := p.tokens[i], p.previous(i)
	word := strings.ToLower(p.text(i))
	switch {
	case p.text(next) == "{" && (strings.Contains(word, "foreach") || strings.Contains(word, "for_each")):
	case level == 0 && hasWord("; }", before) && p.tokens[next-1].last && (next == len(p.tokens) || p.tokens[next].word):
	default:
		return
	}
	p.blank(t.start, p.tokens[next-1].end)
}

// conventions are words of compilers that no grammar reads everywhere.
const conventions = "__cdecl __stdcall __fastcall __vectorcall __thiscall __restrict __extension__ __unsafe_unretained __volatile__"

// emptyDefault blanks the default of a parameter "const Options &o = {}".
func (p *preparer) emptyDefault(i int) {
	if p.text(i+1) == "{" && p.text(i+2) == "}" && (p.text(i+3) == "," || p.text(i+3) == ")") {
		p.blank(p.tokens[i].start, p.tokens[i+2].end)
	}
}

// exported blanks EXPORT_API in "class EXPORT_API Name {".
func (p *preparer) exported(i int) {
	if w := p.text(i); w == "class" || w == "struct" {
		i++ // enum class
	}
	for i < len(p.tokens) && p.tokens[i].word && p.out[p.tokens[i].start] != ' ' {
		next := p.behind(i)
		if next >= len(p.tokens) || !p.tokens[next].word || p.text(next) == "final" {
			return
		}
		if next == i+1 && !isMacroName(p.src[p.tokens[i].start:p.tokens[i].end]) && !p.definedAt(next+1) {
			return
		}
		if p.text(i) == "alignas" || strings.HasPrefix(p.text(i), "__") && next > i+1 {
			i = next // the grammars read these
			continue
		}
		switch p.text(next + 1) {
		case "{", ":", "final", "<", "::", "":
		default:
			if !p.tokens[next+1].word {
				return // a variable or a function of that type
			}
		}
		p.blank(p.tokens[i].start, p.tokens[next-1].end)
		i = next
	}
}

// definedAt reports whether a type's body or bases begin at a token.
func (p *preparer) definedAt(i int) bool {
	return p.text(i) == "{" || p.text(i) == ":"
}

// behind is the token after token i and its arguments in parentheses, if any.
func (p *preparer) behind(i int) int {
	if p.text(i+1) != "(" {
		return i + 1
	}
	depth := 0
	for j := i + 1; j < len(p.tokens) && j < i+1000; j++ {
		switch p.src[p.tokens[j].start] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return j + 1
			}
		}
	}
	return i + 1
}

// macro blanks the macro at token i where it is surplus, with its arguments.
func (p *preparer) macro(i int) {
	u := use{p: p, i: i, next: p.behind(i), before: p.previous(i)}
	u.token, u.after = p.tokens[i], p.text(u.next)
	u.args, u.wordAfter = u.next > i+1, u.next < len(p.tokens) && p.tokens[u.next].word
	u.starts = u.before == "" || strings.Contains("; { } : > ]", u.before) || u.before == ")" && u.token.first || isSpecifier(u.before)
	u.alone = u.token.first && p.tokens[u.next-1].last
	switch {
	case u.label():
		p.blank(u.token.start, p.tokens[u.next].end)
	case u.args && u.before == "if":
		p.blank(u.token.start, u.token.end) // if CONSTEXPR (x)
	case u.line():
		if p.blank(u.token.start, p.tokens[u.next-1].end); u.args && u.after == ";" {
			p.blank(p.tokens[u.next].start, p.tokens[u.next].end)
		}
	case u.prefix(), u.infix(), u.suffix():
		p.blank(u.token.start, p.tokens[u.next-1].end)
	case u.args && (u.before == "," || u.before == "<") && (u.after == "," || u.after == ">"):
		p.blank(u.token.end, p.tokens[u.next-1].end) // template <class T, ENABLE_IF(…)>
	case !u.args && u.before == "(" && u.wordAfter && p.text(u.next+1) == ")" && p.text(u.next+2) == "(" && p.typedefs(i):
		p.blank(u.token.start, u.token.end) // typedef void (APIENTRYP f)(…)
		p.out[u.token.end-1] = '*'
	}
}

// use is a place where a macro's name stands.
type use struct {
	p             *preparer
	i, next       int // its token, and the first behind it and its arguments
	token         lexeme
	before, after string
	args          bool
	starts        bool // a declaration may begin here
	alone         bool // nothing else is on its lines
	wordAfter     bool
}

// label knows PRIVATE_UNLESS_TESTED: on a line of its own, between members.
func (u *use) label() bool {
	return !u.args && u.token.first && u.after == ":" && u.p.tokens[u.next].last && (u.before == "" || strings.Contains("; { } :", u.before))
}

// line knows BEGIN_NAMESPACE, Q_OBJECT, TRY and MOCK_METHOD(…); as statements
// of their own.
func (u *use) line() bool {
	switch {
	case !u.starts || u.before == "enum":
		return false
	case u.after == "{":
		return !u.args && u.before != ":" || u.before == "}" && !u.token.first
	case u.args && u.after == ";":
		return u.before != ")" && strings.IndexByte(string(u.p.src[u.token.start:u.token.end]), '_') > 0 && !isSpecifier(u.before)
	case !u.alone:
		return false
	}
	return u.wordAfter || u.before == "}" || u.before == ";" || u.after == "" || hasWord("~ [ ::", u.after)
}

// prefix knows API int f(…), API Shape() : a(0), ATTRIBUTE(x) int f(…) and
// FORMAT const char *f, but not DWORD f(…) or DWORD x.
func (u *use) prefix() bool {
	p, next := u.p, u.next
	switch {
	case u.starts && u.after == "~":
		return true
	case !u.wordAfter || isStatement(u.after):
		return false
	case u.before == "(" || u.before == ",":
		return u.args || hasWord("const char void int unsigned struct", u.after)
	case u.before == "}" && !u.token.first:
		return true // } PACKED name;
	case !u.starts && u.before != "template":
		return false
	case u.args:
		return true
	case hasWord("operator class struct enum union static inline template constexpr virtual explicit typename typedef friend extern using auto void", u.after):
		return true
	case u.after == "const":
		return p.text(next+2) != ";" && p.text(next+2) != "=" && p.text(next+2) != "("
	}
	if end := p.behind(next); end > next+1 {
		return p.text(end) == ":" || end < len(p.tokens) && p.tokens[end].word && p.text(end+1) == ":"
	}
	follows := p.text(next + 1)
	return next+1 < len(p.tokens) && p.tokens[next+1].word || hasWord("* & ::", follows) || follows == "<" && p.typed(next)
}

// infix knows void WINAPI f(…) and (APIENTRY *f)(…).
func (u *use) infix() bool {
	p, next := u.p, u.next
	if u.args {
		return false
	}
	if u.before == "(" && u.after == "*" {
		return p.text(next+2) == ")" && p.text(next+3) == "("
	}
	if strings.HasPrefix(u.before, `"`) || strings.HasPrefix(u.after, `"`) {
		return !u.starts || u.after != ""
	}
	typed := u.before != "" && (isWordByte(u.before[len(u.before)-1]) || hasWord("* & >", u.before))
	if !typed || u.starts || !u.wordAfter || isStatement(u.before) || hasWord("const unsigned signed struct enum union class namespace", u.before) {
		return false
	}
	follows := p.text(next + 1)
	return follows == "(" || follows == "::" || follows == "=" && u.before == "*" || follows == "<" && p.typed(next)
}

// suffix knows void f() NOEXCEPT;, names[] VALUES; and LAST DEPRECATED(1) = 6.
func (u *use) suffix() bool {
	switch {
	case hasWord(") const noexcept override ]", u.before):
		return hasWord("; { : -> override final", u.after) && !(u.alone && u.after == ";") || u.after == "=" && !u.args
	case u.args && u.before != "" && isWordByte(u.before[len(u.before)-1]) && !isSpecifier(u.before) && !isStatement(u.before):
		return hasWord("= , }", u.after)
	}
	return false
}

// typed reports whether the name at token i and its arguments in <> are
// followed by what is declared.
func (p *preparer) typed(i int) bool {
	depth := 0
	for j := i + 1; j < len(p.tokens) && j < i+60; j++ {
		switch p.text(j) {
		case "<":
			depth++
		case ">":
			if depth--; depth == 0 {
				return j+1 < len(p.tokens) && (p.tokens[j+1].word || hasWord("* & ::", p.text(j+1)))
			}
		case ";", "{", "}":
			return false
		}
	}
	return false
}

// previous is the text of the token before token i that is not blank.
func (p *preparer) previous(i int) string {
	for i--; i >= 0; i-- {
		if p.out[p.tokens[i].start] != ' ' {
			return p.text(i)
		}
	}
	return ""
}

// typedefs reports whether the declaration around token i is a typedef.
func (p *preparer) typedefs(i int) bool {
	for j := i; j >= 0 && j > i-12; j-- {
		switch p.text(j) {
		case "typedef":
			return true
		case ";", "{", "}":
			return false
		}
	}
	return false
}

func isSpecifier(word string) bool {
	return hasWord("static inline extern constexpr virtual explicit friend typedef mutable consteval constinit thread_local", word)
}

func isStatement(word string) bool {
	return hasWord("if else for while do switch return case goto break continue try catch throw new delete", word)
}
