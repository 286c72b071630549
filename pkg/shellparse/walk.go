package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"mvdan.cc/sh/v3/syntax"
)

// A stream is what is known of a program's input.
type stream = programs.Stream

// list walks commands that run one after another.
func (w *walker) list(stmts []*syntax.Stmt) {
	for _, s := range stmts {
		w.stmt(s)
		w.st.settle()
	}
}

// stmt walks one command with its redirections.
func (w *walker) stmt(s *syntax.Stmt) {
	if s == nil || !w.spend(1) {
		return
	}
	if b, ok := s.Cmd.(*syntax.BinaryCmd); ok && s.Background && w.shell == "zsh" && b.Op != syntax.Pipe && b.Op != syntax.PipeAll {
		w.whole("a list in the background, whose beginning zsh runs in the foreground")
	}
	w.st.done = false
	if s.Background || s.Coprocess || s.Disown {
		sub := w.fork()
		defer w.drop(sub)
	}
	defer func() { w.st.process.passes(&w.st.flow) }()
	start, stirred := len(w.out.Accesses), w.stirred
	saved := w.stdin
	if setsInRedirect(s.Redirs) { // after the words are made, and without a command in another process
		w.whole("a redirection that sets a variable")
	}
	files := w.redirects(s.Redirs)
	if s.Cmd == nil && w.shell == "zsh" && len(s.Redirs) > 0 {
		w.whole("a redirection alone, for which zsh runs a program")
	}
	from, own := len(w.out.Accesses), w.own
	w.own = len(s.Redirs) == 1 && s.Redirs[0].N == nil && (s.Redirs[0].Op == syntax.WordHdoc || s.Redirs[0].Op == syntax.Hdoc || s.Redirs[0].Op == syntax.DashHdoc || s.Redirs[0].Op == syntax.RdrIn)
	if _, declares := s.Cmd.(*syntax.FuncDecl); !declares && w.mayFail(s.Redirs) {
		w.perhaps(func() { w.command(s.Cmd) })
	} else {
		w.command(s.Cmd)
	}
	w.own = own
	if w.stdin = saved; len(s.Redirs) > 0 && replacesInput(s.Cmd) {
		w.stdin = stream{Set: true}
	}
	if len(files) > 0 && w.fetches(from) {
		for _, i := range files {
			w.fetched = append(w.fetched, w.out.Accesses[i].Path)
		}
	}
	if s.Negated {
		w.st.dirs, w.st.fail = union(w.st.dirs, w.st.fail), nil
	}
	w.emptied(s.Cmd, files, from)
	w.settles(s, start, stirred)
}

// replacesInput reports whether redirections of a command may stay: those of exec without a
// program do.
func replacesInput(cmd syntax.Command) bool {
	c, ok := cmd.(*syntax.CallExpr)
	return ok && slices.ContainsFunc(c.Args, func(x *syntax.Word) bool { l := x.Lit(); return l == "exec" || l == "" })
}

// perhaps walks a command that does not run where a redirection of its fails.
func (w *walker) perhaps(command func()) {
	s := w.push()
	command()
	after := s.flow
	w.join(s)
	w.st.dirs, w.st.fail = after.dirs, union(slices.Clone(after.failed()), w.st.dirs)
	w.st.old, w.st.pushed, w.st.dead = union(w.st.old, after.old), nil, false
	w.crowd()
}

// emptied marks the commands whose only effect is to empty a file, and those
// that write what grants access or plants code.
func (w *walker) emptied(cmd syntax.Command, files []int, from int) {
	if len(files) == 0 {
		return
	}
	for i := from; i < len(w.out.Accesses); i++ { // a file besides: no longer one that changes nothing
		if a := &w.out.Accesses[i]; a.Kind == policy.Exec && a.Class == policy.ReadOnly {
			a.Class = policy.Known
		}
	}
	why := ""
	if null(cmd) {
		for _, i := range files {
			if a := &w.out.Accesses[i]; a.Op == policy.Change || a.Op == policy.Create {
				if !strings.HasPrefix(a.Source, ">>") {
					why = "empties a file"
				}
			}
		}
	}
	for _, i := range files {
		why = cmpOr(w.out.Accesses[i].Danger, why)
	}
	if why == "" {
		return
	}
	for i := from; i < len(w.out.Accesses); i++ {
		if a := &w.out.Accesses[i]; a.Kind == policy.Exec && len(a.Argv) > 0 {
			endanger(a, why)
			return
		}
	}
	w.emit(policy.Access{Kind: policy.Exec, Argv: []string{":"}, Builtin: true, Class: policy.Known, Danger: why, Loses: programs.IsLoss(why), Source: w.out.Accesses[files[0]].Source})
}

