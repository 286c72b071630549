// Package cmd is the command line: one file and one page per tool, and the
// few that turn the list of tools into subcommands, schemas and a manual.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/nearest"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// Main runs one command line and returns the process's exit status. Standard
// output gets the result and nothing else, whatever happens: an unknown
// command, a bad flag, broken JSON and a panic are results too. Before a call may
// change anything listen is called, from when on signals cancel ctx.
func Main(ctx context.Context, listen func(), args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	if stdin == nil {
		stdin = strings.NewReader("")
	}
	a := &app{args: args, stdin: stdin, stdout: stdout, stderr: stderr, listen: listen, variables: variables{os.Getenv, os.Environ}}
	a.found = find(a.getenv)
	defer func() {
		if v := recover(); v != nil {
			a.emit(tool.Fail("agentkit", tool.Panicked(v)))
			code = a.exit
		}
	}()
	if machine.StdoutClosed() {
		return a.unheard()
	}
	if a.origins, a.misset = a.configure(a.variables); a.misset != nil {
		a.settings = settings{} // half of them would be nobody's choice
	}
	root := a.root()
	if a.misset != nil && !a.unconfigured(root) {
		a.readOutput()
		a.emit(tool.Fail("agentkit", a.misset))
		return a.exit
	}
	if c, err := root.ExecuteContextC(ctx); err != nil {
		r := tool.Fail(strings.TrimPrefix(c.CommandPath(), "agentkit "), a.explain(root, err))
		if t, err := Tools.Find(c.Name()); err == nil {
			r.Passes = t.Passes
		}
		a.emit(r)
	}
	return a.exit
}

// root builds the tree of commands, of which it holds those that the arguments name:
// building all of them costs more than most calls. Whoever lists them adds the rest.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "agentkit",
		Short: "the tools of a coding agent, one subcommand each",
		Long: strings.TrimSpace(`
The tools of a coding agent, one subcommand each: run commands, read and change
files, search. A call takes flags, or one JSON object with --json, and prints
one result: text on a terminal, otherwise one JSON object on one line.`),
		Args:              cobra.ArbitraryArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE:              a.runRoot,
	}
	root.Flags().BoolP("version", "V", false, "print the version")
	root.AddGroup(&cobra.Group{ID: "tools", Title: "Tools:"}, &cobra.Group{ID: "more", Title: "More commands:"})
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(a.flagError)
	help := a.helpCommand()
	root.SetHelpCommand(help)
	root.AddCommand(help) // cobra adds it only beside others, and here others come when they are named
	root.SetHelpFunc(a.help)
	a.globalFlags(root)
	a.add(root, a.completes())
	named, rest, err := root.Find(a.args)
	if err != nil {
		named, rest = root, nil
	}
	if named.Name() == callName && !slices.Contains(rest, "--help") && !slices.Contains(rest, "-h") {
		a.Output = "json" // its caller is a program: only a flag changes this
	}
	root.SetArgs(a.args)
	if words := ownLetters(named, rest); words != nil {
		root.SetArgs(append([]string{named.Name()}, words...))
	}
	if words := program(named, rest); words != nil {
		root.SetArgs(append([]string{named.Name()}, words...))
	} else if words := dashedText(named, rest); words != nil {
		root.SetArgs(append([]string{named.Name()}, words...))
	} else if words := dashedValue(named, rest); words != nil {
		root.SetArgs(append([]string{named.Name()}, words...))
	}
	return root
}

// An other is a command that is no tool.
type other struct {
	name    string
	make    func() *cobra.Command
	changes bool // it changes files, or may
	here    bool // it is about this machine, whatever --on says
}

func (a *app) others() []other {
	return []other{
		{callName, a.callCommand, false, false},
		{"mcp", a.mcpCommand, true, false},
		{"serve", a.serveCommand, true, false},
		{"tools", a.toolsCommand, false, false},
		{"schema", a.schemaCommand, false, false},
		{"policy", a.policyCommand, true, true},
		{"log", a.logCommand, false, true},
		{gcName, a.gcCommand, true, false},
		{doctorName, a.doctorCommand, false, true},
		{"completion", a.completionCommand, false, false},
		{"version", a.versionCommand, false, false},
	}
}

