package search

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/rg"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/truncate"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// A grepView shows the results of a search.
type grepView struct {
	mode    rg.Mode
	pattern string // as it was given
	literal bool
	only    bool             // of the lines, only what matches is shown
	without bool             // the files are those that have no match
	quiet   bool             // nothing is shown
	basic   string           // what the pattern was read as where grep reads it so without -E; "" elsewhere
	named   []workspace.Path // by the call
	res     *rg.Results
	skipped []tool.Skipped
	nothing string // why no file was searched, a line
}

func (v *grepView) title() string {
	res, pattern := v.res, shorten(v.pattern)
	if v.without {
		return fmt.Sprintf("Found %s without %q", tool.Count(int64(res.FileCount), "file"), pattern)
	}
	if v.mode == "files" {
		return fmt.Sprintf("Found %s for %q", tool.Count(int64(res.FileCount), "file"), pattern)
	}
	return fmt.Sprintf("Found %s in %s for %q", tool.Count(res.Matches, "match"), tool.Count(int64(res.FileCount), "file"), pattern)
}

func (v *grepView) meta() *grepMeta {
	res := v.res
	m := &grepMeta{
		Pattern: shorten(v.pattern), ReadAs: shorten(v.basic), Matches: res.Matches, Files: res.FileCount, Searched: res.Searched,
		Truncated: res.Truncated || res.Partial != "", NextCursor: res.Cursor, Changed: res.Changed,
		Moved: res.Moved[:min(len(res.Moved), maxNamed)], Partial: res.Partial,
		Engine: string(res.Engine), Skipped: v.skipped, SkipCount: res.SkipCount, Results: []grepResult{},
	}
	if v.without {
		m.Matches = 0
	}
	for _, f := range res.Files {
		r := grepResult{Path: f.Path, Matches: f.Matches, Encoding: f.Encoding}
		if v.without {
			r.Matches = 0
		}
		for _, l := range f.Lines {
			m.Truncated = m.Truncated || l.Partial
			switch {
			case v.only:
				for _, s := range l.Spans {
					r.Lines = append(r.Lines, grepLine{l.Number, l.Cut + s.Start + 1, l.Text[s.Start:s.End], false, l.Lossy})
				}
			case l.Match:
				r.Lines = append(r.Lines, grepLine{l.Number, l.Column, l.Text, l.Partial, l.Lossy})
			}
		}
		m.Results = append(m.Results, r)
	}
	return m
}

// fit cuts the results to what the output holds, so that the cursor goes on
// where the output ends.
func (v *grepView) fit(limits truncate.Limits) {
	bytes, lines := roomOf(limits)
	for i := range v.res.Files {
		f := &v.res.Files[i]
		head := v.heading(i, f, tool.Unpainted)
		bytes, lines = bytes-len(head), lines-strings.Count(head, "\n")
		fits, matches := bytes >= 0 && lines >= 0, 0
		context := !v.only && hasContext(f.Lines)
		for k := range f.Lines {
			row := v.renderLine(f.Lines, k, context, tool.Unpainted)
			bytes, lines = bytes-len(row), lines-strings.Count(row, "\n")
			if fits = bytes >= 0 && lines >= 0; !fits {
				break
			}
			if l := f.Lines[k]; l.Match && !l.Continues {
				matches++
			}
		}
		switch {
		case fits:
			continue
		case matches > 0:
			v.res.Keep(i+1, matches)
		case i > 0:
			v.res.Keep(i, math.MaxInt)
		default: // one file or match is always shown
			v.res.Keep(1, 1)
		}
		return
	}
}

// render prints the results: for content a heading per file and its lines,
// matches as NUMBER:TEXT, context as NUMBER-TEXT.
func (v *grepView) render(paint func(tool.Style, string) string) string {
	if v.quiet {
		return ""
	}
	var b strings.Builder
	for i := range v.res.Files {
		f := &v.res.Files[i]
		b.WriteString(v.heading(i, f, paint))
		context := !v.only && hasContext(f.Lines)
		for k := range f.Lines {
			b.WriteString(v.renderLine(f.Lines, k, context, paint))
		}
	}
	v.notices(&b)
	return b.String()
}

// heading is what stands above the lines of a file, and all that stands of it
// where lines are not shown.
func (v *grepView) heading(i int, f *rg.FileResult, paint func(tool.Style, string) string) string {
	name := paint(tool.Name, tool.VisibleName(f.Path))
	switch {
	case v.mode == "files":
		return name + "\n"
	case v.mode == "count":
		return name + ":" + strconv.Itoa(f.Matches) + "\n"
	case f.Encoding != "":
		name += " (decoded from " + f.Encoding + ")"
	}
	if i > 0 {
		name = "\n" + name
	}
	return name + "\n"
}

