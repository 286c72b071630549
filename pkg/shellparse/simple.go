package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"mvdan.cc/sh/v3/syntax"
)

// simple walks assignments, or a command with those that hold for it alone.
func (w *walker) simple(x *syntax.CallExpr) {
	if len(x.Args) == 0 {
		for _, a := range x.Assigns {
			w.assign(a)
		}
		return
	}
	words := w.words(x.Args)
	for _, a := range x.Assigns {
		if a.Pos().After(x.Args[0].Pos()) { // after coproc NAME: bash takes it for an argument
			w.whole("an assignment that bash takes for an argument")
		}
	}
	w.subscriptLike(x)
	if setsInside(x.Assigns) {
		w.whole("an assignment whose value sets a variable")
	}
	s := w.push()
	c := w.newCall(words, programs.Cut(w.source(x)))
	for _, a := range x.Assigns {
		v := w.assigned(a)
		w.forOne(c, a.Name.Value, v, a.Index != nil)
		if slices.Contains(w.numbers, a.Name.Value) && !v.numeric() {
			w.whole("arithmetic on text that is not known")
		}
		w.put(a.Name.Value, v)
		if a.Name.Value == "HOME" && !a.Append && a.Index == nil {
			c.home = v
		}
		if s.local == nil {
			s.local = map[string]bool{}
		}
		s.local[a.Name.Value] = true
	}
	switch {
	case len(words) > 0:
		w.run(c)
	case len(x.Assigns) == 0:
	default: // the words vanished: the assignments stay
		s.local = nil
	}
	w.adopt(s)
	if len(words) > 0 && !words[0].Dynamic && setsVariables(words[0].Text) { // it may set the very same, which stays
		for _, a := range x.Assigns {
			w.st.put(a.Name.Value, value{})
		}
	}
	if w.shell != "bash" && len(x.Assigns) > 0 { // a special built-in keeps them
		for _, a := range x.Assigns {
			w.st.put(a.Name.Value, value{})
		}
	}
}

// setsVariables reports whether a built-in may set variables of its shell.
func setsVariables(name string) bool {
	b := findBuiltin(name)
	if b == nil {
		return false
	}
	switch b.does {
	case doNothing, doCd, doPushd, doPopd, doEnd, doTest, doHash, doQuery:
		return false
	}
	return true
}

// forOne notes what an assignment in front of a command does to it.
func (w *walker) forOne(c *call, name string, v value, index bool) {
	if index {
		c.opaqueEnv = name + " is set"
	}
	if name == "IFS" && len(c.Words) > 0 && slices.Contains([]string{"read", "mapfile", "readarray"}, c.Words[0].Text) {
		return
	}
	switch kindOfVariable(name, v) {
	case programs.HarmlessVariable:
	case programs.OtherVariable:
		c.hush = name + " is set"
	case programs.ShellVariable:
		w.env(name, v)
		w.whole(name + " is set, which makes the shell run or read something")
		c.opaqueEnv = name + " is set for it"
	default:
		w.env(name, v)
		c.opaqueEnv = name + " is set for it"
	}
}

// subscriptLike marks the words that bash may take as a subscript assignment.
func (w *walker) subscriptLike(x *syntax.CallExpr) {
	for _, a := range x.Args {
		l, ok := a.Parts[0].(*syntax.Lit)
		if !ok {
			continue
		}
		if name, _, ok := strings.Cut(l.Value, "="); ok && a == x.Args[0] && syntax.ValidName(strings.TrimSuffix(name, "+")) {
			w.whole("an assignment that is read as a command") // after coproc
		}
		name, rest, ok := strings.Cut(l.Value, "[")
		if ok && syntax.ValidName(name) && (a == x.Args[0] || len(a.Parts) > 1 && strings.Contains(w.source(a), "]=")) && (len(a.Parts) > 1 || strings.ContainsAny(rest, "$`'\"\\")) {
			w.whole("a subscript that is evaluated")
		}
	}
}

