package rg

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type syntaxFlags struct {
	fold, dotNL, swapLazy, extended, ascii, textAnchors bool
}

// A parser reads the regex syntax that ripgrep documents, and takes a brace
// that is no repetition as itself, where ripgrep stops with an error.
type parser struct {
	src      string
	pos      int
	flags    syntaxFlags
	multi    bool // a match may hold line breaks
	crlf     bool // a line may end in \r\n, and $ stands before that
	depth    int
	anyLit   bool // the pattern has a literal character
	anyUpper bool // … and an upper-case one
}

const maxDepth = 250

func (p *parser) fail(at int, format string, args ...any) error {
	return &PatternError{Pattern: p.src, Offset: at, Message: fmt.Sprintf(format, args...)}
}

func (p *parser) pcre(at int, what string) error {
	return &PatternError{Pattern: p.src, Offset: at, Message: what + " is not supported by a linear-time engine", PCRE: true}
}

// parsePattern parses src; literal takes every character as itself.
func parsePattern(src string, literal, fold, smart, multi, dotNL, crlf bool) (*node, error) {
	if !utf8.ValidString(src) {
		return nil, &PatternError{Pattern: src, Message: "the pattern is not valid UTF-8"}
	}
	run := func(fold bool) (*node, *parser, error) {
		p := &parser{src: src, multi: multi, crlf: crlf, flags: syntaxFlags{fold: fold, dotNL: dotNL}}
		if literal {
			n, err := p.literals()
			return n, p, err
		}
		n, err := p.alternation()
		if err == nil && p.pos < len(p.src) {
			err = p.fail(p.pos, "unopened group")
		}
		return n, p, err
	}
	n, p, err := run(fold)
	if err == nil && smart && !fold && p.anyLit && !p.anyUpper {
		n, _, err = run(true)
	}
	if err == nil && !multi {
		n.withinLines()
	}
	return n, err
}

// withinLines takes the line break out of all sets: a match line by line has none.
func (n *node) withinLines() {
	if n.op == opSet && n.set.has('\n') {
		n.set = n.set.intersect(runeSet{'\n', '\n'}.negate())
	}
	for _, s := range n.subs {
		s.withinLines()
	}
}

func (p *parser) literals() (*node, error) {
	out := &node{op: opConcat}
	for i, r := range p.src {
		n, err := p.literal(i, r)
		if err != nil {
			return nil, err
		}
		out.subs = append(out.subs, n)
	}
	return out, nil
}

func (p *parser) literal(at int, r rune) (*node, error) {
	if r == '\n' && !p.multi {
		return nil, &PatternError{Pattern: p.src, Offset: at, Message: "a line break in the pattern matches only in a multiline search", Multiline: true}
	}
	p.sawLiteral(r)
	set := runeSet{r, r}
	if p.flags.fold {
		set = set.fold()
	}
	return &node{op: opSet, set: set}, nil
}

func (p *parser) sawLiteral(r rune) {
	p.anyLit = true
	p.anyUpper = p.anyUpper || unicode.IsUpper(r)
}

func (p *parser) alternation() (*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(p.pos, "groups are nested deeper than %d", maxDepth)
	}
	defer func() { p.depth-- }()
	var alts []*node
	for {
		n, err := p.concatenation()
		if err != nil {
			return nil, err
		}
		alts = append(alts, n)
		if p.pos >= len(p.src) || p.src[p.pos] != '|' {
			break
		}
		p.pos++
	}
	if len(alts) == 1 {
		return alts[0], nil
	}
	return &node{op: opAlt, subs: alts}, nil
}

func (p *parser) concatenation() (*node, error) {
	out := &node{op: opConcat}
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		if c == '|' || c == ')' {
			break
		}
		if p.flags.extended && p.skipBlank() {
			continue
		}
		if min, max, ok, err := p.quantifier(); err != nil {
			return nil, err
		} else if ok {
			k := len(out.subs) - 1
			if k < 0 {
				return nil, p.fail(p.pos, "nothing to repeat")
			}
			lazy := p.pos < len(p.src) && p.src[p.pos] == '?'
			if lazy {
				p.pos++
			}
			out.subs[k] = &node{op: opRepeat, subs: []*node{out.subs[k]}, min: min, max: max, lazy: lazy != p.flags.swapLazy}
			continue
		}
		n, err := p.atom()
		if err != nil {
			return nil, err
		}
		if n != nil {
			out.subs = append(out.subs, n)
		}
	}
	if len(out.subs) == 1 {
		return out.subs[0], nil
	}
	return out, nil
}

// skipBlank skips one blank or comment of an (?x) pattern.
func (p *parser) skipBlank() bool {
	r, n := utf8.DecodeRuneInString(p.src[p.pos:])
	if unicode.Is(unicode.White_Space, r) {
		p.pos += n
		return true
	}
	if r != '#' {
		return false
	}
	if i := strings.IndexByte(p.src[p.pos:], '\n'); i >= 0 {
		p.pos += i + 1
	} else {
		p.pos = len(p.src)
	}
	return true
}

