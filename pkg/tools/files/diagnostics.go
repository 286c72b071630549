package files

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/syntax"
	"github.com/agentkit-go/agentkit/pkg/text"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

//go:embed diagnostics.md
var diagnosticsDoc string

// Diagnostics tells what is wrong with files.
var Diagnostics = tool.Tool{
	Name:       "diagnostics",
	Summary:    "tell the errors in source files",
	Doc:        &diagnosticsDoc,
	New:        func() tool.Call { return &diagnosticsCall{Source: "auto", TimeoutMS: 30_000} },
	Idempotent: true,

	Others: []string{"lint", "check", "problems", "getdiagnostics", "readlints", "lspdiagnostics", "geterrors"},

	Examples: []string{
		"agentkit diagnostics main.go",
		"agentkit diagnostics a.py b.py --source syntax",
	},

	Metadata: (*diagnosticsMeta)(nil),
}

// maxDiagnosed bounds the files of a call.
const maxDiagnosed = 200

type diagnosticsCall struct {
	Paths     []string
	Source    string
	TimeoutMS int

	files  []workspace.Path
	ask    []*asked
	silent []string // why a server is not asked
}

// Params implements tool.Call.
func (d *diagnosticsCall) Params(p *param.Set) {
	p.Paths(&d.Paths, "path", param.File, "the files").Required().Arg().Alias("paths", "file_path", "filePath", "file", "files")
	p.String(&d.Source, "source", "who is asked").OneOf("syntax", "lsp", "auto").Rare()
	p.Millis(&d.TimeoutMS, "timeout_ms", "time limit of a server").Between(1, 600_000).Alias("timeout").Unlisted()
}

// Needs implements tool.Call.
func (d *diagnosticsCall) Needs(ctx context.Context, env *tool.Env) ([]policy.Access, error) {
	if len(d.Paths) > maxDiagnosed {
		return nil, tool.Errorf(tool.BadInput, "path: want at most %d files, got %d", maxDiagnosed, len(d.Paths)).WithHint("make several calls")
	}
	var needs []policy.Access
	for _, name := range d.Paths {
		p, err := env.Workspace.Resolve(name)
		if err != nil {
			return nil, err
		}
		if p.Type == policy.Dir {
			return nil, tool.Errorf(tool.BadInput, "%s is a directory", tool.Shown(p)).WithHint("name files; {glob} lists them")
		}
		d.files, needs = append(d.files, p), append(needs, p.Read("diagnostics"))
	}
	if d.Source == "syntax" {
		return needs, nil
	}
	var err error
	if d.ask, d.silent, err = servers(ctx, env, d.files, d.Source == "lsp"); err != nil {
		return nil, err
	}
	for _, a := range d.ask {
		needs = policy.Append(needs, a.needs...)
	}
	return needs, nil
}

// Run implements tool.Call.
func (d *diagnosticsCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	meta := &diagnosticsMeta{Diagnostics: []diagnostic{}, Servers: []string{}, Unasked: d.silent}
	var unread []string
	parsed := 0                       // files that were read for syntax errors only
	said := map[string][]diagnostic{} // by the real path of each file that a server has spoken of
	for _, a := range d.ask {
		found, late, err := a.diagnose(ctx, env, "diagnostics", d.TimeoutMS)
		switch {
		case err != nil && (d.Source == "lsp" || ctx.Err() != nil):
			return nil, err
		case err != nil:
			meta.Unasked = append(meta.Unasked, tool.AsError(err).Message)
			continue
		case len(late) > 0 && d.Source == "lsp":
			return nil, a.late(d.TimeoutMS)
		case len(late) > 0:
			meta.Unasked = append(meta.Unasked, fmt.Sprintf("%s has not answered within %d ms", a.Name, d.TimeoutMS))
		}
		meta.Servers = append(meta.Servers, a.Name)
		for _, f := range a.files {
			if !slices.Contains(late, f.Real) {
				said[f.Real] = found[f.Real]
			}
		}
	}
	for _, f := range d.files {
		if !f.Exists {
			return nil, env.Missing(f, "check the path")
		}
		list, ok := said[f.Real]
		if !ok {
			var why string
			var err error
			parsed++
			if list, why, err = checkFile(ctx, env, f); err != nil {
				return nil, err
			}
			if why != "" {
				meta.Unchecked, unread = append(meta.Unchecked, tool.Shown(f)), append(unread, why)
			}
		}
		for _, one := range list {
			meta.add(one)
		}
	}
	return meta.result(unread, parsed), nil
}

// unchecked says why a file is not read for syntax errors, from how it begins and its size; "" where it may be.
// What another encoding makes larger than the text in it is known only when it is read.
func unchecked(env *tool.Env, f workspace.Path) (why string, err error) {
	file, err := env.Workspace.OpenFile(f)
	if err != nil {
		return "", err
	}
	defer file.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	size, begin := info.Size(), readable(head[:n])
	if enc := text.Detect(head[:n], false); !enc.ASCII() && syntax.Unread(f.Real, begin, size/4) == "" {
		return "", nil
	}
	return syntax.Unread(f.Real, begin, size), nil
}

// checkFile reads a file for syntax errors, or says why it does not.
func checkFile(ctx context.Context, env *tool.Env, f workspace.Path) (list []diagnostic, why string, err error) {
	why, err = unchecked(env, f)
	if err != nil || why != "" {
		return nil, why, err
	}
	data, err := env.Workspace.ReadFile(f, maxFile)
	if err != nil {
		return nil, "", err
	}
	found, why := syntax.CheckContext(ctx, f.Real, readable(data))
	for _, p := range found {
		list = append(list, diagnostic{Path: tool.Shown(f), Line: p.Line, Column: p.Column, Severity: "error", Message: p.Message, Source: "syntax"})
	}
	return list, why, nil
}

// result tells what was found, and why each of the files that were not checked was not.
// Of files of which no server has spoken nobody says more than that their syntax is right.
func (m *diagnosticsMeta) result(unread []string, parsed int) *tool.Result {
	nothing := "nothing is wrong"
	switch {
	case len(m.Servers) == 0:
		nothing = "no syntax errors"
	case parsed > 0:
		nothing = "no errors found"
	}
	var b strings.Builder
	for i := range m.Diagnostics {
		b.WriteString(m.Diagnostics[i].line())
	}
	if more := m.Total - len(m.Diagnostics); more > 0 {
		fmt.Fprintf(&b, "… and %d more\n", more)
	}
	if m.Total == 0 && len(m.Unchecked) == 0 {
		b.WriteString(nothing + "\n")
	}
	for i, f := range m.Unchecked {
		fmt.Fprintf(&b, "%s was not checked: %s\n", f, unread[i])
	}
	for _, why := range m.Unasked {
		fmt.Fprintf(&b, "syntax only: %s\n", why)
	}
	title := tool.Count(int64(m.Errors), "error") + ", " + tool.Count(int64(m.Warnings), "warning")
	if len(m.Servers) == 0 {
		title += " (syntax only)"
	}
	return &tool.Result{Title: title, Output: b.String(), Metadata: m, No: m.Errors > 0}
}
