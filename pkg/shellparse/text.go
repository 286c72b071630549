package shellparse

import (
	"errors"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"mvdan.cc/sh/v3/syntax"
)

// text walks a whole script: the command line itself, the text of eval or of a
// shell's -c.
func (w *walker) text(src string, parent int) {
	w.depth++
	savedSrc, savedParent, savedStdin := w.src, w.parent, w.stdin
	w.src, w.parent = src, parent
	defer func() {
		w.src, w.parent, w.stdin = savedSrc, savedParent, savedStdin
		w.depth--
	}()
	switch {
	case w.depth > maxDepth:
		w.whole(errDeep.Error())
		return
	case strings.TrimSpace(src) == "":
		if w.depth == 1 {
			w.whole("no command")
		}
		return
	case len(src) > maxParsed:
		w.whole("the text is too long")
		if w.spend(len(src) / 64) {
			w.crude(src)
		}
		return
	case !w.spend(1 + len(src)/16):
		w.whole("too much to follow")
		return
	}
	w.globs = w.globs || w.depth == 1 && strings.Contains(src, "shopt")
	w.hygiene(src)
	if w.shell == "zsh" && (len(src)-len(strings.TrimRight(src, "\\")))%2 == 1 {
		w.whole("a backslash at the end, which zsh leaves out")
	}
	if len(src) > MaxText {
		w.whole("the text is too long")
	}
	if nesting(src) > maxNesting {
		w.whole(errDeep.Error())
		w.crude(src)
		return
	}
	file, err := w.parse(src)
	if err != nil {
		if errors.Is(err, errDeep) { // a shell may follow it
			w.whole(errDeep.Error())
			w.broken(src)
			return
		}
		if w.depth == 1 {
			w.out.Broken = reason(err)
		}
		w.whole("the text does not parse: " + reason(err))
		w.broken(src)
		w.compare(src, true)
		return
	}
	if len(file.Stmts) == 0 && w.depth == 1 {
		w.whole("no command")
	}
	for _, s := range file.Stmts {
		w.inspect(s, inspection{})
	}
	w.list(file.Stmts)
	if w.depth == 1 {
		w.uncalled()
	}
	w.compare(src, false)
}

func reason(err error) string {
	s := err.Error()
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	return programs.Cut(s)
}

// parse reads the text as the shell that gets it would.
func (w *walker) parse(src string) (*syntax.File, error) {
	lang := syntax.LangBash
	switch w.shell {
	case "bash", "":
	case "zsh":
		lang = syntax.LangZsh
	case "sh":
		for _, s := range shellsDiffer() {
			if strings.Contains(src, s) {
				w.whole("shells that are called sh read this in different ways")
				break
			}
		}
		if f, err := parse(syntax.LangPOSIX, src); err == nil || errors.Is(err, errDeep) {
			return f, err
		}
		w.whole("not the language of sh")
	default:
		w.whole("the language of " + w.shell + " is not known")
	}
	return parse(lang, src)
}

// shellsDiffer are the spellings that bash and dash understand differently.
func shellsDiffer() []string {
	return []string{"$'", `$"`, "&>", "<(", ">(", "|&", "((", "[[", "<<<", "function ", ";&", "+=(", "=(", "{fd}", ">&/", "select ", "coproc "}
}

// broken reads what it can of a text that does not parse: bash runs complete
// lines before it meets a later error, so deny rules must see them.
func (w *walker) broken(src string) {
	w.contain(func() {
		p := syntax.NewParser(syntax.Variant(syntax.LangBash))
		done := false // the iterator goes on after an error, even when it is told to stop
		for s, err := range p.StmtsSeq(shallow(src)) {
			if s != nil && !done {
				w.inspect(s, inspection{})
				w.stmt(s)
				w.st.settle()
			}
			done = done || err != nil || w.steps <= 0
		}
	})
	w.crude(src)
}

