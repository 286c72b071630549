package shellparse

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// A builtin is a command of the shell itself.
type builtin struct {
	name  string
	class policy.Class
	does  action
}

// An action names what a built-in does beyond printing.
type action uint8

const (
	doNothing action = iota
	doCd
	doPushd
	doPopd
	doEnd // the shell or function ends
	doEval
	doSource
	doExec
	doCommand
	doTrap
	doSet
	doShopt
	doRead
	doPrintf
	doUnset
	doAlias
	doOpaque // may run or change anything
	doDeclare
	doLet
	doTest
	doHash
	doQuery // read-only without arguments
	doGetopts
	doTime
)

// bashOnly are the built-ins that bash has when it is called sh, and dash has
// not: what they do, or that they fail, changes what follows.
const bashOnly = " builtin caller compgen complete compopt declare dirs disown enable let logout mapfile popd pushd readarray shopt source suspend typeset "

// onlyBash marks what sh may not have.
func (w *walker) onlyBash(c *call, b *builtin) {
	if w.shell == "sh" && (programs.Has(bashOnly, b.name) || b.does == doPrintf && len(c.Args) > 0 && c.Args[0].Text == "-v") {
		c.opaque(w, "a built-in that not every sh has")
	}
}

// builtins of bash; those of zsh and dash that differ are opaque. Sorted by name.
var builtins = [...]builtin{
	{".", policy.Unknown, doSource},
	{":", policy.ReadOnly, doNothing},
	{"[", policy.ReadOnly, doTest},
	{"alias", policy.Unknown, doAlias},
	{"autoload", policy.Unknown, doOpaque},
	{"bg", policy.ReadOnly, doNothing},
	{"bind", policy.Unknown, doOpaque},
	{"bindkey", policy.Unknown, doOpaque},
	{"break", policy.ReadOnly, doNothing},
	{"builtin", policy.ReadOnly, doCommand},
	{"caller", policy.ReadOnly, doNothing},
	{"cd", policy.ReadOnly, doCd},
	{"chdir", policy.ReadOnly, doCd},
	{"command", policy.ReadOnly, doCommand},
	{"compgen", policy.Unknown, doOpaque},
	{"complete", policy.Unknown, doOpaque},
	{"compopt", policy.Unknown, doOpaque},
	{"continue", policy.ReadOnly, doNothing},
	{"declare", policy.ReadOnly, doDeclare},
	{"dirs", policy.ReadOnly, doNothing},
	{"disown", policy.ReadOnly, doNothing},
	{"echo", policy.ReadOnly, doNothing},
	{"emulate", policy.Unknown, doOpaque},
	{"enable", policy.Unknown, doOpaque},
	{"eval", policy.Unknown, doEval},
	{"exec", policy.Unknown, doExec},
	{"exit", policy.ReadOnly, doEnd},
	{"export", policy.ReadOnly, doDeclare},
	{"false", policy.ReadOnly, doNothing},
	{"fc", policy.Unknown, doOpaque},
	{"fg", policy.ReadOnly, doNothing},
	{"getopts", policy.ReadOnly, doGetopts},
	{"hash", policy.ReadOnly, doHash},
	{"help", policy.ReadOnly, doNothing},
	{"history", policy.Unknown, doOpaque},
	{"jobs", policy.ReadOnly, doCommand},
	{"kill", policy.Unknown, doNothing},
	{"let", policy.ReadOnly, doLet},
	{"local", policy.ReadOnly, doDeclare},
	{"logout", policy.ReadOnly, doNothing}, // refused but in a login shell
	{"mapfile", policy.ReadOnly, doRead},
	{"noglob", policy.Unknown, doCommand},
	{"popd", policy.ReadOnly, doPopd},
	{"print", policy.Unknown, doOpaque},
	{"printf", policy.ReadOnly, doPrintf},
	{"pushd", policy.ReadOnly, doPushd},
	{"pwd", policy.ReadOnly, doNothing},
	{"read", policy.ReadOnly, doRead},
	{"readarray", policy.ReadOnly, doRead},
	{"readonly", policy.ReadOnly, doDeclare},
	{"return", policy.ReadOnly, doEnd},
	{"set", policy.ReadOnly, doSet},
	{"setopt", policy.Unknown, doOpaque},
	{"shift", policy.ReadOnly, doNothing},
	{"shopt", policy.ReadOnly, doShopt},
	{"source", policy.Unknown, doSource},
	{"suspend", policy.Unknown, doNothing},
	{"test", policy.ReadOnly, doTest},
	{"times", policy.ReadOnly, doNothing},
	{"trap", policy.ReadOnly, doTrap},
	{"true", policy.ReadOnly, doNothing},
	{"type", policy.ReadOnly, doNothing},
	{"typeset", policy.ReadOnly, doDeclare},
	{"ulimit", policy.ReadOnly, doQuery},
	{"umask", policy.ReadOnly, doQuery},
	{"unalias", policy.Unknown, doNothing},
	{"unset", policy.ReadOnly, doUnset},
	{"unsetopt", policy.Unknown, doOpaque},
	{"vared", policy.Unknown, doOpaque},
	{"wait", policy.ReadOnly, doUnset},
	{"whence", policy.ReadOnly, doNothing},
	{"zle", policy.Unknown, doOpaque},
	{"zmodload", policy.Unknown, doOpaque},
}

