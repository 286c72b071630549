package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/syntax"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// makeRoom leaves out what says least, where not everything in several files
// can be shown and the call did not choose.
func (o *outlineCall) makeRoom(meta *outlineMeta) {
	if len(meta.Symbols) <= o.Limit || len(o.Kinds) > 0 {
		return
	}
	all := len(meta.Symbols)
	meta.Symbols = slices.DeleteFunc(meta.Symbols, func(s outlineSymbol) bool {
		switch s.Kind {
		case syntax.Field, syntax.Key, syntax.Element, syntax.Rule:
			return true
		}
		return false
	})
	meta.Omitted = all - len(meta.Symbols)
}

// page leaves the symbols from offset on, as many as limit and the limits of
// the output allow.
func (o *outlineCall) page(env *tool.Env, meta *outlineMeta, single bool) error {
	meta.Total = len(meta.Symbols)
	if o.Offset > 1 && o.Offset > meta.Total {
		return tool.Errorf(tool.BadInput, "offset %d is behind the last of %d symbols", o.Offset, meta.Total).WithHint("use an offset from 1 to %d", max(meta.Total, 1))
	}
	end := min(meta.Total, o.Offset-1+o.Limit)
	w := &outlineWriter{paint: unpainted, several: !single}
	for i, s := range meta.Symbols[o.Offset-1 : end] {
		if w.symbol(&s); i > 0 && (w.b.Len() > env.Limits.Bytes || w.lines > env.Limits.Lines) {
			end = o.Offset - 1 + i
			break
		}
	}
	if end < meta.Total {
		meta.Truncated, meta.Next = true, end+1
	}
	meta.Symbols = meta.Symbols[o.Offset-1 : end]
	return nil
}

func unpainted(_ tool.Style, text string) string { return text }

// An outlineWriter prints a heading per file and its symbols below, a line
// each: the lines it takes, and the line on which it is named, indented by how
// deep it lies.
type outlineWriter struct {
	paint   func(tool.Style, string) string
	several bool // files
	lines   int
	last    outlineSymbol
	b       strings.Builder
}

func (w *outlineWriter) symbol(s *outlineSymbol) {
	if w.several && s.Path != w.last.Path {
		if w.last.Path != "" {
			w.b.WriteByte('\n')
			w.lines++
		}
		fmt.Fprintf(&w.b, "%s\n", w.paint(tool.Name, tool.VisibleName(s.Path)))
		w.lines++
	}
	same := s.Path == w.last.Path && s.Line == w.last.Line && s.EndLine == w.last.EndLine && s.line() == w.last.line()
	w.last = *s
	if same {
		return // a and b of "var a, b int"
	}
	lines := fmt.Sprint(s.Line)
	if s.EndLine > s.Line {
		lines = fmt.Sprintf("%d-%d", s.Line, s.EndLine)
	}
	fmt.Fprintf(&w.b, "%s %s%s\n", w.paint(tool.Number, fmt.Sprintf("%9s", lines)), strings.Repeat("  ", s.depth), s.line())
	w.lines++
}

// render prints the symbols, and then what is missing and why.
func (o *outlineCall) render(meta *outlineMeta, single bool, paint func(tool.Style, string) string) string {
	w := &outlineWriter{paint: paint, several: !single}
	for i := range meta.Symbols {
		w.symbol(&meta.Symbols[i])
	}
	b := &w.b
	if meta.Total == 0 {
		b.WriteString("no symbols found\n")
	}
	if meta.Truncated {
		fmt.Fprintf(b, "\nsymbols %d-%d of %d; go on with offset=%d\n", o.Offset, meta.Next-1, meta.Total, meta.Next)
	}
	if meta.Omitted > 0 {
		fmt.Fprintf(b, "\n%d fields, keys and the like are left out; kinds lists them\n", meta.Omitted)
	}
	if meta.BrokenAll > 0 {
		b.WriteByte('\n')
	}
	for i, f := range meta.Broken {
		if i == 5 {
			fmt.Fprintf(b, "and %s more\n", tool.Count(int64(meta.BrokenAll-i), "file"))
			break
		}
		at := ""
		if f.Line > 0 {
			at = fmt.Sprintf(" from line %d on", f.Line)
		}
		fmt.Fprintf(b, "%s may hold more: %s%s\n", tool.VisibleName(f.Path), f.Reason, at)
	}
	if meta.Partial != "" {
		fmt.Fprintf(b, "\nthe outline ended early (%s): there may be more\n", meta.Partial)
	}
	b.WriteString(unread(meta))
	return b.String()
}

// line is what an outline shows of a symbol: the line on which it is named.
func (s *outlineSymbol) line() string {
	sig := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s.Signature), "{"))
	if !strings.Contains(sig, s.Name) {
		sig = fmt.Sprintf("%s %s: %s", s.Kind, s.Name, sig)
	}
	return tool.VisibleName(sig)
}

// unread says which files were passed over, by reason.
func unread(meta *outlineMeta) string {
	if meta.SkipCount == 0 {
		return ""
	}
	var order []string
	by := map[string][]string{}
	for _, s := range meta.Skipped {
		if by[s.Reason] == nil {
			order = append(order, s.Reason)
		}
		by[s.Reason] = append(by[s.Reason], tool.VisibleName(s.Path))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s not outlined:\n", tool.Count(int64(meta.SkipCount), "file"))
	for _, why := range order {
		names := by[why]
		more := ""
		if len(names) > 5 {
			more = fmt.Sprintf(" and %d more", len(names)-5)
		}
		fmt.Fprintf(&b, "%s: %s%s\n", why, strings.Join(names[:min(5, len(names))], ", "), more)
	}
	return b.String()
}
