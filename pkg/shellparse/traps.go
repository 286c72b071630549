package shellparse

import (
	"reflect"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// A process is a shell while it is walked.
type process struct{ traps []*trap }

// A trap is a text that a shell runs when it ends or when a signal comes.
type trap struct {
	text, shell string
	index       int // of the access of the command that sets it
	scripted    bool
	vars        map[string]value // those that hold the same whenever it runs
	from, to    int              // its accesses where it was set

	set  int      // how many of dirs the shell may have been in when it was set
	dirs []string // where it may have been since
	lost string   // why that is not known
}

// passes notes where the shell may be between two commands.
func (p *process) passes(f *flow) {
	for _, t := range p.traps {
		if t.lost = cmpOr(t.lost, f.lost); len(t.dirs) <= maxDirs {
			t.dirs = union(union(t.dirs, f.dirs), f.fail)
		}
	}
}

// trap runs its first word later: at the end of the shell, or when a signal comes.
func (w *walker) trap(c *call) {
	args := c.Args
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) < 2 && !(len(args) == 1 && args[0].Dynamic) || strings.HasPrefix(args[0].Text, "-") && !args[0].Dynamic {
		return
	}
	x := args[0]
	if x.Dynamic {
		c.opaque(w, "the commands are not known before it runs")
		return
	}
	between := false
	for _, sig := range args[1:] { // these run between the commands that follow
		switch name := strings.TrimPrefix(strings.ToUpper(sig.Text), "SIG"); {
		case !sig.Dynamic && (name == "EXIT" || name == "0"):
			continue
		case sig.Dynamic, name == "DEBUG", name == "ERR", name == "RETURN", name == "CHLD", name == "ZERR", name == "17":
			w.whole("a trap that runs between other commands")
		}
		between = true
	}
	t := &trap{text: x.Text, shell: w.shell, index: c.index, scripted: w.scripted, set: len(w.st.dirs), dirs: slices.Clone(w.st.dirs), lost: w.st.lost}
	s := w.push()
	s.fence = true // by then the variables may hold something else
	if w.depth == 1 && len(w.calls) == 0 {
		w.keepSteady(s)
	}
	for name, v := range s.vars {
		if t.vars == nil {
			t.vars = map[string]value{}
		}
		t.vars[name] = v
	}
	t.from = len(w.out.Accesses)
	moves := w.trapped(t, s)
	t.to = len(w.out.Accesses)
	w.join(s)
	if between && moves {
		w.st.lost = cmpOr(w.st.lost, "a trap may move the shell")
	}
	w.st.process.traps = append(w.st.process.traps, t)
}

// trapped walks the text of a trap in a scope of its own. It reports whether the shell may go on in another directory.
func (w *walker) trapped(t *trap, s *scope) (moves bool) {
	own := &trap{dirs: slices.Clone(s.dirs), lost: s.lost}
	shell := s.process
	s.process = &process{traps: []*trap{own}}
	later, kind, end := w.later, w.shell, w.inFile(t.scripted)
	w.later, w.shell = true, t.shell
	w.text(t.text, t.index+1)
	end()
	w.later, w.shell = later, kind
	shell.traps = append(shell.traps, s.process.traps[1:]...) // which the trap sets
	s.process = shell
	return (own.lost != s.parent.lost || len(own.dirs) > len(s.parent.dirs)) && !w.leaves(t.text)
}

// leaves reports whether a text certainly ends the shell.
func (w *walker) leaves(text string) bool {
	file, err := parse(syntax.LangBash, text)
	if err != nil || len(file.Stmts) == 0 || w.st.lookupFunc("exit") != nil {
		return false
	}
	last := file.Stmts[len(file.Stmts)-1]
	c, ok := last.Cmd.(*syntax.CallExpr)
	return ok && !last.Background && len(last.Redirs) == 0 && len(c.Args) > 0 && c.Args[0].Lit() == "exit"
}

// exits walks the traps of a shell at its end once more, in each directory in which it may have been since they were set.
func (w *walker) exits() {
	p := w.st.process
	for i := 0; i < len(p.traps); i++ {
		t := p.traps[i]
		if i == maxTraps {
			w.whole("too many traps to follow")
			return
		}
		lost := t.lost
		if len(t.dirs) > maxDirs {
			lost = cmpOr(lost, "the directory is not known")
		}
		if lost != "" {
			w.trapAt(t, t.dirs[0], lost)
		}
		for _, dir := range t.dirs[t.set:] {
			w.trapAt(t, dir, "")
		}
	}
}

// maxTraps is how many traps of a shell are followed to its end.
const maxTraps = 64

// trapAt walks a trap in another directory than that in which it was set. What comes to the same there is not listed again.
func (w *walker) trapAt(t *trap, dir, lost string) {
	from, lists := len(w.out.Accesses), w.lists
	s := w.push()
	s.fence = true
	for name, v := range t.vars {
		s.put(name, v)
	}
	s.dirs, s.fail, s.old, s.pushed = []string{dir}, nil, nil, nil
	s.lost, s.dead = lost, false
	w.trapped(t, s)
	w.st = s.parent
	if slices.EqualFunc(w.out.Accesses[t.from:t.to], w.out.Accesses[from:], func(a, b policy.Access) bool {
		if b.Parent > from {
			b.Parent -= from - t.from
		}
		if b.By > from {
			b.By -= from - t.from
		}
		return reflect.DeepEqual(a, b)
	}) {
		w.out.Accesses, w.lists = w.out.Accesses[:from], lists
	}
}

// keepSteady notes, at the first trap of the text, what the variables hold that it finds.
// When the text is read once more, it gives the trap's scope those that hold the same
// whenever the trap runs.
func (w *walker) keepSteady(s *scope) {
	for name, v := range w.steady {
		now, _ := s.parent.find(name)
		relative := slices.ContainsFunc(v.list, func(t string) bool { return !strings.HasPrefix(t, "/") })
		if v.known && v.equal(now) && !relative { // the trap may run in another directory
			s.put(name, v)
		}
	}
	if w.steady != nil || s.steady != nil {
		return
	}
	steady := map[string]value{}
	for at := s.parent; at != nil; at = at.parent {
		at.steady = steady
		for name := range at.vars {
			if v, _ := s.parent.find(name); v.known && !v.net && len(steady) < maxSteady {
				steady[name] = v
			}
		}
	}
	s.steady = steady
}

// maxSteady is how many variables are followed for traps.
const maxSteady = 64
