package policy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A Finding is something in a policy that does not do what its author
// probably wanted.
type Finding struct {
	File    string
	Line    int
	Layer   Layer
	Rule    string
	Kind    string // shadowed, duplicate, broad, unreachable, except, asleep, narrow, unheld
	Message string
}

// Lint looks at every rule of a policy. Findings are sorted by layer and
// place.
func Lint(p *Policy) []Finding {
	if p == nil {
		return nil
	}
	l := linter{p: p}
	for _, r := range p.all {
		if what := r.otherSyntax(r.text); what != "" { // whatever else could be said of it
			l.add(r, "unreachable", what)
			continue
		}
		l.shadowed(r)
		l.duplicate(r)
		l.broad(r)
		l.narrow(r)
		l.narrowHost(r)
		l.unreachable(r)
		l.excepts(r)
	}
	for _, r := range p.asleep {
		l.add(r, "asleep", "the project's file is not trusted: what it allows does not count")
	}
	slices.SortStableFunc(l.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Layer, b.Layer), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return l.findings
}

type linter struct {
	p        *Policy
	findings []Finding
}

func (l *linter) add(r *rule, kind, message string) {
	l.findings = append(l.findings, Finding{File: r.file, Line: r.line, Layer: r.layer, Rule: r.text, Kind: kind, Message: message})
}

// shadowed finds allow and ask rules that a stricter rule always overrules.
func (l *linter) shadowed(r *rule) {
	if r.grant {
		return
	}
	for _, s := range l.p.all {
		if s.list < r.list && len(s.except) == 0 && s.matcher.includes(&r.matcher) {
			d := s.decision("")
			l.add(r, "shadowed", "never counts: "+s.list.String()+" rule "+s.text+" ("+d.Where()+") matches all of it")
			return
		}
	}
}

// duplicate finds rules that another one of the same list makes superfluous: one before
// it, or a broader one behind it in the same layer.
func (l *linter) duplicate(r *rule) {
	behind := false
	for _, s := range l.p.all {
		if s == r {
			behind = true
			continue
		}
		if s.list != r.list || s.layer > r.layer || len(s.except) > 0 || !s.matcher.includes(&r.matcher) || s.otherSyntax(s.text) != "" {
			continue
		}
		if behind && (s.layer != r.layer || r.reason != "" && r.reason != s.reason || len(r.except) == 0 && r.matcher.includes(&s.matcher)) {
			continue // a reason is told, and of two that say the same the second is named
		}
		if r.list == Allow && !l.serves(s, r) {
			continue
		}
		d := s.decision("")
		l.add(r, "duplicate", "adds nothing to "+s.text+" ("+d.Where()+")")
		return
	}
}

// serves reports whether an allow rule that matches whatever r does certainly also allows
// it: some things are only allowed by a rule that names them.
func (l *linter) serves(s, r *rule) bool {
	switch {
	case r.grant && !s.grant:
		return false // it also answers ask rules
	case r.text == s.text:
		return true
	case len(r.words) > 0:
		return servesCommand(&s.matcher, &r.matcher)
	case r.path != nil:
		return l.servesPath(s, r)
	case r.url != nil && r.tool != "net":
		return !r.url.exact || s.url != nil && s.url.exact && s.url.host == r.url.host // it may lead to a private address
	}
	return true
}

// servesCommand: dangerous commands, and those that change something at a host, are allowed
// by the rules that spell them out.
func servesCommand(s, r *matcher) bool {
	argv, need := r.leading(), 1
	switch {
	case s.assignment() || len(argv) == 0:
		return true
	case r.spelled("") && !s.spelled(""):
		return false
	case programName(argv[0]) == "git" && (len(argv) < 2 || argv[1] == "push") && (r.exact || r.options != 0) && s.options == 0:
		return false // see spelled
	}
	if n, known := commandWords(argv); known && len(argv) >= n && !(n > 2 && programs.Has("run exec task tool", argv[1])) { // these start something else
		need = n
	}
	return len(s.leading()) >= need
}

// leading are the words that a pattern spells out before its first wildcard.
func (m *matcher) leading() (words []string) {
	for i := range m.words {
		if m.words[i].kind != literalWord {
			break
		}
		words = append(words, m.words[i].text)
	}
	return words
}

// servesPath: a secret, and what is protected, is allowed by a rule that names it, and what
// lies outside the root by one with a pattern.
func (l *linter) servesPath(s, r *rule) bool {
	if s.bare && s.tool != "*" && !safefile.Below(l.p.root, r.path.base) || strings.Contains(r.path.base[len(commonDir(l.p.root, r.path.base)):]+"/"+r.path.glob, "/.") {
		return false
	}
	for _, text := range r.path.samples() {
		for _, kind := range []Kind{Read, Write} {
			a := Access{Kind: kind, Tool: "edit", Path: text, Op: Change, File: Regular}
			if kind == Read {
				a.Tool, a.Op = "read", ""
			}
			f, soft, part := facts{}, setting{verdict: Allow}, ""
			l.p.fileFacts(&a, &f)
			if _, done := l.p.protection(&a, &f, &soft, &part); done || soft.verdict != Allow {
				return false
			}
		}
	}
	return true
}

