package programs

import (
	"slices"
	"strings"
)

// cmake reads cmake: -E makes it a tool for files, -P runs a script.
func (c *Call) cmake() {
	if len(c.Words) < 3 || c.Words[1].Text != "-E" {
		c.parse()
		c.operands("may*")
		return
	}
	sub, args := c.Words[2].Text, c.Words[3:]
	roles := ""
	switch sub {
	case "rm", "remove", "remove_directory":
		roles = "deletetree*"
		if slices.ContainsFunc(args, func(x Word) bool { return strings.HasPrefix(x.Text, "-") && strings.Contains(x.Text, "f") }) || sub != "rm" {
			c.danger(losesAsked)
		}
	case "copy", "copy_if_different", "copy_directory", "copy_directory_if_different":
		roles = "readtree* write"
	case "rename":
		roles = "deletetree write"
	case "make_directory":
		roles = "create*"
	case "touch", "touch_nocreate":
		roles = "write*"
	case "cat", "compare_files", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum":
		roles = "read*"
	case "create_symlink", "create_hardlink":
		roles = "read create"
	case "env":
		for len(args) > 0 && (strings.HasPrefix(args[0].Text, "-") || strings.Contains(args[0].Text, "=")) {
			args = args[1:]
		}
		c.start(args)
		c.opaque("it changes the environment of what it runs")
		return
	case "time":
		c.start(args)
		return
	case "chdir":
		if len(args) > 1 {
			c.Shell.Move(args[0])
			c.start(args[1:])
		}
		return
	case "capabilities", "echo", "echo_append", "environment", "sleep", "true", "false":
		return
	default:
		c.opaque("cmake -E " + Cut(sub) + " may do anything")
		c.unknownFiles(c.Words[1:])
		return
	}
	c.Args = slices.DeleteFunc(slices.Clone(args), func(x Word) bool { return strings.HasPrefix(x.Text, "-") && !x.Dynamic })
	c.operands(roles)
}

// cargoWatch reads cargo watch: what it runs again and again.
func (c *Call) cargoWatch(words []Word) {
	d := *c
	d.Words, d.Given, d.Args = words, nil, nil
	end := slices.IndexFunc(words, func(x Word) bool { return x.Text == "--" && !x.Dynamic })
	if end >= 0 {
		d.Words = words[:end]
	}
	d.options("s,shell:shell x,exec: C,workdir:dir w,watch:read i,ignore: d,delay: F,features: B: E,env: use-shell:opaque c,clear q,quiet postpone poll no-restart no-vcs-ignores no-dot-ignores no-ignore watch-when-idle why", Loose)
	for _, o := range d.Given {
		switch {
		case o.Names == "x,exec" && o.HasValue:
			c.commandText(Word{Text: "cargo " + o.Value.Text, Dynamic: o.Value.Dynamic})
		case o.Names == "C,workdir":
			c.does(Read, o.Value)
		}
	}
	if end >= 0 && end+1 < len(words) {
		c.start(words[end+1:])
	}
}
