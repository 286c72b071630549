package files

import (
	"context"
	"os"

	"github.com/agentkit-go/agentkit/pkg/lsp"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// warm has a server that runs already open a file that was read: what is read is likely to
// be asked about, and a server speaks of the files that are open. Nobody waits for it, and
// where the session has no jobs it costs a look for their directory.
func warm(ctx context.Context, env *tool.Env, path workspace.Path) {
	if _, err := os.Lstat(env.Session.Path("jobs")); err != nil || !path.Inside {
		return
	}
	known := lsp.For(path.Real)
	if len(known) == 0 {
		return
	}
	env.After(func() {
		for _, s := range known {
			if keeper, err := lsp.Running(jobsOf(env), &s, env.Workspace.Root()); err == nil && keeper != nil {
				_ = lsp.Tell(context.WithoutCancel(ctx), keeper, lsp.Request{Open: []string{path.Real}, WaitMS: afterLimit.Milliseconds()})
				return
			}
		}
	})
}
