package cmd

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/text"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

//go:embed read.md
var readDoc string

var readTool = &tool.Tool{
	Name:     "read",
	Summary:  "show a file, or list a directory",
	Doc:      &readDoc,
	New:      func() tool.Call { return &readCall{Offset: 1, Limit: 2000, Column: 1, NumberStyle: "padded"} },
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
	Path          string
	Offset, Limit int
	Tail          int
	Column        int
	NumberStyle   string
	Instructions  bool

	path         workspace.Path
	own          bool // a spill file of the session
	instructions []workspace.Path
}

// Params implements tool.Call.
func (r *readCall) Params(p *param.Set) {
	p.Path(&r.Path, "path", param.File, "the file or directory").Required().Arg().Alias("file_path", "filePath", "filename", "file")
	p.Int(&r.Offset, "offset", "the first line to show, counting from 1").Between(1, 1<<50).Alias("start_line", "line")
	p.Int(&r.Limit, "limit", "most lines to show").Between(1, 100_000)
	p.Int(&r.Tail, "tail", "show the last lines, this many, instead").Between(0, 100_000).Shown("off")
	p.Int(&r.Column, "column", "the first character of each line to show, counting from 1").Between(1, maxColumnBytes)
	p.String(&r.NumberStyle, "number_style", "how lines are numbered").OneOf("padded", "tab", "colon", "L", "none").Alias("numberStyle")
	p.Bool(&r.Instructions, "instructions", "add what AGENTS.md and its like say on the way from the root to the file")
}

