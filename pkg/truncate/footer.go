package truncate

import (
	"fmt"
	"strings"
)

// The footers, the longest first; the first that leaves room is taken.
type footerStyle int

const (
	fullFooter   footerStyle = iota // totals, what is shown, the file, how to read on
	pathFooter                      // totals and the file
	totalsFooter                    // totals
	bareFooter                      // that something is missing
)

// footer says what is shown of how much, and where the rest is.
func (v *view) footer(r *Result, style footerStyle, lines int) string {
	total := fmt.Sprintf("%s and %s in all", plural(r.TotalLines, "line"), plural(r.TotalBytes, "byte"))
	switch style {
	case bareFooter:
		return "[truncated]"
	case totalsFooter:
		return "[truncated: " + total + "]"
	}
	parts := []string{"truncated: " + total}
	if style == fullFooter {
		parts[0] += "; shown: " + shown(r)
	}
	if r.SpillPath != "" {
		parts = append(parts, "full output: "+r.SpillPath)
	}
	if r.Incomplete != "" {
		parts = append(parts, "incomplete: "+r.Incomplete)
	}
	if style == fullFooter && v.o.ReadOn != nil {
		if call := v.o.ReadOn(r.SpillPath, max(r.TruncatedAtLine, 1)); call != "" {
			parts = append(parts, "read on: "+call)
		}
	}
	if lines < 20 {
		return "[" + strings.Join(parts, "; ") + "]"
	}
	return "[" + strings.Join(parts, "]\n[") + "]"
}

// shown lists the lines that a Result shows.
func shown(r *Result) string {
	var parts []string
	if r.HeadLines > 0 {
		parts = append(parts, "the first "+fmt.Sprint(r.HeadLines))
	}
	if r.TailLines > 0 {
		parts = append(parts, "the last "+fmt.Sprint(r.TailLines))
	}
	if r.ErrorLines > 0 {
		parts = append(parts, fmt.Sprint(r.ErrorLines)+" that look like errors")
	}
	if len(parts) == 0 {
		parts = append(parts, "none")
	}
	s := strings.Join(parts, ", ")
	if r.ShortenedLines > 0 {
		s += fmt.Sprintf(" (%d of them shortened)", r.ShortenedLines)
	}
	return s
}

// A position is a place between lines.
type position struct{ line, input int64 }

// appendMarker says what is missing between two places; nothing when nothing is.
func appendMarker(text []byte, from, to position) []byte {
	n := to.line - from.line
	if n <= 0 {
		return text
	}
	return fmt.Appendf(text, "[… %s (%s), %s left out …]\n", plural(n, "line"), lineRange(from.line+1, to.line), plural(to.input-from.input, "byte"))
}

// plural writes a number and its noun.
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// lineRange writes the numbers of lines.
func lineRange(from, to int64) string {
	if from == to {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d-%d", from, to)
}
