package shellparse

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"mvdan.cc/sh/v3/syntax"
)

// parts adds the parts of a word outside quotes.
func (b *builder) parts(parts []syntax.WordPart) {
	for i, p := range parts {
		if l, ok := p.(*syntax.Lit); ok {
			b.literal(l.Value, i == 0, i == len(parts)-1)
			continue
		}
		b.part(p, false)
	}
}

// assigned is parts for the right side of an assignment, where a tilde also
// counts after each colon.
func (b *builder) assigned(parts []syntax.WordPart) {
	for i, p := range parts {
		l, ok := p.(*syntax.Lit)
		if !ok {
			b.part(p, false)
			continue
		}
		for j, s := range strings.SplitAfter(l.Value, ":") {
			b.literal(s, i == 0 || j > 0, i == len(parts)-1 || strings.HasSuffix(s, ":"))
		}
	}
}

// literal adds unquoted text: first where the word starts with it, last where
// nothing follows, so that a tilde stands alone.
func (b *builder) literal(s string, first, last bool) {
	if first && strings.HasPrefix(s, "~") {
		s = b.tilde(s, last)
	}
	if b.split && first && !b.dyn {
		if name, val, ok := strings.Cut(s, "="); ok && strings.Contains(val, "~") && syntax.ValidName(name) {
			b.add(name+"=", false)
			for _, v := range strings.SplitAfter(val, ":") {
				if strings.HasPrefix(v, "~") {
					v = b.tilde(v, last || strings.HasSuffix(v, ":"))
				}
				b.unquoted(v)
			}
			return
		}
	}
	b.unquoted(s)
}

