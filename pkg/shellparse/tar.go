package shellparse

import (
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// tar reads tar in its three spellings. What an archive holds is not known, so
// what extracting writes is not either.
func (w *walker) tar(c *call) {
	w.options(c, c.prog.Options, c.prog.Style)
	extract := c.given("extract", "delete", "append", "update", "create", "catenate")
	archive, named := c.optionValue("file")
	into := word{text: "."}
	before := w.st.dirs
	if d, ok := c.optionValue("directory"); ok {
		into = d
	}
	if named && !archive.dyn && strings.Contains(archive.text, ":") && !c.given("force-local") {
		c.opaque(w, "an archive on another host")
	}
	if named {
		role := programs.Read
		if c.given("create", "append", "update", "delete", "catenate") {
			role = programs.Write
		}
		if archive.text != "-" {
			w.role(c, role, archive)
		}
	}
	if !extract {
		w.lowerTo(c, policy.ReadOnly)
	}
	switch {
	case c.given("extract") && c.given("to-stdout"):
	case c.given("extract"):
		w.lowerTo(c, policy.Known)
		w.file(fileAccess{kind: policy.Write, op: policy.Create, parent: c.index + 1, src: into.text, why: "the archive decides what is written"}, into)
	case c.given("create", "append", "update", "diff"):
		w.move(into)
		for _, x := range c.args {
			w.role(c, programs.ReadTree, x)
			if c.given("remove-files") {
				w.file(fileAccess{kind: policy.Write, op: policy.Delete, tree: true, parent: c.index + 1, src: x.text}, x)
			}
		}
		w.st.dirs = before
	}
}
