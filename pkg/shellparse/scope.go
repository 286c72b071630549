package shellparse

import (
	"slices"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"mvdan.cc/sh/v3/syntax"
)

// A value is what is known of a variable.
type value struct {
	known bool
	list  []string // the elements; one for a plain variable
	array bool
	net   bool   // it came from the network
	found []word // where it is not known: a name that a program lists, below these
}

func text(s string) value { return value{known: true, list: []string{s}} }

// first is the value as $x gives it.
func (v value) first() string {
	if len(v.list) == 0 {
		return ""
	}
	return v.list[0]
}

// numeric reports whether v is a number, known or not.
func (v value) numeric() bool {
	return len(v.list) == 1 && !v.array && (v.list[0] == numberText || v.known && integer(v.list[0]))
}

func (v value) equal(o value) bool {
	return v.known && o.known && v.array == o.array && slices.Equal(v.list, o.list)
}

// A function is what a name may run: one body, or several where branches
// define it differently.
type function struct {
	bodies []*syntax.Stmt
	src    string // the text that the bodies' positions refer to
	maybe  bool   // it may also not be defined
	called bool

	scripted bool // they stand in a file of commands
}

// flow is the part of a shell's state that every command may change.
type flow struct {
	dirs  []string // where the shell may be, after success
	fail  []string // where it is when the last command failed; nil: the same
	old   []string // where cd - leads
	names []string // the names, other than dirs, by which it may have come there through links
	lost  string   // why the directory is not known; "" when it is
	made  []string // directories that the text has certainly made
	done  bool     // the last command certainly succeeded
	dead  bool     // the last command ended the shell or function
	path  string   // why a bare name may mean another program
	env   string   // why programs may behave otherwise than their names say
	hush  string   // why a variable in the environment is not of a known kind
	gone  string   // why nothing is known of variables any more
	ifs   bool     // words are split in another way than usual

	allexport bool     // set -a
	pushed    []string // the directories of pushd
	unpushed  bool     // those may not be all that there are, or fewer
}

// A scope is the state of a shell, or of a part of it that may not run or that
// cannot reach its parent. Lookups go up, changes stay until join.
type scope struct {
	parent  *scope
	vars    map[string]value
	funcs   map[string]*function
	aliases map[string]string
	local   map[string]bool // variables that end with the function
	args    []word          // the positional parameters
	hasArgs bool
	call    bool             // a function: its parameters end with it
	fence   bool             // another process: what lies beyond may or may not reach it
	steady  map[string]value // of all scopes: variables that hold this since a trap was set, and nothing else so far
	process *process         // the shell that this is part of
	flow
}

// push opens a scope inside the present one.
func (w *walker) push() *scope {
	s := &scope{parent: w.st, flow: w.st.flow, steady: w.st.steady, process: w.st.process}
	s.dirs = slices.Clone(s.dirs)
	w.st = s
	return s
}

// fork opens the scope of another process, which drop ends.
func (w *walker) fork() *scope {
	s := w.push()
	s.process = &process{}
	return s
}

// drop ends a scope whose changes are lost, such as a subshell's.
func (w *walker) drop(s *scope) {
	if s.process != s.parent.process {
		w.exits()
	}
	if s.gone != "" {
		clear(s.steady)
	}
	w.st = s.parent
}

// join ends a scope that may or may not have run. The directories are the
// caller's business.
func (w *walker) join(s *scope) {
	p := s.parent
	w.st = p
	for name, v := range s.vars {
		if old, ok := p.find(name); ok && old.numeric() && v.numeric() {
			p.put(name, value{list: []string{numberText}})
		} else if !ok || !old.equal(v) {
			p.put(name, value{net: v.net || old.net})
		}
	}
	for name, f := range s.funcs {
		w.maybe(name, f)
	}
	for name, text := range s.aliases {
		p.alias(name, text)
	}
	p.path, p.env, p.gone = worse(p.path, s.path), worse(p.env, s.env), cmpOr(p.gone, s.gone)
	p.hush = cmpOr(p.hush, s.hush)
	p.ifs = p.ifs || s.ifs
	p.allexport = p.allexport || s.allexport
	p.lost = cmpOr(p.lost, s.lost)
	p.old = union(p.old, s.old)
	p.unpushed = p.unpushed || s.unpushed || !slices.Equal(p.pushed, s.pushed)
	p.names = union(p.names, s.names)
	if s.hasArgs && !s.call {
		p.hasArgs, p.args = true, []word{{Text: "$@", Dynamic: true, Multi: true}}
	}
}

// adopt ends a scope that certainly ran, such as a function's.
func (w *walker) adopt(s *scope) {
	p := s.parent
	w.st = p
	for name, v := range s.vars {
		if !s.local[name] {
			p.put(name, v)
		}
	}
	for name, f := range s.funcs {
		p.function(name, f)
	}
	for name, text := range s.aliases {
		p.alias(name, text)
	}
	p.flow = s.flow
	if s.hasArgs && !s.call {
		p.hasArgs, p.args = true, s.args
	}
}

func (w *walker) maybe(name string, f *function) {
	g := &function{bodies: f.bodies, src: f.src, maybe: true, called: f.called, scripted: f.scripted}
	if old := w.st.lookupFunc(name); old != nil {
		g.bodies = append(slices.Clone(old.bodies), f.bodies...)
		g.maybe, g.scripted = old.maybe, f.scripted && old.scripted
	}
	w.st.function(name, g)
}

