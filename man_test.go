package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

var manDir = flag.String("man", "", "write the manual pages into this directory")

// TestManual makes manual pages of docs, whose pages of commands are made from the
// program's help: agentkit(1), agentkit-NAME(1) for each tool and command, agentkit-NAME(7)
// for each guide, in man1 and man7 of the directory that -man names:
//
//	go test -run '^TestManual$' . -man DIR
//
// What mandoc and groff, where they are installed, say about the pages is an error.
func TestManual(t *testing.T) {
	t.Parallel()
	dir := cmp.Or(*manDir, t.TempDir())
	made := manuals(t)
	var files []string
	for _, name := range slices.Sorted(maps.Keys(made)) {
		writePage(t, dir, name, []byte(made[name]))
		files = append(files, filepath.Join(dir, filepath.FromSlash(name)))
	}
	for _, check := range [][]string{
		{"mandoc", "-T", "lint", "-W", "warning"},
		{"groff", "-man", "-Tutf8", "-ww", "-z"},
	} {
		if _, err := exec.LookPath(check[0]); err != nil {
			t.Logf("no %s on this machine", check[0])
			continue
		}
		out, err := exec.Command(check[0], append(check[1:], files...)...).CombinedOutput()
		// The pages have no date, so that two builds make the same.
		complaints := regexp.MustCompile(`(?m)^.*missing date, using "": TH\n`).ReplaceAll(out, nil)
		if _, ended := errors.AsType[*exec.ExitError](err); len(complaints) > 0 || err != nil && !ended {
			t.Errorf("%s: %v\n%.3000s", check[0], err, complaints)
		}
	}
	for name, want := range map[string]string{
		"man1/agentkit.1":        `(?s)\.SH NAME\nagentkit \\- the tools of a coding agent.*\.SH EXIT STATUS.*\.SH SEE ALSO\n.*agentkit\\-read\(1\)`,
		"man1/agentkit-grep.1":   `(?s)\.SH SYNOPSIS\n\.nf\nagentkit grep PATTERN.*\.SH PARAMETERS.*\.SH EXAMPLES`,
		"man1/agentkit-policy.1": `(?s)\.SS policy approve`,
		"man7/agentkit-policy.7": `(?s)\.SH RULES`,
	} {
		if !regexp.MustCompile(want).MatchString(made[name]) {
			t.Errorf("%s is not as it should be:\n%.2000s", name, made[name])
		}
	}
}

// manuals are the manual pages, by their place.
func manuals(t *testing.T) map[string]string {
	t.Helper()
	made := map[string]string{}
	var seeAlso []string
	add := func(section int, name, summary string, p *page, from ast.Node, more ...string) {
		file := fmt.Sprintf("man%d/%s.%d", section, name, section)
		made[file] = manual(section, name, summary, p, from, more)
		seeAlso = append(seeAlso, fmt.Sprintf("%s(%d)", name, section))
	}
	for name, p := range pages(t) {
		base := strings.TrimSuffix(path.Base(name), ".md")
		switch {
		case name == "docs/commands.md" || !strings.HasPrefix(name, "docs/"):
		case path.Dir(name) == "docs/tools":
			summary := p.doc.FirstChild().NextSibling()
			add(1, "agentkit-"+base, plainText(summary, p.raw), p, summary.NextSibling(), "agentkit(1)")
		case base != "design" && base != "scorecards":
			add(7, "agentkit-"+base, p.title, p, p.doc.FirstChild().NextSibling(), "agentkit(1)")
		}
	}
	raw, err := os.ReadFile("docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(raw), "\n## call\n")
	for section := range strings.SplitSeq("call\n"+rest, "\n## ") {
		name, text, _ := strings.Cut(section, "\n")
		p := parsePage("docs/commands.md", []byte("# agentkit "+name+"\n"+text))
		first := p.doc.FirstChild().NextSibling() // the synopsis
		add(1, "agentkit-"+name, summaryOf(first.NextSibling(), p.raw), p, first, "agentkit(1)")
	}
	p := parsePage("docs/commands.md", []byte(head))
	slices.Sort(seeAlso)
	add(1, "agentkit", "the tools of a coding agent, one command each", p, p.doc.FirstChild().NextSibling(), seeAlso...)
	return made
}

// summaryOf is the first clause of a paragraph, as it stands behind a name.
func summaryOf(n ast.Node, raw []byte) string {
	text := plainText(n, raw)
	if i := strings.IndexAny(text, ".:;"); i > 0 {
		text = text[:i]
	}
	return strings.ToLower(text[:1]) + text[1:]
}

// manual is one page: what stands in p from one node on, in roff.
func manual(section int, name, summary string, p *page, from ast.Node, more []string) string {
	m := &roff{raw: p.raw}
	fmt.Fprintf(&m.b, ".\\\" made from %s\n.TH %s %d \"\" \"agentkit\" \"agentkit manual\"\n.SH NAME\n%s \\- %s\n", p.name, strings.ToUpper(name), section, escaped(name), escaped(summary))
	if code, ok := from.(*ast.CodeBlock); ok {
		m.b.WriteString(".SH SYNOPSIS\n")
		m.code(code.Lines().Value(p.raw), false)
		from = from.NextSibling()
	}
	m.b.WriteString(".SH DESCRIPTION\n")
	m.begun = false
	for n := from; n != nil; n = n.NextSibling() {
		m.block(n)
	}
	m.b.WriteString(".SH SEE ALSO\n")
	m.filled(escaped(strings.Join(more, ", ")))
	return m.b.String()
}

// roff writes Markdown as a manual page.
type roff struct {
	raw   []byte
	b     strings.Builder
	begun bool // the section has a paragraph
}

func (m *roff) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		title := plainText(n, m.raw)
		if n.Level <= 2 {
			fmt.Fprintf(&m.b, ".SH %s\n", escaped(strings.ToUpper(title)))
		} else {
			fmt.Fprintf(&m.b, ".SS %s\n", escaped(title))
		}
		m.begun = false
	case *ast.Paragraph, *ast.TextBlock:
		if m.begun {
			m.b.WriteString(".PP\n")
		}
		m.begun = true
		m.filled(m.inline(n))
	case *ast.CodeBlock:
		m.code(n.Lines().Value(m.raw), true)
	case *ast.FencedCodeBlock:
		m.code(n.Lines().Value(m.raw), true)
	case *ast.List:
		for item := n.FirstChild(); item != nil; item = item.NextSibling() {
			m.b.WriteString(".IP \\(bu 2\n")
			m.begun = false
			for child := item.FirstChild(); child != nil; child = child.NextSibling() {
				if m.begun {
					m.b.WriteString(".IP \"\" 2\n")
				}
				m.begun = false
				m.block(child)
				m.begun = true
			}
		}
		m.begun = true
	case *east.Table:
		m.table(n)
	default:
		panic(fmt.Sprintf("a manual page cannot have %v", n.Kind()))
	}
}

