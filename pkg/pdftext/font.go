package pdftext

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// A font says what the codes of a string mean and how wide they are.
type font struct {
	wide      bool        // codes may have several bytes
	lengths   []codeSpace // of the codes; none mean two bytes where wide
	unicode   *codeMap    // nil where the file does not say
	names     [256]string // what a code means otherwise, where not wide
	utf16     bool        // codes are UTF-16
	widths    map[int]float64
	otherwise float64 // width of what widths does not name
	scale     float64 // of widths: 0.001, but for Type 3
	fixed     bool
	guess     bool // widths are those of a common font
}

// A codeSpace is codes of one length.
type codeSpace struct {
	bytes     int
	low, high int
}

// maxCodes bounds the codes that one font's tables name.
const maxCodes = 200_000

// maxFonts bounds the codes of the fonts that are remembered: what a few bytes of the file
// say may be 200,000 of them.
const maxFonts = 1_000_000

// maxMeaning bounds the bytes of a CMap that say what one code means, as the format does.
const maxMeaning = 512

// A codeMap gives the text of codes.
type codeMap struct {
	single map[int]string
	ranges []codeRange // sorted by low when complete
}

type codeRange struct {
	low, high int
	text      string // of low; the last character counts up
}

func (m *codeMap) lookup(code int) (string, bool) {
	if s, ok := m.single[code]; ok {
		return s, true
	}
	i, ok := slices.BinarySearchFunc(m.ranges, code, func(r codeRange, code int) int { return cmp.Compare(r.low, code) })
	if !ok {
		i--
	}
	if i < 0 || code > m.ranges[i].high {
		return "", false
	}
	runes := []rune(m.ranges[i].text)
	if len(runes) == 0 {
		return "", false
	}
	runes[len(runes)-1] += rune(code - m.ranges[i].low)
	return string(runes), true
}

// font reads a font once.
func (d *Document) font(v any) *font {
	r, isRef := v.(ref)
	if isRef && d.fonts[r] != nil {
		return d.fonts[r]
	}
	f := d.readFont(d.dict(v))
	size := 256 + len(f.widths)
	if f.unicode != nil {
		size += len(f.unicode.single) + len(f.unicode.ranges)
	}
	d.work.spend(size / 64) // 64 codes count as an object
	if d.codes += size; d.codes > maxFonts {
		clear(d.fonts)
		d.codes = size
	}
	if isRef {
		d.fonts[r] = f
	}
	return f
}

func (d *Document) readFont(o dict) *font {
	f := &font{widths: map[int]float64{}, otherwise: 500, scale: 0.001}
	kind, _ := d.resolve(o["Subtype"]).(name)
	base, _ := d.resolve(o["BaseFont"]).(name)
	f.fixed = strings.Contains(string(base), "Courier")
	if s, ok := d.resolve(o["ToUnicode"]).(*stream); ok {
		if data, err := d.unpack(s); err == nil {
			f.unicode, _ = d.readMap(data)
		}
	}
	if kind == "Type0" {
		d.readComposite(f, o)
		return f
	}
	if kind == "Type3" {
		if m := d.list(o["FontMatrix"]); len(m) == 6 {
			f.scale = d.real(m[0], 0.001)
		}
	}
	descriptor := d.dict(o["FontDescriptor"])
	first := d.number(o["FirstChar"], 0)
	widths := d.list(o["Widths"])
	for i, w := range widths[:min(len(widths), 256)] {
		f.widths[first+i] = d.real(w, 0)
	}
	f.otherwise = d.real(descriptor["MissingWidth"], 500)
	f.guess = len(widths) == 0
	d.readEncoding(f, o, descriptor)
	return f
}

