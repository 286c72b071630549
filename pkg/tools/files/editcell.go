package files

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/edit"
	"github.com/agentkit-go/agentkit/pkg/notebook"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// planCells makes the edits in the cells of a notebook.
func (f *editFile) planCells(content []byte, o edit.Options) ([]byte, error) {
	n, err := notebook.Open(content)
	if errors.Is(err, notebook.ErrOld) {
		return nil, tool.Errorf(tool.Unsupported, "%s is a notebook of an older format than 4", tool.Shown(f.path)).
			WithHint("bring it up to date with jupyter nbconvert --to notebook --inplace, or change its JSON: give {.old_string} without {.cell}")
	}
	if err != nil {
		return nil, tool.Errorf(tool.BadInput, "%s has no cells: %w", tool.Shown(f.path), err).WithHint("leave {.cell} out")
	}
	room := edit.MostGrowth - o.Grown
	for i := range f.edits {
		if err := f.editCell(n, i, o); err != nil {
			return nil, err
		}
		if room += len(f.edits[i].New); n.Size()-len(content) > room {
			return nil, tool.Errorf(tool.TooLarge, "%sby it the call would make its files more than %d MiB larger", f.title(i), edit.MostGrowth>>20).
				WithHint("make fewer or smaller changes in one call")
		}
	}
	return n.Bytes(), nil
}

// editCell makes one edit.
func (f *editFile) editCell(n *notebook.File, which int, o edit.Options) error {
	e := &f.edits[which]
	bad := func(message string) *tool.Error {
		return tool.Errorf(tool.BadInput, "%s%s", f.title(which), message)
	}
	insert := e.CellMode == "insert"
	switch {
	case e.Symbol != "" || !e.inCell():
		return bad("edits of cells cannot be made together with others of the same file").WithHint("make them in a call of their own")
	case insert && e.CellType == "":
		return bad("a new cell needs a type").WithHint("give its {.cell_type}")
	case insert && e.Old != "":
		return bad("old_string has no meaning for a new cell").WithHint("leave it out; {.new_string} is its text")
	case e.Cell == "" && !insert:
		return bad("which cell is meant is not said").WithHint("give the id of the cell as {.cell}; {read} shows it")
	}
	at := -1
	if e.Cell != "" {
		var err error
		if at, err = f.cell(n, which); err != nil {
			return err
		}
	}
	done := editCell{ID: e.Cell, Action: "replace"}
	switch {
	case insert:
		done.ID, done.Action = n.Insert(at+1, e.New, e.CellType), "insert"
		at++
	case e.CellMode == "delete":
		done.Action, done.Type = "delete", n.Type(at)
		n.Delete(at)
		f.cells = append(f.cells, done)
		return nil
	default:
		source, err := f.cellSource(n.Source(at), which, o)
		if err != nil {
			return err
		}
		if source == n.Source(at) && (e.CellType == "" || e.CellType == n.Type(at)) {
			return tool.Errorf(tool.AlreadyApplied, "%sthe cell %s has this text already", f.title(which), e.Cell).WithHint("nothing is left to be done")
		}
		done.Cleared = n.Replace(at, source, e.CellType)
	}
	done.Type = n.Type(at)
	f.cells = append(f.cells, done)
	return nil
}

// title is what begins an error of an edit.
func (f *editFile) title(which int) string {
	if f.listed {
		return fmt.Sprintf("%s: edits[%d]: ", tool.Shown(f.path), f.which[which])
	}
	return tool.Shown(f.path) + ": "
}

// cell finds the cell that an edit names.
func (f *editFile) cell(n *notebook.File, which int) (int, error) {
	ids, id := n.IDs(), f.edits[which].Cell
	at := slices.Index(ids, id)
	if at < 0 {
		return at, tool.Errorf(tool.NotFound, "%sthere is no cell %q", f.title(which), id).
			WithHint("give the id of a cell as {read} shows it: %s", strings.Join(ids[:min(len(ids), 20)], ", "))
	}
	if slices.Contains(ids[at+1:], id) {
		return at, tool.Errorf(tool.Ambiguous, "%smore than one cell has the id %q", f.title(which), id).
			WithHint("give one of them another id first: give {.old_string} without {.cell} to change the JSON")
	}
	return at, nil
}

// cellSource is what the text of a cell becomes.
func (f *editFile) cellSource(source string, which int, o edit.Options) (string, error) {
	e := &f.edits[which]
	if e.Old == "" {
		f.hits = append(f.hits, edit.Hit{Edit: which, Strategy: edit.Exact, Similarity: 1, Margin: 1})
		return e.New, nil
	}
	out, err := edit.Plan([]byte(source), []edit.Edit{{Old: e.Old, New: e.New, All: e.All, Line: e.Line}}, o)
	if r, ok := errors.AsType[*edit.Refusal](err); ok {
		r.Edit, r.Message = which, "in the cell "+e.Cell+": "+r.Message
		return "", f.refusal(r)
	}
	if err != nil {
		return "", err
	}
	f.hits = append(f.hits, out.Hits...)
	return string(out.After), nil
}