// notices says what the list does not show by itself.
func (v *grepView) notices(b *strings.Builder) {
	res := v.res
	switch {
	case res.FileCount == 0 && v.without && res.Searched > 0:
		fmt.Fprintf(b, "%s searched, each has a match\n", tool.Count(int64(res.Searched), "file"))
	case res.FileCount == 0:
		fmt.Fprintf(b, "no matches in %s\n%s", tool.Count(int64(res.Searched), "file"), v.nothing)
	}
	if _, ok := rg.FromBasic(v.pattern); ok && !v.literal && res.FileCount > 0 {
		if v.basic != "" {
			fmt.Fprintf(b, "\nread as grep does without -E: %s\n", shorten(v.basic))
		} else {
			b.WriteString("\n\\| was taken for the character |; | by itself stands between alternatives\n")
		}
	}
	if text := changes(res.Changed, res.Moved, res.MovedCount); text != "" {
		b.WriteString("\n" + text)
	}
	if res.Truncated {
		all := tool.Count(int64(res.FileCount), "file")
		if v.mode != "files" { // there each is read only up to its first match
			all = tool.Count(res.Matches, "match") + " in " + all
		}
		fmt.Fprintf(b, "\n%s in all; go on with cursor=%s\n", all, res.Cursor)
	}
	if res.Partial != "" {
		fmt.Fprintf(b, "\nthe search ended early (%s): there may be more\n", res.Partial)
	}
	v.notSearched(b)
}

// notSearched names what was skipped, but for binary files that the call did
// not name: hardly anybody searches for text in those.
func (v *grepView) notSearched(b *strings.Builder) {
	named := func(path string) bool {
		return slices.ContainsFunc(v.named, func(p workspace.Path) bool { return tool.Shown(p) == path })
	}
	var rows []string
	binary := 0
	for i, s := range v.res.Skipped {
		if s.Reason == rg.ReasonBinary && !named(s.Path) {
			binary++
			continue
		}
		if i < len(v.skipped) {
			rows = append(rows, fmt.Sprintf("%s (%s)\n", tool.VisibleName(s.Path), v.skipped[i].Reason))
		}
	}
	if n := v.res.SkipCount - binary; len(rows) > 0 {
		fmt.Fprintf(b, "\n%d not searched:\n%s", n, strings.Join(rows[:min(len(rows), 5)], ""))
	}
}

// renderLine prints one of the lines of a file, with a mark before it where
// lines are missing.
func (v *grepView) renderLine(lines []rg.Line, k int, context bool, paint func(tool.Style, string) string) string {
	l := &lines[k]
	var b strings.Builder
	if v.only {
		for _, s := range l.Spans {
			b.WriteString(paint(tool.Number, strconv.Itoa(l.Number)) + ":" + paint(tool.Match, l.Text[s.Start:s.End]) + "\n")
		}
		return b.String()
	}
	if context && k > 0 && l.Number > lines[k-1].Number+1 {
		b.WriteString(paint(tool.Faint, "--") + "\n")
	}
	sep := "-"
	if l.Match {
		sep = ":"
	}
	b.WriteString(paint(tool.Number, strconv.Itoa(l.Number)) + sep)
	if l.Cut > 0 {
		fmt.Fprintf(&b, "[%d bytes before] ", l.Cut)
	}
	at := 0
	for _, s := range l.Spans {
		b.WriteString(l.Text[at:s.Start] + paint(tool.Match, l.Text[s.Start:s.End]))
		at = s.End
	}
	b.WriteString(l.Text[at:])
	if rest := l.Length - l.Cut - len(l.Text); l.Partial && rest > 0 {
		fmt.Fprintf(&b, " [%d bytes after]", rest)
	}
	b.WriteByte('\n')
	return b.String()
}

func hasContext(lines []rg.Line) bool {
	return slices.ContainsFunc(lines, func(l rg.Line) bool { return !l.Match })
}

type grepMeta struct {
	Pattern    string         `json:"pattern" doc:"as it was given"`
	ReadAs     string         `json:"read_as,omitempty" doc:"the pattern that was searched for, where that is another"`
	Matches    int64          `json:"matches" doc:"of all files, shown or not"`
	Files      int            `json:"files" doc:"in which there are matches; with files_without_match those in which there are none"`
	Searched   int            `json:"searched" doc:"files that were read"`
	Truncated  bool           `json:"truncated" doc:"something was left out: matches, parts of lines, or what time was too short for"`
	NextCursor string         `json:"next_cursor,omitempty" doc:"the cursor of the next page"`
	Changed    bool           `json:"changed,omitempty" doc:"the tree is not what it was when the cursor was made"`
	Moved      []string       `json:"moved,omitempty" doc:"files that changed since and are in no page from here on"`
	Partial    string         `json:"partial,omitempty" doc:"why the search ended early; the counts are then lower bounds"`
	Engine     string         `json:"engine" doc:"what searched: native, or ripgrep"`
	Skipped    []tool.Skipped `json:"skipped" doc:"what was passed over, and why"`
	SkipCount  int            `json:"skip_count" doc:"may be larger than the length of skipped"`
	Results    []grepResult   `json:"results" doc:"what is shown"`
}

type grepResult struct {
	Path     string     `json:"path"`
	Matches  int        `json:"matches"`
	Encoding string     `json:"encoding,omitempty" doc:"what the lines were decoded from; absent for UTF-8"`
	Lines    []grepLine `json:"lines,omitempty"`
}

type grepLine struct {
	Line    int    `json:"line"`
	Column  int    `json:"column,omitempty" doc:"of the first match, in bytes from 1; absent in lines of context"`
	Text    string `json:"text"`
	Partial bool   `json:"partial,omitempty" doc:"the line is longer"`
	Lossy   bool   `json:"lossy,omitempty" doc:"it has U+FFFD for bytes that are no text"`
}
