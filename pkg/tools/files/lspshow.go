package files

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/lsp"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

type lspMeta struct {
	Operation string         `json:"operation" doc:"what was asked"`
	Server    string         `json:"server" doc:"who was asked"`
	Places    []lspPlace     `json:"places" doc:"what was found, in the server's order"`
	Names     []lspName      `json:"names,omitempty" doc:"of completion: what could stand there"`
	Text      string         `json:"text,omitempty" doc:"of hover: what is known of the symbol"`
	Total     int            `json:"total" doc:"how many there are"`
	Files     []changeReport `json:"files,omitempty" doc:"of rename: the files that it changed"`
	Diff      string         `json:"diff,omitempty" doc:"of rename: what changed, cut where it is long"`
	Change    string         `json:"change,omitempty" doc:"of rename: what undo calls it"`
	DryRun    bool           `json:"dry_run,omitempty" doc:"nothing was written"`

	Withheld int `json:"withheld,omitempty" doc:"places in files that may not be read"`
}

// An lspPlace is a place in a file.
type lspPlace struct {
	Path   string `json:"path" doc:"relative to the root, or absolute outside it"`
	Line   int    `json:"line" doc:"from 1"`
	Column int    `json:"column" doc:"in bytes, from 1"`
	Name   string `json:"name,omitempty" doc:"of the symbol, where the server says it"`
	Text   string `json:"text,omitempty" doc:"the line, of a file in the workspace"`
}

// An lspName is what could stand at a place.
type lspName struct {
	Name   string `json:"name"`
	Detail string `json:"detail,omitempty" doc:"such as its type"`
}

// A foundPlace is a place as a server says it.
type foundPlace struct {
	name string
	path string
	at   lsp.Position
}

// anyPlace is a place in each of the forms that servers use.
type anyPlace struct {
	Name     string     `json:"name"`
	URI      string     `json:"uri"`
	Range    *lsp.Range `json:"range"`
	Selected *lsp.Range `json:"selectionRange"`
	Target   string     `json:"targetUri"`
	Within   *lsp.Range `json:"targetSelectionRange"`
	Location *anyPlace  `json:"location"`
	From     *anyPlace  `json:"from"`
	To       *anyPlace  `json:"to"`
}

// found is the place; "" for a path where there is none.
func (p *anyPlace) found() foundPlace {
	for _, inner := range []*anyPlace{p.Location, p.From, p.To} {
		if inner != nil {
			f := inner.found()
			if f.name == "" {
				f.name = p.Name
			}
			return f
		}
	}
	f := foundPlace{name: p.Name, path: lsp.Path(p.URI + p.Target)}
	for _, r := range []*lsp.Range{p.Range, p.Selected, p.Within} {
		if r != nil {
			f.at = r.Start
		}
	}
	return f
}

// foundPlaces are those of a server's answer, which is a list, one, or null.
func foundPlaces(raw json.RawMessage) (list []foundPlace) {
	var all []anyPlace
	if json.Unmarshal(raw, &all) != nil {
		var one anyPlace
		if json.Unmarshal(raw, &one) != nil {
			return nil
		}
		all = []anyPlace{one}
	}
	for i := range all {
		if f := all[i].found(); f.path != "" {
			list = append(list, f)
		}
	}
	return list
}

// locate takes in places, with their lines where these may be shown.
func (m *lspMeta) locate(env *tool.Env, found []foundPlace, encoding string) {
	texts := map[string][]string{}
	for _, f := range found {
		p, shown, may := shownFile(env, "lsp", f.path)
		if p.Inside && !may {
			m.Withheld++
			continue
		}
		lines, ok := texts[p.Real]
		if !ok && may {
			lines = linesOf(env, p)
			texts[p.Real] = lines
		}
		text := lineAt(lines, f.at.Line)
		column := f.at.Character // as the server counts, of what is not looked at
		if may {
			column = lsp.Column(text, column, encoding)
		}
		m.Places = append(m.Places, lspPlace{shown, f.at.Line + 1, column + 1, f.name, bounded(env, strings.TrimSpace(text))})
	}
}

// hoverText is what a server says of a symbol: a text, one with its kind, or a list of
// such.
func hoverText(raw json.RawMessage) string {
	var hover struct {
		Contents json.RawMessage `json:"contents"`
	}
	if json.Unmarshal(raw, &hover) != nil {
		return ""
	}
	var list []json.RawMessage
	if json.Unmarshal(hover.Contents, &list) != nil {
		list = []json.RawMessage{hover.Contents}
	}
	var parts []string
	for _, one := range list {
		var text string
		var marked struct {
			Value string `json:"value"`
		}
		if json.Unmarshal(one, &text) != nil && json.Unmarshal(one, &marked) == nil {
			text = marked.Value
		}
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n\n")
}

// completions are what could stand at a place, the best first as far as the server says.
func completions(raw json.RawMessage) (names []lspName) {
	type item struct {
		Label  string `json:"label"`
		Detail string `json:"detail"`
	}
	var items []item
	if json.Unmarshal(raw, &items) != nil {
		var list struct {
			Items []item `json:"items"`
		}
		_ = json.Unmarshal(raw, &list)
		items = list.Items
	}
	for _, i := range items {
		names = append(names, lspName{i.Label, i.Detail})
	}
	return names
}

// result tells what was found.
func (m *lspMeta) result(path workspace.Path) *tool.Result {
	var b strings.Builder
	if m.Text != "" {
		m.Total = 1
		b.WriteString(m.Text + "\n")
	}
	for _, n := range m.Names {
		b.WriteString(strings.TrimSpace(n.Name+"  "+n.Detail) + "\n")
	}
	for _, p := range m.Places {
		fmt.Fprintf(&b, "%s:%d:%d: %s\n", p.Path, p.Line, p.Column, strings.TrimSpace(strings.TrimSpace(p.Name+"  "+p.Text)))
	}
	switch more := m.Total - len(m.Places) - len(m.Names) - m.Withheld; {
	case m.Total == 0:
		fmt.Fprintf(&b, "%s finds nothing\n", m.Server)
	case more > 0 && m.Text == "":
		fmt.Fprintf(&b, "… and %d more\n", more)
	}
	if m.Withheld > 0 {
		fmt.Fprintf(&b, "%s in files that may not be read\n", tool.Count(int64(m.Withheld), "place"))
	}
	return &tool.Result{Title: m.Operation + " in " + tool.Shown(path), Output: b.String(), Metadata: m, No: m.Total == 0}
}
