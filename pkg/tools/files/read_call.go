package files

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/syntax"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

const (
	// wholeFile is the size in bytes up to which a file is read as a whole, so
	// that its number of lines and its version are known: 16 MiB.
	wholeFile = 16 << 20

	// maxAttachment is the size in bytes of the largest image or PDF file that
	// is attached: 10 MiB.
	maxAttachment = 10 << 20

	// maxImageBytes is the size in bytes of the largest image that is attached
	// as it is: 3.75 MB, which are 5 MB in base64, as the strictest maker of
	// models has it.
	maxImageBytes = 3_750_000
)

type readCall struct {
	Path                           string
	Offset, Limit                  int
	EndLine                        int
	Tail                           int
	Ranges                         []string
	ViewRange                      []string // the first and the last line, or -1 for the end
	Symbol                         string
	Mode                           string
	AnchorLine                     int
	MaxLevels                      int
	IncludeSiblings, IncludeHeader bool
	MaxLines                       int
	Pages                          []string
	Raw                            bool
	Column                         int
	NumberStyle                    string
	Instructions                   bool

	limit        *param.Param // of Limit: whether the call gives it
	ranges       []span       // of Ranges, sorted, none touching another
	pages        []span       // of Pages
	path         workspace.Path
	own          bool // a spill file of the session
	instructions []workspace.Path
}

// Params implements tool.Call.
func (r *readCall) Params(p *param.Set) {
	p.Path(&r.Path, "path", param.File, "the file or directory").Required().Arg().Alias("file_path", "filePath", "filename", "file", "target_file", "absolute_path")
	p.Int(&r.Offset, "offset", "the first line to show, from 1").Between(1, 1<<50).Alias("start_line", "startLine", "line_start", "line", "start_line_one_indexed")
	r.limit = p.Int(&r.Limit, "limit", "most lines to show").Between(1, 100_000)
	p.Int(&r.EndLine, "end_line", "the last line to show, instead of a limit").Between(0, 1<<50).Shown("limit").Alias("endLine", "line_end", "end", "end_line_one_indexed_inclusive").Unlisted()
	p.Int(&r.Tail, "tail", "show the last so many lines instead").Between(0, 100_000).Shown("off").Rare()
	p.Strings(&r.Ranges, "ranges", "several parts instead, as 10-20, 50- or 7").Alias("range", "lines", "line_ranges").Rare()
	p.Strings(&r.ViewRange, "view_range", "the first line and the last, or -1, instead of a limit").Unlisted()
	p.String(&r.Symbol, "symbol", "show this symbol instead")
	p.String(&r.Mode, "mode", "lines, or the block around anchor_line").OneOf("slice", "indentation").Rare()
	p.Int(&r.AnchorLine, "anchor_line", "the line whose block is shown").Between(0, 1<<50).Shown("offset").Rare()
	p.Int(&r.MaxLevels, "max_levels", "how many blocks to climb").Between(0, 1000).Shown("all").Rare()
	p.Bool(&r.IncludeSiblings, "include_siblings", "show its neighbours, too").Rare()
	p.Bool(&r.IncludeHeader, "include_header", "show its comments and decorators, too").Rare()
	p.Int(&r.MaxLines, "max_lines", "most lines of the block").Between(0, 1<<50).Shown("limit").Rare()
	p.Strings(&r.Pages, "pages", "pages of a PDF file, as 1-5 or 3").Alias("page").Rare()
	p.Bool(&r.Raw, "raw", "show a notebook as its JSON, and of a PDF file no text").Rare()
	p.Int(&r.Column, "column", "the first character of each line to show").Between(1, maxColumnBytes).Rare()
	p.String(&r.NumberStyle, "number_style", "how lines are numbered").OneOf("padded", "tab", "colon", "L", "arrow", "none").Alias("numberStyle").Rare()
	p.Bool(&r.Instructions, "instructions", "add what AGENTS.md and its like say of the place").Rare()
}

