package programs

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/gitsettings"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// gitEffects lists what a subcommand writes and reaches besides.
func (c *Call) gitEffects(g *gitCommand, cfg repository) {
	write := func(name string) {
		c.Shell.File(File{Effect: Write, Word: Word{Text: name}, Source: "git " + g.name})
	}
	class := c.Shell.Class()
	switch outside := cfg.linked && !safefile.Below(c.Shell.Root(), cfg.index); {
	case g.does&gitIndex == 0 || cfg.top == "":
	case outside && cfg.top == c.Shell.Root(): // the root is a worktree or a submodule, and git works where it keeps what belongs to that
	case cfg.linked && cfg.index != "": // .git is a file there
		write(cfg.index)
	default:
		write(cfg.top + "/.git/index")
	}
	first := func(i int) string {
		if i < len(c.Args) {
			return c.Args[i].Text
		}
		return ""
	}
	switch g.name {
	case "init":
		dir := cmp.Or(first(0), ".")
		git := strings.TrimSuffix(dir, "/") + "/.git"
		switch at, lost := c.Shell.Dirs(); {
		case c.has("bare") && !c.Shell.Exists(dir):
			write(strings.TrimSuffix(dir, "/") + "/HEAD")
		case c.has("bare"), lost != "", len(at) == 0:
			write(git)
		default:
			for _, from := range at {
				there, name := c.Shell.ResolveIn(from, git), git
				if len(at) > 1 {
					name = there.Path
				}
				if there.Type == Missing && c.Shell.Writable(there.Path) {
					name += "/HEAD" // a new repository, which has nothing yet that could run
				}
				write(name)
			}
		}
	case "mv":
		c.gitMove(cfg, write)
	case "clone":
		c.gitClone()
	case "config":
		c.gitConfig(cfg)
	case "submodule":
		if first(0) == "foreach" {
			c.opaque("git submodule foreach runs a command")
			c.joined(c.Args[1:])
		}
		if first(0) == "add" || first(0) == "set-url" || first(0) == "set-branch" {
			write(".gitmodules")
		}
		if len(c.Args) > 0 && first(0) != "status" && first(0) != "summary" {
			c.opaque("what a submodule brings is not known")
			if first(0) == "add" && !c.has("N", "no-fetch") {
				c.Shell.Net(Net{Source: "git submodule", Opaque: unknownHosts})
			}
			c.gitSubmodules(cfg)
		}
	case "bisect":
		if first(0) == "run" {
			c.start(c.Args[1:])
		}
	case "filter-branch", "difftool":
		for i, x := range c.Words {
			if (x.Text == "-x" || strings.HasSuffix(x.Text, "-filter") || x.Text == "--extcmd") && i+1 < len(c.Words) {
				c.Shell.Text(c.Words[i+1])
			}
		}
	case "stash":
		if first(0) == "push" || slices.ContainsFunc(c.Words, func(x Word) bool { return x.Text == "--" }) {
			for i, x := range c.Args { // they become what HEAD has; all that is here as without a path
				if x.Text != "--" && x.Text != "." && (i > 0 || x.Text != "push") {
					c.does(WriteTree, x)
				}
			}
		}
	case "sparse-checkout":
		if first(0) != "list" && first(0) != "check-rules" {
			c.Shell.File(File{Effect: Write, Word: Word{Text: cmp.Or(cfg.top, ".")}, Source: "git sparse-checkout", Why: "the patterns decide which files are taken away"})
			write(cmp.Or(cfg.top, ".") + "/.git/config.worktree")
		}
	case "worktree":
		switch {
		case first(0) == "add" && len(c.Args) > 1:
			c.does(Create, c.Args[1])
		case first(0) == "move" && len(c.Args) > 2:
			c.does(DeleteTree, c.Args[1])
			c.does(Create, c.Args[2])
			if dir := c.linkedTo(c.Args[1]); dir != "" { // where git notes the new place
				write(dir + "/gitdir")
			}
		case first(0) == "repair":
			write(cmp.Or(cfg.top, ".") + "/.git/worktrees/any/gitdir")
		case first(0) == "remove" && len(c.Args) > 1:
			c.does(DeleteTree, c.Args[1])
		}
	case "rm":
		c.gitRemoves(cfg)
		if !c.on("n", "cached") && slices.ContainsFunc(c.Args, func(x Word) bool { return len(c.submodulesIn(cfg, x)) > 0 }) {
			write(cfg.top + "/.gitmodules") // which loses the submodule's part
		}
	case "format-patch":
		if v, ok := c.optionValue("suffix"); ok && (v.Dynamic || strings.Contains(v.Text, "/")) {
			c.opaque("the names of the patches lead elsewhere")
		} else if dir, ok := c.optionValue("output-directory"); !c.on("stdout") && !dir.Dynamic {
			if !ok {
				dir = Word{Text: "."}
			}
			c.numbered(dir.Text, digitFirst+"*")
		}
	case "apply", "am":
		c.gitPatch(cfg.top)
	case "remote":
		c.gitRemotes()
	case "bundle":
		if first(0) == "create" && len(c.Args) > 1 {
			c.does(Write, c.Args[1])
		}
	}
	if g.does&gitListing != 0 {
		c.gitListing(g)
	} else if g.name == "config" || class == ReadOnly {
		return
	}
	if g.does&gitNet != 0 && g.name != "clone" && !(g.name == "ls-remote" && c.on("get-url")) {
		c.publishes = Has("push send-pack http-push", g.name) && !c.on("dry-run")
		c.gitRemote(cfg)
	}
}

