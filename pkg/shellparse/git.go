package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// git reads git: its own options, the subcommand, and what the repository's
// settings make of it.
func (w *walker) git(c *call) {
	args := w.gitGlobals(c)
	if len(args) == 0 {
		if c.given("version") && len(c.words) == 2 {
			w.out.Accesses[c.index].Class = policy.ReadOnly
		}
		return
	}
	sub := args[0]
	if sub.dyn {
		c.opaque(w, "the subcommand is not known before it runs")
		return
	}
	for _, d := range w.st.dirs {
		if _, unknown := w.repository(d); unknown != "" {
			c.opaque(w, unknown)
		}
	}
	if w.st.lost != "" {
		c.opaque(w, w.st.lost)
	}
	cfg := repoConfig{}
	if len(w.st.dirs) > 0 {
		cfg, _ = w.repository(w.st.dirs[0])
	}
	if cfg.risk != "" {
		c.opaque(w, "the repository's setting "+cfg.risk+" runs or loads something")
	} else if why := w.submodules(cfg, args); why != "" {
		c.opaque(w, why)
	}
	g := findGit(sub.text)
	if g == nil {
		w.gitAlias(c, cfg, args)
		return
	}
	if w.lowerTo(c, g.class); c.given("c") {
		w.lowerTo(c, policy.Unknown)
	}
	w.gitSub(c, g, cfg, args)
}

// gitGlobals reads what stands before the subcommand.
func (w *walker) gitGlobals(c *call) []word {
	for i, x := range c.words[1:] { // -c key=value is judged by its key
		if x.text == "-c" && i+2 < len(c.words) {
			w.gitSetting(c, c.words[i+2])
			c.words = slices.Concat(c.words[:i+1], []word{{text: "-c"}}, c.words[i+2:])
		}
		if !strings.HasPrefix(x.text, "-") {
			break
		}
	}
	globals := strings.Replace(gitGlobals, "c:opaque ", "c: ", 1)
	args := w.options(c, globals, programs.Posix)
	for _, o := range c.opts {
		if o.names == "c" && o.has {
			w.gitSetting(c, o.val)
		}
	}
	return args
}

// gitSetting judges one -c key=value.
func (w *walker) gitSetting(c *call, x word) {
	key, val, _ := strings.Cut(x.text, "=")
	switch {
	case x.dyn:
		c.opaque(w, "a setting that is not known before it runs")
	case harmlessSetting(key) && !capableSetting(key, val):
	default:
		c.opaque(w, "the setting "+key+" may run something")
	}
	if strings.HasPrefix(val, "!") {
		w.shellText(c, word{text: val[1:]})
	} else if capableSetting(key, val) && val != "" {
		w.shellText(c, word{text: val})
	}
}

// gitAlias follows a subcommand that git does not have.
func (w *walker) gitAlias(c *call, cfg repoConfig, args []word) {
	for _, al := range cfg.aliases {
		if !strings.EqualFold(al.name, args[0].text) {
			continue
		}
		c.opaque(w, "an alias of the repository")
		if cmd, ok := strings.CutPrefix(al.value, "!"); ok {
			w.shellText(c, word{text: cmd})
		} else if w.depth < maxDepth/2 {
			words, _ := splitWords(al.value)
			w.inner(c, slices.Concat([]word{{text: "git"}}, words, args[1:]))
		}
		return
	}
	c.opaque(w, "git "+args[0].text+" may be an alias or a program of its own")
}

// gitSub judges a subcommand.
func (w *walker) gitSub(c *call, g *gitCommand, cfg repoConfig, args []word) {
	globals := c.opts
	c.opts, c.args = nil, nil
	table := g.opts
	if g.does&gitDiff != 0 {
		table += " " + gitDiffOptions
	}
	if g.does&gitLog != 0 {
		table += " " + gitLogOptions
	}
	st := programs.Style(0)
	if table == "*" {
		st = programs.Pure
	}
	if g.class == policy.Unknown && g.opts == "" {
		st = programs.Vague
	}
	words := c.words
	c.words = args
	w.options(c, table, st)
	c.words = words
	if g.does&gitOpaque != 0 {
		c.opaque(w, "git "+g.name+" runs what it is told")
	}
	if g.does&gitHooks != 0 && cfg.hooks || cfg.refresh && (g.does&gitIndex != 0 || strings.Contains(" status diff describe stash ", " "+g.name+" ")) {
		c.lower(w, policy.Unknown)
	}
	if g.does&(gitLog|gitListing) != 0 || g.name == "for-each-ref" {
		for _, o := range c.opts {
			if hasName(o.names, "format") && (o.val.dyn || strings.Contains(o.val.text, "%G") || strings.Contains(o.val.text, "signature")) {
				c.opaque(w, "a format that checks signatures")
			}
		}
	}
	w.gitFiles(c, g, args)
	w.gitReads(c, g, args, cfg.top)
	w.gitUnnamed(c, g, args, cfg)
	w.gitEffects(c, g, cfg)
	w.gitDanger(c, g)
	c.opts = append(c.opts, globals...)
}

// gitFiles lists the files that the operands name.
func (w *walker) gitFiles(c *call, g *gitCommand, args []word) {
	if g.ops != "" {
		w.operands(c, g.ops)
		return
	}
	if g.class == policy.ReadOnly || g.name == "add" || g.name == "commit" {
		for _, x := range c.args {
			if x.dyn && !strings.HasPrefix(x.lead, "/") {
				continue
			}
			s := x.text
			if x.dyn {
				s = x.lead
			}
			if strings.HasPrefix(s, "/") || strings.HasPrefix(s, "../") || strings.Contains(s, "/../") {
				w.file(fileAccess{kind: policy.Read, parent: c.index + 1, src: x.text}, x)
			}
		}
	}
	if g.name == "restore" || g.name == "checkout" {
		for i, x := range args {
			if x.text != "--" && (g.name == "checkout" || i == 0 || strings.HasPrefix(x.text, "-")) {
				continue
			}
			for _, y := range args[i:] {
				if y.text != "--" && !y.dyn && pathLike(y.text) && y.text != "." {
					w.role(c, programs.Write, y)
				}
			}
			break
		}
	}
}