type readMeta struct {
	Path         string   `json:"path" doc:"relative to the root, or absolute outside it"`
	Type         string   `json:"type" doc:"file, directory, notebook, image or pdf"`
	Offset       int64    `json:"offset" doc:"the first line that is shown, from 1"`
	Limit        int      `json:"limit" doc:"the most lines that were asked for"`
	LinesRead    int      `json:"lines_read" doc:"lines that are shown"`
	TotalLines   *int64   `json:"total_lines" doc:"null where it would take reading a large file to its end"`
	TotalBytes   int64    `json:"total_bytes" doc:"of the file"`
	Truncated    bool     `json:"truncated" doc:"there is more"`
	NextOffset   int64    `json:"next_offset,omitempty" doc:"the offset to go on from"`
	LongLines    int      `json:"long_lines,omitempty" doc:"shown lines that were cut"`
	Invalid      int      `json:"invalid_lines,omitempty" doc:"shown lines with bytes that are not UTF-8"`
	Version      string   `json:"version,omitempty" doc:"absent for files of more than 16 MiB"`
	Encoding     string   `json:"encoding,omitempty" doc:"what the file was decoded from"`
	Newline      string   `json:"newline,omitempty" doc:"lf, crlf, cr, mixed or none"`
	FinalNewline *bool    `json:"final_newline,omitempty" doc:"the last line is ended"`
	MIMEType     string   `json:"mime_type" doc:"the content's"`
	Instructions []string `json:"instructions,omitempty" doc:"files that tell how to work here"`

	Ranges   []readRange   `json:"ranges,omitempty" doc:"the parts, with ranges"`
	Block    *readBlock    `json:"block,omitempty" doc:"with mode indentation"`
	Symbol   *readSymbol   `json:"symbol,omitempty" doc:"with symbol"`
	Notebook *readNotebook `json:"notebook,omitempty" doc:"of a notebook"`
	PDF      *readPDF      `json:"pdf,omitempty" doc:"of a PDF file"`
	Image    *readImage    `json:"image,omitempty" doc:"of an image"`
}

// entries are the first and last of n things that the call asks for, from 1.
func (r *readCall) entries(n int) (first, last int) {
	if first = r.Offset; r.Tail > 0 {
		first = max(1, n-r.Tail+1)
	}
	return first, max(first-1, min(n, first-1+r.Limit))
}

func behind(name string, offset, total int64) error {
	return tool.Errorf(tool.BadInput, "line %d is behind the end of %s, which has %s", offset, name, tool.Count(total, "line")).
		WithHint("use lines from 1 to %d", max(total, 1))
}

// patience is how long a file may give nothing.
const patience = 10 * time.Second

// readError says why reading ended early.
func (r *readCall) readError(ctx context.Context, meta *readMeta, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return tool.Errorf(tool.Timeout, "%s has given nothing for %v", meta.Path, patience).
			WithHint("it may wait for something to happen: look at it with {bash} and a time limit")
	}
	return err
}

// viewRange reads the two lines of view_range.
func (r *readCall) viewRange() error {
	if len(r.ViewRange) == 0 {
		return nil
	}
	first, err := strconv.Atoi(strings.TrimSpace(r.ViewRange[0]))
	last, err2 := strconv.Atoi(strings.TrimSpace(r.ViewRange[len(r.ViewRange)-1]))
	if err != nil || err2 != nil || len(r.ViewRange) != 2 || first < 0 || last < -1 {
		return tool.Errorf(tool.BadInput, "view_range: want the first line and the last, got %s", strings.Join(r.ViewRange, ", ")).WithHint("give two numbers, as [10, 20], or [10, -1] for all from line 10 on")
	}
	r.Offset = max(first, 1)
	if last >= 0 {
		r.EndLine = max(last, 1)
	}
	return nil
}