// gitMove lists what git mv takes away, reads by its new name, and writes: the files of a
// directory that is moved are found from the write of the target itself.
func (c *Call) gitMove(cfg repository, write func(name string)) {
	sources, target, into := c.sourcesAndTarget()
	tree := false
	one := len(c.Args) == 2 && !target.Multi && !c.has("f", "force") // it overwrites nothing: a word that is not known would be the only option, with one operand
	for _, s := range sources {
		if one && s.Dynamic && !s.Multi && (s.Under == "" || s.Listed != nil || s.Loop) { // what is moved is not gone, as of mv
			any := s
			any.Under = ""
			c.file(Write, any)
			c.file(Read, s)
			continue
		}
		gone, effect := Delete, Read
		if !s.Dynamic && slices.ContainsFunc(c.Shell.Resolve(s.Text), func(p Path) bool { return p.Type == Dir }) {
			gone, effect, tree = DeleteTree, ReadTree, true
		}
		c.does(gone, s)
		c.file(effect, s)
		for _, dir := range c.submodulesIn(cfg, s) { // git notes the new place of each
			write(cfg.top + "/.gitmodules")
			if dir != "" {
				write(dir + "/config")
			}
		}
	}
	c.written(sources, target, into, false)
	if tree {
		c.file(Write, target)
	}
}

// submodulesIn lists the directories where git keeps the submodules that are at a word, or below it; "" for one that
// is not checked out.
func (c *Call) submodulesIn(cfg repository, x Word) (dirs []string) {
	if cfg.top == "" || x.Dynamic || !c.there(cfg.top, ".gitmodules") {
		return nil
	}
	names, _ := c.gitlinks(cfg)
	for _, p := range c.Shell.Resolve(x.Text) {
		for _, name := range names {
			if at := cfg.top + "/" + name; p.Type == Dir && safefile.Below(p.Path, at) {
				dirs = append(dirs, c.linkOf(at+"/.git"))
			}
		}
	}
	return dirs
}

// linkedTo is the directory that the .git file of a worktree or submodule leads to; "" for any other word.
func (c *Call) linkedTo(x Word) string {
	if x.Dynamic {
		return ""
	}
	for _, p := range c.Shell.Resolve(x.Text) {
		if dir := c.linkOf(p.Path + "/.git"); dir != "" {
			return dir
		}
	}
	return ""
}

// gitRemotes judges git remote: an address may name a program that is the
// transport, and some of its subcommands reach the remotes.
func (c *Call) gitRemotes() {
	if _, lost := c.Shell.Dirs(); len(c.Args) == 0 || lost != "" {
		return
	}
	switch c.Args[0].Text {
	case "add", "set-url", "rename", "rm", "remove":
		c.Memo.clones = nil
		if x := c.Args[len(c.Args)-1]; x.Dynamic || strings.Contains(x.Text, "::") || strings.HasPrefix(x.Text, "-") {
			c.opaque("a transport that runs a program")
		}
	case "update", "prune":
		c.Shell.Net(Net{Source: "git remote", Opaque: "the host of the remote is not known"})
	}
}

