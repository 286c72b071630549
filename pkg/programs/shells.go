package programs

import (
	"slices"
	"strings"
)

// multiCall reads busybox: the first operand is the program.
func (c *Call) multiCall() { c.start(c.Words[1:]) }

// shell reads shells.
func (c *Call) shell() { c.Shell.ReadShell() }

// login reads su, runuser and sg: a shell's text in -c, or a program.
func (c *Call) login() {
	args := c.options(c.Record.Options, c.Record.Style|Posix)
	for i, x := range args { // su takes options after the user too
		if x.Text == "-c" && i+1 < len(args) {
			c.Shell.Text(args[i+1])
			return
		}
	}
	if v, ok := c.optionValue("c"); ok {
		c.Shell.Text(v)
		return
	}
	if v, ok := c.optionValue("session-command"); ok {
		c.Shell.Text(v)
		return
	}
	if c.Name == "runuser" && c.has("u") {
		c.start(args)
		return
	}
	if c.Name == "sg" && len(args) > 1 {
		c.Shell.Text(args[1])
		return
	}
	c.opaque("a shell that reads its commands from elsewhere")
}

// stringWrapper reads a program whose operands are a shell's text.
func (c *Call) stringWrapper() {
	st := c.Record.Style
	if c.Name == "watch" {
		st |= Posix
	}
	args := c.options(c.Record.Options, st)
	switch {
	case len(args) == 0:
	case c.Name == "watch" && c.has("x"):
		c.start(args)
	case c.Name == "watch":
		c.joined(args)
	default:
		for _, x := range args {
			c.Shell.Text(x)
		}
	}
}

// joined judges words that are joined by blanks and given to a shell.
func (c *Call) joined(args []Word) {
	var parts []string
	all := Word{}
	for _, x := range args {
		parts = append(parts, x.Text)
		all.Dynamic = all.Dynamic || x.Dynamic
		all.Net = all.Net || x.Net
	}
	all.Text = strings.Join(parts, " ")
	c.Shell.Text(all)
}

// flock reads flock: a file or a descriptor, then a program or -c text.
func (c *Call) flock() {
	args := c.parse()
	if len(args) == 0 {
		return
	}
	if !integer(args[0].Text) || len(args) > 1 {
		c.does(Write, args[0])
	}
	if v, ok := c.optionValue("command"); ok {
		c.Shell.Text(v)
		return
	}
	rest := args[1:]
	if len(rest) > 1 && (rest[0].Text == "-c" || rest[0].Text == "--command") {
		c.Shell.Text(rest[1])
		return
	}
	c.start(rest)
}

// scriptCommand reads script: it records a session, of a shell or of -c.
func (c *Call) scriptCommand() {
	args := c.parse()
	if len(args) == 0 {
		args = []Word{{Text: "typescript"}}
	}
	c.does(Write, args[0])
	switch v, ok := c.optionValue("command"); {
	case ok:
		c.Shell.Text(v)
	case len(args) > 1: // BSD: the rest is a program
		c.start(args[1:])
	default:
		c.opaque("a shell that reads its commands from elsewhere")
	}
}

// parallel reads parallel: a shell's text, filled in from words or input.
func (c *Call) parallel() {
	args := c.parse()
	i := slices.IndexFunc(args, func(x Word) bool { return x.Text == ":::" || x.Text == "::::" || x.Text == ":::+" })
	cmd := args
	if i >= 0 {
		cmd = args[:i]
	}
	c.opaque("the commands come from its input")
	if len(cmd) == 0 {
		for _, x := range args[max(i, 0):] {
			if !strings.HasPrefix(x.Text, ":::") {
				c.Shell.Text(x)
			}
		}
		return
	}
	c.joined(cmd)
}

// debugger reads gdb: the program to debug is only run when told to.
func (c *Call) debugger() {
	for i, x := range c.Words {
		if x.Text == "--args" || x.Text == "-args" {
			d := *c
			d.Words = c.Words[:i]
			d.parse()
			c.start(c.Words[i+1:])
			return
		}
	}
	c.parse()
	for _, x := range c.Args {
		if !x.Dynamic && !integer(x.Text) {
			c.does(Read, x)
		}
	}
}