// check refuses parameters that contradict each other.
func (r *readCall) check() (err error) {
	if r.AnchorLine > 0 {
		r.Mode = "indentation" // what else could it be for
	}
	if err := r.viewRange(); err != nil {
		return err
	}
	if r.EndLine > 0 && r.EndLine < r.Offset {
		return tool.Errorf(tool.BadInput, "end_line %d is before line %d", r.EndLine, r.Offset).WithHint("give an {.end_line} from %d on", r.Offset)
	}
	var asked []string
	for _, way := range []struct {
		name string
		is   bool
	}{
		{"tail", r.Tail > 0},
		{"ranges", len(r.Ranges) > 0},
		{"symbol", r.Symbol != ""},
		{"mode=indentation", r.Mode == "indentation"},
		{"offset", r.Offset > 1 && r.Mode != "indentation"},
		{"end_line", r.EndLine > 0 && r.Offset == 1},
	} {
		if way.is {
			asked = append(asked, way.name)
		}
	}
	if len(asked) > 1 {
		return tool.Errorf(tool.BadInput, "%s and %s both say which lines to show", asked[0], asked[1]).WithHint("give one of them")
	}
	if r.ranges, err = parseSpans("ranges", r.Ranges); err != nil {
		return err
	}
	r.pages, err = parseSpans("pages", r.Pages)
	return err
}

// linesOnly refuses ways to choose lines for what has none that could be
// chosen so.
func (r *readCall) linesOnly(what string, ranges bool) error {
	name := ""
	switch {
	case r.Symbol != "":
		name = "symbol"
	case r.Mode == "indentation":
		name = "mode=indentation"
	case len(r.Ranges) > 0 && !ranges:
		name = "ranges"
	}
	if name == "" {
		return nil
	}
	return tool.Errorf(tool.BadInput, "%s is for text files, and %s is %s", name, r.Path, what).WithHint("leave it out, or use {.offset} and {.limit}")
}

type readRange struct {
	Offset    int64 `json:"offset"`
	LinesRead int   `json:"lines_read"`
	Truncated bool  `json:"truncated"`
}

type readBlock struct {
	Anchor  int   `json:"anchor_line"`
	Line    int64 `json:"line" doc:"of the whole block, which may be longer than what is shown"`
	EndLine int64 `json:"end_line"`
}

type readSymbol struct {
	Name    string      `json:"name" doc:"with those around it: Server.Close"`
	Kind    syntax.Kind `json:"kind"`
	First   int         `json:"first_line" doc:"where its comment and decorators begin"`
	Line    int         `json:"line"`
	EndLine int         `json:"end_line"`

	Doubt *syntax.Problem `json:"doubt,omitempty" doc:"the mistake that may make end_line wrong"`
}

// maxColumnBytes bounds how much of one line is held to find a column: 64 MiB.
const maxColumnBytes = 64 << 20

// most is how many lines the call shows at most: what it asks for, or what is
// usual. It may ask for more than is usual, not for more than was configured.
func (r *readCall) most(env *tool.Env) int {
	most := env.Limits.Lines
	switch {
	case r.Tail > 0:
		most = r.Tail
	case r.EndLine > 0:
		most = r.EndLine - r.Offset + 1
	case r.limit.Given():
		most = r.Limit
	}
	if r.MaxLines > 0 {
		most = min(most, r.MaxLines)
	}
	if env.MaxLines > 0 {
		most = min(most, env.MaxLines)
	}
	return most
}

type readImage struct {
	Width  int `json:"width" doc:"in pixels"`
	Height int `json:"height"`
}

type readNotebook struct {
	Format   string         `json:"format"`
	Language string         `json:"language"`
	Cells    []notebookCell `json:"cells" doc:"the first thousand"`
	LeftOut  int            `json:"images_left_out,omitempty" doc:"too many or too large to be attached"`

	trimmed bool // an output is not shown as a whole
}

type notebookCell struct {
	Type      string `json:"type"`
	ID        string `json:"id" doc:"for edit; cell-N where the file gives none"`
	Line      int64  `json:"line" doc:"on which it begins in what is shown"`
	Execution int    `json:"execution_count,omitempty"`
	Outputs   int    `json:"outputs"`
}

type readPDF struct {
	Pages    int         `json:"pages" doc:"of the file"`
	Shown    []pdfPage   `json:"shown"`
	NextPage int         `json:"next_page,omitempty"`
	Error    string      `json:"error,omitempty" doc:"why there is no text, or not all"`
	Attached bool        `json:"attached"`
	texts    []pdfSource // of Shown
	cut      bool        // of a page not all was read
}

type pdfPage struct {
	Page     int   `json:"page"`
	Line     int64 `json:"line" doc:"on which it begins in what is shown"`
	Pictures int   `json:"pictures"`
}

type pdfSource struct{ text, note string }
