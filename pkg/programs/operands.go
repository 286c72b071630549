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
	for k, x := range args[end:] {
		c.does(Effect(after[k]), x)
	}
}

// grep reads grep and its kin.
func (c *Call) grep() {
	c.parse()
	c.operands(c.grepRoles())
}

// gzip reads programs that read their operands, and replace them unless the
// result goes to the output.
func (c *Call) gzip() {
	c.parse()
	for _, x := range c.Args {
		c.does(Read, x)
		if !c.has("c", "stdout", "l", "list", "t", "test") {
			c.does(Write, x)
		}
	}
}

func (c *Call) getent() {
	c.parse()
	if len(c.Args) > 1 && Has("hosts ahosts ahostsv4 ahostsv6 networks services netgroup", c.Args[0].Text) {
		c.host(c.Args[1])
	}
	if len(c.Args) > 0 && (c.Args[0].Text == "shadow" || c.Args[0].Text == "gshadow") {
		c.does(Read, Word{Text: "/etc/" + c.Args[0].Text})
	}
}

func (c *Call) remove() {
	c.parse()
	if c.has("r") {
		c.operands("deletetree*")
	} else {
		c.operands("delete*")
	}
}

// grepRoles are the roles of grep and rg: the first operand is the pattern,
// unless an option gave it.
func (c *Call) grepRoles() string {
	roles := "skip read*"
	if c.has("regexp", "file", "files", "type-list") {
		roles = "read*"
	}
	if c.Name == "rg" || c.has("r", "recursive", "R") {
		roles = strings.Replace(roles, "read*", "readtree*|.", 1)
	}
	return roles
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
	default:
		c.lower(Known)
	}
	c.file(effect, x)
}

// words reads programs of whose words none means anything else than itself.
func (c *Call) words() { c.Args = c.Words[1:] }

// multiCall reads busybox: the first operand is the program.
func (c *Call) multiCall() { c.start(c.Words[1:]) }

// shell reads shells.
func (c *Call) shell() { c.Shell.ReadShell() }