// gitListing takes a subcommand as read-only where it only lists.
func (c *Call) gitListing(g *gitCommand) {
	var words []string
	switch g.name {
	case "stash":
		words = []string{"list", "show"}
	case "remote":
		words = []string{"show", "get-url"}
	case "reflog":
		words = []string{"show", "exists"}
	case "notes":
		words = []string{"list", "show"}
	case "worktree", "sparse-checkout":
		words = []string{"list"}
	case "submodule":
		words = []string{"status", "summary"}
	}
	reads := false
	switch g.name {
	case "branch":
		reads = !c.has("d", "D", "m", "M", "c", "C", "t", "no-track", "set-upstream", "u", "unset-upstream", "edit-description", "f", "create-reflog") &&
			(len(c.Args) == 0 || c.on("list", "contains", "no-contains", "merged", "no-merged", "points-at"))
	case "tag":
		reads = !c.has("a", "s", "u", "f", "d", "m", "F", "e", "v", "create-reflog") && (len(c.Args) == 0 || c.on("list", "contains", "no-contains", "merged", "no-merged", "points-at", "n"))
		if c.has("a", "annotate") && !c.has("m", "F") {
			c.opaque("git tag asks for the message in an editor")
		}
	case "clean":
		reads = c.on("n") && !c.has("i")
	case "apply":
		reads = c.on("stat", "numstat", "summary", "check") && !c.has("apply", "reject", "index", "cached", "3way", "3", "build-fake-ancestor")
	case "symbolic-ref":
		reads = len(c.Args) == 1 && !c.Args[0].Multi && !c.has("d", "delete")
	case "stash":
		reads = len(c.Args) > 0 && slices.Contains(words, c.Args[0].Text)
	case "worktree":
		reads = len(c.Args) == 1 && slices.Contains(words, c.Args[0].Text)
	default:
		reads = len(c.Args) == 0 || slices.Contains(words, c.Args[0].Text)
		if g.name == "remote" && len(c.Args) > 1 && c.Args[0].Text == "show" && !c.has("n") {
			c.Shell.Net(Net{Source: "git remote show", Opaque: "the host of the remote is not known"})
		}
	}
	if reads && c.Shell.Class() != Unknown || reads && g.class == Unknown {
		c.Shell.SetClass(ReadOnly)
	}
}

// gitClone lists what clone reads, reaches and writes.
func (c *Call) gitClone() {
	if len(c.Args) == 0 {
		return
	}
	src := c.Args[0]
	c.gitURL(src)
	if len(c.Args) > 1 {
		c.does(Create, c.Args[1])
		c.cloned(src, c.Args[1])
		return
	}
	name := strings.TrimSuffix(strings.TrimSuffix(src.Text, "/"), ".git")
	if i := strings.LastIndexAny(name, "/:"); i >= 0 {
		name = name[i+1:]
	}
	if !src.Dynamic && name != "" && name != "." {
		c.does(Create, Word{Text: name})
		c.cloned(src, Word{Text: name})
	}
}

// cloned notes that a clone of a path of this machine has that for its origin.
func (c *Call) cloned(src, to Word) {
	if src.Dynamic || to.Dynamic || !local(src.Text) || c.has("o", "origin") || c.has("c", "config") {
		return
	}
	from, dir := c.Shell.Resolve(strings.TrimPrefix(src.Text, "file://")), c.Shell.Resolve(to.Text)
	if len(from) == 1 && len(dir) == 1 && from[0].Type == Dir && dir[0].Type == Missing {
		c.Memo.clones = append(c.Memo.clones, clone{dir[0].Path, from[0].Path})
	}
}

// cloneOf is the directory that the one git is in is a clone of, made by the same text; "" for none.
func (c *Call) cloneOf() string {
	dirs, lost := c.Shell.Dirs()
	if len(dirs) != 1 || lost != "" {
		return ""
	}
	for i := range slices.Backward(c.Memo.clones) {
		if made := &c.Memo.clones[i]; safefile.Below(made.dir, dirs[0]) {
			return made.of
		}
	}
	return ""
}

