package programs

import (
	"strings"
)

// sed reads sed: its scripts, and the files that -i changes.
func (c *Call) sed() {
	c.parse()
	scripts := []Word(nil)
	for _, o := range c.Given {
		switch {
		case hasName(o.Names, "expression"):
			scripts = append(scripts, o.Value)
		case hasName(o.Names, "file"):
			c.does(Read, o.Value)
		}
	}
	files := c.Args
	if !c.has("expression", "file") && len(files) > 0 {
		if files[0].Multi {
			c.opaque("the script is not known before it runs")
		}
		scripts, files = append(scripts, files[0]), files[1:]
	}
	role := Read
	if c.has("in-place", "I") {
		role = Write
		c.lower(Known)
	}
	for _, s := range scripts {
		if s.Dynamic {
			c.opaque("the script is not known before it runs")
			continue
		}
		p := sedScript{c: c, s: s.Text}
		if !p.read() {
			c.opaque("a script that is not understood")
		}
	}
	for _, f := range files {
		c.does(role, f)
	}
}

// A sedScript reads the commands of a script.
type sedScript struct {
	c *Call
	s string
	i int
}

func (p *sedScript) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

func (p *sedScript) skip(set string) {
	for p.i < len(p.s) && strings.IndexByte(set, p.s[p.i]) >= 0 {
		p.i++
	}
}

// read goes through the script; false for what it does not understand.
func (p *sedScript) read() bool {
	for {
		p.skip(" \t\n;}")
		if p.i >= len(p.s) {
			return true
		}
		if !p.address() {
			return false
		}
		p.skip(" \t!")
		if !p.command() {
			return false
		}
	}
}

// address skips the lines that a command is for.
func (p *sedScript) address() bool {
	for {
		p.skip(" \t")
		switch c := p.peek(); {
		case c >= '0' && c <= '9' || c == '$' || c == '+' || c == '~':
			p.i++
		case c == ',':
			p.i++
		case c == '/':
			p.i++
			if !p.until('/') {
				return false
			}
			p.skip("IM")
		case c == '\\':
			if p.i+1 >= len(p.s) {
				return false
			}
			d := p.s[p.i+1]
			p.i += 2
			if !p.until(d) {
				return false
			}
			p.skip("IM")
		default:
			return true
		}
	}
}

// until skips past the next d that is not escaped or in brackets.
func (p *sedScript) until(d byte) bool {
	for ; p.i < len(p.s); p.i++ {
		switch p.s[p.i] {
		case '\\':
			p.i++
		case '\n':
			if d != '\n' {
				continue
			}
			return false
		case d:
			p.i++
			return true
		}
	}
	return false
}

// line gives the rest of the line.
func (p *sedScript) line() string {
	s := p.s[p.i:]
	if j := strings.IndexByte(s, '\n'); j >= 0 {
		s = s[:j]
	}
	p.i += len(s)
	return strings.TrimLeft(s, " \t")
}

func (p *sedScript) command() bool {
	c := p.peek()
	p.i++
	switch c {
	case 0, '{', '}', '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'F', 'z':
		return p.end()
	case 'l', 'L', 'q', 'Q':
		p.skip(" \t0123456789")
		return p.end()
	case '#':
		p.line()
	case ':', 'b', 't', 'T':
		for p.i < len(p.s) && strings.IndexByte("\n;}", p.s[p.i]) < 0 {
			p.i++
		}
	case 'a', 'i', 'c':
		p.text()
	case 'y', 's':
		return p.substitute(c)
	case 'r', 'R':
		p.c.does(Read, Word{Text: p.line()})
	case 'w', 'W':
		p.c.does(Write, Word{Text: p.line()})
	case 'e':
		cmd := p.line()
		p.c.opaque("its script runs a command")
		if cmd != "" {
			p.c.Shell.Text(Word{Text: cmd})
		}
	case 'v':
		p.line()
	default:
		return false
	}
	return true
}

// end reports whether a command that takes nothing ends here.
func (p *sedScript) end() bool {
	p.skip(" \t")
	return p.i >= len(p.s) || strings.IndexByte(";\n}#", p.s[p.i]) >= 0 || p.s[p.i-1] == '{' || strings.IndexByte("{", p.s[p.i-1]) >= 0 || p.opened()
}

// opened reports whether the last command was a brace, after which another
// may follow at once.
func (p *sedScript) opened() bool {
	return strings.HasSuffix(strings.TrimRight(p.s[:p.i], " \t"), "{")
}

// text skips the text of a, i and c, which goes on after a backslash.
func (p *sedScript) text() {
	for p.i < len(p.s) {
		j := strings.IndexByte(p.s[p.i:], '\n')
		if j < 0 {
			p.i = len(p.s)
			return
		}
		p.i += j + 1
		if p.i < 2 || p.s[p.i-2] != '\\' {
			return
		}
	}
}

// substitute reads s and y: the flags of s may write or run.
func (p *sedScript) substitute(kind byte) bool {
	d := p.peek()
	p.i++
	if d == 0 || d == '\n' || d == '\\' || !p.until(d) {
		return false
	}
	start := p.i
	if !p.until(d) {
		return false
	}
	replacement := p.s[start : p.i-1]
	for kind == 's' {
		switch f := p.peek(); {
		case f == 'w':
			p.i++
			p.c.does(Write, Word{Text: p.line()})
			return true
		case f == 'e':
			p.i++
			p.c.opaque("its script runs a command")
			p.c.Shell.Text(Word{Text: replacement})
		case f != 0 && strings.IndexByte("gpiImM0123456789", f) >= 0:
			p.i++
		default:
			return p.end()
		}
	}
	return p.end()
}
