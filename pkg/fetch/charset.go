package fetch

import (
	"bytes"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/agentkit-go/agentkit/pkg/text"
)

// Text turns a body into UTF-8 and tells the encoding that it had. In this order a
// byte order mark decides, the header's charset, what the beginning of HTML or XML
// says, and what the bytes look like. A charset that most of the bytes do not fit is
// passed over. What has no meaning becomes U+FFFD.
func Text(body []byte, contentType string) (utf8Text []byte, name string) {
	if e := text.Detect(body[:min(len(body), 4)], true); strings.HasSuffix(e.Name, "-bom") {
		return plain(e, body)
	}
	media, params, _ := mime.ParseMediaType(contentType)
	labels := []string{params["charset"]}
	if head := body[:min(len(body), 4<<10)]; strings.Contains(media, "html") || media == "" {
		labels = append(labels, metaCharset(head))
	} else if strings.Contains(media, "xml") {
		labels = append(labels, xmlCharset(head))
	}
	for _, label := range labels {
		if decoded, name, ok := decodeAs(body, label); ok {
			return decoded, name
		}
	}
	e := text.Detect(body, true)
	if e.Name == "binary" {
		e.Name = "utf-8"
	}
	return plain(e, body)
}

func plain(e text.Encoding, body []byte) ([]byte, string) {
	decoded, _ := e.Decode(body)
	return bytes.ToValidUTF8(decoded, []byte("\ufffd")), e.Name
}

// maxStrange is how many characters of a thousand may make no sense in an encoding
// that a page names for itself.
const maxStrange = 20

// decodeAs decodes by the label of a charset. ok is false for a label that nobody knows,
// or that does not fit.
func decodeAs(body []byte, label string) (decoded []byte, name string, ok bool) {
	e, ok := text.Label(label)
	if !ok {
		return nil, "", false
	}
	decoded, _ = e.Decode(body)
	if !utf8.Valid(decoded) {
		decoded = bytes.ToValidUTF8(decoded, []byte("\ufffd"))
	}
	strange := bytes.Count(decoded, []byte("\ufffd"))
	return decoded, e.Name, strange == 0 || strange*1000 < utf8.RuneCount(decoded)*maxStrange
}

// metaCharset is what the beginning of an HTML page says in a meta element. It cannot
// be in UTF-16, or it could not be read.
func metaCharset(head []byte) string {
	comments := regexp.MustCompile(`(?s)<!--.*?-->`)
	head = comments.ReplaceAll(head, nil)
	m := regexp.MustCompile(`(?i)<meta\s[^>]*?charset\s*=\s*["']?\s*([a-z0-9_:.-]+)`).FindSubmatch(head)
	if m == nil {
		return xmlCharset(head)
	}
	if label := strings.ToLower(string(m[1])); !strings.HasPrefix(label, "utf-16") {
		return label
	}
	return "utf-8"
}

// xmlCharset is what an XML declaration says.
func xmlCharset(head []byte) string {
	m := regexp.MustCompile(`^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']`).FindSubmatch(head)
	if m == nil {
		return ""
	}
	return strings.ToLower(string(m[1]))
}
