package lsp

import (
	"bufio"
	"bytes"
	"runtime"
	"strings"
	"testing"
)

func read(text string) (string, error) {
	body, err := readMessage(bufio.NewReaderSize(strings.NewReader(text), maxHeader))
	return string(body), err
}

func TestReadMessage(t *testing.T) {
	for _, tt := range []struct{ name, in, want, fails string }{
		{"one", "Content-Length: 2\r\n\r\n{}", "{}", ""},
		{"another header, another case", "content-type: x\r\ncontent-length:2\r\n\r\n{}", "{}", ""},
		{"only line feeds", "Content-Length: 2\n\n{}", "{}", ""},
		{"an empty one", "Content-Length: 0\r\n\r\n", "", ""},
		{"no length", "Content-Type: x\r\n\r\n{}", "", "how long"},
		{"a length below zero", "Content-Length: -1\r\n\r\n", "", "not taken"},
		{"no number", "Content-Length: many\r\n\r\n", "", "not taken"},
		{"a gigabyte", "Content-Length: 1073741824\r\n\r\n{}", "", "not taken"},
		{"a number that no int holds", "Content-Length: 99999999999999999999\r\n\r\n", "", "not taken"},
		{"an endless line", strings.Repeat("x", 1<<20), "", "header"},
		{"endless lines", strings.Repeat("X: y\r\n", 1<<18), "", "header"},
		{"it ends early", "Content-Length: 20\r\n\r\n{}", "{}", "EOF"},
		{"nothing", "", "", "EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(tt.in)
			switch {
			case tt.fails == "" && (err != nil || got != tt.want):
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			case tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)):
				t.Errorf("got %v, want an error with %q", err, tt.fails)
			}
		})
	}
}

// TestHugeLength: what a header promises takes no memory before it comes.
func TestHugeLength(t *testing.T) {
	in := "Content-Length: 33554432\r\n\r\n" + strings.Repeat("x", 100)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _ = read(in)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("100 bytes of a message that promises 32 MiB took %d bytes", took)
	}
}

func FuzzReadMessage(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n{}"))
	f.Add([]byte("Content-Length: 3\r\n\r\n{}"))
	f.Add([]byte("A: b\r\n\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		body, err := readMessage(bufio.NewReaderSize(bytes.NewReader(in), maxHeader))
		if err == nil && !bytes.Contains(in, body) {
			t.Errorf("%q is not in %q", body, in)
		}
		again, err := read(string(frame(in)))
		if err != nil || again != string(in) {
			t.Errorf("%q came back as %q, %v", in, again, err)
		}
	})
}

// TestColumns: what is converted comes back, at each place where a character begins, and
// no column of a server's is out of bounds.
func TestColumns(t *testing.T) {
	for _, encoding := range []string{"utf-8", "utf-16"} {
		for _, line := range []string{"", "abc", "aäb", "日本語", "x😀y", "\xff\xfe"} {
			for i := range line + "." {
				if got := Column(line, Character(line, i, encoding), encoding); got != i {
					t.Errorf("%s of %q: %d became %d", encoding, line, i, got)
				}
			}
			for _, n := range []int{-5, 1000} {
				if got := Column(line, n, encoding); got < 0 || got > len(line) {
					t.Errorf("%s of %q: %d became %d", encoding, line, n, got)
				}
			}
		}
	}
	if got := Character("x😀y", 5, "utf-16"); got != 3 {
		t.Errorf("y is at %d, want 3", got)
	}
}

func TestURI(t *testing.T) {
	for _, path := range []string{"/a/b.go", "/with space/ä#?.go", "/100%/x"} {
		if got := Path(URI(path)); got != path {
			t.Errorf("%s became %s by way of %s", path, got, URI(path))
		}
	}
	for _, uri := range []string{"", "http://x/a", "jdt://contents/x", "%zz"} {
		if got := Path(uri); got != "" {
			t.Errorf("%s is the file %s", uri, got)
		}
	}
}