// readEncoding fills in what the codes of a simple font mean.
func (d *Document) readEncoding(f *font, o, descriptor dict) {
	encoding := d.resolve(o["Encoding"])
	kind, _ := d.resolve(o["Subtype"]).(name)
	symbolic := d.number(descriptor["Flags"], 0)&4 != 0
	base, _ := encoding.(name)
	details, _ := encoding.(dict)
	if details != nil {
		base, _ = d.resolve(details["BaseEncoding"]).(name)
	}
	switch {
	case base == "MacRomanEncoding":
		fill(&f.names, macRoman)
	case base == "WinAnsiEncoding", kind == "TrueType":
		fill(&f.names, winAnsi)
	default:
		fill(&f.names, standardEncoding)
		if s, ok := d.resolve(descriptor["FontFile"]).(*stream); ok && (symbolic || base == "") {
			if data, err := d.unpack(s); err == nil {
				builtIn(&f.names, data)
			}
		}
	}
	code := 0
	for _, v := range d.list(details["Differences"]) {
		switch v := d.resolve(v).(type) {
		case int:
			code = v
		case name:
			if code >= 0 && code < 256 {
				f.names[code] = glyphText(string(v))
			}
			code++
		}
	}
}

// fill sets the codes from 32 on from a table of characters.
func fill(names *[256]string, table string) {
	code := 32
	for _, r := range table {
		if names[code] = string(r); r == 0 {
			names[code] = ""
		}
		if code++; code > 255 {
			return
		}
	}
}

// builtIn reads the encoding that a Type 1 font program brings along: lines
// such as "dup 65 /A put".
func builtIn(names *[256]string, program []byte) {
	head, _, _ := bytes.Cut(program, []byte("eexec"))
	at := bytes.Index(head, []byte("/Encoding"))
	if at < 0 || bytes.HasPrefix(bytes.TrimSpace(head[at+9:]), []byte("StandardEncoding")) {
		return
	}
	*names = [256]string{}
	words := bytes.Fields(bytes.ReplaceAll(head[at:], []byte("/"), []byte(" /")))
	for i := 0; i+3 < len(words); i++ {
		code, err := strconv.Atoi(string(words[i+1]))
		if string(words[i]) == "dup" && err == nil && code >= 0 && code < 256 && words[i+2][0] == '/' {
			names[code] = glyphText(string(words[i+2][1:]))
		}
	}
}

// readComposite reads a font whose codes have several bytes.
func (d *Document) readComposite(f *font, o dict) {
	f.wide, f.otherwise = true, 1000
	switch encoding := d.resolve(o["Encoding"]).(type) {
	case name:
		f.utf16 = strings.Contains(string(encoding), "UCS2") || strings.Contains(string(encoding), "UTF16")
	case *stream:
		if data, err := d.unpack(encoding); err == nil {
			_, f.lengths = d.readMap(data)
		}
	}
	var below dict
	if list := d.list(o["DescendantFonts"]); len(list) > 0 {
		below = d.dict(list[0])
	}
	f.otherwise = d.real(below["DW"], 1000)
	w := d.list(below["W"])
	for i := 0; i+1 < len(w) && len(f.widths) < maxCodes; {
		first := d.number(w[i], 0)
		if list, ok := d.resolve(w[i+1]).(array); ok {
			for j, v := range list[:min(len(list), maxCodes)] {
				f.widths[first+j] = d.real(v, 0)
			}
			i += 2
			continue
		}
		if i+2 >= len(w) {
			break
		}
		last, width := d.number(w[i+1], 0), d.real(w[i+2], 0)
		for code := first; code <= last && len(f.widths) < maxCodes; code++ {
			f.widths[code] = width
		}
		i += 3
	}
}

