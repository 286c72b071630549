package shellparse

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// param adds what an expansion of a parameter gives.
func (b *builder) param(x *syntax.ParamExp, quoted bool) {
	w := b.w
	w.paramEffects(x)
	name := ""
	if x.Param != nil {
		name = x.Param.Value
	}
	if x.Excl || x.Names != 0 || x.Flags != nil || x.NestedParam != nil || x.Width || x.IsSet || len(x.Modifiers) > 0 || name == "" {
		keys := b.keys(x)
		if _, v, _ := w.parameter(name, x.Index); keys && v.known && v.array {
			for i := range v.list {
				if i > 0 && b.split && !(quoted && starred(x.Index)) {
					b.flush()
				} else if i > 0 {
					b.add(" ", true)
				}
				b.value(itoa(i), quoted)
			}
			return
		}
		if !keys && !x.Length {
			b.indirect(x)
		}
		b.hole(quoted, false)
		b.multi = b.multi || keys && b.split
		return
	}
	items, v, list := w.parameter(name, x.Index)
	b.net = b.net || v.net
	if x.Length {
		if n, ok := w.length(items, v, list); ok && !numeric(name) && name != "-" {
			b.value(itoa(n), quoted)
		} else {
			b.hole(quoted, true)
		}
		return
	}
	if list && x.Slice != nil && x.Repl == nil && x.Exp == nil && v.known && v.array && !starred(x.Index) {
		if from, to, ok := w.bounds(x.Slice, len(items), false); ok {
			b.list(items[from:to], quoted)
			return
		}
	}
	if !list && v.known && !numeric(name) && name != "-" && x.Exp == nil && (x.Slice == nil || x.Repl == nil) {
		s, ok := "", false
		switch {
		case x.Slice != nil:
			s, ok = w.sliced(v.first(), x.Slice)
		case x.Repl != nil:
			s, ok = w.replaced(v.first(), x.Repl)
		}
		if ok {
			b.value(s, quoted)
			return
		}
	}
	if list && x.Slice == nil && x.Repl == nil && x.Exp == nil {
		if items == nil && !v.known {
			b.hole(quoted, false)
			b.multi = b.split
			return
		}
		if quoted && (name == "*" || starred(x.Index)) {
			b.joined(items)
			return
		}
		b.list(items, quoted)
		return
	}
	switch {
	case x.Slice != nil || x.Repl != nil || list:
		if x.Exp != nil {
			w.unlikely(func() { w.inside(x.Exp.Word) })
			if x.Exp.Op == syntax.OtherParamOps {
				w.operator(x.Exp.Word)
			}
		}
		b.hole(quoted, false)
		b.multi = b.multi || list && b.split
	case x.Exp != nil:
		b.expansion(x, v, quoted)
	case (name == "$" || w.draws(name)) && b.unique():
	case numeric(name):
		b.hole(quoted, true)
	case v.numeric() && !v.known:
		b.hole(quoted, true)
	case !v.known && len(v.found) > 0 && w.shell == "bash" && !w.later:
		b.hole(quoted, false)
		for _, x := range v.found {
			x.Loop = true
			b.found = append(b.found, x)
		}
	case !v.known || name == "-" || v.array && w.shell == "zsh" || w.st.lookupFunc(name) != nil && w.shell == "zsh":
		b.hole(quoted, false)
	default:
		b.value(v.first(), quoted)
	}
}

// draws reports whether the shell draws a number by chance for each use of a variable, which one that was made
// local or unset is no more.
func (w *walker) draws(name string) bool {
	_, set := w.st.find(name)
	return w.shell == "bash" && (name == "RANDOM" || name == "SRANDOM") && !set && w.st.gone == "" && !w.later
}

// starred reports whether an index is a star.
func starred(index syntax.ArithmExpr) bool {
	x, ok := index.(*syntax.Word)
	return ok && x.Lit() == "*"
}

