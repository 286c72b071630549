package files

import (
	"context"
	_ "embed"
	"io/fs"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

//go:embed write.md
var writeDoc string

// Write replaces a file.
var Write = tool.Tool{
	Name:       "write",
	Summary:    "create a file or replace its whole content",
	Doc:        &writeDoc,
	New:        func() tool.Call { return new(writeCall) },
	Idempotent: true,

	Others: []string{"writefile", "create", "createfile", "writetofile", "save", "savefile", "tee"},

	Examples: []string{
		"agentkit write notes.txt 'remember the milk'",
		"git diff | agentkit write change.diff -",
	},

	Metadata: (*changeReport)(nil),
	Details:  []tool.Details{gateDetails{}},
}

type writeCall struct {
	Path       string
	Content    string
	Mode       string
	IfVersion  string
	CreateOnly bool
	Gate       bool
	DryRun     bool

	afterwards

	path workspace.Path
	mode *fs.FileMode
}

// Params implements tool.Call.
func (w *writeCall) Params(p *param.Set) {
	p.Path(&w.Path, "path", param.File, "the file").Required().Arg().Alias("file_path", "filePath", "filename", "file", "target_file", "absolute_path")
	p.String(&w.Content, "content", "its whole new content").Required().Arg().FromStdin().Alias("text", "file_text", "contents")
	p.String(&w.IfVersion, "if_version", "only if the file still has this version").Alias("ifVersion", "version").Rare()
	p.Bool(&w.CreateOnly, "create_only", "write only when the file does not exist").Alias("createOnly").Rare()
	p.String(&w.Mode, "mode", "permission bits in octal, such as 755").Shown("what it has; 644 for a new file").Rare()
	p.Bool(&w.Gate, "gate", "refuse what brings new syntax errors").Rare()
	w.params(p)
	p.Bool(&w.DryRun, "dry_run", "only show the difference").Alias("dryRun").Rare()
}

// Needs implements tool.Call.
func (w *writeCall) Needs(ctx context.Context, env *tool.Env) ([]policy.Access, error) {
	if w.Mode != "" {
		bits, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(w.Mode), "0o"), 8, 32)
		if err != nil || bits > 0o777 {
			return nil, tool.Errorf(tool.BadInput, "mode: want permission bits in octal, from 0 to 777, got %q", w.Mode).
				WithHint("use 644 for a file, 755 for a program")
		}
		mode := fs.FileMode(bits)
		w.mode = &mode
	}
	path, need, err := resolveTarget(env, "write", w.Path)
	if w.path = path; err != nil {
		return nil, err
	}
	return policy.Append([]policy.Access{need}, w.needs(ctx, env, []workspace.Path{path})...), nil
}

// Describe implements tool.Describer: what the file is before it is replaced, and
// what it becomes. Where what it is may not be read, only the new content is shown.
func (w *writeCall) Describe(ctx context.Context, env *tool.Env) map[string]any {
	dry := *w
	dry.DryRun = true
	about := foreseen(ctx, env, []workspace.Path{w.path}, dry.run)
	about["file_path"], about["exists"], about["size_bytes"], about["line_count"] = w.path.Real, w.path.Exists, 0, 0
	if data, err := env.Workspace.ReadFile(w.path, maxFile); err == nil {
		about["size_bytes"], about["line_count"] = len(data), lineCount(data)
	}
	about["new_size_bytes"], about["new_line_count"] = len(w.Content), lineCount([]byte(w.Content))
	if about["diff"] == nil {
		about["new_content"] = bounded(env, strings.ToValidUTF8(w.Content[:min(len(w.Content), 4*maxForeseen)], ""))
	}
	return about
}

// Run implements tool.Call.
func (w *writeCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	r, err := again(ctx, env, w.run)
	if err == nil && w.Diagnose && !w.DryRun {
		w.tell(ctx, env, "write", r)
	}
	return r, err
}

func (w *writeCall) run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	c := &fileChange{path: w.path, ifVersion: w.IfVersion, streams: true, mode: w.mode, after: []byte(w.Content)}
	s := &changeSet{env: env, tool: "write", files: []*fileChange{c}, gate: w.Gate, dry: w.DryRun}
	defer s.end()
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	if c.info != nil {
		if err := c.identify(env.Workspace); err != nil {
			return nil, err
		}
	}
	if w.CreateOnly && c.version != "" {
		return nil, tool.Errorf(tool.Conflict, "%s exists already", tool.Shown(w.path)).WithHint("leave {.create_only} out to replace it, or choose another name")
	}
	if err := s.commit(ctx); err != nil {
		return nil, err
	}
	c.report.setEncoding(c.before, c.after)
	title := c.report.headline("Updated", "update")
	if c.report.Created {
		title = c.report.headline("Created", "create")
	}
	out := c.report.output(title)
	return &tool.Result{Title: title, Output: out, Metadata: c.report, Pretty: c.report.pretty(out)}, nil
}
