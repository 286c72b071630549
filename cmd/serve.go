package cmd

import (
	"cmp"
	"context"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/serve"
	"github.com/agentkit-go/agentkit/pkg/serve/endpoint"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

func (a *app) serveCommand() *cobra.Command {
	var stdio, carried bool
	var keep string
	var where listening
	limit := 30 * time.Minute
	c := &cobra.Command{
		Use:   "serve (--stdio | --http ADDR)",
		Short: "make calls that come as lines of JSON or over HTTP, many at a time",
		Long: strings.TrimSpace(`
With --stdio it reads calls from standard input, one JSON object on each line, and writes
their results and what happens meanwhile to standard output. With --http it answers
POST /v1/call, GET /v1/tools and GET /healthz, on this machine and for those who show a
token: the value of AGENTKIT_TOKEN, or one that it makes and prints. Calls run at the same
time. The first line that is written says what this is. docs/serve.md has the rest.`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if keep != "" {
				return a.keep(c.Context(), keep)
			}
			if carried {
				if err := a.receive(); err != nil {
					return err
				}
			}
			switch http := where.addr != ""; {
			case stdio == http:
				return tool.Errorf(tool.BadInput, "serve needs one of --stdio and --http").WithHint("agentkit serve --stdio, or agentkit serve --http 127.0.0.1:8642")
			case http:
				return a.serveHTTP(c.Context(), &where, limit)
			}
			return a.serve(c.Context())
		},
	}
	where.flags(c)
	c.Flags().BoolVar(&stdio, "stdio", false, "on standard input and output")
	c.Flags().BoolVar(&carried, "carried", false, "the first line holds the settings of a caller at another place")
	c.Flags().StringVar(&keep, "keep", "", "keep a connection to the place of --on for the calls of others, at a `SOCKET`")
	_ = c.Flags().MarkHidden("carried")
	_ = c.Flags().MarkHidden("keep")
	c.Flags().DurationVar(&limit, "max-time", limit, "with --http: a call that takes longer is ended")
	return c
}

// The garbage of many small calls is collected half as often, for some megabytes of memory. When
// long ones have left much of it, it is collected at once.
const (
	moreGarbage = 200
	muchGarbage = 384 << 20
)

// serving opens what many calls share, for as long as no signal comes.
func (a *app) serving(ctx context.Context) (*runner, error) {
	a.listen()
	debug.SetGCPercent(moreGarbage)
	debug.SetMemoryLimit(muchGarbage)
	return a.open(ctx)
}

// serve serves until the input ends, the peer is lost or a signal comes.
func (a *app) serve(ctx context.Context) error {
	r, err := a.serving(ctx)
	if err != nil {
		return err
	}
	defer r.close(ctx)
	caller, names := r.caller()
	lost, unread := whileRead(ctx, a.stdout)
	err = serve.Run(lost, serve.Options{
		Hello: r.hello(names),
		Whole: a.carried != nil,
		Asks:  a.Ask == "",
		Call:  a.answers(caller),
		Brief: r.brief(),
		In:    a.stdin, Out: a.stdout,
	})
	a.end(err, unread())
	return nil
}

// brief are the tools, as they are called here, that change nothing: most of their calls are brief.
func (r *runner) brief() func(string) bool {
	names := map[string]bool{}
	for _, t := range Tools {
		names[t.Name] = r.far == nil && r.dialect == nil && t.ReadOnly
	}
	if r.far == nil && r.dialect != nil {
		for _, t := range r.dialect.Listed() {
			ours, err := Tools.Find(t.To)
			names[t.Name] = err == nil && ours.ReadOnly
		}
	}
	return func(name string) bool { return names[name] }
}

// hello says what is served.
func (r *runner) hello(names []string) serve.Hello {
	if r.far != nil {
		return *r.far.Hello()
	}
	h := serve.Hello{Agentkit: build(), Tools: names, Root: r.base.Workspace.Root(), Level: r.base.Policy.Wall()}
	if r.app.carried != nil {
		h.OutputBytes, h.Spill = r.limits().Bytes, r.base.Session.Path("spill")
	}
	return h
}

// serveHTTP answers over HTTP until a signal comes.
func (a *app) serveHTTP(ctx context.Context, where *listening, limit time.Duration) error {
	r, err := a.serving(ctx)
	if err != nil {
		return err
	}
	defer r.close(ctx)
	caller, _ := r.caller()
	h := serve.HTTP{
		Call: a.answers(caller), Asks: a.Ask == "", Limit: limit,
		Tools: func(format string) (any, error) {
			format = cmp.Or(format, "mcp")
			list, err := a.declarations(ctx, nil, format, false)
			if err != nil {
				return nil, err
			}
			return formatted(list, format)
		},
	}
	err = where.serve(ctx, a, "", h.Handler(), endpoint.Options{Urgent: serve.Urgent})
	if ctx.Err() == nil {
		return err // it has not begun
	}
	a.end(context.Cause(ctx), false)
	return nil
}