// gitURL lists the host or directory of a remote.
func (c *Call) gitURL(x Word) {
	s := x.Text
	local := ReadTree
	if c.publishes {
		local = WriteTree
	}
	a := Net{Source: s, URL: s, Publishes: c.publishes}
	switch {
	case x.Dynamic:
		a.Opaque = "the host is not known before it runs"
	case strings.Contains(s, "::"):
		c.opaque("a transport that runs a program")
		if cmd, ok := strings.CutPrefix(s, "ext::"); ok {
			c.commandText(Word{Text: cmd})
		}
		return
	case strings.Contains(s, "://"):
		u, err := url.Parse(s)
		if err != nil {
			a.Opaque = "the address is not understood"
			break
		}
		if u.Scheme == "file" {
			c.does(local, Word{Text: u.Path})
			return
		}
		a.Scheme, a.Host = u.Scheme, u.Hostname()
		a.Port, _ = strconv.Atoi(u.Port())
		_, rest, _ := strings.Cut(s, "://")
		if place, _, _ := strings.Cut(rest, "/"); !strings.HasPrefix(u.Scheme, "http") && strings.ContainsAny(place, "%?#") { // git looks for the host once it has decoded all, and up to a slash
			a.Host, a.Opaque = "", "the address is not understood"
		}
	default:
		host, ok := hostOf(s)
		if !ok {
			c.does(local, x)
			return
		}
		a.Scheme, a.URL = "ssh", ""
		a.Host = host[strings.LastIndexByte(host, '@')+1:]
	}
	if strings.HasPrefix(a.Host, "-") {
		c.opaque("an address that becomes an option")
	}
	c.Shell.Net(a)
}

// gitRemote lists the hosts that push, pull and fetch reach.
func (c *Call) gitRemote(cfg repository) {
	name := Word{Text: "origin"}
	every := !c.publishes && c.has("all", "multiple")
	if len(c.Args) > 0 && !every {
		name = c.Args[0]
	}
	if !name.Dynamic && name.Text == "." { // the repository itself
		return
	}
	if of := c.cloneOf(); of != "" && !name.Dynamic && name.Text == "origin" {
		if of != c.Shell.Root() { // as for ., git writes where it keeps what is the root's own
			c.gitURL(Word{Text: of})
		}
		return
	}
	some := slices.ContainsFunc(cfg.remotes, func(r gitRemote) bool { return r.name == name.Text })
	every = every || len(c.Args) == 0 && !some
	found := false
	for _, r := range cfg.remotes {
		if !name.Dynamic && (every || r.name == name.Text) {
			c.gitURL(Word{Text: r.url})
			found = true
		}
	}
	switch {
	case found:
	case !name.Dynamic && strings.ContainsAny(name.Text, ":/"):
		c.gitURL(name)
	case !name.Dynamic && !every && len(c.Args) > 0:
		c.Shell.Net(Net{Source: "git", Opaque: "no remote called " + name.Text + " is known here", Publishes: c.publishes})
	default:
		c.Shell.Net(Net{Source: "git", Opaque: "the host of the remote is not known", Publishes: c.publishes})
	}
}

