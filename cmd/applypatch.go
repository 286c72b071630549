package cmd

import (
	"path/filepath"

	"github.com/agentkit-go/agentkit/pkg/shellparse"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// standIn returns the call that in really is. Some models send their patches
// as a command line that does nothing but hand one to the program apply_patch,
// which no machine has: that is a call of patch, with its rules and its undo.
func standIn(in *tool.Invocation) *tool.Invocation {
	b, ok := in.Call.(*bashCall)
	if !ok {
		return in
	}
	dir, patch, ok := shellparse.ApplyPatch(b.Command)
	if len(b.Argv) > 0 {
		dir, patch, ok = shellparse.ApplyPatchArgv(b.Argv)
	}
	if !ok {
		return in
	}
	at := filepath.Join(b.Workdir, dir)
	if filepath.IsAbs(dir) {
		at = dir
	}
	out := tool.New(patchTool)
	call, ok := out.Call.(*patchCall)
	if !ok || out.Set.Lookup("patch").Set(patch) != nil {
		return in
	}
	call.at = at
	return out
}
