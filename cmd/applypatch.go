package cmd

import "github.com/agentkit-go/agentkit/pkg/tool"

// standIn returns the call that in really is. Some models send their patches
// as a command line that does nothing but hand one to the program apply_patch,
// which no machine has: that is a call of patch, with its rules and its undo.
func standIn(in *tool.Invocation) *tool.Invocation {
	if dir, text, ok := appliedPatch(in.Call); ok {
		if patch, err := newPatch(dir, text); err == nil {
			return patch
		}
	}
	return in
}
