package syntax

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// The grammars are of 2023 and 2024, and languages go on. A mend rewrites one thing that
// a grammar does not know into one that it does, byte for byte in its place, so that all
// around it is read, and mistakes in it are still found. It is tried only on a text that
// the grammar cannot read, and kept only where fewer mistakes are left: see [parseMended].
// TestNewer holds what is mended, and that no mistake is hidden by it.

// A mend rewrites a text of the same length; nil where there is nothing to do. Whether the grammar
// reads a piece that is taken away, in a text of its own, tells reads: no mistake in it is hidden.
type mend func(src []byte, reads func(text string) bool) []byte

// swap puts a text in the place of the first group of a pattern that matched, padded
// with blanks.
func swap(pattern, with string) mend {
	return func(src []byte, _ func(string) bool) (out []byte) {
		for _, m := range regexp.MustCompile(pattern).FindAllSubmatchIndex(src, -1) {
			if len(m) > 3 && m[2] >= 0 {
				out = put(src, out, m[2], m[3], with)
			}
		}
		return out
	}
}

// put writes a text over out, or over a copy of src where that is nil, from one place to another.
func put(src, out []byte, from, to int, with string) []byte {
	if out == nil {
		out = bytes.Clone(src)
	}
	for i := from; i < to; i++ {
		switch {
		case i-from < len(with):
			out[i] = with[i-from]
		case out[i] != '\n' && out[i] != '\r':
			out[i] = ' '
		}
	}
	return out
}

// pairs finds where brackets close. However many are asked for, it looks at no more
// bytes than left says: in a broken file each might be looked for up to the end.
type pairs struct{ left int }

// newPairs looks at enough for any file that somebody has written.
func newPairs() *pairs { return &pairs{32 << 20} }

// end is where the bracket at i is closed; -1 where it is not. Brackets in quotes do not count.
func (b *pairs) end(src []byte, i int) int { return b.find(src, i, false) }

// statement is where the first semicolon outside brackets stands; -1 where there is none.
func (b *pairs) statement(src []byte) int { return b.find(src, 0, true) }

// find goes on to where the bracket at i is closed, or to a semicolon outside brackets.
func (b *pairs) find(src []byte, i int, semicolon bool) int {
	depth, from := 0, i
	defer func() { b.left -= i - from }()
	for ; i < len(src); i++ {
		switch c := src[i]; {
		case c == '\'' || c == '"':
			i = quotedEnd(src, i) - 1
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
			if depth == 0 && !semicolon {
				return i
			}
		case c == ';' && depth == 0 && semicolon:
			return i
		}
		if depth < 0 || i-from > b.left {
			break
		}
	}
	return -1
}

func pythonMends() []mend {
	return []mend{
		swap(`\b(?:[rR]?)([tT])[rR]?["']`, "f"), // t"…"
		mendTypeDefaults,
		func(src []byte, _ func(string) bool) (out []byte) { // except* A, B:
			for _, m := range regexp.MustCompile(`(?m)^[ \t]*except\*?[ \t]+([\w.]+(?:[ \t]*,[ \t]*[\w.]+)+)[ \t]*:`).FindAllSubmatchIndex(src, -1) {
				out = put(src, out, m[2], m[3], strings.ReplaceAll(string(src[m[2]:m[3]]), ",", "|"))
			}
			return out
		},
	}
}

// mendTypeDefaults blanks the defaults of type parameters: def f[T = int]().
func mendTypeDefaults(src []byte, _ func(string) bool) (out []byte) {
	b, past := newPairs(), 0
	value := regexp.MustCompile(`[^=!<>](=[ \t]*[\w.]+(?:\[[^\[\]\n]*\])?)[ \t]*[,\]]`)
	for _, m := range regexp.MustCompile(`(?m)^[ \t]*(?:async[ \t]+)?(?:def|class|type)[ \t]+\w+(\[)`).FindAllSubmatchIndex(src, -1) {
		if m[0] < past { // what is in another one is looked at with it
			continue
		}
		end := b.end(src, m[2])
		if end < 0 {
			continue
		}
		past = end
		for _, v := range value.FindAllSubmatchIndex(src[:end+1][m[2]:], -1) {
			out = put(src, out, m[2]+v[2], m[2]+v[3], "")
		}
	}
	return out
}

func javaScriptMends() []mend {
	return append(commonScriptMends(),
		swap(`[{;}\n][ \t]*(?:@[\w.]+(?:\([^()\n]*\))?[ \t]+)*(?:static[ \t]+)?(accessor)[ \t]+[#\w$]+[ \t]*[=;]`, ""))
}

func typeScriptMends() []mend {
	return append([]mend{mendScript}, commonScriptMends()...)
}

