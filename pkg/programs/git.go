package programs

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// git reads git: its own options, the subcommand, and what the repository's
// settings make of it.
func (c *Call) git() {
	args := c.gitGlobals()
	if len(args) == 0 {
		if c.has("version") && len(c.Words) == 2 {
			c.Shell.SetClass(ReadOnly)
		}
		return
	}
	sub := args[0]
	if sub.Dynamic {
		c.opaque("the subcommand is not known before it runs")
		return
	}
	dirs, lost := c.Shell.Dirs()
	for _, d := range dirs {
		if _, unknown := c.repository(d); unknown != "" {
			c.opaque(unknown)
		}
	}
	if lost != "" {
		c.opaque(lost)
	}
	cfg := repository{}
	if len(dirs) > 0 {
		cfg, _ = c.repository(dirs[0])
	}
	if lost == "" && cfg.top != "" && !slices.ContainsFunc(dirs, func(d string) bool { return !c.isIn(d, cfg.top) }) {
		c.Shell.WorkTree(cfg.top)
	}
	if cfg.risk != "" {
		c.opaque("the repository's setting " + cfg.risk + " runs or loads something")
	} else if why := c.submodules(cfg, args, c.Shell.Depth()); why != "" {
		c.opaque(why)
	}
	g := findGit(sub.Text)
	if g == nil {
		if sub.Text == "lfs" && len(args) > 1 && Has("pull fetch push", args[1].Text) {
			d := *c
			d.Args, d.publishes = args[2:], args[1].Text == "push"
			d.gitRemote(cfg)
		}
		// It fetches or pushes, as its input says. Where git fetch itself starts it, git is named by its path.
		if strings.HasPrefix(sub.Text, "remote-") && len(args) > 1 && !strings.Contains(c.Words[0].Text, "/") {
			d := *c
			d.Args, d.publishes = args[len(args)-1:], true
			d.gitRemote(cfg)
		}
		c.gitAlias(cfg, args)
		return
	}
	if c.Shell.SetClass(g.class); c.has("c") {
		c.Shell.SetClass(Unknown)
	}
	c.gitSub(g, cfg, args)
	if g.name != "init" && g.name != "clone" {
		c.gitElsewhere(dirs, cfg)
	}
}

// isIn reports whether a directory is there, and its repository is that of a work tree.
func (c *Call) isIn(dir, top string) bool {
	cfg, unknown := c.repository(dir)
	return unknown == "" && cfg.top == top && c.Shell.ResolveIn(dir, ".").Type == Dir
}

// gitElsewhere judges what is done in a repository outside the root: its history and
// its files are read, and what changes it may run what its settings say.
func (c *Call) gitElsewhere(dirs []string, cfg repository) {
	for _, d := range dirs {
		if safefile.Below(c.Shell.Root(), d) {
			continue
		}
		if c.Shell.Class() != ReadOnly && !c.Shell.Writable(d) {
			c.opaque("it changes a repository outside the root, whose settings may run programs")
		}
		if cfg.top != "" && safefile.Below(cfg.top, d) && !safefile.Below(cfg.top, c.Shell.Root()) {
			d = cfg.top
		}
		c.Shell.File(File{Effect: ReadTree, Word: Word{Text: d}, Source: "git"})
	}
}

// gitGlobals reads what stands before the subcommand.
func (c *Call) gitGlobals() []Word {
	for i, x := range c.Words[1:] { // -c key=value is judged by its key
		if x.Text == "-c" && i+2 < len(c.Words) {
			c.gitSetting(c.Words[i+2])
			c.Words = slices.Concat(c.Words[:i+1], []Word{{Text: "-c"}}, c.Words[i+2:])
		}
		if !strings.HasPrefix(x.Text, "-") {
			break
		}
	}
	globals := strings.Replace(gitGlobals, "c:opaque ", "c: ", 1)
	args := c.options(globals, Posix)
	for _, o := range c.Given {
		if o.Names == "c" && o.HasValue {
			c.gitSetting(o.Value)
		}
	}
	return args
}

// gitSetting judges one -c key=value.
func (c *Call) gitSetting(x Word) {
	key, val, _ := strings.Cut(x.Text, "=")
	switch {
	case x.Dynamic:
		c.opaque("a setting that is not known before it runs")
	case harmlessSetting(key) && !capableSetting(key, val):
	default:
		c.opaque("the setting " + key + " may run something")
	}
	if strings.HasPrefix(val, "!") {
		c.Shell.Text(Word{Text: val[1:]})
	} else if section, _, _ := strings.Cut(key, "."); strings.EqualFold(section, "alias") {
		return // see gitAlias
	} else if capableSetting(key, val) && val != "" {
		c.Shell.Text(Word{Text: val})
	}
}

// gitAlias follows a subcommand that git does not have.
func (c *Call) gitAlias(cfg repository, args []Word) {
	users, hidden := c.usersAliases()
	for _, al := range slices.Concat(c.givenAliases(), cfg.aliases, users) {
		if !strings.EqualFold(al.name, args[0].Text) {
			continue
		}
		c.opaque("an alias of git's settings")
		if cmd, ok := strings.CutPrefix(al.value, "!"); ok {
			c.Shell.Text(Word{Text: cmd})
		} else if c.Shell.Depth() < 12 {
			words, _ := splitWords(al.value)
			if len(words) > 0 {
				if g := findGit(words[0].Text); g == nil || g.class != ReadOnly { // of what it drops only the call that follows is sure
					c.Shell.Drops()
				}
			}
			c.start(slices.Concat([]Word{{Text: "git"}}, words, args[1:]))
		}
		return
	}
	c.opaque("git " + args[0].Text + " may be an alias or a program of its own")
	if hidden { // it may be an alias of any command
		unknown := args[0]
		unknown.Dynamic, unknown.Lead, unknown.Multi = true, "", true
		c.start(slices.Concat([]Word{{Text: "git"}, unknown}, args[1:]))
	}
}

