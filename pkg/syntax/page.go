package syntax

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"
)

// outlinePage lists what a page holds between its script tags, which the
// grammar of the page itself passes over.
func outlinePage(ctx context.Context, found *collector, data []byte) error {
	err := outlineTree(ctx, found, data)
	var broken *PartialError
	if err != nil && !errors.As(err, &broken) {
		return err
	}
	if found.lang.name == "Vue" {
		err = nil // its templates are more than HTML
	}
	for _, s := range scripts(data) {
		lang := languageNamed(s.language)
		if lang == nil || !lang.outlined() {
			continue
		}
		inner := &collector{lines: found.lines, lang: lang}
		failed := outlineTree(ctx, inner, only(data, s.from, s.to))
		found.symbols = append(found.symbols, inner.symbols...)
		found.full = found.full || inner.full
		if err == nil {
			err = failed
		}
	}
	return err
}

// A script is a part of a page in another language.
type script struct {
	language string
	from, to int
}

// scripts finds the contents of script tags.
func scripts(data []byte) []script {
	open := regexp.MustCompile(`(?is)<script\b([^>]*)>`)
	end := regexp.MustCompile(`(?i)</script\s*>`)
	var list []script
	for at := 0; at < len(data) && len(list) < 1000; {
		tag := open.FindSubmatchIndex(data[at:])
		if tag == nil {
			break
		}
		from := at + tag[1]
		to := len(data)
		if e := end.FindIndex(data[from:]); e != nil {
			to = from + e[0]
		}
		if l := scriptLanguage(string(data[at+tag[2] : at+tag[3]])); l != "" {
			list = append(list, script{l, from, to})
		}
		at = to + 1
	}
	return list
}

// scriptLanguage reads the attributes of a script tag; "" is for data.
func scriptLanguage(attributes string) string {
	value := func(name string) string {
		m := regexp.MustCompile(`(?i)\b` + name + `\s*=\s*["']?([^"'\s>]*)`).FindStringSubmatch(attributes)
		if m == nil {
			return ""
		}
		return strings.ToLower(m[1])
	}
	switch lang, kind := value("lang"), value("type"); {
	case lang == "ts" || lang == "typescript" || strings.Contains(kind, "typescript"):
		return "TypeScript"
	case lang == "tsx":
		return "TSX"
	case kind == "" || kind == "module" || strings.Contains(kind, "javascript") || strings.Contains(kind, "babel"):
		return "JavaScript"
	}
	return ""
}

// only is the text with everything blank but one part of it.
func only(data []byte, from, to int) []byte {
	out := bytes.Repeat([]byte(" "), len(data))
	copy(out[from:to], data[from:to])
	for i, c := range data {
		if c == '\n' || c == '\r' {
			out[i] = c
		}
	}
	return out
}