func commonScriptMends() []mend {
	return []mend{
		swap(`\bfrom\s*(?:'[^'\n]*'|"[^"\n]*")\s*(with\s*\{\s*(?:[\w'"]+\s*:\s*(?:'[^'\n]*'|"[^"\n]*")\s*,?\s*)*\})`, ""),
		swap(`\bexport\s+(type)\s*\*`, ""),
		swap(`\bimport\s+(defer)\s+\*\s+as\b`, ""),
		swap(`(?m)(?:^|[;{(])[ \t]*((?:await[ \t]+)?using)[ \t]+[\w$]+[ \t]*(?::[^=\n]+)?(?:=[^=>]|of\b)`, "const"),
	}
}

func rustMends() []mend {
	return []mend{
		swap(`\b(async)\s+(?:move\s+)?\|`, ""),
		swap(`\b(for<[^<>\n]*>)\s*(?:async\s+)?(?:move\s+)?\|`, ""),
		swap(`\b(gen)\s+fn\b`, ""),
		swap(`\b(gen(?:\s+move)?)\s*\{`, ""),
		swap(`\b(unsafe)\s+extern\s*(?:"[^"\n]*"\s*)?\{`, ""),
		swap(`\b(safe)\s+(?:fn|static)\b`, ""),
		swap(`&\s*(raw\s+(?:const|mut))\s+[\w(*]`, ""),
		swap(`[{,|(]\s*(\.\.=)\s*[\w'-]`, ""),
	}
}

func javaMends() []mend {
	return []mend{
		swap(`(?m)^[ \t]*import[ \t]+(module)[ \t]+[\w.]+[ \t]*;`, ""),
		mendConstructors,
	}
}

// mendConstructors makes calls of methods of super() and this() that stand behind other statements
// of a constructor: right in its body, for nowhere else are they allowed.
func mendConstructors(src []byte, _ func(string) bool) (out []byte) {
	var types []string
	for _, m := range regexp.MustCompile(`\b(?:class|enum|record)\s+(\w+)`).FindAllSubmatch(src, -1) {
		types = append(types, string(m[1]))
	}
	b := newPairs()
	open := regexp.MustCompile(`^\s*(?:throws\s[\w\s.,@]+)?\{`)
	before := regexp.MustCompile(`(?:^|\n|[{};)>/]|\b(?:public|protected|private)|@[\w.]+)[ \t]*$`)
	for _, m := range regexp.MustCompile(`\b(\w+)\s*(\()`).FindAllSubmatchIndex(src, -1) {
		if !slices.Contains(types, string(src[m[2]:m[3]])) || !before.Match(src[max(0, m[2]-200):m[2]]) {
			continue
		}
		end := b.end(src, m[4])
		if end < 0 {
			continue
		}
		if body := open.FindIndex(src[end+1:]); body != nil {
			for _, at := range b.constructorCalls(src, end+body[1]) {
				out = put(src, out, at, at+2, map[byte]string{'s': "sU", 't': "tH"}[src[at]])
			}
		}
	}
	return out
}

// constructorCalls are the places of super( and this( behind other statements right in the body whose
// bracket is at i.
func (b *pairs) constructorCalls(src []byte, i int) (list []int) {
	call := regexp.MustCompile(`^(?:super|this)\s*\(`)
	depth, from, last := 0, i, byte(0) // last is the last byte that is neither blank nor of a comment
	defer func() { b.left -= i - from }()
	for i < len(src) && i-from <= b.left {
		c, next := src[i], i+1
		switch rest := src[i:]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			i = next
			continue
		case bytes.HasPrefix(rest, []byte("//")):
			i = lineEnd(src, i)
			continue
		case bytes.HasPrefix(rest, []byte("/*")):
			i = commentEnd(src, i)
			continue
		case bytes.HasPrefix(rest, []byte(`"""`)):
			if n := bytes.Index(rest[3:], []byte(`"""`)); n >= 0 {
				next = i + n + 6
			}
		case c == '\'' || c == '"':
			next = quotedEnd(src, i)
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return list
			}
		case depth == 1 && (last == ';' || last == '}') && call.Match(rest):
			list = append(list, i)
		}
		last, i = c, next
	}
	return list
}

// rubyMends reads def a = puts "b", whose body is a call without parentheses.
func rubyMends() []mend {
	return []mend{func(src []byte, reads func(string) bool) (out []byte) {
		b := newPairs()
		for _, m := range regexp.MustCompile(`(?m)^[ \t]*(?:\w+[ \t]+)?def[ \t]+[\w.]+[?!]?(?:\([^()\n]*\))?[ \t]+=[ \t]+([a-z_]\w*[?!]?[ \t]+[\w"':@\[][^\n]*)$`).FindAllSubmatchIndex(src, -1) {
			body := src[m[2]:m[3]]
			name, _, _ := strings.Cut(string(body), " ")
			text := strings.TrimRight(string(body), " \t\r")
			if hasWord("if unless not case begin while until do and or def class", name) || strings.HasSuffix(text, " do") || strings.HasSuffix(text, "|") || strings.ContainsAny(text[len(text)-1:], ",+-*/=&.(\\") {
				continue
			}
			wrapped := append(append([]byte{'('}, body...), ')')
			if b.end(wrapped, 0) == len(wrapped)-1 && strings.Count(text, `"`)%2 == 0 && strings.Count(text, "'")%2 == 0 && reads(text+"\n") {
				out = put(src, out, m[2], m[3], "0")
			}
		}
		return out
	}}
}

