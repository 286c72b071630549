package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"mvdan.cc/sh/v3/syntax"
)

// shifted takes positional parameters away.
func (w *walker) shifted(c *call) {
	if c.Name != "shift" {
		return
	}
	n, known := 1, true
	if len(c.Args) > 0 {
		n, known = smallInt(c.Args[0].Text)
		known = known && !c.Args[0].Dynamic
	}
	args := w.st.positional()
	if !known || n < 0 || n > len(args) || uncertain(args, n) {
		w.st.hasArgs, w.st.args = true, []word{{Text: "$@", Dynamic: true, Multi: true}}
		return
	}
	w.st.hasArgs, w.st.args = true, args[n:]
}

// uncertain reports whether one of the first n words may become several, so
// that nobody knows which the others are.
func uncertain(args []word, n int) bool {
	return slices.ContainsFunc(args[:min(n, len(args))], func(x word) bool { return x.Multi })
}

// setCommand sets options and positional parameters.
func (w *walker) setCommand(c *call) {
	if len(c.Args) == 0 { // it prints every variable
		c.lower(w, policy.Unknown)
	}
	args := c.Args
	for len(args) > 0 {
		x := args[0]
		if x.Dynamic && (x.Lead == "" && !x.Number || strings.HasPrefix(x.Lead, "-") || strings.HasPrefix(x.Lead, "+")) {
			c.opaque(w, "a word that is not known may be an option")
		}
		if !strings.HasPrefix(x.Text, "-") && !strings.HasPrefix(x.Text, "+") {
			break
		}
		args = args[1:]
		if x.Text == "--" || x.Text == "-" {
			if x.Text == "-" && len(args) == 0 {
				return // the parameters stay
			}
			w.st.hasArgs, w.st.args = true, args
			return
		}
		args = w.setLetters(c, x.Text[1:], args)
	}
	if len(args) > 0 {
		w.st.hasArgs, w.st.args = true, args
	}
}

// setLetters reads a bundle of set's options; o takes the next word for the
// name of one. It gives the words that are left.
func (w *walker) setLetters(c *call, letters string, args []word) []word {
	for i := 0; i < len(letters); i++ {
		switch l := letters[i]; {
		case l == 'o' && len(args) > 0 && !strings.HasPrefix(args[0].Text, "-") && !strings.HasPrefix(args[0].Text, "+"):
			w.shellOption(c, args[0])
			args = args[1:]
		case l == 'o': // it prints the options
			c.lower(w, policy.Unknown)
		case l == 'a':
			w.st.allexport = true
			c.lower(w, policy.Unknown)
		case strings.IndexByte("eu", l) >= 0:
		case strings.IndexByte("bChmTEvx", l) >= 0:
			c.lower(w, policy.Unknown)
		default:
			w.rereads(c)
		}
	}
	return args
}

// The options of set -o and of shopt that change neither what words become nor
// which commands run.
const (
	plainOptions = " allexport errexit errtrace functrace hashall ignoreeof monitor noclobber nolog notify nounset pipefail verbose xtrace "
	plainShopts  = " checkhash checkjobs checkwinsize cmdhist gnu_errfmt histappend huponexit inherit_errexit lithist mailwarn progcomp promptvars shift_verbose "
)

// globShopts are the options of shopt by which a pattern stands for other names, or for none.
const globShopts = " dotglob failglob globasciiranges globskipdots globstar nocaseglob nullglob "

// shellOption judges an option of the shell that set -o or shopt -o names.
func (w *walker) shellOption(c *call, x word) {
	switch {
	case x.Dynamic:
		w.rereads(c)
	case x.Text == "pipefail" || x.Text == "errexit" || x.Text == "nounset":
	case programs.Has(plainOptions, x.Text):
		w.st.allexport = w.st.allexport || x.Text == "allexport"
		c.lower(w, policy.Unknown)
	default:
		w.rereads(c)
	}
}

// rereads notes an option that changes what the rest of the text means, such
// as keyword, noglob or posix.
func (w *walker) rereads(c *call) {
	c.lower(w, policy.Unknown)
	w.reread = true
	w.whole("an option that changes how the shell reads the rest")
}

// shopt reads shopt.
func (w *walker) shopt(c *call) {
	sets, named := false, false
	for _, x := range c.Args {
		switch {
		case x.Dynamic:
			w.rereads(c)
		case strings.HasPrefix(x.Text, "-"):
			sets = sets || strings.ContainsAny(x.Text, "su")
			named = named || strings.Contains(x.Text, "o")
		case !sets:
		case named:
			w.shellOption(c, x)
		case programs.Has(plainShopts, x.Text), w.globs && programs.Has(globShopts, x.Text):
		default:
			w.rereads(c)
		}
	}
	if sets {
		c.lower(w, policy.Unknown)
	}
}

// assignName sets the variable that a word names to something not known.
func (w *walker) assignName(c *call, x word) {
	switch {
	case x.Dynamic:
		c.opaque(w, "a name that is not known before it runs")
		w.st.gone = cmpOr(w.st.gone, "a variable that is not known was set")
		w.st.path = worse(w.st.path, "a variable that is not known was set")
	case !syntax.ValidName(x.Text):
		c.opaque(w, "a name whose subscript is evaluated")
	default:
		w.variable(x.Text, value{net: w.stdin.Net}, true)
	}
}

