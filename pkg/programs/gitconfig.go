package programs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/gitindex"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// maxSubmodules is how many submodules one command looks at.
const maxSubmodules = 64

// gitApart are the subcommands that never start git in a submodule, unless an
// option names submodules.
const gitApart = " blame branch cat-file check-ignore config for-each-ref log ls-files ls-tree merge-base reflog remote rev-list rev-parse shortlog show show-ref tag grep "

// submodules says why a command that looks into submodules may run something:
// git starts itself in each, where the settings of that one count.
func (c *Call) submodules(cfg repository, args []Word, depth int) string {
	apart := Has(gitApart, args[0].Text)
	if apart && !cfg.inner && !slices.ContainsFunc(args[1:], func(x Word) bool {
		return x.Dynamic || strings.HasPrefix(x.Text, "--") && strings.Contains(x.Text, "sub")
	}) {
		return ""
	}
	if cfg.top == "" {
		return ""
	}
	names, ok := c.gitlinks(cfg)
	if !ok {
		return "submodules whose list is not understood"
	}
	for _, name := range names {
		sub := cfg.top + "/" + name
		if c.Shell.ResolveIn(sub, ".git").Type == Missing {
			continue // not checked out
		}
		if strings.Contains("/"+name+"/", "/../") || len(c.Memo.repos) > maxSubmodules {
			return "submodules that cannot all be looked at"
		}
		inner, unknown := c.repository(sub)
		if why := cmp.Or(unknown, inner.risk); why != "" {
			return "the submodule " + Cut(name) + ": " + why
		}
		if inner.top == sub && depth < 4 {
			if why := c.submodules(inner, args, depth+1); why != "" {
				return why
			}
		}
	}
	return ""
}

// gitlinks are the paths of a repository's submodules: those that .gitmodules
// names, and those that the index holds where it is small enough to be read.
func (c *Call) gitlinks(cfg repository) (names []string, ok bool) {
	ok = true
	if b, err := c.Shell.ReadFile(cfg.top + "/.gitmodules"); err == nil {
		ok = gitSettings(string(b), func(_, key, val string) {
			if key == "path" {
				names = append(names, val)
			}
		})
	}
	if b, err := c.Shell.ReadFile(cfg.index); err == nil && cfg.index != "" {
		readIndex(b, func(name string, e gitindex.Entry) bool {
			if e.Gitlink() && !slices.Contains(names, name) {
				names = append(names, name)
			}
			return len(names) <= maxSubmodules && c.Shell.Spend(1)
		})
	}
	return names, ok
}

// A repository is what a repository's own configuration makes git run.
type repository struct {
	dir     string // the directory git is started in
	risk    string // a setting that makes most commands run something; "" for none
	hooks   bool   // hooks may run
	refresh bool   // a hook runs whenever the index is brought up to date
	refs    bool   // a hook runs whenever a reference changes
	inner   bool   // commands that do not look into submodules do so unasked
	aliases []gitAlias
	remotes []gitRemote
	top     string // the directory that holds .git; "" when none was found
	index   string // the file that lists what is tracked
	config  string // the file of its settings; "" where that is not known
	linked  bool   // .git is a file that leads to a worktree's or a submodule's part
}

type (
	gitAlias  struct{ name, value string }
	gitRemote struct{ name, url string }
)

// repository reads the configuration that git would in dir. unknown says why
// it cannot be told.
func (c *Call) repository(dir string) (cfg repository, unknown string) {
	for _, r := range c.Memo.repos {
		if r.dir == dir {
			return r, ""
		}
	}
	if c.Shell.Root() == "" || !c.Shell.Sees() {
		return cfg, "the repository cannot be looked at"
	}
	cfg.dir = dir
	for at := dir; ; at = at[:max(strings.LastIndexByte(at, '/'), 0)] {
		git := c.Shell.ResolveIn(at, ".git")
		switch {
		case git.Type == Dir && c.there(git.Path, "HEAD") && c.there(git.Path, "objects") && c.there(git.Path, "refs") && !c.there(git.Path, "commondir"):
			cfg.top, cfg.index = at, git.Path+"/index"
			unknown = c.readConfig(&cfg, git.Path)
		case git.Type == Regular:
			cfg.top = at
			unknown = c.linkedRepository(&cfg, git.Path)
		case c.there(at, ".git"):
			cfg.top = at
			unknown = "a .git that git may pass over"
		case c.there(at, "HEAD"):
			cfg.top = at
			unknown = "a directory that git may take for a repository"
		}
		if cfg.top != "" || at == c.Shell.Root() || strings.LastIndexByte(at, '/') <= 0 {
			break
		}
	}
	if unknown == "" {
		c.Memo.repos = append(c.Memo.repos, cfg)
	}
	return cfg, unknown
}