// Needs implements tool.Call.
func (r *readCall) Needs(_ context.Context, env *tool.Env) ([]policy.Access, error) {
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

// instructionFiles are the files that tell agents how to work, from the root
// down to the directory of p.
func instructionFiles(env *tool.Env, p workspace.Path) []workspace.Path {
	if !p.Inside {
		return nil
	}
	dirs := []string{""}
	if parent := path.Dir(p.Rel); parent != "." {
		for i, c := range parent {
			if c == '/' {
				dirs = append(dirs, parent[:i])
			}
		}
		dirs = append(dirs, parent)
	}
	var found []workspace.Path
	for _, dir := range dirs {
		for _, name := range []string{"AGENTS.md", "CLAUDE.md", "CONTEXT.md"} {
			if f, err := env.Workspace.Resolve(path.Join("./", dir, name)); err == nil && f.Type == policy.Regular && f.Real != p.Real {
				found = append(found, f)
			}
		}
	}
	return found
}

type readMeta struct {
	Path         string   `json:"path"`
	Type         string   `json:"type"` // file, directory, image or pdf
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
}

// Run implements tool.Call.
func (r *readCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	meta := &readMeta{Path: shown(r.path), Type: "file", Offset: int64(r.Offset), Limit: r.Limit}
	for _, f := range r.instructions {
		meta.Instructions = append(meta.Instructions, f.Rel)
	}
	if !r.path.Exists {
		return nil, tool.Errorf(tool.NotFound, "%s does not exist", meta.Path).
			Suggest(env.Workspace.Near(r.path, 5)...).WithHint("check the path, or find the file with glob")
	}
	res := &tool.Result{Title: "Read " + meta.Path, Metadata: meta, Trimmed: true}
	var err error
	if r.path.Type == policy.Dir {
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
	first, last := r.span(len(list))
	if first > len(list) && len(list) > 0 {
		return "", behind(meta.Path, r.Offset, total)
	}
	var b strings.Builder
	for _, d := range list[first-1 : last] {
		b.WriteString(visibleName(d.Name()) + suffix(d) + "\n")
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

// span is the first and last of n things that the call asks for, from 1.
func (r *readCall) span(n int) (first, last int) {
	if r.Tail > 0 {
		return max(1, n-r.Tail+1), n
	}
	return r.Offset, max(r.Offset-1, min(n, r.Offset-1+r.Limit))
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

func behind(name string, offset int, total int64) error {
	return tool.Errorf(tool.BadInput, "offset %d is behind the end of %s, which has %d lines", offset, name, total).
		WithHint("use an offset from 1 to %d", max(total, 1))
}

// file shows a file: as text, as an attachment, or not at all.
func (r *readCall) file(ctx context.Context, env *tool.Env, meta *readMeta, res *tool.Result) error {
	f, err := env.Workspace.OpenFile(r.path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	head := make([]byte, 64<<10)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	head = head[:n]
	whole := n < cap(head)
	meta.MIMEType = text.MIME(r.path.Real, head)
	meta.TotalBytes = max(int64(n), r.path.Info.Size())
	if attachable(meta.MIMEType) {
		return r.attach(f, head, meta, res)
	}
	enc := text.Detect(head, whole)
	if enc.Name == "binary" {
		_, why := text.Binary(head)
		return tool.Errorf(tool.Binary, "%s is binary: %s", meta.Path, why).
			WithHint("look at it with bash, for example: file %[1]s; xxd %[1]s | head; strings %[1]s", quoteWord(meta.Path))
	}
	meta.Encoding, meta.Newline = enc.Name, text.Newline(head)
	if meta.TotalBytes <= wholeFile {
		rest, err := io.ReadAll(io.LimitReader(f, wholeFile))
		if err != nil {
			return err
		}
		return r.small(append(head, rest...), meta, res, env)
	}
	return r.large(ctx, f, enc, meta, res, env)
}

// attachable tells the types that models look at themselves.
func attachable(mime string) bool {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf":
		return true
	}
	return false
}

func (r *readCall) attach(f *os.File, head []byte, meta *readMeta, res *tool.Result) error {
	meta.Type = "pdf"
	kind := "file"
	if strings.HasPrefix(meta.MIMEType, "image/") {
		meta.Type, kind = "image", "image"
	}
	if meta.TotalBytes > maxAttachment {
		return tool.Errorf(tool.TooLarge, "%s has %d bytes, and at most %d are attached", meta.Path, meta.TotalBytes, maxAttachment).
			WithHint("make a smaller copy with bash, for example with convert or pdftotext, and read that")
	}
	rest, err := io.ReadAll(io.LimitReader(f, maxAttachment))
	if err != nil {
		return err
	}
	data := append(head, rest...)
	meta.Version, meta.TotalBytes = workspace.Version(data), int64(len(data))
	res.Attachments = []tool.Attachment{{Type: kind, Filename: path.Base(meta.Path), MIMEType: meta.MIMEType, Content: data}}
	res.Output = fmt.Sprintf("%s of %d bytes, attached\n", meta.MIMEType, len(data))
	return nil
}

// small shows a file that fits into memory; everything about it is known.
func (r *readCall) small(data []byte, meta *readMeta, res *tool.Result, env *tool.Env) error {
	enc := text.Detect(data, true)
	if enc.Name == "binary" {
		_, why := text.Binary(data)
		return tool.Errorf(tool.Binary, "%s is binary: %s", meta.Path, why).WithHint("look at it with bash, for example: xxd %s | head", quoteWord(meta.Path))
	}
	decoded, _ := enc.Decode(data)
	meta.Encoding, meta.Newline = enc.Name, text.Newline(decoded)
	meta.Version, meta.TotalBytes = workspace.Version(data), int64(len(data))
	final := len(decoded) == 0 || bytes.HasSuffix(decoded, []byte("\n")) || meta.Newline == "cr" && bytes.HasSuffix(decoded, []byte("\r"))
	meta.FinalNewline = &final
	o := text.LineOptions{CR: meta.Newline == "cr", MaxLine: len(decoded) + 1}
	total, err := text.NewLineReader(bytes.NewReader(decoded), o).Skip(1 << 60)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	meta.TotalLines = &total
	first := int64(r.Offset)
	if r.Tail > 0 {
		first = max(1, total-int64(r.Tail)+1)
	}
	if first > total && first > 1 {
		return behind(meta.Path, r.Offset, total)
	}
	return r.page(text.NewLineReader(bytes.NewReader(decoded), o), first, meta, res, env)
}

// maxColumnBytes bounds how much of one line is held to find a column: 64 MiB.
const maxColumnBytes = 64 << 20

// large shows a part of a file without holding it, or reading behind the part.
func (r *readCall) large(ctx context.Context, f *os.File, enc text.Encoding, meta *readMeta, res *tool.Result, env *tool.Env) error {
	o := text.LineOptions{CR: meta.Newline == "cr", MaxLine: min((r.Column+env.Limits.LineChars)*utf8.UTFMax+1<<16, maxColumnBytes)}
	if r.Tail > 0 && (!enc.ASCII() || o.CR) {
		return tool.Errorf(tool.Unsupported, "the end of a large file in %s cannot be found without reading all of it", enc.Name).
			WithHint("read it with offset, or convert it to UTF-8")
	}
	first, at := int64(r.Offset), int64(0)
	if r.Tail > 0 {
		// Nobody knows how many lines come before: these count from the end.
		offset, lines, err := text.Tail(f, meta.TotalBytes, r.Tail)
		if err != nil {
			return err
		}
		first, at = -int64(lines), offset
	}
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		return err
	}
	return r.page(text.NewLineReader(enc.Reader(&interruptible{ctx, f}), o), first, meta, res, env)
}

// An interruptible reader ends when its context does.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (i *interruptible) Read(p []byte) (int, error) {
	if err := context.Cause(i.ctx); err != nil {
		return 0, err
	}
	return i.r.Read(p)
}

// page prints lines from first on until the limits are reached.
func (r *readCall) page(lines *text.LineReader, first int64, meta *readMeta, res *tool.Result, env *tool.Env) error {
	if n, err := lines.Skip(max(0, first-1)); err != nil && !errors.Is(err, io.EOF) {
		return err
	} else if n < first-1 {
		return behind(meta.Path, r.Offset, n)
	}
	limit := r.Limit
	if r.Tail > 0 {
		limit = r.Tail
	}
	w := &pageWriter{call: r, chars: env.Limits.LineChars, room: env.Limits.Bytes}
	number, more := first, false
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if meta.LinesRead >= limit || !w.line(number, line) {
			more = true
			break
		}
		meta.LinesRead++
		number++
	}
	meta.Offset, meta.LongLines = first, w.long
	if !more && meta.TotalLines == nil && first > 0 {
		total := number - 1
		meta.TotalLines = &total
	}
	if more {
		meta.Truncated, meta.NextOffset = true, number
	}
	res.Output = w.b.String() + r.footer(meta, number)
	return nil
}

func (r *readCall) footer(meta *readMeta, next int64) string {
	of := ""
	if meta.TotalLines != nil {
		of = fmt.Sprintf(" of %d", *meta.TotalLines)
	}
	switch {
	case meta.TotalBytes == 0:
		return "[empty file]\n"
	case meta.Truncated:
		return fmt.Sprintf("[lines %d-%d%s; go on with offset=%d]\n", meta.Offset, next-1, of, next)
	case meta.Offset < 0:
		return fmt.Sprintf("[the last %d lines, numbered from the end of the file]\n", meta.LinesRead)
	case meta.Offset > 1:
		return fmt.Sprintf("[lines %d-%d%s: the end of the file]\n", meta.Offset, next-1, of)
	}
	return ""
}

// A pageWriter prints numbered lines as long as there is room.
type pageWriter struct {
	call  *readCall
	chars int // of a line
	room  int // bytes that are left
	long  int // lines that were cut
	b     strings.Builder
}

// line prints one line, or reports that it does not fit. The first always does.
func (w *pageWriter) line(number int64, l text.Line) bool {
	text := w.cut(strings.ToValidUTF8(string(l.Text), "\ufffd"), l)
	row := w.number(number) + text + "\n"
	if w.room -= len(row); w.room < 0 && w.b.Len() > 0 {
		return false
	}
	w.b.WriteString(row)
	return true
}

// cut takes of a line what the call wants to see of it.
func (w *pageWriter) cut(text string, l text.Line) string {
	if w.call.Column == 1 && len(text) <= w.chars && int64(len(l.Text)) == l.Length {
		return text
	}
	start := skipRunes(text, w.call.Column-1)
	end := start + skipRunes(text[start:], w.chars)
	shown := text[start:end]
	if end < len(text) || int64(len(l.Text)) < l.Length {
		w.long++
		return fmt.Sprintf("%s[… line has %d bytes; go on with offset=%d limit=1 column=%d]", shown, l.Length, l.Number, w.call.Column+utf8.RuneCountInString(shown))
	}
	return shown
}

// skipRunes is the offset of the n-th rune of s, or its length.
func skipRunes(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

func (w *pageWriter) number(n int64) string {
	switch w.call.NumberStyle {
	case "padded":
		return fmt.Sprintf("%05d| ", n)
	case "tab":
		return fmt.Sprintf("%d\t", n)
	case "colon":
		return fmt.Sprintf("%d: ", n)
	case "L":
		return fmt.Sprintf("L%d: ", n)
	}
	return ""
}
