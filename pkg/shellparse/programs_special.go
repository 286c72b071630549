package shellparse

import (
	"path"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// dd reads if= and of=.
func (w *walker) dd(c *call) {
	c.args = c.words[1:]
	for _, x := range c.args {
		s := x.text
		if x.dyn {
			s = x.lead
		}
		key, _, ok := strings.Cut(s, "=")
		switch {
		case !ok && x.dyn:
			c.opaque(w, "a word that is not known may be an option")
		case key == "if":
			w.file(fileAccess{kind: policy.Read, parent: c.index + 1, src: s}, after(x, "if="))
		case key == "of":
			c.lower(w, policy.Known)
			w.file(fileAccess{kind: policy.Write, op: policy.Change, parent: c.index + 1, src: s}, after(x, "of="))
		}
	}
}

// after is a word without the prefix it certainly has.
func after(x word, prefix string) word {
	if x.dyn {
		x.lead = strings.TrimPrefix(x.lead, prefix)
		return x
	}
	x.text = strings.TrimPrefix(x.text, prefix)
	return x
}

// date reads date: an operand that is no format sets the clock.
func (w *walker) date(c *call) {
	w.options(c, c.prog.Options, c.prog.Style)
	for _, x := range c.args {
		if x.dyn && x.lead == "" || !x.dyn && !strings.HasPrefix(x.text, "+") {
			c.lower(w, policy.Unknown)
		}
	}
}

// testCommand reads test and [: -v evaluates a subscript.
func (w *walker) testCommand(c *call) {
	c.args = c.words[1:]
	for i, x := range c.args {
		if x.text == "-v" || x.text == "-R" || x.dyn && x.lead == "" && i == 0 {
			if i+1 < len(c.args) {
				if y := c.args[i+1]; y.dyn || strings.ContainsAny(y.text, "[$`") {
					c.opaque(w, "a name whose subscript is evaluated")
				}
			}
		}
	}
}

// jq reads jq: the program is the first operand unless it is in a file.
func (w *walker) jq(c *call) {
	words := c.words
	c.words = make([]word, 0, len(words))
	for i := 0; i < len(words); i++ {
		x := words[i]
		switch strings.TrimLeft(x.text, "-") { // these take two values
		case "arg", "argjson", "slurpfile", "rawfile", "argfile":
			if i > 0 && strings.HasPrefix(x.text, "-") && !x.dyn {
				if i+2 < len(words) && strings.HasSuffix(x.text, "file") {
					w.role(c, programs.Read, words[i+2])
				}
				i += 2
				continue
			}
		}
		c.words = append(c.words, x)
	}
	w.options(c, c.prog.Options, c.prog.Style)
	c.words = words
	for _, x := range c.args[:min(1, len(c.args))] {
		if jqWord(x.text, "import") || jqWord(x.text, "include") || jqWord(x.text, "modulemeta") {
			c.opaque(w, "a program that loads another")
		}
		if jqWord(x.text, "env") || strings.Contains(x.text, "$ENV") {
			c.lower(w, policy.Unknown) // every variable, which may hold keys
		}
	}
	if c.given("from-file") {
		w.operands(c, "read*")
		return
	}
	if c.given("args", "jsonargs") {
		return
	}
	w.operands(c, "skip read*")
}

// jqWord reports whether a word of jq's language stands in a program: not the
// name of a field, and no part of a longer word.
func jqWord(text, word string) bool {
	for i := 0; ; {
		n := strings.Index(text[i:], word)
		if n < 0 {
			return false
		}
		i += n
		end := i + len(word)
		if (i == 0 || !nameByte(text[i-1]) && text[i-1] != '.' && text[i-1] != '$') && (end == len(text) || !nameByte(text[end])) {
			return true
		}
		i = end
	}
}

func nameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// ps reads ps: e among its letters shows the environment of processes.
func (w *walker) ps(c *call) {
	c.args = c.words[1:]
	for i, x := range c.args {
		value := i > 0 && (c.args[i-1].text == "-o" || c.args[i-1].text == "o" || strings.HasSuffix(c.args[i-1].text, "o") || c.args[i-1].text == "-C" || c.args[i-1].text == "-u" || c.args[i-1].text == "-U" || strings.HasPrefix(c.args[i-1].text, "--"))
		switch {
		case x.dyn:
			c.lower(w, policy.Unknown)
		case x.text == "-E", !value && !strings.HasPrefix(x.text, "-") && strings.Contains(x.text, "e") && strings.Trim(x.text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "":
			c.lower(w, policy.Unknown) // every variable, which may hold keys
		}
	}
}

// hostname reads hostname: an operand changes the name.
func (w *walker) hostname(c *call) {
	w.options(c, c.prog.Options, c.prog.Style)
	if len(c.args) > 0 {
		c.lower(w, policy.Unknown)
		c.danger(w, "changes the name of the machine")
	}
}

// editor reads ed, ex and vi: their commands may run anything, so they are
// known only when a person types them.
func (w *walker) editor(c *call) {
	w.options(c, c.prog.Options, c.prog.Style)
	if c.known == "ed" || c.known == "ex" || w.stdin.set || c.given("e", "E", "s") || c.name == "nvim" && c.given("l") {
		c.opaque(w, "the commands come from its input")
	}
	for line := range strings.Lines(w.stdin.text) {
		if cmd, ok := strings.CutPrefix(strings.TrimSpace(line), "!"); ok {
			w.shellText(c, word{text: cmd})
		}
	}
	for _, x := range c.words[1:] { // -c ':!command'
		cmd := strings.TrimLeft(x.text, "-+c :")
		if cmd, ok := strings.CutPrefix(cmd, "!"); ok && !x.dyn {
			w.shellText(c, word{text: cmd})
		}
	}
	w.editorCommands(c)
	w.operands(c, c.prog.Operands)
}

// patch reads patch: without an operand the patch itself names the files.
func (w *walker) patch(c *call) {
	w.options(c, c.prog.Options, c.prog.Style)
	w.operands(c, c.prog.Operands)
	if len(c.args) == 0 && !c.given("dry-run") {
		w.file(fileAccess{kind: policy.Write, op: policy.Change, parent: c.index + 1, src: c.src, why: "the patch decides what is written"}, word{text: "."})
	}
	w.lowerTo(c, policy.Unknown)
}

// npx reads npx: its operands are a program of a package, which is judged by
// its name alone.
func (w *walker) npx(c *call) {
	words := w.options(c, c.prog.Options, c.prog.Style)
	if len(words) == 0 || words[0].dyn {
		return
	}
	d := *c
	d.words, d.name = words, path.Base(words[0].text)
	w.hazards(&d)
	w.unknownFiles(&d)
}

// split reads split and csplit: the names start with a prefix.
func (w *walker) split(c *call) {
	w.options(c, c.prog.Options, c.prog.Style)
	prefix := word{text: "x"}
	if c.name == "csplit" {
		prefix = word{text: "xx"}
		if v, ok := c.optionValue("prefix"); ok {
			prefix = v
		}
		if v, ok := c.optionValue("suffix-format"); ok && strings.Contains(v.text, "/") {
			prefix.text, prefix.dyn = prefix.text+v.text, prefix.dyn || v.dyn
		}
		if len(c.args) > 0 {
			w.role(c, programs.Read, c.args[0])
		}
	} else {
		if len(c.args) > 1 {
			prefix = c.args[1]
		}
		if len(c.args) > 0 {
			w.role(c, programs.Read, c.args[0])
		}
	}
	if !prefix.dyn {
		prefix.text += "aa"
	}
	w.role(c, programs.Create, prefix)
}
