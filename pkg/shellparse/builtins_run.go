package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// eval runs its words, joined, in this very shell.
func (w *walker) eval(c *call) {
	var parts []string
	for _, x := range c.Args {
		if x.Net {
			c.danger(w, "runs what it fetches")
		}
		if x.Dynamic {
			c.opaque(w, "the commands are not known before it runs")
			w.st.gone = cmpOr(w.st.gone, "commands that were not known have run")
			w.st.path = worse(w.st.path, "commands that were not known have run")
			return
		}
		parts = append(parts, x.Text)
	}
	w.text(strings.Join(parts, " "), c.index+1)
}

// sourceCommand runs a file in this very shell.
func (w *walker) sourceCommand(c *call) {
	if len(c.Args) == 0 {
		return
	}
	x := c.Args[0]
	if x.Net {
		c.danger(w, "runs what it fetches")
	}
	in := w.stdin
	switch {
	case x.Proc && x.Script != "":
		w.text(x.Script, c.index+1)
		return
	case !x.Dynamic && (x.Text == "/dev/stdin" || x.Text == "/proc/self/fd/0" || x.Text == "/dev/fd/0") && in.Known:
		c.opaque(w, "the commands come from its input")
		w.text(in.Text, c.index+1)
		return
	}
	if in.Net {
		c.danger(w, "runs what it fetches")
	}
	for _, i := range w.file(fileAccess{kind: policy.Read, parent: c.index + 1, src: x.Text}, x) {
		if slices.Contains(w.fetched, w.out.Accesses[i].Path) {
			c.danger(w, "runs what it fetches")
		}
	}
	if !x.Dynamic && strings.Contains(x.Text, "/") {
		if src, ok := w.scriptText(x.Text); ok {
			end := w.inFile(true)
			w.text(src, c.index+1)
			end()
			c.opaque(w, "a file that is run, and may change before")
			return
		}
	}
	c.opaque(w, "a file that is run")
	w.st.gone = cmpOr(w.st.gone, "a file that is not known has run")
	w.st.path = worse(w.st.path, "a file that is not known has run")
}

// execCommand replaces the shell, or changes its descriptors.
func (w *walker) execCommand(c *call) {
	args, refused := c.Args, false
	for len(args) > 0 && !args[0].Dynamic && strings.HasPrefix(args[0].Text, "-") && args[0].Text != "-" {
		t := args[0].Text
		args = args[1:]
		if t == "--" {
			break
		}
		flags, name, named := strings.Cut(t[1:], "a")
		refused = refused || strings.Trim(flags, "cl") != ""
		if named && name == "" && len(args) > 0 {
			args = args[1:]
		}
	}
	if len(args) == 0 {
		if len(c.Args) == 0 {
			w.out.Accesses[c.index].Class = policy.ReadOnly
		}
		w.st.dead = false
		return
	}
	c.Source = programs.Cut(c.Source)
	w.inner(c, args)
	w.st.dead = !refused
}

// end is exit and return. A return ends the function, whose caller goes on
// where it left; anywhere else it is refused.
func (w *walker) end(c *call) {
	switch {
	case len(c.Args) > 0 && (c.Args[0].MayBeOption() || c.Args[0].Text == "--help"): // refused, or it prints a help text
	case c.Name != "return":
		w.st.dead = true
	case slices.ContainsFunc(w.calls, func(s string) bool { return strings.HasPrefix(s, "function ") }):
		w.left = union(w.left, w.st.dirs)
		w.st.dead = true
	}
}

// commandBuiltin runs a program or built-in past functions and aliases.
func (w *walker) commandBuiltin(c *call) {
	args := c.Args
	for len(args) > 0 && !args[0].Dynamic && strings.HasPrefix(args[0].Text, "-") {
		t := args[0].Text
		args = args[1:]
		switch {
		case t == "--":
		case c.Name == "command" && strings.ContainsAny(t, "vV"):
			return
		case c.Name == "jobs" && !strings.Contains(t, "x"):
			return
		default:
			continue
		}
		break
	}
	if len(args) == 0 {
		return
	}
	child := w.newCall(args, c.Source)
	child.opaqueEnv, child.hush, child.why = c.opaqueEnv, c.hush, c.why
	saved := w.parent
	w.parent = c.index + 1
	defer func() { w.parent = saved }()
	if !w.spend(1 + len(args)) {
		return
	}
	if args[0].Dynamic || args[0].Multi {
		w.dynamic(child)
		return
	}
	if b := findBuiltin(args[0].Text); b != nil {
		child.Name = args[0].Text
		w.builtin(child, b)
		return
	}
	w.program(child)
}