// crude lists the first words of what looks like commands, without a parser.
// It is the last resort for text that no parser understands.
func (w *walker) crude(src string) {
	for _, piece := range strings.FieldsFunc(src, func(r rune) bool { return strings.ContainsRune(";|&(){}`\n<>", r) }) {
		fields := strings.Fields(strings.Map(func(r rune) rune {
			if r == '\\' || r == '\'' || r == '"' || r == '$' || r < ' ' && r != '\t' {
				return -1
			}
			return r
		}, piece))
		for len(fields) > 0 && (syntax.IsKeyword(fields[0]) || fields[0] == "!" || strings.Contains(fields[0], "=")) {
			fields = fields[1:]
		}
		if len(fields) == 0 || !w.spend(4) {
			continue
		}
		if _, ok := w.names[fields[0]]; ok {
			continue
		}
		w.names[fields[0]] = struct{}{}
		if len(fields) > 32 {
			fields = fields[:32]
		}
		words := make([]word, len(fields))
		for i, f := range fields {
			words[i] = word{Text: f}
		}
		w.unsure(words, programs.Cut(piece), "found in text that does not parse")
	}
}

// uncalled walks the functions that nothing in the text calls.
func (w *walker) uncalled() {
	for i := 0; i < len(w.pending); i++ {
		f := w.pending[i]
		if f.called {
			continue
		}
		f.called = true
		src := w.src
		s := w.fork()
		later := w.later
		w.src, w.later = f.src, true
		end := w.inFile(f.scripted)
		for _, b := range f.bodies {
			w.stmt(b)
		}
		end()
		w.src, w.later = src, later
		w.drop(s)
	}
	w.pending = nil
}

// maxNesting is how deep brackets may nest before parsers get slow.
const maxNesting = 80

// nesting is a cheap upper bound for how deep a text nests.
func nesting(src string) int {
	depth, most := 0, 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '(', '{':
			depth++
			most = max(most, depth)
		case ')', '}':
			depth = max(0, depth-1)
		}
	}
	words := 0
	for _, k := range []string{"if", "while", "until", "case", "for", "select", "! !", "time "} {
		words = max(words, strings.Count(src, k)-strings.Count(src, "\n"))
	}
	if words > 400 {
		return maxNesting + 1
	}
	return most
}

// compare adds the commands that only the second parser finds. Where that one
// alone stumbles it has nothing to say; where both do, all it finds counts.
func (w *walker) compare(src string, broken bool) {
	if len(src) > MaxText || simpleText(src) {
		return
	}
	found, clean, late := secondReading(w.ctx, src)
	if late {
		w.whole("text that cannot be read a second time within its limit")
		return
	}
	if !clean && !broken {
		return
	}
	for _, c := range found {
		if _, seen := w.names[c.name]; seen || syntax.IsKeyword(c.name) || c.name == "" || c.name == "coproc" || c.name == "time" || c.name == "let" {
			continue
		}
		if strings.HasSuffix(strings.TrimRight(src[:min(c.at, len(src))], " \t"), `\$(`) {
			continue // the grammar does not heed the backslash in a here-document
		}
		if !w.spend(4) {
			return
		}
		w.names[c.name] = struct{}{}
		w.out.Disagreements = append(w.out.Disagreements, c.name)
		words := []word{{Text: c.name}}
		for f := range strings.FieldsSeq(c.rest) {
			if len(words) < 32 {
				words = append(words, word{Text: strings.Trim(f, `"'`)})
			}
		}
		w.unsure(words, programs.Cut(c.name+" "+c.rest), "the two parsers disagree on "+c.name)
	}
}

// simpleText reports whether a text is so plain that every parser reads it
// alike.
func simpleText(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(" -_./:=,+@%", c) >= 0 {
			continue
		}
		return false
	}
	return true
}

// A finding is a command as the second parser reads it.
type finding struct {
	name, rest string
	at         int
}
