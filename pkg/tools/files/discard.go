package files

import (
	"context"
	_ "embed"

	"github.com/agentkit-go/agentkit/pkg/overlay"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

//go:embed discard.md
var discardDoc string

// Discard forgets what a command that was tried would change.
var Discard = tool.Tool{
	Name:    "discard",
	Summary: "forget what bash with try would change",
	Doc:     &discardDoc,
	New:     func() tool.Call { return &discardCall{} },

	Examples: []string{
		"agentkit discard 1k0wwpmf14jh6vsk3khg9",
		"agentkit discard 1k0wwpmf14jh6vsk3khg9 -o text",
	},

	IDs: trialIDs,

	Metadata: (*discardMeta)(nil),
}

type discardCall struct{ ID string }

type discardMeta struct {
	Discarded string `json:"discarded" doc:"the trial"`
}

// Params implements tool.Call.
func (d *discardCall) Params(p *param.Set) {
	p.String(&d.ID, "id", "the id that bash with try told").Arg().Required().Alias("change")
}

// Needs implements tool.Call: nothing of the workspace is touched.
func (d *discardCall) Needs(context.Context, *tool.Env) ([]policy.Access, error) { return nil, nil }

// Run implements tool.Call.
func (d *discardCall) Run(_ context.Context, env *tool.Env) (*tool.Result, error) {
	t, err := overlay.Open(env.Session, env.Workspace.Root(), d.ID)
	if err != nil {
		return nil, trialError(err)
	}
	if err := t.Discard(); err != nil {
		return nil, err
	}
	return &tool.Result{Title: "Discarded: " + t.Title, Output: "discarded: " + t.Title + "\n", Metadata: &discardMeta{d.ID}}, nil
}
