package programs

import (
	"path"
	"slices"
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
	shows := c.has("debug") || c.has("file") // whether what is read may come to stand elsewhere
	for _, s := range scripts {
		if s.Dynamic {
			shows = true
			c.opaque("the script is not known before it runs")
			continue
		}
		p := sedScript{c: c, s: s.Text}
		if !p.read() {
			c.opaque("a script that is not understood")
			p.writes = true
		}
		shows = shows || p.writes || p.tells || p.holds && (len(files) > 1 || slices.ContainsFunc(files, func(x Word) bool { return x.Dynamic }))
	}
	if !c.has("in-place", "I") {
		for _, f := range files {
			c.does(Read, f)
		}
		return
	}
	c.lower(Known)
	for _, f := range files {
		c.does(Write, f)
		if shows || !c.has("follow-symlinks") && c.isLink(f) { // a copy takes the place of the link
			c.does(Read, f)
		}
	}
	for _, o := range c.Given {
		if !o.HasValue || !hasName(o.Names, "in-place") && !hasName(o.Names, "I") || o.Value.Text == "" && !o.Value.Dynamic {
			continue
		}
		endings := []string{o.Value.Text}
		if o.Value.Dynamic || strings.ContainsAny(o.Value.Text, "/*") {
			c.opaque("the old file is kept under another name")
			endings = nil
		}
		for _, f := range files {
			if c.keeps(f, endings...); !f.Dynamic {
				c.does(Write, Word{Text: f.Text + o.Value.Text})
			}
		}
	}
}

// isLink reports whether a name may be that of a link.
func (c *Call) isLink(x Word) bool {
	if x.Dynamic {
		return false
	}
	dirs := c.Shell.Resolve(path.Dir(x.Text))
	return slices.ContainsFunc(c.Shell.Resolve(x.Text), func(p Path) bool {
		return !slices.ContainsFunc(dirs, func(dir Path) bool { return p.Path == path.Join(dir.Path, path.Base(x.Text)) })
	})
}

// A sedScript reads as much of sed's language as every sed takes for the same:
// where an expression ends by one way of reading and not by another, it is not
// understood. A line that one sed takes for a label and another for commands
// holds harmless commands only, and the next line is a command to both.
type sedScript struct {
	c      *Call
	s      string
	i      int
	labels bool // a label may hide what stands on its line
	broken bool // a command goes on in the next line
	writes bool // it writes what it reads to a file
	tells  bool // how it ends, or whether, tells of what it reads
	holds  bool // it takes what it reads from one file along to the next
}

// sedPlain is what may stand in the name of a file; sedDelimiters are what may
// enclose an expression.
const (
	sedPlain      = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,/+@-"
	sedDelimiters = "/|#,@!~:%+"
	blanks        = " \t"
	digits        = "0123456789"
)

func (p *sedScript) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

// skip passes over bytes of a set, and reports whether there were any.
func (p *sedScript) skip(set string) bool {
	start := p.i
	for p.i < len(p.s) && strings.IndexByte(set, p.s[p.i]) >= 0 {
		p.i++
	}
	return p.i > start
}

// read goes through the script; false for what it does not understand.
func (p *sedScript) read() bool {
	for {
		p.skip(" \t\n;}")
		if p.i >= len(p.s) {
			return !p.labels || !p.broken
		}
		if !p.address() {
			return false
		}
		if p.skip(blanks); p.peek() == ',' {
			p.i++
			p.skip(blanks)
			p.skip("+~")
			if !p.address() {
				return false
			}
		}
		p.skip(" \t!")
		if !p.command() {
			return false
		}
	}
}

// address passes over one address, or none.
func (p *sedScript) address() bool {
	switch c := p.peek(); {
	case p.skip(digits):
		if p.peek() == '~' {
			p.i++
			return p.skip(digits)
		}
	case c == '$':
		p.i++
	case c == '/' || c == '\\' && p.i+1 < len(p.s) && strings.IndexByte(sedDelimiters, p.s[p.i+1]) >= 0:
		if c == '\\' {
			p.i++
		}
		d := p.peek()
		p.i++
		if !p.until(d, true) {
			return false
		}
		p.skip("IM")
	}
	return true
}

// until passes over the next d that is not escaped. An expression may hold
// brackets, in which only some seds take it for the end.
func (p *sedScript) until(d byte, expression bool) bool {
	for p.i < len(p.s) {
		c := p.s[p.i]
		switch {
		case c == d:
			p.i++
			return true
		case c == '\n', c >= 0x80 && p.swallows(d):
			return false
		case c == '\\':
			if p.i++; p.peek() == '\n' {
				if p.broken = true; expression {
					return false
				}
			}
		case c == '[' && expression:
			if !p.bracket(d) {
				return false
			}
			continue
		}
		p.i++
	}
	return false
}

// swallows reports whether in some character set the byte behind the one at p
// belongs to it, though it means something by itself.
func (p *sedScript) swallows(d byte) bool {
	return p.i+1 < len(p.s) && (p.s[p.i+1] == '\\' || p.s[p.i+1] == d && d >= '0')
}

