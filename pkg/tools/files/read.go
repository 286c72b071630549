// Package files holds the tools that read and change files.
package files

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/text"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

//go:embed read.md
var readDoc string

// Read shows a file.
var Read = &tool.Tool{
	Name:    "read",
	Summary: "show a file, or list a directory",
	Doc:     &readDoc,
	New: func() tool.Call {
		return &readCall{Offset: 1, Limit: 2000, Column: 1, NumberStyle: "padded", Mode: "slice", IncludeHeader: true}
	},
	ReadOnly: true,
}

const (
	// wholeFile is the size in bytes up to which a file is read as a whole, so
	// that its number of lines and its version are known: 16 MiB.
	wholeFile = 16 << 20

	// maxAttachment is the size in bytes of the largest image or PDF file that
	// is attached: 10 MiB.
	maxAttachment = 10 << 20
)

type readCall struct {
	Path                           string
	Offset, Limit                  int
	Tail                           int
	Ranges                         []string
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
	p.Path(&r.Path, "path", param.File, "the file or directory").Required().Arg().Alias("file_path", "filePath", "filename", "file")
	p.Int(&r.Offset, "offset", "the first line to show, counting from 1").Between(1, 1<<50).Alias("start_line", "line")
	r.limit = p.Int(&r.Limit, "limit", "most lines to show").Between(1, 100_000)
	p.Int(&r.Tail, "tail", "show the last lines, this many, instead").Between(0, 100_000).Shown("off")
	p.Strings(&r.Ranges, "ranges", "several parts instead, as 10-20, 50- or 7").Alias("range", "lines", "line_ranges")
	p.String(&r.Symbol, "symbol", "show this function, type or heading instead, as Server.Close")
	p.String(&r.Mode, "mode", "what to show: lines, or the block of code around anchor_line").OneOf("slice", "indentation")
	p.Int(&r.AnchorLine, "anchor_line", "the line whose block is shown").Between(0, 1<<50).Shown("offset")
	p.Int(&r.MaxLevels, "max_levels", "how many blocks around it to climb").Between(0, 1000).Shown("all")
	p.Bool(&r.IncludeSiblings, "include_siblings", "show what stands beside the outermost block, too")
	p.Bool(&r.IncludeHeader, "include_header", "show the comments and decorators above it, too")
	p.Int(&r.MaxLines, "max_lines", "most lines to show, also of the block around the anchor").Between(0, 1<<50).Shown("limit")
	p.Strings(&r.Pages, "pages", "pages of a PDF file, as 1-5 or 3").Alias("page")
	p.Bool(&r.Raw, "raw", "show a notebook as the JSON it is, and of a PDF file no text")
	p.Int(&r.Column, "column", "the first character of each line to show, counting from 1").Between(1, maxColumnBytes)
	p.String(&r.NumberStyle, "number_style", "how lines are numbered").OneOf("padded", "tab", "colon", "L", "none").Alias("numberStyle")
	p.Bool(&r.Instructions, "instructions", "add what AGENTS.md and its like say on the way from the root to the file")
}

// Needs implements tool.Call.
func (r *readCall) Needs(_ context.Context, env *tool.Env) ([]policy.Access, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	p, err := env.Workspace.Resolve(r.Path)
	if err != nil {
		return nil, err
	}
	r.path = p
	r.instructions = instructionFiles(env, p)
	var needs []policy.Access
	if r.own = env.Session.Owns(p.Real); !r.own {
		needs = append(needs, p.Read("read"))
	}
	if r.Instructions {
		for _, file := range r.instructions {
			needs = append(needs, file.Read("read"))
		}
	}
	return needs, nil
}

// instructionNames are the files that tell agents how to work, as the makers of
// agents have named them. CONTEXT.md and .cursorrules are older names.
func instructionNames() []string {
	return []string{"AGENTS.md", "CLAUDE.md", "GEMINI.md", "CONTEXT.md", ".cursorrules", ".github/copilot-instructions.md"}
}

