// Package text tells what bytes a text file is made of: its encoding, its line
// endings, its media type, or that it is no text at all.
//
// The rules:
//
//   - The content decides; a name is asked only where the content leaves it open.
//   - A guess says how sure it is. Where several encodings fit, the western ones
//     win unless the bytes clearly speak for another.
//   - Nothing is changed on the way through: Decode reports whether Encode gives
//     the same bytes back, and bytes that are invalid in UTF-8 or UTF-16 survive.
package text

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// An Encoding is how a file's characters are written as bytes.
type Encoding struct {
	// Name is the IANA name in lower case: "utf-8", "utf-16le", "windows-1252",
	// "shift_jis" …; "-bom" is appended when the file starts with a byte order
	// mark. "binary" means that the bytes are no text.
	Name string

	// Confidence is how sure Detect is, from 0 to 1. It is 1 for an Encoding that
	// was looked up by name.
	Confidence float64
}

// binaryName is the name of the Encoding of bytes that are no text.
const binaryName = "binary"

// A codec names a coding of the x/text module.
type codec struct {
	name  string
	coder encoding.Encoding
}

// codecs lists the encodings other than UTF-8, -16 and -32.
func codecs() []codec {
	return []codec{
		{"big5", traditionalchinese.Big5},
		{"euc-jp", japanese.EUCJP},
		{"euc-kr", korean.EUCKR},
		{"gb18030", simplifiedchinese.GB18030},
		{"gbk", simplifiedchinese.GBK},
		{"ibm437", charmap.CodePage437},
		{"ibm850", charmap.CodePage850},
		{"ibm866", charmap.CodePage866},
		{"iso-8859-1", charmap.ISO8859_1},
		{"iso-8859-2", charmap.ISO8859_2},
		{"iso-2022-jp", japanese.ISO2022JP},
		{"iso-8859-3", charmap.ISO8859_3},
		{"iso-8859-4", charmap.ISO8859_4},
		{"iso-8859-5", charmap.ISO8859_5},
		{"iso-8859-6", charmap.ISO8859_6},
		{"iso-8859-7", charmap.ISO8859_7},
		{"iso-8859-8", charmap.ISO8859_8},
		{"iso-8859-10", charmap.ISO8859_10},
		{"iso-8859-13", charmap.ISO8859_13},
		{"iso-8859-14", charmap.ISO8859_14},
		{"iso-8859-15", charmap.ISO8859_15},
		{"iso-8859-16", charmap.ISO8859_16},
		{"koi8-r", charmap.KOI8R},
		{"koi8-u", charmap.KOI8U},
		{"macintosh", charmap.Macintosh},
		{"shift_jis", japanese.ShiftJIS},
		{"windows-1250", charmap.Windows1250},
		{"windows-1251", charmap.Windows1251},
		{"windows-1252", charmap.Windows1252},
		{"windows-1253", charmap.Windows1253},
		{"windows-1254", charmap.Windows1254},
		{"windows-1255", charmap.Windows1255},
		{"windows-1256", charmap.Windows1256},
		{"windows-1257", charmap.Windows1257},
		{"windows-1258", charmap.Windows1258},
		{"windows-874", charmap.Windows874},
		{"x-mac-cyrillic", charmap.MacintoshCyrillic},
	}
}

// coderFor returns the coding for a name, or nil.
func coderFor(name string) encoding.Encoding {
	if name == "utf-8" { // mostly, and nothing has to be listed
		return nil
	}
	for _, c := range codecs() {
		if c.name == name {
			return c.coder
		}
	}
	return nil
}

// aliases maps other common names to ours.
var aliases = [...][2]string{
	{"ascii", "utf-8"},
	{"us-ascii", "utf-8"},
	{"utf8", "utf-8"},
	{"latin1", "iso-8859-1"},
	{"latin-1", "iso-8859-1"},
	{"cp1252", "windows-1252"},
	{"cp1251", "windows-1251"},
	{"cp936", "gbk"},
	{"gb2312", "gbk"},
	{"cp932", "shift_jis"},
	{"sjis", "shift_jis"},
	{"shift-jis", "shift_jis"},
	{"cp949", "euc-kr"},
	{"cp866", "ibm866"},
}

// Lookup returns the Encoding of that name, in any case, or one of its common
// aliases ("latin1", "cp1252", "gb2312" …).
func Lookup(name string) (Encoding, bool) {
	name = strings.ToLower(name)
	for _, a := range aliases {
		if a[0] == name {
			name = a[1]
		}
	}
	e := Encoding{Name: name, Confidence: 1}
	return e, name == "utf-8" || name == "utf-8-bom" || name == binaryName || e.wide().unit > 0 || coderFor(name) != nil
}

// ASCII tells whether every byte below 0x80 outside of multi-byte characters
// means its ASCII character, so that line ends and ASCII text can be found in
// the raw bytes. In shift_jis, gbk, gb18030 and big5 such a byte may also be the
// second half of a character.
func (e Encoding) ASCII() bool { return e.wide().unit == 0 && e.Name != binaryName }

