package programs

import (
	"slices"
	"strings"
)

// wrapper reads a program that runs another with its own words.
func (c *Call) wrapper() {
	p := c.Record
	if c.Name == "screen" && len(c.Words) > 1 && (c.Words[1].Text == "-ls" || c.Words[1].Text == "-list") {
		return
	}
	args := c.options(p.Options, p.Style|Posix)
	lead := p.Lead
	if c.Name == "setarch" && len(c.Words) > 1 && strings.HasPrefix(c.Words[1].Text, "-") {
		lead = 0 // the architecture stands first, or not at all
	}
	switch {
	case Has("taskset chrt ionice prlimit uclampset", c.Name) && c.has("p", "P", "uid"):
		c.lower(Unknown) // it reaches a process that runs already, as a signal does
		return
	case c.Name == "nice" && len(args) > 0 && len(args[0].Text) > 1 && strings.Trim(args[0].Text, "-0123456789") == "":
		lead = 1
	case c.Name == "nsenter", c.Name == "chroot" && len(args) > 0 && args[0].Text != "/":
		c.opaque("programs and paths of another root")
	case c.Name == "strace" || c.Name == "ltrace":
		for _, o := range c.Given {
			if hasName(o.Names, "output") && (strings.HasPrefix(o.Value.Text, "|") || strings.HasPrefix(o.Value.Text, "!")) {
				c.Shell.Text(Word{Text: strings.TrimLeft(o.Value.Text, "|!"), Dynamic: o.Value.Dynamic})
			}
		}
	}
	if c.Name == "sudo" || c.Name == "doas" || c.Name == "env" {
		for len(args) > 0 {
			name, _, ok := strings.Cut(args[0].Text, "=")
			if !ok || args[0].Dynamic || strings.Contains(name, "/") {
				break
			}
			c.Shell.Setenv(name, Word{Text: args[0].Text[len(name)+1:]}, false)
			args = args[1:]
		}
	}
	for ; lead > 0 && len(args) > 0; lead-- {
		if args[0].Multi {
			c.opaque("the program is not known before it runs")
		}
		args = args[1:]
	}
	if p.Lead > 0 && len(args) > 0 && !args[0].Dynamic && strings.HasPrefix(args[0].Text, "-") {
		d := *c
		d.Words, d.Args = append([]Word{c.Words[0]}, args...), nil
		args = d.options(p.Options, p.Style|Posix)
	}
	c.Args = args
	if c.Name == "screen" && len(args) == 0 && c.has("d", "m", "S") {
		c.opaque("a shell that reads its commands from elsewhere")
	}
	if len(args) == 0 && p.Bare != "" && !c.has("list", "show", "help", "version", "h", "V") {
		c.startBare()
		return
	}
	c.start(args)
}

// startBare starts the shell that a wrapper without a program does.
func (c *Call) startBare() {
	shell := Word{Text: string(BareSh)}
	if c.Record.Bare == BareShell {
		if c.Shell.Sets("SHELL") {
			c.opaque("a shell that the text names")
		}
		if name, ok := c.Shell.Getenv("SHELL"); ok && name != "" {
			shell.Text = name
		}
	}
	c.start([]Word{shell})
}

// envCommand reads env: options, assignments, then the program; -S splits a
// string into more words.
func (c *Call) envCommand() {
	words := c.Words[1:]
	for i := 0; i < len(words) && i < 64; i++ {
		if s, taken, ok := splitString(words, i); ok {
			if s.Dynamic {
				c.opaque("the words are not known before it runs")
				break
			}
			more, sure := splitWords(s.Text)
			if !sure {
				c.opaque("a string that env splits in its own way")
			}
			flags := []Word(nil)
			if j := strings.IndexByte(words[i].Text, 'S'); j > 1 && !strings.HasPrefix(words[i].Text, "--") {
				flags = []Word{{Text: words[i].Text[:j]}}
			}
			words = slices.Concat(words[:i], flags, more, words[i+1+taken:])
		}
		if !strings.HasPrefix(words[i].Text, "-") && !strings.Contains(words[i].Text, "=") {
			break
		}
	}
	d := *c
	d.Words = append([]Word{c.Words[0]}, words...)
	args := d.options(c.Record.Options, c.Record.Style)
	c.Given, c.Args = d.Given, args
	for len(args) > 0 && !args[0].Dynamic {
		name, val, ok := strings.Cut(args[0].Text, "=")
		if !ok {
			break
		}
		c.Shell.Setenv(name, Word{Text: val}, !Plain(name))
		args = args[1:]
	}
	for _, o := range c.Given {
		if hasName(o.Names, "unset") && KindOfVariable(o.Value.Text) != OtherVariable {
			c.Shell.Setenv(o.Value.Text, Word{Dynamic: Pages(o.Value.Text)}, false)
		}
	}
	if len(args) > 0 && args[0].Dynamic && strings.Contains(args[0].Lead, "=") {
		name, _, _ := strings.Cut(args[0].Lead, "=")
		c.Shell.Setenv(name, Word{Dynamic: true}, false)
		args = args[1:]
	}
	if c.has("i") {
		c.Shell.Hush("the environment is emptied")
	}
	if len(args) == 0 {
		c.lower(Unknown) // prints every variable
		return
	}
	c.start(args)
}

