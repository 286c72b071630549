package programs

import (
	"strings"
)

// awk reads awk: its program, and the files it is given.
func (c *Call) awk() {
	c.parse()
	texts := []Word(nil)
	for _, o := range c.Given {
		switch {
		case hasName(o.Names, "source"):
			texts = append(texts, o.Value)
		case hasName(o.Names, "file") || hasName(o.Names, "exec"):
			c.does(Read, o.Value)
		}
	}
	files := c.Args
	if !c.has("source", "file", "exec") && len(files) > 0 {
		if files[0].Multi {
			c.opaque("the program is not known before it runs")
		}
		texts, files = append(texts, files[0]), files[1:]
	}
	for _, p := range texts {
		if p.Dynamic {
			c.opaque("the program is not known before it runs")
			continue
		}
		c.awkProgram(p.Text)
	}
	for _, f := range files {
		if name, _, ok := strings.Cut(f.Text, "="); ok && !f.Dynamic && Plain(name) && !strings.ContainsAny(name, "/.") {
			continue
		}
		c.does(Read, f)
	}
}

// An awkToken is a piece of an awk program.
type awkToken struct {
	kind byte // 'w' word, 's' string, 'o' operator, 'r' regular expression, 'n' newline
	text string
}

// awkTokens splits a program. ok is false where it is not understood: a slash
// after a closing parenthesis may divide or start an expression with quotes.
func awkTokens(s string) (out []awkToken, ok bool) {
	ok = true
	operand := false // a slash would divide
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case c == '\\' && i+1 < len(s) && s[i+1] == '\n':
			i += 2
		case c == '#':
			for i < len(s) && s[i] != '\n' {
				i++
			}
		case c == '"':
			j := i + 1
			for j < len(s) && s[j] != '"' {
				if s[j] == '\\' {
					j++
				}
				j++
			}
			if j >= len(s) {
				return out, false
			}
			out = append(out, awkToken{'s', s[i+1 : j]})
			i, operand = j+1, true
		case c == '/' && !operand:
			j := i + 1
			for class := false; j < len(s) && (s[j] != '/' || class); j++ {
				switch s[j] {
				case '\\':
					j++
				case '[':
					class = true
				case ']':
					class = false
				case '\n':
					return out, false
				}
			}
			if j >= len(s) {
				return out, false
			}
			out = append(out, awkToken{'r', s[i : j+1]})
			i, operand = j+1, true
		case c == '\n':
			out = append(out, awkToken{'n', "\n"})
			i, operand = i+1, false
		case wordByte(c) || c == '.':
			j := i
			for j < len(s) && (wordByte(s[j]) || s[j] == '.') {
				j++
			}
			out = append(out, awkToken{'w', s[i:j]})
			operand = !awkKeyword(s[i:j])
			i = j
		default:
			n := 1
			for _, op := range []string{"||", "&&", "|&", ">>", ">=", "<=", "==", "!=", "!~", "++", "--"} {
				if strings.HasPrefix(s[i:], op) {
					n = len(op)
					break
				}
			}
			out = append(out, awkToken{'o', s[i : i+n]})
			if c == '/' && len(out) > 1 && out[len(out)-2].text == ")" && strings.Contains(s[i:], `"`) {
				ok = false
			}
			operand = c == ')' || c == ']' || s[i:i+n] == "++" || s[i:i+n] == "--"
			i += n
		}
	}
	return out, ok
}

func awkKeyword(s string) bool {
	switch s {
	case "print", "printf", "return", "in", "if", "while", "do", "else", "case", "getline", "delete", "exit":
		return true
	}
	return false
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// awkProgram finds what a program runs, writes and reads besides its input.
func (c *Call) awkProgram(s string) {
	tokens, ok := awkTokens(s)
	if !ok {
		c.opaque("a program that is not understood")
	}
	printing, depth := false, 0
	at := func(i int) awkToken {
		if i < len(tokens) {
			return tokens[i]
		}
		return awkToken{}
	}
	for i, t := range tokens {
		switch {
		case t.kind == 'w' && (t.text == "print" || t.text == "printf"):
			printing, depth = true, 0
		case t.kind == 'n' || t.kind == 'o' && (t.text == ";" || t.text == "{" || t.text == "}"):
			printing = false
		case t.kind == 'o' && (t.text == "(" || t.text == "["):
			depth++
		case t.kind == 'o' && (t.text == ")" || t.text == "]"):
			depth--
		case t.kind == 'w' && t.text == "system":
			c.opaque("its program runs a command")
			if at(i+2).kind == 's' {
				c.Shell.Text(Word{Text: at(i + 2).text})
			}
		case t.kind == 'o' && (t.text == "|" || t.text == "|&"):
			c.opaque("its program runs a command")
			if printing && at(i+1).kind == 's' {
				c.Shell.Text(Word{Text: at(i + 1).text})
			} else if i > 0 && tokens[i-1].kind == 's' {
				c.Shell.Text(Word{Text: tokens[i-1].text})
			}
		case t.kind == 'o' && (t.text == ">" || t.text == ">>") && printing && depth <= 0:
			c.awkFile(Write, at(i+1), at(i+2))
		case t.kind == 'w' && t.text == "getline":
			for k := i + 1; k < i+4; k++ {
				if at(k).text == "<" && at(k).kind == 'o' {
					c.awkFile(Read, at(k+1), at(k+2))
				}
			}
		case t.kind == 'o' && t.text == "@":
			c.opaque("its program loads or calls by name")
		case t.kind == 'w' && (t.text == "ARGV" || t.text == "PROCINFO" || t.text == "ARGC"):
			c.opaque("its program chooses its files itself")
		case t.kind == 'w' && t.text == "ENVIRON":
			c.lower(Unknown)
		}
	}
}

// awkFile lists a file that a program names: a constant alone is known.
func (c *Call) awkFile(role Effect, t, next awkToken) {
	alone := next.kind == 0 || next.kind == 'n' || next.kind == 'o' && strings.Contains(";})", next.text)
	if t.kind != 's' || !alone || strings.Contains(t.text, `\`) {
		c.opaque("a file that its program names")
		if t.kind != 's' {
			return
		}
	}
	if strings.HasPrefix(t.text, "/inet") {
		c.opaque("its program reaches the network")
		c.Shell.Net(Net{Source: t.text, Opaque: "the host is not known"})
		return
	}
	c.does(role, Word{Text: t.text})
}
