package programs

import (
	"strings"
)

// tar reads tar in its three spellings. What an archive holds is not known, so
// what extracting writes is not either.
func (c *Call) tar() {
	c.parse()
	extract := c.has("extract", "delete", "append", "update", "create", "catenate")
	archive, named := c.optionValue("file")
	into := Word{Text: "."}
	if d, ok := c.optionValue("directory"); ok {
		into = d
	}
	if named && !archive.Dynamic && strings.Contains(archive.Text, ":") && !c.has("force-local") {
		c.opaque("an archive on another host")
	}
	if named {
		role := Read
		if c.has("create", "append", "update", "delete", "catenate") {
			role = Write
		}
		if archive.Text != "-" {
			c.does(role, archive)
		}
	}
	if !extract {
		c.Shell.SetClass(ReadOnly)
	}
	switch {
	case c.has("extract") && c.has("to-stdout"):
	case c.has("extract"):
		c.Shell.SetClass(Known)
		c.Shell.File(File{Effect: Create, Word: into, Why: "the archive decides what is written"})
	case c.has("create", "append", "update", "diff"):
		c.Shell.Move(into)
		for _, x := range c.Args {
			c.does(ReadTree, x)
			if c.has("remove-files") {
				c.file(DeleteTree, x)
			}
		}
	}
}
