package shellparse

import (
	"path"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// copyCommand reads cp and install: the last operand, or -t, is written.
func (w *walker) copyCommand(c *call) {
	w.options(c, c.prog.Options, c.prog.Style)
	if c.name == "install" && c.given("d", "directory") {
		w.operands(c, "create*")
		return
	}
	sources, target, into := w.sourcesAndTarget(c)
	tree := c.given("r", "R", "a", "recursive", "archive")
	for _, s := range sources {
		w.file(fileAccess{kind: policy.Read, tree: tree, parent: c.index + 1, src: s.text}, s)
	}
	w.written(c, sources, target, into, tree)
	for _, s := range sources {
		if c.given("s", "symbolic-link") && !s.dyn && !target.dyn {
			w.linked(s.text, target.text, true)
		}
	}
	if tree || c.given("d", "P", "s", "l", "symbolic-link", "link", "no-dereference") {
		w.dirty = true
	}
}

// sourcesAndTarget splits the operands of cp and its like into sources and target.
func (w *walker) sourcesAndTarget(c *call) (sources []word, target word, into bool) {
	if t, ok := c.optionValue("target-directory"); ok {
		return c.args, t, true
	}
	n := len(c.args)
	if n < 2 {
		return c.args, word{}, false
	}
	if last := c.args[n-1]; last.multi {
		c.opaque(w, "the target is not known before it runs")
	}
	return c.args[:n-1], c.args[n-1], n > 2
}

// written lists what arrives at a target: below it when it is a directory.
func (w *walker) written(c *call, sources []word, target word, into, tree bool) {
	c.lower(w, policy.Known)
	f := fileAccess{kind: policy.Write, op: policy.Change, parent: c.index + 1, src: target.text}
	if target.text == "" && !target.dyn {
		return
	}
	if target.dyn {
		w.file(f, target)
		return
	}
	dir := into
	certain := into
	for _, r := range w.resolve(target.text) {
		switch r.access.File {
		case policy.Dir:
			dir, certain = true, true
		case "":
			dir = true
		}
	}
	if c.given("T", "no-target-directory") {
		dir, certain = false, false
	}
	if !certain || len(sources) == 0 {
		w.file(f, target)
	}
	for _, s := range sources {
		if !dir {
			break
		}
		f.tree = tree
		switch {
		case s.dyn:
			g := f
			g.why, g.tree = "the name is not known before it runs", false
			w.file(g, target)
		default:
			w.file(f, word{text: strings.TrimSuffix(target.text, "/") + "/" + path.Base(s.text)})
		}
	}
}

// moveCommand reads mv: the sources are gone, the target is written.
func (w *walker) moveCommand(c *call) {
	w.options(c, c.prog.Options, c.prog.Style)
	sources, target, into := w.sourcesAndTarget(c)
	for _, s := range sources {
		f := fileAccess{kind: policy.Write, op: policy.Delete, parent: c.index + 1, src: s.text}
		for _, r := range w.pathsOf(s) {
			f.tree = f.tree || r.File == policy.Dir
		}
		w.file(f, s)
		w.file(fileAccess{kind: policy.Read, tree: f.tree, parent: c.index + 1, src: s.text}, s)
	}
	if !target.dyn && target.text == "/dev/null" {
		c.danger(w, "loses the file")
	}
	w.written(c, sources, target, into, false)
	for _, s := range sources {
		if !s.dyn && !target.dyn {
			w.relink(s.text, target.text)
		}
	}
	w.dirty = true
}

func (w *walker) pathsOf(x word) []policy.Access {
	if x.dyn {
		return nil
	}
	var out []policy.Access
	for _, r := range w.resolve(x.text) {
		out = append(out, r.access)
	}
	return out
}

// linkCommand reads ln and link. A hard link to a file outside brings it
// inside, and a symbolic one is a way there for what runs later in the text.
func (w *walker) linkCommand(c *call) {
	w.options(c, c.prog.Options, c.prog.Style)
	c.lower(w, policy.Known)
	sources, target, into := w.sourcesAndTarget(c)
	if len(c.args) == 1 && target.text == "" {
		sources, target = c.args, word{text: "."}
	}
	symbolic := c.given("s", "symbolic")
	for _, s := range sources {
		if !symbolic {
			w.file(fileAccess{kind: policy.Read, parent: c.index + 1, src: s.text}, s)
			w.file(fileAccess{kind: policy.Write, op: policy.Metadata, parent: c.index + 1, src: s.text}, s)
		}
	}
	w.written(c, sources, target, into, false)
	for _, s := range sources {
		if s.dyn || target.dyn {
			w.st.lost = cmpOr(w.st.lost, "a link to a place that is not known")
			continue
		}
		w.linked(s.text, target.text, symbolic)
	}
	w.dirty = true
}

// linked notes a link for the paths that come later.
func (w *walker) linked(to, name string, symbolic bool) {
	found := w.resolve(name)
	w.files = nil
	for _, r := range found {
		full := cmpOr(r.access.Named, r.access.Path)
		base := path.Dir(full)
		if r.access.File == policy.Dir {
			base, full = full, full+"/"+path.Base(to)
		}
		target := to
		if !strings.HasPrefix(to, "/") {
			from := base
			if !symbolic && len(w.st.dirs) > 0 {
				from = w.st.dirs[0]
			}
			target = path.Join(from, to)
		}
		if len(w.links) < 64 {
			w.links = append(w.links, link{name: full, target: target})
		}
	}
}

// relink notes that a name now leads where another did.
func (w *walker) relink(from, to string) {
	for _, r := range w.resolve(from) {
		if r.access.Named != "" && r.access.Named != r.access.Path {
			w.linked(r.access.Path, to, true)
		}
	}
}
