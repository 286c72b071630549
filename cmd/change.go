package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/edit"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/syntax"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// maxFile is the size in bytes beyond which a file is not changed in memory: 1 GiB.
const maxFile = 1 << 30

// maxDiff is the size in bytes of a diff beyond which only its beginning is
// returned: 32 KiB.
const maxDiff = 32 << 10

// resolveTarget resolves the path of a file that is to be written.
func resolveTarget(env *tool.Env, toolName, name string) (workspace.Path, policy.Access, error) {
	p, err := env.Workspace.Resolve(name)
	if err != nil {
		return p, policy.Access{}, err
	}
	if p.Type == policy.Dir {
		return p, policy.Access{}, tool.Errorf(tool.BadInput, "%s is a directory", shown(p)).WithHint("name a file in it")
	}
	op := policy.Change
	if !p.Exists {
		op = policy.Create
	}
	return p, p.Write(toolName, op), nil
}

// A fileChange replaces the content of one file. It holds the file's lock from
// begin to end.
type fileChange struct {
	env       *tool.Env
	path      workspace.Path
	ifVersion string
	lock      *workspace.Lock
	before    []byte // nil when the file did not exist
}

// begin locks and reads the file. A file that is not there is no error; a
// version other than the one asked for is.
func (c *fileChange) begin(ctx context.Context) error {
	lock, err := c.env.History.Lock(ctx, c.path)
	if err != nil {
		return err
	}
	c.lock = lock
	c.before, err = c.env.Workspace.ReadFile(c.path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.before, err = nil, nil
	case err == nil && c.before == nil:
		c.before = []byte{}
	}
	if err != nil {
		return err
	}
	if c.ifVersion == "" {
		return nil
	}
	have := ""
	if c.before != nil {
		have = workspace.Version(c.before)
	}
	if have != c.ifVersion {
		return c.conflict(have)
	}
	return nil
}

// conflict says that the file is not in the version the caller has seen, and
// what it is now.
func (c *fileChange) conflict(have string) error {
	if have == "" {
		return tool.Errorf(tool.Conflict, "%s does not exist any more", shown(c.path)).
			WithHint("look what happened to it before writing it anew").
			With(map[string]any{"version": "", "expected": c.ifVersion})
	}
	return tool.Errorf(tool.Conflict, "%s has changed since it was read: it is version %s, not %s", shown(c.path), have, c.ifVersion).
		WithHint("compare with content in details, or read the file again, and repeat the call with the new version").
		With(map[string]any{"version": have, "expected": c.ifVersion, "content": excerpt(c.before)})
}

// excerpt is the beginning of data that a message can hold, as whole lines.
func excerpt(data []byte) string {
	const most = 4 << 10
	if len(data) > most {
		data = data[:most]
		if i := bytes.LastIndexByte(data, '\n'); i > 0 {
			data = data[:i+1]
		}
	}
	return strings.ToValidUTF8(string(data), "\ufffd")
}

func (c *fileChange) end() { c.lock.Unlock() }

// A changeReport is what a changed file's metadata says, whichever tool
// changed it.
type changeReport struct {
	Path         string           `json:"path"`
	Created      bool             `json:"created"`
	Bytes        int64            `json:"bytes"`
	Lines        int              `json:"lines"`
	Added        int              `json:"added"`
	Removed      int              `json:"removed"`
	Diff         string           `json:"diff"`
	Version      string           `json:"version"`
	Mode         string           `json:"mode,omitempty"`
	SyntaxErrors []syntax.Problem `json:"syntax_errors"`
	Change       string           `json:"change,omitempty"` // what undo calls it; absent when nothing changed
	DryRun       bool             `json:"dry_run,omitempty"`
	InPlace      bool             `json:"in_place,omitempty"` // overwritten, because it has other names or cannot be replaced
	Lost         []string         `json:"lost,omitempty"`     // what could not be kept, such as the owner
}

