package files

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentkit-go/agentkit/pkg/lsp"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// A renaming is the files of a rename, each with what it becomes.
type renaming struct {
	server string
	files  []*renamedFile
}

type renamedFile struct {
	path   workspace.Path
	before []byte
	after  []byte
	places int
}

// A textEdit replaces a part of a file.
type textEdit struct {
	Range   lsp.Range `json:"range"`
	NewText string    `json:"newText"`
}

// newRenaming makes the changes of a server's answer, in memory.
func newRenaming(env *tool.Env, server string, raw json.RawMessage, encoding string) (*renaming, error) {
	edits, err := textEdits(raw)
	if err != nil {
		return nil, err
	}
	if len(edits) == 0 {
		return nil, tool.Errorf(tool.NotFound, "%s finds nothing to rename there", server).WithHint("name the symbol itself, where it is defined or used")
	}
	r := &renaming{server: server}
	for _, file := range slices.Sorted(maps.Keys(edits)) {
		p, err := env.Workspace.Resolve(file)
		if err != nil {
			return nil, err
		}
		f := &renamedFile{path: p, places: len(edits[file])}
		if f.before, err = env.Workspace.ReadFile(p, maxFile); err == nil {
			f.after, err = applied(f.before, edits[file], encoding)
		}
		if err != nil {
			return nil, tool.Errorf(tool.Conflict, "%s: %w", tool.Shown(p), err).WithHint("rename with {grep} and {edit}")
		}
		r.files = append(r.files, f)
	}
	return r, nil
}

// textEdits are those of a server's answer, by file.
func textEdits(raw json.RawMessage) (map[string][]textEdit, error) {
	var answer struct {
		Changes         map[string][]textEdit `json:"changes"`
		DocumentChanges []struct {
			Kind         string `json:"kind"`
			TextDocument struct {
				URI string `json:"uri"`
			} `json:"textDocument"`
			Edits []textEdit `json:"edits"`
		} `json:"documentChanges"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, tool.Errorf(tool.Unsupported, "the server's changes cannot be read: %w", err).WithHint("rename with {grep} and {edit}")
	}
	all := map[string][]textEdit{}
	for uri, list := range answer.Changes {
		all[lsp.Path(uri)] = append(all[lsp.Path(uri)], list...)
	}
	for _, c := range answer.DocumentChanges {
		if c.Kind != "" {
			return nil, tool.Errorf(tool.Unsupported, "the rename would %s files", c.Kind).WithHint("move them with {patch}, and rename with {grep} and {edit}")
		}
		all[lsp.Path(c.TextDocument.URI)] = append(all[lsp.Path(c.TextDocument.URI)], c.Edits...)
	}
	if _, ok := all[""]; ok {
		return nil, tool.Errorf(tool.Unsupported, "the rename would change what is no file").WithHint("rename with {grep} and {edit}")
	}
	return all, nil
}

// applied makes the changes in a text, byte for byte. A place that is not there, or that
// two changes touch, is an error. The text is gone through once, however many lines and
// changes there are.
func applied(text []byte, edits []textEdit, encoding string) ([]byte, error) {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b textEdit) int { return before(a.Range.Start, b.Range.Start) })
	from := cursor{text: string(text), encoding: encoding}
	var out []byte
	at := 0
	for _, e := range edits {
		start, err := from.to(e.Range.Start)
		if err != nil {
			return nil, err
		}
		end, err := from.to(e.Range.End)
		if err != nil {
			return nil, err
		}
		out = append(append(out, text[at:start]...), e.NewText...)
		at = end
	}
	return append(out, text[at:]...), nil
}

// before compares two places.
func before(a, b lsp.Position) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Character, b.Character))
}

// A cursor goes through a text as a server counts it, and never back.
type cursor struct {
	text     string
	encoding string
	place    lsp.Position
	line     int // the byte at which its line begins
	at       int // its own byte
	units    int // from there to here, as the server counts
}

// to is the byte of a place, which must not lie before the last one.
func (c *cursor) to(p lsp.Position) (int, error) {
	if p.Character = max(p.Character, 0); before(p, c.place) < 0 {
		if p.Line < 0 {
			return 0, fmt.Errorf("the server names line %d, which is not there", p.Line+1)
		}
		return 0, errors.New("two changes of the server touch one place")
	}
	for c.place.Line < p.Line {
		i := strings.IndexByte(c.text[c.line:], '\n')
		if i < 0 {
			return 0, fmt.Errorf("the server names line %d, which is not there", p.Line+1)
		}
		c.line += i + 1
		c.at, c.units, c.place = c.line, 0, lsp.Position{Line: c.place.Line + 1}
	}
	if c.at > c.line && c.text[c.at-1] == '\n' { // it is at the end of its line
		c.place = p
		return c.at, nil
	}
	rest := c.text[c.at:]
	left := min(max(p.Character-c.units, 0), len(rest))
	rest = rest[:min(len(rest), 3*left+utf8.UTFMax)] // what one unit is has three bytes at most, or four with the next
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i+1]
	}
	n := lsp.Column(rest, left, c.encoding)
	c.place, c.at, c.units = p, c.at+n, c.units+lsp.Character(rest, n, c.encoding)
	return c.at, nil
}

func (r *renaming) needs() (needs []policy.Access) {
	for _, f := range r.files {
		needs = append(needs, f.path.Write("lsp", policy.Change))
	}
	return needs
}

func (r *renaming) paths() (paths []workspace.Path) {
	for _, f := range r.files {
		paths = append(paths, f.path)
	}
	return paths
}

// run changes all files or none.
func (r *renaming) run(ctx context.Context, env *tool.Env, dry bool) (*tool.Result, error) {
	s := &changeSet{env: env, tool: "lsp", dry: dry}
	for _, f := range r.files {
		s.files = append(s.files, &fileChange{path: f.path, ifVersion: workspace.Version(f.before), after: f.after})
	}
	defer s.end()
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	if err := s.commit(ctx); err != nil {
		return nil, err
	}
	meta := &lspMeta{Operation: "rename", Server: r.server, Places: []lspPlace{}, DryRun: dry}
	var b strings.Builder
	for i, c := range s.files {
		meta.Total += r.files[i].places
		meta.Files, meta.Diff, meta.Change = append(meta.Files, c.report), meta.Diff+c.report.Diff, c.report.Change
		b.WriteString(c.report.output(c.report.headline("Edited", "edit")))
	}
	title := fmt.Sprintf("%s in %s", tool.Count(int64(meta.Total), "place"), tool.Count(int64(len(s.files)), "file"))
	if dry {
		title = "Would rename " + title
	} else {
		title = "Renamed " + title
	}
	out := title + "\n" + b.String()
	return &tool.Result{Title: title, Output: out, Metadata: meta, Pretty: inColour(out, meta.Diff)}, nil
}

// Traces implements tool.Tracer.
func (m *lspMeta) Traces() tool.Traces { return tool.Traces{Change: m.Change, Diff: m.Diff} }

func (m *lspMeta) foreseen() (files []foreseenFile, diff string) {
	for _, f := range m.Files {
		files = append(files, foreseenFile{Path: f.Path, Action: "update"})
	}
	return files, m.Diff
}
