package programs

import (
	"slices"
	"strings"
)

// opener reads programs that hand a file or address to whatever opens it.
func (c *Call) opener() {
	c.opaque("another program opens what it is given")
	for _, x := range c.Words[1:] {
		switch {
		case strings.HasPrefix(x.Text, "-"):
		case strings.Contains(x.Text, "://"):
			c.address(x)
		case x.Dynamic || pathLike(x.Text) || c.Shell.Exists(x.Text):
			c.does(Read, x)
		}
	}
}

// dd reads if= and of=.
func (c *Call) dd() {
	c.Args = c.Words[1:]
	for _, x := range c.Args {
		s := x.Text
		if x.Dynamic {
			s = x.Lead
		}
		key, _, ok := strings.Cut(s, "=")
		switch {
		case !ok && x.Dynamic:
			c.opaque("a word that is not known may be an option")
		case key == "if":
			c.Shell.File(File{Effect: Read, Word: after(x, "if="), Source: s})
		case key == "of":
			c.lower(Known)
			c.Shell.File(File{Effect: Write, Word: after(x, "of="), Source: s})
		}
	}
}

// after is a word without the prefix it certainly has.
func after(x Word, prefix string) Word {
	if x.Dynamic {
		x.Lead = strings.TrimPrefix(x.Lead, prefix)
		return x
	}
	x.Text = strings.TrimPrefix(x.Text, prefix)
	return x
}

// date reads date: an operand that is no format sets the clock.
func (c *Call) date() {
	c.parse()
	for _, x := range c.Args {
		if x.Dynamic && x.Lead == "" || !x.Dynamic && !strings.HasPrefix(x.Text, "+") {
			c.lower(Unknown)
		}
	}
}

// list reads ls, which shows what a directory holds, and of a file in the root no more than
// stat does.
func (c *Call) list() {
	c.parse()
	if len(c.Args) == 0 {
		c.operands("read*|.")
		return
	}
	effect := Read
	if c.has("R", "recursive") {
		effect = ReadTree
	}
	for _, x := range c.Args {
		if x.Dynamic || x.Pattern != "" || !c.onlyFiles(x.Text) {
			c.does(effect, x)
		}
	}
}

// onlyFiles reports whether all that a name may stand for are files in the root, or nothing.
func (c *Call) onlyFiles(name string) bool {
	root, paths := c.Shell.Root(), c.Shell.Resolve(name)
	return root != "" && len(paths) > 0 && !slices.ContainsFunc(paths, func(p Path) bool {
		return p.Type != Regular && p.Type != Missing || !strings.HasPrefix(p.Path, root+"/")
	})
}

// testCommand reads test and [: -v evaluates a subscript.
func (c *Call) testCommand() {
	c.Args = c.Words[1:]
	for i, x := range c.Args {
		if x.Text == "-v" || x.Text == "-R" || x.Dynamic && x.Lead == "" && i == 0 {
			if i+1 < len(c.Args) {
				if y := c.Args[i+1]; y.Dynamic || strings.ContainsAny(y.Text, "[$`") {
					c.opaque("a name whose subscript is evaluated")
				}
			}
		}
	}
}

// jq reads jq: the program is the first operand unless it is in a file. Behind
// --args the operands are no files, which is not believed: they are read.
func (c *Call) jq() {
	words := c.Words
	c.Words = make([]Word, 0, len(words))
	for i := 0; i < len(words); i++ {
		x := words[i]
		if x.Text == "--" && i > 0 {
			c.Words = append(c.Words, words[i:]...)
			break
		}
		switch x.Text { // these take two values
		case "--arg", "--argjson", "--slurpfile", "--rawfile", "--argfile":
			if !x.Dynamic {
				if i+2 < len(words) && strings.HasSuffix(x.Text, "file") {
					c.does(Read, words[i+2])
				}
				i += 2
				continue
			}
		}
		c.Words = append(c.Words, x)
	}
	c.parse()
	c.Words = words
	program := true // the first operand
	for _, x := range c.Args {
		if program && x.Dynamic && !c.has("from-file") {
			c.opaque("the program is not known before it runs")
		}
		if jqWord(x.Text, "import") || jqWord(x.Text, "include") || jqWord(x.Text, "modulemeta") {
			c.opaque("a program that loads another")
		}
		if jqWord(x.Text, "env") || strings.Contains(x.Text, "$ENV") {
			c.lower(Unknown) // every variable, which may hold keys
		}
		if !program || c.has("from-file") {
			c.does(Read, x)
		}
		program = false
	}
}

