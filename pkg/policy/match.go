package policy

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"
)

// Facts are what the decision about one access needs to know more than once.
type facts struct {
	// a program
	name, base string   // its name as called, and that of the resolved program
	argv       []string // its words with usual names in the place of others; nil where they are usual
	dynamic    []bool   // beside argv
	trusted    bool     // a built-in, not found at all, or in a trusted directory
	slash      bool     // called by a path
	named      bool     // called by a path that lies in a trusted directory

	// a file
	path, via    string // resolved and, where it differs, as named; slash-separated
	folded, fvia string // the same, folded
	inside       bool   // the resolved path lies in the root
	temp         bool   // … or in a temporary directory
	viaOut       bool   // the path as named lies outside the root
	rel, frel    string // relative to the root when inside, else the whole path
	harmless     bool   // a device that a command may always use
	hides        bool   // the sandbox hides what may not be read
	known        bool   // the sandbox holds the command at the level in force

	target target // a host
}

// matches says whether a deny or ask rule matches an access: maybe, where a
// word or a path below it is not known.
func (r *rule) matches(a *Access, f *facts) tri {
	m := r.matcher.covers(a, f)
	if m == no {
		return no
	}
	for i := range r.except {
		if r.except[i].permits(a, f, true) {
			return no
		}
	}
	return m
}

// allows says whether an allow rule covers an access.
func (r *rule) allows(a *Access, f *facts) bool {
	if !r.permits(a, f, false) {
		return false
	}
	for i := range r.except {
		if r.except[i].covers(a, f) != no {
			return false
		}
	}
	return true
}

// covers is the match of deny and ask rules: hard to escape.
func (m *matcher) covers(a *Access, f *facts) tri {
	if m.tool == "*" {
		return yes
	}
	switch a.Kind {
	case Exec:
		if m.tool == commandTool {
			return m.coversProgram(a, f)
		}
	case Env:
		if m.tool == commandTool {
			return m.coversAssignment(a)
		}
	case Read:
		if m.tool == "read" {
			return m.coversPath(a, f)
		}
	case Write:
		if m.tool == "edit" {
			return m.coversPath(a, f)
		}
	case Net:
		return m.coversHost(a, f)
	}
	if m.tool != a.Tool {
		return no
	}
	switch {
	case m.bare:
		return yes
	case a.Kind == Read || a.Kind == Write:
		return m.coversPath(a, f)
	case m.name != nil && m.name.match(a.Name):
		return yes
	}
	return no
}

func (m *matcher) coversProgram(a *Access, f *facts) tri {
	switch {
	case m.bare:
		return yes
	case m.class != noClass:
		return m.class.covers(a)
	case m.assignment():
		return no
	}
	got := m.coversWords(a, f)
	if got == yes || m.same == nil && f.argv == nil || len(a.Argv) == 0 {
		return got
	}
	other, usual := m, *a
	if m.same != nil {
		other = m.same
	}
	if f.argv != nil {
		usual.Argv, usual.Dynamic = f.argv, f.dynamic
	}
	names := facts{name: programName(usual.Argv[0])}
	return max(got, other.coversWords(&usual, &names))
}

// coversWords matches a pattern with the words of a call.
func (m *matcher) coversWords(a *Access, f *facts) tri {
	first := no
	switch {
	case len(a.Argv) == 0 || len(a.Dynamic) > 0 && a.Dynamic[0]:
		first = maybe
	case m.prog != "":
		if m.isProgram(f.path) || sameProgram(m.prog, slashed(a.Argv[0])) {
			first = yes
		}
	case m.words[0].kind != literalWord:
		if m.words[0].match(f.name) || m.words[0].match(f.base) {
			first = yes
		}
	case f.name != "" || f.base != "":
		if want := programName(m.words[0].text); want == f.name || want == f.base {
			first = yes
		}
	}
	if first == no {
		return no
	}
	return min(first, m.coversArguments(a))
}

// isProgram reports whether a path is that of the program that the pattern
// names by a path.
func (m *matcher) isProgram(path string) bool {
	return path != "" && (sameProgram(m.prog, path) || sameProgram(m.alias, path))
}

func sameProgram(a, b string) bool { return a == b || foldsCase && strings.EqualFold(a, b) }

func (m *matcher) coversArguments(a *Access) tri {
	var argv []string
	var dynamic []bool
	start := m.argumentStart()
	if len(a.Dynamic) > 0 && a.Dynamic[0] { // it may be several words
		return min(maybe, b2t(matchWords(m.words, a.Argv, a.Dynamic, a.Parts, start, false)))
	}
	if len(a.Argv) > 0 {
		argv, dynamic = a.Argv[1:], cut(a.Dynamic, 1)
	}
	if matchWords(m.words, argv, dynamic, nil, start, true) {
		return yes
	}
	if got := m.coversOptions(a, argv, dynamic, start); got != no {
		return got
	}
	if dynamic != nil && matchWords(m.words, argv, dynamic, a.Parts, start, false) {
		return maybe
	}
	if full := m.spelledOut(argv); full != nil && matchWords(m.words, full, dynamic, a.Parts, start, false) {
		return maybe
	}
	if got := m.coversSubcommand(argv, dynamic, a.Parts, start); got != no {
		return got
	}
	if len(m.words) > 2 && m.words[1].kind == literalWord {
		i := afterOptions(argv, m.valued)
		return min(maybe, b2t(matchAround(m.words, argv[min(i, len(argv)):], cut(dynamic, i), a.Parts, start)))
	}
	return no
}