// write makes after the content of the file, or only says what it would do.
func (c *fileChange) write(ctx context.Context, toolName string, after []byte, mode *fs.FileMode, dry bool) (changeReport, error) {
	r := changeReport{
		Path: shown(c.path), Created: c.before == nil, Bytes: int64(len(after)), Lines: lineCount(after),
		Version: workspace.Version(after), SyntaxErrors: syntax.New(c.path.Real, c.before, after), DryRun: dry,
	}
	if r.SyntaxErrors == nil {
		r.SyntaxErrors = []syntax.Problem{}
	}
	r.Diff, r.Added, r.Removed = c.diff(after)
	if dry {
		return r, nil
	}
	one := change.Change{Op: change.Create, Path: c.path, Data: after, Mode: mode}
	if c.before != nil {
		one.Op, one.Version = change.Replace, workspace.Version(c.before)
	}
	set := change.One(toolName, one)
	set.Title, set.Lock = toolName+" of "+r.Path, c.lock
	record, err := c.env.History.Commit(ctx, set)
	if err != nil {
		return r, err
	}
	r.Change = record.ID
	if len(record.Files) > 0 {
		done := record.Files[len(record.Files)-1].Result
		r.InPlace, r.Lost = done.InPlace, done.Lost
		if done.Mode != 0 {
			r.Mode = fmt.Sprintf("%04o", done.Mode.Perm())
		}
	}
	return r, nil
}

// diff is the unified diff of the change and the number of lines that came and
// went.
func (c *fileChange) diff(after []byte) (text string, added, removed int) {
	name := filepath.ToSlash(shown(c.path))
	from, to := "a/"+name, "b/"+name
	if c.before == nil {
		from = "/dev/null"
	}
	return diffOf(from, to, c.before, after)
}

// diffOf is a unified diff, cut where it is long, and how many lines it adds
// and removes.
func diffOf(from, to string, before, after []byte) (text string, added, removed int) {
	text = edit.Diff(from, to, before, after, 3)
	for i, line := range strings.Split(text, "\n") {
		switch {
		case i < 2: // the names
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	if len(text) <= maxDiff {
		return text, added, removed
	}
	cut := strings.LastIndexByte(text[:maxDiff], '\n') + 1
	return text[:cut] + fmt.Sprintf("… %d more lines of diff\n", strings.Count(text[cut:], "\n")), added, removed
}

func lineCount(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// headline says what was done to the file, or in a dry run what would be.
func (r *changeReport) headline(did, would string) string {
	if r.DryRun {
		did = "Would " + would
	}
	return did + " " + r.Path
}

// output is what the model is told about a change.
func (r *changeReport) output(headline string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, +%d -%d\n", headline, count(int64(r.Lines), "line"), r.Added, r.Removed)
	for _, p := range r.SyntaxErrors {
		fmt.Fprintf(&b, "syntax error in line %d: %s\n    %s\n", p.Line, p.Message, p.Text)
	}
	return b.String()
}

// pretty is output with the diff below it in colour.
func (r *changeReport) pretty(output string) func(func(tool.Style, string) string) string {
	return inColour(output, r.Diff)
}

// inColour is a text with a diff below it in colour.
func inColour(output, diff string) func(func(tool.Style, string) string) string {
	return func(paint func(tool.Style, string) string) string {
		var b strings.Builder
		b.WriteString(output)
		for line := range strings.Lines(diff) {
			style := tool.Plain
			switch {
			case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "@@"):
				style = tool.Faint
			case strings.HasPrefix(line, "+"):
				style = tool.Added
			case strings.HasPrefix(line, "-"):
				style = tool.Removed
			}
			text := strings.TrimSuffix(line, "\n")
			b.WriteString(paint(style, text) + line[len(text):])
		}
		return b.String()
	}
}

// An editPlace is a part of a file that comes near what was asked for.
type editPlace struct {
	Lines      [2]int  `json:"lines"`
	Text       string  `json:"text"`
	Similarity float64 `json:"similarity"`
	Difference string  `json:"first_difference,omitempty"`
}

func places(list []edit.Place) []editPlace {
	out := []editPlace{}
	for _, p := range list {
		out = append(out, editPlace{p.Lines, p.Text, p.Similarity, p.FirstDifference})
	}
	return out
}