// null reports whether a command prints nothing, so that its redirection only
// empties the file.
func null(cmd syntax.Command) bool {
	if cmd == nil {
		return true
	}
	c, ok := cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return ok
	}
	switch name := c.Args[0].Lit(); name {
	case ":", "true":
		return true
	case "cat":
		return len(c.Args) == 2 && c.Args[1].Lit() == "/dev/null"
	case "echo", "printf":
		return len(c.Args) == 2 && (c.Args[1].Lit() == "-n" || emptyWord(c.Args[1]))
	}
	return false
}

// emptyWord reports whether a word is an empty string in quotes.
func emptyWord(x *syntax.Word) bool {
	if len(x.Parts) != 1 {
		return false
	}
	switch p := x.Parts[0].(type) {
	case *syntax.SglQuoted:
		return p.Value == ""
	case *syntax.DblQuoted:
		return len(p.Parts) == 0
	}
	return false
}

func (w *walker) command(cmd syntax.Command) {
	switch x := cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		w.simple(x)
	case *syntax.BinaryCmd:
		if x.Op == syntax.Pipe || x.Op == syntax.PipeAll {
			w.pipeline(x)
		} else {
			w.chain(x)
		}
	case *syntax.Block:
		w.list(x.Stmts)
	case *syntax.Subshell:
		s := w.fork()
		w.list(x.Stmts)
		w.drop(s)
	case *syntax.IfClause:
		w.condition(x)
	case *syntax.WhileClause:
		w.loop(func() { w.list(x.Cond); w.list(x.Do) }, x.Cond, x.Do)
	case *syntax.ForClause:
		w.forLoop(x)
	case *syntax.CaseClause:
		w.cases(x)
	case *syntax.FuncDecl:
		w.declare(x)
	case *syntax.ArithmCmd:
		w.step(x.X)
	case *syntax.TestClause:
		w.test(x.X)
	case *syntax.DeclClause:
		w.declaration(x)
	case *syntax.LetClause:
		if strings.ContainsAny(w.source(x), "<>|&;") || w.st.lookupFunc("let") != nil { // the parser takes them for arithmetic
			w.whole("an operator in the words of let")
		}
		for _, e := range x.Exprs {
			w.step(e)
		}
	case *syntax.TimeClause:
		if x.Stmt != nil {
			w.stmt(x.Stmt)
		}
	case *syntax.CoprocClause:
		s := w.fork()
		w.emit(policy.Access{Kind: policy.Exec, Argv: []string{"coproc"}, Builtin: true, Source: programs.Cut(w.source(x))})
		w.inside(x.Name)
		if x.Name != nil && x.Stmt != nil && !compound(x.Stmt.Cmd) {
			w.unsure([]word{w.single(x.Name, false)}, programs.Cut(w.source(x)), "a name that bash takes for the command")
		}
		w.stmt(x.Stmt)
		w.drop(s)
	default:
		w.whole("a construct of another shell")
	}
}

// compound reports whether a command is one that coproc takes a name before.
func compound(cmd syntax.Command) bool {
	switch cmd.(type) {
	case *syntax.Block, *syntax.Subshell, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause:
		return true
	}
	return false
}

