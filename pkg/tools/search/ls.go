package search

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/rg"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/truncate"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

//go:embed ls.md
var lsDoc string

// Ls lists a directory.
var Ls = tool.Tool{
	Name:     "ls",
	Summary:  "list a directory and what lies below it",
	Doc:      &lsDoc,
	New:      func() tool.Call { return &lsCall{Path: ".", Depth: 2, Offset: 1, Limit: 200, Hidden: true} },
	Program:  true,
	ReadOnly: true,

	Others: []string{"list", "listdir", "listdirectory", "listfiles", "dir", "tree"},

	Examples: []string{
		"agentkit ls",
		"agentkit ls src --depth 3",
		"agentkit ls -l",
	},

	Metadata: (*lsMeta)(nil),
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
	p.Path(&l.Path, "path", param.Directory, "the directory, or a file").Arg().Alias("dir", "directory", "dir_path", "file_path", "filePath", "target_directory", "relative_workspace_path")
	p.Int(&l.Depth, "depth", "levels of the tree").Between(1, 100).Alias("max_depth")
	p.Int(&l.Offset, "offset", "the first entry to show, from 1").Between(1, 1<<31)
	p.Int(&l.Limit, "limit", "most entries to show").Between(1, 100_000).Rare()
	p.Bool(&l.Hidden, "hidden", "show names that begin with a dot").Alias("all").Rare()
	p.Bool(&l.Ignore, "ignore", "leave out what .gitignore excludes").Alias("gitignore").Rare()
	p.Bool(&l.Long, "long", "show mode, size, time and the target of links").Letter("l").Rare()
}

// Needs implements tool.Call.
func (l *lsCall) Needs(_ context.Context, env *tool.Env) ([]policy.Access, error) {
	dir, err := env.Workspace.Resolve(l.Path)
	l.dir = dir
	return []policy.Access{dir.Read("ls")}, err
}

type lsMeta struct {
	Path      string         `json:"path" doc:"what was listed"`
	Type      string         `json:"type,omitempty" doc:"file, where the path is no directory and so the one entry"`
	Entries   []lsEntry      `json:"entries" doc:"those that are shown"`
	Total     int            `json:"total" doc:"entries in all, shown or not"`
	Files     int            `json:"files" doc:"of these, files"`
	Dirs      int            `json:"directories" doc:"directories"`
	Links     int            `json:"links" doc:"symbolic links"`
	Others    int            `json:"others" doc:"devices, FIFOs, sockets"`
	Truncated bool           `json:"truncated" doc:"there are more entries"`
	Next      int            `json:"next_offset,omitempty" doc:"the offset to go on from"`
	Partial   string         `json:"partial,omitempty" doc:"why not all was looked at; the counts are then lower bounds"`
	Skipped   []tool.Skipped `json:"skipped" doc:"what was passed over, and why"`
	SkipCount int            `json:"skip_count" doc:"may be larger than the length of skipped"`
}

type lsEntry struct {
	Name    string     `json:"name" doc:"relative to the directory that is listed"`
	Type    string     `json:"type" doc:"file, dir, symlink or other"`
	Size    int64      `json:"size"`
	Mode    string     `json:"mode" doc:"as drwxr-xr-x"`
	Time    *time.Time `json:"modified,omitempty" doc:"absent when it has just gone"`
	Target  string     `json:"target,omitempty" doc:"of a link"`
	Entries *int       `json:"entries,omitempty" doc:"in a directory; absent where depth ends"`
	Closed  bool       `json:"closed,omitempty" doc:"a directory that is not looked into because of its name"`
}

// maxLsEntries bounds how many directory entries a call looks at.
const maxLsEntries = 1 << 20