func (b *builder) unquoted(s string) {
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			b.add(s, false)
			return
		}
		b.add(s[:i], false)
		if i+1 >= len(s) {
			b.add(`\`, true)
			return
		}
		_, n := utf8.DecodeRuneInString(s[i+1:])
		if s[i+1] != '\n' {
			b.add(s[i+1:i+1+n], true)
		}
		s = s[i+1+n:]
	}
}

// tilde adds what a leading ~ stands for and gives the rest.
func (b *builder) tilde(s string, last bool) string {
	end := strings.IndexAny(s, "/:")
	if end < 0 {
		end = len(s)
	}
	if end == len(s) && !last || strings.ContainsAny(s[:end], `\`) {
		return s // a quoted part follows: bash expands nothing, or another name
	}
	w := b.w
	switch s[1:end] {
	case "":
		if h := w.home(); h != "" {
			b.add(h, true)
			return s[end:]
		}
	case "+":
		if w.st.lost == "" && len(w.st.dirs) == 1 && len(w.st.names) == 0 {
			b.add(w.st.dirs[0], true)
			return s[end:]
		}
	}
	b.hole(true, false)
	b.number = false
	return s[end:]
}

// part adds one part of a word that is not an unquoted literal.
func (b *builder) part(p syntax.WordPart, quoted bool) {
	w := b.w
	switch x := p.(type) {
	case *syntax.Lit:
		if quoted {
			b.add(dquoted(x.Value), true)
		} else {
			b.unquoted(x.Value)
		}
	case *syntax.SglQuoted:
		if !x.Dollar {
			b.add(x.Value, true)
		} else if s, ok := ansi(x.Value); ok && w.shell != "sh" {
			b.add(s, true)
		} else {
			b.hole(true, false)
		}
	case *syntax.DblQuoted:
		b.active = b.active || !lists(x.Parts)
		size, words := len(b.b), len(b.out)
		for _, q := range x.Parts {
			b.part(q, true)
		}
		if len(b.b) == size && len(b.out) == words && !lists(x.Parts) && slices.ContainsFunc(x.Parts, func(p syntax.WordPart) bool { return lists([]syntax.WordPart{p}) }) {
			b.hole(false, false) // "$@$y": bash has no word where both are empty, others have one
		}
	case *syntax.ParamExp:
		b.param(x, quoted)
	case *syntax.CmdSubst:
		b.substitute(x, quoted)
	case *syntax.ArithmExp:
		if n, ok := w.arithmetic(x.X); ok && (quoted || !w.st.ifs) {
			b.add(itoa(n), true)
		} else {
			b.hole(quoted, true)
		}
	case *syntax.ProcSubst:
		b.process(x)
	case *syntax.ExtGlob:
		b.hole(false, false)
		w.suspicious(x.Pattern.Value)
	default:
		b.hole(false, false)
	}
}

// lists reports whether parts are "$@" and its like alone, which become no
// word where there is nothing to list.
func lists(parts []syntax.WordPart) bool {
	for _, p := range parts {
		x, ok := p.(*syntax.ParamExp)
		if !ok || x.Param == nil {
			return false
		}
		i, indexed := x.Index.(*syntax.Word)
		if x.Param.Value != "@" && !(indexed && i.Lit() == "@") {
			return false
		}
	}
	return len(parts) > 0
}

// dquoted takes the backslashes out of text in double quotes.
func dquoted(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// substitute adds the output of a command, which is known for the simplest.
func (b *builder) substitute(x *syntax.CmdSubst, quoted bool) {
	w := b.w
	from := len(w.out.Accesses)
	s := w.fork()
	s.settle()
	in := w.stdin
	w.list(x.Stmts)
	out, ok := w.output(x.Stmts)
	if !ok {
		out, ok = w.workTree(x.Stmts, from)
	}
	var found []word
	if !ok && !quoted && b.split {
		found = w.foundNames(w.lastPrinted(x.Stmts, from), false)
	}
	w.stdin = in
	w.drop(s)
	b.net = b.net || w.fetches(from)
	if !ok && w.clock(x.Stmts) && b.unique() {
		return
	}
	if !ok || w.shell == "zsh" && !quoted {
		b.hole(quoted, w.counts(x.Stmts))
		b.found = found
		return
	}
	b.value(strings.TrimRight(out, "\n"), quoted)
}

// process adds the path of a process substitution.
func (b *builder) process(x *syntax.ProcSubst) {
	w := b.w
	from := len(w.out.Accesses)
	s := w.fork()
	in := w.stdin
	w.list(x.Stmts)
	if out, ok := w.output(x.Stmts); ok {
		b.script = out
	}
	w.stdin = in
	w.drop(s)
	b.net = b.net || w.fetches(from)
	alone := len(b.b) == 0
	b.add(programs.DevFD, true)
	b.hole(true, false)
	b.proc, b.number = alone, false
	b.piped = !b.mixed
}

// printers are the commands whose output is certain with words that are known.
const printers = "echo printf pwd go mktemp date basename dirname"

// output gives what a list of commands prints where that is certain: a single one of
// the printers.
func (w *walker) output(stmts []*syntax.Stmt) (string, bool) {
	if len(stmts) != 1 || len(stmts[0].Redirs) > 0 || stmts[0].Background || stmts[0].Negated {
		return "", false
	}
	c, ok := stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 || len(c.Assigns) > 0 {
		return "", false
	}
	name := c.Args[0].Lit()
	if !programs.Has(printers, name) || w.st.lookupFunc(name) != nil || w.st.env != "" && !(name == "mktemp" && slight(w.st.env)) {
		return "", false
	}
	for _, a := range c.Args { // words with effects were walked before
		for _, p := range a.Parts {
			if !inert(p) {
				return "", false
			}
		}
	}
	words := w.words(c.Args[1:])
	switch name {
	case "echo", "printf", "pwd":
	case "go":
		return w.goenv(words)
	default:
		return w.prints(name, words)
	}
	return w.print(name, words)
}

func inert(p syntax.WordPart) bool {
	switch x := p.(type) {
	case *syntax.Lit, *syntax.SglQuoted:
		return true
	case *syntax.ParamExp:
		return x.Short
	case *syntax.DblQuoted:
		for _, q := range x.Parts {
			if !inert(q) {
				return false
			}
		}
		return true
	}
	return false
}

// print is what echo, printf or pwd prints of these words, where certain.
func (w *walker) print(name string, words []word) (string, bool) {
	var list []string
	for _, x := range words {
		if x.Dynamic || x.Pattern != "" || strings.HasPrefix(x.Text, "-") {
			return "", false
		}
		list = append(list, x.Text)
	}
	switch {
	case name == "pwd" && len(list) == 0:
		return strings.Join(w.st.dirs, ""), w.st.lost == "" && len(w.st.dirs) == 1 && len(w.st.names) == 0
	case name == "echo":
		s := strings.Join(list, " ")
		return s, !strings.Contains(s, `\`) || w.shell == "bash"
	case name == "printf" && len(list) == 1 && !strings.Contains(list[0], "%"):
		return ansi(list[0])
	case name == "printf" && len(list) > 1:
		return formatted(list[0], list[1:])
	}
	return "", false
}
