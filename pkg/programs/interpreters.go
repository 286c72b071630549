package programs

import "strings"

// interpreter reads an interpreter: its code is not understood, but for what
// plainly deletes.
func (c *Call) interpreter() {
	c.Args = c.Words[1:]
	code, valued := c.Record.Code, c.Record.CodeValued
	words := c.Words[1:]
	if len(words) == 2 && Has(c.Record.Checks, words[0].Text) && !words[0].Dynamic && !words[1].Dynamic && !strings.HasPrefix(words[1].Text, "-") {
		c.file(Read, words[1])
		c.Shell.SetClass(ReadOnly)
		return
	}
	inPlace := false
	for i := 0; i < len(words); i++ {
		x := words[i]
		t := x.Text
		switch {
		case x.Dynamic && !strings.HasPrefix(x.Lead, "-"):
			c.scriptOperand(words[i:])
			return
		case t == "--" || t == "-":
			if t == "-" {
				c.codeInput()
				return
			}
			if i+1 < len(words) {
				c.scriptOperand(words[i+1:])
			}
			return
		case !strings.HasPrefix(t, "-"):
			if c.Known == "deno" && t == "eval" && i+1 < len(words) {
				c.code(words[i+1])
				return
			}
			if c.Known == "bun" && t == "x" && i+1 < len(words) {
				c.start(words[i+1:])
				return
			}
			if c.Known == "deno" || c.Known == "bun" {
				c.modules(words[i:])
				return
			}
			c.scriptOperand(words[i:])
			return
		case Has(code, t):
			if i+1 < len(words) {
				c.code(words[i+1])
				c.interpreted(words[i+2:], inPlace)
			}
			return
		case strings.HasPrefix(t, "--eval=") || strings.HasPrefix(t, "--print="):
			c.code(after(x, t[:strings.IndexByte(t, '=')+1]))
			return
		case c.Known != "java" && len(t) > 2 && t[1] != '-' && codeCluster(code, t):
			if j := strings.IndexAny(t, codeLetters(code)); j+1 < len(t) && c.Known != "perl" && c.Known != "ruby" {
				c.code(Word{Text: t[j+1:], Dynamic: x.Dynamic})
				c.interpreted(words[i+1:], strings.Contains(t[:j], "i"))
			} else if i+1 < len(words) {
				c.code(words[i+1])
				c.interpreted(words[i+2:], inPlace || strings.Contains(t, "i"))
			}
			return
		case t == "-m" && strings.HasPrefix(c.Known, "python"):
			c.module(words[i+1:])
			return
		case (c.Known == "perl" || c.Known == "ruby") && inPlaceCluster(t):
			inPlace = true
		case strings.HasPrefix(t, "-") && strings.Contains(t, "="):
			c.optionFile(t[strings.IndexByte(t, '=')+1:])
		case Has(valued, t):
			if i++; i < len(words) && !words[i].Dynamic {
				c.optionFile(words[i].Text)
			}
		}
	}
	c.codeInput()
}

// modules lists what deno and bun are given to run: files, and addresses.
func (c *Call) modules(words []Word) {
	for _, x := range words {
		if strings.Contains(x.Text, "://") && !strings.HasPrefix(x.Text, "-") {
			c.address(x)
		}
	}
	c.unknownFiles(c.Words[1:])
}

// inPlaceCluster reports whether short options of perl or ruby change files in
// place: -i may stand among others, as in -pi.bak.
func inPlaceCluster(t string) bool {
	i := strings.IndexByte(t, 'i')
	return i > 0 && !strings.HasPrefix(t, "--") && strings.Trim(t[1:i], "0123456789acflnpsStTuUvwWX") == ""
}

// optionFile lists a file that an option of an interpreter names.
func (c *Call) optionFile(s string) {
	if s != "" && len(s) < 1024 && (pathLike(s) || c.Shell.Exists(s)) {
		c.file(May, Word{Text: s})
	}
}

