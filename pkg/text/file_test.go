package text

import (
	"bytes"
	"compress/gzip"
	"errors"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

// binaries are the beginnings of files of many kinds.
func binaries(t *testing.T) []struct {
	name, file string
	data       []byte
	mime, why  string
} {
	t.Helper()
	var pngData, gz bytes.Buffer
	if err := png.Encode(&pngData, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	w := gzip.NewWriter(&gz)
	_, _ = io.WriteString(w, "text inside")
	_ = w.Close()
	random := make([]byte, 600)
	r := rand.New(rand.NewPCG(9, 10))
	for i := range random {
		random[i] = byte(1 + r.IntN(255))
	}
	random[0] = 0x90
	tar := append([]byte("a.txt"), make([]byte, 507)...)
	copy(tar[257:], "ustar\x0000")
	return []struct {
		name, file string
		data       []byte
		mime, why  string
	}{
		{"png", "a.txt", pngData.Bytes(), "image/png", "it is a PNG image"},
		{"gzip", "a", gz.Bytes(), "application/gzip", "it is gzip data"},
		{"jpeg", "x.jpg", []byte("\xff\xd8\xff\xe0\x00\x10JFIF"), "image/jpeg", "it is a JPEG image"},
		{"gif", "x", []byte("GIF89a\x01\x00\x01\x00"), "image/gif", "it is a GIF image"},
		{"webp", "x", []byte("RIFF\x1a\x00\x00\x00WEBPVP8L"), "image/webp", "it is a WebP image"},
		{"bmp", "x", []byte("BM\x46\x00\x00\x00\x00\x00\x00\x00\x36\x00"), "image/bmp", "it is a BMP image"},
		{"tiff", "x", []byte("II*\x00\x08\x00\x00\x00"), "image/tiff", "it is a TIFF image"},
		{"ico", "x", []byte("\x00\x00\x01\x00\x01\x00\x10\x10"), "image/x-icon", "it is an icon"},
		{"pdf", "x", []byte("%PDF-1.4\n1 0 obj\n"), "application/pdf", "it is a PDF document"},
		{"zip", "x.zip", []byte("PK\x03\x04\x14\x00\x00\x00"), "application/zip", "it is a zip archive"},
		{"docx", "x.docx", []byte("PK\x03\x04\x14\x00\x00\x00"), "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "it is a zip archive"},
		{"elf", "tool", []byte("\x7fELF\x02\x01\x01\x00\x00\x00"), "application/x-elf", "it is an ELF executable"},
		{"exe", "a.exe", []byte("MZ\x90\x00\x03\x00\x00\x00"), "application/vnd.microsoft.portable-executable", "it is a Windows executable"},
		{"wasm", "x", []byte("\x00asm\x01\x00\x00\x00"), "application/wasm", "it is a WebAssembly module"},
		{"class", "x", []byte("\xca\xfe\xba\xbe\x00\x00\x00\x34"), "application/java-vm", "it is a Java class or Mach-O executable"},
		{"sqlite", "x.db", []byte("SQLite format 3\x00\x10\x00\x01\x01"), "application/vnd.sqlite3", "it is a SQLite database"},
		{"ar", "x.a", []byte("!<arch>\nfoo.o/\x00\x00\x01"), "application/x-archive", "it is an ar archive"},
		{"tar", "x.tar", tar, "application/x-tar", "it is a tar archive"},
		{"zeros", "x.txt", []byte("text\x00with a zero"), "application/octet-stream", "it has zero bytes"},
		{"random", "x.txt", random, "application/octet-stream", "it has many control bytes"},
		{"controls", "x", []byte("\x01\x02\x03\x04ab\x05\x06"), "application/octet-stream", "it has many control bytes"},
	}
}

func TestBinaryAndMIME(t *testing.T) {
	for _, b := range binaries(t) {
		if is, why := Binary(b.data); !is || why != b.why {
			t.Errorf("%s: binary %t, %q, want %q", b.name, is, why, b.why)
		}
		if got := MIME(b.file, b.data); got != b.mime {
			t.Errorf("%s: %s, want %s", b.name, got, b.mime)
		}
	}
	for _, c := range []struct{ file, data, mime string }{
		{"main.go", "package main\n", "text/x-go"},
		{"dir.d/MAIN.GO", "package main\n", "text/x-go"},
		{`C:\src\a.rs`, "fn main() {}\n", "text/x-rust"},
		{"fake.png", "this is text\n", "text/plain"},
		{"data.dat", "1 2 3\n", "text/plain"},
		{"data.bin", "a,b\n", "text/plain"},
		{"lib.a", "notes\n", "text/plain"},
		{"empty", "", "text/plain"},
		{"a.json", "{}", "application/json"},
		{"n.ipynb", "{\"cells\": []}", "application/x-ipynb+json"},
		{"logo.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "image/svg+xml"},
		{"logo", "<?xml version=\"1.0\"?>\n<svg/>", "image/svg+xml"},
		{"page", "<!DOCTYPE html><p>", "text/html"},
		{"run", "#!/usr/bin/env python3\nprint()\n", "text/x-python"},
		{"notes", "BMW is a car maker, MZ made motor bikes\n", "text/plain"},
		{"notes", "GIF89a is how a GIF image starts\n", "text/plain"},
		{"notes", "%PDF-files are tricky\n", "text/plain"},
		{"wide.txt", "\xff\xfeh\x00i\x00", "text/plain"},
		{"wide.txt", "h\x00i\x00\n\x00", "text/plain"},
		{"log.txt", "\x1b[31mred\x1b[0m \x07 \r\n", "text/plain"},
		{"old.txt", "dos text\r\n\x1a", "text/plain"},
	} {
		if got := MIME(c.file, []byte(c.data)); got != c.mime {
			t.Errorf("%s %q: %s, want %s", c.file, c.data, got, c.mime)
		}
		if is, why := Binary([]byte(c.data)); is {
			t.Errorf("%s %q: binary, %s", c.file, c.data, why)
		}
	}
}

func TestTablesAreSorted(t *testing.T) {
	for _, table := range [][][2]string{textTypes[:], zipTypes[:]} {
		for i, row := range table {
			if i > 0 && table[i-1][0] >= row[0] {
				t.Errorf("%s stands before %s", table[i-1][0], row[0])
			}
			if byExtension(table, row[0]) != row[1] {
				t.Errorf("%s is not found", row[0])
			}
		}
	}
}

func TestNewline(t *testing.T) {
	for in, want := range map[string]string{
		"": "none", "a": "none", "a\n": "lf", "a\r\nb\r\n": "crlf", "a\rb\r": "cr", "a\r": "cr", "a\nb\r\n": "mixed",
		"a\r\nb\rc\r\n": "mixed", "a\nb\rc\n": "mixed", "a\r\nb\r": "crlf", "\n\r": "lf",
	} {
		if got := Newline([]byte(in)); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		in   string
		cr   bool
		want []Line
	}{
		{"", false, nil},
		{"a", false, []Line{{[]byte("a"), "", 0, 1, 1}}},
		{"a\nb\r\n\r\nc\rd\n", false, []Line{{[]byte("a"), "\n", 0, 1, 1}, {[]byte("b"), "\r\n", 2, 1, 2}, {nil, "\r\n", 5, 0, 3}, {[]byte("c\rd"), "\n", 7, 3, 4}}},
		{"a\rb\r", true, []Line{{[]byte("a"), "\r", 0, 1, 1}, {[]byte("b"), "\r", 2, 1, 2}}},
		{"\n\nx\r", false, []Line{{nil, "\n", 0, 0, 1}, {nil, "\n", 1, 0, 2}, {[]byte("x\r"), "", 2, 2, 3}}},
		{"0123456789abc\r\nnext", false, []Line{{[]byte("01234567"), "\r\n", 0, 13, 1}, {[]byte("next"), "", 15, 4, 2}}},
		{"01234567\r\n", false, []Line{{[]byte("01234567"), "\r\n", 0, 8, 1}}},
		{"0123456\r8\n", false, []Line{{[]byte("0123456\r"), "\n", 0, 9, 1}}},
	} {
		o := LineOptions{CR: c.cr, MaxLine: 8}
		for name, r := range map[string]*LineReader{
			"whole": NewLineReader(strings.NewReader(c.in), o), "bytes": NewLineReader(iotest.OneByteReader(strings.NewReader(c.in)), o),
			"with EOF": NewLineReader(iotest.DataErrReader(strings.NewReader(c.in)), o), "memory": LinesOf([]byte(c.in), o),
		} {
			i := 0
			for l, err := range r.All() {
				if err != nil || i >= len(c.want) {
					t.Fatalf("%q by %s: line %d, %v", c.in, name, i, err)
				}
				w := c.want[i]
				if !bytes.Equal(l.Text, w.Text) || l.End != w.End || l.Offset != w.Offset || l.Length != w.Length || l.Number != w.Number {
					t.Errorf("%q by %s: %+v, want %+v", c.in, name, l, w)
				}
				i++
			}
			if i != len(c.want) {
				t.Errorf("%q by %s: %d lines, want %d", c.in, name, i, len(c.want))
			}
		}
	}
}

func TestLinesReportErrors(t *testing.T) {
	boom := errors.New("boom")
	var got []string
	var last error
	for l, err := range Lines(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(boom)), LineOptions{}) {
		got, last = append(got, string(l.Text)), err
	}
	if strings.Join(got, "|") != "a|b" || !errors.Is(last, boom) {
		t.Errorf("%q, %v", got, last)
	}
}

func TestSkip(t *testing.T) {
	var b strings.Builder
	for i := range 50_000 {
		b.WriteString(strings.Repeat("x", i%97) + "\r\n")
	}
	b.WriteString("last")
	for _, n := range []int64{0, 1, 2, 4999, 49_999, 50_000} {
		l := NewLineReader(strings.NewReader(b.String()), LineOptions{})
		if done, err := l.Skip(n); done != n || err != nil {
			t.Fatalf("skipped %d of %d, %v", done, n, err)
		}
		line, err := l.Next()
		if err != nil || line.Number != n+1 || !strings.HasPrefix(b.String()[line.Offset:], string(line.Text)+line.End) {
			t.Errorf("after %d: %+v, %v", n, line, err)
		}
		if line.Offset > 0 && b.String()[line.Offset-1] != '\n' {
			t.Errorf("after %d: offset %d is inside a line", n, line.Offset)
		}
	}
	l := NewLineReader(strings.NewReader(b.String()), LineOptions{})
	if done, err := l.Skip(60_000); done != 50_001 || !errors.Is(err, io.EOF) {
		t.Errorf("skipped %d, %v", done, err)
	}
}

// repeated yields n times the same byte.
type repeated struct {
	c byte
	n int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.n == 0 {
		return 0, io.EOF
	}
	k := min(len(p), r.n)
	for i := range k {
		p[i] = r.c
	}
	r.n -= k
	return k, nil
}

func TestHugeLineTakesLittleMemory(t *testing.T) {
	const size = 200 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	line, err := NewLineReader(&repeated{'x', size}, LineOptions{}).Next()
	runtime.ReadMemStats(&after)
	if err != nil || line.Length != size || len(line.Text) != DefaultMaxLine {
		t.Errorf("%d bytes of %d, %v", len(line.Text), line.Length, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("%d bytes allocated", used)
	}
}

func BenchmarkLines(b *testing.B) {
	data := bytes.Repeat([]byte("a line of a file, as they come in programs\n"), 100_000)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		for range Lines(bytes.NewReader(data), LineOptions{}) { //nolint:errcheck // memory has no errors
		}
	}
}

func BenchmarkSkip(b *testing.B) {
	data := bytes.Repeat([]byte("a line of a file, as they come in programs\n"), 100_000)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		_, _ = NewLineReader(bytes.NewReader(data), LineOptions{}).Skip(99_000)
	}
}
