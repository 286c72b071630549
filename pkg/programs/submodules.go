package programs

import (
	"cmp"
	"slices"
	"strings"
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
	if apart && !slices.ContainsFunc(args[1:], func(x Word) bool {
		return x.Dynamic || strings.HasPrefix(x.Text, "--") && strings.Contains(x.Text, "sub")
	}) {
		return ""
	}
	if cfg.top == "" {
		return ""
	}
	for _, name := range c.gitlinks(cfg) {
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
func (c *Call) gitlinks(cfg repository) (names []string) {
	if b, err := c.Shell.ReadFile(cfg.top + "/.gitmodules"); err == nil {
		for line := range strings.Lines(string(b)) {
			key, val, ok := strings.Cut(strings.TrimSpace(line), "=")
			if ok && strings.EqualFold(strings.TrimSpace(key), "path") {
				names = append(names, strings.Trim(strings.TrimSpace(val), `"`))
			}
		}
	}
	if b, err := c.Shell.ReadFile(cfg.index); err == nil && cfg.index != "" {
		readIndex(b, func(e indexEntry) bool {
			if e.link && !slices.Contains(names, e.name) {
				names = append(names, e.name)
			}
			return len(names) <= maxSubmodules && c.Shell.Spend(1)
		})
	}
	return names
}