// readMap reads a CMap: which text codes stand for, and how long they are.
func (d *Document) readMap(data []byte) (*codeMap, []codeSpace) {
	m := &codeMap{single: map[int]string{}}
	var spaces []codeSpace
	l := &lexer{data: data, work: d.work}
	var args []any
	for {
		v, ok := l.next()
		if !ok {
			break
		}
		op, is := v.(operator)
		if !is {
			if args = append(args, v); len(args) > maxCodes {
				break
			}
			continue
		}
		switch op {
		case "endcodespacerange":
			for i := 0; i+1 < len(args) && len(spaces) < 100; i += 2 {
				low, ok := args[i].(text)
				high, ok2 := args[i+1].(text)
				if ok && ok2 && len(low) == len(high) && len(low) >= 1 && len(low) <= 4 {
					spaces = append(spaces, codeSpace{len(low), low.code(), high.code()})
				}
			}
		case "endbfchar":
			for i := 0; i+1 < len(args) && len(m.single) < maxCodes; i += 2 {
				if code, ok := args[i].(text); ok {
					m.single[code.code()] = meaning(args[i+1])
				}
			}
		case "endbfrange":
			m.addRanges(args)
		}
		args = args[:0]
	}
	slices.SortStableFunc(m.ranges, func(a, b codeRange) int { return cmp.Compare(a.low, b.low) })
	return m, spaces
}

func (m *codeMap) addRanges(args []any) {
	for i := 0; i+2 < len(args) && len(m.ranges) < maxCodes; i += 3 {
		low, ok := args[i].(text)
		high, ok2 := args[i+1].(text)
		if !ok || !ok2 {
			continue
		}
		first, last := low.code(), high.code()
		if list, ok := args[i+2].(array); ok {
			for j, v := range list {
				if first+j <= last && len(m.single) < maxCodes {
					m.single[first+j] = meaning(v)
				}
			}
			continue
		}
		m.ranges = append(m.ranges, codeRange{first, last, meaning(args[i+2])})
	}
}

// code is a string as a number.
func (t text) code() int {
	v := 0
	for _, c := range []byte(t[:min(len(t), 4)]) {
		v = v<<8 | int(c)
	}
	return v
}

// meaning is the text that a CMap gives: UTF-16, or the name of a glyph.
func meaning(v any) string {
	switch v := v.(type) {
	case name:
		return glyphText(string(v))
	case text:
		if len(v) == 1 {
			return string(rune(v[0]))
		}
		v = v[:min(len(v), maxMeaning)]
		var units []uint16
		for i := 0; i+1 < len(v); i += 2 {
			units = append(units, uint16(v[i])<<8|uint16(v[i+1]))
		}
		return string(utf16.Decode(units))
	}
	return ""
}

// A char is one code of a string.
type char struct {
	code  int
	text  string // "" where nobody knows
	width float64
	space bool // a space of one byte, which word spacing widens
}

// chars yields the codes of a string, which may be long.
func (f *font) chars(s text) iter.Seq[char] {
	return func(yield func(char) bool) {
		for i := 0; i < len(s); {
			n := 1
			if f.wide {
				n = f.length(s[i:])
			}
			c := char{code: s[i : i+n].code(), space: n == 1 && s[i] == ' '}
			i += n
			c.width = f.width(c.code) * f.scale
			c.text = f.meaning(c.code)
			if !yield(c) {
				return
			}
		}
	}
}

func (f *font) length(s text) int {
	for n := 1; n <= min(len(s), 4); n++ {
		code := s[:n].code()
		for _, space := range f.lengths {
			if space.bytes == n && code >= space.low && code <= space.high {
				return n
			}
		}
	}
	return min(2, len(s))
}

func (f *font) width(code int) float64 {
	if w, ok := f.widths[code]; ok {
		return w
	}
	if f.guess && !f.wide {
		return commonWidth(code, f.fixed)
	}
	return f.otherwise
}

func (f *font) meaning(code int) string {
	if f.unicode != nil {
		if s, ok := f.unicode.lookup(code); ok && s != "" && s != "\x00" {
			return s
		}
	}
	switch {
	case f.utf16:
		return string(utf16.Decode([]uint16{uint16(code)}))
	case !f.wide && code < 256:
		return f.names[code]
	}
	return ""
}

// commonWidth is about how wide a character is in a font that every viewer
// has, and whose widths files therefore leave out.
func commonWidth(code int, fixed bool) float64 {
	switch {
	case fixed:
		return 600
	case code >= 32 && code-32 < len(helvetica):
		return float64(helvetica[code-32]-'!')*10 + 190
	}
	return 556
}
