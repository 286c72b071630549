package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// shellText judges text that c gives to a shell.
func (w *walker) shellText(c *call, x word) {
	if x.Net {
		c.danger(w, "runs what it fetches")
	}
	if x.Dynamic {
		c.opaque(w, "the commands are not known before it runs")
		return
	}
	s := w.fork()
	shell := w.shell
	w.shell = "sh"
	s.fence, s.hasArgs = true, true
	w.text(x.Text, c.index+1)
	w.shell = shell
	w.drop(s)
}

// shellCommand reads bash, sh and zsh.
func (w *walker) shellCommand(c *call) {
	words := c.Words[1:]
	if len(words) == 2 && words[0].Text == "-n" && programs.Has("bash sh dash", c.Name) && !words[1].Dynamic && !strings.HasPrefix(words[1].Text, "-") {
		site{w, c}.File(programs.File{Effect: programs.Read, Word: words[1], Source: c.Name + " -n"}) // it looks at the syntax, and runs nothing
		return
	}
	script, interactive, input := false, false, false
	for len(words) > 0 {
		t := words[0].Text
		if words[0].Dynamic {
			c.opaque(w, "a word that is not known may be an option")
			break
		}
		if !strings.HasPrefix(t, "-") && !strings.HasPrefix(t, "+") {
			break
		}
		words = words[1:]
		if t == "--" || t == "-" {
			break
		}
		if strings.HasPrefix(t, "--") {
			if t == "--rcfile" || t == "--init-file" {
				words = words[min(1, len(words)):]
				interactive = true
			} else if !programs.Has("--norc --noprofile --login --noediting --verbose --version --help --no-rcs", t) {
				w.rereads(c)
			}
			continue
		}
		script = script || t[0] == '-' && strings.Contains(t, "c")
		input = input || t[0] == '-' && strings.Contains(t, "s")
		interactive = interactive || strings.Contains(t, "i")
		words = w.shellLetters(c, t, words)
	}
	if interactive {
		c.lower(w, policy.Unknown)
	}
	rest := words
	switch {
	case script && len(rest) == 0:
		return
	case script:
		if len(rest) > 1 {
			c.lower(w, policy.Unknown) // words that the script does not see as its own
		}
		w.nested(c, rest[0], rest[1:])
	case len(rest) > 0 && !input:
		w.scriptFile(c, rest[0], rest[1:])
	default:
		w.shellInput(c, rest)
	}
}

// shellLetters reads a bundle of a shell's options; o and O take the next word
// for the name of one. It gives the words that are left.
func (w *walker) shellLetters(c *call, t string, words []word) []word {
	plain := "ceuxvilsabhmCET"
	if shellKind(c.Name) == "zsh" {
		plain = "ceuxvilsf"
	}
	for i := 1; i < len(t); i++ {
		switch {
		case t[i] == 'o' && len(words) > 0:
			if name := words[0].Text; words[0].Dynamic || shellKind(c.Name) == "zsh" || !programs.Has(plainOptions, name) {
				w.rereads(c)
			}
			words = words[1:]
		case t[i] == 'O' && len(words) > 0:
			if words[0].Dynamic || !programs.Has(plainShopts, words[0].Text) {
				w.rereads(c)
			}
			words = words[1:]
		case strings.IndexByte(plain, t[i]) < 0 && t[i] != 'o' && t[i] != 'O':
			w.rereads(c)
		}
	}
	return words
}

// nested judges the text of a shell's -c, with its parameters.
func (w *walker) nested(c *call, x word, args []word) {
	if x.Net {
		c.danger(w, "runs what it fetches")
	}
	if x.Dynamic || strings.TrimSpace(x.Text) == "" {
		c.opaque(w, "the commands are not known before it runs")
		return
	}
	s := w.fork()
	defer w.drop(s)
	shell, calls := w.shell, w.calls
	w.shell, w.calls = shellKind(c.Name), nil
	s.hasArgs, s.args = true, nil
	if len(args) > 0 {
		s.args = args[1:]
	}
	s.fence = true
	if c.home.known && !c.home.array {
		s.put("HOME", c.home)
	}
	if c.opaqueEnv != "" {
		s.env = c.opaqueEnv
	}
	w.text(x.Text, c.index+1)
	w.shell, w.calls = shell, calls
}

// shellKind is the language of a shell by its name.
func shellKind(name string) string {
	switch name {
	case "bash", "rbash":
		return "bash"
	case "zsh":
		return "zsh"
	}
	return "sh"
}

// scriptFile judges a shell that is given a file: it is read where it lies in
// the root, for what can be seen; it may change before it runs.
func (w *walker) scriptFile(c *call, x word, args []word) {
	c.lower(w, policy.Unknown)
	if x.Net {
		c.danger(w, "runs what it fetches")
	}
	if x.Proc {
		if x.Script != "" {
			w.nested(c, word{Text: x.Script}, nil)
		}
		c.opaque(w, "the commands are not known before it runs")
		return
	}
	for _, i := range w.file(fileAccess{kind: policy.Read, parent: c.index + 1, src: x.Text}, x) {
		if slices.Contains(w.fetched, w.out.Accesses[i].Path) {
			c.danger(w, "runs what it fetches")
		}
	}
	if x.Dynamic {
		c.opaque(w, "the script is not known before it runs")
		return
	}
	if !strings.Contains(x.Text, "/") && !w.exists(x.Text) {
		c.opaque(w, "a script that is found by PATH")
		w.inner(c, append([]word{x}, args...))
		return
	}
	if src, ok := w.scriptText(x.Text); ok {
		defer w.inFile(true)()
		w.nested(c, word{Text: src}, append([]word{x}, args...))
	}
}

// inFile notes whether what is read now stands in a file of commands, and gives what ends that.
func (w *walker) inFile(yes bool) (end func()) {
	before := w.scripted
	w.scripted = yes
	return func() { w.scripted = before }
}

// scriptText reads a script that lies inside the root.
func (w *walker) scriptText(name string) (string, bool) {
	if w.world.ReadFile == nil || w.dirty || w.depth > 4 {
		return "", false
	}
	r := w.resolve(name)
	if len(r) != 1 || r[0].access.File != policy.Regular || w.world.Root == "" || !safefile.Below(w.world.Root, r[0].access.Path) {
		return "", false
	}
	b, err := w.world.ReadFile(r[0].access.Path)
	if err != nil || len(b) > 16<<10 {
		return "", false
	}
	return string(b), true
}

// shellInput judges a shell that reads its commands from its input.
func (w *walker) shellInput(c *call, args []word) {
	in := w.stdin
	if in.Net {
		c.danger(w, "runs what it fetches")
	}
	if !in.Known {
		c.opaque(w, "the commands come from its input")
		return
	}
	c.lower(w, policy.Unknown)
	w.stdin = stream{}
	w.nested(c, word{Text: in.Text}, append([]word{c.Words[0]}, args...))
	w.stdin = in
}
