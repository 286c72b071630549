package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// inner judges the program that c starts.
func (w *walker) inner(c *call, words []word) {
	if len(words) == 0 {
		return
	}
	if w.depth >= maxDepth {
		c.opaque(w, "nested too deeply")
		return
	}
	child := &call{words: words, src: c.src, external: true, opaqueEnv: c.opaqueEnv, hush: c.hush, why: c.why, quiet: c.quiet}
	saved := w.parent
	w.parent = c.index + 1
	w.depth++
	from := len(w.out.Accesses)
	w.program(child)
	w.depth--
	w.parent = saved
	if from < len(w.out.Accesses) && words[0].multi {
		c.opaque(w, "the program is not known before it runs")
	}
}

// wrapper reads a program that runs another with its own words.
func (w *walker) wrapper(c *call) {
	p := c.prog
	if c.name == "screen" && len(c.words) > 1 && (c.words[1].text == "-ls" || c.words[1].text == "-list") {
		return
	}
	args := w.options(c, p.Options, p.Style|programs.Posix)
	lead := p.Lead
	switch {
	case c.name == "taskset" && c.given("p"), c.name == "chrt" && c.given("p"), c.name == "ionice" && c.given("p", "P", "u"):
		return
	case c.name == "nice" && len(args) > 0 && len(args[0].text) > 1 && strings.Trim(args[0].text, "-0123456789") == "":
		lead = 1
	case c.name == "nsenter", c.name == "chroot" && len(args) > 0 && args[0].text != "/":
		c.opaque(w, "programs and paths of another root")
	case c.name == "strace" || c.name == "ltrace":
		for _, o := range c.opts {
			if hasName(o.names, "output") && (strings.HasPrefix(o.val.text, "|") || strings.HasPrefix(o.val.text, "!")) {
				w.shellText(c, word{text: strings.TrimLeft(o.val.text, "|!"), dyn: o.val.dyn})
			}
		}
	}
	if c.name == "sudo" || c.name == "doas" || c.name == "env" {
		for len(args) > 0 {
			name, _, ok := strings.Cut(args[0].text, "=")
			if !ok || args[0].dyn || strings.Contains(name, "/") {
				break
			}
			w.forOne(c, name, text(args[0].text[len(name)+1:]), false)
			args = args[1:]
		}
	}
	for ; lead > 0 && len(args) > 0; lead-- {
		if args[0].multi {
			c.opaque(w, "the program is not known before it runs")
		}
		args = args[1:]
	}
	if p.Lead > 0 && len(args) > 0 && !args[0].dyn && strings.HasPrefix(args[0].text, "-") {
		d := *c
		d.words, d.args = append([]word{c.words[0]}, args...), nil
		args = w.options(&d, p.Options, p.Style|programs.Posix)
	}
	c.args = args
	if c.name == "screen" && len(args) == 0 && c.given("d", "m", "S") {
		c.opaque(w, "a shell that reads its commands from elsewhere")
	}
	w.inner(c, args)
}

// envCommand reads env: options, assignments, then the program; -S splits a
// string into more words.
func (w *walker) envCommand(c *call) {
	words := c.words[1:]
	for i := 0; i < len(words) && i < 64; i++ {
		if s, taken, ok := splitString(words, i); ok {
			if s.dyn {
				c.opaque(w, "the words are not known before it runs")
				break
			}
			more, sure := splitWords(s.text)
			if !sure {
				c.opaque(w, "a string that env splits in its own way")
			}
			flags := []word(nil)
			if j := strings.IndexByte(words[i].text, 'S'); j > 1 && !strings.HasPrefix(words[i].text, "--") {
				flags = []word{{text: words[i].text[:j]}}
			}
			words = slices.Concat(words[:i], flags, more, words[i+1+taken:])
		}
		if !strings.HasPrefix(words[i].text, "-") && !strings.Contains(words[i].text, "=") {
			break
		}
	}
	d := *c
	d.words = append([]word{c.words[0]}, words...)
	args := w.options(&d, c.prog.Options, c.prog.Style)
	c.opts, c.args = d.opts, args
	for len(args) > 0 && !args[0].dyn {
		name, val, ok := strings.Cut(args[0].text, "=")
		if !ok {
			break
		}
		w.forOne(c, name, text(val), !plain(name) || name == "")
		args = args[1:]
	}
	for _, o := range c.opts {
		if hasName(o.names, "unset") && kindOfVariable(o.val.text, value{}) != variableOther {
			w.forOne(c, o.val.text, value{known: true}, false)
		}
	}
	if len(args) > 0 && args[0].dyn && strings.Contains(args[0].lead, "=") {
		name, _, _ := strings.Cut(args[0].lead, "=")
		w.forOne(c, name, value{}, false)
		args = args[1:]
	}
	if c.given("i") {
		c.hush = cmpOr(c.hush, "the environment is emptied")
	}
	if len(args) == 0 {
		c.lower(w, policy.Unknown) // prints every variable
		return
	}
	w.inner(c, args)
}

