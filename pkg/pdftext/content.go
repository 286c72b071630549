package pdftext

import (
	"bytes"
	"context"
	"math"
	"unicode/utf16"
	"unicode/utf8"
)

// A matrix maps x, y to a·x+c·y+e, b·x+d·y+f.
type matrix struct{ a, b, c, d, e, f float64 }

func unit() matrix { return matrix{1, 0, 0, 1, 0, 0} }

// mul is the matrix that applies m and then n.
func (m matrix) mul(n matrix) matrix {
	return matrix{
		m.a*n.a + m.b*n.c, m.a*n.b + m.b*n.d,
		m.c*n.a + m.d*n.c, m.c*n.b + m.d*n.d,
		m.e*n.a + m.f*n.c + n.e, m.e*n.b + m.f*n.d + n.f,
	}
}

// A state is what a page's operators have set.
type state struct {
	ctm                    matrix
	font                   *font
	size                   float64
	charSpace, wordSpace   float64
	stretch, leading, rise float64
}

func newState() state { return state{ctm: unit(), stretch: 1} }

// A glyph is a piece of text where it stands on the page, in points; x and y
// are measured along and across its own direction.
type glyph struct {
	text  string
	x, y  float64 // where its baseline begins
	width float64
	size  float64
	turn  int // its direction in quarter turns to the left
}

const (
	// maxGlyphs bounds the characters of one page.
	maxGlyphs = 300_000

	// maxText bounds the bytes of their text: one glyph may stand for many.
	maxText = 4 * maxGlyphs

	// maxStates bounds how deep a page may save its state.
	maxStates = 200

	// maxForms bounds how deep forms may lie in each other.
	maxForms = 12
)

// A painter follows the operators of one page and notes the text.
type painter struct {
	d        *Document
	ctx      context.Context
	glyphs   []glyph
	bytes    int // of the text of glyphs
	pictures int
	unknown  int
	full     bool

	tm, line matrix // of the text object
	spoken   []bool // of the marked content that is open: it is to be read as something else
	said     int    // how many of these are true
}

// run follows the operators of a stream.
func (p *painter) run(content []byte, resources dict, s state, depth int) {
	l := &lexer{data: content, work: p.d.work}
	var saved []state
	var args []any
	for n := 0; !p.full; n++ {
		if n%1000 == 0 && p.ctx.Err() != nil {
			return
		}
		v, ok := l.next()
		if !ok {
			return
		}
		op, is := v.(operator)
		if !is {
			if len(args) < 100 {
				args = append(args, v)
			}
			continue
		}
		switch op {
		case "q":
			if len(saved) < maxStates {
				saved = append(saved, s)
			}
		case "Q":
			if len(saved) > 0 {
				s = saved[len(saved)-1]
				saved = saved[:len(saved)-1]
			}
		case "BI":
			p.pictures++
			skipInline(l)
		case "Do":
			p.draw(args, resources, s, depth)
		default:
			p.text(op, args, resources, &s)
		}
		args = args[:0]
	}
}

// skipInline passes over a picture in the stream: up to EI between spaces.
func skipInline(l *lexer) {
	for from := l.pos; ; {
		i := bytes.Index(l.data[from:], []byte("EI"))
		if i < 0 {
			l.pos = len(l.data)
			return
		}
		at := from + i
		after := at + 2
		if at > 0 && isSpace(l.data[at-1]) && (after == len(l.data) || isSpace(l.data[after])) {
			l.pos = after
			return
		}
		from = after
	}
}

// draw follows a form, and counts a picture.
func (p *painter) draw(args []any, resources dict, s state, depth int) {
	if len(args) == 0 {
		return
	}
	which, _ := args[0].(name)
	form, ok := p.d.resolve(p.d.dict(resources["XObject"])[which]).(*stream)
	if !ok {
		return
	}
	if p.d.resolve(form.dict["Subtype"]) != name("Form") {
		p.pictures++
		return
	}
	data, err := p.d.unpack(form)
	if err != nil || depth >= maxForms {
		p.full = p.full || err == ErrTooMuch //nolint:errorlint // it is not wrapped
		return
	}
	if m := p.d.list(form.dict["Matrix"]); len(m) == 6 {
		s.ctm = p.d.matrix(m).mul(s.ctm)
	}
	if own := p.d.dict(form.dict["Resources"]); own != nil {
		resources = own
	}
	tm, line := p.tm, p.line
	p.run(data, resources, s, depth+1)
	p.tm, p.line = tm, line
}

func (d *Document) matrix(list []any) matrix {
	var v [6]float64
	for i := range v {
		if i < len(list) {
			v[i] = d.real(list[i], 0)
		}
	}
	return matrix{v[0], v[1], v[2], v[3], v[4], v[5]}
}