// commonDir is dir where it holds path, else "".
func commonDir(dir, path string) string {
	if safefile.Below(dir, path) {
		return dir
	}
	return ""
}

// broad finds allow rules that allow about everything.
func (l *linter) broad(r *rule) {
	if r.list != Allow {
		return
	}
	switch {
	case r.tool == "*":
		l.add(r, "broad", "allows every tool everything inside the root, and every command")
	case r.bare && r.tool == commandTool:
		l.add(r, "broad", "allows every command")
	case r.path != nil && r.path.base == "" && r.path.kind != literalPath:
		l.add(r, "broad", "covers the whole file system")
	case r.path != nil && l.p.home != "" && r.path.kind == treePath && safefile.Below(r.path.base, l.p.home) && r.tool == "edit":
		l.add(r, "broad", "covers the home directory")
	case r.url != nil && !r.url.exact && strings.Trim(r.url.host, "*") == "":
		l.add(r, "broad", "covers every host")
	case len(r.words) > 0 && !r.assignment():
		l.broadCommand(r)
	}
}

// narrow finds deny and ask rules for one of the tools that write: what is
// meant is that nothing is written, and the others still write.
func (l *linter) narrow(r *rule) {
	if r.list == Allow || r.tool != "write" && r.tool != "patch" {
		return
	}
	for _, s := range l.p.all {
		if s.list <= r.list && len(s.except) == 0 && s.tool == "edit" && (s.bare || s.path != nil && r.path != nil && s.path.includes(r.path)) {
			return // the other ways are closed, too
		}
	}
	instead := "edit" + strings.TrimPrefix(strings.TrimSpace(r.text), r.tool)
	l.add(r, "narrow", "holds for the tool "+r.tool+" alone: other tools and commands still write; "+instead+" means every write")
}

// narrowHost finds deny rules about a host that hold for commands alone, where the tool
// that fetches, which has rules of its own, is not denied it.
func (l *linter) narrowHost(r *rule) {
	if r.list != Deny || r.tool != "net" || r.url == nil || r.url.preset != nil || len(r.except) > 0 {
		return
	}
	_, pattern, _, _ := splitRule(r.text)
	host, instead := strings.ReplaceAll(r.url.host, "*", sampleLabel), "fetch(domain:"+pattern+")"
	if strings.Trim(r.url.host, "*") == "" {
		host, instead = sampleLabel+".example.net", "fetch"
	}
	for _, scheme := range [...]string{"https", "http"} {
		if d := l.p.Decide(&Access{Kind: Net, Tool: "fetch", Scheme: scheme, Host: host, Port: r.url.port}); d.Verdict != Deny {
			l.add(r, "narrow", "holds for commands alone: the tool fetch is not denied the host; add the deny rule "+instead)
			return
		}
	}
}

// LintWall finds the rules that this machine's sandbox cannot hold commands to: no
// fault of the policy's, but what its author should know.
func LintWall(p *Policy) []Finding {
	if p == nil {
		return nil
	}
	l := linter{p: p}
	for _, r := range p.all {
		l.unheld(r)
		l.opened(r)
	}
	return l.findings
}

// opened finds allow rules that open more outside the root than the sandbox can hold commands to.
func (l *linter) opened(r *rule) {
	if !r.opensTree() || r.layer == BuiltIn || l.p.Level() < 2 || safefile.Below(l.p.root, r.path.base) {
		return
	}
	if home := l.p.home; home != "" && safefile.Below(orElse(r.path.base, "/"), home) {
		l.add(r, "unheld", "opens all of a home: where that is more than can be looked through before each command, commands of which nobody knows what they read are asked about; name the directories that are meant")
	}
	if l.p.Level() == 2 && r.tool == "edit" {
		l.add(r, "unheld", "a command can read all that is in what it may write: the sandbox at "+l.p.Wall()+" of this machine cannot hide single files there; where secrets are, commands of which nobody knows what they read are asked about instead")
	}
}