// read sets variables from its input.
func (w *walker) read(c *call) {
	values := "dinNptu"
	if c.Name != "read" {
		values = "dnOsucC"
	}
	for _, x := range c.Args {
		w.arrays = append(w.arrays, x.Text)
	}
	named := false
	defer w.readsName(c)
	defer w.reads(c)
	for i := 0; i < len(c.Args); i++ {
		x := c.Args[i]
		t := x.Text
		if x.Dynamic || !strings.HasPrefix(t, "-") || t == "-" {
			w.assignName(c, x)
			named = true
			continue
		}
		for j := 1; j < len(t); j++ {
			if c.Name != "read" && t[j] == 'C' {
				c.opaque(w, "it runs commands")
			}
			if t[j] == 'a' && c.Name == "read" {
				if j+1 == len(t) && i+1 < len(c.Args) {
					i++
					w.assignName(c, c.Args[i])
				} else if j+1 < len(t) {
					w.arrays = append(w.arrays, t[j+1:])
					w.assignName(c, word{Text: t[j+1:]})
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
		if c.Name != "read" {
			name = "MAPFILE"
		}
		w.put(name, value{net: w.stdin.Net})
	}
}

// printf sets a variable with -v; the last one counts.
func (w *walker) printf(c *call) {
	args := c.Args
	for len(args) > 0 {
		x := args[0]
		switch {
		case x.Dynamic && x.Lead == "" && x.Multi:
			w.st.gone = cmpOr(w.st.gone, "a variable that is not known was set")
			c.opaque(w, "a word that is not known may be an option")
			return
		case x.Text == "-v" && len(args) > 1:
			w.assignName(c, args[1])
			if n := args[1].Text; syntax.ValidName(n) {
				if s, ok := w.print("printf", args[2:]); ok {
					w.put(n, text(s))
				}
			}
			args = args[2:]
		case strings.HasPrefix(x.Text, "-v") && len(x.Text) > 2:
			w.assignName(c, word{Text: x.Text[2:]})
			args = args[1:]
		default:
			return
		}
	}
}

// waitName sets the variable that wait -p names, alone or in a bundle.
func (w *walker) waitName(c *call) {
	for i, x := range c.Args {
		if x.Dynamic && !x.Number && x.Lead == "" {
			c.opaque(w, "a word that is not known may be an option")
		}
		if !strings.HasPrefix(x.Text, "-") || x.Text == "--" {
			return
		}
		_, name, ok := strings.Cut(x.Text, "p")
		switch {
		case !ok:
		case x.Dynamic:
			w.assignName(c, x)
		case name != "":
			w.assignName(c, word{Text: name})
			return
		case i+1 < len(c.Args):
			w.assignName(c, c.Args[i+1])
		}
	}
}

// unset forgets variables.
func (w *walker) unset(c *call) {
	if c.Name == "wait" {
		w.waitName(c)
		return
	}
	for _, x := range c.Args {
		switch {
		case x.Dynamic:
			c.opaque(w, "a name that is not known before it runs")
			w.st.gone = cmpOr(w.st.gone, "a variable that is not known was unset")
		case strings.HasPrefix(x.Text, "-"):
		case !syntax.ValidName(x.Text):
			c.opaque(w, "a name whose subscript is evaluated")
			name, _, _ := strings.Cut(x.Text, "[")
			w.st.doubt(name) // the other elements move up
		default:
			if f := w.st.lookupFunc(x.Text); f != nil {
				g := *f
				g.maybe = true
				w.st.function(x.Text, &g)
			}
			k := kindOfVariable(x.Text, value{})
			w.st.put(x.Text, value{})
			switch k {
			case programs.SearchVariable:
				w.st.path = worse(w.st.path, x.Text+" is unset")
				w.env(x.Text, value{known: true})
			case programs.ProgramVariable, programs.ShellVariable:
				w.env(x.Text, value{known: true})
				w.st.env = worse(w.st.env, x.Text+" is unset")
			}
		}
	}
}

func (w *walker) alias(c *call) {
	for _, x := range c.Args {
		name, text, ok := strings.Cut(x.Text, "=")
		switch {
		case x.Dynamic:
			c.opaque(w, "an alias that is not known before it runs")
			w.st.env = worse(w.st.env, "an alias is set")
		case w.shell == "zsh" && strings.HasPrefix(x.Text, "-"):
			w.whole("an alias that holds everywhere")
		case ok:
			if w.shell == "sh" { // it may stand for a word that a parser heeds
				w.whole("an alias of this text")
			}
			w.st.alias(name, text)
		}
	}
}

// declareWords reads declare and its kin where the parser saw plain words,
// such as after builtin or command.
func (w *walker) declareWords(c *call) {
	flags := ""
	for _, x := range c.Args {
		w.declared(x, &flags, c.index)
		if name, _, _ := strings.Cut(x.Text, "="); c.Name == "local" && len(w.calls) == 0 { // refused outside a function
			w.st.put(name, value{})
		}
	}
	if len(w.calls) > 0 { // local to the function, or with -g not
		for _, x := range c.Args {
			name, _, _ := strings.Cut(x.Text, "=")
			w.st.doubt(name)
		}
	}
	if !slices.ContainsFunc(c.Args, func(x word) bool { return x.Dynamic || !strings.HasPrefix(x.Text, "-") }) && strings.Trim(flags, "-fF") != "" || len(c.Args) == 0 {
		c.lower(w, policy.Unknown) // it prints every variable
	}
}

// evaluateText judges a word that is evaluated as arithmetic.
func (w *walker) evaluateText(c *call, x word) {
	if x.Dynamic {
		c.opaque(w, "arithmetic on text that is not known")
		return
	}
	e, err := syntax.NewParser().Arithmetic(shallow(x.Text))
	if err != nil || strings.ContainsAny(x.Text, "$`'\"[") {
		c.opaque(w, "arithmetic on text that is not known")
		return
	}
	w.arithmetic(e)
}