// add adds the commands that the arguments name, or all of them. Tools that are not
// named get no flags: they are there to be listed.
func (a *app) add(root *cobra.Command, all bool) {
	have := map[string]bool{}
	for _, c := range root.Commands() {
		have[c.Name()] = true
	}
	for _, t := range Tools {
		named := slices.Contains(a.args, t.Name)
		if !have[t.Name] && (named || all) {
			root.AddCommand(a.command(t, named || a.completes()))
		}
	}
	for _, o := range a.others() {
		if !have[o.name] && (all || slices.Contains(a.args, o.name)) {
			c := o.make()
			c.GroupID = "more"
			c.PersistentPreRunE = func(*cobra.Command, []string) error {
				if o.changes {
					a.listen()
				}
				if a.key != "" && o.name != callName {
					return tool.Errorf(tool.BadInput, "%s takes no --idempotency-key", o.name).WithHint("it is for one call: agentkit TOOL, or agentkit call")
				}
				if o.here {
					return a.onlyHere(o.name)
				}
				return nil
			}
			checkArgs(c)
			root.AddCommand(c)
		}
	}
}

// checkArgs has c and the commands below it say in our own words which
// arguments they take.
func checkArgs(c *cobra.Command) {
	for _, sub := range c.Commands() {
		checkArgs(sub)
	}
	check := c.Args
	if check == nil {
		return
	}
	c.Args = func(c *cobra.Command, args []string) error {
		err := check(c, args)
		if _, ours := errors.AsType[*tool.Error](err); err == nil || ours {
			return err
		}
		return tool.Errorf(tool.BadInput, "%s: %w", c.CommandPath(), err).WithHint("usage: %s", c.UseLine()).Suggest(c.ValidArgs...)
	}
}

func (a *app) globalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.Var(&targets{first: &a.On, more: &a.more}, "on", "make calls at `TARGET` instead of here: ssh://host/root, docker://name/root …, or at each of @FILE (repeatable; docs/remote.md)")
	f.IntVar(&a.Parallel, "parallel", a.Parallel, "with several targets: make `N` calls at a time (default 8)")
	f.BoolVar(&a.failFast, "fail-fast", false, "with several targets: end when a call fails")
	f.StringVar(&a.key, "idempotency-key", "", "make the call only once, however often it is repeated with `KEY`: a repetition gets its result")
	f.StringVar(&a.Root, "root", a.Root, "the workspace: tools work in `DIR` and ask before they leave it")
	f.StringArrayVar(&a.Policy, "policy", a.Policy, "policy `FILE` instead of the user's and the project's (repeatable)")
	f.StringArrayVar(&a.Allow, "allow", a.Allow, "grant `RULE` for this call, as 'bash(go test *)' (repeatable)")
	f.StringVar(&a.Profile, "profile", a.Profile, "starting point of the policy: readonly, workspace, open, argv or container")
	f.StringVar(&a.Ask, "ask", a.Ask, "ask on the terminal, or with =cmd:PROGRAM by a program, before what needs approval")
	f.Lookup("ask").NoOptDefVal = "tty"
	f.StringVar(&a.Answers, "answers", a.Answers, "answer the questions of the tool question from `FILE`, - for standard input")
	f.StringVar(&a.Session, "session", a.Session, "keep jobs, todos and records apart by `ID`")
	f.StringVar(&a.State, "state", a.State, "keep sessions in `DIR`")
	f.StringVarP(&a.Output, "output", outputLetter, a.Output, "print json, text or events (default: text on a terminal, else json)")
	f.StringVar(&a.Dialect, "dialect", a.Dialect, "take and give the tool and parameter names of the agent `NAME`")
	f.StringVar(&a.Sandbox, "sandbox", a.Sandbox, "confine commands: auto, off, require, or outer where something around agentkit does")
	f.StringVar(&a.Fork, "fork", a.Fork, "start commands by a fork of this process (auto), or always by another one of its program (off)")
	f.BoolVar(&a.DryRun, "dry-run", a.DryRun, "say what the call would touch and what the policy says, and do nothing")
	f.IntVar(&a.MaxLines, "max-lines", a.MaxLines, "most lines of output")
	f.IntVar(&a.MaxBytes, "max-bytes", a.MaxBytes, "most bytes of output")
	f.IntVar(&a.MaxTokens, "max-tokens", a.MaxTokens, "most tokens of output, counted as bytes/4")
	if a.completes() {
		a.completeGlobals(root)
	}
}