// Run implements tool.Call.
func (l *lsCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	if !l.dir.Exists {
		return nil, env.Missing(l.dir, "check the path, or find it with {glob}")
	}
	meta := &lsMeta{Path: tool.Shown(l.dir), Entries: []lsEntry{}, Skipped: []tool.Skipped{}}
	if err := l.list(ctx, env, meta); err != nil {
		return nil, err
	}
	if l.Offset > 1 && l.Offset > meta.Total {
		return nil, tool.Errorf(tool.BadInput, "offset %d is behind the last of %d entries", l.Offset, meta.Total).WithHint("use an {.offset} from 1 to %d", max(meta.Total, 1))
	}
	output := l.fit(meta, env.Limits)
	title := fmt.Sprintf("%s in %s", tool.Count(int64(meta.Total), "entry"), meta.Path)
	return &tool.Result{Title: title, Output: output, Metadata: meta}, nil
}

// fit renders as many of the entries as the output holds, so that the offset
// goes on where it ends.
func (l *lsCall) fit(meta *lsMeta, limits truncate.Limits) string {
	bytes, lines := roomOf(limits)
	for {
		if end := l.Offset - 1 + len(meta.Entries); end < meta.Total {
			meta.Truncated, meta.Next = true, end+1
		}
		output, n := l.render(meta), len(meta.Entries)
		rows := strings.Count(output, "\n")
		if len(output) <= bytes && rows <= lines || n <= 1 {
			meta.Truncated = meta.Truncated || meta.Partial != ""
			return output
		}
		share := min(float64(bytes)/float64(len(output)), float64(lines)/float64(rows))
		meta.Entries = meta.Entries[:max(1, min(n-1, int(float64(n)*share*0.9)))]
	}
}

// closedNames are directories of which nobody wants to see all that they hold.
var closedNames = [...]string{
	".git", ".hg", ".svn", ".jj", "node_modules", "bower_components", "__pycache__", ".venv", "venv", ".tox",
	".mypy_cache", ".pytest_cache", ".ruff_cache", ".gradle", ".next", ".nuxt", ".terraform",
}

// list fills in the entries of the page and the counts of all. The policy
// decides about each directory by itself, for below the root there may be what
// nobody may look into.
func (l *lsCall) list(ctx context.Context, env *tool.Env, meta *lsMeta) error {
	if l.dir.Type != policy.Dir {
		meta.Type = "file"
		return l.single(env, meta)
	}
	res, err := rg.List(ctx, l.dir.Real, rg.ListOptions{
		Resolved: true, Depth: l.Depth, Offset: l.Offset - 1, Limit: l.Limit,
		Closed: func(name string) bool { return slices.Contains(closedNames[:], name) },
		Hidden: l.Hidden, Ignore: l.Ignore, GlobalIgnore: rg.GlobalIgnoreFile(env.Getenv), MaxEntries: maxLsEntries,
		Allow: func(dir string) bool {
			return env.May(policy.Access{Kind: policy.Read, Tool: "ls", Path: dir, File: policy.Dir}) == nil
		},
	})
	if err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	meta.Total, meta.Files, meta.Dirs, meta.Links, meta.Others, meta.Partial = res.Total, res.Files, res.Dirs, res.Links, res.Others, res.Partial
	meta.SkipCount = res.SkipCount
	meta.Skipped = skippedOf(res.Skipped, func(path string) string {
		return env.Policy.Decide(&policy.Access{Kind: policy.Read, Tool: "ls", Path: filepath.Join(l.dir.Real, filepath.FromSlash(path)), File: policy.Dir}).Why
	})
	for _, e := range res.Entries {
		meta.Entries = append(meta.Entries, lsEntryOf(e))
	}
	return nil
}

func lsEntryOf(e rg.ListEntry) lsEntry {
	out := lsEntry{Closed: e.Closed, Name: e.Path, Type: lsType(e.Mode), Size: e.Size, Mode: lsMode(e.Mode), Target: e.Target}
	if !e.Modified.IsZero() {
		modified := e.Modified.UTC()
		out.Time = &modified
	}
	if e.Entries >= 0 && e.Mode.IsDir() {
		out.Entries = &e.Entries
	}
	return out
}

