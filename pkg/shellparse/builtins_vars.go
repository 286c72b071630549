package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"mvdan.cc/sh/v3/syntax"
)

// shifted takes positional parameters away.
func (w *walker) shifted(c *call) {
	if c.name != "shift" {
		return
	}
	n, known := 1, true
	if len(c.args) > 0 {
		n, known = smallInt(c.args[0].text)
		known = known && !c.args[0].dyn
	}
	args := w.st.positional()
	if !known || n < 0 || n > len(args) {
		w.st.hasArgs, w.st.args = true, []word{{text: "$@", dyn: true, multi: true}}
		return
	}
	w.st.hasArgs, w.st.args = true, args[n:]
}

// setCommand sets options and positional parameters.
func (w *walker) setCommand(c *call) {
	if len(c.args) == 0 { // it prints every variable
		c.lower(w, policy.Unknown)
	}
	for i, x := range c.args {
		if x.dyn && x.lead == "" && !x.number {
			c.opaque(w, "a word that is not known may be an option")
		}
		if !x.dyn && (x.text == "--" || x.text == "-") || !strings.HasPrefix(x.text, "-") && !strings.HasPrefix(x.text, "+") {
			rest := c.args[i:]
			if x.text == "--" || x.text == "-" {
				rest = rest[1:]
			}
			w.st.hasArgs, w.st.args = true, rest
			return
		}
		if strings.Contains(x.text, "a") && !strings.HasPrefix(x.text, "-o") {
			w.st.allexport = true
		}
		if strings.Trim(x.text, "-+euo") != "" || x.text == "-o" || x.text == "+o" {
			c.lower(w, policy.Unknown)
		}
		if x.text == "-o" && i+1 < len(c.args) {
			switch c.args[i+1].text {
			case "pipefail", "errexit", "nounset":
				w.out.Accesses[c.index].Class = policy.ReadOnly
			case "allexport":
				w.st.allexport = true
			}
			return
		}
	}
}

// assignName sets the variable that a word names to something not known.
func (w *walker) assignName(c *call, x word) {
	switch {
	case x.dyn:
		c.opaque(w, "a name that is not known before it runs")
		w.st.gone = cmpOr(w.st.gone, "a variable that is not known was set")
		w.st.path = cmpOr(w.st.path, "a variable that is not known was set")
	case !syntax.ValidName(x.text):
		c.opaque(w, "a name whose subscript is evaluated")
	default:
		w.variable(x.text, value{net: w.stdin.net}, true)
	}
}

// read sets variables from its input.
func (w *walker) read(c *call) {
	values := "dinNptu"
	if c.name != "read" {
		values = "dnOsucC"
	}
	named := false
	for i := 0; i < len(c.args); i++ {
		x := c.args[i]
		t := x.text
		if x.dyn || !strings.HasPrefix(t, "-") || t == "-" {
			w.assignName(c, x)
			named = true
			continue
		}
		for j := 1; j < len(t); j++ {
			if c.name != "read" && t[j] == 'C' {
				c.opaque(w, "it runs commands")
			}
			if t[j] == 'a' && c.name == "read" {
				if j+1 == len(t) && i+1 < len(c.args) {
					i++
					w.assignName(c, c.args[i])
				}
				named = true
				break
			}
			if strings.IndexByte(values, t[j]) >= 0 {
				if j+1 == len(t) {
					i++
				}
				break
			}
		}
	}
	if !named {
		name := "REPLY"
		if c.name != "read" {
			name = "MAPFILE"
		}
		w.st.put(name, value{net: w.stdin.net})
	}
}

// printf sets a variable with -v; the last one counts.
func (w *walker) printf(c *call) {
	args := c.args
	for len(args) > 0 {
		x := args[0]
		switch {
		case x.dyn && x.lead == "" && x.multi:
			w.st.gone = cmpOr(w.st.gone, "a variable that is not known was set")
			c.opaque(w, "a word that is not known may be an option")
			return
		case x.text == "-v" && len(args) > 1:
			w.assignName(c, args[1])
			if n := args[1].text; syntax.ValidName(n) {
				if s, ok := w.print("printf", args[2:]); ok {
					w.st.put(n, text(s))
				}
			}
			args = args[2:]
		case strings.HasPrefix(x.text, "-v") && len(x.text) > 2:
			w.assignName(c, word{text: x.text[2:]})
			args = args[1:]
		default:
			return
		}
	}
}

// unset forgets variables; wait -p sets one.
func (w *walker) unset(c *call) {
	for i, x := range c.args {
		switch {
		case c.name == "wait":
			if x.text == "-p" && i+1 < len(c.args) {
				w.assignName(c, c.args[i+1])
			}
		case x.dyn:
			c.opaque(w, "a name that is not known before it runs")
			w.st.gone = cmpOr(w.st.gone, "a variable that is not known was unset")
		case strings.HasPrefix(x.text, "-"):
		case !syntax.ValidName(x.text):
			c.opaque(w, "a name whose subscript is evaluated")
		default:
			if f := w.st.lookupFunc(x.text); f != nil {
				g := *f
				g.maybe = true
				w.st.function(x.text, &g)
			}
			k := kindOfVariable(x.text, value{})
			w.st.put(x.text, value{})
			switch k {
			case variableSearch:
				w.st.path = cmpOr(w.st.path, x.text+" is unset")
				w.env(x.text, value{known: true})
			case variableProgram, variableShell:
				w.env(x.text, value{known: true})
				w.st.env = cmpOr(w.st.env, x.text+" is unset")
			}
		}
	}
}

func (w *walker) alias(c *call) {
	for _, x := range c.args {
		name, text, ok := strings.Cut(x.text, "=")
		switch {
		case x.dyn:
			c.opaque(w, "an alias that is not known before it runs")
			w.st.env = cmpOr(w.st.env, "an alias is set")
		case w.shell == "zsh" && strings.HasPrefix(x.text, "-"):
			w.whole("an alias that holds everywhere")
		case ok:
			w.st.alias(name, text)
		}
	}
}

// declareWords reads declare and its kin where the parser saw plain words,
// such as after builtin or command.
func (w *walker) declareWords(c *call) {
	flags := ""
	for _, x := range c.args {
		w.declared(x, &flags, c.index)
		if name, _, _ := strings.Cut(x.text, "="); c.name == "local" && len(w.calls) == 0 { // refused outside a function
			w.st.put(name, value{})
		}
	}
	if !slices.ContainsFunc(c.args, func(x word) bool { return x.dyn || !strings.HasPrefix(x.text, "-") }) && strings.Trim(flags, "-fF") != "" || len(c.args) == 0 {
		c.lower(w, policy.Unknown) // it prints every variable
	}
}

// evaluateText judges a word that is evaluated as arithmetic.
func (w *walker) evaluateText(c *call, x word) {
	if x.dyn {
		c.opaque(w, "arithmetic on text that is not known")
		return
	}
	e, err := syntax.NewParser().Arithmetic(strings.NewReader(x.text))
	if err != nil || strings.ContainsAny(x.text, "$`'\"[") {
		c.opaque(w, "arithmetic on text that is not known")
		return
	}
	w.arithmetic(e)
}
