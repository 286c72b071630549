package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// cd moves the shell; where that may fail it may also stay.
func (w *walker) cd(c *call) {
	args := slices.Clone(c.Args)
	for len(args) > 0 && !args[0].Dynamic && len(args[0].Text) > 1 && args[0].Text[0] == '-' {
		if args[0].Text == "--" {
			args = args[1:]
			break
		}
		args = args[1:]
	}
	before, sure := slices.Clone(w.st.dirs), w.enters(args)
	switch {
	case len(args) == 0:
		if h := w.home(); h != "" {
			w.move(word{Text: h})
		} else {
			w.st.lost = "the directory is not known"
		}
	case args[0].Text == "-" && !args[0].Dynamic:
		if len(w.st.old) == 0 {
			w.st.lost = "the previous directory is not known"
		} else {
			w.st.dirs = w.st.old
		}
	default:
		w.cdTo(c, args[0])
	}
	w.st.old = before
	if w.st.fail = before; sure {
		w.st.fail = slices.Clone(w.st.dirs)
	}
	w.crowd()
}

// enters reports whether cd certainly goes to what it is given: a directory that is there or that
// the text has made, and with which nothing has happened that is not known.
func (w *walker) enters(args []word) bool {
	if len(args) != 1 || args[0].Dynamic || args[0].Pattern != "" || args[0].Text == "-" || w.stirred || len(w.links) > 0 || w.st.lost != "" || len(w.st.dirs) != 1 || w.world.Enters == nil || w.masked() {
		return false
	}
	at := w.resolve(args[0].Text)
	if len(at) != 1 || at[0].access.Opaque != "" {
		return false
	}
	a := at[0].access
	return a.File == policy.Dir && w.world.Enters(a.Path) || a.File == policy.Missing && w.made(a.Path)
}

func (w *walker) cdTo(c *call, x word) {
	if v, set := w.st.find("CDPATH"); set || w.inherited("CDPATH") {
		if !(v.known && v.first() == "") && !strings.HasPrefix(x.Text, "/") && !strings.HasPrefix(x.Text, ".") {
			w.st.lost = "CDPATH is set"
			return
		}
	}
	if x.Dynamic {
		w.file(fileAccess{kind: policy.Read, parent: c.index + 1, src: x.Text}, x)
	}
	w.move(x)
}

// inherited reports whether the environment has a variable that is not empty.
func (w *walker) inherited(name string) bool {
	if w.world.Getenv == nil {
		return false
	}
	s, ok := w.world.Getenv(name)
	return ok && s != ""
}

func (w *walker) pushd(c *call) {
	if len(c.Args) != 1 || strings.HasPrefix(c.Args[0].Text, "-") || strings.HasPrefix(c.Args[0].Text, "+") {
		w.st.lost = "the directory is not known"
		return
	}
	before, sure := slices.Clone(w.st.dirs), w.enters(c.Args)
	if len(before) == 1 {
		w.st.pushed = append(slices.Clone(w.st.pushed), before[0])
	} else {
		w.st.pushed = nil
	}
	w.cdTo(c, c.Args[0])
	w.st.old, w.st.fail = before, before
	if sure {
		w.st.fail = slices.Clone(w.st.dirs)
	} else {
		w.st.unpushed = true
	}
}

func (w *walker) popd(c *call) {
	n := len(w.st.pushed)
	if n == 0 || len(c.Args) > 0 {
		w.st.lost = cmpOr(w.st.lost, "the directory is not known")
		return
	}
	before, to := slices.Clone(w.st.dirs), w.st.pushed[n-1]
	sure := !w.st.unpushed && w.enters([]word{{Text: to}})
	w.st.dirs, w.st.pushed = []string{to}, w.st.pushed[:n-1]
	w.st.old, w.st.fail = before, before
	if sure {
		w.st.fail = slices.Clone(w.st.dirs)
	}
}
