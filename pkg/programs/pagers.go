package programs

import (
	"slices"
	"strings"
)

// pager reads less, more and man: a word that starts with + holds commands of
// the pager, among them one that starts a shell, and in the value of an option
// $ ends it and begins the next (less(1), "OPTIONS").
func (c *Call) pager() {
	words := c.Words
	if c.Known != "man" {
		words = c.pagerCommands()
	}
	c.Words, words = words, c.Words
	c.parse()
	c.Words = words
	for _, o := range c.Given {
		if i := strings.IndexByte(o.Value.Text, '$'); o.HasValue && i >= 0 && i+1 < len(o.Value.Text) && c.Known != "man" {
			c.opaque("an option whose value ends early")
		}
	}
	roles := c.Record.Operands
	if c.Known == "man" {
		for _, x := range c.Args { // a name with a slash is a file to format
			if c.has("local-file") || !x.Dynamic && pathLike(x.Text) {
				c.does(Read, x)
			}
		}
	}
	c.operands(roles)
}

// bat reads bat, which runs no pager where it is told so.
func (c *Call) bat() {
	c.parse()
	c.operands("read*")
	if x, ok := c.optionValue("paging"); ok && (x.Dynamic || x.Text != "never") {
		c.opaque("its option --paging runs or loads something else")
	}
}