// forget takes back what is known of everything that a loop's body changes,
// since it may have run before. A variable that only ever gets numbers stays a
// number.
func (w *walker) forget(s *syntax.Stmt) {
	names := map[string]bool{}
	moves := false
	w.changes(s, names, &moves, 0)
	for n, text := range names {
		switch v, ok := w.st.find(n); {
		case ok && v.numeric() && !text:
			w.st.put(n, value{list: []string{numberText}})
		case !ok || v.known || v.numeric() || len(v.found) > 0:
			w.st.put(n, value{net: v.net})
		}
		switch kindOfVariable(n, value{}) {
		case programs.SearchVariable:
			w.st.path = worse(w.st.path, n+" is set")
		case programs.ShellVariable:
			w.st.env = worse(w.st.env, n+" is set")
		}
		w.st.ifs = w.st.ifs || n == "IFS"
	}
	if moves {
		w.st.lost = cmpOr(w.st.lost, "the directory changes in a loop")
	}
}

// changes collects the variables that s may set, true for those that may get
// something else than a number, and whether it may leave the directory.
func (w *walker) changes(s syntax.Node, names map[string]bool, moves *bool, depth int) {
	sub := 0
	var ends []syntax.Node
	syntax.Walk(s, func(n syntax.Node) bool {
		if n == nil {
			if len(ends) > 0 {
				if _, ok := ends[len(ends)-1].(*syntax.Subshell); ok {
					sub--
				}
				ends = ends[:len(ends)-1]
			}
			return true
		}
		if !w.spend(1) {
			return false
		}
		ends = append(ends, n)
		switch x := n.(type) {
		case *syntax.Subshell:
			sub++
		case *syntax.Assign:
			if x.Name != nil {
				names[x.Name.Value] = names[x.Name.Value] || !numberAssign(x)
			}
		case *syntax.WordIter:
			names[x.Name.Value] = true
		case *syntax.UnaryArithm, *syntax.BinaryArithm:
			arithmeticNames(n, names)
		case *syntax.ParamExp:
			if x.Exp != nil && x.Param != nil && (x.Exp.Op == syntax.AssignUnset || x.Exp.Op == syntax.AssignUnsetOrNull) {
				names[x.Param.Value] = true
			}
		case *syntax.CallExpr:
			if len(x.Args) == 0 {
				break
			}
			name := x.Args[0].Lit()
			switch name {
			case "cd", "pushd", "popd":
				if sub == 0 {
					*moves = true
				}
			case "read", "mapfile", "readarray", "printf", "getopts", "unset", "local", "declare", "wait":
				for _, a := range x.Args[1:] {
					if l := a.Lit(); syntax.ValidName(l) {
						names[l] = true
					}
				}
			case "eval", "source", ".", "":
				if sub == 0 && name != "" {
					*moves = true
				}
			default:
				if f := w.st.lookupFunc(name); f != nil && depth < 4 {
					for _, b := range f.bodies {
						w.changes(b, names, moves, depth+1)
					}
				}
			}
		}
		return true
	})
}

func arithmeticNames(n syntax.Node, names map[string]bool) {
	switch x := n.(type) {
	case *syntax.UnaryArithm:
		if l, ok := x.X.(*syntax.Word); ok && (x.Op == syntax.Inc || x.Op == syntax.Dec) {
			names[l.Lit()] = names[l.Lit()]
		}
	case *syntax.BinaryArithm:
		if l, ok := x.X.(*syntax.Word); ok && strings.HasSuffix(x.Op.String(), "=") {
			names[l.Lit()] = names[l.Lit()]
		}
	}
}

// numberAssign reports whether an assignment certainly gives a number.
func numberAssign(a *syntax.Assign) bool {
	if a.Value == nil || a.Append || a.Index != nil || len(a.Value.Parts) != 1 {
		return false
	}
	if _, ok := a.Value.Parts[0].(*syntax.ArithmExp); ok {
		return true
	}
	return integer(a.Value.Lit())
}
