package rg

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// A source gives the bytes of a file; zero bytes mean its end.
type source interface {
	read(p []byte) (int, error)
	atEnd(place int64) bool // whether a read that came short up to place met the end
}

// A utf16Source decodes UTF-16 to UTF-8.
type utf16Source struct {
	from source
	big  bool
	raw  []byte // read, not decoded yet
	buf  []byte
	out  []byte // decoded, not handed out yet
	end  bool
}

func (u *utf16Source) read(p []byte) (int, error) {
	for len(u.out) == 0 && !u.end {
		if u.buf == nil {
			u.buf = make([]byte, 64<<10)
		}
		n, err := u.from.read(u.buf)
		if err != nil {
			return 0, err
		}
		u.end = n == 0
		u.raw = append(u.raw, u.buf[:n]...)
		u.decode()
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

func (u *utf16Source) atEnd(_ int64) bool { return false }

// decode turns the units that are complete into UTF-8.
func (u *utf16Source) decode() {
	u.out = u.out[:0]
	i := 0
	for ; i+1 < len(u.raw); i += 2 {
		r := u.unit(i)
		if utf16.IsSurrogate(r) {
			if i+3 >= len(u.raw) && !u.end {
				break // its other half may follow
			}
			if i+3 < len(u.raw) {
				if both := utf16.DecodeRune(r, u.unit(i+2)); both != utf8.RuneError {
					r = both
					i += 2
				}
			}
		}
		u.out = utf8.AppendRune(u.out, r)
	}
	u.raw = u.raw[:copy(u.raw, u.raw[i:])]
	if u.end && len(u.raw) > 0 {
		u.out = utf8.AppendRune(u.out, utf8.RuneError)
		u.raw = u.raw[:0]
	}
}

func (u *utf16Source) unit(i int) rune {
	if u.big {
		return rune(u.raw[i])<<8 | rune(u.raw[i+1])
	}
	return rune(u.raw[i+1])<<8 | rune(u.raw[i])
}

// byteOrder looks at the byte order mark: the encoding, "" for UTF-8 and
// everything unknown, and the length of the mark.
func byteOrder(text []byte) (encoding string, mark int) {
	switch {
	case bytes.HasPrefix(text, []byte{0xEF, 0xBB, 0xBF}):
		return "", 3
	case bytes.HasPrefix(text, []byte{0xFF, 0xFE}):
		return "utf-16le", 2
	case bytes.HasPrefix(text, []byte{0xFE, 0xFF}):
		return "utf-16be", 2
	}
	return "", 0
}
