package shellparse

import (
	"path"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// A call is one program or built-in with its words, on its way to accesses.
type call struct {
	words     []word           // words[0] is the program
	name      string           // its base name
	src       string           // where it stands
	external  bool             // started by another program: built-ins and functions do not count
	opaqueEnv string           // why its environment makes it do something else
	hush      string           // a variable of an unknown kind is set for it
	why       string           // why it cannot be known, from what starts it
	index     int              // of its exec access
	record    *programs.Record // what is known of it; nil for nothing
	prog      *programs.Record // record, where it says what the words mean
	known     string           // its name in record: python for python3.12
	opts      []option
	args      []word // its operands
	chdir     bool   // an option moved it to another directory
	quiet     bool   // its dynamic words need not be judged as options
}

// emit adds an access and gives 1 + its index.
func (w *walker) emit(a policy.Access) int {
	if a.Tool == "" {
		a.Tool = "bash"
	}
	if len(w.out.Accesses) >= maxList {
		w.steps = 0
		w.out.Accesses[maxList-1] = policy.Access{Kind: policy.Exec, Tool: "bash", Argv: []string{cut(w.src)}, Dynamic: []bool{true}, Opaque: "too much to follow"}
		return maxList
	}
	w.out.Accesses = append(w.out.Accesses, a)
	return len(w.out.Accesses)
}

func (w *walker) opaque(i int, reason string) {
	if a := &w.out.Accesses[i]; a.Opaque == "" {
		a.Opaque = reason
	}
}

// opaque says why what c does cannot be known; the first reason stays.
func (c *call) opaque(w *walker, reason string) { w.opaque(c.index, reason) }

func (c *call) danger(w *walker, why string) {
	if a := &w.out.Accesses[c.index]; a.Danger == "" {
		a.Danger = why
	}
}

// lower takes the class down: read-only, then known, then unknown.
func (c *call) lower(w *walker, class policy.Class) {
	a := &w.out.Accesses[c.index]
	if a.Class == policy.ReadOnly || class == policy.Unknown {
		a.Class = class
	}
}

// exec lists the exec access of c.
func (w *walker) exec(c *call, a policy.Access) {
	a.Kind, a.Source, a.Parent = policy.Exec, c.src, w.parent
	for _, x := range c.words {
		a.Argv = append(a.Argv, x.text)
	}
	if slices.ContainsFunc(c.words, func(x word) bool { return x.dyn }) {
		for _, x := range c.words {
			a.Dynamic = append(a.Dynamic, x.dyn)
		}
	}
	c.index = w.emit(a) - 1
	if len(c.words) > 0 && !c.words[0].dyn {
		w.names[c.words[0].text] = struct{}{}
	}
	if c.why != "" {
		c.opaque(w, c.why)
	}
}

// unsure lists a command that may be another one, for the deny rules.
func (w *walker) unsure(words []word, src, reason string) {
	c := &call{words: words, src: src, why: reason}
	w.exec(c, policy.Access{})
	if len(words) > 0 && !words[0].dyn {
		c.name = path.Base(words[0].text)
		w.hazards(c)
	}
}

// run judges a command of the shell: function, built-in or program.
func (w *walker) run(c *call) {
	if !w.spend(1 + len(c.words)) {
		return
	}
	first := c.words[0]
	if first.dyn || first.multi {
		w.dynamic(c)
		return
	}
	c.name = first.text
	if strings.HasPrefix(c.name, "-") && !c.external && w.shell != "zsh" { // of time, or a mistake
		w.whole("a word that the shell takes for an option")
		w.unsure(c.words[1:], c.src, "a word that the shell takes for an option")
	}
	if name, _, ok := strings.Cut(c.name, "="); ok && w.shell == "zsh" && integer(name) {
		w.whole("a parameter that zsh sets")
	}
	if w.shell == "zsh" && (strings.HasPrefix(c.name, "{") || strings.HasSuffix(c.name, "}")) {
		w.whole("a brace that zsh takes for the end of a word")
	}
	if w.shell == "zsh" && strings.Contains(" - coproc repeat nocorrect foreach always end sched zmodload ", " "+c.name+" ") {
		w.whole("a word that zsh reads in its own way")
		for i := range c.words[1:] {
			w.unsure(c.words[i+1:], c.src, "a word that zsh reads in its own way")
		}
	}
	if w.st.gone != "" {
		c.why = cmpOr(c.why, w.st.gone)
	}
	if value, ok := w.st.lookupAlias(first.text); ok && !c.external && !slices.Contains(w.calls, "alias "+first.text) {
		w.aliased(c, value)
		return
	}
	if f := w.st.lookupFunc(first.text); f != nil && !c.external {
		w.function(c, f)
		if !f.maybe {
			return
		}
		defer func() { w.st.dead = false }() // if the function was run, not what follows
	}
	if b := findBuiltin(first.text); b != nil && !c.external {
		w.builtin(c, b)
		return
	}
	w.program(c)
}

// dynamic judges a command whose name is not known before it runs.
func (w *walker) dynamic(c *call) {
	first := c.words[0]
	c.why = cmpOr(c.why, "the program is not known before it runs")
	w.exec(c, policy.Access{})
	if first.net {
		c.danger(w, "runs what it fetches")
	}
	for _, x := range c.words[1:] {
		if !x.dyn && (forceFlag(x.text) || x.text == "-delete") {
			c.danger(w, "may delete without asking")
		}
	}
	rest := c.words[1:]
	if (first.multi || first.lead == "") && len(rest) > 0 && !rest[0].dyn && first.glob == "" {
		// the name may turn out empty: then the next word is the program
		w.unsure(rest, c.src, "the program is not known before it runs")
	}
	c.args = rest
	w.unknownFiles(c)
}

// forceFlag reports whether a word looks like the flags of rm -rf.
func forceFlag(s string) bool {
	return len(s) > 2 && s[0] == '-' && s[1] != '-' && strings.ContainsAny(s, "rR") && strings.Contains(s, "f") && len(s) < 6
}

// aliased follows an alias that the text itself defines. Whether a shell
// expands it depends on its options, so both readings are listed.
func (w *walker) aliased(c *call, value string) {
	c.why = cmpOr(c.why, "an alias of this text")
	w.exec(c, policy.Access{})
	w.calls = append(w.calls, "alias "+c.name)
	text := value
	for _, x := range c.words[1:] {
		if x.dyn {
			text += " \"$_\""
		} else {
			text += " " + quote(x.text)
		}
	}
	w.text(text, c.index+1)
	w.calls = w.calls[:len(w.calls)-1]
}

// quote spells a word so that a shell reads it as it is.
func quote(s string) string {
	if plain(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// function follows a function that the text defines.
func (w *walker) function(c *call, f *function) {
	w.exec(c, policy.Access{Builtin: true, Class: policy.ReadOnly})
	f.called = true
	name := "function " + c.name
	if slices.Contains(w.calls, name) || len(w.calls) > maxDepth || !w.spend(8) {
		c.opaque(w, "a function that calls itself")
		w.looped = true
		return
	}
	w.calls = append(w.calls, name)
	src, parent, left := w.src, w.parent, w.left
	w.src, w.parent, w.left = f.src, c.index+1, nil
	for _, b := range f.bodies {
		s := w.push()
		s.args, s.hasArgs, s.call = c.words[1:], true, true
		w.stmt(b)
		w.st.settle()
		if len(f.bodies) > 1 || len(w.left) > 0 { // what stands behind a return may not run
			dirs := s.dirs
			w.join(s)
			w.st.dirs = union(w.st.dirs, dirs)
		} else {
			w.adopt(s)
		}
	}
	w.st.dirs = union(w.st.dirs, w.left)
	w.crowd()
	w.src, w.parent, w.left = src, parent, left
	w.calls = w.calls[:len(w.calls)-1]
}

// recursion reports whether a function called itself since access from.
func (w *walker) recursion(from int) bool {
	if !w.looped {
		return false
	}
	for _, a := range w.out.Accesses[from:] {
		if a.Opaque == "a function that calls itself" {
			return true
		}
	}
	return false
}

// mark gives the first command from access from on a danger.
func (w *walker) mark(from int, why string) {
	for i := from; i < len(w.out.Accesses); i++ {
		if a := &w.out.Accesses[i]; a.Kind == policy.Exec {
			a.Danger = cmpOr(a.Danger, why)
			return
		}
	}
}

// fetches reports whether a command since access from prints what it gets
// from the network.
func (w *walker) fetches(from int) bool {
	for _, a := range w.out.Accesses[min(from, len(w.out.Accesses)):] {
		if a.Kind == policy.Exec && len(a.Argv) > 0 && fetcher(path.Base(a.Argv[0])) || a.Kind == policy.Net {
			return true
		}
	}
	return false
}

func fetcher(name string) bool {
	r, _ := programs.Lookup(name)
	return r != nil && r.Fetches
}

// program judges a program: where it is, what is known of it, what its words
// make it do.
func (w *walker) program(c *call) {
	if !w.spend(4) {
		return
	}
	first := c.words[0]
	if first.dyn || first.multi {
		w.dynamic(c)
		return
	}
	c.name = path.Base(first.text)
	where, trusted, why := w.locate(first.text)
	w.exec(c, policy.Access{Program: where})
	a := &w.out.Accesses[c.index]
	a.Opaque = cmpOr(a.Opaque, why)
	if c.record, c.known = programs.Lookup(c.name); c.record != nil && c.record.Described() {
		c.prog = c.record
	}
	if c.prog != nil && trusted {
		a.Class = c.prog.Class
	}
	w.parameters(c)
	if !versionOnly(c) {
		w.outgrown(c)
		w.hazards(c)
	}
	a = &w.out.Accesses[c.index]
	if !trusted {
		a.Class = policy.Unknown
	}
	if reason := cmpOr(c.opaqueEnv, w.st.env); reason != "" {
		c.opaque(w, reason)
	}
	if c.hush != "" || w.st.hush != "" {
		a.Class = policy.Unknown
	}
	if a.Class != policy.ReadOnly {
		w.dirty = true
	}
	for _, f := range w.fetched {
		if where == f {
			c.danger(w, "runs what it fetches")
		}
	}
}

// parameters reads the options and operands of a program and lists what they
// touch.
func (w *walker) parameters(c *call) {
	p := c.prog
	if p == nil {
		c.args = c.words[1:]
		if versionOnly(c) {
			return
		}
		w.unknownFiles(c)
		return
	}
	if versionOnly(c) && p.Read != programs.ReadEcho {
		if a := &w.out.Accesses[c.index]; a.Program != "" || p.Class == policy.ReadOnly {
			a.Class = policy.ReadOnly
		}
		return
	}
	dirs, lost := w.st.dirs, w.st.lost
	w.special(c)
	w.escaped(c)
	w.st.dirs, w.st.lost = dirs, lost
	w.spelling(c)
}

// versionOnly reports whether a program is only asked for its version or help.
func versionOnly(c *call) bool {
	if len(c.words) != 2 || c.words[1].dyn {
		return false
	}
	switch c.words[1].text {
	case "--version", "--help":
		return true
	}
	return false
}
