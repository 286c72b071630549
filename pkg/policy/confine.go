package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// Confines reports whether commands run in a sandbox where there is one: unless
// it is switched off; under a policy that lets commands write and connect
// anywhere, as the profile open does, only where it is required.
func (p *Policy) Confines() bool {
	switch {
	case p == nil, p.sandbox == "require":
		return true
	case p.sandbox == "off":
		return false
	}
	return p.settings[netCommand].verdict != Allow || p.settings[writeOutside].verdict == Deny
}

// ProtectedPaths lists what the built-in protections deny to write below root,
// as absolute paths, whether there is something or not: what editors, agents
// and repositories run by themselves, and what of the home and the system lies there.
func ProtectedPaths(root, home string) []string {
	list := []string{path.Join(root, ".git/hooks"), path.Join(root, ".git/config")}
	for _, g := range writeGuards {
		if g.cell != writeProtected {
			continue
		}
		at := path.Join(root, g.pattern)
		if rest, ok := strings.CutPrefix(g.pattern, "~/"); ok {
			at = path.Join(home, rest)
		} else if g.pattern[0] == '/' {
			at = g.pattern
		}
		if safefile.Below(root, at) && path.IsAbs(at) {
			list = append(list, at)
		}
	}
	return list
}

// SecretPaths lists the built-in places of secrets below home and of the
// system, as absolute paths, whether there is something or not.
func SecretPaths(home string) []string {
	var list []string
	for _, g := range readGuards {
		switch {
		case strings.Contains(g.pattern, "*"):
		case g.pattern[0] == '/':
			list = append(list, g.pattern)
		case home != "":
			list = append(list, path.Join(home, g.pattern))
		}
	}
	return list
}

// Restricted lists the names of the programs that deny and ask rules speak of,
// as they stand there: names and paths.
func (p *Policy) Restricted() []string {
	if p == nil {
		return nil
	}
	var names []string
	for name, rules := range p.rules.programs {
		for _, r := range rules {
			if r.list != Allow {
				names = append(names, name)
				break
			}
		}
	}
	slices.Sort(names)
	return names
}

// Commands lists the patterns of the commands that rules allow, in the order of
// the rules.
func (p *Policy) Commands() []string {
	if p == nil {
		return nil
	}
	var list []string
	for _, r := range p.all {
		if pattern, ok := strings.CutPrefix(r.text, commandTool+"("); ok && r.list == Allow && r.tool == commandTool {
			list = append(list, strings.TrimSuffix(pattern, ")"))
		}
	}
	return list
}
