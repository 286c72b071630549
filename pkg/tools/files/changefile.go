package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/edit"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/syntax"
	"github.com/agentkit-go/agentkit/pkg/text"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// maxFile is the size in bytes beyond which a file is not changed in memory: 1 GiB.
const maxFile = 1 << 30

// resolveTarget resolves the path of a file that is to be written.
func resolveTarget(env *tool.Env, toolName, name string) (workspace.Path, policy.Access, error) {
	p, err := env.Workspace.Resolve(name)
	if err != nil {
		return p, policy.Access{}, err
	}
	if p.Type == policy.Dir {
		return p, policy.Access{}, tool.Errorf(tool.BadInput, "%s is a directory", tool.Shown(p)).WithHint("name a file in it")
	}
	op := policy.Change
	if !p.Exists {
		op = policy.Create
	}
	return p, p.Write(toolName, op), nil
}

// A fileChange is what one file of a set is and is to become.
type fileChange struct {
	path      workspace.Path
	ifVersion string
	closed    string      // why what the file holds is not to be shown: whoever calls may write it, not read it; "" where they may
	streams   bool        // a large file may stay on the disk
	info      fs.FileInfo // of a large file that did; nil otherwise
	before    []byte      // nil when the file did not exist, or stays on the disk
	version   string      // of the file before; "" when it did not exist
	after     []byte
	source    func() (io.ReadCloser, error) // gives what the file is to hold where after would be too large
	mode      *fs.FileMode                  // nil keeps it
	report    changeReport
}

// unreadable is why what a file holds is not to be shown by a tool that changes it;
// "" where the caller may read it. A policy that keeps a file from being read
// keeps it from being read by way of a change, too.
func unreadable(env *tool.Env, toolName string, p workspace.Path) string {
	if !p.Exists {
		return ""
	}
	a := p.Read(toolName)
	if d := env.Policy.Decide(&a); d.Verdict != policy.Allow {
		return "reading it is not allowed: " + d.Why
	}
	return ""
}

// read gets the file into memory, unless it is large and may stay on the disk.
func (c *fileChange) read(w *workspace.Workspace) (err error) {
	info, err := w.Stat(c.path)
	if err == nil && c.large(info) {
		return nil
	}
	c.before, err = w.ReadFile(c.path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.before, err = nil, nil
	case err == nil && c.before == nil:
		c.before = []byte{}
	}
	if err != nil {
		return err
	}
	if c.before != nil {
		c.version = workspace.Version(c.before)
	}
	return c.expected()
}

// expected is the error when the file is in another version than the caller
// has seen.
func (c *fileChange) expected() error {
	if c.ifVersion == "" || c.ifVersion == c.version {
		return nil
	}
	if c.version == "" {
		return tool.Errorf(tool.Conflict, "%s does not exist any more", tool.Shown(c.path)).
			WithHint("look what happened to it before writing it anew").
			With(tool.VersionDetails{Expected: c.ifVersion})
	}
	details := tool.VersionDetails{Version: c.version, Expected: c.ifVersion}
	hint, now := "compare with what it holds now, or read the file again, and repeat the call with the new version", ""
	if c.closed == "" {
		content := excerpt(readable(c.before))
		details.Content = &content
		now = "it holds now:\n" + content
	} else {
		hint = "what it holds is not shown, for " + c.closed + "; ask for the file with {read}"
	}
	return tool.Errorf(tool.Conflict, "%s has changed since it was read: it is version %s, not %s", tool.Shown(c.path), c.version, c.ifVersion).
		Next(hint).With(details).Show(now)
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

// done adds to the report what only writing shows.
func (c *fileChange) done(record change.Record) {
	c.report.Change = record.ID
	for _, f := range record.Files {
		if f.Path != c.path.Real {
			continue
		}
		if c.source != nil {
			c.report.Version = f.After.Version()
		}
		c.report.InPlace, c.report.Lost = f.Result.InPlace, f.Result.Lost
		if f.Result.Mode != 0 {
			c.report.Mode = fmt.Sprintf("%04o", f.Result.Mode.Perm())
		}
	}
}

// encodeFile turns a changed content back into the file's bytes.
func encodeFile(path workspace.Path, enc text.Encoding, content []byte) ([]byte, error) {
	data, err := enc.Encode(content)
	if lost, ok := errors.AsType[*text.EncodeError](err); ok {
		return nil, tool.Errorf(tool.Unsupported, "%s is in %s, which has no %q", tool.Shown(path), lost.Encoding, lost.Rune).
			WithHint("use characters that the encoding has, or convert the file to UTF-8 first")
	}
	return data, err
}

// largeFile is the size in bytes from which a file is not held in memory to be
// changed: 64 MiB. Only text to the letter is found in it then.
const largeFile = 64 << 20

// large reports whether the file is to stay on the disk, and notes what it is.
func (c *fileChange) large(info fs.FileInfo) bool {
	if !c.streams || !info.Mode().IsRegular() || info.Size() < largeFile {
		return false
	}
	c.info = info
	return true
}

// identify finds the version of a large file that gets another content.
func (c *fileChange) identify(w *workspace.Workspace) error {
	file, err := w.OpenFile(c.path)
	if err != nil {
		return err
	}
	defer file.Close()
	if c.version, err = workspace.VersionOf(file); err != nil {
		return err
	}
	return c.expected()
}

// compare fills in the report of a file that is in memory.
func (c *fileChange) compare(ctx context.Context, dry bool, room *diffRoom) {
	before, after := readable(c.before), readable(c.after)
	if c.before == nil {
		before = nil
	}
	c.report = changeReport{
		Path: tool.Shown(c.path), Created: c.version == "", Bytes: int64(len(c.after)), Lines: lineCount(after),
		Version: workspace.Version(c.after), DryRun: dry,
		SyntaxErrors: append([]syntax.Problem{}, syntax.NewContext(ctx, c.path.Real, before, after)...),
	}
	from, to := c.diffNames()
	if c.info != nil {
		c.report.Diff = fmt.Sprintf("--- %s\n+++ %s\n… the old content, %d MiB, is too large to be compared\n", from, to, c.info.Size()>>20)
		return
	}
	c.report.setDiff(room.take(edit.DiffLimit(from, to, before, after, 3, int(*room))))
}

// diffNames are what a diff calls the file before and after.
func (c *fileChange) diffNames() (from, to string) {
	name := filepath.ToSlash(tool.Shown(c.path))
	if c.version == "" {
		return "/dev/null", "b/" + name
	}
	return "a/" + name, "b/" + name
}
