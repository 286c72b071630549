package text

import (
	"bytes"
)

// A magic is how a format's files begin.
type magic struct {
	prefix string
	at     int    // where the prefix stands
	mime   string // media type
	name   string // what people call it, with its article
	text   bool   // the prefix could start a text; more must speak for the format
}

// magics lists the binary formats that are known by their first bytes.
var magics = [...]magic{
	{"\x89PNG\r\n\x1a\n", 0, "image/png", "a PNG image", false},
	{"\xff\xd8\xff", 0, "image/jpeg", "a JPEG image", false},
	{"GIF87a", 0, "image/gif", "a GIF image", true},
	{"GIF89a", 0, "image/gif", "a GIF image", true},
	{"WEBP", 8, "image/webp", "a WebP image", true},
	{"WAVE", 8, "audio/wav", "WAV audio", true},
	{"AVI ", 8, "video/x-msvideo", "an AVI video", true},
	{"ftypavif", 4, "image/avif", "an AVIF image", true},
	{"ftypheic", 4, "image/heic", "a HEIC image", true},
	{"ftyp", 4, "video/mp4", "an MP4 video", true},
	{"BM", 0, "image/bmp", "a BMP image", true},
	{"II*\x00", 0, "image/tiff", "a TIFF image", false},
	{"MM\x00*", 0, "image/tiff", "a TIFF image", false},
	{"\x00\x00\x01\x00", 0, "image/x-icon", "an icon", false},
	{"%PDF-", 0, "application/pdf", "a PDF document", false},
	{"PK\x03\x04", 0, "application/zip", "a zip archive", false},
	{"PK\x05\x06", 0, "application/zip", "a zip archive", false},
	{"\x1f\x8b", 0, "application/gzip", "gzip data", false},
	{"BZh", 0, "application/x-bzip2", "bzip2 data", true},
	{"\xfd7zXZ\x00", 0, "application/x-xz", "xz data", false},
	{"\x28\xb5\x2f\xfd", 0, "application/zstd", "zstd data", false},
	{"7z\xbc\xaf\x27\x1c", 0, "application/x-7z-compressed", "a 7z archive", false},
	{"Rar!\x1a\x07", 0, "application/vnd.rar", "a rar archive", false},
	{"ustar", 257, "application/x-tar", "a tar archive", true},
	{"\x7fELF", 0, "application/x-elf", "an ELF executable", false},
	{"MZ", 0, "application/vnd.microsoft.portable-executable", "a Windows executable", true},
	{"\xcf\xfa\xed\xfe", 0, "application/x-mach-binary", "a Mach-O executable", false},
	{"\xce\xfa\xed\xfe", 0, "application/x-mach-binary", "a Mach-O executable", false},
	{"\xca\xfe\xba\xbe", 0, "application/java-vm", "a Java class or Mach-O executable", false},
	{"\x00asm", 0, "application/wasm", "a WebAssembly module", false},
	{"!<arch>\n", 0, "application/x-archive", "an ar archive", true},
	{"SQLite format 3\x00", 0, "application/vnd.sqlite3", "a SQLite database", false},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0, "application/x-ole-storage", "an old Office document", false},
	{"PAR1", 0, "application/vnd.apache.parquet", "a Parquet table", true},
	{"OggS\x00", 0, "audio/ogg", "Ogg audio", false},
	{"fLaC\x00", 0, "audio/flac", "FLAC audio", false},
	{"ID3", 0, "audio/mpeg", "MP3 audio", true},
	{"\x1a\x45\xdf\xa3", 0, "video/x-matroska", "a Matroska video", false},
	{"wOFF", 0, "font/woff", "a WOFF font", true},
	{"wOF2", 0, "font/woff2", "a WOFF2 font", true},
	{"OTTO\x00", 0, "font/otf", "an OpenType font", false},
	{"\x00\x01\x00\x00\x00", 0, "font/ttf", "a TrueType font", false},
}

// findMagic returns the format that a sample begins like, or nil.
func findMagic(sample []byte) *magic {
	for i := range magics {
		m := &magics[i]
		if len(sample) < m.at+len(m.prefix) || string(sample[m.at:m.at+len(m.prefix)]) != m.prefix {
			continue
		}
		if m.text && !looksBinary(sample) {
			continue
		}
		if m.mime == "application/pdf" && (len(sample) < 6 || sample[5] < '0' || sample[5] > '9') {
			continue
		}
		return m
	}
	return nil
}

// hasMagic tells whether a sample begins like a binary format.
func hasMagic(sample []byte) bool { return findMagic(sample) != nil }

// looksBinary tells whether bytes behind a prefix of letters are no text: zero
// bytes, or control bytes that texts lack.
func looksBinary(sample []byte) bool {
	if bytes.IndexByte(sample, 0) < 0 {
		return countControls(sample) > 1
	}
	_, wide := detectWide(sample, false)
	return !wide
}

// Binary tells whether a sample is no text, and why: a known format, a zero byte,
// or too many control bytes. UTF-16 and UTF-32 are text, with a byte order mark or
// without. The name of the file does not matter.
func Binary(sample []byte) (binary bool, why string) {
	if Detect(sample, false).Name != binaryName {
		return false, ""
	}
	if m := findMagic(sample); m != nil {
		return true, "it is " + m.name
	}
	if bytes.IndexByte(sample, 0) >= 0 {
		return true, "it has zero bytes"
	}
	return true, "it has many control bytes"
}

// Newline tells how the lines of a sample in an ASCII superset end: "lf", "crlf",
// "cr", "mixed", or "none" where there is no line end. A carriage return that is
// the last byte of the sample may be half of a CRLF and is not counted beside
// other endings. Lone carriage returns beside others make it mixed.
func Newline(sample []byte) string {
	lf, crlf, cr := 0, 0, 0
	for i := 0; i < len(sample); {
		k := bytes.IndexAny(sample[i:], "\r\n")
		if k < 0 {
			break
		}
		i += k
		switch {
		case sample[i] == '\n':
			lf++
		case i+1 < len(sample) && sample[i+1] == '\n':
			crlf++
			i++
		case i+1 < len(sample) || lf+crlf == 0:
			cr++
		}
		i++
	}
	switch {
	case lf+crlf+cr == 0:
		return "none"
	case crlf+cr == 0:
		return "lf"
	case lf+cr == 0:
		return "crlf"
	case lf+crlf == 0:
		return "cr"
	}
	return "mixed"
}
