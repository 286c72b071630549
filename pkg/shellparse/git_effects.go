package shellparse

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// gitEffects lists what a subcommand writes and reaches besides.
func (w *walker) gitEffects(c *call, g *gitCommand, cfg repoConfig) {
	write := func(name string) {
		f := fileAccess{kind: policy.Write, op: policy.Change, parent: c.index + 1, src: "git " + g.name}
		w.file(f, word{text: name})
	}
	class := w.out.Accesses[c.index].Class
	if g.does&gitIndex != 0 && cfg.top != "" {
		write(cfg.top + "/.git/index")
	}
	first := func(i int) string {
		if i < len(c.args) {
			return c.args[i].text
		}
		return ""
	}
	switch g.name {
	case "init":
		dir := cmpOr(first(0), ".")
		write(strings.TrimSuffix(dir, "/") + "/.git")
	case "clone":
		w.gitClone(c)
	case "config":
		w.gitConfig(c)
	case "submodule":
		if first(0) == "foreach" {
			c.opaque(w, "git submodule foreach runs a command")
			w.joined(c, c.args[1:])
		}
		if first(0) == "add" || first(0) == "set-url" || first(0) == "set-branch" || first(0) == "deinit" {
			write(".gitmodules")
		}
		if len(c.args) > 0 && first(0) != "status" && first(0) != "summary" {
			c.opaque(w, "what a submodule brings is not known")
		}
	case "bisect":
		if first(0) == "run" {
			w.inner(c, c.args[1:])
		}
	case "filter-branch", "difftool":
		for i, x := range c.words {
			if (x.text == "-x" || strings.HasSuffix(x.text, "-filter") || x.text == "--extcmd") && i+1 < len(c.words) {
				w.shellText(c, c.words[i+1])
			}
		}
	case "worktree":
		switch {
		case first(0) == "add" && len(c.args) > 1:
			w.role(c, programs.Create, c.args[1])
		case first(0) == "move" && len(c.args) > 2:
			w.role(c, programs.DeleteTree, c.args[1])
			w.role(c, programs.Create, c.args[2])
		case first(0) == "remove" && len(c.args) > 1:
			w.role(c, programs.DeleteTree, c.args[1])
		}
	case "apply", "am":
		w.gitPatch(c, cfg.top)
	case "remote":
		w.gitRemotes(c)
	case "bundle":
		if first(0) == "create" && len(c.args) > 1 {
			w.role(c, programs.Write, c.args[1])
		}
	}
	if g.does&gitListing != 0 {
		w.gitListing(c, g)
	} else if g.name == "config" || class == policy.ReadOnly {
		return
	}
	if g.does&gitNet != 0 && g.name != "clone" {
		w.gitRemote(c, cfg)
	}
}

// gitRemotes judges git remote: an address may name a program that is the
// transport, and some of its subcommands reach the remotes.
func (w *walker) gitRemotes(c *call) {
	if len(c.args) == 0 || w.st.lost != "" {
		return
	}
	switch c.args[0].text {
	case "add", "set-url":
		if x := c.args[len(c.args)-1]; x.dyn || strings.Contains(x.text, "::") || strings.HasPrefix(x.text, "-") {
			c.opaque(w, "a transport that runs a program")
		}
	case "update", "prune":
		w.emit(policy.Access{Kind: policy.Net, Parent: c.index + 1, Source: "git remote", Opaque: "the host of the remote is not known"})
	}
}

// gitListing takes a subcommand as read-only where it only lists.
func (w *walker) gitListing(c *call, g *gitCommand) {
	var words []string
	switch g.name {
	case "stash":
		words = []string{"list", "show"}
	case "remote":
		words = []string{"show", "get-url"}
	case "reflog":
		words = []string{"show", "exists"}
	case "worktree":
		words = []string{"list"}
	case "submodule":
		words = []string{"status", "summary"}
	}
	reads := false
	switch g.name {
	case "branch":
		reads = !c.given("d", "D", "m", "M", "c", "C", "t", "no-track", "set-upstream", "u", "unset-upstream", "edit-description", "f", "create-reflog") &&
			(len(c.args) == 0 || c.given("list", "contains", "no-contains", "merged", "no-merged", "points-at"))
	case "tag":
		reads = !c.given("a", "s", "u", "f", "d", "m", "F", "e", "v", "create-reflog") && (len(c.args) == 0 || c.given("list", "contains", "no-contains", "merged", "no-merged", "points-at", "n"))
	case "symbolic-ref":
		reads = len(c.args) == 1 && !c.given("d", "delete")
	case "stash":
		reads = len(c.args) > 0 && slices.Contains(words, c.args[0].text)
	case "worktree":
		reads = len(c.args) == 1 && slices.Contains(words, c.args[0].text)
	default:
		reads = len(c.args) == 0 || slices.Contains(words, c.args[0].text)
		if g.name == "remote" && len(c.args) > 0 && c.args[0].text == "show" && len(c.args) > 1 {
			w.emit(policy.Access{Kind: policy.Net, Parent: c.index + 1, Source: "git remote show", Opaque: "the host of the remote is not known"})
		}
	}
	if reads && w.out.Accesses[c.index].Class != policy.Unknown || reads && g.class == policy.Unknown {
		w.out.Accesses[c.index].Class = policy.ReadOnly
	}
}