// pagerCommands takes the words out that hold commands of the pager.
func (c *Call) pagerCommands() []Word {
	out := make([]Word, 0, len(c.Words))
	for i, x := range c.Words {
		t := x.Text
		if x.Dynamic {
			t = x.Lead
		}
		if i > 0 && t == "--" && !x.Dynamic {
			return append(out, c.Words[i:]...)
		}
		if i == 0 || !strings.HasPrefix(t, "+") {
			out = append(out, x)
			continue
		}
		cmd := strings.TrimLeft(t, "+")
		if x.Dynamic || !onlyMoves(cmd) {
			c.opaque("an order to the pager, which may run something")
		}
		if sh, ok := strings.CutPrefix(cmd, "!"); ok {
			c.Shell.Text(Word{Text: sh, Dynamic: x.Dynamic})
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
func (c *Call) editorCommands() {
	c.Args = slices.DeleteFunc(c.Args, func(x Word) bool {
		t := x.Text
		if x.Dynamic {
			t = x.Lead
		}
		if !strings.HasPrefix(t, "+") {
			return false
		}
		if x.Dynamic || !onlyMoves(t[1:]) {
			c.opaque("an order to the editor, which may run something")
		}
		return true
	})
}

// schedule reads at, batch and crontab: what they are given runs later, and
// outside everything that holds this call.
func (c *Call) schedule() {
	c.parse()
	if c.has("l", "list", "c") && len(c.Args) == 0 && c.Name == "crontab" || c.Name == "at" && c.has("l", "list", "c", "d", "r") {
		return
	}
	c.opaque("what is scheduled runs later, outside this call")
	if c.Name != "crontab" && c.Shell.Stdin().Known {
		c.Shell.Text(Word{Text: c.Shell.Stdin().Text, Net: c.Shell.Stdin().Net})
	}
	if c.Name == "crontab" {
		c.operands(c.Record.Operands)
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
func (c *Call) tmux() {
	args := c.parse()
	if len(args) == 0 {
		return // a shell for a person
	}
	sub := args[0]
	if slices.ContainsFunc(args, func(x Word) bool { return x.Dynamic && x.Lead == "" || strings.HasSuffix(x.Text, ";") }) {
		c.opaque("several orders to a session")
	}
	if Has(tmuxHarmless, sub.Text) && !sub.Dynamic {
		for _, x := range args {
			if strings.Contains(x.Text, "#(") {
				c.opaque("a format that runs a command")
			}
		}
		return
	}
	for _, s := range &tmuxStarts {
		if !Has(s.names, sub.Text) {
			continue
		}
		d := *c
		d.Words, d.Given, d.Args = args, nil, nil
		if rest := d.options(s.opts, Posix); len(rest) > 0 {
			c.joined(rest)
		}
		return
	}
	c.opaque("an order to a session, which may run something")
	if strings.HasPrefix(sub.Text, "send") && len(args) > 1 {
		d := *c
		d.Words, d.Given, d.Args = args, nil, nil
		rest := d.options("F H K l M R X N: c: t:", Posix)
		rest = slices.DeleteFunc(slices.Clone(rest), func(x Word) bool { return x.Text == "Enter" || x.Text == "C-m" })
		c.joined(rest)
	}
}

// socat reads socat: two addresses, each a kind and its parameters.
func (c *Call) socat() {
	c.parse()
	for _, x := range c.Args {
		if x.Dynamic {
			c.opaque("an address that is not known before it runs")
			continue
		}
		for part := range strings.SplitSeq(x.Text, "!!") {
			c.socatAddress(part)
		}
	}
}

func (c *Call) socatAddress(s string) {
	kind, rest, named := strings.Cut(s, ":")
	rest, _, _ = strings.Cut(rest, ",")
	kind = strings.ToUpper(kind)
	switch {
	case !named && (kind == "-" || strings.HasPrefix(kind, "STD") || integer(kind)):
	case kind == "EXEC":
		c.opaque("an address that runs a program")
		c.commandText(Word{Text: rest})
	case kind == "SYSTEM" || kind == "SHELL":
		c.opaque("an address that runs a program")
		c.Shell.Text(Word{Text: rest})
	case kind == "OPEN" || kind == "FILE" || kind == "GOPEN" || kind == "CREATE" || kind == "CREAT" || kind == "PIPE" || kind == "FIFO":
		c.does(Read, Word{Text: rest})
		c.does(Write, Word{Text: rest})
	case !named && strings.Contains(s, "/"):
		name, _, _ := strings.Cut(s, ",")
		c.does(Read, Word{Text: name})
		c.does(Write, Word{Text: name})
	case Has("TCP-LISTEN TCP4-LISTEN TCP6-LISTEN TCP-L TCP4-L TCP6-L OPENSSL-LISTEN SSL-L UDP-LISTEN UDP4-LISTEN UDP-L UDP-RECV UDP-RECVFROM", kind):
		c.listens(Word{Text: rest})
	case strings.HasPrefix(kind, "TCP") || strings.HasPrefix(kind, "UDP") || strings.HasPrefix(kind, "SCTP") || strings.HasPrefix(kind, "OPENSSL") || strings.HasPrefix(kind, "SSL"):
		c.host(Word{Text: rest})
	default:
		c.opaque("an address that may run or reach something")
	}
}

// mail reads programs that send what they are given away.
func (c *Call) mail() {
	c.parse()
	c.Shell.Net(Net{Source: c.Name, Opaque: "mail goes to other hosts"})
}

// unpack reads unzip, 7z and rar: an archive decides what is written.
func (c *Call) unpack() {
	into, writes := Word{Text: "."}, false
	if c.Record.Options != "" {
		c.parse()
		writes = !c.has("l", "t", "v", "z", "p", "c", "Z")
		if d, ok := c.optionValue("d"); ok {
			into = d
		}
		c.operands(c.Record.Operands)
		if c.Name == "unzip" && c.has("l", "v", "z", "Z") {
			c.Shell.SetClass(ReadOnly)
		}
	} else {
		into, writes = c.archiver(into)
	}
	if writes {
		c.Shell.File(File{Effect: Create, Word: into, Why: "the archive decides what is written"})
	}
}

// archiver reads 7z and rar: a letter, switches, the archive, then files.
func (c *Call) archiver(into Word) (Word, bool) {
	var args []Word
	for _, x := range c.Words[1:] {
		switch {
		case x.Dynamic && x.Lead == "", x.Text == "--":
			args = append(args, x)
		case strings.HasPrefix(x.Text, "-o") && len(x.Text) > 2:
			into = after(x, "-o")
		case strings.HasPrefix(x.Text, "-w") && len(x.Text) > 2:
			c.does(Write, after(x, "-w"))
		case strings.HasPrefix(x.Text, "-sfx"), strings.HasPrefix(x.Text, "-i"), x.Text == "-sdel", strings.HasPrefix(x.Text, "@"):
			c.opaque("its option " + Cut(x.Text) + " loads or deletes something, or names files in a file")
		case !strings.HasPrefix(x.Text, "-"):
			args = append(args, x)
		}
	}
	if len(args) < 2 {
		return into, false
	}
	sub := args[0].Text
	if Has("l t lt lb v vt vb h i b p", sub) {
		c.does(Read, args[1])
		return into, false
	}
	if sub == "e" || sub == "x" {
		c.does(Read, args[1])
		return into, true
	}
	c.does(Write, args[1])
	for _, x := range args[2:] {
		c.does(ReadTree, x)
	}
	return into, false
}
