package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/syntax"
	"github.com/agentkit-go/agentkit/pkg/text"
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
		return p, policy.Access{}, tool.Errorf(tool.BadInput, "%s is a directory", tool.Shown(p)).WithHint("name a file in it")
	}
	op := policy.Change
	if !p.Exists {
		op = policy.Create
	}
	return p, p.Write(toolName, op), nil
}

// A changeSet changes files all or none, whichever tool asks for it. It holds
// their locks from begin to end.
type changeSet struct {
	env   *tool.Env
	tool  string
	files []*fileChange
	gate  bool // refuse what brings new syntax errors
	dry   bool
	lock  *workspace.Lock
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

// begin locks all files and reads them, but for large ones. A file that is not
// there is no error; a version other than the one asked for is.
func (s *changeSet) begin(ctx context.Context) error {
	var paths []workspace.Path
	for _, c := range s.files {
		paths = append(paths, c.path)
	}
	lock, err := s.env.History.Lock(ctx, paths...)
	if err != nil {
		return err
	}
	s.lock = lock
	for _, c := range s.files {
		c.closed = unreadable(s.env, s.tool, c.path)
		if err := c.read(s.env.Workspace); err != nil {
			return err
		}
	}
	return nil
}

func (s *changeSet) end() { s.lock.Unlock() }

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
			With(map[string]any{"version": "", "expected": c.ifVersion})
	}
	details := map[string]any{"version": c.version, "expected": c.ifVersion}
	hint := "compare with content in details, or read the file again, and repeat the call with the new version"
	if c.closed == "" {
		details["content"] = excerpt(readable(c.before))
	} else {
		hint = "what it holds is not shown, for " + c.closed + "; ask for the file with read"
	}
	return tool.Errorf(tool.Conflict, "%s has changed since it was read: it is version %s, not %s", tool.Shown(c.path), c.version, c.ifVersion).
		WithHint("%s", hint).With(details)
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

// commit makes the changes, or in a dry run only says what they would be.
func (s *changeSet) commit(ctx context.Context) error {
	set := change.Set{Tool: s.tool, Title: s.title(), Lock: s.lock}
	for _, c := range s.files {
		if c.source == nil {
			c.compare(ctx, s.dry)
		}
		c.report.conceal(c.closed)
		one := change.Change{Op: change.Create, Path: c.path, Data: c.after, Source: c.source, Mode: c.mode}
		if c.version != "" {
			one.Op, one.Version = change.Replace, c.version
		}
		set.Changes = append(set.Changes, one)
	}
	s.dangling()
	if s.gate {
		broken := map[string][]syntax.Problem{}
		for _, c := range s.files {
			broken[c.report.Path] = c.report.SyntaxErrors
		}
		if err := gateError(broken); err != nil {
			return err
		}
	}
	if s.dry {
		return nil
	}
	record, err := s.env.History.Commit(ctx, set)
	if err != nil {
		return commitError(err)
	}
	for _, c := range s.files {
		c.done(record)
	}
	return nil
}

func (s *changeSet) title() string {
	if len(s.files) == 1 {
		return s.tool + " of " + tool.Shown(s.files[0].path)
	}
	return s.tool + " of " + tool.Count(int64(len(s.files)), "file")
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

// recoverChanges takes back or finishes what killed calls have left half done
// in the workspace, in any session. With nothing to do it costs a look at one
// directory per session.
func recoverChanges(ctx context.Context, env *tool.Env) error {
	_, err := env.History.Recover(ctx)
	return commitError(err)
}

// commitError explains what the history says where the caller can do something
// about it.
func commitError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, change.ErrSource):
		return tool.Errorf(tool.Conflict, "%w", err).WithHint("someone else changes the file; read it again and decide anew")
	case errors.Is(err, change.ErrUnfinished):
		return tool.Errorf(tool.IO, "%w", err).WithHint("free some space on the disk; the next call that changes a file puts this one right")
	case errors.Is(err, change.ErrTwice):
		return tool.Errorf(tool.BadInput, "%w, under different names", err).WithHint("name every file once, by its own path and not by a link")
	}
	return err
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
