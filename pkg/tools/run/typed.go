package run

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/confine"
	"github.com/agentkit-go/agentkit/pkg/job"
	"github.com/agentkit-go/agentkit/pkg/loss"
	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/shellparse"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
	"github.com/agentkit-go/agentkit/pkg/world"
)

// A line is what is typed into a job. Where a shell of the job reads commands it is decided
// like a command that goes on as a job, in the directory where the shell is. Where
// another program reads before that shell, it is data; but what that program leaves of it the shell
// runs, so that it is both unless the program certainly takes all of it, and does not feed the shell itself.
type line struct {
	env  *tool.Env
	info job.Info
	text string
	keys []string // as bytes

	aside []string                   // see preparedCommand
	ahead *confine.Prefetch          // of all texts
	comes map[string][]policy.Access // what each comes to
}

// judge gives the accesses of what is typed; none where it is data.
func (l *line) judge(ctx context.Context) []policy.Access {
	list := l.commands(ctx)
	if name := l.ordered(); name != "" && len(list) == 0 {
		a := l.unknown("by what is typed into it, " + name + " may start programs and open files")
		if _, less := l.held(); less {
			a.Danger = a.Opaque
		}
		list = append(list, a)
	}
	return list
}

// held is the level of the sandbox that the job runs in, and whether that is less than this call counts on.
func (l *line) held() (level string, less bool) {
	level = confine.OfJob(l.info).Sandbox
	return level, !l.env.Policy.Outer() && level < l.env.Policy.Wall()
}

// ordered is the program to which what is typed may be an order that starts another one, or opens a file
// that its command did not name; "" where it is none. What was typed before in the same line is a part of it.
func (l *line) ordered() string {
	var names []string
	switch w := l.info.Waiting; {
	case w != nil:
		names = []string{programName(w.Argv)}
	case len(l.info.Readers) > 0:
		for _, r := range l.info.Readers {
			names = append(names, programName(r.Argv))
		}
	default:
		for _, word := range strings.FieldsFunc(commandOf(l.info), func(r rune) bool { return strings.ContainsRune("\n \t;&|()'\"`$", r) }) {
			names = append(names, programName([]string{word}))
		}
	}
	before := string(l.info.Typed)
	before = before[strings.LastIndexAny(before, "\r\n")+1:]
	for _, name := range names {
		if programs.Ordered(name) && !(programs.Typed(name, l.bytes()) && programs.Typed(name, before+l.bytes())) {
			return name
		}
	}
	return ""
}

// commands are the accesses of what is typed where a shell reads it.
func (l *line) commands(ctx context.Context) []policy.Access {
	kind, at, why := l.reader()
	if kind == "" {
		if why == "" {
			return nil
		}
		return []policy.Access{l.unknown(why)}
	}
	if held, less := l.held(); less {
		a := l.unknown("the job runs at the level " + held + " of the sandbox, and this call counts on " + l.env.Policy.Wall())
		a.Danger = a.Opaque
		return []policy.Access{a}
	}
	if why != "" && l.harmless(ctx, kind, at, why) {
		return nil
	}
	if at.Dir == "" && why == "" {
		why = "it is not known where the shell is"
	}
	if why == "" {
		why = l.unclear()
	}
	var list []policy.Access
	switch {
	case why != "":
		list = []policy.Access{l.unknown(why)}
	case strings.TrimSpace(l.text) != "":
		list = l.command(ctx, kind, at.Dir, l.text)
	}
	strictest := policy.Allow
	for n, text := range l.readings(ctx, kind, at, why) {
		if n == maxReadings {
			a := l.unknown("it is long, and what a program leaves of it a shell runs")
			a.Danger = a.Opaque
			list = append(list, a)
			break
		}
		more := l.command(ctx, kind, at.Dir, text)
		out := l.env.Policy.DecideAll(more)
		if out.Verdict >= strictest || !l.does(more) || out.Verdict > policy.Deny && (why != "" || strings.Contains(text, "\n")) && !slices.ContainsFunc(more, l.tells) {
			continue
		}
		strictest = out.Verdict
		list = policy.Append(list, more...)
	}
	if !l.secret() {
		return list
	}
	switch l.env.Policy.DecideAll(list).Verdict {
	case policy.Allow:
		return nil
	case policy.Ask: // without a word of it
		a := l.unknown(cmp.Or(why, "it would be a command where a shell reads it"))
		a.Danger = a.Opaque
		return []policy.Access{a}
	}
	return list
}

// secret reports whether the terminal does not show what is typed.
func (l *line) secret() bool { return l.info.Waiting != nil && l.info.Waiting.Secret }

