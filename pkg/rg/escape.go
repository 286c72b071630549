package rg

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

var asserting = [...]struct {
	text        string
	look, ascii look
}{
	{`\b{start-half}`, lookHalfStart, 0},
	{`\b{end-half}`, lookHalfEnd, 0},
	{`\b{start}`, lookWordStart, 0},
	{`\b{end}`, lookWordEnd, 0},
	{`\b`, lookWord, lookWordASCII},
	{`\B`, lookNotWord, lookNotWordASCII},
	{`\<`, lookWordStart, 0},
	{`\>`, lookWordEnd, 0},
	{`\A`, lookTextStart, lookTextStart},
	{`\z`, lookTextEnd, lookTextEnd},
}

// escape reads an escape outside a class.
func (p *parser) escape() (*node, error) {
	at := p.pos
	for _, a := range asserting {
		if !strings.HasPrefix(p.src[at:], a.text) {
			continue
		}
		kind := a.look
		if p.flags.ascii {
			kind = a.ascii
		}
		if kind == 0 {
			return nil, p.fail(at, "%s without Unicode is not supported", a.text)
		}
		p.pos += len(a.text)
		return &node{op: opLook, look: kind}, nil
	}
	r, set, err := p.escaped()
	if err != nil {
		return nil, err
	}
	if set != nil {
		return &node{op: opSet, set: set}, nil
	}
	return p.literal(at, r)
}

