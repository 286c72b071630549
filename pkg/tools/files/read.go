// Package files holds the tools that read and change files.
package files

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
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/text"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

//go:embed read.md
var readDoc string

// Read shows a file.
var Read = tool.Tool{
	Name:    "read",
	Summary: "show a file, or list a directory",
	Doc:     &readDoc,
	New: func() tool.Call {
		return &readCall{Offset: 1, Limit: 2000, Column: 1, NumberStyle: "tab", Mode: "slice", IncludeHeader: true}
	},
	ReadOnly: true,

	Others: []string{"cat", "view", "readfile", "readfiles", "readmanyfiles", "viewfile", "open", "openfile", "head", "tail", "less", "more", "type"},

	Examples: []string{
		"agentkit read main.go",
		"agentkit read main.go:120",
		"agentkit read main.go --symbol Server.Close",
		"agentkit read log.txt --tail 50",
	},

	Metadata: (*readMeta)(nil),
	Details:  []tool.Details{candidatesDetails{}},
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
	if !p.Exists {
		p = r.place(env, p)
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

// place is the file of a path that names lines of it, too, as programs print places:
// a.go:10, a.go:10:3 or a.go:10-20. A file of that very name comes first, and what
// the call says of lines.
func (r *readCall) place(env *tool.Env, p workspace.Path) workspace.Path {
	m := regexp.MustCompile(`^(.+?):([1-9]\d{0,8})(?:-(\d{1,9})|:\d*)?:?$`).FindStringSubmatch(r.Path)
	if m == nil || r.Offset != 1 || r.limit.Given() || r.EndLine+r.Tail+len(r.Ranges)+len(r.Pages) > 0 || r.Symbol != "" || r.Mode != "slice" {
		return p
	}
	file, err := env.Workspace.Resolve(m[1])
	if err != nil || file.Type != policy.Regular {
		return p
	}
	first, _ := strconv.Atoi(m[2])
	last, _ := strconv.Atoi(m[3])
	if r.Offset = first; last >= first {
		r.EndLine = last
	}
	return file
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
			if _, err := os.Lstat(filepath.Join(env.Workspace.Root(), dir, name)); errors.Is(err, fs.ErrNotExist) {
				continue // mostly
			}
			f, err := env.Workspace.Resolve("./" + path.Join(dir, name))
			if err == nil && f.Type == policy.Regular && f.Inside && !seen[f.Real] {
				seen[f.Real] = true
				found = append(found, f)
			}
		}
	}
	return found
}

