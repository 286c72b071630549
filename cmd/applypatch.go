package cmd

import (
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/tools/files"
	"github.com/agentkit-go/agentkit/pkg/tools/run"
)

// standIn returns the call that in really is. Some models send their patches
// as a command line that does nothing but hand one to the program apply_patch,
// which no machine has: that is a call of patch, with its rules and its undo.
func standIn(in *tool.Invocation) *tool.Invocation {
	if dir, text, ok := run.AppliedPatch(in.Call); ok {
		if patch, err := files.NewPatch(dir, text); err == nil {
			return patch
		}
	}
	return in
}