// quantifier reads *, +, ?, {n}, {n,}, {,m} or {n,m}. A brace that opens no
// such thing is a character like any other.
func (p *parser) quantifier() (lo, hi int, ok bool, err error) {
	switch p.src[p.pos] {
	case '*':
		p.pos++
		return 0, -1, true, nil
	case '+':
		p.pos++
		return 1, -1, true, nil
	case '?':
		p.pos++
		return 0, 1, true, nil
	case '{':
	default:
		return 0, 0, false, nil
	}
	end := strings.IndexByte(p.src[p.pos:], '}')
	if end < 0 {
		return 0, 0, false, nil
	}
	first, second, comma := strings.Cut(p.src[p.pos+1:p.pos+end], ",")
	first, second = strings.TrimSpace(first), strings.TrimSpace(second)
	if !digits(first) || !digits(second) || first == "" && second == "" {
		return 0, 0, false, nil
	}
	number := func(s string, absent int) int {
		if s == "" {
			return absent
		}
		n, err := strconv.Atoi(s)
		if err != nil {
			return math.MaxInt32
		}
		return min(n, math.MaxInt32)
	}
	lo, hi = number(first, 0), number(second, -1)
	if !comma {
		hi = lo
	}
	if hi >= 0 && hi < lo {
		return 0, 0, false, p.fail(p.pos, "a repetition of at least %d and at most %d", lo, hi)
	}
	p.pos += end + 1
	return lo, hi, true, nil
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// atom reads one character, class, group or assertion. It is nil where the
// text only changed flags.
func (p *parser) atom() (*node, error) {
	at := p.pos
	r, size := utf8.DecodeRuneInString(p.src[at:])
	switch r {
	case '(':
		return p.group()
	case '[':
		set, err := p.class()
		return &node{op: opSet, set: set}, err
	case '\\':
		return p.escape()
	}
	p.pos += size
	switch r {
	case '.':
		if p.flags.ascii {
			return nil, p.fail(at, "a dot without Unicode matches bytes, which is not supported")
		}
		if p.flags.dotNL {
			return &node{op: opSet, set: runeSet{0, unicode.MaxRune}}, nil
		}
		return &node{op: opSet, set: runeSet{'\n', '\n'}.negate()}, nil
	case '^':
		if p.flags.textAnchors {
			return &node{op: opLook, look: lookTextStart}, nil
		}
		return &node{op: opLook, look: lookLineStart}, nil
	case '$':
		if p.flags.textAnchors {
			return &node{op: opLook, look: lookTextEnd}, nil
		}
		return lineEndNode(p.crlf), nil
	}
	return p.literal(at, r)
}

// lineEndNode is the end of a line, with crlf the \r before it, too.
func lineEndNode(crlf bool) *node {
	end := &node{op: opLook, look: lookLineEnd}
	if !crlf {
		return end
	}
	cr := &node{op: opRepeat, subs: []*node{{op: opSet, set: runeSet{'\r', '\r'}}}, max: 1}
	return &node{op: opConcat, subs: []*node{cr, end}}
}

func (p *parser) group() (*node, error) {
	at := p.pos
	saved := p.flags
	p.pos++
	if strings.HasPrefix(p.src[p.pos:], "?") {
		onlyFlags, err := p.groupHead(at)
		if err != nil || onlyFlags {
			return nil, err
		}
	}
	n, err := p.alternation()
	if err != nil {
		return nil, err
	}
	if p.pos >= len(p.src) {
		return nil, p.fail(at, "unclosed group")
	}
	p.pos++
	p.flags = saved
	if n.op == opConcat && len(n.subs) == 0 {
		n = &node{op: opEmpty}
	}
	return n, nil
}

// groupHead reads what follows "(" up to where the group's pattern begins; it
// is true for (?flags), which has none.
func (p *parser) groupHead(at int) (bool, error) {
	rest := p.src[p.pos+1:]
	for _, look := range [...]struct{ prefix, name string }{
		{"=", "look-ahead"},
		{"!", "look-ahead"},
		{"<=", "look-behind"},
		{"<!", "look-behind"},
		{">", "an atomic group"},
		{"|", "a branch reset group"},
		{"(", "a conditional group"},
		{"&", "a recursive group"},
		{"P=", "a backreference"},
		{"P>", "a recursive group"},
		{"#", "a comment group"},
	} {
		if strings.HasPrefix(rest, look.prefix) {
			return false, p.pcre(at, look.name)
		}
	}
	if name, ok := strings.CutPrefix(strings.TrimPrefix(rest, "P"), "<"); ok {
		end := strings.IndexByte(name, '>')
		if end <= 0 {
			return false, p.fail(at, "unclosed group name")
		}
		p.pos = len(p.src) - len(name) + end + 1
		return false, nil
	}
	return p.groupFlags(at)
}

func (p *parser) groupFlags(at int) (bool, error) {
	on := true
	for p.pos++; p.pos < len(p.src); p.pos++ {
		switch p.src[p.pos] {
		case ':':
			p.pos++
			return false, nil
		case ')':
			p.pos++
			return true, nil
		case '-':
			on = false
		case 'i':
			p.flags.fold = on
		case 'm':
			p.flags.textAnchors = !on
		case 's':
			p.flags.dotNL = on
		case 'U':
			p.flags.swapLazy = on
		case 'u':
			p.flags.ascii = !on
		case 'x':
			p.flags.extended = on
		default:
			return false, p.fail(p.pos, "unknown flag %q", p.src[p.pos])
		}
	}
	return false, p.fail(at, "unclosed group")
}
