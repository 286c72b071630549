package shellparse

import (
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// spelling tells the policy which options c has, by every name they go by.
func (w *walker) spelling(c *call) {
	if len(c.opts) == 0 && c.known != "git" {
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
	for i := range c.prog.Implies {
		s := &c.prog.Implies[i]
		if !c.given(strings.Fields(s.Given)...) || s.With != "" && !c.given(s.With) || s.Sub != "" && !namesSub(c, s.Sub) {
			continue
		}
		for names := range strings.FieldsSeq(s.Means) {
			a.Options = append(a.Options, policy.Option{Names: names})
		}
	}
	if v, ok := c.optionValue("location"); ok && c.known == "npm" && v.text == "global" {
		a.Options = append(a.Options, policy.Option{Names: "g,global"})
	}
	if c.known == "git" { // +main is --force for one reference
		for _, x := range c.args {
			if strings.HasPrefix(x.text, "+") && namesSub(c, "push") {
				a.Options = append(a.Options, policy.Option{Names: "f,force"})
				break
			}
		}
	}
}

// namesSub reports whether a word of c that is no option is one of names.
func namesSub(c *call, names string) bool {
	for _, x := range c.words[1:] {
		if !x.dyn && !strings.HasPrefix(x.text, "-") && programs.Has(names, x.text) {
			return true
		}
	}
	return false
}
