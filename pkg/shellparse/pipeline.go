package shellparse

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"github.com/agentkit-go/agentkit/pkg/programs"
)

// chain walks a && b || c, following where each part leaves the shell.
func (w *walker) chain(x *syntax.BinaryCmd) {
	type link struct {
		op syntax.BinCmdOperator
		y  *syntax.Stmt
	}
	var links []link
	first := x.X
	links = append(links, link{x.Op, x.Y})
	for {
		b, ok := first.Cmd.(*syntax.BinaryCmd)
		if !ok || b.Op == syntax.Pipe || b.Op == syntax.PipeAll || len(first.Redirs) > 0 || first.Negated || first.Background {
			break
		}
		links = append(links, link{b.Op, b.Y})
		first = b.X
	}
	w.stmt(first)
	var before map[string]value // what the part before has certainly set, where this one runs
	var made []string           // the directories that it has certainly made
	for _, l := range slices.Backward(links) {
		left := w.st.flow
		and := l.op == syntax.AndStmt
		s := w.push()
		s.fail, s.dead = nil, false
		if !and {
			s.dirs = slices.Clone(left.failed())
		}
		if and {
			for name, v := range before {
				s.put(name, v)
			}
			s.made = union(s.made, made)
		}
		w.stmt(l.y)
		right := s.flow
		if before, made = nil, nil; and {
			before, made = s.vars, right.made
		}
		w.join(s)
		st := w.st
		st.done = and && left.done && right.done
		switch {
		case and && left.dead:
			// never reached
		case and && right.dead:
			st.dirs, st.fail, st.dead = left.failed(), nil, false
		case and && left.done:
			st.dirs, st.fail, st.made, st.dead = right.dirs, right.fail, right.made, false
		case and:
			st.fail = union(slices.Clone(left.failed()), right.failed())
			st.dirs, st.dead = right.dirs, false
		case right.dead:
			st.fail, st.dead = nil, false
			st.dirs = left.dirs
		case left.dead:
			st.dirs, st.fail, st.dead = right.dirs, right.fail, false
		default:
			st.dirs, st.fail = union(slices.Clone(left.dirs), right.dirs), slices.Clone(right.failed())
		}
		w.crowd()
	}
}

// crowd gives up on the directory when there are too many it may be.
func (w *walker) crowd() {
	if len(w.st.names) > maxDirs || len(w.st.dirs) > maxDirs || len(w.st.fail) > maxDirs {
		w.st.dirs, w.st.fail = w.st.dirs[:1], nil
		w.st.lost = cmpOr(w.st.lost, "the directory is not known")
	}
}

// pipeline walks a | b | c; each part runs in a shell of its own.
func (w *walker) pipeline(x *syntax.BinaryCmd) {
	var stages []*syntax.Stmt
	errs := map[*syntax.Stmt]bool{} // those whose complaints are piped, too
	var flat func(s *syntax.Stmt)
	both := func(x *syntax.BinaryCmd) {
		flat(x.X)
		errs[stages[len(stages)-1]] = x.Op == syntax.PipeAll
		flat(x.Y)
	}
	flat = func(s *syntax.Stmt) {
		if b, ok := s.Cmd.(*syntax.BinaryCmd); ok && (b.Op == syntax.Pipe || b.Op == syntax.PipeAll) && len(s.Redirs) == 0 && !s.Negated {
			both(b)
			return
		}
		stages = append(stages, s)
	}
	both(x)
	saved := w.stdin
	for i, s := range stages {
		here := i == len(stages)-1 && w.shell == "zsh" // the shell itself runs it
		open := w.fork
		if here {
			open = w.push
		}
		sub := open()
		from := len(w.out.Accesses)
		w.stmt(s)
		if here {
			w.join(sub)
		} else {
			w.drop(sub)
		}
		if w.recursion(from) {
			w.mark(from, "starts itself again without end")
		}
		w.stdin = w.printed(s, from)
		if errs[s] {
			w.stdin.Under = nil
		}
	}
	w.piped, w.stdin = w.stdin, saved
}

// printed says what is known of the output of a pipeline's stage, whose
// accesses start at from.
func (w *walker) printed(s *syntax.Stmt, from int) stream {
	out := stream{Set: true, Net: w.stdin.Net || w.fetches(from)}
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 || slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool { return r.Op != syntax.RdrOut || r.Word.Lit() != "/dev/null" }) {
		return out
	}
	name := c.Args[0].Lit()
	if w.st.lookupFunc(name) != nil {
		return out
	}
	switch name {
	case "echo", "printf":
		if t, ok := w.output([]*syntax.Stmt{s}); ok {
			out.Known, out.Text = true, t
		}
	case "find":
		out.Under, out.Names, out.Nul, out.Safe = w.findRoots(c.Args[1:])
		if out.Made = w.dirty; w.st.lost == "" && len(w.st.dirs) == 1 {
			out.Dir = w.st.dirs[0]
		}
	case "git", "rg", "grep", "ls":
		w.listed(&out, name, c, from)
	}
	if out.Under == nil {
		words := w.quietWords(c.Args[1:])
		if programs.Passes(name, words, w.stdin.Nul) || w.stdin.Listed != nil && programs.Passes(name, words, true) {
			out.Under, out.Safe, out.Names, out.Made, out.Listed = w.stdin.Under, w.stdin.Safe, w.stdin.Names, w.stdin.Made, w.stdin.Listed
			out.Dir, out.Nul = w.stdin.Dir, w.stdin.Nul
		}
	}
	return out
}