// runRoot is what happens without a command: help for a person, an error for
// a program.
func (a *app) runRoot(c *cobra.Command, args []string) error {
	if c.Flags().Changed("version") {
		a.printVersion()
		return nil
	}
	if len(args) == 0 && a.format() == "text" {
		return c.Help()
	}
	if len(args) == 0 {
		return tool.Errorf(tool.BadInput, "no tool is named").WithHint("name a tool: agentkit TOOL [flags]; agentkit tools lists them").
			Suggest(Tools.Names()...)
	}
	return a.unknown(c.Root(), args[0])
}

// unknown is the error for a command that is not there; also are words that may have
// been meant, beside the commands.
func (a *app) unknown(root *cobra.Command, name string, also ...string) error {
	e := tool.Errorf(tool.BadInput, "unknown tool or command %.80q", name)
	if meant := Tools.Meant(name); meant != "" {
		return e.WithHint("the tool for this is %s", meant).Suggest(meant)
	}
	if Tools.IsCommand(name) {
		return e.WithHint("bash runs a command: agentkit bash 'COMMAND'").Suggest("bash")
	}
	a.add(root, true)
	known := also
	for _, sub := range root.Commands() {
		if !slices.Contains(known, sub.Name()) { // a topic may have the name of a command
			known = append(known, sub.Name())
		}
	}
	near := nearest.Words(name, known, 3)
	if len(near) == 0 {
		return e.WithHint("agentkit tools lists the tools")
	}
	return e.WithHint("did you mean %s?", near[0]).Suggest(near...)
}

func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND | TOPIC]",
		Short:   "print the help of a command, or of a topic",
		GroupID: "more",
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var list []string
			for _, t := range topics() {
				list = append(list, t.name+"\t"+t.title)
			}
			a.add(c.Root(), true)
			for _, sub := range c.Root().Commands() {
				list = append(list, sub.Name()+"\t"+sub.Short)
			}
			return list, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			var names []string
			for _, t := range topics() {
				if len(args) == 1 && t.name == args[0] {
					a.printPlain(t.title, t.text(a, c.Root()))
					return nil
				}
				names = append(names, t.name)
			}
			a.add(c.Root(), true)
			at, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return a.unknown(c.Root(), args[0], names...)
			}
			return at.Help()
		},
	}
}

// help prints c's help: as text, unless -o json asks for a result.
func (a *app) help(c *cobra.Command, _ []string) {
	if !c.HasParent() {
		a.add(c, true)
		a.printPlain("help for agentkit", frontPage(c))
		return
	}
	var b strings.Builder
	link := regexp.MustCompile(`\[([^]]+)\]\(\.\./([^)#]+)[^)]*\)`) // from a tool's page to another page
	long := strings.TrimSpace(link.ReplaceAllString(c.Long, "$1 (docs/$2)"))
	if list := examplesOf(c); list != nil {
		fmt.Fprintf(&b, "%s\n\nExamples:\n    %s\n\n", c.Short, strings.Join(list, "\n    "))
	} else if long == "" {
		b.WriteString(c.Short + "\n\n")
	}
	if long != "" {
		b.WriteString(long + "\n\n")
	}
	b.WriteString(c.UsageString())
	a.printPlain("help for "+c.CommandPath(), b.String())
}

// explain makes a result's error of whatever cobra says.
func (a *app) explain(root *cobra.Command, err error) error {
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return e
	}
	if strings.HasPrefix(err.Error(), "unknown help topic") || strings.HasPrefix(err.Error(), "unknown command") {
		return tool.Errorf(tool.BadInput, "%w", err).WithHint("see %s --help", root.Name())
	}
	return tool.AsError(err)
}
