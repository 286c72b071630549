package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// login reads su, runuser and sg: a shell's text in -c, or a program.
func (w *walker) login(c *call) {
	args := w.options(c, c.prog.Options, c.prog.Style|programs.Posix)
	for i, x := range args { // su takes options after the user too
		if x.text == "-c" && i+1 < len(args) {
			w.shellText(c, args[i+1])
			return
		}
	}
	if v, ok := c.optionValue("c"); ok {
		w.shellText(c, v)
		return
	}
	if v, ok := c.optionValue("session-command"); ok {
		w.shellText(c, v)
		return
	}
	if c.name == "runuser" && c.given("u") {
		w.inner(c, args)
		return
	}
	if c.name == "sg" && len(args) > 1 {
		w.shellText(c, args[1])
		return
	}
	c.opaque(w, "a shell that reads its commands from elsewhere")
}

// stringWrapper reads a program whose operands are a shell's text.
func (w *walker) stringWrapper(c *call) {
	st := c.prog.Style
	if c.name == "watch" {
		st |= programs.Posix
	}
	args := w.options(c, c.prog.Options, st)
	switch {
	case len(args) == 0:
	case c.name == "watch" && c.given("x"):
		w.inner(c, args)
	case c.name == "watch":
		w.joined(c, args)
	default:
		for _, x := range args {
			w.shellText(c, x)
		}
	}
}

// joined judges words that are joined by blanks and given to a shell.
func (w *walker) joined(c *call, args []word) {
	var parts []string
	all := word{}
	for _, x := range args {
		parts = append(parts, x.text)
		all.dyn = all.dyn || x.dyn
		all.net = all.net || x.net
	}
	all.text = strings.Join(parts, " ")
	w.shellText(c, all)
}

// shellText judges text that c gives to a shell.
func (w *walker) shellText(c *call, x word) {
	if x.net {
		c.danger(w, "runs what it fetches")
	}
	if x.dyn {
		c.opaque(w, "the commands are not known before it runs")
		return
	}
	s := w.push()
	shell := w.shell
	w.shell = "sh"
	s.fence, s.hasArgs = true, true
	w.text(x.text, c.index+1)
	w.shell = shell
	w.drop(s)
}

// commandText judges a program named in one word that is split at blanks.
func (w *walker) commandText(c *call, x word) {
	if x.dyn {
		c.opaque(w, "the program is not known before it runs")
		return
	}
	words, _ := splitWords(x.text)
	if len(words) > 0 {
		w.inner(c, words)
	}
}

// flock reads flock: a file or a descriptor, then a program or -c text.
func (w *walker) flock(c *call) {
	args := w.options(c, c.prog.Options, c.prog.Style)
	if len(args) == 0 {
		return
	}
	if !integer(args[0].text) || len(args) > 1 {
		w.role(c, programs.Write, args[0])
	}
	if v, ok := c.optionValue("command"); ok {
		w.shellText(c, v)
		return
	}
	rest := args[1:]
	if len(rest) > 1 && (rest[0].text == "-c" || rest[0].text == "--command") {
		w.shellText(c, rest[1])
		return
	}
	w.inner(c, rest)
}

// scriptCommand reads script: it records a session, of a shell or of -c.
func (w *walker) scriptCommand(c *call) {
	args := w.options(c, c.prog.Options, c.prog.Style)
	if len(args) == 0 {
		args = []word{{text: "typescript"}}
	}
	w.role(c, programs.Write, args[0])
	switch v, ok := c.optionValue("command"); {
	case ok:
		w.shellText(c, v)
	case len(args) > 1: // BSD: the rest is a program
		w.inner(c, args[1:])
	default:
		c.opaque(w, "a shell that reads its commands from elsewhere")
	}
}

