package shellparse

import (
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// A spelling says what else a call has said with an option, so that rules about
// the one also see the other.
type spelling struct {
	program string
	sub     string // of these subcommands only; "" for any
	given   string // one of these names, and
	with    string // one of these too; "" for none
	means   string // groups of names, joined by blanks
}

var spellings = [...]spelling{
	{"apt", "", "y", "", "y,yes,assume-yes"},
	{"apt-get", "", "y", "", "y,yes,assume-yes"},
	{"cp", "", "a", "", "r,R,recursive d P,no-dereference p,preserve"},
	{"docker", "rm,rmi,container,image", "f", "", "f,force"},
	{"docker", "rm,container", "v", "", "v,volumes"},
	{"docker", "down,compose", "v", "", "v,volumes"},
	{"docker", "prune,system", "a", "", "a,all"},
	{"docker", "ps", "a", "", "a,all"},
	{"git", "branch", "D", "", "d,delete f,force"},
	{"git", "branch", "d", "f", "D"},
	{"git", "branch", "M", "", "m,move f,force"},
	{"git", "branch", "m", "f", "M"},
	{"git", "branch", "C", "", "c,copy f,force"},
	{"git", "branch", "c", "f", "C"},
	{"git", "checkout", "B", "", "b f,force"},
	{"git", "push", "force-with-lease", "", "f,force"},
	{"git", "push", "force-if-includes", "", "f,force"},
	{"git", "push", "mirror", "", "f,force"},
	{"git", "switch", "C", "", "c,create f,force"},
	{"git", "commit", "a", "", "a,all"},
	{"grep", "", "R", "", "r,recursive"},
	{"rsync", "", "a", "", "r,recursive l,links p,perms t,times g,group o,owner D"},
	{"rsync", "", "delete-before,delete-during,delete-after,delete-delay,delete-excluded,del", "", "delete"},
}

// spelling tells the policy which options c has, by every name they go by.
func (w *walker) spelling(c *call) {
	if len(c.opts) == 0 && c.prog.name != "git" {
		return
	}
	a := &w.out.Accesses[c.index]
	a.Options = make([]policy.Option, 0, len(c.opts)+2)
	for _, o := range c.opts {
		x := policy.Option{Names: o.names}
		if o.has && !o.val.dyn {
			x.Value = o.val.text
		}
		a.Options = append(a.Options, x)
	}
	for i := range spellings {
		s := &spellings[i]
		if s.program != c.prog.name || !givenOne(c, s.given) || s.with != "" && !givenOne(c, s.with) || s.sub != "" && !namesSub(c, s.sub) {
			continue
		}
		for names := range strings.FieldsSeq(s.means) {
			a.Options = append(a.Options, policy.Option{Names: names})
		}
	}
	if v, ok := c.optionValue("location"); ok && c.prog.name == "npm" && v.text == "global" {
		a.Options = append(a.Options, policy.Option{Names: "g,global"})
	}
	if c.prog.name == "git" { // +main is --force for one reference
		for _, x := range c.args {
			if strings.HasPrefix(x.text, "+") && namesSub(c, "push") {
				a.Options = append(a.Options, policy.Option{Names: "f,force"})
				break
			}
		}
	}
}

func givenOne(c *call, names string) bool {
	for n := range strings.SplitSeq(names, ",") {
		if c.given(n) {
			return true
		}
	}
	return false
}

// namesSub reports whether a word of c that is no option is one of names.
func namesSub(c *call, names string) bool {
	for _, x := range c.words[1:] {
		if !x.dyn && !strings.HasPrefix(x.text, "-") && hasName(names, x.text) {
			return true
		}
	}
	return false
}
