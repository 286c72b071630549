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
	for _, t := range texts {
		if t.Dynamic {
			c.opaque("the program is not known before it runs")
			continue
		}
		p := awkProgram{c: c, s: t.Text}
		if !p.read() {
			c.opaque("a program that is not understood")
		}
	}
	for _, f := range files {
		if name, _, ok := strings.Cut(f.Text, "="); ok && !f.Dynamic && name != "" && name[0] > '9' && strings.Trim(name, awkName) == "" {
			continue
		}
		if strings.HasPrefix(f.Text, "/inet") {
			c.awkNet(f.Text)
			continue
		}
		c.does(Read, f)
	}
}

// awkNet notes a name that gawk takes for a connection.
func (c *Call) awkNet(name string) {
	c.opaque("its program reaches the network")
	c.Shell.Net(Net{Source: name, Opaque: "the host is not known"})
}

// An awkProgram reads as much of awk's language as every awk takes for the
// same: no functions of its own, no commands, no input but its files, and no
// output but a file whose name stands there. A slash begins an expression or
// divides; where both could be, it may be the last one only.
type awkProgram struct {
	c        *Call
	s        string
	i        int
	operand  byte // what stands before: awkStart, awkOperand or awkEither
	printing bool // the statement prints, so > names a file
	depth    int  // of parentheses
}

const (
	awkStart   byte = iota // an operand comes next, so a slash begins an expression
	awkOperand             // an operand stood here, so a slash divides
	awkEither
)

const (
	awkName  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_" + digits
	awkWords = "if else while for do in next nextfile exit delete return break continue print printf BEGIN END BEGINFILE ENDFILE switch case default"
	awkCalls = "if while for switch in print printf length substr index split sub gsub match sprintf tolower toupper int sqrt exp log sin cos atan2 rand srand gensub strftime systime mktime asort asorti strtonum and or xor compl lshift rshift patsplit isarray typeof close fflush exit return delete"
	awkOther = "system getline ARGV ARGC PROCINFO SYMTAB FUNCTAB function func"
)

// read goes through the program; false for what it does not understand.
func (p *awkProgram) read() bool {
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == ' ' || c == '\t' || c == '\r':
			p.i++
		case c == '#':
			p.until('\n', false)
		case strings.IndexByte("\n;{}", c) >= 0:
			p.i++
			p.printing, p.operand = false, awkStart
			if p.depth != 0 && c != ';' {
				return false
			}
		case c == '"':
			if p.i++; !p.until('"', true) {
				return false
			}
			p.operand = awkOperand
		case c == '/':
			if !p.slash() {
				return false
			}
		case c == '.' || strings.IndexByte(awkName, c) >= 0:
			if !p.word() {
				return false
			}
		default:
			if !p.operator(c) {
				return false
			}
		}
	}
	return p.depth == 0
}

// until passes over the next d; escaped says that a backslash hides it, and
// that it stands in the same line.
func (p *awkProgram) until(d byte, escaped bool) bool {
	for ; p.i < len(p.s); p.i++ {
		c := p.s[p.i]
		switch {
		case c == d:
			if d != '\n' {
				p.i++
			}
			return true
		case !escaped:
		case c == '\n' || c >= 0x80 && strings.HasPrefix(p.s[p.i+1:], `\`):
			return false
		case c == '\\':
			if p.i++; p.i < len(p.s) && p.s[p.i] == '\n' {
				return false
			}
		case c == '[' && d == '/':
			n := bracketEnd(p.s[p.i:], d)
			if n == 0 {
				return false
			}
			p.i += n - 1
		}
	}
	return d == '\n'
}

func (p *awkProgram) slash() bool {
	p.i++
	switch {
	case p.operand == awkStart:
		p.operand = awkOperand
		return p.until('/', true)
	case p.operand == awkEither && strings.Contains(p.s[p.i:], "/"):
		return false
	}
	p.operand = awkStart
	return true
}

func (p *awkProgram) word() bool {
	start := p.i
	for p.i < len(p.s) && (p.s[p.i] == '.' || strings.IndexByte(digits, p.s[p.i]) >= 0) {
		p.i++
	}
	number := p.i > start
	for p.i < len(p.s) && strings.IndexByte(awkName, p.s[p.i]) >= 0 {
		if p.i++; number { // 1e5 is a number, 1system is none
			return false
		}
	}
	w := p.s[start:p.i]
	switch {
	case Has(awkOther, w) || strings.HasPrefix(p.s[p.i:], "(") && !number && !Has(awkCalls, w):
		if w == "system" {
			p.runs(strings.TrimLeft(p.s[p.i:], blanks+"("))
		}
		return false
	case w == "print" || w == "printf":
		p.printing, p.depth = true, 0
	case w == "ENVIRON":
		p.c.lower(Unknown)
	}
	p.operand = awkOperand
	if Has(awkWords, w) || Has("length", w) {
		p.operand = awkEither
	}
	return true
}

// operator passes over an operator that only computes, or a redirection to a
// file.
func (p *awkProgram) operator(c byte) bool {
	two := p.s[p.i:min(p.i+2, len(p.s))]
	p.operand = awkStart
	switch {
	case two == "||" || two == "&&" || two == ">=":
		p.i += 2
		return true
	case two == "++" || two == "--":
		p.operand = awkEither
		p.i += 2
		return true
	case c == '|':
		before := p.s[:p.i]
		p.i++
		if p.printing {
			p.runs(strings.TrimLeft(p.s[p.i:], blanks+"&"))
		} else if i := strings.LastIndexByte(strings.TrimRight(before, blanks+`"`), '"'); i >= 0 {
			p.runs(before[i:])
		}
		return false
	case c == '>' && p.printing && p.depth == 0:
		return p.redirect()
	case strings.IndexByte("+-*%^!~<>=?:,()[]$", c) < 0:
		return false
	case c == '(' || c == '[':
		p.depth++
	case c == ')' || c == ']':
		p.depth--
		p.operand = awkEither
		if c == ']' {
			p.operand = awkOperand
		}
	case c == '$':
		p.operand = awkEither
	}
	p.i++
	return true
}

// redirect reads the file that a statement prints to: a constant alone.
func (p *awkProgram) redirect() bool {
	rest := strings.TrimLeft(strings.TrimLeft(p.s[p.i:], ">"), blanks)
	p.i = len(p.s) - len(rest)
	name, after, ok := strings.Cut(strings.TrimPrefix(rest, `"`), `"`)
	if !ok || rest[0] != '"' || name == "" || strings.ContainsAny(name, "\\\n") {
		return false
	}
	if strings.HasPrefix(name, "/inet") {
		p.c.awkNet(name)
		return false
	}
	p.i = len(p.s) - len(after)
	p.operand = awkOperand
	after = strings.TrimLeft(after, blanks)
	whole := after == "" || strings.IndexByte(";}\n", after[0]) >= 0
	p.c.does(Write, Word{Text: name, Dynamic: !whole, Lead: name}) // it may go on, as in "a" $1
	return whole
}

// runs notes a command that the program runs, where it begins as a constant.
func (p *awkProgram) runs(s string) {
	p.c.opaque("its program runs a command")
	if rest, ok := strings.CutPrefix(s, `"`); ok {
		cmd, _, _ := strings.Cut(rest, `"`)
		p.c.Shell.Text(Word{Text: cmd})
	}
}
