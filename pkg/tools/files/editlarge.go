package files

import (
	"errors"
	"io"
	"os"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/edit"
	"github.com/agentkit-go/agentkit/pkg/syntax"
	"github.com/agentkit-go/agentkit/pkg/text"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// planLarge is plan for a file that is not in memory: it is read through once
// to find the places, and again to write what it becomes.
func (f *editFile) planLarge(env *tool.Env, o edit.Options, dry bool) error {
	if slices.ContainsFunc(f.edits, func(i editItem) bool { return i.part() }) {
		return tool.Errorf(tool.TooLarge, "%s has %d MiB: from %d MiB on no symbols and cells are looked for", tool.Shown(f.path), f.info.Size()>>20, int64(largeFile)>>20).
			WithHint("give {.old_string} alone")
	}
	file, err := env.Workspace.OpenFile(f.path)
	if err != nil {
		return err
	}
	defer file.Close()
	if f.enc, err = largeEncoding(f, file); err != nil {
		return err
	}
	list := make([]edit.Edit, len(f.edits))
	for i, item := range f.edits {
		list[i] = edit.Edit{Old: item.Old, New: item.New, All: item.All, Line: item.Line}
	}
	scan := edit.NewScan(list, o)
	if f.version, err = workspace.VersionOf(io.TeeReader(file, scan)); err != nil {
		return err
	}
	if err := f.expected(); err != nil {
		return err
	}
	out, err := scan.Plan(file)
	if errors.Is(err, edit.ErrZero) {
		return tool.Errorf(tool.Binary, "%s is binary: it has zero bytes", tool.Shown(f.path)).WithHint("change it with a program that knows its format")
	}
	if err != nil {
		return f.refusal(err)
	}
	f.hits = out.Hits
	f.grow(out.Size - f.info.Size())
	f.source = func() (io.ReadCloser, error) {
		file, err := env.Workspace.OpenFile(f.path)
		if err != nil {
			return nil, err
		}
		return struct {
			io.Reader
			io.Closer
		}{out.Reader(file), file}, nil
	}
	return f.describe(out, file, dry)
}

// largeEncoding is the encoding of a large file. One in which the edits cannot
// be looked for as bytes is refused.
func largeEncoding(f *editFile, file *os.File) (text.Encoding, error) {
	sample := make([]byte, 1<<20)
	n, err := file.ReadAt(sample, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return text.Encoding{}, err
	}
	enc := text.Detect(sample[:n], false)
	switch enc.Name {
	case "utf-8", "utf-8-bom":
		return enc, nil
	case "binary":
		_, why := text.Binary(sample[:n])
		return enc, tool.Errorf(tool.Binary, "%s is binary: %s", tool.Shown(f.path), why).WithHint("change it with a program that knows its format")
	}
	bytewise := enc.ASCII() && !slices.Contains([]string{"shift_jis", "gbk", "gb18030", "big5"}, enc.Name)
	for _, item := range f.edits {
		if !bytewise || !plainASCII(item.Old) || !plainASCII(item.New) {
			return enc, tool.Errorf(tool.TooLarge, "%s has %d MiB in %s: from %d MiB on only ASCII text can be changed in files that are not UTF-8",
				tool.Shown(f.path), f.info.Size()>>20, enc.Name, int64(largeFile)>>20).
				WithHint("use a program such as sed or iconv")
		}
	}
	return enc, nil
}

func plainASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// describe fills in the report.
func (f *editFile) describe(out *edit.LargeOutcome, file io.ReaderAt, dry bool) (err error) {
	f.report = changeReport{Path: tool.Shown(f.path), Bytes: out.Size, Lines: out.Lines, DryRun: dry, SyntaxErrors: []syntax.Problem{}}
	from, to := f.diffNames()
	f.report.setDiff(out.Diff(from, to, 3, maxDiff))
	if dry {
		f.report.Version, err = workspace.VersionOf(out.Reader(file))
	}
	return err
}
