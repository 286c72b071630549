package files

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/edit"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

const (
	mostToldPlaces = 100 // of which the lines are told
	mostToldKept   = 20  // misquoted lines that are told
)

type editMeta struct {
	changeReport
	Replacements int        `json:"replacements" doc:"places that were changed"`
	Strategy     string     `json:"strategy" doc:"of the least certain place, as the next two"`
	Similarity   float64    `json:"similarity" doc:"from 0 to 1"`
	Margin       float64    `json:"margin" doc:"to the next best place, from 0 to 1"`
	Lines        [][2]int   `json:"lines" doc:"first and last line of each place, of the first 100, before the change; of more than 2000 places, of each 64 KiB that hold some; none of a new file"`
	NewLines     [][2]int   `json:"new_lines" doc:"the same lines after it"`
	Kept         []editKept `json:"kept" doc:"lines that the call misquotes; the file's stay"`
	Cleaned      []string   `json:"cleaned" doc:"what was taken off the call, such as line numbers"`
	Encoding     string     `json:"encoding" doc:"the file's"`
	Cells        []editCell `json:"cells,omitempty" doc:"of a notebook, the cells that were changed; lines and new_lines are empty then"`

	// Files are the files one by one where the call changes several. The other
	// members are then sums of all, or those of the first file.
	Files []*editMeta `json:"files,omitempty" doc:"the files one by one where the call changes several; the other members are then sums, or those of the first file"`
}

// editResult tells what was done to files.
func editResult(files []*editFile) *tool.Result {
	var all []*editMeta
	var b strings.Builder
	for _, f := range files {
		m := newEditMeta(f)
		b.WriteString(m.output(m.title()) + m.notes())
		all = append(all, m)
	}
	meta := all[0]
	title := meta.title()
	if len(all) > 1 {
		meta = together(all)
		title = meta.headline("Edited", "edit")
		title = strings.TrimSuffix(title, meta.Path) + tool.Count(int64(len(all)), "file")
	}
	return &tool.Result{Title: title, Output: b.String(), Metadata: meta, Pretty: meta.pretty(b.String())}
}

// title says what was done to the file.
func (m *editMeta) title() string {
	if m.Created {
		return m.headline("Created", "create")
	}
	return m.headline("Edited", "edit")
}

// An editKept is a line that the call misquotes.
type editKept struct {
	Line   int    `json:"line"`
	File   string `json:"file" doc:"as the file has it"`
	Quoted string `json:"quoted" doc:"as the call has it"`

	changed bool // a part of it is what the call changes
}

func newEditMeta(f *editFile) *editMeta {
	m := &editMeta{
		changeReport: f.report, Similarity: 1, Margin: 1, Encoding: f.enc.Name,
		Lines: [][2]int{}, NewLines: [][2]int{}, Kept: []editKept{}, Cleaned: []string{}, Cells: f.cells,
	}
	for i, h := range f.hits {
		m.Replacements += max(1, h.Count)
		if i == 0 || h.Similarity < m.Similarity {
			m.Strategy, m.Similarity = h.Strategy, h.Similarity
		}
		m.Margin = min(m.Margin, h.Margin)
		if !m.Created && i < mostToldPlaces && len(f.cells) == 0 {
			m.Lines = append(m.Lines, h.Lines)
		}
		if i < mostToldPlaces && len(f.cells) == 0 {
			m.NewLines = append(m.NewLines, h.NewLines)
		}
		for _, k := range h.Kept[:min(len(h.Kept), mostToldKept-len(m.Kept))] {
			if f.closed != "" {
				k.File = ""
			}
			m.Kept = append(m.Kept, editKept{k.Line, k.File, k.Quoted, k.Changed})
		}
		for _, what := range h.Cleaned {
			if !slices.Contains(m.Cleaned, what) {
				m.Cleaned = append(m.Cleaned, what)
			}
		}
	}
	return m
}

// together is what a call did to several files.
func together(all []*editMeta) *editMeta {
	sum := *all[0]
	sum.Files = all
	for _, m := range all[1:] {
		sum.Replacements += m.Replacements
		sum.Added, sum.Removed = sum.Added+m.Added, sum.Removed+m.Removed
		sum.Diff += m.Diff
		sum.SyntaxErrors = append(slices.Clip(sum.SyntaxErrors), m.SyntaxErrors...)
		if m.Similarity < sum.Similarity {
			sum.Strategy, sum.Similarity = m.Strategy, m.Similarity
		}
		sum.Margin = min(sum.Margin, m.Margin)
	}
	return &sum
}

// notes tells the model where the change went, and how the place was found
// when it was not to the letter.
func (m *editMeta) notes() string {
	var b strings.Builder
	for _, l := range m.NewLines[:min(len(m.NewLines), 5)] {
		fmt.Fprintf(&b, "now lines %d-%d\n", l[0], max(l[0], l[1]))
	}
	b.WriteString(m.cellNotes())
	if m.Replacements > 1 {
		fmt.Fprintf(&b, "%d replacements\n", m.Replacements)
	}
	if certain := m.Strategy == edit.MultiOccurrence && m.Similarity == 1; m.Strategy != edit.Exact && m.Strategy != "" && !certain {
		fmt.Fprintf(&b, "found by %s, similarity %.2f\n", m.Strategy, m.Similarity)
	}
	for _, k := range m.Kept[:min(len(m.Kept), 3)] {
		did := "stays"
		if k.changed {
			did = "stays but for the change"
		}
		fmt.Fprintf(&b, "line %d was misquoted and %s", k.Line, did)
		if m.Withheld == "" {
			fmt.Fprintf(&b, ": %s", k.File)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// cellNotes tell the model what was done to cells.
func (m *editMeta) cellNotes() string {
	var b strings.Builder
	for _, c := range m.Cells[:min(len(m.Cells), 20)] {
		did := map[string]string{"replace": "changed", "insert": "is new", "delete": "is gone"}[c.Action]
		fmt.Fprintf(&b, "the cell %s (%s) %s", c.ID, c.Type, did)
		if c.Cleared {
			b.WriteString("; what it had printed is taken out")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (m *editMeta) foreseen() (files []foreseenFile, diff string) {
	for _, f := range m.Files {
		files = append(files, foreseenFile{Path: f.Path, Action: f.action()})
	}
	if len(files) == 0 {
		return m.changeReport.foreseen()
	}
	return files, m.Diff
}
