package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// maxSubmodules is how many submodules one command looks at.
const maxSubmodules = 64

// gitApart are the subcommands that never start git in a submodule, unless an
// option names submodules.
const gitApart = " blame branch cat-file check-ignore config for-each-ref log ls-files ls-tree merge-base reflog remote rev-list rev-parse shortlog show show-ref tag grep "

// submodules says why a command that looks into submodules may run something:
// git starts itself in each, where the settings of that one count.
func (w *walker) submodules(cfg repoConfig, args []word) string {
	apart := strings.Contains(gitApart, " "+args[0].text+" ")
	if apart && !slices.ContainsFunc(args[1:], func(x word) bool { return x.dyn || strings.HasPrefix(x.text, "--") && strings.Contains(x.text, "sub") }) {
		return ""
	}
	if cfg.top == "" || w.world.ReadFile == nil {
		return ""
	}
	for _, name := range w.gitlinks(cfg) {
		sub := cfg.top + "/" + name
		if w.resolveIn(sub, ".git").access.File == policy.Missing {
			continue // not checked out
		}
		if strings.Contains("/"+name+"/", "/../") || len(w.configs) > maxSubmodules {
			return "submodules that cannot all be looked at"
		}
		inner, unknown := w.repository(sub)
		if why := cmpOr(unknown, inner.risk); why != "" {
			return "the submodule " + cut(name) + ": " + why
		}
		if inner.top == sub && w.depth < 4 {
			w.depth++
			why := w.submodules(inner, args)
			w.depth--
			if why != "" {
				return why
			}
		}
	}
	return ""
}

// gitlinks are the paths of a repository's submodules: those that .gitmodules
// names, and those that the index holds where it is small enough to be read.
func (w *walker) gitlinks(cfg repoConfig) (names []string) {
	if b, err := w.world.ReadFile(cfg.top + "/.gitmodules"); err == nil {
		for line := range strings.Lines(string(b)) {
			key, val, ok := strings.Cut(strings.TrimSpace(line), "=")
			if ok && strings.EqualFold(strings.TrimSpace(key), "path") {
				names = append(names, strings.Trim(strings.TrimSpace(val), `"`))
			}
		}
	}
	if b, err := w.world.ReadFile(cfg.index); err == nil && cfg.index != "" {
		readIndex(b, func(e indexEntry) bool {
			if e.link && !slices.Contains(names, e.name) {
				names = append(names, e.name)
			}
			return len(names) <= maxSubmodules && w.spend(1)
		})
	}
	return names
}