func findBuiltin(name string) *builtin {
	i, ok := slices.BinarySearchFunc(builtins[:], name, func(b builtin, n string) int { return cmp.Compare(b.name, n) })
	if !ok {
		return nil
	}
	return &builtins[i]
}

// builtin judges a command of the shell itself.
func (w *walker) builtin(c *call, b *builtin) {
	w.exec(c, policy.Access{Builtin: true, Class: b.class})
	c.Args = c.Words[1:]
	w.onlyBash(c, b)
	if w.st.env != "" && b.does == doEval {
		c.opaque(w, w.st.env)
	}
	switch b.does {
	case doNothing:
		if c.Name == "kill" || c.Name == "shift" {
			w.shifted(c)
		}
	case doCd:
		w.cd(c)
	case doPushd:
		w.pushd(c)
	case doPopd:
		w.popd(c)
	case doEnd:
		w.end(c)
	case doEval:
		w.eval(c)
	case doSource:
		w.sourceCommand(c)
	case doExec:
		w.execCommand(c)
	case doCommand:
		w.commandBuiltin(c)
	case doTrap:
		w.trap(c)
	case doSet:
		w.setCommand(c)
	case doShopt:
		w.shopt(c)
	case doRead:
		w.read(c)
	case doPrintf:
		w.printf(c)
	case doUnset:
		w.unset(c)
	case doAlias:
		w.alias(c)
	case doOpaque:
		c.opaque(w, "a built-in that changes what later commands mean")
		w.st.env = worse(w.st.env, c.Name+" may change what commands mean")
		for _, x := range c.Args {
			if !x.Dynamic && !strings.HasPrefix(x.Text, "-") && c.Name == "compgen" {
				w.unsure([]word{x}, c.Source, "an argument that may be run")
			}
		}
	case doDeclare:
		w.declareWords(c)
	case doLet:
		for _, x := range c.Args {
			w.evaluateText(c, x)
		}
	case doTest:
		c.Record, c.Known = programs.Lookup("test")
		c.Read()
		if slices.ContainsFunc(c.Args, word.Spreads) { // into -v 'a[$(rm x)]' -a 1, say
			c.opaque(w, "what is not known may become several words, and name a subscript that is evaluated")
		}
	case doHash:
		for _, x := range c.Args {
			if x.Dynamic || strings.HasPrefix(x.Text, "-p") || strings.HasPrefix(x.Text, "-") && strings.Contains(x.Text, "p") {
				c.opaque(w, "a name that is made to mean another program")
				w.st.path = worse(w.st.path, "hash -p is used")
			}
		}
	case doQuery:
		if len(c.Args) > 0 {
			c.lower(w, policy.Unknown)
		}
	case doGetopts:
		if len(c.Args) > 1 {
			w.assignName(c, c.Args[1])
		}
	}
	c.Hazards()
	if c.opaqueEnv != "" && (b.does == doEval || b.does == doSource || b.does == doExec) {
		c.opaque(w, c.opaqueEnv)
	}
}
