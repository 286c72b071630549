package programs

import (
	"slices"
	"strings"
)

// Outgrown marks a call that does more than its program's name says.
func (c *Call) Outgrown() {
	if c.Record == nil {
		return
	}
	for i := range c.Record.Opaque {
		if way := &c.Record.Opaque[i]; c.matches(way) {
			c.opaque(way.Why)
		}
	}
	if c.Name == "npm" && c.subMatches("init create innit") && len(c.bare()) > 1 {
		c.opaque("runs a package that it fetches")
	}
	if c.Name == "go" && c.subMatches("run install") && slices.ContainsFunc(c.Words, func(x Word) bool { return strings.Contains(x.Text, "@") }) {
		c.opaque("runs or installs a program that it fetches")
	}
}

// bare gives the words of a call that are no Givens.
func (c *Call) bare() []Word {
	return slices.DeleteFunc(slices.Clone(c.Words[1:]), func(x Word) bool { return strings.HasPrefix(x.Text, "-") })
}

// handedOn gives the program that a runner's subcommand starts: what follows
// --, or the first word that is no Given.
func (c *Call) handedOn(words []Word, opts string) []Word {
	rs := Options(opts)
	for i := 1; i < len(words); i++ {
		t := words[i].Text
		switch {
		case t == "--" && !words[i].Dynamic:
			return words[i+1:]
		case c.Known == "nix" && (t == "-c" || t == "--command"):
			return words[i+1:]
		case (t == "-c" || t == "--call") && c.Known == "npm" && i+1 < len(words):
			c.Shell.Text(words[i+1])
			return nil
		}
	}
	if c.Known == "nix" {
		return nil
	}
	for i := 1; i < len(words); i++ {
		t := words[i].Text
		if words[i].Dynamic || !strings.HasPrefix(t, "-") {
			return words[i:]
		}
		name := strings.TrimLeft(t, "-")
		if r := exact(rs, name); r != nil && r.Value == ':' {
			i++
		} else if r == nil && !strings.Contains(name, "=") {
			c.opaque("an option that is not known: " + Cut(t))
		}
	}
	return nil
}
