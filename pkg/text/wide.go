package text

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A wide is UTF-16 or UTF-32 in one byte order; unit is 0 for other encodings.
type wide struct {
	unit int // bytes: 2 or 4
	big  bool
}

// wide returns the wide encoding that e names.
func (e Encoding) wide() wide {
	name := strings.TrimSuffix(e.Name, "-bom")
	for _, w := range [...]wide{{2, false}, {2, true}, {4, false}, {4, true}} {
		if w.name() == name {
			return w
		}
	}
	return wide{}
}

// name returns the encoding's name without "-bom".
func (w wide) name() string {
	switch {
	case w.unit == 2 && w.big:
		return "utf-16be"
	case w.unit == 2:
		return "utf-16le"
	case w.big:
		return "utf-32be"
	}
	return "utf-32le"
}

// read returns the unit at the start of b.
func (w wide) read(b []byte) uint32 {
	var u uint32
	for i := range w.unit {
		j := i
		if !w.big {
			j = w.unit - 1 - i
		}
		u = u<<8 | uint32(b[j])
	}
	return u
}

// appendUnit writes one unit.
func (w wide) appendUnit(dst []byte, u uint32) []byte {
	for i := range w.unit {
		j := i
		if w.big {
			j = w.unit - 1 - i
		}
		dst = append(dst, byte(u>>(8*j)))
	}
	return dst
}

// appendRune writes one character; a surrogate in UTF-16 as it is.
func (w wide) appendRune(dst []byte, r rune) []byte {
	if w.unit == 2 && r > 0xffff {
		a, b := utf16.EncodeRune(r)
		return w.appendUnit(w.appendUnit(dst, uint32(a)), uint32(b))
	}
	return w.appendUnit(dst, uint32(r))
}

// next reads one character and its length in bytes. A lone surrogate of UTF-16 is
// itself; what is no character is U+FFFD with ok false.
func (w wide) next(b []byte) (r rune, n int, ok bool) {
	if len(b) < w.unit {
		return utf8.RuneError, len(b), false
	}
	u := w.read(b)
	if w.unit == 4 {
		if u > utf8.MaxRune || utf16.IsSurrogate(rune(u)) {
			return utf8.RuneError, 4, false
		}
		return rune(u), 4, true
	}
	r = rune(u)
	if utf16.IsSurrogate(r) && len(b) >= 4 {
		if full := utf16.DecodeRune(r, rune(w.read(b[2:]))); full != utf8.RuneError {
			return full, 4, true
		}
	}
	return r, 2, true
}

// decode turns b into UTF-8, lone surrogates into their three-byte form.
func (w wide) decode(b []byte) []byte {
	text := make([]byte, 0, len(b)/w.unit+len(b)/8)
	for len(b) > 0 {
		r, n, _ := w.next(b)
		if utf16.IsSurrogate(r) {
			text = append(text, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
		} else {
			text = utf8.AppendRune(text, r)
		}
		b = b[n:]
	}
	return text
}

// encode is the reverse of decode.
func (w wide) encode(name string, text []byte) ([]byte, error) {
	data := make([]byte, 0, len(text)*w.unit)
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			if w.unit == 4 || len(text)-i < 3 || text[i] != 0xed || text[i+1]&0xe0 != 0xa0 || text[i+2]&0xc0 != 0x80 {
				return nil, &EncodeError{Encoding: name, Rune: r, Offset: i}
			}
			r, n = 0xd000|rune(text[i+1]&0x3f)<<6|rune(text[i+2]&0x3f), 3
		}
		data = w.appendRune(data, r)
		i += n
	}
	return data, nil
}

// A wideReader decodes a stream.
type wideReader struct {
	r    io.Reader
	w    wide
	raw  []byte // read, not decoded: at most a part of a character after each fill
	text []byte // decoded, not passed on
	err  error
}

// Read passes on UTF-8.
func (d *wideReader) Read(p []byte) (int, error) {
	for len(d.text) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		d.fill()
	}
	n := copy(p, d.text)
	d.text = d.text[n:]
	return n, nil
}

// fill reads and decodes the next bytes. The last four wait for what follows,
// because a surrogate may want its partner.
func (d *wideReader) fill() {
	const chunk = 32 << 10
	have := len(d.raw)
	d.raw = append(d.raw, make([]byte, chunk)...)
	n, err := d.r.Read(d.raw[have:])
	d.raw, d.err = d.raw[:have+n], err
	ready := 0
	for ready < len(d.raw) && (err != nil || len(d.raw)-ready >= 4) {
		_, n, _ := d.w.next(d.raw[ready:])
		ready += n
	}
	d.text = bytes.ToValidUTF8(d.w.decode(d.raw[:ready]), []byte("\ufffd"))
	d.raw = append(d.raw[:0], d.raw[ready:]...)
}