// unheld finds deny and ask rules that this machine's sandbox cannot hold commands to:
// then the text of a command is all that they are judged by, where it tells.
func (l *linter) unheld(r *rule) {
	if r.list == Allow || r.layer == BuiltIn {
		return
	}
	inside := r.path != nil && (r.path.base == "" || safefile.Below(l.p.root, r.path.base) || safefile.Below(r.path.base, l.p.root))
	wall, level := l.p.Wall()+" of this machine", l.p.Level()
	switch {
	case r.tool != "read" && r.tool != "edit" && r.tool != "net" && r.tool != commandTool || r.class != noClass:
	case l.p.Outer():
		l.add(r, "unheld", "counts for what a command's text tells: nothing of agentkit's holds commands at outer")
	case level < 2:
		l.add(r, "unheld", "counts for what a command's text tells, and for tools: the sandbox at "+wall+" holds no command to it")
	case level == 2 && r.tool == "read" && inside:
		l.add(r, "unheld", "a command that opens such a file inside the root is not stopped: the sandbox at "+wall+" cannot hide single files; commands of which nobody knows what they read are asked about instead")
	case level == 2 && r.tool == "edit" && inside:
		l.add(r, "unheld", "a command that changes such a file inside the root is not stopped while it runs: the sandbox at "+wall+" puts it back afterwards")
	}
}

func (l *linter) broadCommand(r *rule) {
	first, open := &r.words[0], len(r.words) > 1 && r.words[1].kind >= globWord
	if first.kind != literalWord {
		if last := r.words[len(r.words)-1].kind; first.kind >= oneWord && len(r.words) <= 2 && last == anyWords {
			l.add(r, "broad", "allows every command")
		}
		return
	}
	if !open && (len(r.words) < 3 || r.words[2].kind < globWord) {
		return
	}
	switch roleOf(first.text) {
	case programs.ShellRole, programs.InterpreterRole:
		if r.words[len(r.words)-1].kind == anyWords {
			l.add(r, "broad", "allows any program text: "+first.text+" runs what its arguments say")
		}
	case programs.WrapperRole:
		if open {
			l.add(r, "broad", first.text+" runs the program that its arguments name, with whatever it changes about it")
		}
	default:
		if len(r.words) > 2 && isRunner([]string{first.text, r.words[1].text}) {
			l.add(r, "broad", "runs whatever program its arguments name")
		}
	}
}

// unreachable finds patterns that nothing can match.
func (l *linter) unreachable(r *rule) {
	switch {
	case r.path != nil:
		l.unreachablePath(r)
	case r.list == Allow && len(r.words) > 0 && r.words[0].kind == literalWord && r.prog == "" && strings.ContainsAny(r.words[0].text, " \t"):
		l.add(r, "unreachable", "no program has blanks in its name; quote single words only")
	case r.list == Allow && r.prog != "" && r.alias == "" && l.p.trusts(r.prog):
		l.add(r, "unreachable", "there is no program "+r.prog)
	}
}

