package dialect

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A View is a call that was made, and its result as programs see it.
type View struct {
	*Call
	*tool.Result
	Root string // paths that are relative count from here
	Max  int    // bytes that whoever runs the program allows for a text; 0 for what the dialect has
	Meta meta
}

// meta is what formats need of the metadata of all tools.
type meta struct {
	ExitCode     *int            `json:"exit_code"`
	Signal       string          `json:"signal"`
	Status       string          `json:"status"`
	Killed       any             `json:"killed"`
	Job          string          `json:"job"`
	DurationMS   int64           `json:"duration_ms"`
	Stdout       *string         `json:"stdout"`
	Stderr       *string         `json:"stderr"`
	Cwd          string          `json:"cwd"`
	Truncated    bool            `json:"truncated"`
	TotalLines   *int64          `json:"total_lines"`
	TotalBytes   int64           `json:"total_bytes"`
	NextOffset   int64           `json:"next_offset"`
	NextCursor   string          `json:"next_cursor"`
	Partial      string          `json:"partial"`
	Path         string          `json:"path"`
	Type         string          `json:"type"`
	Offset       int64           `json:"offset"`
	LinesRead    int             `json:"lines_read"`
	MIMEType     string          `json:"mime_type"`
	DryRun       bool            `json:"dry_run"`
	Created      bool            `json:"created"`
	Total        int             `json:"total"`
	Matches      int             `json:"matches"`
	Files        json.RawMessage `json:"files"`
	Entries      []entry         `json:"entries"`
	Results      []found         `json:"results"`
	Todos        []todo          `json:"todos"`
	Answers      []answer        `json:"answers"`
	Replacements int             `json:"replacements"`
	Value        json.RawMessage `json:"value"` // what a script has returned
	Cells        []struct {      // of a notebook, those that edit has changed
		ID string `json:"id"`
	} `json:"cells"`
}

// names are the texts that a script has returned.
func (m *meta) names() (list []string) {
	_ = json.Unmarshal(m.Value, &list) // what has another type are none
	return list
}

// An entry is what ls lists.
type entry struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Found is a file in which grep has found something, or a page that websearch has found.
type found struct {
	Title string `json:"title"`
	URL   string `json:"url"`

	Path    string `json:"path"`
	Matches int    `json:"matches"`
	Lines   []struct {
		Line    int    `json:"line"`
		Text    string `json:"text"`
		Partial bool   `json:"partial"`
	} `json:"lines"`
}

// An answer is what the user has answered to a question.
type answer struct {
	Question int      `json:"question_index"`
	Selected []string `json:"selected"`
	Custom   string   `json:"custom"`
}

type todo struct {
	Content  string `json:"content"`
	Status   string `json:"status"`
	Priority string `json:"priority"`
}

// A change is a file that a patch has changed.
type change struct {
	Path   string `json:"path"`
	Action string `json:"action"`
	From   string `json:"from"`
}

// Place is where and within what limits a call was made.
type Place struct {
	Root string
	Max  int // see View
}

// Show is the result as the model of the dialect reads it: the same result, with
// another output and hints that name its own tools.
func (c *Call) Show(r *tool.Result, at Place) *tool.Result {
	shown := *r
	if r.Error != nil {
		shown.Error = c.named(r.Error)
	}
	for _, name := range c.Ignored {
		shown.Ignore(name)
	}
	v := &View{Call: c, Result: &shown, Root: at.Root, Max: at.Max}
	if raw, err := r.MetadataJSON(); err == nil {
		_ = json.Unmarshal(raw, &v.Meta) // what has another type is not needed
	}
	show := c.Tool.Show
	if show == nil || v.Meta.DryRun || v.Error == nil && c.To == "bash" && v.Meta.Status == "" && !v.patched() {
		show = asItIs // there is nothing of what the format shows
	}
	text := show(v)
	shown.Output, shown.Notes, shown.Pretty = text, nil, nil
	return &shown
}

// asItIs is the output as our tool gives it, with the names of the dialect.
func asItIs(v *View) string {
	if v.Error != nil && v.Output == "" {
		return v.Error.Words()
	}
	return v.whole() + v.notes(true)
}