// splitString finds env's -S in words[i] and gives its value and how many more
// words that takes.
func splitString(words []Word, i int) (s Word, taken int, ok bool) {
	t := words[i].Text
	if words[i].Dynamic {
		t = words[i].Lead
	}
	switch {
	case strings.HasPrefix(t, "--s"):
		name, val, glued := strings.Cut(t, "=")
		if !strings.HasPrefix("--split-string", name) {
			return s, 0, false
		}
		if glued {
			return Word{Text: val, Dynamic: words[i].Dynamic}, 0, true
		}
	case strings.HasPrefix(t, "-") && !strings.HasPrefix(t, "--"):
		j := strings.IndexByte(t, 'S')
		if j < 0 || strings.ContainsAny(t[:j], "uCaP") {
			return s, 0, false
		}
		if rest := t[j+1:]; rest != "" || words[i].Dynamic {
			return Word{Text: rest, Dynamic: words[i].Dynamic}, 0, true
		}
	default:
		return s, 0, false
	}
	if i+1 < len(words) {
		return words[i+1], 1, true
	}
	return s, 0, false
}

// splitWords splits as env -S does; sure is false where escapes or variables
// make that uncertain.
func splitWords(s string) (out []Word, sure bool) {
	sure = !strings.ContainsAny(s, `\$#`)
	var b []byte
	quote := byte(0)
	open := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			b = append(b, c)
		case c == '\'' || c == '"':
			quote, open = c, true
		case strings.IndexByte(" \t\n\v\f\r", c) >= 0:
			if open {
				out = append(out, Word{Text: string(b)})
			}
			b, open = b[:0], false
		default:
			b, open = append(b, c), true
		}
	}
	if open {
		out = append(out, Word{Text: string(b)})
	}
	return out, sure && quote == 0
}

// NamesAlone is what a tree comes from of which only the names matter, as they may be taken
// for something else where they stand as words.
const NamesAlone = "names"

// NamesExpanded is the same where the shell expands them once more, as patterns.
const NamesExpanded = "names that are expanded"

// xargs reads xargs: its input becomes words that are not known, but for the
// paths below a place that find prints.
func (c *Call) xargs() {
	args := c.parse()
	in := c.Shell.TakeStdin()
	if c.has("arg-file") {
		in = Stream{}
	}
	if len(args) == 0 {
		return
	}
	// Names that are parted otherwise than they were printed stand for others. Of -0 and -d the last counts: where both are
	// given, the names are taken for text.
	d, parted := c.optionValue("delimiter")
	nul := c.has("0", "null") && !parted
	if parted && (d.Dynamic || d.Text != `\n`) || in.Listed == nil && in.Nul != nul {
		in = Stream{}
	}
	var items []Word
	for _, u := range in.Under {
		items = append(items, Word{Text: u, Dynamic: true, Multi: true, Under: u, Lead: u, Names: in.Names, Dir: in.Dir, Split: !nul, Made: in.Made, Listed: in.Listed})
	}
	if len(items) == 0 || !in.Safe {
		items = []Word{{Text: "…", Dynamic: true, Multi: true}}
	}
	for _, x := range items {
		if x.Split || x.Listed != nil { // whatever the program does with it, a part of a name may be an option
			c.Shell.File(File{Effect: ReadTree, Word: x, Source: NamesAlone})
		}
	}
	mark, replaced := c.optionValue("I")
	if !replaced {
		mark, replaced = c.optionValue("J")
	}
	if !replaced && c.has("i", "replace") {
		mark, replaced = Word{Text: "{}"}, true
		for _, name := range []string{"i", "replace"} {
			if v, ok := c.optionValue(name); ok && (v.Dynamic || v.Text != "") {
				mark = v
			}
		}
	}
	marks := 0
	for _, o := range c.Given {
		if hasName(o.Names, "I") || hasName(o.Names, "J") || hasName(o.Names, "i") || hasName(o.Names, "replace") {
			marks++
		}
	}
	if marks > 1 || replaced && mark.Dynamic {
		c.opaque("what is replaced is not known before it runs")
	}
	var words []Word
	if replaced && !mark.Dynamic && mark.Text != "" {
		found := &items[0]
		if len(items) != 1 {
			found = &Word{}
		}
		for _, x := range args {
			if strings.Contains(x.Text, mark.Text) && !x.Dynamic {
				words = append(words, stands(x, mark.Text, found)...)
			} else {
				words = append(words, x)
			}
		}
	} else {
		words = slices.Clone(args)
	}
	if !replaced || mark.Dynamic || mark.Text == "" || c.has("L", "l", "max-lines", "max-args") { // the last of them counts
		words = append(words, items...)
	}
	c.start(words)
	if words[0].Dynamic {
		c.opaque("the program is not known before it runs")
	}
}