// condition walks if, elif and else.
func (w *walker) condition(x *syntax.IfClause) {
	w.list(x.Cond)
	before := slices.Clone(w.st.dirs)
	s := w.push()
	w.list(x.Then)
	after := s.dirs
	w.join(s)
	if x.Else != nil {
		s = w.push()
		s.dirs = slices.Clone(before)
		if x.Else.ThenPos.IsValid() {
			w.condition(x.Else)
		} else {
			w.list(x.Else.Then)
		}
		before = s.dirs
		w.join(s)
	}
	w.st.dirs = union(before, after)
	w.crowd()
}

// loop walks a body that may run any number of times.
func (w *walker) loop(body func(), nodes ...[]*syntax.Stmt) {
	for _, n := range nodes {
		for _, s := range n {
			w.forget(s)
		}
	}
	s := w.push()
	body()
	after := s.dirs
	w.join(s)
	w.st.dirs = union(w.st.dirs, after)
	w.crowd()
}

func (w *walker) forLoop(x *syntax.ForClause) {
	switch l := x.Loop.(type) {
	case *syntax.CStyleLoop:
		for _, e := range []syntax.ArithmExpr{l.Init, l.Cond} {
			if e != nil {
				w.arithmetic(e)
			}
		}
		name, values := w.counter(l, x.Do)
		if l.Post != nil {
			w.unlikely(func() { w.arithmetic(l.Post) })
		}
		for _, n := range values {
			w.loop(func() {
				w.variable(name, text(itoa(n)), false)
				w.list(x.Do)
			}, x.Do)
		}
		if len(values) > 0 {
			w.number(name, 0, false)
			return
		}
		w.loop(func() { w.list(x.Do) }, x.Do)
	case *syntax.WordIter:
		items := w.words(l.Items)
		if !l.InPos.IsValid() {
			items = w.st.positional()
		}
		w.variable(l.Name.Value, value{}, true)
		if n := len(items); n == 0 || n > 8 && n*len(x.Do) > 64 || x.Select || len(x.Do) > 20 || slices.ContainsFunc(items, func(i word) bool { return i.Dynamic }) {
			numbers := l.InPos.IsValid() && w.counted(l.Items)
			w.loop(func() {
				switch {
				case numbers:
					w.put(l.Name.Value, value{list: []string{numberText}})
				case len(items) > 0 && !x.Select && !slices.ContainsFunc(items, func(i word) bool { return i.Under == "" }):
					w.put(l.Name.Value, value{found: items})
				}
				w.list(x.Do)
			}, x.Do)
			return
		}
		for _, it := range items {
			w.loop(func() {
				w.variable(l.Name.Value, text(it.Text), false)
				w.list(x.Do)
			}, x.Do)
		}
	}
}

func (w *walker) cases(x *syntax.CaseClause) {
	w.single(x.Word, false)
	before := slices.Clone(w.st.dirs)
	all := before
	for _, it := range x.Items {
		s := w.push()
		s.dirs = slices.Clone(before)
		for _, p := range it.Patterns {
			w.inside(p)
		}
		w.list(it.Stmts)
		all = union(all, s.dirs)
		w.join(s)
	}
	w.st.dirs = all
	w.crowd()
}

// declare notes a function.
func (w *walker) declare(x *syntax.FuncDecl) {
	names := x.Names
	if x.Name != nil {
		names = append(names, x.Name)
	}
	if _, more := x.Body.Cmd.(*syntax.BinaryCmd); more { // the parser takes what follows for a part of the body
		w.whole("a function with more commands right behind it")
	}
	if w.shell == "zsh" && x.RsrvWord {
		w.whole("a function keyword, behind which zsh expands names")
	}
	if len(names) == 0 { // zsh runs it at once
		w.whole("a function without a name")
		w.list([]*syntax.Stmt{x.Body})
	}
	for _, n := range names {
		if strings.HasPrefix(n.Value, "command_not_found_handle") || strings.Contains(n.Value, "\\") {
			w.whole("a function that the shell calls by itself")
		}
		f := &function{bodies: []*syntax.Stmt{x.Body}, src: w.src, scripted: w.scripted}
		w.st.function(n.Value, f)
		w.pending = append(w.pending, f)
	}
}
