package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// pager reads less, more and man: a word that starts with + holds commands of
// the pager, among them one that starts a shell, and in the value of an option
// $ ends it and begins the next (less(1), "OPTIONS").
func (w *walker) pager(c *call) {
	words := c.words
	if c.known != "man" {
		words = w.pagerCommands(c)
	}
	c.words, words = words, c.words
	w.options(c, c.prog.Options, c.prog.Style)
	c.words = words
	for _, o := range c.opts {
		if i := strings.IndexByte(o.val.text, '$'); o.has && i >= 0 && i+1 < len(o.val.text) && c.known != "man" {
			c.opaque(w, "an option whose value ends early")
		}
	}
	roles := c.prog.Operands
	if c.known == "man" {
		for _, x := range c.args { // a name with a slash is a file to format
			if c.given("local-file") || !x.dyn && pathLike(x.text) {
				w.role(c, programs.Read, x)
			}
		}
	}
	w.operands(c, roles)
}

// pagerCommands takes the words out that hold commands of the pager.
func (w *walker) pagerCommands(c *call) []word {
	out := make([]word, 0, len(c.words))
	for i, x := range c.words {
		t := x.text
		if x.dyn {
			t = x.lead
		}
		if i > 0 && t == "--" && !x.dyn {
			return append(out, c.words[i:]...)
		}
		if i == 0 || !strings.HasPrefix(t, "+") {
			out = append(out, x)
			continue
		}
		cmd := strings.TrimLeft(t, "+")
		if x.dyn || !onlyMoves(cmd) {
			c.opaque(w, "an order to the pager, which may run something")
		}
		if sh, ok := strings.CutPrefix(cmd, "!"); ok {
			w.shellText(c, word{text: sh, dyn: x.dyn})
		}
	}
	return out
}

// onlyMoves reports whether what follows a + is a line, an end, or a search.
func onlyMoves(s string) bool {
	if strings.Trim(s, "0123456789,:") == "" {
		return true
	}
	switch s {
	case "G", "g", "F", "$":
		return true
	}
	return (s[0] == '/' || s[0] == '?') && !strings.ContainsAny(s[1:], "\n/?|")
}

// editorCommands judges the words that start with + and are orders to an
// editor.
func (w *walker) editorCommands(c *call) {
	c.args = slices.DeleteFunc(c.args, func(x word) bool {
		t := x.text
		if x.dyn {
			t = x.lead
		}
		if !strings.HasPrefix(t, "+") {
			return false
		}
		if x.dyn || !onlyMoves(t[1:]) {
			c.opaque(w, "an order to the editor, which may run something")
		}
		return true
	})
}

// schedule reads at, batch and crontab: what they are given runs later, and
// outside everything that holds this call.
func (w *walker) schedule(c *call) {
	w.options(c, c.prog.Options, c.prog.Style)
	if c.given("l", "list", "c") && len(c.args) == 0 && c.name == "crontab" || c.name == "at" && c.given("l", "list", "c", "d", "r") {
		return
	}
	c.opaque(w, "what is scheduled runs later, outside this call")
	if c.name != "crontab" && w.stdin.known {
		w.shellText(c, word{text: w.stdin.text, net: w.stdin.net})
	}
	if c.name == "crontab" {
		w.operands(c, c.prog.Operands)
	}
}

// tmuxHarmless are the subcommands of tmux that start nothing.
const tmuxHarmless = " attach attach-session a at capture-pane capturep detach detach-client has has-session info kill-pane killp kill-server kill-session kill-window killw last-pane last-window list-clients lsc list-commands lscm list-panes lsp list-sessions ls list-windows lsw rename-session rename rename-window renamew resize-pane resizep select-layout selectl select-pane selectp select-window selectw show-messages showmsgs show-options show start-server start switch-client switchc wait wait-for "

// tmuxStarts are the subcommands that start a shell's text, and their options
// that take a value.
var tmuxStarts = [...]struct{ names, opts string }{
	{" new new-session ", "A d D E P X F: c:dir e:opaque f: n: s: t: x: y:"},
	{" neww new-window splitw split-window respawnp respawn-pane respawnw respawn-window ", "a b d h v f I k P S Z c:dir e:opaque F: n: t: l: p:"},
	{" popup display-popup ", "B C E b: c: d:dir e:opaque h: s: S: t: T: w: x: y:"},
	{" run run-shell ", "b C d: t: c:dir"},
	{" pipep pipe-pane ", "I O o t:"},
}

