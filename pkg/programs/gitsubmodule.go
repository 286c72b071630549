package programs

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/gitindex"
)

// A submodule is one that .gitmodules names.
type submodule struct {
	name, path, url string
	own             bool // the address is that of the repository's own settings, where git submodule init has written it
}

// unknownHosts is why a git that fetches submodules is asked about as a whole.
const unknownHosts = "the hosts of the submodules are not known"

// gitSubmodules lists what git submodule init, sync and update read, reach and write.
func (c *Call) gitSubmodules(cfg repository) {
	sub := c.Args[0].Text
	if sub != "init" && sub != "update" && sub != "sync" {
		return
	}
	words := c.Words[slices.IndexFunc(c.Words, func(x Word) bool { return x.Text == "submodule" })+1:]
	given := func(names ...string) bool {
		return slices.ContainsFunc(words, func(x Word) bool { return slices.Contains(names, x.Text) })
	}
	fetches := sub == "update" && !c.has("N", "no-fetch")
	if cfg.top == "" { // its files are not looked at
		if fetches && c.Shell.Exists(".gitmodules") {
			c.Shell.Net(Net{Source: "git submodule", Opaque: unknownHosts})
		}
		return
	}
	c.eachSubmodule(cfg, c.Args[1:], given("--recursive"), 0, func(in repository, m *submodule, stands bool) {
		if local(m.url) && !m.own && in.top == cfg.top && (sub == "init" || given("--init")) || sub == "sync" && local(m.url) && !m.own { // the settings lead to no path
			c.Shell.File(File{Effect: Write, Word: Word{Text: cfg.top + "/.git/config"}, Source: "git submodule"})
		}
		if fetches && (!stands || given("--remote", "-f", "--force")) {
			c.gitURL(Word{Text: m.url})
		}
	})
}

// eachSubmodule goes through the submodules that the words name, all where they name none, and those in them. Stands says
// that one is checked out at the commit that it is to be at, so that git fetches nothing for it.
func (c *Call) eachSubmodule(cfg repository, words []Word, inner bool, depth int, each func(in repository, m *submodule, stands bool)) {
	list, ok := c.submoduleList(cfg)
	if !ok {
		c.Shell.Net(Net{Source: "git submodule", Opaque: unknownHosts})
		return
	}
	commits := c.gitlinkCommits(cfg)
	names := func(x Word, m *submodule) bool { return m.path == strings.TrimSuffix(x.Text, "/") }
	all := len(words) == 0 || slices.ContainsFunc(words, func(x Word) bool {
		return x.Dynamic || !slices.ContainsFunc(list, func(m submodule) bool { return names(x, &m) })
	})
	for i := range list {
		m := &list[i]
		if !all && !slices.ContainsFunc(words, func(x Word) bool { return names(x, m) }) {
			continue
		}
		at := cfg.top + "/" + m.path
		each(cfg, m, commits[m.path] != "" && c.headOf(at) == commits[m.path])
		if in, unknown := c.repository(at); inner && unknown == "" && in.top == at && depth < 4 {
			c.eachSubmodule(in, nil, true, depth+1, each)
		}
	}
}

// submoduleList lists the submodules of a repository, with the addresses that git takes for them: those of its own settings
// where they have one. It is false where that is not known.
func (c *Call) submoduleList(cfg repository) (list []submodule, ok bool) {
	b, err := c.Shell.ReadFile(cfg.top + "/.gitmodules")
	if err != nil {
		return nil, !c.there(cfg.top, ".gitmodules")
	}
	ok = gitSettings(string(b), func(section, key, val string) {
		name, is := strings.CutPrefix(section, "submodule.")
		i := slices.IndexFunc(list, func(m submodule) bool { return m.name == name })
		if is && i < 0 {
			i, list = len(list), append(list, submodule{name: name})
		}
		switch {
		case is && key == "path":
			list[i].path = val
		case is && key == "url":
			list[i].url = val
		}
	})
	config, err := c.Shell.ReadFile(cfg.config)
	ok = ok && err == nil && len(list) <= maxSubmodules && gitSettings(string(config), func(section, key, val string) {
		for i := range list {
			if m := &list[i]; section == "submodule."+m.name && key == "url" {
				m.url, m.own = val, true
			}
		}
	})
	for i := range list {
		if m := &list[i]; !m.own {
			m.url = c.fromRemote(cfg, m.url)
		}
	}
	return list, ok && !slices.ContainsFunc(list, func(m submodule) bool { return m.url == "" })
}

// fromRemote is the address that a relative one of a submodule means, which counts from that of the remote, or of origin; ""
// where that is not known, and where it leads nowhere.
func (c *Call) fromRemote(cfg repository, address string) string {
	if !strings.HasPrefix(address, "./") && !strings.HasPrefix(address, "../") {
		return address
	}
	base := cfg.top
	if i := slices.IndexFunc(cfg.remotes, func(r gitRemote) bool { return r.name == "origin" }); i >= 0 {
		base = cfg.remotes[i].url
	} else if len(cfg.remotes) > 0 {
		if base = cfg.remotes[0].url; len(cfg.remotes) > 1 {
			return ""
		}
	}
	for base = strings.TrimSuffix(base, "/"); ; {
		if rest, ok := strings.CutPrefix(address, "./"); ok {
			address = rest
		} else if rest, ok := strings.CutPrefix(address, "../"); ok {
			i := strings.LastIndexAny(base, "/:")
			if i < 0 || strings.HasSuffix(base[:i], "/") || strings.HasSuffix(base[:i], ":") && base[i] == '/' {
				return ""
			}
			if address = rest; base[i] == ':' { // git@host:x
				return base[:i+1] + address
			}
			base = base[:i]
		} else {
			return base + "/" + address
		}
	}
}

// local reports whether an address is a path of this machine.
func local(address string) bool {
	if rest, ok := strings.CutPrefix(address, "file://"); ok {
		return rest != ""
	}
	_, ok := hostOf(address)
	return address != "" && !ok
}

// hostOf is the host of an address as ssh has it, HOST:PATH; false for a path.
func hostOf(address string) (host string, ok bool) {
	host, _, ok = strings.Cut(address, ":")
	return host, ok && !strings.Contains(host, "/")
}

// gitlinkCommits are the commits that the index has for submodules, by their paths.
func (c *Call) gitlinkCommits(cfg repository) map[string]string {
	list := map[string]string{}
	if b, err := c.Shell.ReadFile(cfg.index); err == nil && cfg.index != "" {
		readIndex(b, func(name string, e gitindex.Entry) bool {
			if e.Gitlink() {
				list[name] = hex.EncodeToString(e.Hash)
			}
			return len(list) <= maxSubmodules && c.Shell.Spend(1)
		})
	}
	return list
}

// headOf is the commit that the submodule in a directory is at; "" where it is not checked out, and where its branch is not in a file.
func (c *Call) headOf(dir string) string {
	git := c.linkOf(dir + "/.git")
	if git == "" {
		return ""
	}
	head, err := c.Shell.ReadFile(git + "/HEAD")
	if ref, ok := strings.CutPrefix(string(head), "ref: "); err == nil && ok {
		head, err = c.Shell.ReadFile(git + "/" + strings.TrimSpace(ref))
	}
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(head))
}