// Run implements tool.Call.
func (r *readCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	r.Limit = r.most(env)
	meta := &readMeta{Path: tool.Shown(r.path), Type: "file", Offset: int64(r.Offset), Limit: r.Limit}
	for _, f := range r.instructions {
		meta.Instructions = append(meta.Instructions, f.Rel)
	}
	if !r.path.Exists {
		return nil, env.Missing(r.path, "check the path, or find the file with {glob}")
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
	warm(ctx, env, r.path)
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

// file shows a file: as text, as an attachment, or not at all.
func (r *readCall) file(ctx context.Context, env *tool.Env, meta *readMeta, res *tool.Result) error {
	f, err := env.Workspace.OpenFile(r.path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	stop := unblock(ctx, f)
	defer stop()
	head := make([]byte, headSize(r.path.Info.Size()))
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return r.readError(ctx, meta, err)
	}
	head = head[:n]
	whole := n < cap(head) // the end was seen
	meta.MIMEType = text.MIME(r.path.Real, head)
	meta.TotalBytes = max(int64(n), r.path.Info.Size())
	switch {
	case meta.MIMEType == "application/pdf":
		return r.pdf(ctx, f, head, meta, res, env)
	case attachable(meta.MIMEType):
		return r.image(ctx, f, head, meta, res)
	case len(r.pages) > 0:
		return tool.Errorf(tool.BadInput, "%s is no PDF file, and has no pages", meta.Path).WithHint("use {.offset} and {.limit}")
	}
	enc := text.Detect(head, whole)
	if enc.Name == "binary" {
		_, why := text.Binary(head)
		return binaryError(meta, why)
	}
	meta.Encoding, meta.Newline = enc.Name, text.Newline(head)
	if meta.TotalBytes <= wholeFile {
		if !whole {
			rest, err := io.ReadAll(io.LimitReader(f, wholeFile))
			if err != nil {
				return r.readError(ctx, meta, err)
			}
			head = append(head, rest...)
		}
		return r.small(ctx, head, meta, res, env)
	}
	return r.readError(ctx, meta, r.large(ctx, f, enc, meta, res, env))
}

// headSize is how much of a file of a size is read at first: one byte more than there is,
// which shows that there is none. Files without a size, as in /proc, may hold anything.
func headSize(size int64) int64 {
	const most = 64 << 10
	if size <= 0 {
		return most
	}
	return min(size+1, most)
}

// unblock keeps reading f from waiting for ever, for there are files in /proc
// that wait for news: it ends with ctx, and when f gives nothing for long. What
// the system cannot wait for has no deadline and needs none.
func unblock(ctx context.Context, f *os.File) (stop func() bool) {
	_ = f.SetReadDeadline(time.Now().Add(patience))
	return context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
}

// binaryError says how to look into a file that is no text.
func binaryError(meta *readMeta, why string) error {
	how := "file %[1]s; xxd %[1]s | head; strings %[1]s"
	for _, known := range [...]struct{ mime, how string }{
		{"wordprocessingml", "pandoc -t plain %[1]s, or without it: unzip -p %[1]s word/document.xml | sed 's/<[^>]*>/ /g'"},
		{"spreadsheetml", "python3 with openpyxl, or without it: unzip -p %[1]s xl/sharedStrings.xml xl/worksheets/sheet1.xml"},
		{"presentationml", "unzip -p %[1]s 'ppt/slides/slide*.xml' | sed 's/<[^>]*>/ /g'"},
		{"opendocument", "pandoc -t plain %[1]s, or without it: unzip -p %[1]s content.xml | sed 's/<[^>]*>/ /g'"},
		{"epub", "unzip -l %[1]s, and unzip -p %[1]s for one of its files"},
		{"ole-storage", "libreoffice --headless --convert-to pdf %[1]s, and read that"},
		{"sqlite", "sqlite3 %[1]s .schema, and sqlite3 -header %[1]s 'select * from TABLE limit 20'"},
		{"parquet", "python3 -c 'import pandas; print(pandas.read_parquet(\"%[1]s\").head())'"},
		{"application/zip", "unzip -l %[1]s, and unzip -p %[1]s for one of its files"},
		{"java-archive", "unzip -l %[1]s, and unzip -p %[1]s for one of its files"},
		{"gzip", "zcat %[1]s | head, or tar tzf %[1]s for an archive"},
		{"x-tar", "tar tf %[1]s, and tar xOf %[1]s for one of its files"},
		{"x-xz", "xzcat %[1]s | head"},
		{"zstd", "zstdcat %[1]s | head"},
		{"bzip2", "bzcat %[1]s | head"},
	} {
		if strings.Contains(meta.MIMEType, known.mime) {
			how = known.how
			break
		}
	}
	return tool.Errorf(tool.Binary, "%s is binary: %s", meta.Path, why).WithHint("look at it with {bash}, for example: "+how, tool.QuoteFile(meta.Path))
}

// attachable tells the types that models look at themselves.
func attachable(mime string) bool {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// small shows a file that fits into memory; everything about it is known.
func (r *readCall) small(ctx context.Context, data []byte, meta *readMeta, res *tool.Result, env *tool.Env) error {
	enc := text.Detect(data, true)
	if enc.Name == "binary" {
		_, why := text.Binary(data)
		return binaryError(meta, why)
	}
	decoded, _ := enc.Decode(data)
	meta.Encoding, meta.Newline = enc.Name, text.Newline(decoded)
	meta.Version, meta.TotalBytes = workspace.Version(data), int64(len(data))
	final := len(decoded) == 0 || bytes.HasSuffix(decoded, []byte("\n")) || meta.Newline == "cr" && bytes.HasSuffix(decoded, []byte("\r"))
	meta.FinalNewline = &final
	if isNotebook(meta.Path) && !r.Raw {
		if shown, err := r.notebook(decoded, meta, res, env); shown || err != nil {
			return err
		}
	}
	return r.show(ctx, decoded, meta, res, env)
}
