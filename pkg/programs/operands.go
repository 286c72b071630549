package programs

import (
	"slices"
	"strings"
)

// Read reads the words of a call of which something is known.
func (c *Call) Read() {
	if c.Record.Read != nil {
		c.Record.Read(c)
	} else {
		c.parse()
		c.operands(c.Record.Operands)
	}
	c.escaped()
}

// operands lists what the operands of a program are; see [Effect].
func (c *Call) operands(effects string) {
	fields, args := strings.Fields(effects), c.Args
	star := slices.IndexFunc(fields, func(f string) bool { return strings.Contains(f, "*") })
	before, after := fields, []string(nil)
	if star >= 0 {
		before, after = fields[:star], fields[star+1:]
	}
	i := min(len(before), len(args))
	for k, x := range args[:i] {
		c.does(Effect(before[k]), x)
	}
	if star < 0 {
		return
	}
	effect, fallback, _ := strings.Cut(fields[star], "*")
	if c.has("R", "recursive") && (effect == "read" || effect == "meta") {
		effect += "tree"
	}
	end := len(args) - min(len(after), len(args)-i)
	if _, name, ok := strings.Cut(fallback, "|"); ok && end == i {
		c.does(Effect(effect), Word{Text: name})
	}
	for _, x := range args[i:end] {
		c.does(Effect(effect), x)
	}
	if effect == string(Host) && c.Record.Class == Known && !slices.ContainsFunc(args, func(x Word) bool { return !strings.HasPrefix(x.Text, "+") && x.Text != "-" }) {
		c.Shell.Net(Net{Source: c.Source, Opaque: "the hosts stand in its input, or in its settings"})
	}
	for k, x := range args[end:] {
		c.does(Effect(after[k]), x)
	}
}

// does says what c does with an operand.
func (c *Call) does(effect Effect, x Word) {
	switch effect {
	case Skip:
		return
	case Host:
		c.host(x)
		return
	case Read, ReadTree:
		if x.Text == "-" && !x.Dynamic {
			return
		}
	case May:
	case Create:
		c.lower(Known)
		if c.Known == "mkdir" && c.stands(x) { // it stays as it is
			return
		}
	default:
		c.lower(Known)
	}
	c.file(effect, x)
}

// stands reports whether a word names a directory, wherever the call may be.
func (c *Call) stands(x Word) bool {
	list := c.Shell.Resolve(x.Text)
	return !x.Dynamic && len(list) > 0 && !slices.ContainsFunc(list, func(p Path) bool { return p.Type != Dir })
}