// splitString finds env's -S in words[i] and gives its value and how many more
// words that takes.
func splitString(words []word, i int) (s word, taken int, ok bool) {
	t := words[i].text
	if words[i].dyn {
		t = words[i].lead
	}
	switch {
	case strings.HasPrefix(t, "--s"):
		name, val, glued := strings.Cut(t, "=")
		if !strings.HasPrefix("--split-string", name) {
			return s, 0, false
		}
		if glued {
			return word{text: val, dyn: words[i].dyn}, 0, true
		}
	case strings.HasPrefix(t, "-") && !strings.HasPrefix(t, "--"):
		j := strings.IndexByte(t, 'S')
		if j < 0 || strings.ContainsAny(t[:j], "uCaP") {
			return s, 0, false
		}
		if rest := t[j+1:]; rest != "" || words[i].dyn {
			return word{text: rest, dyn: words[i].dyn}, 0, true
		}
	default:
		return s, 0, false
	}
	if i+1 < len(words) {
		return words[i+1], 1, true
	}
	return s, 0, false
}

// splitWords splits as env -S does; sure is false where escapes or variables
// make that uncertain.
func splitWords(s string) (out []word, sure bool) {
	sure = !strings.ContainsAny(s, `\$#`)
	var b []byte
	quote := byte(0)
	open := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			b = append(b, c)
		case c == '\'' || c == '"':
			quote, open = c, true
		case strings.IndexByte(" \t\n\v\f\r", c) >= 0:
			if open {
				out = append(out, word{text: string(b)})
			}
			b, open = b[:0], false
		default:
			b, open = append(b, c), true
		}
	}
	if open {
		out = append(out, word{text: string(b)})
	}
	return out, sure && quote == 0
}

// xargs reads xargs: its input becomes words that are not known, but for the
// paths below a place that find prints.
func (w *walker) xargs(c *call) {
	args := w.options(c, c.prog.Options, c.prog.Style)
	in := w.stdin
	if c.given("arg-file") {
		in = stream{}
	}
	w.stdin = stream{}
	if len(args) == 0 {
		return
	}
	var items []word
	for _, u := range in.under {
		items = append(items, word{text: u, dyn: true, multi: true, under: u, lead: u})
	}
	if len(items) == 0 || !in.safe {
		items = []word{{text: "…", dyn: true, multi: true}}
	}
	mark, replaced := c.optionValue("I")
	if !replaced {
		mark, replaced = c.optionValue("J")
	}
	if !replaced && c.given("i", "replace") {
		mark, replaced = word{text: "{}"}, true
		for _, name := range []string{"i", "replace"} {
			if v, ok := c.optionValue(name); ok && (v.dyn || v.text != "") {
				mark = v
			}
		}
	}
	marks := 0
	for _, o := range c.opts {
		if hasName(o.names, "I") || hasName(o.names, "J") || hasName(o.names, "i") || hasName(o.names, "replace") {
			marks++
		}
	}
	if marks > 1 || replaced && mark.dyn {
		c.opaque(w, "what is replaced is not known before it runs")
	}
	words := slices.Clone(args)
	if replaced && !mark.dyn && mark.text != "" {
		for i, x := range words {
			if before, _, ok := strings.Cut(x.text, mark.text); ok && !x.dyn {
				y := word{text: x.text, dyn: true, lead: before}
				if before == "" && items[0].under != "" && len(items) == 1 {
					y.under, y.lead = items[0].under, items[0].under
				}
				words[i] = y
			}
		}
	}
	if !replaced || mark.dyn || mark.text == "" || c.given("L", "l", "max-lines", "max-args") { // the last of them counts
		words = append(words, items...)
	}
	w.inner(c, words)
	if words[0].dyn {
		c.opaque(w, "the program is not known before it runs")
	}
}
