package edit

import (
	"encoding/json"
	"html"
	"slices"
	"strings"
	"unicode/utf8"
)

// A reading is one way to understand a call: what was quoted and what should
// stand there, once the noise of its transport is gone.
type reading struct {
	cleaned []string // what was taken off, outermost first
	old     string
	new     string
	penalty float64 // so that a reading without cleaning wins a tie
	line    int     // the line number that the call itself names; 0 is none
}

const (
	mostReadings = 24
	deepReading  = 3
)

// The names of what a reading takes off.
const (
	cleanNumbers = "line numbers"
	cleanFence   = "code fence"
	cleanDiff    = "diff columns"
	cleanJSON    = "JSON escapes"
	cleanEscapes = "escapes"
	cleanQuotes  = "escaped quotes"
	cleanHTML    = "HTML entities"
	cleanOuter   = "outer blank lines"
	cleanSpare   = "spare blank line"
)

// readings are the ways to understand the call, nearest to its letter first.
func readings(old, new string) []reading {
	type key struct{ old, new string }
	seen := make(map[key]bool)
	queue := []reading{{old: old, new: new}}
	var out []reading
	for len(queue) > 0 && len(out) < mostReadings {
		r := queue[0]
		queue = queue[1:]
		if seen[key{r.old, r.new}] || blank(r.old) {
			continue
		}
		seen[key{r.old, r.new}] = true
		out = append(out, r)
		if len(r.cleaned) < deepReading {
			queue = append(queue, r.cleaner()...)
		}
	}
	return out
}

// cleaner are the readings that take one more thing off.
func (r reading) cleaner() []reading {
	out := r.withoutNumbers()
	if o, ok := unfence(r.old); ok {
		n, ok := unfence(r.new)
		if !ok {
			n = r.new
		}
		out = append(out, r.take(cleanFence, o, n, 0.001))
	}
	if o, n, ok := undiff(r.old, r.new); ok {
		out = append(out, r.take(cleanDiff, o, n, 0.01))
	}
	out = append(out, r.withoutEscapes()...)
	if hasEntity(r.old) {
		out = append(out, r.take(cleanHTML, html.UnescapeString(r.old), html.UnescapeString(r.new), 0.002))
	}
	if o := trimBlankLines(r.old, true, true); o != r.old && !blank(o) {
		n := trimBlankLines(r.new, startsBlank(r.old), endsBlank(r.old))
		out = append(out, r.take(cleanOuter, o, n, 0))
	}
	return out
}

func (r reading) take(what, old, new string, penalty float64) reading {
	return reading{append(slices.Clip(r.cleaned), what), old, new, r.penalty + penalty, r.line}
}

func (r reading) withoutNumbers() []reading {
	var out []reading
	var news []numbered
	if !blank(r.new) {
		news = unnumber(grepped(strings.Trim(r.new, "\n")))
	}
	for _, o := range unnumber(grepped(strings.Trim(r.old, "\n"))) {
		n := r.new
		for _, x := range news {
			if x.style == o.style && (x.blank == o.blank || n == r.new) {
				n = x.body
			}
		}
		c := r.take(cleanNumbers, o.body, n, 0.001)
		c.line = o.first
		out = append(out, c)
	}
	return out
}

func (r reading) withoutEscapes() []reading {
	if !strings.Contains(r.old, `\`) {
		return nil
	}
	var out []reading
	if o, ok := unescapeJSON(r.old); ok && o != r.old {
		if n, ok := unescapeJSON(r.new); ok {
			out = append(out, r.take(cleanJSON, o, n, 0.002))
		}
	}
	if o := unescape(r.old); o != r.old {
		out = append(out, r.take(cleanEscapes, o, unescape(r.new), 0.004))
	}
	for _, q := range [...]string{`"`, `'`, "`"} {
		if !strings.Contains(r.old, `\`+q) {
			continue
		}
		pairs := []string{`\` + q, q}
		if q == "`" {
			pairs = append(pairs, `\${`, `${`)
		}
		p := strings.NewReplacer(pairs...)
		out = append(out, r.take(cleanQuotes, p.Replace(r.old), p.Replace(r.new), 0.002))
	}
	return out
}

