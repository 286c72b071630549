package programs

import (
	"cmp"
	"encoding/hex"
	"errors"
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

// gitUnnamed lists the guarded files that a subcommand may print, or tell of, though it is
// not given their names: those that the repository tracks, as far as a
// pathspec does not leave them out. What only the history holds is not seen.
func (c *Call) gitUnnamed(g *gitCommand, args []Word, cfg repository) {
	if cfg.top == "" || cfg.index == "" {
		return
	}
	prints, tells := gitPrints(c, g), gitTells(c, g)
	objects := objectNames(args)
	if !prints && !tells && len(objects) == 0 {
		return
	}
	guarded := func(name string) bool { return c.Shell.Secret(name) } // what a commit holds of the rest is not known here
	if Has("grep archive", g.name) {
		guarded = func(name string) bool { return c.Shell.Guarded(cfg.top, name) }
	}
	tracked, err := c.guardedFiles(cfg, guarded)
	switch {
	case err == nil:
	case tells && !prints:
		c.Shell.File(File{Effect: ReadTree, Word: Word{Text: cfg.top}, Source: gitAdd})
		return
	case errors.Is(err, errIndex):
		c.Shell.Whole(err.Error())
	case !prints:
		return
	default: // too large, say: whatever the tree holds
		c.Shell.File(File{Effect: ReadTree, Word: Word{Text: cfg.top}, Source: "git " + g.name})
		return
	}
	var keep, drop []string
	if prints || tells {
		keep, drop = c.gitPathspecs(g, args, cfg.top)
		c.gitUntracked(g, keep, cfg.top)
	}
	listed := 0
	var rest []string
	for _, f := range tracked {
		named := slices.ContainsFunc(objects, func(o string) bool { return strings.HasPrefix(f.hash, o) })
		meant := (prints || tells) && inPathspec(keep, f.name, cfg.top, true) && !inPathspec(drop, f.name, cfg.top, false)
		switch {
		case (named || meant && prints) && listed < maxTracked:
			c.Shell.File(File{Effect: Read, Word: Word{Text: cfg.top + "/" + f.name}, Source: "git " + g.name})
			listed++
		case named, meant:
			rest = append(rest, f.name)
		}
	}
	c.readsOf(cfg.top, rest, "git "+g.name)
}

// readsOf lists that some files of a work tree are read, each of which the sandbox may hide.
func (c *Call) readsOf(top string, names []string, source string) {
	if len(names) == 0 {
		return
	}
	dirs, lost := c.Shell.Dirs()
	if lost == "" && len(dirs) == 1 && safefile.Below(c.Shell.Root(), top) {
		some := &Listing{Dir: dirs[0], Files: names}
		c.Shell.File(File{Effect: ReadTree, Word: Word{Dynamic: true, Under: top, Listed: some}, Source: source})
		return
	}
	for _, name := range names {
		c.Shell.File(File{Effect: Read, Word: Word{Text: top + "/" + name}, Source: source})
	}
}

// gitUntracked lists the trees of whose files the index does not know yet, but
// which a subcommand that prints shows: those that it searches, and those that
// were added before in the same text.
func (c *Call) gitUntracked(g *gitCommand, keep []string, top string) {
	trees, source := c.Memo.added, "git "+g.name
	if g.name == "grep" && c.has("untracked") {
		if trees = keep; len(trees) == 0 {
			trees = []string{"."}
		} else if slices.ContainsFunc(keep, func(s string) bool { return strings.ContainsAny(s, `*?[\`) }) {
			trees = []string{top}
		}
		if !c.has("no-exclude-standard") { // as git add leaves out what is ignored
			source = gitAdd
		}
	}
	for _, t := range trees {
		c.Shell.File(File{Effect: ReadTree, Word: Word{Text: t}, Source: source})
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

// gitAdd is the source of what becomes part of the index, but for what is ignored or unchanged.
const gitAdd = "git add"

// gitAdds notes what becomes part of the index: what a file holds is read, and
// what a tree holds is shown by whatever prints it later.
func (c *Call) gitAdds(g *gitCommand, args []Word, cfg repository) {
	switch {
	case g.name == "commit" && (c.on("a") || c.has("include", "pathspec-from-file") || len(c.Args) > 0):
		c.gitUpdates(g, args, cfg)
		return
	case g.name == "add" && c.on("u") && !c.on("n"):
		c.gitUpdates(g, args, cfg)
		return
	case g.name != "add" && g.name != "update-index" || c.on("n", "u", "refresh", "really-refresh"):
		return
	}
	trees := false
	adds := func(dir string) {
		trees = true
		c.Memo.added = append(c.Memo.added, dir)
		c.Shell.File(File{Effect: ReadTree, Word: Word{Text: dir}, Source: gitAdd})
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
	if trees && g.name == "add" {
		c.gitUpdates(g, args, cfg) // also what is ignored
	}
}

// gitUpdates lists the guarded files that the repository tracks, whose changes git commit -a and
// the like take.
func (c *Call) gitUpdates(g *gitCommand, args []Word, cfg repository) {
	if cfg.top == "" || cfg.index == "" {
		return
	}
	tracked, err := c.guardedFiles(cfg, func(name string) bool { return c.Shell.Guarded(cfg.top, name) })
	if err != nil {
		c.Shell.File(File{Effect: ReadTree, Word: Word{Text: cfg.top}, Source: gitAdd})
		return
	}
	var keep, drop []string
	if len(tracked) > 0 && !c.has("pathspec-from-file") {
		keep, drop = c.gitPathspecs(g, args, cfg.top)
	}
	var names []string
	for _, f := range tracked {
		if inPathspec(keep, f.name, cfg.top, true) && !inPathspec(drop, f.name, cfg.top, false) {
			names = append(names, f.name)
		}
	}
	c.readsOf(cfg.top, names, gitAdd)
}

var errIndex = errors.New("the index of the repository cannot be read")

// guardedFiles are the tracked files that a policy may not let be read. There are none where the
// repository has no index.
func (c *Call) guardedFiles(cfg repository, guarded func(name string) bool) (out []trackedFile, err error) {
	index, err := c.Shell.ReadFile(cfg.index)
	if err != nil {
		if c.Shell.ResolveIn("/", cfg.index).Type == Missing {
			err = nil
		}
		return nil, err
	}
	ok := readIndex(index, func(name string, e gitindex.Entry) bool {
		if guarded(name) {
			out = append(out, trackedFile{name, hex.EncodeToString(e.Hash)})
		}
		return c.Shell.Spend(1)
	})
	if !ok {
		return out, errIndex
	}
	return out, nil
}

// readIndex calls each with the entries of a git index with SHA-1 until it returns false. It
// reports whether these are all that is tracked.
func readIndex(b []byte, each func(name string, e gitindex.Entry) bool) bool {
	return gitindex.Read(b, gitindex.SHA1, func(e gitindex.Entry) bool { return each(string(e.Name), e) })
}

// gitPrints reports whether a subcommand prints what files hold, unasked for
// by name.
func gitPrints(c *Call, g *gitCommand) bool {
	patch := c.has("p", "patch", "U", "W", "function-context", "word-diff", "word-diff-regex", "color-words", "patch-with-raw", "patch-with-stat", "binary", "c", "cc", "m", "dd", "remerge-diff", "check")
	switch g.name {
	case "grep":
		return !c.has(gitNamesOnly...) || c.has("cached")
	case "status":
		return c.on("verbose") || c.has("vv")
	case "commit": // what it would print into the message, where it commits nothing
		times := 0
		for _, o := range c.Given {
			if hasName(o.Names, "verbose") {
				times++
			}
		}
		return times > 1 || times > 0 && c.has("dry-run", "short", "porcelain", "long", "null")
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
		return patch || !gitSummary(c) || gitAsks(c) && c.has("cached", "staged")
	case "diff-files", "diff-index":
		return patch || gitAsks(c) && c.has("cached")
	case "log", "whatchanged", "reflog", "diff-tree":
		return patch
	case "stash":
		return patch && len(c.Args) > 0 && c.Args[0].Text == "show"
	}
	return false
}

// gitNamesOnly are the options of git grep that have it tell which files hold something.
var gitNamesOnly = []string{"l", "L", "c", "q", "name-only"}

// gitTells reports whether a subcommand that prints nothing of what the files of the work tree hold
// answers a question about that.
func gitTells(c *Call, g *gitCommand) bool {
	return g.name == "grep" || Has("diff diff-files diff-index", g.name) && gitAsks(c)
}

// gitAsks reports whether what is shown hangs on what the lines that differ hold.
func gitAsks(c *Call) bool { return c.has("S", "G", "I") }

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
// and those that leave something out. There are none where one of them is not understood.
func (c *Call) gitPathspecs(g *gitCommand, args []Word, top string) (keep, drop []string) {
	dashes := slices.IndexFunc(args, func(x Word) bool { return x.Text == "--" && !x.Dynamic })
	specs, all := c.Args, false
	if dashes >= 0 {
		specs = args[dashes+1:]
	} else if g.name == "grep" && !c.has("e", "f") && len(specs) > 0 {
		specs = specs[1:]
	}
	for _, x := range specs {
		s, out, known := pathspec(x.Text, top)
		pattern := strings.ContainsAny(s, `*?[\`)
		switch {
		case x.Dynamic:
			return nil, nil
		case !known:
			all = all || !out
			continue
		case !out && dashes < 0 && !c.Shell.Exists(s): // a revision, or nothing
			all = all || pattern || s != x.Text || Has("add commit", g.name)
			continue
		case out && (strings.ContainsAny(s, `[\`) || strings.Count(s, "*") > 2): // what it leaves out is not sure
			continue
		}
		if !pattern {
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
	if all {
		keep = nil
	}
	return keep, drop
}

// pathspec takes the magic off a pathspec (gitglossary(7)); out says that it leaves something out.
func pathspec(s, top string) (path string, out, known bool) {
	if rest, ok := strings.CutPrefix(s, ":("); ok {
		magic, after, closed := strings.Cut(rest, ")")
		s, known = after, closed
		for word := range strings.SplitSeq(magic, ",") {
			switch word {
			case "exclude":
				out = true
			case "top":
				s = fromTop(s, top)
			case "", "glob":
			default:
				known = false
			}
		}
		return s, out, known
	}
	if rest, ok := strings.CutPrefix(s, ":"); ok {
		s = strings.TrimLeft(rest, "/!^")
		signs := rest[:len(rest)-len(s)]
		if s = strings.TrimPrefix(s, ":"); strings.Contains(signs, "/") {
			s = fromTop(s, top)
		}
		return s, strings.ContainsAny(signs, "!^"), signs != ""
	}
	return s, false, true
}

// inPathspec reports whether a tracked file is meant by one of the pathspecs;
// none is what none of them says.
func inPathspec(specs []string, name, top string, none bool) bool {
	for _, s := range specs {
		if safefile.Below(s, top+"/"+name) || strings.ContainsAny(s, "*?[") && (wildcard(s, name, 64) || none && wildcard("*"+s, top+"/"+name, 64) || wildcard(s, name[strings.LastIndexByte(name, '/')+1:], 64)) {
			return true
		}
	}
	return none && len(specs) == 0
}
