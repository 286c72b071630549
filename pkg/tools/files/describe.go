package files

import (
	"context"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// maxForeseen bounds how much of a change whoever approves it sees, in bytes, and
// mostForeseen of how many files.
const (
	maxForeseen  = 16 << 10
	mostForeseen = 100
)

// foreseen is what a call that changes the files at paths would do, for whoever has
// to approve it: the result of dry, which changes nothing. The model sees the
// request, too: of a file that it may not read, not even whether the change fits is
// told.
func foreseen(ctx context.Context, env *tool.Env, paths []workspace.Path, dry func(context.Context, *tool.Env) (*tool.Result, error)) map[string]any {
	for _, p := range paths {
		if why := unreadable(env, "edit", p); why != "" {
			return map[string]any{"diff_withheld": tool.Shown(p) + ": " + why}
		}
	}
	r, err := dry(ctx, env)
	if err != nil {
		return map[string]any{"would_fail": bounded(env, tool.AsError(err).Message)}
	}
	about := map[string]any{}
	if m, ok := r.Metadata.(foresight); ok {
		files, diff := m.foreseen()
		about["files"], about["file_count"] = files[:min(len(files), mostForeseen)], len(files)
		about["diff"] = bounded(env, diff)
	}
	return about
}

// bounded is text without its secrets, cut where it is long.
func bounded(env *tool.Env, text string) string {
	text = env.Redactor.Redact(text)
	if len(text) <= maxForeseen {
		return text
	}
	head := text[:strings.LastIndexByte(text[:maxForeseen], '\n')+1]
	if head == "" {
		head = strings.ToValidUTF8(text[:maxForeseen], "") + "\n"
	}
	return head + "… " + tool.Count(int64(len(text)-len(head)), "more byte") + "\n"
}