// telling is how many of some accesses tell.
func (l *line) telling(list []policy.Access) (n int) {
	for _, a := range list {
		if l.tells(a) {
			n++
		}
	}
	return n
}

// tells reports whether an access needs a yes for more than that it is unknown.
func (l *line) tells(a policy.Access) bool {
	return (a.Kind != policy.Exec || a.Opaque == "" && a.Class != policy.Unknown || a.Danger != "") && l.env.Policy.Decide(&a).Verdict != policy.Allow
}

// harmless reports whether what is typed is one line, an answer to the program that waits, of which
// nothing is a command whatever that program leaves: there is no program of that name, or the policy
// allows it.
func (l *line) harmless(ctx context.Context, kind string, at job.Reader, why string) bool {
	one := strings.TrimRight(l.bytes(), "\r\n")
	if l.info.Waiting == nil || at.Dir == "" || len(l.bytes())-len(one) > 1 || strings.ContainsFunc(one, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return false
	}
	texts := l.readings(ctx, kind, at, why)
	return len(texts) <= maxReadings && !slices.ContainsFunc(texts, func(text string) bool {
		return l.does(l.command(ctx, kind, at.Dir, text))
	})
}

// does reports whether a text does anything that is not simply allowed; to start a program that is not there
// does nothing.
func (l *line) does(list []policy.Access) bool {
	none := !slices.ContainsFunc(list, func(a policy.Access) bool { return a.Kind == policy.Exec && !missing(&a) })
	return slices.ContainsFunc(list, func(a policy.Access) bool {
		return !(missing(&a) || a.Guess && none) && l.env.Policy.Decide(&a).Verdict != policy.Allow
	})
}

// missing reports whether an access is to start a program that is not there.
func missing(a *policy.Access) bool {
	return a.Kind == policy.Exec && a.Program == "" && !a.Builtin && a.Danger == "" && !slices.Contains(a.Dynamic, true)
}

// unknown is an access of the text as a whole.
func (l *line) unknown(why string) policy.Access {
	text := l.text
	if l.secret() {
		text = "(what the terminal does not show)"
	}
	return policy.Access{Kind: policy.Exec, Tool: "bash", Argv: []string{text}, Dynamic: []bool{true}, Source: text, Opaque: why}
}

// command is what a text comes to as a command that starts in dir. What the shell has in its
// variables by now is not known. The shell and its directory are the same for all texts of a line.
func (l *line) command(ctx context.Context, kind, dir, text string) []policy.Access {
	if known, ok := l.comes[text]; ok {
		return known
	}
	if l.comes == nil {
		l.ahead, l.comes = confine.NewPrefetch(l.env), map[string][]policy.Access{}
	}
	known := world.New(l.env, dir, newEnvironment(l.env, dir, l.info.TTY, true, nil).list)
	known.Getenv = nil
	p := &preparedCommand{dir: workspace.Path{Real: dir}, ahead: l.ahead, needs: shellparse.Analyze(ctx, text, kind, known).Accesses}
	if dir != "" {
		p.judge(ctx, l.env, text, loss.NotKept, nil)
	}
	l.aside = append(l.aside, p.takes.Aside...)
	for i := range p.needs {
		p.needs[i].Tool = "bash"
	}
	l.comes[text] = p.needs
	return p.needs
}

// reader finds the shell that runs what is typed, and why that is not certain; both are empty
// when none does: the text is data then, as what a script reads with read is. Without
// a kind the reason may still stand: who reads it is not known.
func (l *line) reader() (kind string, at job.Reader, why string) {
	w := l.info.Waiting
	var front job.Reader
	for _, r := range l.info.Readers {
		k := commandReader(r.Argv)
		switch {
		case w != nil && r.Pid == w.Pid && k != "":
			return k, r, ""
		case w != nil && r.Pid == w.Pid:
			front = r
		case k != "" && (kind == "" || r.Waits && !at.Waits || r.Fed && !at.Fed && !at.Waits):
			kind, at = k, r
		}
	}
	itself := false
	if kind == "" {
		kind, at = l.later(), job.Reader{Dir: l.info.Dir}
		if kind == "" && w != nil && l.sources() {
			kind, at, itself = asKind(programName(w.Argv)), front, true
		}
	}
	switch {
	case w != nil && kind == "":
		return commandReader(w.Argv), at, ""
	case itself:
		return kind, at, "the shell may run its input"
	case kind != "" && w != nil && at.Fed:
		return kind, at, "what " + w.Program + " passes on, the shell behind it runs"
	case kind != "" && w != nil && !at.Waits && l.takesAll(front):
		return "", at, ""
	case kind != "" && w != nil:
		return kind, at, "what " + w.Program + " leaves of it, the shell behind it runs"
	case kind != "":
		return kind, at, "which program reads the input is not known before it does, and it may be a shell"
	}
	for _, word := range strings.FieldsFunc(commandOf(l.info), func(r rune) bool { return strings.ContainsRune(" \t\n;&|()/'\"`$", r) }) {
		if slices.Contains(machine.Shells(), word) || slices.Contains(otherShells[:], word) || programs.Has("su sudo doas ssh", word) {
			return "", at, "which program reads the input is not known before it does, and it may be a shell"
		}
	}
	return "", at, ""
}

