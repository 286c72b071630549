package cmd

import (
	"encoding/json"

	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/tools/compose"
	"github.com/agentkit-go/agentkit/pkg/tools/files"
	"github.com/agentkit-go/agentkit/pkg/tools/plan"
	"github.com/agentkit-go/agentkit/pkg/tools/run"
	"github.com/agentkit-go/agentkit/pkg/tools/search"
	"github.com/agentkit-go/agentkit/pkg/tools/web"
)

// Tools lists every tool, in the order of the manual.
var Tools = tool.List{
	&run.Bash,
	&run.Output,
	&run.Input,
	&run.Kill,
	&run.Jobs,
	&files.Read,
	&files.Write,
	&files.Edit,
	&files.Patch,
	&files.Undo,
	&files.Apply,
	&files.Discard,
	&search.Ls,
	&search.Glob,
	&search.Grep,
	&search.Outline,
	&files.Diagnostics,
	&files.LSP,
	&web.Fetch,
	&web.Websearch,
	&plan.Todo,
	&plan.Question,
	&compose.Batch,
	&compose.Script,
}

// Gate decides about the programs of a job, in the process that the job lives under.
func Gate(order json.RawMessage) (sandbox.Decider, error) { return run.Gate(order) }
