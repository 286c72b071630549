package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/syntax"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

type outlineMeta struct {
	Paths     []string         `json:"paths" doc:"what was outlined"`
	Files     int              `json:"files" doc:"that were outlined, with symbols or without"`
	Symbols   []outlineSymbol  `json:"symbols" doc:"those that are shown"`
	Total     int              `json:"total" doc:"symbols, shown or not"`
	Truncated bool             `json:"truncated" doc:"there are more symbols"`
	Next      int              `json:"next_offset,omitempty" doc:"the offset to go on from"`
	Partial   string           `json:"partial,omitempty" doc:"why the search ended early; the total is then a lower bound"`
	Omitted   int              `json:"omitted,omitempty" doc:"fields, keys and the like, left out to make room for the rest"`
	Broken    []outlinePartial `json:"incomplete" doc:"files of which not everything may be listed"`
	BrokenAll int              `json:"incomplete_count" doc:"how many these are; incomplete holds the first"`
	Skipped   []tool.Skipped   `json:"skipped" doc:"what was passed over, and why"`
	SkipCount int              `json:"skip_count" doc:"may be larger than the length of skipped"`
	offset    int              // of the first symbol that is shown, counted from 1
	several   bool             // files may be shown
}

type outlineSymbol struct {
	Path      string      `json:"path"`
	Name      string      `json:"name"`
	Kind      syntax.Kind `json:"kind"`
	Line      int         `json:"line"`
	EndLine   int         `json:"end_line"`
	Parent    string      `json:"parent" doc:"the path of what it lies in; empty at the top"`
	First     int         `json:"first_line" doc:"where its comment and decorators begin"`
	Signature string      `json:"signature" doc:"its first line"`

	Doubt *syntax.Problem `json:"doubt,omitempty" doc:"the mistake that may make end_line wrong"`
	depth int
}

type outlinePartial struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
	Line   int    `json:"line,omitempty"`

	Mistakes []syntax.Problem `json:"mistakes,omitempty" doc:"the first of them"`
}

// maxMistakes is how many mistakes of one file are named.
const maxMistakes = 3

// makeRoom leaves out what says least.
func (m *outlineMeta) makeRoom() {
	all := len(m.Symbols)
	m.Symbols = slices.DeleteFunc(m.Symbols, func(s outlineSymbol) bool {
		switch s.Kind {
		case syntax.Field, syntax.Key, syntax.Element, syntax.Rule:
			return true
		}
		return false
	})
	m.Omitted = all - len(m.Symbols)
}

// page leaves the symbols from offset on, as many as limit and the limits of
// the output allow.
func (m *outlineMeta) page(env *tool.Env, offset, limit int) error {
	m.Total = len(m.Symbols)
	if offset > 1 && offset > m.Total {
		return tool.Errorf(tool.BadInput, "offset %d is behind the last of %d symbols", offset, m.Total).WithHint("use an {.offset} from 1 to %d", max(m.Total, 1))
	}
	m.offset = offset
	end := min(m.Total, offset-1+limit)
	w := &outlineWriter{paint: tool.Unpainted, several: m.several}
	for i, s := range m.Symbols[offset-1 : end] {
		if w.symbol(&s); i > 0 && (w.b.Len() > env.Limits.Bytes || w.lines > env.Limits.Lines) {
			end = offset - 1 + i
			break
		}
	}
	if end < m.Total {
		m.Truncated, m.Next = true, end+1
	}
	m.Symbols = m.Symbols[offset-1 : end]
	return nil
}

// An outlineWriter prints a heading per file and its symbols below, a line
// each: the lines it takes, and the line on which it is named, indented by how
// deep it lies.
type outlineWriter struct {
	paint   func(tool.Style, string) string
	several bool // files
	lines   int
	doubts  int // symbols whose end is not sure
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
	if s.Doubt != nil {
		lines += "?"
		w.doubts++
	}
	fmt.Fprintf(&w.b, "%s %s%s\n", w.paint(tool.Number, fmt.Sprintf("%9s", lines)), strings.Repeat("  ", s.depth), s.line())
	w.lines++
}

// render prints the symbols, and then what is missing and why.
func (m *outlineMeta) render(paint func(tool.Style, string) string) string {
	w := &outlineWriter{paint: paint, several: m.several}
	for i := range m.Symbols {
		w.symbol(&m.Symbols[i])
	}
	b := &w.b
	if m.Total == 0 {
		b.WriteString("no symbols found\n")
	}
	if m.Truncated {
		fmt.Fprintf(b, "\nsymbols %d-%d of %d; go on with offset=%d\n", m.offset, m.Next-1, m.Total, m.Next)
	}
	if m.Omitted > 0 {
		fmt.Fprintf(b, "\n%d fields, keys and the like are left out; kinds lists them\n", m.Omitted)
	}
	if m.BrokenAll > 0 {
		b.WriteByte('\n')
	}
	for i, f := range m.Broken {
		if i == 5 {
			fmt.Fprintf(b, "and %s more\n", tool.Count(int64(m.BrokenAll-i), "file"))
			break
		}
		at := ""
		if f.Line > 0 {
			at = fmt.Sprintf(" from line %d on", f.Line)
		}
		fmt.Fprintf(b, "%s may hold more: %s%s\n", tool.VisibleName(f.Path), f.Reason, at)
		for _, p := range f.Mistakes {
			fmt.Fprintf(b, "%9d   %s\n", p.Line, tool.VisibleName(p.Message))
		}
	}
	if w.doubts > 0 {
		b.WriteString("? marks what may end elsewhere, for a mistake inside or beside it\n")
	}
	if m.Partial != "" {
		fmt.Fprintf(b, "\nthe outline ended early (%s): there may be more\n", m.Partial)
	}
	b.WriteString(m.unread())
	return b.String()
}

// line is what an outline shows of a symbol: the line on which it is named.
func (s *outlineSymbol) line() string {
	sig := strings.TrimSpace(s.Signature)
	if !strings.HasPrefix(sig, "#") { // the bracket that a macro ends with is its content
		sig = strings.TrimSpace(strings.TrimSuffix(sig, "{"))
	}
	if !strings.Contains(sig, s.Name) {
		sig = fmt.Sprintf("%s %s: %s", s.Kind, s.Name, sig)
	}
	return tool.VisibleName(sig)
}

// unread says which files were passed over, by reason.
func (m *outlineMeta) unread() string {
	if m.SkipCount == 0 {
		return ""
	}
	var order []string
	by := map[string][]string{}
	for _, s := range m.Skipped {
		if by[s.Reason] == nil {
			order = append(order, s.Reason)
		}
		by[s.Reason] = append(by[s.Reason], tool.VisibleName(s.Path))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s not outlined:\n", tool.Count(int64(m.SkipCount), "file"))
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