// later is the kind of a shell that the job's own command may start to read commands; "" where none is seen in it.
func (l *line) later() string {
	for part := range strings.FieldsFuncSeq(commandOf(l.info), func(r rune) bool { return strings.ContainsRune("\n;&|()'\"`", r) }) {
		words := strings.Fields(part)
		for i := range words {
			if kind := commandReader(words[i:]); kind != "" {
				return kind
			}
		}
	}
	return ""
}

// sources reports whether the shell of the job's own command waits, and may run its input as a file.
func (l *line) sources() bool {
	if !slices.Contains(machine.Shells(), programName(l.info.Waiting.Argv)) {
		return false
	}
	words := strings.FieldsFunc(commandOf(l.info), func(r rune) bool { return strings.ContainsRune(" \t\n;&|()'\"`", r) })
	for i, word := range words[:max(len(words)-1, 0)] {
		if next := words[i+1]; (word == "." || word == "source") && (strings.HasPrefix(next, "/dev/") || strings.HasPrefix(next, "/proc/")) {
			return true
		}
	}
	return false
}

// otherShells read commands that nobody here understands.
var otherShells = [...]string{"fish", "csh", "tcsh", "mksh", "ash", "yash", "elvish", "nu", "xonsh", "pwsh", "powershell"}

// commandReader is the kind of the shell that argv starts to read commands from
// its input; "" when it reads them from elsewhere, or is no shell.
func commandReader(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	kind := strings.TrimPrefix(filepath.Base(argv[0]), "-")
	if kind == "busybox" && len(argv) > 1 {
		kind, argv = argv[1], argv[1:]
	}
	if kind == "rbash" {
		kind = "bash"
	}
	if !slices.Contains(machine.Shells(), kind) && !slices.Contains(otherShells[:], kind) {
		return ""
	}
	value := false
	for _, word := range argv[1:] {
		switch {
		case value:
			value = false
		case word == "-o", word == "+o", word == "-O", word == "+O", word == "--rcfile", word == "--init-file":
			value = true
		case strings.HasPrefix(word, "--"):
		case len(word) > 1 && (word[0] == '-' || word[0] == '+'):
			if strings.ContainsRune(word, 'c') {
				return ""
			}
			if strings.ContainsRune(word, 's') {
				return asKind(kind) // what follows are its parameters
			}
		case strings.HasPrefix(word, "/dev/") || strings.HasPrefix(word, "/proc/"): // its input by another name
			return asKind(kind)
		default:
			return "" // a script
		}
	}
	return asKind(kind)
}

// asKind is the language that a shell is read in.
func asKind(name string) string {
	if name == "dash" || name == "ksh" {
		return "sh"
	}
	return name
}

// unclear says why the text is not a command line of its own.
func (l *line) unclear() string {
	switch {
	case slices.ContainsFunc(l.keys, func(k string) bool { return k != "\r" && k != "\n" && k != "\x03" && k != "\x04" }):
		return "keys that edit the line or call up an older one"
	case strings.TrimSpace(l.text) == "":
		return ""
	case !strings.HasSuffix(l.text, "\n") && !slices.Contains(l.keys, "\r"):
		return "the line is not whole: what is typed next belongs to it"
	case strings.ContainsFunc(l.text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }):
		return "control characters, which the shell's line editor acts on"
	case strings.ContainsRune(l.text, '\t') && l.info.TTY:
		return "tabs, which the shell's line editor completes"
	case strings.Contains(l.text, "!") && l.info.TTY:
		return "an exclamation mark, which calls up an older line"
	}
	return ""
}

// bytes is all that is typed.
func (l *line) bytes() string { return l.text + strings.Join(l.keys, "") }

// maxReadings bounds the readings of one text.
const maxReadings = 200