// joined adds the elements of "$*" or "${a[*]}", which are one word.
func (b *builder) joined(items []word) {
	b.active = true
	if b.w.st.ifs && len(items) > 1 { // it says what stands between them
		b.hole(true, false)
		return
	}
	for i, x := range items {
		if i > 0 {
			b.add(" ", true)
		}
		if x.Dynamic {
			b.add(x.Lead, true)
			b.hole(true, x.Number)
			continue
		}
		b.add(x.Text, true)
	}
}

// keys reports whether an expansion is ${!x[@]} of bash, the subscripts of a list, with nothing
// behind it.
func (b *builder) keys(x *syntax.ParamExp) bool {
	index, ok := x.Index.(*syntax.Word)
	return ok && (index.Lit() == "@" || index.Lit() == "*") && x.Excl && b.w.shell == "bash" && x.Param != nil && syntax.ValidName(x.Param.Value) &&
		x.Names == 0 && x.Flags == nil && x.NestedParam == nil && !x.Width && !x.IsSet && !x.Length && len(x.Modifiers) == 0 && x.Slice == nil && x.Repl == nil && x.Exp == nil
}

// indirect notes an expansion whose name or code is itself data.
func (b *builder) indirect(x *syntax.ParamExp) {
	if x.Names != 0 {
		return
	}
	b.w.whole("an expansion that reads another variable by name")
}

// numeric names the parameters that hold numbers only.
func numeric(name string) bool { return name == "?" || name == "$" || name == "#" || name == "!" }

// expansion adds ${x:-y} and its kin.
func (b *builder) expansion(x *syntax.ParamExp, v value, quoted bool) {
	w := b.w
	e := x.Exp
	name := x.Param.Value
	if numeric(name) || name == "-" || v.array && w.shell == "zsh" { // the shell sets it; zsh gives the whole array
		v = value{}
	}
	_, was := w.st.find(name)
	unset := v.known && len(v.list) == 0 && !was
	empty := v.known && v.first() == ""
	alternative := func() {
		if e.Word == nil {
			return
		}
		if quoted {
			for _, p := range e.Word.Parts {
				b.part(p, true)
			}
		} else {
			b.alternative(e.Word.Parts)
		}
	}
	var take, known bool
	switch e.Op {
	case syntax.DefaultUnset, syntax.AssignUnset, syntax.ErrorUnset:
		take, known = unset, v.known
	case syntax.DefaultUnsetOrNull, syntax.AssignUnsetOrNull, syntax.ErrorUnsetOrNull:
		take, known = empty, v.known
	case syntax.AlternateUnset:
		take, known = !unset, v.known
	case syntax.AlternateUnsetOrNull:
		take, known = !empty, v.known
	case syntax.UpperAll, syntax.LowerAll, syntax.UpperFirst, syntax.LowerFirst:
		if s, ok := w.recased(e.Op, v.first()); ok && v.known && e.Word == nil {
			b.value(s, quoted)
			return
		}
		w.unlikely(func() { w.inside(e.Word) })
		b.hole(quoted, false)
		return
	default: // removal of a prefix and the like
		if x := w.unexpanded(e.Word); v.known && !v.array && w.shell != "zsh" && x != nil {
			if s, ok := removed(e.Op, v.first(), *x); ok {
				b.value(s, quoted)
				return
			}
		}
		w.unlikely(func() { w.inside(e.Word) })
		if e.Op == syntax.OtherParamOps {
			w.operator(e.Word)
		}
		b.hole(quoted, false)
		return
	}
	isAlt := e.Op == syntax.AlternateUnset || e.Op == syntax.AlternateUnsetOrNull
	assign := e.Op == syntax.AssignUnset || e.Op == syntax.AssignUnsetOrNull
	switch {
	case e.Op == syntax.ErrorUnset || e.Op == syntax.ErrorUnsetOrNull:
		w.unlikely(func() { w.inside(e.Word) })
		if known && !take {
			b.value(v.first(), quoted)
		} else {
			b.hole(quoted, false)
		}
	case !known:
		w.unlikely(func() { w.inside(e.Word) })
		if assign {
			w.set(name, value{})
		}
		b.hole(quoted, false)
	case take && assign:
		x := w.single(e.Word, true)
		if x.Dynamic {
			w.set(name, value{net: x.Net})
			b.hole(quoted, false)
			return
		}
		w.set(name, text(x.Text))
		b.value(x.Text, quoted)
	case take:
		alternative()
	case isAlt:
		w.unlikely(func() { w.inside(e.Word) })
		b.active = b.active || quoted
	default:
		w.unlikely(func() { w.inside(e.Word) })
		b.value(v.first(), quoted)
	}
}

