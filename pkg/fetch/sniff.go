package fetch

import (
	"bytes"
	"mime"
	"net/url"
	"path"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/text"
)

// Type is the media type of a body: what its header says, unless that says nothing or
// the bytes say otherwise. Files that are served as plain text keep that type but for
// what their name tells.
func Type(header string, body []byte, at *url.URL) string {
	declared, _, err := mime.ParseMediaType(header)
	if err != nil {
		declared = strings.ToLower(strings.TrimSpace(strings.SplitN(header, ";", 2)[0]))
	}
	name := path.Base(at.Path)
	found := text.MIME("", body[:min(len(body), 64<<10)])
	textual := strings.HasPrefix(found, "text/") || Textual(found)
	switch {
	case !textual && found != "application/octet-stream":
		return found // bytes that cannot be mistaken
	case !textual && (declared == "" || Textual(declared)) && len(body) > 0:
		return "application/octet-stream"
	case strings.HasSuffix(strings.ToLower(name), ".ipynb") && textual && declared != "text/html":
		return "application/x-ipynb+json"
	case declared == "text/plain":
		if named := text.MIME(name, body[:min(len(body), 64<<10)]); named != "text/html" && Textual(named) {
			return named
		}
		return declared
	case declared == "" || declared == "application/octet-stream" || declared == "binary/octet-stream" || declared == "application/unknown" || !strings.Contains(declared, "/"):
		if !textual {
			return "application/octet-stream"
		}
		return sniffText(found, name, body)
	case declared == "application/xml" || declared == "text/xml" || declared == "application/xhtml+xml":
		return xmlType(declared, body)
	case declared == "application/json" && bytes.Contains(body[:min(len(body), 1<<10)], []byte("://jsonfeed.org/version/")):
		return "application/feed+json"
	}
	return declared
}

// sniffText tells the type of a text that comes without one.
func sniffText(found, name string, body []byte) string {
	head := bytes.ToLower(bytes.TrimLeft(bytes.TrimPrefix(body[:min(len(body), 4<<10)], []byte("\xef\xbb\xbf")), " \t\r\n"))
	switch {
	case strings.Contains(found, "xml"):
		return xmlType(found, body)
	case found == "text/html":
		return found
	case bytes.HasPrefix(head, []byte("<")):
		for _, tag := range []string{"<!doctype html", "<html", "<head", "<body", "<title", "<meta", "<script", "<style", "<div", "<p>", "<h1", "<table", "<a ", "<!--"} {
			if bytes.HasPrefix(head, []byte(tag)) {
				return "text/html"
			}
		}
	case bytes.HasPrefix(head, []byte("{")), bytes.HasPrefix(head, []byte("[")):
		if looksLikeJSON(head) {
			return "application/json"
		}
	}
	if named := text.MIME(name, body[:min(len(body), 4<<10)]); Textual(named) {
		return named
	}
	return "text/plain"
}

// looksLikeJSON tells an object or array from a text that begins with a bracket.
func looksLikeJSON(head []byte) bool {
	rest := bytes.TrimLeft(head[1:], " \t\r\n")
	return len(rest) == 0 || strings.IndexByte("\"{[]}-0123456789tfn", rest[0]) >= 0 && (head[0] == '[' || rest[0] == '"' || rest[0] == '}')
}

// xmlType tells feeds and pages among XML by their outermost element.
func xmlType(declared string, body []byte) string {
	head := body[:min(len(body), 8<<10)]
	for {
		i := bytes.IndexByte(head, '<')
		if i < 0 {
			return declared
		}
		head = head[i+1:]
		skip := ""
		switch {
		case bytes.HasPrefix(head, []byte("!--")):
			skip = "-->"
		case bytes.HasPrefix(head, []byte("?")), bytes.HasPrefix(head, []byte("!")):
			skip = ">"
		}
		if skip == "" {
			break
		}
		if i = bytes.Index(head, []byte(skip)); i < 0 {
			return declared
		}
		head = head[i:]
	}
	end := bytes.IndexAny(head, " \t\r\n/>")
	if end < 0 {
		return declared
	}
	element := strings.ToLower(string(head[:end]))
	if _, local, prefixed := strings.Cut(element, ":"); prefixed {
		element = local
	}
	switch element {
	case "rss":
		return "application/rss+xml"
	case "rdf":
		if bytes.Contains(head, []byte("http://purl.org/rss/1.0/")) {
			return "application/rss+xml"
		}
	case "feed":
		return "application/atom+xml"
	case "html":
		return "application/xhtml+xml"
	case "svg":
		return "image/svg+xml"
	}
	return declared
}

// Textual reports whether a media type is one of text that can be shown.
func Textual(media string) bool {
	if strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+json") || strings.HasSuffix(media, "+xml") || strings.HasSuffix(media, "+yaml") {
		return true
	}
	switch strings.TrimPrefix(media, "application/") {
	case "json", "jsonl", "x-ndjson", "ndjson", "json-seq", "xml", "javascript", "ecmascript", "x-javascript", "yaml", "x-yaml", "toml", "sql", "graphql",
		"x-sh", "x-httpd-php", "x-tex", "x-latex", "typescript", "x-typescript", "rtf", "x-www-form-urlencoded", "manifest", "x-perl", "x-python", "x-ruby":
		return true
	}
	return false
}