// readings are the other texts that a shell may run of what is typed: behind what was typed
// before of a line or a command that was not whole, and where that is not certain, each line, and of each line what is
// left when a program has taken a part of it.
func (l *line) readings(ctx context.Context, kind string, at job.Reader, why string) (texts []string) {
	all := plainText(l.bytes())
	add := func(text string) {
		if text = strings.TrimSpace(text); text != "" && text != strings.TrimSpace(l.text) && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	before := plainText(string(l.info.Typed))
	if half := before[strings.LastIndexByte(before, '\n')+1:]; half != "" {
		add(half + all)
	}
	for _, begun := range l.begun(ctx, kind, before) {
		// What was typed before has been decided.
		if text := begun + all; l.telling(l.command(ctx, kind, at.Dir, text)) > l.telling(l.command(ctx, kind, at.Dir, begun)) {
			add(text)
		}
	}
	if why == "" {
		return texts
	}
	if add(all); len(texts) == 0 {
		texts = append(texts, strings.TrimSpace(all))
	}
	w := l.info.Waiting
	if w != nil && w.Pid == at.Pid { // it is the shell that reads it
		return texts
	}
	lines := strings.Split(all, "\n")
	for _, text := range lines {
		add(text)
	}
	if w == nil || programs.Has(lineReaders, programName(w.Argv)) || programs.Has(editors, programName(w.Argv)) {
		return texts
	}
	for _, text := range lines {
		for i := range text {
			add(text[i:])
			if len(texts) > maxReadings {
				return texts
			}
		}
	}
	return texts
}

// mostBegun is how many lines back the beginning of a command is looked for.
const mostBegun = 20

// begun are what was typed last where that may be the beginning of a command, such as an open quote: a
// shell that is at a terminal then asks for the rest with a prompt that ends in >.
func (l *line) begun(ctx context.Context, kind, before string) (texts []string) {
	if w := l.info.Waiting; before == "" || l.info.TTY && (w == nil || !strings.HasSuffix(strings.TrimSpace(w.LastLine), ">")) {
		return nil
	}
	lines := slices.DeleteFunc(strings.SplitAfter(before, "\n"), func(line string) bool { return line == "" })
	for n := 1; n <= min(len(lines), mostBegun); n++ {
		texts = append(texts, strings.Join(lines[len(lines)-n:], ""))
	}
	return slices.DeleteFunc(texts, func(text string) bool {
		return shellparse.Analyze(ctx, text, kind, &shellparse.World{}).Broken == ""
	})
}

// plainText is what stands in a line of what is typed: without keys and control characters.
func plainText(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == 0x1b:
			i++
			for i < len(text)-1 && (text[i] < '@' || text[i] > '~' || text[i] == '[' || text[i] == 'O') {
				i++
			}
		case c == '\r' || c == '\n':
			b.WriteByte('\n')
		case c == '\t':
			b.WriteByte(' ')
		case c >= ' ' && c != 0x7f:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// lineReaders are programs that take a line to its end, whatever stands in it, and editors those
// whose keys are commands.
const (
	lineReaders = "python ipython node deno bun irb ruby lua luajit sqlite3 psql mysql mariadb mongosh redis-cli gdb lldb bc dc ghci R julia php jshell scala erl iex ocaml sbcl clisp guile racket octave gp ftp sftp telnet"
	editors     = "vi vim nvim view vimdiff nano pico emacs less more most man"
)

// programName is a program's name without its version: python3.12 is python.
func programName(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	name := filepath.Base(argv[0])
	if name == "sqlite3" {
		return name
	}
	return strings.TrimRight(name, "0123456789.")
}

// takesAll reports whether the program that waits certainly takes all that is typed, so
// that nothing of it is left for a shell.
func (l *line) takesAll(r job.Reader) bool {
	all := l.bytes()
	body := strings.TrimRight(all, "\r\n")
	if len(all)-len(body) > 1 {
		return false // an empty line more
	}
	name := programName(r.Argv)
	switch {
	case !r.Waits:
		return false
	case len(all) == 1 || len(l.text) == 0 && len(l.keys) == 1: // one key
		return true
	case !l.info.TTY:
		// A pipe gives out what lies in it, and what was written at once lies there at once.
		return (len(l.keys) == 0 || len(l.keys) == 1 && l.keys[0] == "\r") && r.Takes >= len(l.text) && len(l.text) <= 4096
	case programs.Has("vi vim nvim view vimdiff", name):
		return !strings.ContainsAny(body, "\r\nZ\x03\x04\x1a\x1c")
	case programs.Has("less more most man", name):
		return !strings.ContainsAny(body, "\r\n\x03\x04\x1a\x1c") && (!strings.ContainsAny(body[:max(len(body)-1, 0)], "qQZ") || body[0] == '/' || body[0] == '?')
	case programs.Has("nano pico emacs", name):
		return !strings.ContainsFunc(all[:len(all)-1], func(c rune) bool { return c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != 0x1b })
	case strings.ContainsFunc(body, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }):
		return false
	case programs.Has(lineReaders, name):
		return true
	}
	return l.info.Lines && r.Takes >= len(all)
}