// escaped reads an escape that stands for a rune or, when set is not nil, a
// class.
func (p *parser) escaped() (r rune, set runeSet, err error) {
	at := p.pos
	if at+1 >= len(p.src) {
		return 0, nil, p.fail(at, "a lone backslash at the end")
	}
	c, size := utf8.DecodeRuneInString(p.src[at+1:])
	p.pos += 1 + size
	switch c {
	case 'd', 's', 'w':
		return 0, perlSet(byte(c), p.flags.ascii), nil
	case 'D', 'S', 'W':
		if p.flags.ascii {
			return 0, nil, p.fail(at, `\%c without Unicode matches bytes, which is not supported`, c)
		}
		return 0, perlSet(byte(c)|0x20, false).negate(), nil
	case 'p', 'P':
		set, err = p.property(at, c == 'P')
		return 0, set, err
	case 'n':
		return '\n', nil, nil
	case 't':
		return '\t', nil, nil
	case 'r':
		return '\r', nil, nil
	case 'f':
		return '\f', nil, nil
	case 'v':
		return '\v', nil, nil
	case 'a':
		return '\a', nil, nil
	case 'x':
		r, err = p.hex(at, 2)
		if err == nil && p.flags.ascii && r >= utf8.RuneSelf && r <= 0xFF {
			err = p.fail(at, `\x%X without Unicode is a byte of no character, which is not supported; \x{%04X} with Unicode is the character`, r, r)
		}
		return r, nil, err
	case 'u':
		r, err = p.hex(at, 4)
		return r, nil, err
	case 'U':
		r, err = p.hex(at, 8)
		return r, nil, err
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'g', 'k':
		return 0, nil, p.pcre(at, "a backreference")
	case 'K', 'R', 'h', 'H', 'V', 'X', 'N', 'G', 'Z', 'Q', 'E', 'C':
		return 0, nil, p.pcre(at, `\`+string(c))
	}
	if c >= utf8.RuneSelf || isLetter(byte(c)) {
		return 0, nil, p.fail(at, `unknown escape \%c`, c)
	}
	return c, nil, nil
}

func (p *parser) hex(at, width int) (rune, error) {
	rest := p.src[p.pos:]
	text := rest[:min(width, len(rest))]
	used := len(text)
	if strings.HasPrefix(rest, "{") {
		end := strings.IndexByte(rest, '}')
		if end < 0 {
			return 0, p.fail(at, "unclosed hexadecimal escape")
		}
		text, used = rest[1:end], end+1
	} else if len(text) < width {
		return 0, p.fail(at, "a hexadecimal escape of fewer than %d digits", width)
	}
	v, err := strconv.ParseUint(text, 16, 32)
	if err != nil || v > unicode.MaxRune || v >= 0xD800 && v <= 0xDFFF {
		return 0, p.fail(at, "%q is no hexadecimal code of a character", text)
	}
	p.pos += used
	return rune(v), nil
}

func (p *parser) property(at int, negated bool) (runeSet, error) {
	rest := p.src[p.pos:]
	if rest == "" {
		return nil, p.fail(at, "a property without a name")
	}
	_, size := utf8.DecodeRuneInString(rest)
	name, used := rest[:size], size
	if name == "{" {
		end := strings.IndexByte(rest, '}')
		if end < 0 {
			return nil, p.fail(at, "unclosed property name")
		}
		name, used = rest[1:end], end+1
	}
	if n, ok := strings.CutPrefix(name, "^"); ok {
		name, negated = n, !negated
	}
	set, ok := propertySet(name)
	if !ok {
		return nil, &PatternError{Pattern: p.src, Offset: at, Message: "unknown Unicode property " + strconv.Quote(name), PCRE: true}
	}
	p.pos += used
	if p.flags.fold {
		set = set.fold()
	}
	if negated {
		set = set.negate()
	}
	return set, nil
}

// class reads a bracketed class, which may hold classes and the set
// operations &&, -- and ~~.
func (p *parser) class() (runeSet, error) {
	at := p.pos
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(at, "classes are nested deeper than %d", maxDepth)
	}
	defer func() { p.depth-- }()
	p.pos++
	negated := false
	if strings.HasPrefix(p.src[p.pos:], "^") {
		negated = true
		p.pos++
	}
	var left, set runeSet
	op := ""
	for strings.HasPrefix(p.src[p.pos:], "-") { // in front of all else it means itself, and so does ] alone
		set = append(set, '-', '-')
		p.pos++
	}
	if set == nil && strings.HasPrefix(p.src[p.pos:], "]") {
		set = runeSet{']', ']'}
		p.pos++
	}
	for {
		if p.pos >= len(p.src) {
			return nil, p.fail(at, "unclosed character class")
		}
		rest := p.src[p.pos:]
		if rest[0] == ']' {
			p.pos++
			break
		}
		if len(rest) >= 2 && (rest[:2] == "&&" || rest[:2] == "--" || rest[:2] == "~~") {
			left = combine(op, left, p.folded(set))
			set, op = nil, rest[:2]
			p.pos += 2
			continue
		}
		if p.flags.extended && p.skipBlank() {
			continue
		}
		item, err := p.classItem(at)
		if err != nil {
			return nil, err
		}
		set = append(set, item...)
	}
	set = combine(op, left, p.folded(set))
	if negated {
		if p.flags.ascii {
			return nil, p.fail(at, "a negated class without Unicode matches bytes, which is not supported")
		}
		set = set.negate()
	}
	return set, nil
}

func (p *parser) folded(set runeSet) runeSet {
	set = set.normal()
	if p.flags.fold {
		return set.fold()
	}
	return set
}

func combine(op string, a, b runeSet) runeSet {
	switch op {
	case "&&":
		return a.intersect(b)
	case "--":
		return a.intersect(b.negate())
	case "~~":
		return a.union(b).intersect(a.intersect(b).negate())
	}
	return b
}

// classItem reads one member of a class: a rune, a range, a class.
func (p *parser) classItem(class int) (runeSet, error) {
	rest := p.src[p.pos:]
	if strings.HasPrefix(rest, "[:") {
		if name, _, ok := strings.Cut(rest[2:], ":]"); ok {
			length := len("[:") + len(name) + len(":]")
			name, negated := strings.CutPrefix(name, "^")
			if set, ok := posixSet(name); ok {
				p.pos += length
				if negated {
					set = set.negate()
				}
				return set, nil
			}
		}
	}
	if rest[0] == '[' {
		return p.class()
	}
	lo, set, err := p.classRune(class)
	if err != nil || set != nil {
		return set, err
	}
	rest = p.src[p.pos:]
	if len(rest) < 2 || rest[0] != '-' || rest[1] == ']' || rest[1] == '-' {
		return runeSet{lo, lo}, nil
	}
	p.pos++
	at := p.pos
	hi, set, err := p.classRune(class)
	if err != nil {
		return nil, err
	}
	if set != nil {
		return nil, p.fail(at, "a range cannot end in a class")
	}
	if hi < lo {
		return nil, p.fail(at, "a range that ends before it begins")
	}
	return runeSet{lo, hi}, nil
}

func (p *parser) classRune(class int) (rune, runeSet, error) {
	if p.pos >= len(p.src) {
		return 0, nil, p.fail(class, "unclosed character class")
	}
	if p.src[p.pos] == '\\' {
		if strings.HasPrefix(p.src[p.pos:], `\b`) {
			p.pos += 2
			return '\b', nil, nil
		}
		r, set, err := p.escaped()
		if err == nil && set == nil {
			p.sawLiteral(r)
		}
		return r, set, err
	}
	r, size := utf8.DecodeRuneInString(p.src[p.pos:])
	p.pos += size
	p.sawLiteral(r)
	return r, nil, nil
}
