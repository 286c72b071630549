package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/agentkit-go/agentkit/pkg/edit"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/text"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// An editFile is one file and the edits that the call makes in it.
type editFile struct {
	fileChange
	edits  []editItem
	which  []int // of each, its place in the call
	listed bool  // it is one of several in the call
	enc    text.Encoding
	hits   []edit.Hit
	cells  []editCell // of a notebook, those that were changed
	grown  int        // by how many bytes it becomes larger, beside the texts of its edits
}

// grow notes by how many bytes the edits make the file larger.
func (f *editFile) grow(by int64) {
	for _, e := range f.edits {
		by -= int64(len(e.New))
	}
	f.grown = int(max(by, 0))
}

// An editCell is a cell of a notebook that a call has changed.
type editCell struct {
	ID      string `json:"id"`
	Action  string `json:"action" doc:"replace, insert or delete"`
	Type    string `json:"type"`
	Cleared bool   `json:"cleared,omitempty" doc:"it has lost what its old source had printed"`
}

// An editItem is one replacement.
type editItem struct {
	Path, IfVersion string // of one of edits; "" is the call's own
	Old, New        string
	Symbol          string
	All, InWords    bool
	Line            int

	Cell, CellType, CellMode string
}

// Params declares the members of a replacement.
func (i *editItem) Params(p *param.Set) {
	p.String(&i.Old, "old_string", "the text that stands there now").Alias("oldString", "old_str", "old_text", "oldText", "old", "search")
	p.String(&i.New, "new_string", "the text that is to stand there").Required().Alias("newString", "new_str", "new_text", "newText", "new", "replace")
	i.common(p)
	p.Path(&i.Path, "path", param.File, "the file, where it is another").Alias("file_path", "filePath", "filename", "file")
	p.String(&i.IfVersion, "if_version", "only if the file still has this version").Alias("ifVersion", "version").Rare()
}

// common declares what a call with one replacement has too.
func (i *editItem) common(p *param.Set) {
	p.Bool(&i.All, "replace_all", "replace every occurrence").Alias("replaceAll", "all")
	p.Bool(&i.InWords, "in_words", "also inside longer words").Unlisted() // for the tools of other agents
	p.Int(&i.Line, "line", "the line where the text begins, among equal places").Between(0, 1<<31).Shown("none").Rare()
	p.String(&i.Symbol, "symbol", "the symbol to look in")
	p.String(&i.Cell, "cell", "the cell of a notebook to look in, by its id").Alias("cell_id", "cellId").Rare()
}

// part reports whether the edit is of a part of the file that it names.
func (i *editItem) part() bool { return i.Symbol != "" || i.inCell() }

// inCell reports whether the edit is of a cell of a notebook.
func (i *editItem) inCell() bool { return i.Cell != "" || i.CellMode != "" || i.CellType != "" }

// expect notes which version of the file the caller has seen.
func (f *editFile) expect(version string) error {
	if version != "" && f.ifVersion != "" && version != f.ifVersion {
		return tool.Errorf(tool.BadInput, "two versions of %s are given: %s and %s", tool.Shown(f.path), f.ifVersion, version).
			WithHint("read the file again and give one {.if_version}")
	}
	if version != "" {
		f.ifVersion = version
	}
	return nil
}

// creates reports whether the edits are one that makes a new file: a single
// change of nothing into something.
func (f *editFile) creates() bool {
	return len(f.edits) == 1 && f.edits[0].Old == "" && !f.edits[0].part()
}

// list says the edits in the engine's words. Where a symbol is named, its
// lines are looked up.
func (f *editFile) list(ctx context.Context, content []byte) ([]edit.Edit, error) {
	list := make([]edit.Edit, len(f.edits))
	for i, item := range f.edits {
		list[i] = edit.Edit{Old: item.Old, New: item.New, All: item.All, InWords: item.InWords, Line: item.Line}
		if item.Symbol == "" {
			continue
		}
		first, last, err := symbolSpan(ctx, tool.Shown(f.path), content, item.Symbol, item.Old == "")
		if err != nil {
			return nil, err
		}
		list[i].Within = [2]int{first, last}
	}
	return list, nil
}

// decodeFile is a file's content in UTF-8, as far as it has to be: encodings
// that hold ASCII as it is and are damaged stay bytes.
func decodeFile(path workspace.Path, data []byte) ([]byte, text.Encoding, error) {
	enc := text.Detect(data, true)
	if enc.Name == "binary" {
		_, why := text.Binary(data)
		return nil, enc, tool.Errorf(tool.Binary, "%s is binary: %s", tool.Shown(path), why).WithHint("change it with a program that knows its format")
	}
	content, exact := enc.Decode(data)
	if exact {
		return content, enc, nil
	}
	if !enc.ASCII() {
		return nil, enc, tool.Errorf(tool.Unsupported, "%s is damaged %s: writing it back would change more than asked", tool.Shown(path), enc.Name).
			WithHint("repair its encoding first, for example with iconv")
	}
	return data, text.Encoding{Name: "utf-8", Confidence: enc.Confidence}, nil
}

// hush is an error without what it tells of the content of a file that may not
// be read.
func (f *editFile) hush(err error) error {
	if f.closed == "" {
		return err
	}
	return f.hushed(tool.AsError(err).Code)
}

func (f *editFile) hushed(code tool.Code) error {
	what := map[tool.Code]string{
		tool.NoMatch: "the text does not stand there", tool.Ambiguous: "the text stands in more than one place",
		tool.AlreadyApplied: "the file has the new text already", tool.Conflict: "what the call takes for the file's text is too different",
	}[code]
	return tool.Errorf(code, "%s: %s", tool.Shown(f.path), cmp.Or(what, "the edit cannot be made")).
		WithHint("what the file holds is not shown, for %s; quote the text exactly, or ask for the file with read", f.closed).
		With(placesDetails{Path: tool.Shown(f.path)})
}

// refusal makes a tool's error of the engine's: what is wrong, where, and what
// to send instead.
func (f *editFile) refusal(err error) error {
	r, ok := errors.AsType[*edit.Refusal](err)
	if !ok {
		return err
	}
	if f.closed != "" {
		return f.hushed(tool.Code(r.Code))
	}
	message, which := r.Message, f.which[r.Edit]
	switch {
	case r.Other != nil:
		message = fmt.Sprintf("edits[%d] and edits[%d]: %s", f.which[*r.Other], which, message)
	case f.listed:
		message = fmt.Sprintf("edits[%d]: %s", which, message)
	}
	t := tool.Errorf(tool.Code(r.Code), "%s: %s", tool.Shown(f.path), message).Next(r.Hint + map[string]string{
		edit.AddLines:  "; give the {.line} where it begins, or {.replace_all} for every place",
		edit.WholeWord: "; with {.exact} the letters are replaced wherever they stand",
	}[r.Hint])
	for _, p := range r.Places {
		_ = t.Suggest(fmt.Sprintf("lines %d-%d", p.Lines[0], p.Lines[1]))
	}
	return t.With(placesDetails{Edit: &which, Path: tool.Shown(f.path), Places: places(r.Places)}).Show(placesText(r.Places))
}