// tmux reads tmux: what a session starts is judged by itself, and text that is
// typed into one cannot be.
func (w *walker) tmux(c *call) {
	args := w.options(c, c.prog.Options, c.prog.Style)
	if len(args) == 0 {
		return // a shell for a person
	}
	sub := args[0]
	if slices.ContainsFunc(args, func(x word) bool { return x.dyn && x.lead == "" || strings.HasSuffix(x.text, ";") }) {
		c.opaque(w, "several orders to a session")
	}
	if strings.Contains(tmuxHarmless, " "+sub.text+" ") && !sub.dyn {
		for _, x := range args {
			if strings.Contains(x.text, "#(") {
				c.opaque(w, "a format that runs a command")
			}
		}
		return
	}
	for _, s := range &tmuxStarts {
		if !strings.Contains(s.names, " "+sub.text+" ") {
			continue
		}
		d := *c
		d.words, d.opts, d.args = args, nil, nil
		if rest := w.options(&d, s.opts, programs.Posix); len(rest) > 0 {
			w.joined(c, rest)
		}
		return
	}
	c.opaque(w, "an order to a session, which may run something")
	if strings.HasPrefix(sub.text, "send") && len(args) > 1 {
		d := *c
		d.words, d.opts, d.args = args, nil, nil
		rest := w.options(&d, "F H K l M R X N: c: t:", programs.Posix)
		rest = slices.DeleteFunc(slices.Clone(rest), func(x word) bool { return x.text == "Enter" || x.text == "C-m" })
		w.joined(c, rest)
	}
}

// socat reads socat: two addresses, each a kind and its parameters.
func (w *walker) socat(c *call) {
	w.options(c, c.prog.Options, c.prog.Style)
	for _, x := range c.args {
		if x.dyn {
			c.opaque(w, "an address that is not known before it runs")
			continue
		}
		for part := range strings.SplitSeq(x.text, "!!") {
			w.socatAddress(c, part)
		}
	}
}

func (w *walker) socatAddress(c *call, s string) {
	kind, rest, named := strings.Cut(s, ":")
	rest, _, _ = strings.Cut(rest, ",")
	kind = strings.ToUpper(kind)
	switch {
	case !named && (kind == "-" || strings.HasPrefix(kind, "STD") || integer(kind)):
	case kind == "EXEC":
		c.opaque(w, "an address that runs a program")
		w.commandText(c, word{text: rest})
	case kind == "SYSTEM" || kind == "SHELL":
		c.opaque(w, "an address that runs a program")
		w.shellText(c, word{text: rest})
	case kind == "OPEN" || kind == "FILE" || kind == "GOPEN" || kind == "CREATE" || kind == "CREAT" || kind == "PIPE" || kind == "FIFO":
		w.role(c, programs.Read, word{text: rest})
		w.role(c, programs.Write, word{text: rest})
	case !named && strings.Contains(s, "/"):
		name, _, _ := strings.Cut(s, ",")
		w.role(c, programs.Read, word{text: name})
		w.role(c, programs.Write, word{text: name})
	case strings.HasPrefix(kind, "TCP") || strings.HasPrefix(kind, "UDP") || strings.HasPrefix(kind, "SCTP") || strings.HasPrefix(kind, "OPENSSL") || strings.HasPrefix(kind, "SSL"):
		w.host(c, word{text: rest})
	default:
		c.opaque(w, "an address that may run or reach something")
	}
}

// mail reads programs that send what they are given away.
func (w *walker) mail(c *call) {
	w.options(c, c.prog.Options, c.prog.Style)
	w.emit(policy.Access{Kind: policy.Net, Parent: c.index + 1, Source: c.name, Opaque: "mail goes to other hosts"})
}

// unpack reads unzip, 7z and rar: an archive decides what is written.
func (w *walker) unpack(c *call) {
	into, writes := word{text: "."}, true
	if c.prog.Options != "" {
		w.options(c, c.prog.Options, c.prog.Style)
		writes = !c.given("l", "t", "v", "z", "p", "c", "Z")
		if d, ok := c.optionValue("d"); ok {
			into = d
		}
		w.operands(c, c.prog.Operands)
		if c.name == "unzip" && c.given("l", "v", "z", "Z") {
			w.lowerTo(c, policy.ReadOnly)
		}
	} else {
		into, writes = w.archiver(c, into)
	}
	if writes {
		w.file(fileAccess{kind: policy.Write, op: policy.Create, parent: c.index + 1, src: into.text, why: "the archive decides what is written"}, into)
	}
}

// archiver reads 7z and rar: a letter, switches, the archive, then files.
func (w *walker) archiver(c *call, into word) (word, bool) {
	var args []word
	for _, x := range c.words[1:] {
		switch {
		case x.dyn && x.lead == "", x.text == "--":
			args = append(args, x)
		case strings.HasPrefix(x.text, "-o") && len(x.text) > 2:
			into = after(x, "-o")
		case strings.HasPrefix(x.text, "-w") && len(x.text) > 2:
			w.role(c, programs.Write, after(x, "-w"))
		case strings.HasPrefix(x.text, "-sfx"), strings.HasPrefix(x.text, "-i"), strings.HasPrefix(x.text, "@"):
			c.opaque(w, "its option "+cut(x.text)+" loads something or names files in a file")
		case !strings.HasPrefix(x.text, "-"):
			args = append(args, x)
		}
	}
	if len(args) < 2 {
		return into, false
	}
	sub := args[0].text
	if strings.Contains(" l t lt lb v vt vb h i b p ", " "+sub+" ") {
		w.role(c, programs.Read, args[1])
		return into, false
	}
	if sub == "e" || sub == "x" {
		w.role(c, programs.Read, args[1])
		return into, true
	}
	w.role(c, programs.Write, args[1])
	for _, x := range args[2:] {
		w.role(c, programs.ReadTree, x)
	}
	return into, false
}