// parallel reads parallel: a shell's text, filled in from words or input.
func (w *walker) parallel(c *call) {
	args := w.options(c, c.prog.Options, c.prog.Style)
	i := slices.IndexFunc(args, func(x word) bool { return x.text == ":::" || x.text == "::::" || x.text == ":::+" })
	cmd := args
	if i >= 0 {
		cmd = args[:i]
	}
	c.opaque(w, "the commands come from its input")
	if len(cmd) == 0 {
		for _, x := range args[max(i, 0):] {
			if !strings.HasPrefix(x.text, ":::") {
				w.shellText(c, x)
			}
		}
		return
	}
	w.joined(c, cmd)
}

// debugger reads gdb: the program to debug is only run when told to.
func (w *walker) debugger(c *call) {
	for i, x := range c.words {
		if x.text == "--args" || x.text == "-args" {
			w.options(&call{words: c.words[:i], index: c.index, prog: c.prog, name: c.name, src: c.src}, c.prog.Options, c.prog.Style)
			w.inner(c, c.words[i+1:])
			return
		}
	}
	w.options(c, c.prog.Options, c.prog.Style)
	for _, x := range c.args {
		if !x.dyn && !integer(x.text) {
			w.role(c, programs.Read, x)
		}
	}
}

// shellCommand reads bash, sh and zsh.
func (w *walker) shellCommand(c *call) {
	words := c.words[1:]
	script, interactive, input := false, false, false
	for len(words) > 0 {
		t := words[0].text
		if words[0].dyn {
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
			} else if !strings.Contains(" --norc --noprofile --login --noediting --verbose --version --help --no-rcs ", " "+t+" ") {
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
	if shellKind(c.name) == "zsh" {
		plain = "ceuxvilsf"
	}
	for i := 1; i < len(t); i++ {
		switch {
		case t[i] == 'o' && len(words) > 0:
			if name := words[0].text; words[0].dyn || shellKind(c.name) == "zsh" || !strings.Contains(plainOptions, " "+name+" ") {
				w.rereads(c)
			}
			words = words[1:]
		case t[i] == 'O' && len(words) > 0:
			if words[0].dyn || !strings.Contains(plainShopts, " "+words[0].text+" ") {
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
	if x.net {
		c.danger(w, "runs what it fetches")
	}
	if x.dyn || strings.TrimSpace(x.text) == "" {
		c.opaque(w, "the commands are not known before it runs")
		return
	}
	s := w.push()
	defer w.drop(s)
	shell, calls := w.shell, w.calls
	w.shell, w.calls = shellKind(c.name), nil
	s.hasArgs, s.args = true, nil
	if len(args) > 0 {
		s.args = args[1:]
	}
	s.fence = true
	if c.opaqueEnv != "" {
		s.env = c.opaqueEnv
	}
	w.text(x.text, c.index+1)
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
	if x.net {
		c.danger(w, "runs what it fetches")
	}
	if x.proc {
		if x.script != "" {
			w.nested(c, word{text: x.script}, nil)
		}
		c.opaque(w, "the commands are not known before it runs")
		return
	}
	for _, i := range w.file(fileAccess{kind: policy.Read, parent: c.index + 1, src: x.text}, x) {
		if slices.Contains(w.fetched, w.out.Accesses[i].Path) {
			c.danger(w, "runs what it fetches")
		}
	}
	if x.dyn {
		c.opaque(w, "the script is not known before it runs")
		return
	}
	if !strings.Contains(x.text, "/") && !w.exists(x.text) {
		c.opaque(w, "a script that is found by PATH")
		w.inner(c, append([]word{x}, args...))
		return
	}
	if src, ok := w.scriptText(x.text); ok {
		w.nested(c, word{text: src}, append([]word{x}, args...))
	}
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
	if in.net {
		c.danger(w, "runs what it fetches")
	}
	if !in.known {
		c.opaque(w, "the commands come from its input")
		return
	}
	c.lower(w, policy.Unknown)
	w.stdin = stream{}
	w.nested(c, word{text: in.text}, append([]word{c.words[0]}, args...))
	w.stdin = in
}