// VersionOnly reports whether c is only asked for its version or help. A shell or an interpreter ends then with the
// words alone that its record has for it: with others, as python -v, it goes on to run its input, and so may a program
// of which nothing is known.
func (c *Call) VersionOnly() bool {
	if len(c.Words) != 2 || c.Words[1].Dynamic {
		return false
	}
	t, asks := c.Words[1].Text, Has("--version --help", c.Words[1].Text)
	switch {
	case c.Record == nil:
		return asks && !c.Shell.Stdin().Set
	case c.Record.Version != "" || c.Record.Role == ShellRole || c.Record.Role == InterpreterRole:
		return Has(c.Record.Version, t)
	}
	return asks
}

// codeLetters are the short options that hold code.
func codeLetters(code string) string {
	var s strings.Builder
	for f := range strings.FieldsSeq(code) {
		if len(f) == 2 {
			s.WriteString(f[1:])
		}
	}
	return s.String()
}

func codeCluster(code, t string) bool {
	letters := codeLetters(code)
	if letters == "" {
		return false
	}
	j := strings.IndexAny(t, letters)
	return j > 0 && strings.Trim(t[1:j], "0123456789abcdfghijklnpqstuvwxyzABCDEGHLNOPQRSTUVW") == "" && !strings.HasPrefix(t, "-I") && !strings.HasPrefix(t, "-M")
}

// code judges a program given as a word.
func (c *Call) code(x Word) {
	if !c.Shell.Stdin().Set {
		names := strings.ReplaceAll(strings.TrimPrefix(c.Record.Code, "-"), " -", ",")
		c.Given = append(c.Given, Given{Names: strings.ReplaceAll(names, ",-", ",")})
	}
	if x.Net {
		c.danger("runs what it fetches")
	}
	if x.Dynamic {
		c.opaque("the code is not known before it runs")
		return
	}
	if why := destructive(x.Text); why != "" {
		c.danger(why)
	}
}

// interpreted lists the operands of code: files it may read, or change in
// place.
func (c *Call) interpreted(words []Word, inPlace bool) {
	for _, x := range words {
		if inPlace && !x.Dynamic && !strings.HasPrefix(x.Text, "-") {
			c.does(Write, x)
			c.Shell.SetClass(Unknown)
		}
	}
	c.unknownFiles(words)
}

// scriptOperand lists the script an interpreter runs and its arguments.
func (c *Call) scriptOperand(words []Word) {
	x := words[0]
	if x.Net {
		c.danger("runs what it fetches")
	}
	if x.Dynamic {
		c.opaque("the script is not known before it runs")
	}
	for _, path := range c.Shell.File(File{Effect: Read, Word: x}) {
		if c.Shell.IsFetched(path) {
			c.danger("runs what it fetches")
		}
	}
	c.unknownFiles(words[1:])
}

// codeInput judges an interpreter that reads its program from its input.
func (c *Call) codeInput() {
	if c.Shell.Stdin().Net {
		c.danger("runs what it fetches")
	}
	switch {
	case c.Shell.Stdin().Known:
		c.code(Word{Text: c.Shell.Stdin().Text})
	case c.Shell.Stdin().Set:
		c.opaque("the code comes from its input")
	}
}

// module reads python -m.
func (c *Call) module(words []Word) {
	if len(words) == 0 {
		return
	}
	switch words[0].Text {
	case "venv", "virtualenv":
		for _, x := range words[1:] {
			if !strings.HasPrefix(x.Text, "-") {
				c.does(Create, x)
			}
		}
		c.Shell.SetClass(Unknown)
		return
	case "http.server", "pip", "ensurepip":
	case "zipfile", "tarfile":
		if len(words) > 3 && (words[1].Text == "-e" || words[1].Text == "--extract") {
			c.does(Write, words[3])
			c.Shell.SetClass(Unknown)
		}
	}
	c.unknownFiles(words[1:])
}
