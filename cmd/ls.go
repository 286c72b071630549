package cmd

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/rg"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

//go:embed ls.md
var lsDoc string

var lsTool = &tool.Tool{
	Name:     "ls",
	Summary:  "list a directory and what lies below it",
	Doc:      &lsDoc,
	New:      func() tool.Call { return &lsCall{Path: ".", Depth: 2, Offset: 1, Limit: 200, Hidden: true} },
	ReadOnly: true,
}

type lsCall struct {
	Path          string
	Depth         int
	Offset, Limit int
	Hidden        bool
	Ignore        bool
	Long          bool

	dir workspace.Path
}

// Params implements tool.Call.
func (l *lsCall) Params(p *param.Set) {
	p.Path(&l.Path, "path", param.Directory, "the directory, or a file").Arg().Alias("dir", "directory", "dir_path", "file_path", "filePath")
	p.Int(&l.Depth, "depth", "how many levels").Between(1, 100).Alias("max_depth")
	p.Int(&l.Offset, "offset", "the first entry to show, counting from 1").Between(1, 1<<31)
	p.Int(&l.Limit, "limit", "most entries to show").Between(1, 100_000)
	p.Bool(&l.Hidden, "hidden", "show names that begin with a dot").Alias("all")
	p.Bool(&l.Ignore, "ignore", "leave out what .gitignore and .ignore exclude").Alias("gitignore")
	p.Bool(&l.Long, "long", "show mode, size, time and the target of links").Letter("l")
}

// Needs implements tool.Call.
func (l *lsCall) Needs(_ context.Context, env *tool.Env) ([]policy.Access, error) {
	dir, err := env.Workspace.Resolve(l.Path)
	l.dir = dir
	return []policy.Access{dir.Read("ls")}, err
}

type lsMeta struct {
	Path      string    `json:"path"`
	Entries   []lsEntry `json:"entries"`
	Total     int       `json:"total"`
	Files     int       `json:"files"`
	Dirs      int       `json:"directories"`
	Truncated bool      `json:"truncated"`
	Next      int       `json:"next_offset,omitempty"`
	Skipped   []skipped `json:"skipped"`
}

type lsEntry struct {
	Name   string     `json:"name"` // relative to the directory that is listed
	Type   string     `json:"type"` // file, dir, symlink or other
	Size   int64      `json:"size"`
	Mode   string     `json:"mode"`
	Time   *time.Time `json:"modified"`
	Target string     `json:"target,omitempty"` // of a link
	depth  int
}

// Run implements tool.Call.
func (l *lsCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	if !l.dir.Exists {
		return nil, tool.Errorf(tool.NotFound, "%s does not exist", shown(l.dir)).
			Suggest(env.Workspace.Near(l.dir, 5)...).WithHint("check the path")
	}
	meta := &lsMeta{Path: shown(l.dir), Entries: []lsEntry{}, Skipped: []skipped{}}
	all, err := l.list(ctx, env, meta)
	if err != nil {
		return nil, err
	}
	meta.Total = len(all)
	for _, e := range all {
		switch e.Type {
		case "dir":
			meta.Dirs++
		case "file":
			meta.Files++
		}
	}
	if l.Offset > 1 && l.Offset > meta.Total {
		return nil, tool.Errorf(tool.BadInput, "offset %d is behind the last of %d entries", l.Offset, meta.Total).WithHint("use an offset from 1 to %d", max(meta.Total, 1))
	}
	page := all[l.Offset-1 : min(meta.Total, l.Offset-1+l.Limit)]
	meta.Entries = append(meta.Entries, page...)
	if end := l.Offset - 1 + len(page); end < meta.Total {
		meta.Truncated, meta.Next = true, end+1
	}
	out := l.render(meta)
	title := fmt.Sprintf("%s in %s", count(int64(meta.Total), "entry"), meta.Path)
	return &tool.Result{Title: title, Output: out, Metadata: meta}, nil
}