// there reports whether a directory has an entry of this name, which may be a
// link that leads nowhere.
func (c *Call) there(dir, name string) bool {
	p := c.Shell.ResolveIn(dir, name)
	return p.Type != Missing || p.Named != ""
}

// linkedRepository follows the .git file of a worktree or submodule.
func (c *Call) linkedRepository(cfg *repository, file string) string {
	at := c.linkOf(file)
	if at == "" {
		return "the repository cannot be looked at"
	}
	cfg.index, cfg.linked = at+"/index", true
	if common, err := c.Shell.ReadFile(at + "/commondir"); err == nil {
		at = c.Shell.ResolveIn(at, strings.TrimSpace(string(common))).Path
	}
	return c.readConfig(cfg, at)
}

// linkOf is the directory that a .git file leads to; "" for what is none.
func (c *Call) linkOf(file string) string {
	b, err := c.Shell.ReadFile(file)
	dir, ok := safefile.GitDir(b)
	if err != nil || !ok {
		return ""
	}
	return c.Shell.ResolveIn(file[:strings.LastIndexByte(file, '/')], dir).Path
}

// readConfig reads the settings of the repository in the directory git.
func (c *Call) readConfig(cfg *repository, git string) string {
	for _, h := range []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-checkout", "post-merge", "pre-push", "pre-rebase", "post-rewrite", "post-index-change", "reference-transaction", "applypatch-msg", "pre-applypatch", "post-applypatch", "pre-merge-commit", "pre-auto-gc"} {
		if f := c.Shell.ResolveIn(git, "hooks/"+h).Type; f != Missing {
			cfg.hooks = true
			cfg.refresh = cfg.refresh || h == "post-index-change"
			cfg.refs = cfg.refs || h == "reference-transaction"
		}
	}
	cfg.config = git + "/config"
	b, err := c.Shell.ReadFile(cfg.config)
	if err != nil {
		if c.Shell.ResolveIn(git, "config").Type == Missing {
			return ""
		}
		return "the repository cannot be looked at"
	}
	if !gitSettings(string(b), cfg.setting) {
		return "settings that are not understood"
	}
	return ""
}

// settingsFile is the file of the settings that git would read in dir, found by names alone; "" for a worktree, a
// submodule and what is no usual repository.
func (c *Call) settingsFile(dir string) string {
	for at := dir; strings.HasPrefix(at, "/"); at = at[:strings.LastIndexByte(at, '/')] {
		git := c.Shell.ResolveIn(at, ".git")
		switch {
		case git.Type == Dir && c.there(git.Path, "HEAD") && c.there(git.Path, "objects") && c.there(git.Path, "refs") && !c.there(git.Path, "commondir"):
			return git.Path + "/config"
		case c.there(at, ".git"), c.there(at, "HEAD"), at == c.Shell.Root():
			return ""
		}
	}
	return ""
}

// holdsSetting reports whether a file of settings holds one, once and with this value, as git writes it.
func holdsSetting(text, name, value string) bool {
	i, j := strings.IndexByte(name, '.'), strings.LastIndexByte(name, '.')
	if i <= 0 || value == "" || strings.TrimSpace(value) != value || strings.ContainsAny(value, "\"\\;#\n\r\t") {
		return false
	}
	section, key := strings.ToLower(name[:i])+name[i:j], name[j+1:]
	found, same, line := 0, false, false
	ok := gitSettings(text, func(s, k, v string) {
		if strings.EqualFold(s, section) && strings.EqualFold(k, key) {
			found, same = found+1, s == section && v == value
		}
	})
	for l := range strings.Lines(text) {
		line = line || strings.TrimSpace(l) == key+" = "+value
	}
	return ok && found == 1 && same && line
}

// RemoteURLs lists the addresses of remotes in a repository's config file;
// none where the file is not understood.
func RemoteURLs(config []byte) (urls []string) {
	var cfg repository
	if !gitSettings(string(config), cfg.setting) {
		return nil
	}
	for _, r := range cfg.remotes {
		urls = append(urls, r.url)
	}
	return urls
}