// unescape resolves one level of backslashes.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' && i+1 < len(s) {
			switch d := s[i+1]; d {
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case 'r':
				c = '\r'
			case '"', '\'', '\\', '/', '`', '$':
				c = d
			default:
				i--
			}
			i++
		}
		b = append(b, c)
	}
	return string(b)
}

// unescapeJSON reads s as the inside of a JSON string.
func unescapeJSON(s string) (string, bool) {
	if !utf8.ValidString(s) || strings.Contains(s, "\ufffd") {
		return "", false
	}
	q := strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(s)
	var out string
	if json.Unmarshal([]byte(`"`+q+`"`), &out) != nil || strings.Contains(out, "\ufffd") {
		return "", false
	}
	return out, true
}

func hasEntity(s string) bool {
	for {
		i := strings.IndexByte(s, '&')
		if i < 0 {
			return false
		}
		s = s[i+1:]
		for _, e := range [...]string{"lt;", "gt;", "amp;", "quot;", "apos;", "#39;", "#x27;", "#34;"} {
			if strings.HasPrefix(s, e) {
				return true
			}
		}
	}
}

// unfence takes a Markdown code fence off that encloses all of s.
func unfence(s string) (string, bool) {
	t := strings.TrimSpace(s)
	mark := "```"
	if strings.HasPrefix(t, "~~~") {
		mark = "~~~"
	}
	open, rest, ok := strings.Cut(t, "\n")
	if !ok || !strings.HasPrefix(open, mark) {
		return "", false
	}
	info := strings.TrimLeft(open, mark[:1])
	mark = open[:len(open)-len(info)]
	if strings.ContainsFunc(strings.TrimRight(info, " \t"), func(r rune) bool { return !isWord(byte(min(r, 0x80))) && !strings.ContainsRune("+.-", r) }) {
		return "", false
	}
	body, ok := strings.CutSuffix(rest, mark)
	if !ok || strings.Contains(body, "```") {
		return "", false
	}
	body = strings.TrimRight(body, " \t")
	if body != "" && !strings.HasSuffix(body, "\n") {
		return "", false
	}
	return strings.TrimSuffix(body, "\n"), true
}

// undiff takes the first column off where old and new are the two sides of a
// diff.
func undiff(old, new string) (o, n string, ok bool) {
	o, same1, ok1 := column(old, '-')
	n, same2, ok2 := column(new, '+')
	if !ok1 || !ok2 || same1 != same2 && !blank(new) || same1 == old && same2 == new {
		return "", "", false
	}
	return o, n, true
}

// column drops the first column, which holds the mark or a blank; unmarked
// are the lines with a blank, as they were.
func column(s string, mark byte) (out, unmarked string, ok bool) {
	var lines, same []string
	for l := range strings.SplitSeq(s, "\n") {
		switch {
		case l == "" || l[0] == ' ':
			same = append(same, l)
		case l[0] != mark:
			return "", "", false
		}
		lines = append(lines, l[min(1, len(l)):])
	}
	return strings.Join(lines, "\n"), strings.Join(same, "\n"), true
}

func startsBlank(s string) bool {
	first, _, more := strings.Cut(s, "\n")
	return more && strings.Trim(first, " \t") == ""
}

func endsBlank(s string) bool {
	i := strings.LastIndexByte(s, '\n')
	return i >= 0 && strings.Trim(s[i:], " \t\n") == ""
}

// trimBlankLines drops blank lines at the start and at the end.
func trimBlankLines(s string, start, end bool) string {
	for start && startsBlank(s) {
		_, s, _ = strings.Cut(s, "\n")
	}
	for end && endsBlank(s) {
		s = s[:strings.LastIndexByte(s, '\n')]
	}
	return s
}
