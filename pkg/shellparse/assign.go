package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"mvdan.cc/sh/v3/syntax"
)

// declaration walks export, declare and their kin.
func (w *walker) declaration(x *syntax.DeclClause) {
	argv := []string{x.Variant.Value}
	if w.st.lookupFunc(x.Variant.Value) != nil {
		w.whole("a function with the name of a built-in")
	}
	w.names[x.Variant.Value] = struct{}{}
	c := policy.Access{Kind: policy.Exec, Argv: argv, Builtin: true, Class: policy.ReadOnly, Source: programs.Cut(w.source(x)), Parent: w.parent}
	i := w.emit(c) - 1
	flags := ""
	values := make([]value, len(x.Args))
	others := make([][]word, len(x.Args))
	for k, a := range x.Args { // every word is expanded before the first variable is set
		if a.Name != nil && (!a.Naked || a.Index != nil) {
			values[k] = w.assigned(a)
			if a.Append && len(x.Args) > 1 {
				values[k] = value{net: values[k].net}
			}
		} else if a.Name == nil {
			others[k] = w.fields(a.Value)
		}
	}
	for k, a := range x.Args {
		if a.Name == nil { // an option, or a word that is not known
			for _, o := range others[k] {
				w.declared(o, &flags, i)
				w.mayNotHold(x.Variant.Value, o)
				argv = append(argv, o.Text)
			}
			continue
		}
		argv = append(argv, w.source(a))
		w.declareOne(x.Variant.Value, flags, a, values[k])
	}
	w.out.Accesses[i].Argv = argv
	if len(argv) == 1 || optionsOnly(argv[1:]) && strings.Trim(flags, "-fF") != "" {
		w.out.Accesses[i].Class = policy.Unknown // it prints every variable
	}
}

// plainFlags are the options of declare that leave a value as it is written;
// others turn it to upper or lower case, or are zsh's.
const plainFlags = "-+aAxrginpfFtI"

// declareOne carries out one plain part of a declaration, whose value was
// expanded before.
func (w *walker) declareOne(variant, flags string, a *syntax.Assign, v value) {
	name := a.Name.Value
	exported := variant == "export" || strings.Contains(flags, "x")
	if strings.Contains(flags, "i") {
		w.numbers = append(w.numbers, name)
	}
	if strings.Trim(flags, plainFlags) != "" {
		w.vague = append(w.vague, name)
		if w.shell == "zsh" {
			w.whole("a declaration that zsh reads in its own way")
		}
	}
	if strings.ContainsAny(flags, "aA") {
		w.arrays = append(w.arrays, name)
	}
	if strings.Contains(flags, "A") { // its elements come in another order
		w.vague = append(w.vague, name)
	}
	if a.Value != nil && (!v.known && !v.numeric() || strings.Contains(v.first(), "(")) && (slices.Contains(w.arrays, name) || ownVariable(name)) {
		w.whole("a list that is read from text")
	}
	if a.Value != nil && v.array { // of a list's first element, or of a new variable
		v = value{net: v.net}
	}
	global := strings.Contains(flags, "g")
	if programs.Pages(name) && (strings.Contains(flags, "+") || a.Naked && !exported && variant != "readonly") {
		w.st.env = worse(w.st.env, "a variable that says which pager or editor programs use is taken away")
	}
	if a.Naked && a.Index == nil {
		if exported {
			w.exported(name, w.lookup(name))
		}
		if strings.Contains(flags, "n") {
			w.refers()
		}
		if variant == "local" || variant == "declare" || variant == "typeset" {
			if !global {
				w.localVariable(name)
			}
			w.put(name, value{known: len(w.calls) > 0 && !global})
		}
	} else {
		if variant != "export" && variant != "readonly" && !global {
			w.localVariable(name)
		}
		w.variable(name, v, a.Index != nil || global && len(w.calls) > 0)
		if variant == "local" && len(w.calls) == 0 { // refused outside a function
			w.put(name, value{net: v.net})
		}
		if exported {
			w.exported(name, v)
		}
	}
	if global { // past a local one of that name
		w.st.doubt(name)
	}
	if variant == "readonly" || strings.Contains(flags, "r") {
		w.fixed = append(w.fixed, name)
	}
}

func optionsOnly(words []string) bool {
	return !slices.ContainsFunc(words, func(s string) bool { return !strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "+") })
}

// declared takes in one word of a declaration that is no plain assignment.
func (w *walker) declared(o word, flags *string, i int) {
	switch {
	case o.Dynamic:
		w.opaque(i, "a declaration that is not known before it runs")
		w.st.gone = cmpOr(w.st.gone, "a declaration that is not known")
		w.st.path = worse(w.st.path, "a declaration that is not known")
	case strings.HasPrefix(o.Text, "-") || strings.HasPrefix(o.Text, "+"):
		*flags += o.Text
		if strings.ContainsAny(o.Text, "n") && o.Text != "-n" || o.Text == "-n" {
			w.refers()
			w.opaque(i, "a variable that stands for another")
		}
	default: // a quoted assignment or an unusual name
		name, val, ok := strings.Cut(o.Text, "=")
		if !syntax.ValidName(name) {
			w.opaque(i, "a name whose subscript is evaluated")
			return
		}
		if strings.Contains(*flags, "i") {
			w.numbers = append(w.numbers, name)
		}
		if strings.Contains(val, "(") { // a list is expanded once more
			w.opaque(i, "a list that is read from text")
		}
		if strings.Trim(*flags, plainFlags) != "" {
			w.vague = append(w.vague, name)
		}
		if ok {
			w.variable(name, text(val), false)
		}
		w.exported(name, w.lookup(name))
		w.fixed = append(w.fixed, name)
	}
}