// instructionFiles are those that there are, each once, from the root down to
// the directory of p. One that leads out of the root does not count.
func instructionFiles(env *tool.Env, p workspace.Path) []workspace.Path {
	if !p.Inside {
		return nil
	}
	dirs := []string{"."}
	parent := p.Rel
	if p.Type != policy.Dir {
		parent = path.Dir(p.Rel)
	}
	if parent != "." {
		for i, c := range parent {
			if c == '/' {
				dirs = append(dirs, parent[:i])
			}
		}
		dirs = append(dirs, parent)
	}
	var found []workspace.Path
	seen := map[string]bool{p.Real: true}
	for _, dir := range dirs {
		for _, name := range instructionNames() {
			f, err := env.Workspace.Resolve("./" + path.Join(dir, name))
			if err == nil && f.Type == policy.Regular && f.Inside && !seen[f.Real] {
				seen[f.Real] = true
				found = append(found, f)
			}
		}
	}
	return found
}

type readMeta struct {
	Path         string   `json:"path"`
	Type         string   `json:"type"` // file, directory, notebook, image or pdf
	Offset       int64    `json:"offset"`
	Limit        int      `json:"limit"`
	LinesRead    int      `json:"lines_read"`
	TotalLines   *int64   `json:"total_lines"` // null where it would take reading a large file to its end
	TotalBytes   int64    `json:"total_bytes"`
	Truncated    bool     `json:"truncated"`
	NextOffset   int64    `json:"next_offset,omitempty"`
	LongLines    int      `json:"long_lines,omitempty"` // shown lines that were cut
	Version      string   `json:"version,omitempty"`    // absent for files of more than 16 MiB
	Encoding     string   `json:"encoding,omitempty"`
	Newline      string   `json:"newline,omitempty"`
	FinalNewline *bool    `json:"final_newline,omitempty"`
	MIMEType     string   `json:"mime_type"`
	Instructions []string `json:"instructions,omitempty"` // files that tell how to work here

	Ranges   []readRange   `json:"ranges,omitempty"`
	Block    *readBlock    `json:"block,omitempty"`
	Symbol   *readSymbol   `json:"symbol,omitempty"`
	Notebook *readNotebook `json:"notebook,omitempty"`
	PDF      *readPDF      `json:"pdf,omitempty"`
	Image    *readImage    `json:"image,omitempty"`
}

// Run implements tool.Call.
func (r *readCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	r.Limit = r.most(env)
	meta := &readMeta{Path: tool.Shown(r.path), Type: "file", Offset: int64(r.Offset), Limit: r.Limit}
	for _, f := range r.instructions {
		meta.Instructions = append(meta.Instructions, f.Rel)
	}
	if !r.path.Exists {
		return nil, tool.Errorf(tool.NotFound, "%s", tool.Absent(r.path)).
			Suggest(env.Workspace.Near(r.path, 5)...).WithHint("check the path, or find the file with glob")
	}
	res := &tool.Result{Title: "Read " + meta.Path, Metadata: meta, Trimmed: true}
	var err error
	if r.path.Type == policy.Dir {
		if err := r.linesOnly("a directory", false); err != nil {
			return nil, err
		}
		res.Output, err = r.directory(env, meta)
	} else {
		err = r.file(ctx, env, meta, res)
	}
	if err == nil && r.Instructions {
		err = r.addInstructions(env, res)
	}
	if err != nil {
		return nil, err
	}
	return res, nil
}

func (r *readCall) addInstructions(env *tool.Env, res *tool.Result) error {
	for _, f := range r.instructions {
		data, err := env.Workspace.ReadFile(f, 64<<10)
		if err != nil {
			return err
		}
		res.Output += fmt.Sprintf("\n[instructions from %s]\n%s\n", f.Rel, strings.TrimSpace(strings.ToValidUTF8(string(data), "\ufffd")))
	}
	return nil
}