// text follows the operators that have to do with text and the state it is in.
func (p *painter) text(op operator, args []any, resources dict, s *state) {
	num := func(i int) float64 {
		if i < len(args) {
			return p.d.real(args[i], 0)
		}
		return 0
	}
	switch op {
	case "cm":
		s.ctm = p.d.matrix(args).mul(s.ctm)
	case "BT":
		p.tm, p.line = unit(), unit()
	case "Tf":
		if len(args) >= 2 {
			which, _ := args[0].(name)
			s.font, s.size = p.d.font(p.d.dict(resources["Font"])[which]), num(1)
		}
	case "gs":
		p.set(args, resources, s)
	case "Tc":
		s.charSpace = num(0)
	case "Tw":
		s.wordSpace = num(0)
	case "Tz":
		s.stretch = num(0) / 100
	case "TL":
		s.leading = num(0)
	case "Ts":
		s.rise = num(0)
	case "Td":
		p.move(num(0), num(1))
	case "TD":
		s.leading = -num(1)
		p.move(num(0), num(1))
	case "Tm":
		p.line = p.d.matrix(args)
		p.tm = p.line
	case "T*":
		p.move(0, -s.leading)
	case "Tj", "'", "\"":
		if op == "\"" {
			s.wordSpace, s.charSpace = num(0), num(1)
		}
		if op != "Tj" {
			p.move(0, -s.leading)
		}
		if len(args) > 0 {
			p.show(args[len(args)-1], s)
		}
	case "TJ":
		if len(args) > 0 {
			list, _ := args[0].(array)
			for _, v := range list {
				p.show(v, s)
			}
		}
	case "BMC", "BDC":
		p.mark(args, resources, s)
	case "EMC":
		if n := len(p.spoken); n > 0 {
			if p.spoken[n-1] {
				p.said--
			}
			p.spoken = p.spoken[:n-1]
		}
	}
}

// set takes a font from a dictionary of settings.
func (p *painter) set(args []any, resources dict, s *state) {
	if len(args) == 0 {
		return
	}
	which, _ := args[0].(name)
	if list := p.d.list(p.d.dict(p.d.dict(resources["ExtGState"])[which])["Font"]); len(list) == 2 {
		s.font, s.size = p.d.font(list[0]), p.d.real(list[1], 0)
	}
}

// mark opens marked content. What it says about how it is to be read replaces
// what is drawn in it.
func (p *painter) mark(args []any, resources dict, s *state) {
	if len(p.spoken) >= 1000 {
		return
	}
	var properties dict
	if len(args) >= 2 {
		switch v := args[1].(type) {
		case dict:
			properties = v
		case name:
			properties = p.d.dict(p.d.dict(resources["Properties"])[v])
		}
	}
	actual, ok := p.d.resolve(properties["ActualText"]).(text)
	p.spoken = append(p.spoken, ok)
	if !ok {
		return
	}
	if p.said == 0 {
		if said := stringText(actual); said != "" {
			p.put(said, 0.5*float64(utf8.RuneCountInString(said)), s)
		}
	}
	p.said++
}

// stringText is a string of the document in characters: UTF-16 or UTF-8 with a
// byte order mark, or else about Latin-1.
func stringText(t text) string {
	switch {
	case len(t) >= 2 && t[0] == 0xfe && t[1] == 0xff:
		var units []uint16
		for i := 2; i+1 < len(t); i += 2 {
			units = append(units, uint16(t[i])<<8|uint16(t[i+1]))
		}
		return string(utf16.Decode(units))
	case len(t) >= 3 && t[:3] == "\xef\xbb\xbf":
		return string(bytes.ToValidUTF8([]byte(t[3:]), nil))
	}
	var runes []rune
	for _, c := range []byte(t) {
		runes = append(runes, rune(c))
	}
	return string(runes)
}

func (p *painter) move(x, y float64) {
	p.line = matrix{1, 0, 0, 1, x, y}.mul(p.line)
	p.tm = p.line
}

// show draws a string, or moves as a number between strings says.
func (p *painter) show(v any, s *state) {
	if s.font == nil {
		return
	}
	t, ok := v.(text)
	if !ok {
		p.advance(-p.d.real(v, 0)/1000*s.size*s.stretch, 0)
		return
	}
	for c := range s.font.chars(t) {
		if p.full || !p.d.work.spend(1) {
			p.full = true
			return
		}
		if c.text == "" {
			p.unknown++
			c.text = "\ufffd"
		}
		if p.said == 0 {
			p.put(c.text, c.width, s)
		}
		step := c.width*s.size + s.charSpace
		if c.space {
			step += s.wordSpace
		}
		p.advance(step*s.stretch, 0)
	}
}

func (p *painter) advance(x, y float64) { p.tm = matrix{1, 0, 0, 1, x, y}.mul(p.tm) }

// put notes a piece of text at the present place; its width is in units of the
// font's size.
func (p *painter) put(text string, width float64, s *state) {
	if p.bytes += len(text); len(p.glyphs) >= maxGlyphs || p.bytes > maxText {
		p.full = true
		return
	}
	m := matrix{s.size * s.stretch, 0, 0, s.size, 0, s.rise}.mul(p.tm).mul(s.ctm)
	g := glyph{text: text, size: math.Hypot(m.c, m.d), width: width * math.Hypot(m.a, m.b)}
	g.turn = int(math.Round(math.Atan2(m.b, m.a)/(math.Pi/2))+4) % 4
	switch g.turn {
	case 0:
		g.x, g.y = m.e, m.f
	case 1:
		g.x, g.y = m.f, -m.e
	case 2:
		g.x, g.y = -m.e, -m.f
	case 3:
		g.x, g.y = -m.f, m.e
	}
	if g.size <= 0 || math.IsNaN(g.x+g.y+g.size+g.width) || math.IsInf(g.x+g.y+g.size+g.width, 0) {
		return
	}
	p.glyphs = append(p.glyphs, g)
}
