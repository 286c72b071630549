package cmd

import (
	"context"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/serve"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

func (a *app) serveCommand() *cobra.Command {
	var stdio bool
	c := &cobra.Command{
		Use:   "serve --stdio",
		Short: "make calls that come as lines of JSON, many at a time",
		Long: strings.TrimSpace(`
Reads calls from standard input, one JSON object on each line, and writes their
results and what happens meanwhile to standard output. Calls run at the same time. The
first line that is written says what this is. docs/serve.md says what the lines hold.`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !stdio {
				return tool.Errorf(tool.BadInput, "where to serve is not said").WithHint("agentkit serve --stdio")
			}
			return a.serve(c.Context())
		},
	}
	c.Flags().BoolVar(&stdio, "stdio", false, "on standard input and output")
	return c
}

// moreGarbage has the garbage of many small calls collected a quarter as often: some
// megabytes of memory for a shorter time.
const moreGarbage = 400

// serve serves until the input ends, the peer is lost or a signal comes.
func (a *app) serve(ctx context.Context) error {
	a.listen()
	r, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer r.close(ctx)
	caller, names := r.caller()
	debug.SetGCPercent(moreGarbage)
	lost, unread := whileRead(ctx, a.stdout)
	err = serve.Run(lost, serve.Options{
		Hello: serve.Hello{Agentkit: build(), Tools: names, Root: r.base.Workspace.Root(), Level: r.base.Policy.Wall()},
		Asks:  a.Ask == "",
		Call:  a.answers(caller),
		In:    a.stdin, Out: a.stdout,
	})
	a.end(err, unread())
	return nil
}