// gitConfig judges git config: reading is harmless, setting may plant what
// later commands run.
func (c *Call) gitConfig(cfg repository) {
	reads, writes, unsets, odd, worktree := false, false, false, false, false
	file := ".git/config"
	sub := ""
	args := c.Words[slices.IndexFunc(c.Words, func(x Word) bool { return x.Text == "config" })+1:]
	var rest []Word
	for i := 0; i < len(args); i++ {
		t := args[i].Text
		switch {
		case args[i].Dynamic:
			writes, odd = true, true
			rest = append(rest, args[i])
		case t == "--global":
			file = "~/.gitconfig"
		case t == "--system":
			file = "/etc/gitconfig"
		case t == "-f" || t == "--file":
			if i++; i < len(args) {
				file = args[i].Text
			}
		case strings.HasPrefix(t, "--file="):
			file = t[len("--file="):]
		case t == "--get" || t == "--get-all" || t == "--get-regexp" || t == "--list" || t == "-l" || t == "--get-urlmatch" || t == "--get-color" || t == "--get-colorbool":
			reads = true
		case t == "--worktree":
			worktree = true
		case t == "--show-origin" || t == "--show-scope" || t == "-z" || t == "--name-only" || t == "--local" || t == "--includes" || strings.HasPrefix(t, "--type") || t == "--bool" || t == "--int" || t == "--path":
		case t == "--default":
			i++
		case t == "--add" || t == "--replace-all" || t == "--all":
			writes = true
		case t == "--unset" || t == "--unset-all":
			writes, unsets = true, true
		case strings.HasPrefix(t, "-"):
			writes, odd = true, true
		case sub == "" && len(rest) == 0 && (t == "get" || t == "list"):
			sub, reads = t, true
		case sub == "" && len(rest) == 0 && (t == "set" || t == "unset" || t == "edit" || t == "rename-section" || t == "remove-section"):
			sub, writes, unsets, odd = t, true, t == "unset", odd || t != "set" && t != "unset"
		default:
			rest = append(rest, args[i])
		}
	}
	if !writes && (reads || len(rest) == 1) {
		if file == ".git/config" || file == "~/.gitconfig" || file == "/etc/gitconfig" {
			c.Shell.SetClass(ReadOnly)
			return
		}
		c.does(Read, Word{Text: file})
		return
	}
	if file == ".git/config" && !worktree && (!odd && freeSetting(rest, unsets) || c.settingStands(cfg, args)) {
		enclosed := cfg.linked && cfg.top == c.Shell.Root() // the root is a worktree or a submodule: its settings are those
		if dirs, _ := c.Shell.Dirs(); len(dirs) == 1 && cfg.config != "" && !enclosed {
			file = cfg.config
		}
		c.Shell.SetClass(Known)
		c.Shell.File(File{Effect: Settings, Word: Word{Text: file}, Source: "git config"})
		return
	}
	to := Word{Text: file}
	if h, ok := strings.CutPrefix(file, "~"); ok {
		if to.Text = c.Shell.HomeVariable() + h; to.Text == h {
			to = Word{Text: file, Dynamic: true}
		}
	}
	c.does(Write, to)
	if worktree { // where the repository has such a file, and else in the other
		c.does(Write, Word{Text: ".git/config.worktree"})
	}
	c.Memo.repos, c.Memo.clones = nil, nil
	for i, x := range rest {
		if i == 0 && !x.Dynamic && harmlessSetting(x.Text) && !capableSetting(x.Text, "x") && len(rest) == 2 && !rest[1].Dynamic {
			c.Shell.SetClass(Known)
			return
		}
	}
	c.opaque("a setting that later commands heed")
	c.Shell.Unsettle("a setting of git was changed")
}

// settingStands reports whether the words of git config give a setting the value that it has: as a
// script of npm's does that sets core.hooksPath at each install. The file itself must hold it, once, and written so that
// git would write the same. What the file includes counts for nothing, since git would not write there; an option may
// mean another file or line, and a variable another repository.
func (c *Call) settingStands(cfg repository, args []Word) bool {
	if c.Shell.Dirty() || c.has("c") {
		return false
	}
	for _, name := range [...]string{"GIT_CONFIG", "GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE"} {
		if _, set := c.Shell.Getenv(name); set || c.Shell.Sets(name) {
			return false
		}
	}
	before := c.Words[1 : len(c.Words)-len(args)-1]
	if len(before) > 0 && (len(before) != 2 || before[0].Text != "-C") {
		return false
	}
	if len(args) > 0 && args[0].Text == "--local" {
		args = args[1:]
	}
	if len(args) > 0 && args[0].Text == "set" {
		args = args[1:]
	}
	dirs, lost := c.Shell.Dirs()
	if len(args) != 2 || args[0].Dynamic || args[1].Dynamic || strings.HasPrefix(args[0].Text, "-") || strings.HasPrefix(args[1].Text, "-") || len(dirs) != 1 || lost != "" {
		return false
	}
	file := cfg.config
	if !c.Shell.Sees() { // as the program starts, where only these are read
		file = c.settingsFile(dirs[0])
	}
	b, err := c.Shell.Peek(file)
	return err == nil && holdsSetting(string(b), args[0].Text, args[1].Text)
}

// freeSetting reports whether the words of git config give a setting a value, or take it
// away, and git runs nothing for that.
func freeSetting(words []Word, unsets bool) bool {
	switch {
	case unsets:
		return len(words) == 1 && gitsettings.Known(words[0].Text)
	case len(words) == 2:
		return gitsettings.Free(words[0].Text, words[1].Text)
	}
	return false
}