// gitSettings calls each with the settings of a file of git's. It takes a
// section or a setting a line, without escapes and comments behind a value, as
// git itself writes them; it is false for anything else.
func gitSettings(text string, each func(section, key, val string)) bool {
	section := ""
	for line := range strings.Lines(text) {
		line = strings.Trim(line, " \t\r\n")
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if rest, ok := strings.CutPrefix(line, "["); ok {
			name, end, ok := strings.Cut(rest, "]")
			name, sub, quoted := strings.Cut(name, ` "`)
			section = strings.ToLower(name)
			if !ok || end != "" || name == "" || strings.Trim(name, gitName+".") != "" {
				return false
			}
			if quoted {
				if sub, ok = strings.CutSuffix(sub, `"`); !ok || strings.ContainsAny(sub, "\"\\") {
					return false
				}
				section += "." + sub
			}
			continue
		}
		key, val, ok := strings.Cut(line, "=")
		key, val = strings.TrimRight(key, blanks), strings.Trim(val, blanks)
		if !ok {
			val = "true"
		}
		if n := len(val) - 1; n > 0 && val[0] == '"' && val[n] == '"' {
			val = val[1:n]
		} else if strings.ContainsAny(val, "#;") {
			return false
		}
		if section == "" || strings.Trim(key, gitName) != "" || strings.ContainsAny(val, "\\\"\x00\v\f") {
			return false
		}
		each(section, strings.ToLower(key), val)
	}
	return true
}

// gitName is what the names of sections and settings are made of.
const gitName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"

func (cfg *repository) setting(section, key, val string) {
	if section == "alias" {
		cfg.aliases = append(cfg.aliases, gitAlias{key, val})
		return
	}
	if name, ok := strings.CutPrefix(section, "remote."); ok && (key == "url" || key == "pushurl") {
		cfg.remotes = append(cfg.remotes, gitRemote{name, val})
		if strings.Contains(val, "::") || strings.HasPrefix(val, "-") {
			cfg.risk = cmp.Or(cfg.risk, "remote."+name+"."+key)
		}
		return
	}
	cfg.inner = cfg.inner || section == "diff" && key == "submodule" || section == "submodule" && key == "recurse"
	if capableSetting(section+"."+key, val) {
		cfg.risk = cmp.Or(cfg.risk, section+"."+key)
	}
}

// capableSetting reports whether a setting makes git run or load something.
func capableSetting(name, val string) bool {
	name = strings.ToLower(name)
	section, key := name, ""
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		section, key = name[:i], name[i+1:]
	}
	section, _, _ = strings.Cut(section, ".")
	switch key {
	case "promisor", "partialclonefilter", "partialclone": // git fetches what it misses
		return val != "false" && val != ""
	case "fsmonitor":
		return val != "true" && val != "false" && val != ""
	case "recentobjectshook", "virtualfilesystem", "hookspath", "sshcommand", "gitproxy", "askpass", "worktree", "textconv", "driver", "helper", "insteadof", "pushinsteadof", "program", "process", "clean", "smudge", "cmd", "uploadpack", "receivepack",
		"packobjectshook", "difffilter", "templatedir", "vcs", "proxy", "external", "command", "path", "attributesfile", "alternaterefscommand", "defaultrefformat", "worktreeconfig", "sequence", "backend", "sendmailcmd", "smtpserver", "showsignature", "mergeoptions", "twohead", "octopus", "defaultkeycommand", "allowedsignersfile", "pretty":
		return !(section == "worktree") && !(key == "path" && section == "submodule") && !(key == "showsignature" && val == "false") && !(key == "helper" && val == "") && !(key == "pretty" && !strings.Contains(val, "%G"))
	case "orderfile", "ignorerevsfile", "excludesfile", "skiplist", "template", "file": // read, where it lies in the root
		return strings.HasPrefix(val, "/") || strings.HasPrefix(val, "~") || strings.HasPrefix(val, "%") || strings.Contains(val, "..")
	case "pager", "editor":
		return section == "core" && key == "editor" || val != "cat" && val != "" && section == "core" || section == "sequence"
	}
	switch section {
	case "include", "includeif", "filter", "pager", "alias", "difftool", "mergetool", "man", "browser", "web", "instaweb", "sendemail", "trailer", "guitool", "interactive", "credential", "url", "protocol", "hook", "trace2":
		return !(section == "difftool" && key == "prompt") && !(section == "mergetool" && (key == "prompt" || key == "keepbackup"))
	}
	return section == "submodule" && key == "update" && strings.HasPrefix(val, "!")
}

// harmlessSetting reports whether git -c may set this without a thought.
func harmlessSetting(name string) bool {
	name = strings.ToLower(name)
	section, _, _ := strings.Cut(name, ".")
	switch section {
	case "color", "advice", "user", "author", "committer", "column", "i18n", "versionsort", "branch", "tag", "status", "rerere", "fetch", "gc", "pack", "index", "feature", "push", "pull", "rebase", "merge", "diff", "log", "init", "core", "commit", "safe", "http", "checkout", "clone":
		return !capableSetting(name, "/x") && section != "http" && section != "safe" && !strings.HasSuffix(name, "templatedir")
	}
	return false
}