// directory lists what is in a directory, one name a line.
func (r *readCall) directory(env *tool.Env, meta *readMeta) (string, error) {
	list, err := env.Workspace.ReadDir(r.path)
	if err != nil {
		return "", err
	}
	meta.Type, meta.MIMEType = "directory", "inode/directory"
	total := int64(len(list))
	meta.TotalLines = &total
	first, last := r.entries(len(list))
	if first > len(list) && len(list) > 0 {
		return "", behind(meta.Path, int64(first), total)
	}
	var b strings.Builder
	for _, d := range list[first-1 : last] {
		b.WriteString(tool.VisibleName(d.Name()) + suffix(d) + "\n")
	}
	meta.Offset, meta.LinesRead = int64(first), max(0, last-first+1)
	if len(list) == 0 {
		b.WriteString("[empty directory]\n")
	}
	if last < len(list) {
		meta.Truncated, meta.NextOffset = true, int64(last+1)
		fmt.Fprintf(&b, "[entries %d-%d of %d; go on with offset=%d]\n", first, last, len(list), last+1)
	}
	return b.String(), nil
}

// entries are the first and last of n things that the call asks for, from 1.
func (r *readCall) entries(n int) (first, last int) {
	if first = r.Offset; r.Tail > 0 {
		first = max(1, n-r.Tail+1)
	}
	return first, max(first-1, min(n, first-1+r.Limit))
}

func suffix(d fs.DirEntry) string {
	switch {
	case d.IsDir():
		return "/"
	case d.Type()&fs.ModeSymlink != 0:
		return "@"
	case !d.Type().IsRegular():
		return "?"
	}
	return ""
}

func behind(name string, offset, total int64) error {
	return tool.Errorf(tool.BadInput, "line %d is behind the end of %s, which has %s", offset, name, tool.Count(total, "line")).
		WithHint("use lines from 1 to %d", max(total, 1))
}

// file shows a file: as text, as an attachment, or not at all.
func (r *readCall) file(ctx context.Context, env *tool.Env, meta *readMeta, res *tool.Result) error {
	f, err := env.Workspace.OpenFile(r.path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	stop := unblock(ctx, f)
	defer stop()
	head := make([]byte, 64<<10)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return r.readError(ctx, meta, err)
	}
	head = head[:n]
	whole := n < cap(head)
	meta.MIMEType = text.MIME(r.path.Real, head)
	meta.TotalBytes = max(int64(n), r.path.Info.Size())
	switch {
	case meta.MIMEType == "application/pdf":
		return r.pdf(ctx, f, head, meta, res, env)
	case attachable(meta.MIMEType):
		return r.image(f, head, meta, res)
	case len(r.pages) > 0:
		return tool.Errorf(tool.BadInput, "%s is no PDF file, and has no pages", meta.Path).WithHint("use offset and limit")
	}
	enc := text.Detect(head, whole)
	if enc.Name == "binary" {
		_, why := text.Binary(head)
		return tool.Errorf(tool.Binary, "%s is binary: %s", meta.Path, why).
			WithHint("look at it with bash, for example: file %[1]s; xxd %[1]s | head; strings %[1]s", tool.QuoteFile(meta.Path))
	}
	meta.Encoding, meta.Newline = enc.Name, text.Newline(head)
	if meta.TotalBytes <= wholeFile {
		rest, err := io.ReadAll(io.LimitReader(f, wholeFile))
		if err != nil {
			return r.readError(ctx, meta, err)
		}
		return r.small(ctx, append(head, rest...), meta, res, env)
	}
	return r.readError(ctx, meta, r.large(ctx, f, enc, meta, res, env))
}

// patience is how long a file may give nothing.
const patience = 10 * time.Second

// unblock keeps reading f from waiting for ever, for there are files in /proc
// that wait for news: it ends with ctx, and when f gives nothing for long. What
// the system cannot wait for has no deadline and needs none.
func unblock(ctx context.Context, f *os.File) (stop func() bool) {
	_ = f.SetReadDeadline(time.Now().Add(patience))
	return context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
}

// readError says why reading ended early.
func (r *readCall) readError(ctx context.Context, meta *readMeta, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return tool.Errorf(tool.Timeout, "%s has given nothing for %v", meta.Path, patience).
			WithHint("it may wait for something to happen: look at it with bash and a timeout")
	}
	return err
}

// attachable tells the types that models look at themselves.
func attachable(mime string) bool {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}
