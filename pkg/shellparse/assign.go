package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"mvdan.cc/sh/v3/syntax"
)

// declaration walks export, declare and their kin.
func (w *walker) declaration(x *syntax.DeclClause) {
	argv := []string{x.Variant.Value}
	w.names[x.Variant.Value] = struct{}{}
	exported := x.Variant.Value == "export"
	c := policy.Access{Kind: policy.Exec, Argv: argv, Builtin: true, Class: policy.ReadOnly, Source: cut(w.source(x)), Parent: w.parent}
	i := w.emit(c) - 1
	flags := ""
	for _, a := range x.Args {
		if a.Name != nil && strings.Contains(flags, "i") {
			w.numbers = append(w.numbers, a.Name.Value)
		}
		src := w.source(a)
		if a.Name == nil { // an option, or a word that is not known
			for _, o := range w.fields(a.Value) {
				w.declared(o, &flags, i)
				argv = append(argv, o.text)
			}
			continue
		}
		argv = append(argv, src)
		if a.Naked && a.Index == nil {
			if exported || strings.Contains(flags, "x") {
				w.exported(a.Name.Value, w.lookup(a.Name.Value))
			}
			if strings.Contains(flags, "n") {
				w.st.gone = "a variable that stands for another"
			}
			if v := x.Variant.Value; v == "local" || v == "declare" || v == "typeset" {
				w.localVariable(a.Name.Value)
				w.st.put(a.Name.Value, value{known: len(w.calls) > 0})
			}
			continue
		}
		if v := x.Variant.Value; v != "export" && v != "readonly" {
			w.localVariable(a.Name.Value)
		}
		v := w.assign(a)
		if x.Variant.Value == "local" && len(w.calls) == 0 { // refused outside a function
			w.st.put(a.Name.Value, value{net: v.net})
		}
		if exported || strings.Contains(flags, "x") {
			w.exported(a.Name.Value, v)
		}
	}
	w.out.Accesses[i].Argv = argv
	if len(argv) == 1 || optionsOnly(argv[1:]) && strings.Trim(flags, "-fF") != "" {
		w.out.Accesses[i].Class = policy.Unknown // it prints every variable
	}
}

func optionsOnly(words []string) bool {
	return !slices.ContainsFunc(words, func(s string) bool { return !strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "+") })
}

// declared takes in one word of a declaration that is no plain assignment.
func (w *walker) declared(o word, flags *string, i int) {
	switch {
	case o.dyn:
		w.opaque(i, "a declaration that is not known before it runs")
		w.st.gone = cmpOr(w.st.gone, "a declaration that is not known")
		w.st.path = cmpOr(w.st.path, "a declaration that is not known")
	case strings.HasPrefix(o.text, "-") || strings.HasPrefix(o.text, "+"):
		*flags += o.text
		if strings.ContainsAny(o.text, "n") && o.text != "-n" || o.text == "-n" {
			w.st.gone = "a variable that stands for another"
			w.opaque(i, "a variable that stands for another")
		}
	default: // a quoted assignment or an odd name
		name, val, ok := strings.Cut(o.text, "=")
		if !syntax.ValidName(name) {
			w.opaque(i, "a name whose subscript is evaluated")
			return
		}
		if strings.Contains(*flags, "i") {
			w.numbers = append(w.numbers, name)
		}
		if ok {
			w.variable(name, text(val), false)
		}
		w.exported(name, w.lookup(name))
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
		switch v = text(x.text); {
		case x.number:
			v = value{list: []string{numberText}}
		case x.dyn:
			v = value{}
		}
		v.net = x.net
	default:
		v = text("")
	}
	if a.Name == nil || a.Index != nil {
		return value{net: v.net}
	}
	if a.Append {
		old := w.lookup(a.Name.Value)
		switch {
		case !old.known || !v.known:
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
			v.net = v.net || f.net
			if f.dyn {
				v.known = false
			}
			v.list = append(v.list, f.text)
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
	}
	w.set(name, v)
	inherited := w.world.Getenv == nil
	if !inherited {
		_, inherited = w.world.Getenv(name)
	}
	switch k := kindOfVariable(name, v); {
	case k == variableSearch || k == variableShell || name == "IFS":
		w.env(name, v)
	case k == variableProgram && (inherited || w.st.allexport):
		w.exported(name, v)
	}
}

// exported notes a variable that programs will see.
func (w *walker) exported(name string, v value) {
	switch kindOfVariable(name, v) {
	case variableProgram:
		w.env(name, v)
		w.st.env = cmpOr(w.st.env, name+" is set, which changes what programs do")
	case variableSearch, variableShell:
		w.env(name, v)
	case variableOther:
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
