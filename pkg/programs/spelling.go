package programs

import (
	"strings"
)

// A Spelling is an option that a program is given, as the program reads it.
type Spelling struct {
	Names string // every name it has, without dashes, joined by commas: "f,force"
	Value string // its value; "" when it has none, or one that is not known
}

// Spelled gives the options that c has, by every name they go by: those it is
// given, and those that they imply.
func (c *Call) Spelled() []Spelling {
	if len(c.Given) == 0 && c.Known != "git" {
		return nil
	}
	out := make([]Spelling, 0, len(c.Given)+2)
	for _, o := range c.Given {
		x := Spelling{Names: o.Names}
		if o.HasValue && !o.Value.Dynamic {
			x.Value = o.Value.Text
		}
		out = append(out, x)
	}
	for i := range c.Record.Implies {
		s := &c.Record.Implies[i]
		if !c.has(strings.Fields(s.Given)...) || s.With != "" && !c.has(s.With) || s.Sub != "" && !namesSub(c, s.Sub) {
			continue
		}
		for names := range strings.FieldsSeq(s.Means) {
			out = append(out, Spelling{Names: names})
		}
	}
	if v, ok := c.optionValue("location"); ok && c.Known == "npm" && v.Text == "global" {
		out = append(out, Spelling{Names: "g,global"})
	}
	if c.Known == "git" { // +main is --force for one reference
		for _, x := range c.Args {
			if strings.HasPrefix(x.Text, "+") && namesSub(c, "push") {
				out = append(out, Spelling{Names: "f,force"})
				break
			}
		}
	}
	return out
}

// namesSub reports whether a word of c that is no Given is one of names.
func namesSub(c *Call, names string) bool {
	for _, x := range c.Words[1:] {
		if !x.Dynamic && !strings.HasPrefix(x.Text, "-") && Has(names, x.Text) {
			return true
		}
	}
	return false
}
