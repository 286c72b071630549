package shellparse

import (
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// awk reads awk: its program, and the files it is given.
func (w *walker) awk(c *call) {
	w.options(c, c.prog.Options, c.prog.Style)
	texts := []word(nil)
	for _, o := range c.opts {
		switch {
		case hasName(o.names, "source"):
			texts = append(texts, o.val)
		case hasName(o.names, "file") || hasName(o.names, "exec"):
			w.role(c, programs.Read, o.val)
		}
	}
	files := c.args
	if !c.given("source", "file", "exec") && len(files) > 0 {
		if files[0].multi {
			c.opaque(w, "the program is not known before it runs")
		}
		texts, files = append(texts, files[0]), files[1:]
	}
	for _, p := range texts {
		if p.dyn {
			c.opaque(w, "the program is not known before it runs")
			continue
		}
		w.awkProgram(c, p.text)
	}
	for _, f := range files {
		if name, _, ok := strings.Cut(f.text, "="); ok && !f.dyn && plain(name) && !strings.ContainsAny(name, "/.") {
			continue
		}
		w.role(c, programs.Read, f)
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
func (w *walker) awkProgram(c *call, s string) {
	tokens, ok := awkTokens(s)
	if !ok {
		c.opaque(w, "a program that is not understood")
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
			c.opaque(w, "its program runs a command")
			if at(i+2).kind == 's' {
				w.shellText(c, word{text: at(i + 2).text})
			}
		case t.kind == 'o' && (t.text == "|" || t.text == "|&"):
			c.opaque(w, "its program runs a command")
			if printing && at(i+1).kind == 's' {
				w.shellText(c, word{text: at(i + 1).text})
			} else if i > 0 && tokens[i-1].kind == 's' {
				w.shellText(c, word{text: tokens[i-1].text})
			}
		case t.kind == 'o' && (t.text == ">" || t.text == ">>") && printing && depth <= 0:
			w.awkFile(c, programs.Write, at(i+1), at(i+2))
		case t.kind == 'w' && t.text == "getline":
			for k := i + 1; k < i+4; k++ {
				if at(k).text == "<" && at(k).kind == 'o' {
					w.awkFile(c, programs.Read, at(k+1), at(k+2))
				}
			}
		case t.kind == 'o' && t.text == "@":
			c.opaque(w, "its program loads or calls by name")
		case t.kind == 'w' && (t.text == "ARGV" || t.text == "PROCINFO" || t.text == "ARGC"):
			c.opaque(w, "its program chooses its files itself")
		case t.kind == 'w' && t.text == "ENVIRON":
			c.lower(w, policy.Unknown)
		}
	}
}

// awkFile lists a file that a program names: a constant alone is known.
func (w *walker) awkFile(c *call, role programs.Effect, t, next awkToken) {
	alone := next.kind == 0 || next.kind == 'n' || next.kind == 'o' && strings.Contains(";})", next.text)
	if t.kind != 's' || !alone || strings.Contains(t.text, `\`) {
		c.opaque(w, "a file that its program names")
		if t.kind != 's' {
			return
		}
	}
	if strings.HasPrefix(t.text, "/inet") {
		c.opaque(w, "its program reaches the network")
		w.emit(policy.Access{Kind: policy.Net, Parent: c.index + 1, Source: t.text, Opaque: "the host is not known"})
		return
	}
	w.role(c, role, word{text: t.text})
}