// spelledOut puts the options that a rule spells out in the place of words
// that may stand for them: a long option cut short or with a value, a letter
// in a cluster. nil when there is none.
func (m *matcher) spelledOut(argv []string) []string {
	var out []string
	for i, s := range argv {
		if s == "--" {
			break
		}
		for j := range m.words {
			w := m.words[j].text
			if m.words[j].kind == literalWord && s != w && mayMean(s, w) {
				if out == nil {
					out = slices.Clone(argv)
				}
				out[i] = w
				break
			}
		}
	}
	return out
}

// mayMean reports whether a word may be another spelling of an option.
func mayMean(s, option string) bool {
	switch {
	case !isOption(s) || !isOption(option):
		return false
	case strings.HasPrefix(option, "--") && strings.HasPrefix(s, "--"):
		name, _, _ := strings.Cut(s, "=")
		return len(name) > 4 && strings.HasPrefix(option, name)
	case len(option) == 2 && option[1] != '-' && s[1] != '-' && len(s) > 2 && len(s) <= 6:
		return strings.IndexByte(s, option[1]) > 0 && strings.Trim(s[1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	}
	return false
}

// coversSubcommand looks past options that stand between a program and its
// subcommand, as in git -C dir push: a deny rule for "git push *" means it.
// Where nothing is known of the program's options, a word after one may be
// its value or the subcommand.
func (m *matcher) coversSubcommand(argv []string, dynamic []bool, known Parts, start uint64) tri {
	if len(m.words) < 2 || m.words[1].kind != literalWord || len(argv) < 2 || !isOption(argv[0]) || isOption(m.words[1].text) {
		return no
	}
	matches := func(i int) bool {
		return i < len(argv) && argv[i] == m.words[1].text && matchWords(m.words, argv[i:], cut(dynamic, i), known, start, false)
	}
	if m.valued != "" {
		return b2t(matches(afterOptions(argv, m.valued)))
	}
	certain := true
	for i := 1; i < len(argv); i++ {
		certain = certain && strings.Contains(argv[i-1], "=")
		if !isOption(argv[i-1]) && (i == 1 || !isOption(argv[i-2])) {
			break
		}
		if matches(i) {
			return maybe + tri(b2i(certain))
		}
	}
	return no
}

// afterOptions returns the index of the first word that is no option, and no
// value of an option that takes one.
func afterOptions(argv []string, valued string) int {
	i := 0
	for i < len(argv) && isOption(argv[i]) {
		if programs.Has(valued, argv[i]) {
			i++
		}
		i++
	}
	return i
}

func isOption(s string) bool { return len(s) > 1 && s[0] == '-' }

func cut(dynamic []bool, i int) []bool {
	if i < len(dynamic) {
		return dynamic[i:]
	}
	return nil
}

// argumentStart is the set of pattern positions after the program's word.
func (m *matcher) argumentStart() uint64 {
	if m.words[0].kind == anyWords {
		return 1
	}
	return 2
}

func (c class) covers(a *Access) tri {
	switch {
	case c == classDangerous && a.Danger != "", c == classReadOnly && a.Class == ReadOnly, c == classSandboxed:
		return yes
	}
	return no
}

func (m *matcher) coversAssignment(a *Access) tri {
	switch {
	case m.bare:
		return yes
	case !m.assignment():
		return no
	case len(a.Dynamic) == 0 && m.words[0].match(a.Name+"="+a.Value):
		return yes
	case a.Opaque != "" && m.words[0].match(a.Name+"="):
		return yes
	}
	if name, _, _ := strings.Cut(m.words[0].text, "="); name == a.Name && a.Opaque != "" {
		return maybe
	}
	return no
}

func (m *matcher) coversPath(a *Access, f *facts) tri {
	if m.bare {
		return yes
	}
	if m.path == nil {
		return no
	}
	if f.path == "" {
		return maybe // any path may turn out to be meant
	}
	path, via := f.path, f.via
	if m.path.fold {
		path, via = f.folded, f.fvia
	}
	if m.path.match(path) || via != "" && m.path.match(via) {
		return yes
	}
	each := a.Each && (a.Opaque == "" || a.Kind == Read && f.hides)
	if !a.Tree || each || a.Kind == Read && a.Tool != commandTool {
		return no // each file below is asked about by itself
	}
	below := m.path.reaches(path)
	if via != "" {
		below = max(below, m.path.reaches(via))
	}
	if a.Kind == Read {
		return min(below, maybe)
	}
	return below
}

func (m *matcher) coversHost(a *Access, f *facts) tri {
	switch m.tool {
	case "fetch":
		if m.bare {
			return b2t(a.Tool != "websearch")
		}
	case "net":
		if a.Tool != commandTool {
			return no
		}
	case a.Tool:
		if m.bare {
			return yes
		}
	default:
		return no
	}
	switch {
	case m.url == nil:
		return no
	case f.target.host.name == "":
		return maybe
	}
	return b2t(m.url.match(&f.target, true))
}

func b2t(b bool) tri {
	if b {
		return yes
	}
	return no
}

// permits is the match of allow rules, and of what a deny rule excepts: only
// what is certain. For an exception the program need not be trusted twice
// over, for the rule it narrows has matched already.
func (m *matcher) permits(a *Access, f *facts, exception bool) bool {
	if m.class == classSandboxed && (a.Kind == Exec || a.Kind == Env) {
		return f.known // the sandbox holds what it does, known or not
	}
	if a.Opaque != "" {
		return false
	}
	if m.tool == "*" {
		return a.Kind != Exec || a.Danger == "" || exception
	}
	switch a.Kind {
	case Exec:
		return m.tool == commandTool && m.permitsProgram(a, f, exception)
	case Env:
		return m.assignment() && m.words[0].match(a.Name+"="+a.Value)
	case Read:
		return (m.tool == "read" || m.tool == a.Tool && a.Tool != commandTool) && m.permitsPath(a, f, exception)
	case Write:
		return (m.tool == "edit" || m.tool == a.Tool && a.Tool != commandTool) && m.permitsPath(a, f, exception)
	case Net:
		return m.permitsHost(a, f)
	}
	return m.tool == a.Tool && (m.bare || m.name != nil && m.name.match(a.Name))
}

// spelled reports whether a pattern spells out the command that it is about: the
// program, and its subcommand where it has some.
// What a program that only reads does by an option, and what a remote loses, takes
// an option in the pattern.
func (m *matcher) spelled(danger string) bool {
	switch {
	case m.exact:
		return true
	case len(m.words) == 0 || m.words[0].kind != literalWord, m.options == 0 && (record(m.words[0].text).Class == ReadOnly || programs.HarmsOthers(danger)):
		return false
	}
	n := max(record(m.words[0].text).Arity, 1)
	return len(m.words) >= n && !slices.ContainsFunc(m.words[:n], func(w word) bool { return w.kind != literalWord })
}

func (m *matcher) permitsProgram(a *Access, f *facts, exception bool) bool {
	if a.Danger != "" && !exception && !m.spelled(a.Danger) && m.class != classDangerous {
		return false // only a rule that names the command covers what is dangerous
	}
	switch {
	case m.bare:
		return true
	case m.class == classReadOnly:
		return a.Class == ReadOnly && f.trusted
	case m.class == classDangerous:
		return a.Danger != ""
	case m.assignment(), len(a.Argv) == 0, len(a.Dynamic) > 0 && a.Dynamic[0]:
		return false
	case !m.permitsName(a, f):
		return false
	}
	return matchWords(m.words, a.Argv[1:], cut(a.Dynamic, 1), nil, m.argumentStart(), true)
}

// permitsName holds the program of an access to a pattern's first word.
func (m *matcher) permitsName(a *Access, f *facts) bool {
	w := &m.words[0]
	if m.prog != "" {
		return m.isProgram(f.path)
	}
	if w.kind == anyWords || w.kind == oneWord {
		return true
	}
	if !f.trusted {
		return false
	}
	if f.slash && !f.named {
		return w.match(f.base) // a link elsewhere may have any name
	}
	return w.match(f.name) || w.match(a.Argv[0])
}

// permitsPath: a bare tool means the root and the temporary directories; what
// lies elsewhere has to be named.
func (m *matcher) permitsPath(a *Access, f *facts, exception bool) bool {
	if m.bare {
		return exception || f.inside || f.temp
	}
	if m.path == nil || f.path == "" {
		return false
	}
	path, via := f.path, f.via
	if m.path.fold {
		path, via = f.folded, f.fvia
	}
	if a.Tree && a.File != Regular && !m.path.match(path+"/\x01/\x01") {
		return false // the pattern is about the directory alone
	}
	return m.path.match(path) && (via == "" || !f.viaOut && !exception || m.path.match(via))
}

func (m *matcher) permitsHost(a *Access, f *facts) bool {
	if f.target.host.name == "" {
		return false
	}
	switch {
	case m.tool == "net" && a.Tool != commandTool, m.tool != "net" && m.tool != a.Tool:
		return false
	case m.bare:
		return a.Tool != commandTool
	}
	return m.url != nil && m.url.match(&f.target, false)
}

// names reports whether an allow rule means the very name that a built-in
// protection is about: with another name in its place it would not match.
func (r *rule) names(f *facts, part string) bool {
	if r.means == nil || part == "" {
		return false
	}
	at := -1
	for i := 0; i+len(part) <= len(f.folded); i++ {
		if f.folded[i:i+len(part)] == part && (i == 0 || f.folded[i-1] == '/') && (i+len(part) == len(f.folded) || f.folded[i+len(part)] == '/') {
			at = i
		}
	}
	if at < 0 {
		return false
	}
	other := f.folded[:at] + "\x01" + f.folded[at+len(part):]
	return !r.means.match(other)
}