// BOM returns the byte order mark that Decode takes off and Encode puts on, or nil.
func (e Encoding) BOM() []byte {
	if !strings.HasSuffix(e.Name, "-bom") {
		return nil
	}
	if w := e.wide(); w.unit > 0 {
		return w.appendRune(nil, '\ufeff')
	}
	return []byte("\xef\xbb\xbf")
}

// Decode turns the bytes of a whole file into UTF-8, without the byte order mark.
// Exact means that Encode of the text gives the same bytes back.
//
// Where the Encoding is UTF-8 or binary the text is the data, invalid bytes and
// all; it is not copied. A surrogate of UTF-16 that has no partner comes as its
// three-byte form, which is no valid UTF-8 and which Encode turns back. In other
// encodings what has no meaning becomes U+FFFD, and exact is false. To show text,
// pass it through bytes.ToValidUTF8.
func (e Encoding) Decode(data []byte) (text []byte, exact bool) {
	body, hasBOM := bytes.CutPrefix(data, e.BOM())
	if !hasBOM {
		body = data
	}
	switch {
	case e.wide().unit > 0:
		text = e.wide().decode(body)
	case coderFor(e.Name) != nil:
		text, _ = coderFor(e.Name).NewDecoder().Bytes(body)
	default:
		return body, hasBOM
	}
	back, err := e.encode(text)
	return text, err == nil && hasBOM && bytes.Equal(back, body)
}

// Encode turns UTF-8 text into the bytes of a whole file, with the byte order mark
// where the Encoding has one. When the Encoding cannot hold a character the error
// is an *EncodeError that names the first one.
func (e Encoding) Encode(text []byte) ([]byte, error) {
	data, err := e.encode(text)
	if err != nil {
		return nil, err
	}
	if bom := e.BOM(); len(bom) > 0 {
		data = append(bom, data...)
	}
	return data, nil
}

// encode is Encode without the byte order mark.
func (e Encoding) encode(text []byte) ([]byte, error) {
	if w := e.wide(); w.unit > 0 {
		return w.encode(e.Name, text)
	}
	coder := coderFor(e.Name)
	if coder == nil {
		return text, nil
	}
	data, err := coder.NewEncoder().Bytes(text)
	if err == nil && utf8.Valid(text) {
		// Some coders fold look-alikes; a character that does not come back is
		// one that the encoding cannot hold.
		if back, err := coder.NewDecoder().Bytes(data); err == nil && bytes.Equal(back, text) {
			return data, nil
		}
	}
	return nil, firstUnencodable(e.Name, coder, text)
}

// firstUnencodable names the first character that does not survive.
func firstUnencodable(name string, coder encoding.Encoding, text []byte) error {
	enc, dec := coder.NewEncoder(), coder.NewDecoder()
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r >= utf8.RuneSelf || r == 0x1b || r == 0x0e || r == 0x0f {
			data, err := enc.Bytes(text[i : i+n])
			back, err2 := dec.Bytes(data)
			if r == utf8.RuneError || err != nil || err2 != nil || !bytes.Equal(back, text[i:i+n]) {
				return &EncodeError{Encoding: name, Rune: r, Offset: i}
			}
		}
		i += n
	}
	return &EncodeError{Encoding: name, Rune: utf8.RuneError, Offset: len(text)}
}

// An EncodeError says which character an encoding cannot hold.
type EncodeError struct {
	Encoding string // its name
	Rune     rune   // the first such character; U+FFFD for a byte that is no UTF-8
	Offset   int    // where it starts in the text, in bytes
}

// Error names the character and the encoding.
func (e *EncodeError) Error() string {
	return fmt.Sprintf("encoding text: %s cannot hold %q (%U) at byte %d", e.Encoding, e.Rune, e.Rune, e.Offset)
}

// Reader decodes a stream to UTF-8, without the byte order mark. Unlike Decode it
// replaces lone surrogates of UTF-16 by U+FFFD. In UTF-8 and binary the bytes pass
// as they are.
func (e Encoding) Reader(r io.Reader) io.Reader {
	if w := e.wide(); w.unit > 0 {
		r = &wideReader{r: r, w: w}
	} else if coder := coderFor(e.Name); coder != nil {
		r = coder.NewDecoder().Reader(r)
	}
	if len(e.BOM()) > 0 {
		return &bomSkipper{r: r}
	}
	return r
}

// A bomSkipper drops U+FEFF from the start of a stream of UTF-8.
type bomSkipper struct {
	r    io.Reader
	head []byte // what was read to look for the mark and is not yet passed on
	done bool
	err  error
}

// Read passes on what follows the mark.
func (s *bomSkipper) Read(p []byte) (int, error) {
	if !s.done {
		s.done = true
		buf := make([]byte, 3)
		n, err := io.ReadFull(s.r, buf)
		if err != nil && err != io.ErrUnexpectedEOF {
			s.err = err
		}
		s.head = bytes.TrimPrefix(buf[:n], []byte("\ufeff"))
	}
	if len(s.head) > 0 {
		n := copy(p, s.head)
		s.head = s.head[n:]
		return n, nil
	}
	if s.err != nil {
		return 0, s.err
	}
	return s.r.Read(p)
}