// table writes the first cell of each row as a tag, and the others below it, with the
// name of their column where there are several. A parameter's tag is its flag.
func (m *roff) table(n *east.Table) {
	var columns []string
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, m.inline(cell))
		}
		if columns == nil {
			columns = cells
			continue
		}
		if columns[0] == "JSON" {
			fmt.Fprintf(&m.b, ".TP\n%s \\fI%s\\fR\n", cells[1], cells[2])
			m.filled(strings.TrimSuffix(fmt.Sprintf("%s; in JSON %s; default: %s", cells[4], cells[0], cells[3]), "; default: "))
			continue
		}
		var rest []string
		for i, cell := range cells {
			switch {
			case i == 0 || cell == "":
			case len(cells) == 2 || i == len(cells)-1 && columns[i] == "meaning":
				rest = append(rest, cell)
			default:
				rest = append(rest, strings.TrimSpace(columns[i]+": "+cell))
			}
		}
		m.b.WriteString(".TP\n")
		m.filled(cmp.Or(cells[0], "\\&"))
		m.filled(cmp.Or(strings.Join(rest, "; "), "\\&"))
	}
	m.begun = true
}

// code writes lines as they stand.
func (m *roff) code(raw []byte, indented bool) {
	if m.begun {
		m.b.WriteString(".PP\n")
	}
	if indented {
		m.b.WriteString(".RS 4\n")
	}
	m.b.WriteString(".nf\n")
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSuffix(line, "\n")
		m.b.WriteString(guarded(escaped(line)) + "\n")
	}
	m.b.WriteString(".fi\n")
	if indented {
		m.b.WriteString(".RE\n")
	}
	m.begun = true
}

// filled writes text that is broken into lines anywhere.
func (m *roff) filled(text string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > 76 {
			m.b.WriteString(guarded(line) + "\n")
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	m.b.WriteString(guarded(line) + "\n")
}

// inline is the text of a node, with the marks of roff.
func (m *roff) inline(n ast.Node) string {
	var b strings.Builder
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		switch child := child.(type) {
		case *ast.Text:
			text := child.Segment.Value(m.raw)
			if _, code := n.(*ast.CodeSpan); !code {
				text = util.UnescapePunctuations(text)
			}
			b.WriteString(escaped(string(text)))
			if child.SoftLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.CodeSpan:
			b.WriteString("\\fB" + m.inline(child) + "\\fR")
		case *ast.Emphasis:
			b.WriteString("\\fI" + m.inline(child) + "\\fR")
		case *ast.Link:
			b.WriteString(m.inline(child))
		case *ast.AutoLink:
			b.WriteString(escaped(string(child.URL(m.raw))))
		default:
			panic(fmt.Sprintf("a manual page cannot have %v in a line", child.Kind()))
		}
	}
	return b.String()
}

// escaped is text that roff takes for itself, in ASCII.
func escaped(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, "\t", "    ").Replace(text)
	var b strings.Builder
	for _, r := range text {
		if r < 128 {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		}
	}
	return b.String()
}

// guarded is a line that is no request of roff's.
func guarded(line string) string {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + line
	}
	return line
}
