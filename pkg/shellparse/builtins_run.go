package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// eval runs its words, joined, in this very shell.
func (w *walker) eval(c *call) {
	var parts []string
	for _, x := range c.args {
		if x.net {
			c.danger(w, "runs what it fetches")
		}
		if x.dyn {
			c.opaque(w, "the commands are not known before it runs")
			w.st.gone = cmpOr(w.st.gone, "commands that were not known have run")
			w.st.path = cmpOr(w.st.path, "commands that were not known have run")
			return
		}
		parts = append(parts, x.text)
	}
	w.text(strings.Join(parts, " "), c.index+1)
}

// sourceCommand runs a file in this very shell.
func (w *walker) sourceCommand(c *call) {
	if len(c.args) == 0 {
		return
	}
	x := c.args[0]
	if x.net {
		c.danger(w, "runs what it fetches")
	}
	in := w.stdin
	switch {
	case x.proc && x.script != "":
		w.text(x.script, c.index+1)
		return
	case !x.dyn && (x.text == "/dev/stdin" || x.text == "/proc/self/fd/0" || x.text == "/dev/fd/0") && in.known:
		c.opaque(w, "the commands come from its input")
		w.text(in.text, c.index+1)
		return
	}
	if in.net {
		c.danger(w, "runs what it fetches")
	}
	for _, i := range w.file(fileAccess{kind: policy.Read, parent: c.index + 1, src: x.text}, x) {
		if slices.Contains(w.fetched, w.out.Accesses[i].Path) {
			c.danger(w, "runs what it fetches")
		}
	}
	if !x.dyn && strings.Contains(x.text, "/") {
		if src, ok := w.scriptText(x.text); ok {
			w.text(src, c.index+1)
			c.opaque(w, "a file that is run, and may change before")
			return
		}
	}
	c.opaque(w, "a file that is run")
	w.st.gone = cmpOr(w.st.gone, "a file that is not known has run")
	w.st.path = cmpOr(w.st.path, "a file that is not known has run")
}

// execCommand replaces the shell, or changes its descriptors.
func (w *walker) execCommand(c *call) {
	args, refused := c.args, false
	for len(args) > 0 && !args[0].dyn && strings.HasPrefix(args[0].text, "-") && args[0].text != "-" {
		t := args[0].text
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
		if len(c.args) == 0 {
			w.out.Accesses[c.index].Class = policy.ReadOnly
		}
		w.st.dead = false
		return
	}
	c.src = cut(c.src)
	w.inner(c, args)
	w.st.dead = !refused
}

// end is exit and return. A return ends the function, whose caller goes on
// where it left; anywhere else it is refused.
func (w *walker) end(c *call) {
	switch {
	case len(c.args) > 0 && (c.args[0].option() || c.args[0].text == "--help"): // refused, or it prints a help text
	case c.name != "return":
		w.st.dead = true
	case slices.ContainsFunc(w.calls, func(s string) bool { return strings.HasPrefix(s, "function ") }):
		w.left = union(w.left, w.st.dirs)
		w.st.dead = true
	}
}

// commandBuiltin runs a program or built-in past functions and aliases.
func (w *walker) commandBuiltin(c *call) {
	args := c.args
	for len(args) > 0 && !args[0].dyn && strings.HasPrefix(args[0].text, "-") {
		t := args[0].text
		args = args[1:]
		switch {
		case t == "--":
		case c.name == "command" && strings.ContainsAny(t, "vV"):
			return
		case c.name == "jobs" && !strings.Contains(t, "x"):
			return
		default:
			continue
		}
		break
	}
	if len(args) == 0 {
		return
	}
	child := &call{words: args, src: c.src, opaqueEnv: c.opaqueEnv, hush: c.hush, why: c.why}
	saved := w.parent
	w.parent = c.index + 1
	defer func() { w.parent = saved }()
	if !w.spend(1 + len(args)) {
		return
	}
	if args[0].dyn || args[0].multi {
		w.dynamic(child)
		return
	}
	if b := findBuiltin(args[0].text); b != nil {
		child.name = args[0].text
		w.builtin(child, b)
		return
	}
	w.program(child)
}

// trap runs its first word later.
func (w *walker) trap(c *call) {
	args := c.args
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	if len(args) < 2 && !(len(args) == 1 && args[0].dyn) || strings.HasPrefix(args[0].text, "-") && !args[0].dyn {
		return
	}
	x := args[0]
	if x.dyn {
		c.opaque(w, "the commands are not known before it runs")
		return
	}
	for _, sig := range args[1:] { // these run between the commands that follow
		switch name := strings.TrimPrefix(strings.ToUpper(sig.text), "SIG"); {
		case sig.dyn, name == "DEBUG", name == "ERR", name == "RETURN", name == "CHLD", name == "ZERR", name == "17":
			w.whole("a trap that runs between other commands")
		}
	}
	s := w.push()
	s.fence = true // by then the variables may hold something else
	later := w.later
	w.later = true
	w.text(x.text, c.index+1)
	w.later = later
	w.join(s)
}
