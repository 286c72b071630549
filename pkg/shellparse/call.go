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
	programs.Call
	external  bool   // started by another program: built-ins and functions do not count
	opaqueEnv string // why its environment makes it do something else
	hush      string // a variable of an unknown kind is set for it
	hands     string // such a variable is set for what it starts, and not for itself
	why       string // why it cannot be known, from what starts it
	index     int    // of its exec access
	home      value  // what HOME is set to for it
}

// newCall gives a call of words that stand at src.
func (w *walker) newCall(words []word, src string) *call {
	c := &call{Call: programs.Call{Words: words, Source: src, Memo: &w.memo}}
	c.Shell = site{w, c}
	return c
}

// emit adds an access and gives 1 + its index.
func (w *walker) emit(a policy.Access) int {
	if a.Tool == "" {
		a.Tool = "bash"
	}
	a.Scripted = w.scripted
	if len(w.out.Accesses) >= maxList {
		w.steps = 0
		w.out.Accesses[maxList-1] = policy.Access{Kind: policy.Exec, Tool: "bash", Argv: []string{programs.Cut(w.src)}, Dynamic: []bool{true}, Opaque: "too much to follow"}
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

// endanger says why an access is dangerous. The first reason stays, but a loss,
// which may turn out to be none, gives way.
func endanger(a *policy.Access, why string) {
	if a.Danger == "" || a.Loses && !programs.IsLoss(why) {
		a.Danger, a.Loses = why, programs.IsLoss(why)
	}
}

func (c *call) danger(w *walker, why string) {
	endanger(&w.out.Accesses[c.index], why)
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
	a.Kind, a.Source, a.Parent = policy.Exec, c.Source, w.parent
	for _, x := range c.Words {
		a.Argv = append(a.Argv, x.Text)
	}
	if slices.ContainsFunc(c.Words, func(x word) bool { return x.Dynamic }) {
		a.Parts = policy.Parts{}
		for _, x := range c.Words {
			if a.Dynamic = append(a.Dynamic, x.Dynamic); x.Dynamic {
				p := policy.Part{Lead: x.Lead, One: !x.Multi, Every: x.Under != "" || x.Pattern != ""}
				if x.Under != "" && (x.Split || x.Listed != nil) { // where a name is one, it is asked about
					p.Lead, p.NoOption = "", true
				}
				if other, twice := a.Parts[x.Text]; twice && other != p {
					p = policy.Part{}
				}
				a.Parts[x.Text] = p
			}
		}
	}
	c.index = w.emit(a) - 1
	if len(c.Words) > 0 && !c.Words[0].Dynamic {
		w.names[c.Words[0].Text] = struct{}{}
	}
	if c.why != "" {
		c.opaque(w, c.why)
	}
}

// unsure lists a command that may be another one, for the deny rules.
func (w *walker) unsure(words []word, src, reason string) {
	c := w.newCall(words, src)
	c.why = reason
	w.exec(c, policy.Access{})
	if len(words) > 0 && !words[0].Dynamic {
		c.Name = path.Base(words[0].Text)
		w.out.Accesses[c.index].Drops = c.GitMayDrop()
		c.Hazards()
	}
}

// run judges a command of the shell: function, built-in or program.
func (w *walker) run(c *call) {
	if !w.spend(1 + len(c.Words)) {
		return
	}
	first := c.Words[0]
	if first.Dynamic || first.Multi {
		w.dynamic(c)
		return
	}
	c.Name = first.Text
	if strings.HasPrefix(c.Name, "-") && !c.external && w.shell != "zsh" { // of time, or a mistake
		w.whole("a word that the shell takes for an option")
		w.unsure(c.Words[1:], c.Source, "a word that the shell takes for an option")
	}
	if name, _, ok := strings.Cut(c.Name, "="); ok && w.shell == "zsh" && integer(name) {
		w.whole("a parameter that zsh sets")
	}
	if w.shell == "zsh" && (strings.HasPrefix(c.Name, "{") || strings.HasSuffix(c.Name, "}")) {
		w.whole("a brace that zsh takes for the end of a word")
	}
	if w.shell == "zsh" && programs.Has("- coproc repeat nocorrect foreach always end sched zmodload", c.Name) {
		w.whole("a word that zsh reads in its own way")
		for i := range c.Words[1:] {
			if !w.spend(len(c.Words) - i) {
				break
			}
			w.unsure(c.Words[i+1:], c.Source, "a word that zsh reads in its own way")
		}
	}
	if w.st.gone != "" {
		c.why = cmpOr(c.why, w.st.gone)
	}
	if value, ok := w.st.lookupAlias(first.Text); ok && !c.external && !slices.Contains(w.calls, "alias "+first.Text) {
		w.aliased(c, value)
		return
	}
	if f := w.st.lookupFunc(first.Text); f != nil && !c.external {
		w.function(c, f)
		if !f.maybe {
			return
		}
		defer func() { w.st.dead = false }() // if the function was run, not what follows
	}
	if b := findBuiltin(first.Text); b != nil && !c.external {
		w.builtin(c, b)
		return
	}
	w.program(c)
}

// dynamic judges a command whose name is not known before it runs.
func (w *walker) dynamic(c *call) {
	first := c.Words[0]
	c.why = cmpOr(c.why, "the program is not known before it runs")
	w.exec(c, policy.Access{})
	if first.Net {
		c.danger(w, "runs what it fetches")
	}
	for _, x := range c.Words[1:] {
		if !x.Dynamic && (forceFlag(x.Text) || x.Text == "-delete") {
			c.danger(w, "may delete without asking")
		}
	}
	rest := c.Words[1:]
	if (first.Multi || first.Lead == "") && len(rest) > 0 && !rest[0].Dynamic && first.Pattern == "" {
		// the name may turn out empty: then the next word is the program
		w.unsure(rest, c.Source, "the program is not known before it runs")
	}
	c.Args = rest
	c.UnknownFiles()
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
	w.calls = append(w.calls, "alias "+c.Name)
	defer w.inFile(false)()
	var text strings.Builder
	text.WriteString(value)
	for _, x := range c.Words[1:] {
		if x.Dynamic {
			text.WriteString(" \"$_\"")
		} else {
			text.WriteString(" " + quote(x.Text))
		}
	}
	w.text(text.String(), c.index+1)
	w.calls = w.calls[:len(w.calls)-1]
}

// quote spells a word so that a shell reads it as it is.
func quote(s string) string {
	if programs.Plain(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// function follows a function that the text defines.
func (w *walker) function(c *call, f *function) {
	w.exec(c, policy.Access{Builtin: true, Class: policy.ReadOnly})
	f.called = true
	name := "function " + c.Name
	if slices.Contains(w.calls, name) || len(w.calls) > maxDepth || !w.spend(8) {
		c.opaque(w, "a function that calls itself")
		w.looped = true
		return
	}
	w.calls = append(w.calls, name)
	src, parent, left := w.src, w.parent, w.left
	w.src, w.parent, w.left = f.src, c.index+1, nil
	defer w.inFile(f.scripted)()
	for _, b := range f.bodies {
		s := w.push()
		s.args, s.hasArgs, s.call = c.Words[1:], true, true
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
			endanger(a, why)
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
	first := c.Words[0]
	if first.Dynamic || first.Multi {
		w.dynamic(c)
		return
	}
	where, trusted, why := w.locate(first.Text)
	c.dashed(where)
	c.Name = path.Base(c.Words[0].Text)
	w.exec(c, policy.Access{Program: where})
	a := &w.out.Accesses[c.index]
	a.Opaque = cmpOr(a.Opaque, why)
	if startScript(where) {
		trusted = false
	} else if c.Record, c.Known = programs.Lookup(c.Name); c.Record != nil && trusted {
		a.Class = c.Record.Class
	}
	w.parameters(c)
	if !c.VersionOnly() {
		c.Outgrown()
		c.Hazards()
		c.Reaches()
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
		w.stir()
	}
	for _, f := range w.fetched {
		if where == f {
			c.danger(w, "runs what it fetches")
		}
	}
}

// dashed has git's own name of a subcommand, as git-push in its directory, be git with that subcommand.
func (c *call) dashed(where string) {
	first := c.Words[0]
	sub := programs.GitName(first.Text)
	in := func(name string) bool { return path.Base(path.Dir(name)) == "git-core" }
	if sub == "" || !in(first.Text) && !in(where) && (where != "" || strings.Contains(first.Text, "/")) {
		return
	}
	git, name := first, first
	git.Text, name.Text = path.Join(path.Dir(first.Text), "git"), sub
	c.Words = append([]word{git, name}, c.Words[1:]...)
}

// parameters reads the options and operands of a program and lists what they
// touch.
func (w *walker) parameters(c *call) {
	if c.Record == nil || !c.Record.Described() {
		c.Args = c.Words[1:]
		if c.VersionOnly() {
			if a := &w.out.Accesses[c.index]; (c.Record == nil || c.Record.Chosen != "") && (a.Program != "" || !w.dirty) {
				a.Class = policy.Known // what is installed says what it is
			}
			if c.Record != nil {
				c.ChosenByProject()
			}
			return
		}
		c.UnknownFiles()
		return
	}
	if c.VersionOnly() && !c.Record.Literal {
		if a := &w.out.Accesses[c.index]; a.Program != "" || c.Record.Class == policy.ReadOnly {
			a.Class = policy.ReadOnly
			c.ChosenByProject()
		}
		return
	}
	dirs, lost := w.st.dirs, w.st.lost
	c.Read()
	w.st.dirs, w.st.lost = dirs, lost
	a := &w.out.Accesses[c.index]
	a.Options = c.Spelled()
	c.values(a.Parts)
}

// values notes which words that are not known are values of options.
func (c *call) values(parts policy.Parts) {
	for text, p := range parts {
		words, values := 0, 0
		for _, x := range c.Words {
			if x.Dynamic && x.Text == text {
				words++
			}
		}
		for _, o := range c.Given {
			if o.HasValue && o.Value.Dynamic && o.Value.Text == text {
				values++
			}
		}
		if p.One && words == values {
			p.NoOption = true
			parts[text] = p
		}
	}
}

// inner judges the program that c starts.
func (w *walker) inner(c *call, words []word) {
	if len(words) == 0 {
		return
	}
	if w.depth >= maxDepth {
		c.opaque(w, errDeep.Error())
		return
	}
	child := w.newCall(words, c.Source)
	child.external, child.opaqueEnv, child.hush, child.why, child.Quiet = true, c.opaqueEnv, cmpOr(c.hush, c.hands), c.why, c.Quiet
	saved := w.parent
	w.parent = c.index + 1
	w.depth++
	from := len(w.out.Accesses)
	w.program(child)
	w.depth--
	w.parent = saved
	if from < len(w.out.Accesses) && words[0].Multi {
		c.opaque(w, "the program is not known before it runs")
	}
}
