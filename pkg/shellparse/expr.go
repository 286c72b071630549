package shellparse

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// paramEffects walks what stands inside an expansion besides the value: the
// subscript, the offsets, the replacement.
func (w *walker) paramEffects(x *syntax.ParamExp) {
	if x.Index == nil && x.Slice == nil && x.Repl == nil && x.NestedParam == nil {
		return
	}
	w.unlikely(func() { w.paramInside(x) }) // where there is no value, bash does not look at them
}

// unlikely walks what may or may not be evaluated.
func (w *walker) unlikely(f func()) {
	s := w.push()
	f()
	w.join(s)
}

func (w *walker) paramInside(x *syntax.ParamExp) {
	if x.Index != nil {
		w.subscript(x.Index)
	}
	if x.Slice != nil {
		for _, e := range []syntax.ArithmExpr{x.Slice.Offset, x.Slice.Length} {
			if e != nil {
				w.arithmetic(e)
			}
		}
	}
	if x.Repl != nil {
		w.inside(x.Repl.Orig)
		w.inside(x.Repl.With)
	}
	if x.NestedParam != nil {
		b := builder{w: w}
		b.part(x.NestedParam, true)
	}
}

// subscript walks the index of an array, which bash evaluates once more.
func (w *walker) subscript(e syntax.ArithmExpr) {
	if x, ok := e.(*syntax.Word); ok {
		if l := x.Lit(); l == "@" || l == "*" {
			return
		}
		for _, p := range x.Parts {
			switch p.(type) {
			case *syntax.SglQuoted:
				w.whole("a subscript that is evaluated")
			case *syntax.DblQuoted:
				if s := w.source(p); strings.ContainsAny(s, "$`\\[") {
					w.whole("a subscript that is evaluated")
					w.inside(x)
				}
				return
			}
		}
	}
	w.arithmetic(e)
}

// arithmetic walks an expression and gives its value where it is constant.
// The value of a variable is itself evaluated, so one that is not known to be
// a plain number may run anything.
func (w *walker) arithmetic(e syntax.ArithmExpr) (int, bool) {
	if e == nil || !w.spend(1) {
		return 0, false
	}
	switch x := e.(type) {
	case *syntax.Word:
		return w.operand(x)
	case *syntax.ParenArithm:
		return w.arithmetic(x.X)
	case *syntax.UnaryArithm:
		n, ok := w.arithmetic(x.X)
		if x.Op == syntax.Inc || x.Op == syntax.Dec {
			if l, isWord := x.X.(*syntax.Word); isWord {
				w.number(l.Lit(), 0, false)
			}
			return 0, false
		}
		return -n, ok && x.Op == syntax.Minus
	case *syntax.BinaryArithm:
		if l, ok := x.X.(*syntax.Word); ok && assigns(x.Op) {
			if x.Op != syntax.Assgn {
				w.arithmetic(l)
			} else if syntax.ValidName(l.Lit()) {
				n, known := w.arithmetic(x.Y)
				w.number(l.Lit(), n, known)
				return n, known
			} else {
				w.arithmetic(l)
			}
			w.arithmetic(x.Y)
			w.number(l.Lit(), 0, false)
			return 0, false
		}
		a, ok1 := w.arithmetic(x.X)
		switch x.Op {
		case syntax.AndArit, syntax.OrArit, syntax.TernQuest, syntax.TernColon:
			w.unlikely(func() { w.arithmetic(x.Y) })
			return 0, false
		}
		b, ok2 := w.arithmetic(x.Y)
		if !ok1 || !ok2 || max(a, b, -a, -b) > 1e4 {
			return 0, false
		}
		switch x.Op {
		case syntax.Add:
			return a + b, true
		case syntax.Sub:
			return a - b, true
		case syntax.Mul:
			return a * b, true
		}
	case *syntax.FlagsArithm:
		w.whole("an expression that zsh reads in its own way")
	}
	return 0, false
}

// assigns reports whether an operator sets its left side.
func assigns(op syntax.BinAritOperator) bool {
	switch op {
	case syntax.Eql, syntax.Neq, syntax.Leq, syntax.Geq:
		return false
	}
	return strings.HasSuffix(op.String(), "=")
}

// numberText marks a variable that holds a number that is not known which.
const numberText = "\x00number"

// number sets a variable to the result of arithmetic.
func (w *walker) number(name string, n int, known bool) {
	if !syntax.ValidName(name) {
		return
	}
	v := value{list: []string{numberText}}
	if known {
		v = text(itoa(n))
	}
	w.variable(name, v, false)
	if !known {
		w.put(name, v)
	}
}

