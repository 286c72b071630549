package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/serve/endpoint"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// tokenVariable holds what callers over HTTP have to show. An argument could be read by
// everybody on the machine.
const tokenVariable = "AGENTKIT_TOKEN"

// listening says where a command answers HTTP, and whom.
type listening struct {
	addr           string
	insecure       bool
	origins, hosts []string
}

// flags gives a command the flags of listening.
func (l *listening) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&l.addr, "http", "", "answer over HTTP at `ADDR`, as 127.0.0.1:8642; port 0 is any that is free")
	f.BoolVar(&l.insecure, "insecure", false, "with --http: ask for no token, and listen where others can reach it, too")
	f.StringSliceVar(&l.origins, "origin", nil, "with --http: web pages of `ORIGIN`, as https://example.com, may call (repeatable)")
	f.StringSliceVar(&l.hosts, "host", nil, "with --http: callers may name this machine `NAME` (repeatable)")
}

// A listened is what a command prints when it answers HTTP.
type listened struct {
	Agentkit string `json:"agentkit"`
	URL      string `json:"url"`
	Token    string `json:"token,omitempty"`
}

// serve has h answer at path until ctx ends, and says where that is. o says which requests are
// not like others.
func (l *listening) serve(ctx context.Context, a *app, path string, h http.Handler, o endpoint.Options) error {
	o.Addr, o.Token, o.Origins, o.Hosts, o.Insecure, o.Log = l.addr, a.getenv(tokenVariable), l.origins, l.hosts, l.insecure, a.stderr
	e, err := endpoint.Listen(ctx, o)
	if err != nil {
		return err
	}
	said := listened{Agentkit: build(), URL: e.URL() + path}
	if e.Made {
		said.Token = e.Token
	}
	line, err := json.Marshal(said)
	switch {
	case err != nil:
		return err
	case machine.IsTerminal(a.stdout) && e.Made:
		a.print("listening on " + said.URL + "\ncallers send: Authorization: Bearer " + e.Token + "\n")
	case machine.IsTerminal(a.stdout):
		a.print("listening on " + said.URL + "\n")
	default:
		a.print(string(line) + "\n")
	}
	return e.Serve(ctx, h)
}

// answers has whoever answers for this program, where somebody does, do so for the peers
// of calls.
func (a *app) answers(call tool.Caller) tool.Caller {
	turns := newConsole()
	own, program := a.asker(turns)
	answered := a.consultant(turns)
	return func(ctx context.Context, p tool.Peer, name string, args json.RawMessage) *tool.Result {
		if a.Ask != "" {
			p.Ask, p.Approver = own, program
		}
		if a.Answers != "" || a.Ask != "" {
			p.Consult = answered
		}
		return call(ctx, p, name, args)
	}
}

// end settles the exit status of a command that has served until err ended it, or until
// nobody read what it wrote.
func (a *app) end(err error, unread bool) {
	s, signal := errors.AsType[*tool.Signal](err)
	switch {
	case unread:
		a.exit = exitUnread
	case signal:
		a.exit = tool.ExitSignal + int(s.Number)
	case err != nil:
		a.exit = tool.ExitError
	}
}