func lsType(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "dir"
	case mode&fs.ModeSymlink != 0:
		return "symlink"
	}
	return "other"
}

// single lists what is no directory: itself.
func (l *lsCall) single(env *tool.Env, meta *lsMeta) error {
	info, err := env.Workspace.Stat(l.dir)
	if err != nil {
		return err
	}
	e := lsEntryOf(rg.ListEntry{Path: path.Base(filepath.ToSlash(l.dir.Real)), Mode: info.Mode(), Size: info.Size(), Modified: info.ModTime()})
	meta.Entries, meta.Total = append(meta.Entries, e), 1
	switch e.Type {
	case "file":
		meta.Files = 1
	default:
		meta.Others = 1
	}
	return nil
}

// lsColumns is how wide mode, size and time are.
const lsColumns = 39

// render prints the entries as a tree, each directory with its entries below
// it. Those directories that an earlier page has shown stand there again, as
// what they are, so that every entry has its place.
func (l *lsCall) render(meta *lsMeta) string {
	var b strings.Builder
	var open []string // the directories above the line last written, and itself
	for _, e := range asTree(meta.Entries) {
		parts := strings.Split(e.Name, "/")
		depth := len(parts) - 1
		same := 0
		for same < min(depth, len(open)) && open[same] == parts[same] {
			same++
		}
		for at := same; at < depth; at++ {
			if l.Long {
				b.WriteString(strings.Repeat(" ", lsColumns))
			}
			b.WriteString(strings.Repeat("  ", at) + tool.VisibleName(parts[at]) + "/ (listed before)\n")
		}
		open = parts
		l.renderEntry(&b, e, depth, parts[depth])
	}
	if meta.Total == 0 {
		b.WriteString("empty directory\n")
	}
	for _, s := range meta.Skipped[:min(len(meta.Skipped), 5)] {
		fmt.Fprintf(&b, "not listed: %s (%s)\n", tool.VisibleName(s.Path), s.Reason)
	}
	if meta.Truncated {
		fmt.Fprintf(&b, "entries %d-%d of %d; go on with offset=%d\n", l.Offset, meta.Next-1, meta.Total, meta.Next)
	}
	if meta.Partial != "" {
		fmt.Fprintf(&b, "only %d entries were looked at: there are more\n", maxLsEntries)
	}
	return b.String()
}

// asTree orders entries so that those of a directory follow it.
func asTree(entries []lsEntry) []lsEntry {
	if !slices.ContainsFunc(entries, func(e lsEntry) bool { return strings.Contains(e.Name, "/") }) {
		return entries
	}
	type keyed struct {
		key string // the name with the slash before all other bytes
		lsEntry
	}
	keys := make([]keyed, len(entries))
	for i, e := range entries {
		keys[i] = keyed{strings.ReplaceAll(e.Name, "/", "\x00"), e}
	}
	slices.SortFunc(keys, func(a, b keyed) int { return strings.Compare(a.key, b.key) })
	out := make([]lsEntry, len(keys))
	for i, k := range keys {
		out[i] = k.lsEntry
	}
	return out
}

func (l *lsCall) renderEntry(b *strings.Builder, e lsEntry, depth int, name string) {
	if l.Long {
		when := strings.Repeat(" ", len("2006-01-02 15:04"))
		if e.Time != nil {
			when = e.Time.Format("2006-01-02 15:04")
		}
		fmt.Fprintf(b, "%s %10d %s ", e.Mode, e.Size, when)
	}
	b.WriteString(strings.Repeat("  ", depth) + tool.VisibleName(name))
	switch e.Type {
	case "dir":
		b.WriteByte('/')
		if e.Closed {
			b.WriteString(" (not listed)")
		}
	case "symlink":
		b.WriteByte('@')
		if l.Long {
			b.WriteString(" -> " + tool.VisibleName(e.Target))
		}
	case "other":
		b.WriteByte('?')
	}
	b.WriteByte('\n')
}