func (s *scope) put(name string, v value) {
	if s.vars == nil {
		s.vars = map[string]value{}
	}
	s.vars[name] = v
	if old, ok := s.steady[name]; ok && !old.equal(v) {
		s.steady[name] = value{}
	}
}

// doubt forgets what a variable is, in every scope.
func (s *scope) doubt(name string) {
	for ; s != nil; s = s.parent {
		if v, ok := s.vars[name]; ok || s.parent == nil {
			s.put(name, value{net: v.net})
		}
	}
}

func (s *scope) function(name string, f *function) {
	if s.funcs == nil {
		s.funcs = map[string]*function{}
	}
	s.funcs[name] = f
}

func (s *scope) alias(name, text string) {
	if s.aliases == nil {
		s.aliases = map[string]string{}
	}
	s.aliases[name] = text
}

func (s *scope) find(name string) (value, bool) {
	for beyond := false; s != nil; s = s.parent {
		if v, ok := s.vars[name]; ok {
			if beyond {
				v = value{net: v.net}
			}
			return v, true
		}
		beyond = beyond || s.fence
	}
	return value{}, false
}

func (s *scope) lookupFunc(name string) *function {
	for beyond := false; s != nil; s = s.parent {
		if f, ok := s.funcs[name]; ok {
			if beyond {
				return &function{bodies: f.bodies, src: f.src, maybe: true, scripted: f.scripted}
			}
			return f
		}
		beyond = beyond || s.fence
	}
	return nil
}

func (s *scope) lookupAlias(name string) (string, bool) {
	for ; s != nil; s = s.parent {
		if t, ok := s.aliases[name]; ok {
			return t, true
		}
		if s.fence {
			break
		}
	}
	return "", false
}

// positional gives the positional parameters of the nearest function or shell.
func (s *scope) positional() []word {
	for ; s != nil; s = s.parent {
		if s.hasArgs {
			return s.args
		}
	}
	return nil
}

// settle is what holds after a command whose status nobody looks at.
func (s *scope) settle() {
	if s.fail != nil {
		s.dirs = union(s.dirs, s.fail)
		s.fail = nil
	}
	s.dead = false
}

// failed gives the directories after a failure.
func (f *flow) failed() []string {
	if f.fail != nil {
		return f.fail
	}
	return f.dirs
}

// maxDirs is how many directories a shell may be in before it counts as lost.
const maxDirs = 8

func union(a, b []string) []string {
	for _, x := range b {
		if !slices.Contains(a, x) {
			a = append(slices.Clip(a), x)
		}
	}
	return a
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// lookup gives what is known of a variable; an unset one is known to be empty.
func (w *walker) lookup(name string) value {
	if v, ok := w.st.find(name); ok {
		return v
	}
	if w.st.gone != "" || w.later {
		return value{}
	}
	switch name {
	case "PWD":
		if w.st.lost == "" && len(w.st.dirs) == 1 && len(w.st.names) == 0 {
			return text(w.st.dirs[0])
		}
		return value{}
	case "HOME":
		if w.world.Home != "" {
			return text(w.world.Home)
		}
	}
	if dynamicVariable(name) || w.world.Getenv == nil {
		return value{}
	}
	if s, ok := w.world.Getenv(name); ok {
		return text(s)
	}
	if w.shell == "zsh" { // zsh has far too many variables of its own
		return value{}
	}
	return value{known: true}
}

// home is what ~ stands for; "" when not known.
func (w *walker) home() string {
	if v := w.lookup("HOME"); v.known && v.first() != "" {
		return v.first()
	}
	return ""
}

// put gives a variable its value, which is not known where the shell may
// change or refuse it.
func (w *walker) put(name string, v value) {
	if w.shell == "zsh" && programs.Has("argv match mbegin mend MATCH MBEGIN MEND status pipestatus signals ARGC", name) {
		w.whole("a variable that zsh itself sets")
	}
	switch {
	case numberVariable(name):
		if !v.numeric() { // it evaluates what it is given
			w.whole("arithmetic on text that is not known")
		}
		v = value{list: []string{numberText}}
	case w.byName || ownVariable(name) || slices.Contains(w.fixed, name) || slices.Contains(w.vague, name):
		v = value{net: v.net}
	}
	w.st.put(name, v)
}

// set gives a variable its value and follows what that changes. It reports
// whether later programs run otherwise because of it.
func (w *walker) set(name string, v value) {
	w.put(name, v)
	switch {
	case name == "IFS":
		w.st.ifs = true
	case name == "DIRSTACK":
		w.st.pushed, w.st.lost = nil, cmpOr(w.st.lost, "the directories of popd are set")
	case name == "CDPATH" || name == "OLDPWD" || name == "PWD":
		w.st.old = nil
	}
	switch kindOfVariable(name, v) {
	case programs.SearchVariable:
		w.st.path = worse(w.st.path, w.pathSet(name))
	case programs.ShellVariable:
		w.st.env = worse(w.st.env, name+" is set")
		w.whole(name + " is set, which makes the shell run or read something")
	}
}
