package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/dialect"
	"github.com/agentkit-go/agentkit/pkg/mcp"
	"github.com/agentkit-go/agentkit/pkg/nearest"
	"github.com/agentkit-go/agentkit/pkg/serve/endpoint"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// An mcpChoice says which tools are served.
type mcpChoice struct {
	only, exclude []string
	readonly      bool
}

func (a *app) mcpCommand() *cobra.Command {
	var choice mcpChoice
	var where listening
	var client string
	c := &cobra.Command{
		Use:   "mcp",
		Short: "serve the tools over the Model Context Protocol",
		Long: strings.TrimSpace(`
Serves the tools to an MCP client on standard input and output, or with --http over HTTP
at the path /mcp. Root, policy, session and dialect are flags of this command, which no
client can change. With --config it prints what to add to a client's configuration, with
the other flags of the call in it. docs/mcp.md says more.`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case client != "":
				return a.printClient(client)
			case where.addr == "" && (where.insecure || len(where.origins)+len(where.hosts) > 0):
				return tool.Errorf(tool.BadInput, "--insecure, --origin and --host are about --http").WithHint("give --http ADDR, or leave them out")
			}
			return a.mcp(c.Context(), &choice, &where)
		},
	}
	f := c.Flags()
	f.StringSliceVar(&choice.only, "only", nil, "serve these `TOOLS` only, as read,grep (repeatable)")
	f.StringSliceVar(&choice.exclude, "exclude", nil, "do not serve these `TOOLS` (repeatable)")
	f.BoolVar(&choice.readonly, "readonly", false, "serve only tools that change nothing")
	f.StringVar(&client, "config", "", "print what `CLIENT` has to know: "+strings.Join(mcpClientNames(), ", "))
	where.flags(c)
	_ = c.RegisterFlagCompletionFunc("only", toolNames)
	_ = c.RegisterFlagCompletionFunc("exclude", toolNames)
	_ = c.RegisterFlagCompletionFunc("config", cobra.FixedCompletions(mcpClientNames(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

// mcp serves until the client has gone or a signal comes.
func (a *app) mcp(ctx context.Context, choice *mcpChoice, where *listening) error {
	speaks, err := a.spoken()
	if err != nil {
		return err
	}
	served, err := choice.serves(speaks)
	if err != nil {
		return err
	}
	a.only = served.tools.Names()
	r, err := a.serving(ctx)
	if err != nil {
		return err
	}
	defer r.close(ctx)
	r.may, r.base.Tools = served.may, served.tools
	caller, _ := r.caller()
	o := mcp.Options{
		Version: build(), Instructions: instructions(r), Tools: served.names, Declare: func() ([]any, error) { return a.mcpSpecs(ctx, served) },
		Call: a.answers(caller), Plain: r.dialect != nil, Asks: a.Ask == "", Describe: wanted,
	}
	if texts := newSessionTexts(r); texts != nil {
		o.Resources = texts
	}
	s := mcp.New(o)
	if where.addr == "" {
		lost, unread := whileRead(ctx, a.stdout)
		err := s.Run(lost, a.stdin, a.stdout)
		a.end(err, unread())
		return nil
	}
	if err := where.serve(ctx, a, mcp.Path, s.Handler(ctx), endpoint.Options{Urgent: mcp.Urgent, Waits: mcp.Waits}); ctx.Err() == nil {
		return err // it has not begun
	}
	s.Wait()
	a.end(context.Cause(ctx), false)
	return nil
}

// instructions are what the model is told of the server.
func instructions(r *runner) string {
	h := r.hello(nil)
	text := "Tools that work in " + tool.VisibleName(h.Root) + ": relative paths start there. A policy decides what they may do"
	if r.far != nil {
		text = "On " + tool.VisibleName(r.app.On) + ": t" + text[1:]
	}
	if h.Level != "L0" {
		text += ", and commands are confined to it"
	}
	return text + ". A result that says approval_required or denied means that nothing was done: follow its hint."
}

// A served is the tools of a server. Nothing else may be called, neither by the client nor by a
// tool that calls others.
type served struct {
	names  []string        // as the client knows them
	spoken []*dialect.Tool // nil for our own
	may    tool.List       // what calls of these may become
	tools  tool.List       // what tools may call
}

// serves are the tools that are served.
func (m *mcpChoice) serves(d *dialect.Dialect) (*served, error) {
	if err := m.check(d); err != nil {
		return nil, err
	}
	s := &served{may: Tools}
	if m.readonly {
		s.may = slices.DeleteFunc(slices.Clone(Tools), func(t *tool.Tool) bool { return !t.ReadOnly })
	}
	if d != nil {
		s.spoken = slices.DeleteFunc(d.Listed(), func(t *dialect.Tool) bool { return !m.chosen(s.may, t.Name, t.To) })
		for _, t := range s.spoken {
			s.names = append(s.names, t.Name)
		}
		s.tools = slices.DeleteFunc(slices.Clone(s.may), func(ours *tool.Tool) bool {
			return !slices.ContainsFunc(s.spoken, func(t *dialect.Tool) bool { return t.To == ours.Name })
		})
	} else {
		s.may = slices.DeleteFunc(slices.Clone(s.may), func(t *tool.Tool) bool { return !m.chosen(s.may, t.Name, t.Name) })
		s.tools, s.names = s.may, s.may.Names()
	}
	if len(s.names) == 0 {
		return nil, tool.Errorf(tool.BadInput, "no tool is left to serve").WithHint("leave out some of --only, --exclude and --readonly")
	}
	return s, nil
}

// mcpSpecs is how the tools are declared, which takes some time.
func (a *app) mcpSpecs(ctx context.Context, s *served) (specs []any, err error) {
	var all []declaration
	if s.spoken != nil {
		all, err = a.declareSpoken(ctx, s.spoken, "mcp")
	} else {
		var told tool.List
		told, err = a.narrowed(ctx, s.may)
		all = declare(told, false)
	}
	for _, d := range all {
		specs = append(specs, mcpSpec(d))
	}
	return specs, err
}

// chosen reports whether a tool that is called name, and is our to, is served.
func (m *mcpChoice) chosen(may tool.List, name, to string) bool {
	is := func(list []string) bool { return slices.Contains(list, name) || slices.Contains(list, to) }
	return slices.ContainsFunc(may, func(t *tool.Tool) bool { return t.Name == to }) && (len(m.only) == 0 || is(m.only)) && !is(m.exclude)
}

// check reports a name that no tool has.
func (m *mcpChoice) check(d *dialect.Dialect) error {
	known := Tools.Names()
	if d != nil {
		for _, t := range d.Listed() {
			known = append(known, t.Name)
		}
	}
	for _, name := range slices.Concat(m.only, m.exclude) {
		if !slices.Contains(known, name) {
			return tool.Errorf(tool.BadInput, "there is no tool %q", name).WithHint("agentkit tools lists the tools").Suggest(nearest.Words(name, known, 3)...)
		}
	}
	return nil
}

// printClient prints what a client's configuration needs.
func (a *app) printClient(name string) error {
	for _, c := range mcpClients() {
		if c.name != name {
			continue
		}
		command, args, note := lasting(a.found.self(), a.again())
		text, err := c.block(command, args)
		if err != nil {
			return err
		}
		a.print(text)
		if note != "" {
			_, _ = fmt.Fprintln(a.stderr, note)
		}
		_, _ = fmt.Fprintf(a.stderr, "add it to %s\n", c.file)
		return nil
	}
	return tool.Errorf(tool.BadInput, "--config: %q is no client that is known here", name).
		WithHint("use one of %s; others take the command agentkit with the argument mcp", strings.Join(mcpClientNames(), ", ")).Suggest(nearest.Words(name, mcpClientNames(), 3)...)
}

// again are the arguments of this call without --config.
func (a *app) again() []string {
	var list []string
	for i := 0; i < len(a.args); i++ {
		switch {
		case a.args[i] == "--config":
			i++
		case strings.HasPrefix(a.args[i], "--config="):
		default:
			list = append(list, a.args[i])
		}
	}
	return list
}
