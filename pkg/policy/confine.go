package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// Confines reports whether commands run in a sandbox where there is one.
func (p *Policy) Confines() bool { return p == nil || p.sandbox != "off" && p.sandbox != "outer" }

// Outer reports whether the caller says that something outside confines already,
// such as a disposable container or virtual machine.
func (p *Policy) Outer() bool { return p != nil && p.sandbox == "outer" }

// Wall names what holds commands: the sandbox's level, L0 to L3, or outer.
func (p *Policy) Wall() string {
	if p.Outer() {
		return "outer"
	}
	return fmt.Sprintf("L%d", p.Level())
}

// held says what makes sure that a call does no more than the access says: tool,
// where agentkit does it itself; kernel, where the sandbox holds the command to it
// whatever its text says; text, where it is only read off the text; none, where
// not even the text tells.
func (p *Policy) held(a *Access) string {
	switch {
	case a.Tool != commandTool:
		return "tool"
	case p.Level() >= 3 && !a.Loose, p.Level() == 2 && !a.Loose && !(a.Kind == Read && safefile.Below(p.root, slashed(a.Path))):
		return "kernel"
	case a.Opaque != "" || a.Kind == Exec && a.Class == Unknown && !a.Builtin:
		return "none"
	}
	return "text"
}

// Unheld says in words what nothing holds a command to where its text does not
// tell what it does.
func (p *Policy) Unheld() []string {
	switch {
	case p.Outer():
		return []string{"files, network and programs are held by what is around agentkit, or not at all"}
	case p.Level() >= 3:
		return p.unheldOutside()
	case p.Level() == 2:
		return append([]string{"reading files inside the root", "protected files while it runs: they are put back afterwards"}, p.unheldOutside()...)
	}
	return []string{"files", "network", "programs"}
}

// unheldOutside is Unheld for the places outside the root that are opened.
func (p *Policy) unheldOutside() (list []string) {
	for _, at := range p.Places() {
		if at.Everything() {
			list = append(list, "secrets outside the root whose places are not known: all there is is open")
		}
		if at.Write && p.Level() == 2 {
			list = append(list, "reading files in "+at.Dir+", which a rule opens for writing")
		}
		if at.Write {
			list = append(list, "protected files in "+at.Dir+" where there are none yet")
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
