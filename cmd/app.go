package cmd

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// An app is one run of the program.
type app struct {
	args   []string
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	variables
	settings
	origins  origins
	misset   error // what is wrong with the settings that are no flags
	found    found
	carried  *carried // what another machine has sent, where calls come from there; nil where they do not
	listen   func()   // has the context end by signals: before a call may change anything
	exit     int
	more     []string    // further targets of --on
	only     []string    // the tools that may be called at another place; nil for all
	alone    bool        // no connection is kept for other calls
	failFast bool        // of several targets, the first that fails ends the call
	failed   int         // the status where the result cannot be written; 0 for the usual one
	shown    bool        // output was shown on the terminal while the call ran
	begun    string      // what was printed of it elsewhere
	named    string      // what whoever called calls the call; "" for nothing
	origin   tool.Origin // from where the call comes
	key      string      // the same for calls of which only one is to be made; "" for none
}

// emit prints r as the result and remembers the exit status.
func (a *app) emit(r *tool.Result) {
	a.exit = r.Exit()
	p := a.printer()
	p.shown, p.begun = a.shown, a.begun
	a.failed = tool.ExitError
	if r.Passes {
		a.failed = tool.ExitAgentkit
	}
	a.deliver(p.result(r))
}

// print writes text that is the whole answer of a command.
func (a *app) print(text string) {
	_, err := io.WriteString(a.stdout, text)
	a.deliver(err)
}

// printPlain prints what is a text by itself, such as a page or a script, where nobody asked for
// another form.
func (a *app) printPlain(title, text string) {
	if a.Output == "json" || a.Output == "events" {
		a.emit(&tool.Result{Title: title, Output: text, Trimmed: true})
		return
	}
	a.print(text)
}

// deliver settles the exit status of an answer that could not be written: a
// reader that went away is no news, anything else is.
func (a *app) deliver(err error) {
	switch {
	case err == nil:
	case errors.Is(err, syscall.EPIPE):
		a.exit = exitUnread
	default:
		a.exit = cmp.Or(a.failed, tool.ExitError)
		_, _ = fmt.Fprintf(a.stderr, "agentkit: error: writing the result: %v\n", err)
	}
}

func (a *app) printer() *printer {
	plain := a.getenv("NO_COLOR") != "" || a.getenv("TERM") == "dumb"
	return &printer{
		format: a.format(), stdout: a.stdout, stderr: a.stderr,
		terminal: machine.IsTerminal(a.stdout), colour: !plain && machine.IsTerminal(a.stdout), loud: !plain && machine.IsTerminal(a.stderr),
	}
}

// format is how the result is printed.
func (a *app) format() string {
	switch {
	case slices.Contains([]string{"json", "text", "events"}, a.Output):
		return a.Output
	case a.Output == "" && machine.IsTerminal(a.stdout):
		return "text"
	}
	return "json"
}

// completes reports whether a shell asks for completions.
func (a *app) completes() bool { return len(a.args) > 0 && strings.HasPrefix(a.args[0], "__complete") }

// maxInput bounds what is read from standard input: 256 MiB.
const maxInput = 256 << 20

func (a *app) readStdin() ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(a.stdin, maxInput+1))
	if err != nil {
		return nil, tool.Errorf(tool.IO, "reading standard input: %w", err).WithHint("check what is connected to it")
	}
	if len(data) > maxInput {
		return nil, tool.Errorf(tool.TooLarge, "standard input is larger than %d MiB", maxInput>>20).WithHint("send less")
	}
	return data, nil
}

// readObject reads JSON from standard input. Pipes of Windows put a byte order mark in
// front of it.
func (a *app) readObject() ([]byte, error) {
	data, err := a.readStdin()
	return bytes.TrimPrefix(data, []byte("\ufeff")), err
}

// exitUnread is the exit status where nobody has read the result.
const exitUnread = tool.ExitSignal + int(syscall.SIGPIPE)

// unheard is what is said, and done, where standard output is closed: nothing, for
// nobody would see what came of it.
func (a *app) unheard() int {
	a.printer().complain("error", "31;1", "standard output is closed: nothing was run")
	a.printer().complain("hint", "36", "connect it to something, such as /dev/null")
	for _, t := range Tools {
		if t.Passes && slices.Contains(a.args, t.Name) {
			return tool.ExitAgentkit
		}
	}
	return tool.ExitError
}