// jqWord reports whether a word of jq's language stands in a program: not the
// name of a field, and no part of a longer word.
func jqWord(text, word string) bool {
	for i := 0; ; {
		n := strings.Index(text[i:], word)
		if n < 0 {
			return false
		}
		i += n
		end := i + len(word)
		if (i == 0 || !nameByte(text[i-1]) && text[i-1] != '.' && text[i-1] != '$') && (end == len(text) || !nameByte(text[end])) {
			return true
		}
		i = end
	}
}

func nameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// ps reads ps: e among its letters shows the environment of processes.
func (c *Call) ps() {
	c.Args = c.Words[1:]
	for i, x := range c.Args {
		value := i > 0 && (c.Args[i-1].Text == "-o" || c.Args[i-1].Text == "o" || strings.HasSuffix(c.Args[i-1].Text, "o") || c.Args[i-1].Text == "-C" || c.Args[i-1].Text == "-u" || c.Args[i-1].Text == "-U" || strings.HasPrefix(c.Args[i-1].Text, "--"))
		switch {
		case x.Dynamic:
			c.lower(Unknown)
		case x.Text == "-E", !value && !strings.HasPrefix(x.Text, "-") && strings.Contains(x.Text, "e") && strings.Trim(x.Text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "":
			c.lower(Unknown) // every variable, which may hold keys
		}
	}
}

// hostname reads hostname: an operand changes the name.
func (c *Call) hostname() {
	c.parse()
	if len(c.Args) > 0 {
		c.lower(Unknown)
		c.danger("changes the name of the machine")
	}
}

// editor reads ed, ex and vi: their commands may run anything, so they are
// known only when a person types them.
func (c *Call) editor() {
	c.parse()
	if c.Known == "ed" || c.Known == "ex" || c.Shell.Stdin().Set || c.has("e", "E", "s") || c.Name == "nvim" && c.has("l") {
		c.opaque("the commands come from its input")
	}
	for line := range strings.Lines(c.Shell.Stdin().Text) {
		if cmd, ok := strings.CutPrefix(strings.TrimSpace(line), "!"); ok {
			c.Shell.Text(Word{Text: cmd})
		}
	}
	for _, x := range c.Words[1:] { // -c ':!command'
		cmd := strings.TrimLeft(x.Text, "-+c :")
		if cmd, ok := strings.CutPrefix(cmd, "!"); ok && !x.Dynamic {
			c.Shell.Text(Word{Text: cmd})
		}
	}
	c.editorCommands()
	c.operands(c.Record.Operands)
}

// patch reads patch: without an operand the patch itself names the files.
func (c *Call) patch() {
	c.parse()
	c.operands(c.Record.Operands)
	if len(c.Args) == 0 && !c.has("dry-run") {
		c.Shell.File(File{Effect: Write, Word: Word{Text: "."}, Source: c.Source, Why: "the patch decides what is written"})
	}
	c.Shell.SetClass(Unknown)
}

// npx reads npx: its operands are a program of a package, which is judged by
// its name alone.
func (c *Call) npx() {
	words := c.parse()
	if len(words) == 0 || words[0].Dynamic {
		return
	}
	c.Shell.Judge(words)
	c.unknownFiles(words[1:])
}

// split reads split and csplit: the names start with a prefix.
func (c *Call) split() {
	c.parse()
	prefix := Word{Text: "x"}
	if c.Name == "csplit" {
		prefix = Word{Text: "xx"}
		if v, ok := c.optionValue("prefix"); ok {
			prefix = v
		}
		if v, ok := c.optionValue("suffix-format"); ok && strings.Contains(v.Text, "/") {
			prefix.Text, prefix.Dynamic = prefix.Text+v.Text, prefix.Dynamic || v.Dynamic
		}
		if len(c.Args) > 0 {
			c.does(Read, c.Args[0])
		}
	} else {
		if len(c.Args) > 1 {
			prefix = c.Args[1]
		}
		if len(c.Args) > 0 {
			c.does(Read, c.Args[0])
		}
	}
	if !prefix.Dynamic {
		prefix.Text += "aa"
	}
	c.does(Create, prefix)
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
	read, write := Read, Write
	if c.has("r", "recursive") {
		read, write = ReadTree, DeleteTree
	}
	for _, x := range c.Args {
		c.does(read, x)
		if !c.has("c", "stdout", "l", "list", "t", "test") {
			c.does(write, x)
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
	directories, _ := c.optionValue("directories")
	if c.Name == "rg" || c.has("r", "recursive", "R") || directories.Dynamic || strings.HasPrefix(directories.Text, "r") && directories.Text != "read" {
		roles = strings.Replace(roles, "read*", "readtree*|.", 1)
	}
	return roles
}

// words reads programs of whose words none means anything else than itself.
func (c *Call) words() { c.Args = c.Words[1:] }