// operand walks one word of an expression.
func (w *walker) operand(x *syntax.Word) (int, bool) {
	if l := x.Lit(); l != "" {
		if n, ok := smallInt(l); ok {
			return n, true
		}
		if syntax.ValidName(l) {
			return w.evaluated(l)
		}
		if strings.Trim(l, "0123456789abcdefABCDEFxX#@_") == "" && l[0] >= '0' && l[0] <= '9' {
			return 0, false
		}
		if name, _, ok := strings.Cut(l, "["); !ok || !syntax.ValidName(name) {
			w.whole("arithmetic on text that is not known")
		}
		return 0, false
	}
	for _, p := range x.Parts {
		switch p := p.(type) {
		case *syntax.ParamExp:
			switch {
			case p.Param != nil && p.Exp == nil && p.Repl == nil && p.Slice == nil && !p.Excl && p.Index == nil && !p.Length:
				if n, ok := w.evaluated(p.Param.Value); ok && len(x.Parts) == 1 {
					return n, true
				}
			case p.Length:
				b := builder{w: w}
				if b.part(p, true); !b.dyn && len(x.Parts) == 1 {
					return smallInt(string(b.b))
				}
			default:
				b := builder{w: w}
				b.part(p, true)
				if b.dyn || !integer(string(b.b)) {
					w.whole("arithmetic on text that is not known")
				}
			}
		case *syntax.ArithmExp:
			if n, ok := w.arithmetic(p.X); ok && len(x.Parts) == 1 {
				return n, true
			}
		case *syntax.Lit: // it makes a name of what stands beside it
			if strings.Trim(p.Value, "0123456789#") != "" && p.Value != "0x" {
				w.whole("arithmetic on text that is not known")
			}
		default:
			b := builder{w: w}
			b.part(p, true)
			if !(b.dyn && b.number && len(b.b) == 0) && (b.dyn || !integer(string(b.b))) {
				w.whole("arithmetic on text that is not known")
			}
		}
	}
	return 0, false
}

// evaluated is a variable's value in arithmetic.
func (w *walker) evaluated(name string) (int, bool) {
	if numeric(name) {
		return 0, false
	}
	_, v, list := w.parameter(name, nil)
	switch {
	case list:
	case len(v.list) == 1 && v.list[0] == numberText && !v.known:
		return 0, false
	case v.known && v.first() == "":
		return 0, true
	case v.known:
		if n, ok := smallInt(v.first()); ok {
			return n, true
		}
		if integer(v.first()) {
			return 0, false
		}
	case name == "RANDOM" || name == "SECONDS" || name == "LINENO" || name == "COLUMNS" || name == "LINES" || name == "UID" || name == "EUID" || name == "PPID" || name == "OPTIND":
		if _, set := w.st.find(name); !set {
			return 0, false
		}
	}
	w.whole("arithmetic on text that is not known")
	return 0, false
}

func integer(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// test walks the expression inside [[ ]].
func (w *walker) test(e syntax.TestExpr) {
	if e == nil || !w.spend(1) {
		return
	}
	switch x := e.(type) {
	case *syntax.Word:
		w.inside(x)
	case *syntax.ParenTest:
		w.test(x.X)
	case *syntax.UnaryTest:
		if y, ok := x.X.(*syntax.Word); ok && (x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar) {
			if v := w.single(y, false); v.Dynamic || !syntax.ValidName(v.Text) {
				w.whole("a name whose subscript is evaluated")
			}
			return
		}
		w.test(x.X)
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			for _, side := range []syntax.TestExpr{x.X, x.Y} {
				if y, ok := side.(*syntax.Word); ok {
					w.compared(y)
				}
			}
			return
		}
		w.test(x.X)
		if x.Op == syntax.AndTest || x.Op == syntax.OrTest {
			w.unlikely(func() { w.test(x.Y) })
			return
		}
		w.test(x.Y)
	}
}

// compared walks a word that [[ -eq ]] evaluates as arithmetic.
func (w *walker) compared(x *syntax.Word) {
	if len(x.Parts) == 1 {
		if d, ok := x.Parts[0].(*syntax.DblQuoted); ok && len(d.Parts) == 1 {
			w.operand(&syntax.Word{Parts: d.Parts})
			return
		}
	}
	w.operand(x)
}