// unexpanded is the text of a word that is one literal; nil for others.
func (*walker) unexpanded(x *syntax.Word) *string {
	if x == nil {
		return new(string)
	}
	if len(x.Parts) != 1 {
		return nil
	}
	l, ok := x.Parts[0].(*syntax.Lit)
	if !ok || strings.ContainsAny(l.Value, "~$`\"'{}") {
		return nil
	}
	return &l.Value
}

// alternative adds the word that stands in an unquoted expansion. As an
// argument it is split like a value, where its own text has blanks.
func (b *builder) alternative(parts []syntax.WordPart) {
	if !b.split || b.w.shell == "zsh" {
		b.parts(parts)
		return
	}
	for i, p := range parts {
		l, ok := p.(*syntax.Lit)
		if !ok {
			b.part(p, false)
			continue
		}
		if b.w.st.ifs || bareDollar(parts[i:i+1]) {
			b.hole(false, false)
			continue
		}
		s, first := l.Value, i == 0
		for s != "" {
			n := bareBlank(s)
			if n > 0 {
				b.literal(s[:n], first, i == len(parts)-1 || n < len(s))
			}
			if n < len(s) {
				b.flush()
				n++
			}
			s, first = s[n:], false
		}
	}
}

// bareBlank gives the index of the first blank that no backslash precedes, the
// length of s where there is none.
func bareBlank(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
		} else if blank(rune(s[i])) {
			return i
		}
	}
	return len(s)
}

// operator judges ${x@P} and its kin: P runs what the value holds.
func (w *walker) operator(x *syntax.Word) {
	if x == nil || strings.IndexByte("QUuLEaKk", (x.Lit() + "?")[0]) < 0 {
		w.whole("an expansion that runs what the variable holds")
	}
}

// inside walks a word for its effects only.
func (w *walker) inside(x *syntax.Word) {
	if x == nil {
		return
	}
	b := builder{w: w}
	b.parts(x.Parts)
}

// parameter finds a parameter's value: the items of a list, or one value.
func (w *walker) parameter(name string, index syntax.ArithmExpr) (items []word, v value, list bool) {
	switch name {
	case "@", "*":
		items = w.st.positional()
		if w.later || !w.spend(len(items)) {
			return nil, value{}, true
		}
		return items, value{known: true}, true
	}
	if n, ok := smallInt(name); ok {
		args := w.st.positional()
		switch {
		case n == 0 || w.later || uncertain(args, n):
			return nil, value{}, false
		case n > len(args):
			return nil, value{known: true}, false
		case args[n-1].Dynamic:
			return nil, value{net: args[n-1].Net}, false
		}
		return nil, text(args[n-1].Text), false
	}
	v = w.lookup(name)
	if index == nil {
		return nil, v, false
	}
	if x, ok := index.(*syntax.Word); ok {
		switch l := x.Lit(); {
		case l == "@" || l == "*":
			if !v.known || !v.array && slices.Contains(w.arrays, name) || !w.spend(len(v.list)) {
				return nil, value{net: v.net}, true
			}
			for _, s := range v.list {
				items = append(items, word{Text: s})
			}
			return items, v, true
		default:
			if n, ok := smallInt(l); ok && v.known && n < len(v.list) && v.array && w.shell != "zsh" {
				return nil, text(v.list[n]), false
			}
		}
	}
	if s, ok := w.element(v, index); ok {
		return nil, text(s), false
	}
	return nil, value{net: v.net}, false
}
