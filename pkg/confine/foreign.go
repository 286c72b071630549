package confine

import (
	"os"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// Foreign finds the programs of a confined command that lie where a command does
// not read unasked, such as in another project: to start one is to read it. What a rule
// names may be started, and is no more than that file.
func Foreign(env *tool.Env, needs []policy.Access, ahead *Prefetch) (found []policy.Access) {
	if ahead == nil {
		return nil
	}
	for i := range needs {
		a := &needs[i]
		if a.Kind != policy.Exec || a.Program == "" || safefile.Below(env.Workspace.Root(), a.Program) || !isFile(a.Program) {
			continue
		}
		read := policy.Access{Kind: policy.Read, Tool: "bash", Path: a.Program, File: policy.Regular, Source: a.Argv[0], Parent: i + 1}
		if d := env.Policy.Decide(a); (d.Verdict != policy.Allow || d.Default) && env.Policy.Decide(&read).Verdict != policy.Allow {
			found = append(found, read)
		}
	}
	return found
}

// isFile reports whether a path leads to a regular file.
func isFile(path string) bool {
	i, err := os.Stat(path)
	return err == nil && i.Mode().IsRegular()
}