// refers notes that a variable may stand for another, so that an assignment sets one that it does not name.
func (w *walker) refers() {
	w.byName, w.st.gone = true, "a variable that stands for another"
	for s := w.st; s != nil; s = s.parent {
		for name := range s.vars {
			s.put(name, value{net: s.vars[name].net})
		}
	}
}

// mayNotHold has the value of a variable that was declared by a plain word not be
// known where the declaration does not hold, or only in the function: local is
// refused outside of one.
func (w *walker) mayNotHold(variant string, o word) {
	name, _, ok := strings.Cut(o.Text, "=")
	if o.Dynamic || !ok || !syntax.ValidName(name) {
		return
	}
	switch {
	case len(w.calls) > 0:
		w.st.doubt(name)
	case variant == "local":
		w.st.put(name, value{})
	}
}

// localVariable keeps a variable inside the function being walked.
func (w *walker) localVariable(name string) {
	if len(w.calls) == 0 {
		return
	}
	if w.st.local == nil {
		w.st.local = map[string]bool{}
	}
	w.st.local[name] = true
}

// assign carries out one assignment that stays.
func (w *walker) assign(a *syntax.Assign) value {
	v := w.assigned(a)
	if a.Name == nil {
		return v
	}
	w.variable(a.Name.Value, v, a.Index != nil)
	return v
}

// assigned is the value that an assignment gives.
func (w *walker) assigned(a *syntax.Assign) value {
	if a.Index != nil {
		w.subscript(a.Index)
	}
	var v value
	switch {
	case a.Array != nil:
		v = w.array(a.Array)
	case a.Value != nil:
		x := w.single(a.Value, true)
		switch v = text(x.Text); {
		case x.Number:
			v = value{list: []string{numberText}}
		case x.Dynamic:
			v = value{}
		}
		v.net = x.Net
	default:
		v = text("")
	}
	if a.Name != nil && (a.Index != nil || a.Array != nil) {
		w.arrays = append(w.arrays, a.Name.Value)
	}
	if a.Name == nil || a.Index != nil {
		return value{net: v.net}
	}
	old := w.lookup(a.Name.Value)
	if old.array && old.known && !v.array { // it sets the first element alone
		if v.known && !a.Append && len(old.list) > 0 && w.shell == "bash" && w.spend(len(old.list)>>2) {
			return value{known: true, array: true, list: append([]string{v.first()}, old.list[1:]...), net: v.net || old.net}
		}
		return value{net: v.net || old.net}
	}
	if a.Append {
		switch {
		case slices.Contains(w.numbers, a.Name.Value):
			if v.numeric() && old.numeric() { // it adds
				return value{list: []string{numberText}}
			}
			v = value{net: v.net || old.net}
		case !old.known || !v.known, len(old.first())+len(v.first()) > maxWord, !w.spend(len(old.first())>>6 + len(old.list)>>2):
			v = value{net: v.net || old.net}
		case v.array:
			v.list = append(slices.Clone(old.list), v.list...)
		default:
			v = text(old.first() + v.first())
		}
	}
	return v
}

func (w *walker) array(x *syntax.ArrayExpr) value {
	v := value{known: true, array: true}
	for _, e := range x.Elems {
		if e.Index != nil {
			w.subscript(e.Index)
			v.known = false
		}
		if e.Value == nil {
			continue
		}
		for _, f := range w.fields(e.Value) {
			v.net = v.net || f.Net
			if f.Dynamic {
				v.known = false
			}
			v.list = append(v.list, f.Text)
		}
	}
	if !v.known {
		return value{net: v.net}
	}
	return v
}

// variable sets a variable of the shell and notes what that changes: always
// for those the shell itself heeds, for others only where they are exported.
func (w *walker) variable(name string, v value, unknown bool) {
	if unknown {
		v = value{net: v.net}
	}
	if slices.Contains(w.numbers, name) && !v.numeric() {
		w.whole("arithmetic on text that is not known")
		v = value{net: v.net}
	} else if _, ok := smallInt(v.first()); !ok && slices.Contains(w.numbers, name) { // such as 010
		v = value{list: []string{numberText}}
	}
	w.set(name, v)
	inherited := w.world.Getenv == nil
	if !inherited {
		_, inherited = w.world.Getenv(name)
	}
	switch k := kindOfVariable(name, v); {
	case k == programs.SearchVariable || k == programs.ShellVariable || name == "IFS":
		w.env(name, v)
	case k == programs.ProgramVariable && (inherited || w.st.allexport):
		w.exported(name, v)
	}
}

// exported notes a variable that programs will see.
func (w *walker) exported(name string, v value) {
	switch kindOfVariable(name, v) {
	case programs.ProgramVariable:
		w.env(name, v)
		w.st.env = worse(w.st.env, name+" is set, which changes what programs do")
	case programs.SearchVariable, programs.ShellVariable:
		w.env(name, v)
	case programs.OtherVariable:
		w.st.hush = cmpOr(w.st.hush, name+" is set")
	}
}

// env lists an assignment that changes how programs run.
func (w *walker) env(name string, v value) {
	a := policy.Access{Kind: policy.Env, Name: name, Source: name}
	if v.known {
		a.Value = strings.Join(v.list, " ")
	} else {
		a.Opaque = "the value is not known before it runs"
	}
	for _, o := range w.out.Accesses {
		if o.Kind == policy.Env && o.Name == a.Name && o.Value == a.Value {
			return
		}
	}
	w.emit(a)
}
