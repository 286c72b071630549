package files

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/notebook"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/truncate"
)

const (
	// maxOutputLines and maxOutputBytes bound what is shown of one output of a
	// notebook's cell; its beginning and its end are.
	maxOutputLines = 40
	maxOutputBytes = 4 << 10

	// maxImages is how many images of one file are attached.
	maxImages = 20

	// maxCells and maxCellBytes bound the cells that metadata lists, and their words.
	maxCells     = 1000
	maxCellBytes = 50_000
)

// isNotebook judges by the name; what is in the file decides.
func isNotebook(name string) bool { return strings.EqualFold(path.Ext(name), ".ipynb") }

// A pictured line is one of a rendered notebook that stands for an image.
type pictured struct {
	line  int64
	image tool.Attachment
}

// notebook shows a notebook as its cells, with the images among the lines that
// are shown attached. It reports false for a file that is no notebook.
func (r *readCall) notebook(decoded []byte, meta *readMeta, res *tool.Result, env *tool.Env) (bool, error) {
	n, err := notebook.Parse(bytes.ToValidUTF8(decoded, []byte("\ufffd")))
	if err != nil {
		return false, nil //nolint:nilerr // then it is shown as the text that it is
	}
	if err := r.linesOnly("shown as the cells of a notebook; raw shows its JSON", true); err != nil {
		return false, err
	}
	if len(r.pages) > 0 {
		return false, tool.Errorf(tool.BadInput, "%s is no PDF file, and has no pages", meta.Path).WithHint("use {.offset} and {.limit}")
	}
	meta.Type = "notebook"
	meta.Notebook = &readNotebook{Format: n.Format, Language: n.Language[:min(len(n.Language), 100)], Cells: []notebookCell{}}
	rendered, images := renderNotebook(n, meta.Notebook, strings.TrimSuffix(path.Base(meta.Path), path.Ext(meta.Path)))
	if err := r.rendered(rendered, meta, res, env); err != nil {
		return false, err
	}
	room := int64(maxAttachment)
	for _, p := range images {
		if !r.showed(meta, p.line) {
			continue
		}
		if len(res.Attachments) >= maxImages || int64(len(p.image.Content)) > room {
			meta.Notebook.LeftOut++
			continue
		}
		room -= int64(len(p.image.Content))
		res.Attachments = append(res.Attachments, p.image)
	}
	meta.Truncated = meta.Truncated || meta.Notebook.LeftOut > 0 || meta.Notebook.trimmed
	if meta.Notebook.LeftOut > 0 {
		res.Output += fmt.Sprintf("[%s left out: too many or too large]\n", tool.Count(int64(meta.Notebook.LeftOut), "image"))
	}
	res.Output += fmt.Sprintf("[a notebook of %s, shown as cells]\n", tool.Count(int64(len(n.Cells)), "cell"))
	return true, nil
}

// renderNotebook writes the cells one after the other, each under a line that
// says what it is, and says on which lines the images stand. Names of images
// begin with name.
func renderNotebook(n *notebook.Notebook, meta *readNotebook, name string) (string, []pictured) {
	s := &sheet{}
	var images []pictured
	room := maxCellBytes
	for i, c := range n.Cells {
		if room -= len(c.Type) + len(c.ID); room >= 0 && i < maxCells {
			meta.Cells = append(meta.Cells, notebookCell{c.Type, c.ID, s.lines + 1, c.Execution, len(c.Outputs)})
		}
		title := fmt.Sprintf("[cell %d, id %s: %s", i+1, c.ID, c.Type)
		if c.Execution > 0 {
			title += fmt.Sprintf(", run as %d", c.Execution)
		}
		s.add(title + "]")
		if c.Source != "" {
			s.add(c.Source)
		}
		for _, o := range c.Outputs {
			what := o.Type
			if o.Stream != "" {
				what = o.Stream
			}
			s.add(fmt.Sprintf("[output of cell %d: %s]", i+1, what))
			if o.Text != "" {
				text, cut := trimOutput(o.Text)
				meta.trimmed = meta.trimmed || cut
				s.add(text)
			}
			for _, img := range o.Images {
				file := fmt.Sprintf("%s-cell%d-%d.%s", name, i+1, len(images)+1, strings.TrimPrefix(img.MIMEType, "image/"))
				s.add(fmt.Sprintf("[image %s, %d bytes]", file, len(img.Data)))
				images = append(images, pictured{s.lines, tool.Attachment{Type: "image", Filename: file, MIMEType: img.MIMEType, Content: img.Data}})
			}
			if len(o.Other) > 0 {
				s.add(fmt.Sprintf("[not shown: %s]", strings.Join(o.Other, ", ")))
			}
		}
	}
	if len(n.Cells) == 0 {
		s.add("[no cells]")
	}
	return s.b.String(), images
}

// trimOutput leaves the beginning and the end of a long output.
func trimOutput(text string) (shown string, trimmed bool) {
	if len(text) <= maxOutputBytes && strings.Count(text, "\n") <= maxOutputLines {
		return text, false
	}
	cut := truncate.String(text, truncate.Options{Limits: truncate.Limits{Lines: maxOutputLines, Bytes: maxOutputBytes, LineChars: 1000}})
	return cut.Text, cut.Truncated
}
