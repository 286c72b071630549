package fetch

import (
	"strings"
	"testing"

	"golang.org/x/net/html/charset"
)

func encoded(t *testing.T, label, text string) []byte {
	t.Helper()
	coding, _ := charset.Lookup(label)
	b, err := coding.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestText finds the encoding wherever it is said, and where it is not.
func TestText(t *testing.T) {
	japanese, korean, chinese, german := "日本語のページです。これは文字コードの試験です。", "한국어 페이지입니다. 문자 인코딩 시험입니다.", "这是一个中文页面,用于测试字符编码。", "Grüße aus Köln – schöne Straßen"
	russian := "Это страница на русском языке, и она достаточно длинная."
	long := strings.Repeat("<p>some plain text</p>\n", 300)
	for _, c := range []struct {
		name, header string
		body         []byte
		want         string
		charset      string
	}{
		{"sjis-header", "text/html; charset=Shift_JIS", encoded(t, "shift_jis", japanese), japanese, "shift_jis"},
		{"euckr-meta", "text/html", append([]byte(`<html><meta charset="euc-kr">`), encoded(t, "euc-kr", korean)...), korean, "euc-kr"},
		{"gb2312-http-equiv", "text/html", append([]byte(`<meta http-equiv="Content-Type" content="text/html; charset=gb2312">`), encoded(t, "gbk", chinese)...), chinese, "gbk"},
		{"utf16-bom", "text/html; charset=utf-8", append([]byte("\xff\xfe"), encoded(t, "utf-16le", german)...), german, "utf-16le-bom"},
		{"utf8-bom", "text/plain; charset=latin1", append([]byte("\xef\xbb\xbf"), german...), german, "utf-8-bom"},
		{"cp1252-none", "text/html", encoded(t, "windows-1252", german), german, "windows-1252"},
		{"latin1-is-1252", "text/plain; charset=iso-8859-1", encoded(t, "windows-1252", "“quoted”"), "“quoted”", "windows-1252"},
		{"utf8-none", "text/html", []byte(german), german, "utf-8"},
		{"utf8-quoted", `text/plain; charset="UTF-8"`, []byte(german), german, "utf-8"},
		{"utf8-said-latin", "text/html; charset=utf-8", encoded(t, "windows-1252", german), german, "windows-1252"},
		{"xml", "application/xml", append([]byte(`<?xml version="1.0" encoding="windows-1251"?><a>`), encoded(t, "windows-1251", russian)...), russian, "windows-1251"},
		{"koi8-detected", "text/plain", encoded(t, "koi8-r", russian), russian, "koi8-r"},
		{"meta-in-comment", "text/html", append([]byte(`<!-- <meta charset="shift_jis"> --><meta charset=utf-8>`), german...), german, "utf-8"},
		{"meta-utf16-lies", "text/html", append([]byte(`<meta charset="utf-16">`), german...), german, "utf-8"},
		{"unknown-label", "text/html; charset=x-none", []byte(german), german, "utf-8"},
		{"replacement-label", "text/html; charset=iso-2022-kr", []byte(german), german, "utf-8"},
		{"meta-late", "text/html", append([]byte(long+`<meta charset="shift_jis">`), german...), german, "utf-8"},
		{"a-few-bad", "text/html; charset=utf-8", []byte(long + "\xff" + german), "\ufffd" + german, "utf-8"},
	} {
		got, name := Text(c.body, c.header)
		if !strings.Contains(string(got), c.want) || name != c.charset {
			t.Errorf("%s: %s, %.80q", c.name, name, got)
		}
	}
}

// TestType believes the bytes where the header cannot be right.
func TestType(t *testing.T) {
	for _, c := range []struct{ header, body, at, want string }{
		{"text/html; charset=utf-8", "<p>x", "/", "text/html"},
		{"", "<!DOCTYPE html><p>x", "/", "text/html"},
		{"", "  <html><p>x", "/", "text/html"},
		{"application/octet-stream", "<!-- x --><html>", "/", "text/html"},
		{"", "just words", "/", "text/plain"},
		{"nonsense", "just words", "/", "text/plain"},
		{"text/plain", "<html>source</html>", "/a.html", "text/plain"},
		{"text/plain", "# Title", "/README.md", "text/markdown"},
		{"text/plain", "a,b\n1,2\n", "/t.csv", "text/csv"},
		{"text/plain; charset=utf-8", `{"cells":[]}`, "/n.ipynb", "application/x-ipynb+json"},
		{"application/json", `{"a":1}`, "/", "application/json"},
		{"", `{"a":1}`, "/", "application/json"},
		{"", "[1,2]", "/", "application/json"},
		{"", "[link] words", "/", "text/plain"},
		{"application/json", `{"version":"https://jsonfeed.org/version/1.1"}`, "/", "application/feed+json"},
		{"text/xml", `<?xml version="1.0"?><!-- x --><rss version="2.0">`, "/", "application/rss+xml"},
		{"application/xml", `<feed xmlns="http://www.w3.org/2005/Atom">`, "/", "application/atom+xml"},
		{"application/xml", `<rdf:RDF xmlns="http://purl.org/rss/1.0/">`, "/", "application/rss+xml"},
		{"", `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom">`, "/", "application/atom+xml"},
		{"application/xml", `<?xml version="1.0"?><!DOCTYPE html><html xmlns="x">`, "/", "application/xhtml+xml"},
		{"text/xml", `<?xml version="1.0"?><config>`, "/", "text/xml"},
		{"text/html", "%PDF-1.7\n%\xe2\xe3", "/", "application/pdf"},
		{"application/octet-stream", "\x89PNG\r\n\x1a\n\x00\x00", "/", "image/png"},
		{"text/plain", "\x7fELF\x02\x01\x01\x00\x00\x00", "/", "application/x-executable"},
		{"text/html", "\x00\x01\x02\x03\x04\x05\x00\x00", "/", "application/octet-stream"},
		{"application/zip", "PK\x03\x04xxxx", "/", "application/zip"},
	} {
		if got := Type(c.header, []byte(c.body), parse(t, "http://a.zoo.test"+c.at)); got != c.want && !(c.want == "application/x-executable" && !Textual(got)) {
			t.Errorf("%q, %.20q at %s: %s, want %s", c.header, c.body, c.at, got, c.want)
		}
	}
}

// TestRawFile finds the file behind a page of a host of code.
func TestRawFile(t *testing.T) {
	for at, want := range map[string]string{
		"https://github.com/o/r/blob/main/a/b.go":              "https://raw.githubusercontent.com/o/r/main/a/b.go",
		"https://www.github.com/o/r/blob/v1.2/README.md#L10":   "https://raw.githubusercontent.com/o/r/v1.2/README.md",
		"https://github.com/o/r/blob/main/a%20b.md?plain=1":    "https://raw.githubusercontent.com/o/r/main/a%20b.md",
		"https://github.com/o/r/blame/main/a.go":               "https://raw.githubusercontent.com/o/r/main/a.go",
		"https://github.com/o/r/tree/main/a":                   "",
		"https://github.com/o/r":                               "",
		"https://github.com/o/r/blob/main":                     "",
		"https://github.com/o/r/issues/5":                      "",
		"https://gist.github.com/u/0123456789abcdef0123":       "https://gist.githubusercontent.com/u/0123456789abcdef0123/raw",
		"https://gist.github.com/u":                            "",
		"https://gitlab.com/g/s/p/-/blob/main/a.go":            "https://gitlab.com/g/s/p/-/raw/main/a.go",
		"https://salsa.debian.org/g/p/-/blob/master/d/control": "https://salsa.debian.org/g/p/-/raw/master/d/control",
		"https://gitlab.com/g/p/-/tree/main/a":                 "",
		"https://bitbucket.org/o/r/src/main/a.go":              "https://bitbucket.org/o/r/raw/main/a.go",
		"https://bitbucket.org/o/r/src/main/":                  "",
		"https://codeberg.org/o/r/src/branch/main/a.go":        "https://codeberg.org/o/r/raw/branch/main/a.go",
		"https://git.sr.ht/~u/r/tree/master/item/a/b.go":       "https://git.sr.ht/~u/r/blob/master/a/b.go",
		"https://git.sr.ht/~u/r/tree/master":                   "",
		"https://example.org/o/r/blob/main/a.go":               "",
		"https://evil.test/github.com/o/r/blob/main/a.go":      "",
		"https://github.com.evil.test/o/r/blob/main/a.go":      "",
	} {
		got, ok := RawFile(parse(t, at))
		if ok != (want != "") || ok && got.String() != want {
			t.Errorf("%s: %v, want %s", at, got, want)
		}
	}
}
