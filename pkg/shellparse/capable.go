package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"
)

// outgrown marks a call that does more than its program's name says.
func (w *walker) outgrown(c *call) {
	if c.record == nil {
		return
	}
	for i := range c.record.Opaque {
		if way := &c.record.Opaque[i]; c.matches(way) {
			c.opaque(w, way.Why)
		}
	}
	if c.name == "npm" && c.subMatches("init create innit") && len(c.bare()) > 1 {
		c.opaque(w, "runs a package that it fetches")
	}
	if c.name == "go" && c.subMatches("run install") && slices.ContainsFunc(c.words, func(x word) bool { return strings.Contains(x.text, "@") }) {
		c.opaque(w, "runs or installs a program that it fetches")
	}
}

// bare gives the words of a call that are no options.
func (c *call) bare() []word {
	return slices.DeleteFunc(slices.Clone(c.words[1:]), func(x word) bool { return strings.HasPrefix(x.text, "-") })
}

// handedOn gives the program that a runner's subcommand starts: what follows
// --, or the first word that is no option.
func (w *walker) handedOn(c *call, words []word, opts string) []word {
	rs := programs.Options(opts)
	for i := 1; i < len(words); i++ {
		t := words[i].text
		switch {
		case t == "--" && !words[i].dyn:
			return words[i+1:]
		case c.known == "nix" && (t == "-c" || t == "--command"):
			return words[i+1:]
		case (t == "-c" || t == "--call") && c.known == "npm" && i+1 < len(words):
			w.shellText(c, words[i+1])
			return nil
		}
	}
	if c.known == "nix" {
		return nil
	}
	for i := 1; i < len(words); i++ {
		t := words[i].text
		if words[i].dyn || !strings.HasPrefix(t, "-") {
			return words[i:]
		}
		name := strings.TrimLeft(t, "-")
		if r := exact(rs, name); r != nil && r.Value == ':' {
			i++
		} else if r == nil && !strings.Contains(name, "=") {
			c.opaque(w, "an option that is not known: "+cut(t))
		}
	}
	return nil
}