// givenAliases are those that -c gives.
func (c *Call) givenAliases() (aliases []gitAlias) {
	for _, o := range slices.Backward(c.Given) {
		key, val, _ := strings.Cut(o.Value.Text, "=")
		if section, name, ok := strings.Cut(key, "."); ok && strings.EqualFold(section, "alias") && o.Names == "c" && !o.Value.Dynamic {
			aliases = append(aliases, gitAlias{name, val})
		}
	}
	return aliases
}

// usersAliases are those of the user's own settings; hidden is set where git gets settings that
// are not looked at.
func (c *Call) usersAliases() (aliases []gitAlias, hidden bool) {
	var cfg repository
	hidden = c.has("config-env")
	read := func(name string) {
		if b, err := c.Shell.ReadFile(name); err == nil {
			gitSettings(string(b), cfg.setting)
		}
	}
	for _, name := range [...]string{"GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_SYSTEM"} {
		_, set := c.Shell.Getenv(name)
		hidden = hidden || set || c.Shell.Sets(name)
	}
	for _, name := range [...]string{"GIT_CONFIG_GLOBAL", "HOME", "XDG_CONFIG_HOME"} {
		hidden = hidden || c.Shell.Sets(name)
	}
	if global, set := c.Shell.Getenv("GIT_CONFIG_GLOBAL"); set {
		read(global)
		return cfg.aliases, hidden
	}
	dir, set := c.Shell.Getenv("XDG_CONFIG_HOME")
	if !set || dir == "" {
		dir = c.Shell.Home() + "/.config"
	}
	read(dir + "/git/config")
	read(c.Shell.Home() + "/.gitconfig")
	return cfg.aliases, hidden
}

// gitSub judges a subcommand.
func (c *Call) gitSub(g *gitCommand, cfg repository, args []Word) {
	globals := c.Given
	c.Given, c.Args = nil, nil
	table := g.opts
	if g.does&gitDiff != 0 {
		table += " " + gitDiffOptions
	}
	if g.does&gitLog != 0 {
		table += " " + gitLogOptions
	}
	if g.name == "diff" { // of two files or directories, wherever they are
		table = strings.Replace(table, "no-index!opaque", "no-index", 1)
	}
	st := Style(0)
	if table == "*" {
		st = Pure
	}
	if g.class == Unknown && g.opts == "" {
		st = Vague
	}
	words := c.Words
	c.Words = args
	c.options(table, st)
	c.Words = words
	if g.name == "bisect" && len(c.Args) == 1 && c.Args[0].Text == "log" && len(args) == 2 {
		c.Shell.SetClass(ReadOnly)
	} else if g.does&gitOpaque != 0 {
		c.opaque("git " + g.name + " runs what it is told")
	}
	if g.name == "diff" && c.has("no-index") {
		for _, x := range c.Args {
			c.does(ReadTree, x)
		}
	}
	if g.does&gitHooks != 0 && cfg.hooks || cfg.refresh && (g.does&gitIndex != 0 || Has("status diff describe stash", g.name)) {
		c.lower(Unknown)
	}
	if g.does&(gitLog|gitListing) != 0 || g.name == "for-each-ref" {
		for _, o := range c.Given {
			if hasName(o.Names, "format") && (o.Value.Dynamic || strings.Contains(o.Value.Text, "%G") || strings.Contains(o.Value.Text, "signature")) {
				c.opaque("a format that checks signatures")
			}
		}
	}
	if created := c.has("b") && g.name == "checkout" || c.has("c") && g.name == "switch"; created && len(c.Args) == 0 && !cfg.hooks {
		c.Shell.SetClass(Known) // a branch that starts here: no file changes
	}
	c.gitFiles(g, args)
	c.gitReads(g, args, cfg.top)
	c.gitAdds(g, args, cfg)
	c.gitUnnamed(g, args, cfg)
	c.gitLists(g, args, cfg, len(globals) == 0)
	c.gitEffects(g, cfg)
	c.gitDanger(g, &cfg)
	if cfg.refs && c.Shell.Class() != ReadOnly && !Has("add apply config mv restore rm", g.name) {
		c.lower(Unknown)
	}
	c.Given = append(c.Given, globals...)
}

// gitFiles lists the files that the operands name.
func (c *Call) gitFiles(g *gitCommand, args []Word) {
	if g.ops != "" {
		args := c.Args
		if g.name == "rm" {
			c.Args = slices.DeleteFunc(slices.Clone(args), c.wholeIndex)
		}
		if g.name != "rm" || !c.on("cached") { // which leaves the files where they are
			c.operands(g.ops)
		}
		c.Args = args
		return
	}
	if g.class == ReadOnly || g.name == "add" || g.name == "commit" {
		for _, x := range c.Args {
			if x.Dynamic && !strings.HasPrefix(x.Lead, "/") {
				continue
			}
			s := x.Text
			if x.Dynamic {
				s = x.Lead
			}
			if strings.HasPrefix(s, "/") || strings.HasPrefix(s, "../") || strings.Contains(s, "/../") {
				c.file(Read, x)
			}
		}
	}
	if g.name == "restore" || g.name == "checkout" {
		for i, x := range args {
			if x.Text != "--" && (g.name == "checkout" || i == 0 || strings.HasPrefix(x.Text, "-")) {
				continue
			}
			for _, y := range args[i:] {
				if y.Text != "--" && !y.Dynamic && pathLike(y.Text) && y.Text != "." {
					c.does(Write, y)
				}
			}
			break
		}
	}
}