func (l *linter) unreachablePath(r *rule) {
	_, pattern, _, _ := splitRule(r.text)
	switch a, what := probe(r), l.otherRoot(r); {
	case what != "":
		l.add(r, "unreachable", what)
	case strings.Contains(strings.TrimPrefix(pattern, "/"), "//"):
		l.add(r, "unreachable", "a path never has two slashes in a row")
	case strings.Contains(pattern, `\`) && !strings.ContainsAny(pattern, "*?[{"):
		l.add(r, "unreachable", `directories are separated by /; \ makes the next character literal`)
	case r.list == Allow && a != nil:
		f := facts{}
		l.p.fileFacts(a, &f)
		soft, part := setting{verdict: Allow}, ""
		if d, done := l.p.protection(a, &f, &soft, &part); done {
			l.add(r, "unreachable", "never counts: "+d.Rule+" is built in and "+d.Why)
		}
	}
}

// probe returns an access to the very path of a literal rule, or to the
// directory of a tree; nil where the pattern means no single place.
func probe(r *rule) *Access {
	if r.path.kind > treePath || r.path.base == "" {
		return nil
	}
	switch r.tool {
	case "read":
		return &Access{Kind: Read, Tool: "read", Path: r.path.base}
	case "edit":
		if r.path.kind == literalPath {
			return &Access{Kind: Write, Tool: "edit", Op: Change, Path: r.path.base}
		}
		return &Access{Kind: Write, Tool: "edit", Op: Change, Path: r.path.base + "/x"}
	}
	return nil
}

// excepts finds exceptions that carve nothing out.
func (l *linter) excepts(r *rule) {
	for i := range r.except {
		e := &r.except[i]
		if !e.overlaps(&r.matcher) {
			l.add(r, "except", "except "+r.ruleSpec.except[i]+" has nothing in common with the rule")
		} else if e.includes(&r.matcher) {
			l.add(r, "except", "except "+r.ruleSpec.except[i]+" takes everything out: the rule is dead")
		}
	}
}

// includes reports whether m certainly matches whatever o matches.
func (m *matcher) includes(o *matcher) bool {
	switch {
	case m.tool == "*":
		return true
	case m.tool != o.tool || m.class != o.class:
		return false
	case m.bare || m.class != noClass:
		return true
	case o.bare:
		return false
	case m.words != nil:
		return m.includesWords(o)
	case m.url != nil:
		return o.url != nil && m.url.includes(o.url)
	case m.path != nil:
		return o.path != nil && m.path.includes(o.path)
	}
	return m.name != nil && o.name != nil && m.name.text == o.name.text
}

func (m *matcher) includesWords(o *matcher) bool {
	if m.prog != "" && m.prog != o.prog || m.assignment() != o.assignment() {
		return false
	}
	return wordsRelate(m.words, o.words, (*word).includes, true)
}

// overlaps reports whether something may match both.
func (m *matcher) overlaps(o *matcher) bool {
	switch {
	case m.tool == "*" || o.tool == "*":
		return true
	case m.tool != o.tool:
		return false
	case m.words != nil && o.words != nil:
		return wordsRelate(m.words, o.words, (*word).overlaps, false)
	case m.path != nil && o.path != nil:
		return m.path.reaches(o.path.base) != no || o.path.reaches(m.path.base) != no || m.path.match(o.path.base) || o.path.match(m.path.base)
	case m.url != nil && o.url != nil:
		return m.url.includes(o.url) || o.url.includes(m.url) || !m.url.exact || !o.url.exact
	}
	return true
}

// wordsRelate walks two patterns at once. Every word of b must be related to
// one of a; a lone * of a stands for any number of b's. With b's own * it is
// the same the other way round, but for inclusion, where only * includes *.
func wordsRelate(a, b []word, related func(a, b *word) bool, inclusion bool) bool {
	reach := make([]bool, (len(a)+1)*(len(b)+1))
	at := func(i, j int) int { return i*(len(b)+1) + j }
	reach[0] = true
	for i := 0; i <= len(a); i++ {
		for j := 0; j <= len(b); j++ {
			if !reach[at(i, j)] {
				continue
			}
			anyA, anyB := i < len(a) && a[i].kind == anyWords, j < len(b) && b[j].kind == anyWords
			if anyA {
				reach[at(i+1, j)] = true
				if j < len(b) {
					reach[at(i, j+1)] = true
				}
			}
			if anyB && !inclusion {
				reach[at(i, j+1)] = true
				if i < len(a) {
					reach[at(i+1, j)] = true
				}
			}
			if i < len(a) && j < len(b) && !anyA && !anyB && related(&a[i], &b[j]) {
				reach[at(i+1, j+1)] = true
			}
		}
	}
	return reach[at(len(a), len(b))]
}

func (w *word) includes(o *word) bool {
	switch {
	case w.kind == oneWord:
		return true
	case o.kind == literalWord:
		return w.match(o.text)
	case w.kind == globWord && o.kind == globWord:
		return matchParts(w.parts, strings.Join(o.parts, "\x00*\x00"))
	}
	return false
}

func (w *word) overlaps(o *word) bool {
	switch {
	case w.kind == oneWord || o.kind == oneWord:
		return true
	case w.kind == literalWord:
		return o.match(w.text)
	case o.kind == literalWord:
		return w.match(o.text)
	}
	a, b := w.parts, o.parts
	return (strings.HasPrefix(a[0], b[0]) || strings.HasPrefix(b[0], a[0])) && (strings.HasSuffix(a[len(a)-1], b[len(b)-1]) || strings.HasSuffix(b[len(b)-1], a[len(a)-1]))
}

// includes for paths tries samples of what the other pattern stands for.
func (g *pathGlob) includes(o *pathGlob) bool {
	if !g.cover && o.cover {
		return false
	}
	if strings.ContainsAny(o.base+o.glob, "[{") {
		return g.base == o.base && g.glob == o.glob
	}
	for _, text := range o.samples() {
		if g.fold && !o.fold {
			text = foldPath(text)
		}
		if !g.match(text) {
			return false
		}
	}
	return true
}

// samples are paths that a pattern without classes and alternatives stands for.
func (g *pathGlob) samples() (list []string) {
	for _, sample := range [...][3]string{{"zq", "zq/zr/zs", "q"}, {"a.b.zq", "zq", "x"}, {"", "", "y"}} {
		text := g.base
		if glob := strings.NewReplacer("**", sample[1], "*", sample[0], "?", sample[2]).Replace(g.glob); glob != "" {
			text += "/" + glob
		}
		list = append(list, trimSlash(strings.ReplaceAll(text, "//", "/")))
	}
	return list
}

func (u *urlGlob) includes(o *urlGlob) bool {
	hosts := u.matchHost(strings.ReplaceAll(o.host, "*", "zq")) && (u.domain || !o.domain)
	ports := u.anyPort || u.port == o.port && !o.anyPort
	return hosts && ports && (u.scheme == "" || u.scheme == o.scheme) && (u.path == "" || u.path == o.path || u.path == "/**" && o.path != "")
}