// list collects the entries breadth first: by level, then by the path of the
// directory, then by name.
func (l *lsCall) list(ctx context.Context, env *tool.Env, meta *lsMeta) ([]lsEntry, error) {
	if l.dir.Type != policy.Dir {
		e, err := l.entry(env, path.Base(l.dir.Real), l.dir, l.dir.Info)
		return []lsEntry{e}, err
	}
	ignored, err := l.ignored(ctx, env)
	if err != nil {
		return nil, err
	}
	var all []lsEntry
	level := []string{""}
	for depth := 1; depth <= l.Depth && len(level) > 0; depth++ {
		var next []string
		for _, dir := range level {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			entries, err := l.read(env, dir)
			if err != nil {
				if dir == "" {
					return nil, err
				}
				meta.Skipped = append(meta.Skipped, skipped{dir, reason(err)})
				continue
			}
			for _, e := range entries {
				e.depth = depth
				if !l.Hidden && strings.HasPrefix(path.Base(e.Name), ".") || ignored(e) {
					continue
				}
				all = append(all, e)
				if e.Type == "dir" {
					next = append(next, e.Name)
				}
			}
		}
		level = next
	}
	return all, nil
}

// ignored returns what tells the entries that ignore files exclude. Git's rule
// needs the whole way from the repository's root, so a walk that knows them is
// asked first.
func (l *lsCall) ignored(ctx context.Context, env *tool.Env) (func(lsEntry) bool, error) {
	if !l.Ignore {
		return func(lsEntry) bool { return false }, nil
	}
	kept := map[string]bool{}
	o := rg.WalkOptions{Root: l.dir.Real, Hidden: true, Links: true, Dirs: true, GlobalIgnore: rg.GlobalIgnoreFile(env.Getenv), MaxEntries: 1 << 20}
	if _, err := rg.Walk(ctx, nil, o, func(e rg.Entry) error {
		kept[e.Path] = true
		return nil
	}); err != nil {
		return nil, err
	}
	return func(e lsEntry) bool { return e.Type != "other" && !kept[e.Name] }, nil
}

// read lists one directory, named relative to the one that is listed. The
// policy decides about each by itself, for below the root there may be what
// nobody may look into.
func (l *lsCall) read(env *tool.Env, dir string) ([]lsEntry, error) {
	at := l.dir
	if dir != "" {
		var err error
		if at, err = env.Workspace.ResolveIn(l.dir.Real, dir); err != nil {
			return nil, err
		}
		if err := env.May(at.Read("ls")); err != nil {
			return nil, err
		}
	}
	list, err := env.Workspace.ReadDir(at)
	if err != nil {
		return nil, err
	}
	entries := make([]lsEntry, 0, len(list))
	for _, d := range list {
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has just gone
		}
		if err != nil {
			return nil, err
		}
		e, err := l.entry(env, path.Join(dir, d.Name()), at, info)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b lsEntry) int { return cmp.Compare(a.Name, b.Name) })
	return entries, nil
}

func (l *lsCall) entry(env *tool.Env, name string, dir workspace.Path, info fs.FileInfo) (lsEntry, error) {
	modified := info.ModTime().UTC()
	e := lsEntry{Name: name, Type: "other", Size: info.Size(), Mode: info.Mode().String(), Time: &modified}
	switch {
	case info.Mode().IsRegular():
		e.Type = "file"
	case info.IsDir():
		e.Type = "dir"
	case info.Mode()&fs.ModeSymlink != 0:
		e.Type = "symlink"
		target, err := env.Workspace.Readlink(dir, path.Base(name))
		if err != nil {
			return e, err
		}
		e.Target = target
	}
	return e, nil
}

// render prints the entries as an indented tree, level after level.
func (l *lsCall) render(meta *lsMeta) string {
	var b strings.Builder
	for _, e := range meta.Entries {
		if l.Long {
			fmt.Fprintf(&b, "%s %10d %s ", e.Mode, e.Size, e.Time.Format("2006-01-02 15:04"))
		}
		b.WriteString(visibleName(e.Name))
		switch e.Type {
		case "dir":
			b.WriteByte('/')
		case "symlink":
			b.WriteByte('@')
			if l.Long {
				b.WriteString(" -> " + visibleName(e.Target))
			}
		case "other":
			b.WriteByte('?')
		}
		b.WriteByte('\n')
	}
	if meta.Total == 0 {
		b.WriteString("empty directory\n")
	}
	for _, s := range meta.Skipped {
		fmt.Fprintf(&b, "not listed: %s (%s)\n", visibleName(s.Path), s.Reason)
	}
	if meta.Truncated {
		fmt.Fprintf(&b, "entries %d-%d of %d; go on with offset=%d\n", l.Offset, meta.Next-1, meta.Total, meta.Next)
	}
	return b.String()
}