// bracket passes over a bracket expression that holds neither d nor what
// moves its end.
func (p *sedScript) bracket(d byte) bool {
	end := bracketEnd(p.s[p.i:], d)
	p.i += end
	return end > 0
}

// bracketEnd is the length of the bracket expression at the start of s; 0
// where it holds the delimiter d, or where not everybody finds its end there.
func bracketEnd(s string, d byte) int {
	i := 1
	if strings.HasPrefix(s[i:], "^") {
		i++
	}
	for first := i; i < len(s); i++ {
		switch c := s[i]; {
		case c == ']' && i > first:
			return i + 1
		case c == d || c == '\n' || c >= 0x80:
			return 0
		case c == '\\':
			if i++; i >= len(s) || s[i] == ']' || s[i] == '\n' || s[i] == '[' {
				return 0
			}
		case c == '[':
			n := 0
			for _, class := range []string{"[:alpha:]", "[:digit:]", "[:alnum:]", "[:space:]", "[:upper:]", "[:lower:]", "[:punct:]", "[:blank:]", "[:xdigit:]"} {
				if strings.HasPrefix(s[i:], class) {
					n = len(class)
				}
			}
			if n == 0 {
				return 0
			}
			i += n - 1
		}
	}
	return 0
}

func (p *sedScript) command() bool {
	c := p.peek()
	p.i++
	switch c {
	case '{':
		return true
	case 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'x':
		p.holds, p.tells = true, p.tells || c == 'D'
		return p.end()
	case '=', 'd', 'p', 'P', 'F', 'z':
		return p.end()
	case 'l', 'q', 'Q':
		p.skip(blanks)
		p.tells = p.skip(digits) && c != 'l' || p.tells
		return p.end()
	case '#':
		p.comment()
		return true
	case ':', 'b', 't', 'T':
		p.labels, p.tells = true, p.tells || c == ':' // it may run for ever
		p.skip(blanks)
		p.skip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
		p.skip(blanks)
		p.skip("}") // to some it belongs to the label
		return p.i >= len(p.s) || p.peek() == ';' || p.peek() == '\n'
	case 'a', 'i', 'c':
		return p.text()
	case 'y':
		d := p.delimiter()
		return d != 0 && p.until(d, false) && p.until(d, false) && p.end()
	case 's':
		return p.substitute()
	case 'r':
		return p.file(Read)
	case 'w', 'W':
		return p.file(Write)
	case 'e':
		p.runs(strings.TrimLeft(p.s[p.i:], blanks))
	}
	return false
}

// runs notes a command that a script runs.
func (p *sedScript) runs(cmd string) {
	p.c.opaque("its script runs a command")
	p.c.Shell.Text(Word{Text: cmd})
}

// end reports whether a command ends here.
func (p *sedScript) end() bool {
	p.skip(blanks)
	switch p.peek() {
	case ';', '\n', '}':
		return true
	case '#':
		p.comment()
		return true
	}
	return p.i >= len(p.s)
}

func (p *sedScript) comment() {
	if n := strings.IndexByte(p.s[p.i:], '\n'); n >= 0 {
		p.i += n
	} else {
		p.i = len(p.s)
	}
}

// text passes over the text of a, i and c, which goes on after a backslash.
func (p *sedScript) text() bool {
	p.skip(blanks)
	if strings.HasPrefix(p.s[p.i:], "\\\n") {
		p.i++
	} else if p.peek() == '\n' {
		return false
	}
	if p.peek() == '\n' {
		p.broken = true
		p.i++
	}
	for ; p.i < len(p.s) && p.s[p.i] != '\n'; p.i++ {
		if p.s[p.i] == '\\' {
			if p.i++; p.i >= len(p.s) {
				return false // what follows would belong to it
			}
			p.broken = p.broken || p.s[p.i] == '\n'
		} else if p.s[p.i] >= 0x80 && p.swallows('\n') {
			return false
		}
	}
	return true
}

// file reads the name of a file, which the end of the line ends.
func (p *sedScript) file(role Effect) bool {
	p.skip(blanks)
	start := p.i
	if !p.skip(sedPlain) || p.i < len(p.s) && p.s[p.i] != '\n' {
		return false
	}
	p.c.does(role, Word{Text: p.s[start:p.i]})
	p.writes = p.writes || role == Write
	return true
}

func (p *sedScript) delimiter() byte {
	d := p.peek()
	if d == 0 || strings.IndexByte(sedDelimiters, d) < 0 {
		return 0
	}
	p.i++
	return d
}

// substitute reads s: its flags may write or run.
func (p *sedScript) substitute() bool {
	d := p.delimiter()
	if d == 0 || !p.until(d, true) {
		return false
	}
	start := p.i
	if !p.until(d, false) {
		return false
	}
	replacement := p.s[start : p.i-1]
	p.skip("gpiImM" + digits)
	switch p.peek() {
	case 'w':
		p.i++
		return p.file(Write)
	case 'e':
		p.runs(replacement)
		return false
	}
	return p.end()
}