// whole is the output; where its last line says how to go on, that names a parameter of
// the dialect, or is left out where there is none.
func (v *View) whole() string {
	at := strings.LastIndex(strings.TrimSuffix(v.Output, "\n"), "\n") + 1
	said, how, ok := strings.Cut(v.Output[at:], "; go on with ")
	name, value, named := strings.Cut(how, "=")
	if !ok || !named || !v.Meta.Truncated {
		return v.Output
	}
	if own := v.Tool.nameOf(name); own != "" {
		return v.Output[:at] + said + "; go on with " + own + "=" + value
	}
	if strings.HasPrefix(said, "[") {
		said += "]"
	}
	return v.Output[:at] + said + "\n"
}

// wrong says what is wrong and what to do.
func (v *View) wrong() string { return strings.TrimPrefix(v.Error.Words(), "error: ") }

// unpatchable is how Codex begins to say what is wrong with a patch.
const unpatchable = "apply_patch verification failed: "

// unpatched says in the words that Codex has what is wrong with a patch, and behind that
// in ours what helps to mend it.
func (v *View) unpatched() string {
	var about struct {
		Path string `json:"path"`
	}
	if raw, err := json.Marshal(v.Error.Details); err == nil {
		_ = json.Unmarshal(raw, &about) // none, where there are no details
	}
	said := unpatchable
	if v.Error.Code == tool.NoMatch && about.Path != "" {
		said += "Failed to find expected lines in " + v.abs(about.Path) + ":\n"
	}
	return said + v.wrong()
}

// A foundLine is a line that grep shows.
type foundLine struct {
	line    string // its number
	context bool
	text    string
}

// shown are the lines that grep shows of each file that it has found something in, with
// those around them.
func (v *View) shown() [][]foundLine {
	all := make([][]foundLine, len(v.Meta.Results))
	at := -1
	for line := range strings.Lines(v.Output) {
		line = strings.TrimSuffix(line, "\n")
		if at+1 < len(all) {
			rest, ok := strings.CutPrefix(line, tool.VisibleName(v.Meta.Results[at+1].Path))
			if ok && (rest == "" || strings.HasPrefix(rest, " (decoded from ")) {
				at++
				continue
			}
		}
		n := strings.IndexFunc(line, func(r rune) bool { return r < '0' || r > '9' })
		if at >= 0 && n > 0 && (line[n] == ':' || line[n] == '-') {
			all[at] = append(all[at], foundLine{line[:n], line[n] == '-', line[n+1:]})
		}
	}
	return all
}

// notes are the notes on lines of their own; without state only those that no format
// has words for.
func (v *View) notes(state bool) string {
	var b strings.Builder
	for _, n := range v.Notes {
		if n.State && !state {
			continue
		}
		if text := n.In(v.Names()); text != "" {
			b.WriteString(text + "\n")
		}
	}
	if b.Len() > 0 && v.Output != "" && !strings.HasSuffix(v.Output, "\n") {
		return "\n" + b.String()
	}
	return b.String()
}

// streams are what a command printed, its errors apart where they were kept so.
func (v *View) streams() (out, errs string) {
	if v.Meta.Stdout != nil && v.Meta.Stderr != nil {
		return *v.Meta.Stdout, *v.Meta.Stderr
	}
	return v.Output, ""
}

// abs is a path that metadata has, from the root of the file system.
func (v *View) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(v.Root, path)
}

// content is the first lines of the output, as many as were read.
func (v *View) content() []string {
	lines := strings.SplitAfter(v.Output, "\n")
	if n := len(lines); n > 0 && lines[n-1] == "" {
		lines = lines[:n-1]
	}
	lines = lines[:min(v.Meta.LinesRead, len(lines))]
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\n")
	}
	return lines
}

// paths are the files that glob has found, or grep.
func (v *View) paths() []string {
	var list []string
	if len(v.Meta.Results) == 0 {
		_ = json.Unmarshal(v.Meta.Files, &list)
	}
	for _, f := range v.Meta.Results {
		list = append(list, f.Path)
	}
	for i, p := range list {
		list[i] = v.abs(p)
	}
	return list
}

// changes are the files that a patch has changed, as lines of a letter and a path.
func (v *View) changes() string {
	var list []change
	_ = json.Unmarshal(v.Meta.Files, &list)
	var b strings.Builder
	for _, f := range list {
		letter := map[string]string{"add": "A", "delete": "D"}[f.Action]
		if letter == "" {
			letter = "M"
		}
		fmt.Fprintf(&b, "%s %s\n", letter, f.Path)
	}
	return b.String()
}

// patched reports whether the call turned out to be a patch that was handed over as
// a command.
func (v *View) patched() bool { return v.Meta.Status == "" && len(v.Meta.Files) > 0 }