func phpMends() []mend {
	return []mend{
		mendHooks,
		swap(`\b(?:public|protected|private)\s+((?:public|protected|private)\(set\))`, ""),
		swap(`\b(?:public|protected|private)(\(set\))`, ""),
		mendNew,
		mendEnumConstants,
		swap(`(\|>)`, "||"),
		swap(`\b(clone)\s*\(`, "c1one"),
	}
}

// mendHooks takes the hooks of a property away: $a { get => 1; set; }.
func mendHooks(src []byte, reads func(string) bool) (out []byte) {
	b, past := newPairs(), 0
	for _, m := range regexp.MustCompile(`\b(?:public|protected|private|readonly|static|var|\(set\))\s+[^;{}()$]*\$\w+(?:\s*=\s*[^;{}]*?)?\s*(\{)\s*(?:final\s+)?(?:&\s*get|get|set)\b`).FindAllSubmatchIndex(src, -1) {
		if m[0] < past {
			continue
		}
		end := b.end(src, m[2])
		if end < 0 || !b.areHooks(src[m[2]+1:end], reads) {
			continue
		}
		past = end
		semicolon := ";"
		if rest := bytes.TrimLeft(src[end+1:], " \t\r\n"); len(rest) > 0 && (rest[0] == ',' || rest[0] == ')') {
			semicolon = "" // a parameter of a constructor
		}
		out = put(src, out, m[2], end+1, semicolon)
	}
	return out
}

// areHooks reports whether a text is the hooks of a property and nothing else, and they can be read.
func (b *pairs) areHooks(body []byte, reads func(string) bool) bool {
	head := regexp.MustCompile(`^\s*(?:final\s+)?(?:&\s*)?(?:get|set)\b\s*(?:\([^(){};]*\$\w+\s*\)\s*)?`)
	for len(bytes.TrimSpace(body)) > 0 {
		at := head.FindIndex(body)
		if at == nil {
			return false
		}
		body = body[at[1]:]
		switch {
		case bytes.HasPrefix(body, []byte(";")):
			body = body[1:]
		case bytes.HasPrefix(body, []byte("{")):
			end := b.end(body, 0)
			if end < 0 || !reads("<?php function f() "+string(body[:end+1])) {
				return false
			}
			body = body[end+1:]
		case bytes.HasPrefix(body, []byte("=>")):
			end := b.statement(body)
			if end < 0 || len(bytes.TrimSpace(body[2:end])) == 0 || !reads("<?php $x = "+string(body[2:end+1])) {
				return false
			}
			body = body[end+1:]
		default:
			return false
		}
	}
	return true
}

// mendNew leaves out the new of new A()->b().
func mendNew(src []byte, _ func(string) bool) (out []byte) {
	b := newPairs()
	for _, m := range regexp.MustCompile(`\b(new)\s+[\w\\]+\s*(\()`).FindAllSubmatchIndex(src, -1) {
		end := b.end(src, m[4])
		if end < 0 {
			continue
		}
		rest := bytes.TrimLeft(src[end+1:], " \t\r\n")
		for _, next := range [...]string{"->", "?->", "::", "["} {
			if bytes.HasPrefix(rest, []byte(next)) {
				out = put(src, out, m[2], m[3], "")
			}
		}
	}
	return out
}

// mendEnumConstants blanks the constants of an enum.
func mendEnumConstants(src []byte, reads func(string) bool) (out []byte) {
	b, past := newPairs(), 0
	constant := regexp.MustCompile(`[;{}]\s*((?:(?:final|public|protected|private)\s+)*const\s+(?:[\w|?\\]+\s+)?\w+\s*=\s*[^;{}=\s][^;{}=]*;)`)
	for _, m := range regexp.MustCompile(`\benum\s+\w+[^{};()]*(\{)`).FindAllSubmatchIndex(src, -1) {
		if m[0] < past {
			continue
		}
		end := b.end(src, m[2])
		if end < 0 {
			continue
		}
		past = end
		for at := m[2]; ; {
			c := constant.FindSubmatchIndex(src[at:end])
			if c == nil {
				break
			}
			if reads("<?php class A { " + string(src[at+c[2]:at+c[3]]) + " }") {
				out = put(src, out, at+c[2], at+c[3], "")
			}
			at += c[3] - 1 // its semicolon may stand before the next
		}
	}
	return out
}
