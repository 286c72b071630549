package syntax

import (
	"context"
	"strings"
)

// heading is an open heading of a Markdown file.
type heading struct {
	symbol Symbol
	level  int
}

// outlineMarkdown reads the headings, of both forms, outside of code, front
// matter and comments. A heading reaches to the next of its level or higher.
func outlineMarkdown(_ context.Context, found *collector, _ []byte) error {
	var open []heading
	closeTo := func(level, line int) {
		for len(open) > 0 && open[len(open)-1].level >= level {
			h := open[len(open)-1]
			open = open[:len(open)-1]
			h.symbol.EndLine = line
			found.add(h.symbol)
		}
	}
	scan := markdownScan{}
	for i, raw := range found.lines {
		text := strings.TrimRight(string(raw), "\r")
		level, title, line := scan.line(text, i+1)
		if level == 0 {
			continue
		}
		closeTo(level, found.filled(line-1))
		s := Symbol{Name: title, Kind: Heading, Line: line, Column: 1, Depth: len(open)}
		if len(open) > 0 {
			s.Parent = open[len(open)-1].symbol.Path()
		}
		open = append(open, heading{s, level})
	}
	closeTo(0, found.filled(len(found.lines)))
	return nil
}

// filled is the last line at or above one that is not blank.
func (c *collector) filled(line int) int {
	for line > 1 && strings.TrimSpace(string(c.lines[line-1])) == "" {
		line--
	}
	return line
}

// markdownScan remembers what a line's meaning depends on.
type markdownScan struct {
	fence   string // what closes the code block
	matter  string // what closes the front matter
	comment bool
	above   string // the paragraph's line above
}

// line gives the level and the title of a heading, and where it begins; level
// is 0 for any other line.
func (m *markdownScan) line(text string, n int) (level int, title string, at int) {
	t := strings.TrimSpace(text)
	indent := len(text) - len(strings.TrimLeft(text, " "))
	above := m.above
	m.above = ""
	switch {
	case n == 1 && (t == "---" || t == "+++"):
		m.matter = t
		return 0, "", 0
	case m.matter != "":
		if t == m.matter {
			m.matter = ""
		}
		return 0, "", 0
	case m.comment:
		m.comment = !strings.Contains(t, "-->")
		return 0, "", 0
	case m.fence != "":
		if rest, ok := strings.CutPrefix(t, m.fence); ok && strings.Trim(rest, m.fence[:1]) == "" {
			m.fence = ""
		}
		return 0, "", 0
	case strings.HasPrefix(t, "<!--"):
		m.comment = !strings.Contains(t, "-->")
		return 0, "", 0
	case strings.HasPrefix(t, "```"), strings.HasPrefix(t, "~~~"):
		m.fence = t[:len(t)-len(strings.TrimLeft(t, t[:1]))]
		if t[0] == '`' && strings.Contains(t[len(m.fence):], "`") {
			m.fence = ""
		}
		return 0, "", 0
	case indent > 3 || strings.HasPrefix(text, "\t"):
		return 0, "", 0
	}
	if level := len(t) - len(strings.TrimLeft(t, "#")); level > 0 && level <= 6 {
		rest := t[level:]
		if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
			m.above = t
			return 0, "", 0
		}
		return level, headingText(rest), n
	}
	if above != "" && t != "" && (strings.Trim(t, "=") == "" || strings.Trim(t, "-") == "") {
		if t[0] == '=' {
			return 1, headingText(above), n - 1
		}
		return 2, headingText(above), n - 1
	}
	if !strings.HasPrefix(t, ">") && !strings.HasPrefix(t, "|") && !strings.HasPrefix(t, "- ") && !strings.HasPrefix(t, "* ") {
		m.above = t
	}
	return 0, "", 0
}

// headingText drops closing hashes and an {#id}.
func headingText(text string) string {
	text = strings.TrimSpace(text)
	if bare := strings.TrimRight(text, "#"); bare == "" || strings.HasSuffix(bare, " ") {
		text = strings.TrimSpace(bare)
	}
	if i := strings.LastIndex(text, "{#"); i > 0 && strings.HasSuffix(text, "}") {
		text = strings.TrimSpace(text[:i])
	}
	if text == "" {
		return "#"
	}
	return text
}
