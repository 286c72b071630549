package programs

import (
	"cmp"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/gitindex"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A trackedFile is an entry of a repository's index.
type trackedFile struct {
	name string // relative to the top of the work tree
	hash string // of its content, in hex
}

// maxTracked is how many guarded files one command lists.
const maxTracked = 8

// maxRemoved is how many files that a pattern of git rm means are listed one by one.
const maxRemoved = 256

// gitUnnamed lists the guarded files that a subcommand may print though it is
// not given their names: those that the repository tracks, as far as a
// pathspec does not leave them out. What only the history holds is not seen.
func (c *Call) gitUnnamed(g *gitCommand, args []Word, cfg repository) {
	if cfg.top == "" || cfg.index == "" {
		return
	}
	prints := gitPrints(c, g)
	objects := objectNames(args)
	if !prints && len(objects) == 0 {
		return
	}
	data, err := c.Shell.ReadFile(cfg.index)
	if err != nil {
		if prints && c.Shell.ResolveIn("/", cfg.index).Type != Missing { // too large, say: whatever the tree holds
			c.Shell.File(File{Effect: ReadTree, Word: Word{Text: cfg.top}, Source: "git " + g.name})
		}
		return
	}
	var keep, drop []string
	if prints {
		keep, drop = c.gitPathspecs(g, args)
		c.gitUntracked(g, keep)
	}
	listed := 0
	guarded := func(name string) bool { return c.Shell.Secret(name) } // what a commit holds of the rest is not known here
	if Has("grep archive", g.name) {
		guarded = func(name string) bool { return c.Shell.Guarded(cfg.top, name) }
	}
	for _, f := range c.guardedFiles(data, guarded) {
		named := slices.ContainsFunc(objects, func(o string) bool { return strings.HasPrefix(f.hash, o) })
		if named || prints && inPathspec(keep, f.name, cfg.top, true) && !inPathspec(drop, f.name, cfg.top, false) {
			c.Shell.File(File{Effect: Read, Word: Word{Text: cfg.top + "/" + f.name}, Source: "git " + g.name})
			if listed++; listed == maxTracked {
				return
			}
		}
	}
}

// gitUntracked lists the trees of whose files the index does not know yet, but
// which a subcommand that prints shows: those that it searches, and those that
// were added before in the same text.
func (c *Call) gitUntracked(g *gitCommand, keep []string) {
	trees := c.Memo.added
	if g.name == "grep" && c.has("untracked") {
		if trees = keep; len(trees) == 0 {
			trees = []string{"."}
		}
	}
	for _, t := range trees {
		c.Shell.File(File{Effect: ReadTree, Word: Word{Text: t}, Source: "git " + g.name})
	}
}

// wholeIndex reports whether an operand of git rm is the directory that holds the repository,
// of which git removes what it tracks.
func (c *Call) wholeIndex(x Word) bool {
	dirs, lost := c.Shell.Dirs()
	if x.Dynamic || lost != "" || len(dirs) != 1 || path.Clean(x.Text) != "." {
		return false
	}
	cfg, unknown := c.repository(dirs[0])
	return unknown == "" && cfg.top == dirs[0]
}

// gitRemoves lists what git rm takes away where its operands are no plain names: git itself
// finds what a pattern or magic (gitglossary(7), "pathspec") stands for, in its index.
func (c *Call) gitRemoves(cfg repository) {
	var specs []string
	all := false
	for _, x := range c.Args {
		s := x.Text
		switch {
		case x.Dynamic:
			continue // the operand says so itself
		case c.wholeIndex(x):
			all = true
		case strings.HasPrefix(s, ":"):
			magic := ""
			if rest, ok := strings.CutPrefix(s, ":("); ok {
				magic, s, _ = strings.Cut(rest, ")")
			} else {
				s = strings.TrimLeft(s, ":/!^")
			}
			all = all || strings.HasPrefix(x.Text, ":!") || strings.HasPrefix(x.Text, ":^") || strings.Trim(strings.NewReplacer("top", "", "glob", "", "literal", "").Replace(magic), ",") != ""
		case !strings.ContainsAny(s, `*?[\`):
			continue
		}
		if s = strings.TrimPrefix(strings.ReplaceAll(s, `\`, "?"), "./"); s == "" || strings.Contains(s, "..") {
			all = true
		}
		specs = append(specs, s)
	}
	if c.has("pathspec-from-file") {
		all = true
	}
	if !all && len(specs) == 0 || c.on("cached", "n") {
		return
	}
	var names []string
	top := cmp.Or(cfg.top, ".")
	data, err := c.Shell.ReadFile(cfg.index)
	known := err == nil && readIndex(data, func(name string, _ gitindex.Entry) bool {
		if all || slices.ContainsFunc(specs, func(s string) bool { return wildcard("*"+s, name, 64) || wildcard("*"+s+"/*", name, 64) }) {
			names = append(names, name)
		}
		return c.Shell.Spend(1)
	})
	if !known || len(names) > maxRemoved {
		c.Shell.File(File{Effect: DeleteTree, Word: Word{Text: top}, Source: "git rm"})
		return
	}
	for _, name := range names {
		c.Shell.File(File{Effect: Delete, Word: Word{Text: top + "/" + name}, Source: "git rm"})
	}
}

// gitAdds notes what becomes part of the index: what a file holds is read, and
// what a tree holds is shown by whatever prints it later.
func (c *Call) gitAdds(g *gitCommand, cfg repository) {
	if g.name != "add" && g.name != "update-index" || c.on("n", "u", "refresh", "really-refresh") {
		return
	}
	adds := func(dir string) {
		c.Memo.added = append(c.Memo.added, dir)
		c.Shell.File(File{Effect: ReadTree, Word: Word{Text: dir}, Source: "git add"})
	}
	if c.has("all", "pathspec-from-file") {
		adds(cfg.top)
	}
	for _, x := range c.Args {
		found := c.Shell.Resolve(x.Text)
		switch {
		case !x.Dynamic && len(found) == 1 && found[0].Type == Regular:
			c.does(Read, x)
		case !x.Dynamic && len(found) == 1 && found[0].Type == Dir:
			adds(found[0].Path)
		default:
			adds(cfg.top)
		}
	}
}

// guardedFiles are the tracked files that a policy may not let be read.
func (c *Call) guardedFiles(index []byte, guarded func(name string) bool) []trackedFile {
	var out []trackedFile
	ok := readIndex(index, func(name string, e gitindex.Entry) bool {
		if guarded(name) {
			out = append(out, trackedFile{name, hex.EncodeToString(e.Hash)})
		}
		return c.Shell.Spend(1)
	})
	if !ok {
		c.Shell.Whole("the index of the repository cannot be read")
	}
	return out
}

// readIndex calls each with the entries of a git index with SHA-1 until it returns false. It
// reports whether these are all that is tracked.
func readIndex(b []byte, each func(name string, e gitindex.Entry) bool) bool {
	return gitindex.Read(b, gitindex.SHA1, func(e gitindex.Entry) bool { return each(string(e.Name), e) })
}

// gitPrints reports whether a subcommand prints what files hold, unasked for
// by name.
func gitPrints(c *Call, g *gitCommand) bool {
	patch := c.has("p", "patch", "U", "W", "function-context", "word-diff", "word-diff-regex", "color-words", "patch-with-raw", "patch-with-stat", "binary", "c", "cc", "m", "dd", "remerge-diff")
	switch g.name {
	case "grep":
		return !c.has("l", "L", "c", "q")
	case "archive":
		return !c.has("l")
	case "format-patch", "range-diff":
		return true
	case "show":
		objects := 0
		for _, x := range c.Args {
			if strings.Contains(x.Text, ":") {
				objects++
			}
		}
		return patch || !gitSummary(c) && (objects == 0 || objects < len(c.Args))
	case "diff":
		return patch || !gitSummary(c)
	case "log", "whatchanged", "reflog", "diff-tree", "diff-files", "diff-index":
		return patch
	case "stash":
		return patch && len(c.Args) > 0 && c.Args[0].Text == "show"
	}
	return false
}

// gitSummary reports whether options replace the patch by a summary.
func gitSummary(c *Call) bool {
	return c.has("s", "no-patch", "stat", "numstat", "shortstat", "name-only", "name-status", "summary", "dirstat", "raw", "compact-summary", "check", "quiet")
}

// objectNames are the words that may be the hash of an object.
func objectNames(args []Word) (out []string) {
	for _, x := range args[1:] {
		if s := strings.ToLower(x.Text); !x.Dynamic && len(s) >= 4 && len(s) <= 40 && strings.Trim(s, "0123456789abcdef") == "" {
			out = append(out, s)
		}
	}
	return out
}

// gitPathspecs gives the pathspecs of a call, absolute where they are plain,
// and those that leave something out.
func (c *Call) gitPathspecs(g *gitCommand, args []Word) (keep, drop []string) {
	dashes := slices.IndexFunc(args, func(x Word) bool { return x.Text == "--" && !x.Dynamic })
	specs := c.Args
	if dashes >= 0 {
		specs = args[dashes+1:]
	} else if g.name == "grep" && !c.has("e", "f") && len(specs) > 0 {
		specs = specs[1:]
	}
	for _, x := range specs {
		s, out := x.Text, false
		if rest, ok := strings.CutPrefix(s, ":("); ok {
			magic, after, _ := strings.Cut(rest, ")")
			s, out = after, strings.Contains(magic, "exclude")
		} else if strings.HasPrefix(s, ":!") || strings.HasPrefix(s, ":^") {
			s, out = s[2:], true
		}
		switch {
		case x.Dynamic:
			return nil, nil
		case !out && dashes < 0 && !c.Shell.Exists(s): // a revision, or nothing
			continue
		}
		if !strings.ContainsAny(s, "*?[") {
			if r := c.Shell.Resolve(s); len(r) == 1 {
				s = r[0].Path
			}
		}
		if out {
			drop = append(drop, s)
		} else {
			keep = append(keep, s)
		}
	}
	return keep, drop
}

// inPathspec reports whether a tracked file is meant by one of the pathspecs;
// none is what none of them says.
func inPathspec(specs []string, name, top string, none bool) bool {
	for _, s := range specs {
		if safefile.Below(s, top+"/"+name) || strings.ContainsAny(s, "*?[") && (wildcard(s, name, 64) || wildcard(s, name[strings.LastIndexByte(name, '/')+1:], 64)) {
			return true
		}
	}
	return none && len(specs) == 0
}
