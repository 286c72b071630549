package programs

// goFormatter reads gofmt and its like: -w writes each file anew, and in a directory all that
// have a name of a Go file.
func (c *Call) goFormatter() {
	c.parse()
	for _, x := range c.Args {
		c.does(May, x)
		if !c.has("w") {
			continue
		}
		c.lower(Known)
		switch {
		case x.Dynamic && (x.Under == "" || x.Split || x.Listed != nil):
			// it is one of some names, or several, of which it changes those that hold Go
		case x.Dynamic:
			c.file(Write, x)
		default:
			c.formats(x)
		}
	}
}

// formats lists what a formatter of Go writes of a file or a directory.
func (c *Call) formats(x Word) {
	for _, at := range c.Shell.Resolve(x.Text) {
		if at.Type == Dir {
			c.file(Write, Word{Text: x.Text, Dynamic: true, Lead: x.Text, Under: x.Text, Names: "*.go"})
			return
		}
	}
	c.file(Write, x)
}