// gitClone lists what clone reads, reaches and writes.
func (w *walker) gitClone(c *call) {
	if len(c.args) == 0 {
		return
	}
	src := c.args[0]
	w.gitURL(c, src)
	if len(c.args) > 1 {
		w.role(c, programs.Create, c.args[1])
		return
	}
	name := strings.TrimSuffix(strings.TrimSuffix(src.text, "/"), ".git")
	if i := strings.LastIndexAny(name, "/:"); i >= 0 {
		name = name[i+1:]
	}
	if !src.dyn && name != "" && name != "." {
		w.role(c, programs.Create, word{text: name})
	}
}

// gitURL lists the host or directory of a remote.
func (w *walker) gitURL(c *call, x word) {
	s := x.text
	a := policy.Access{Kind: policy.Net, Parent: c.index + 1, Source: s, URL: s}
	switch {
	case x.dyn:
		a.Opaque = "the host is not known before it runs"
	case strings.Contains(s, "::"):
		c.opaque(w, "a transport that runs a program")
		if cmd, ok := strings.CutPrefix(s, "ext::"); ok {
			w.commandText(c, word{text: cmd})
		}
		return
	case strings.Contains(s, "://"):
		u, err := url.Parse(s)
		if err != nil {
			a.Opaque = "the address is not understood"
			break
		}
		if u.Scheme == "file" {
			w.role(c, programs.ReadTree, word{text: u.Path})
			return
		}
		a.Scheme, a.Host = u.Scheme, u.Hostname()
		a.Port, _ = strconv.Atoi(u.Port())
	default:
		host, _, ok := strings.Cut(s, ":")
		if !ok || strings.Contains(host, "/") {
			w.role(c, programs.ReadTree, x)
			return
		}
		a.Scheme, a.URL = "ssh", ""
		a.Host = host[strings.LastIndexByte(host, '@')+1:]
	}
	if strings.HasPrefix(a.Host, "-") {
		c.opaque(w, "an address that becomes an option")
	}
	w.emit(a)
}

// gitRemote lists the hosts that push, pull and fetch reach.
func (w *walker) gitRemote(c *call, cfg repoConfig) {
	name := word{text: "origin"}
	if len(c.args) > 0 {
		name = c.args[0]
	}
	if !name.dyn {
		for _, r := range cfg.remotes {
			if r.name == name.text {
				w.gitURL(c, word{text: r.url})
				return
			}
		}
		if strings.ContainsAny(name.text, ":/") {
			w.gitURL(c, name)
			return
		}
	}
	w.emit(policy.Access{Kind: policy.Net, Parent: c.index + 1, Source: "git", Opaque: "the host of the remote is not known"})
}

// gitConfig judges git config: reading is harmless, setting may plant what
// later commands run.
func (w *walker) gitConfig(c *call) {
	reads, writes := false, false
	file := ".git/config"
	sub := ""
	args := c.words[slices.IndexFunc(c.words, func(x word) bool { return x.text == "config" })+1:]
	var rest []word
	for i := 0; i < len(args); i++ {
		t := args[i].text
		switch {
		case args[i].dyn:
			writes = true
			rest = append(rest, args[i])
		case t == "--global":
			file = "~/.gitconfig"
		case t == "--system":
			file = "/etc/gitconfig"
		case t == "-f" || t == "--file":
			if i++; i < len(args) {
				file = args[i].text
			}
		case strings.HasPrefix(t, "--file="):
			file = t[len("--file="):]
		case t == "--get" || t == "--get-all" || t == "--get-regexp" || t == "--list" || t == "-l" || t == "--get-urlmatch" || t == "--get-color" || t == "--get-colorbool":
			reads = true
		case t == "--show-origin" || t == "--show-scope" || t == "-z" || t == "--name-only" || t == "--local" || t == "--includes" || strings.HasPrefix(t, "--type") || t == "--bool" || t == "--int" || t == "--path":
		case t == "--default":
			i++
		case strings.HasPrefix(t, "-"):
			writes = true
		case sub == "" && len(rest) == 0 && (t == "get" || t == "list"):
			sub, reads = t, true
		case sub == "" && len(rest) == 0 && (t == "set" || t == "unset" || t == "edit" || t == "rename-section" || t == "remove-section"):
			sub, writes = t, true
		default:
			rest = append(rest, args[i])
		}
	}
	if !writes && (reads || len(rest) == 1) {
		if file == ".git/config" || file == "~/.gitconfig" || file == "/etc/gitconfig" {
			w.out.Accesses[c.index].Class = policy.ReadOnly
			return
		}
		w.role(c, programs.Read, word{text: file})
		return
	}
	if h, ok := strings.CutPrefix(file, "~"); ok {
		file = w.home() + h
	}
	w.role(c, programs.Write, word{text: file})
	w.configs = nil
	for i, x := range rest {
		if i == 0 && !x.dyn && harmlessSetting(x.text) && !capableSetting(x.text, "x") && len(rest) == 2 && !rest[1].dyn {
			w.lowerTo(c, policy.Known)
			return
		}
	}
	c.opaque(w, "a setting that later commands heed")
	w.st.env = cmpOr(w.st.env, "a setting of git was changed")
}

func (w *walker) lowerTo(c *call, class policy.Class) { w.out.Accesses[c.index].Class = class }
