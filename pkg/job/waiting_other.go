//go:build !linux

package job

import "github.com/agentkit-go/agentkit/pkg/killtree"

// blocked finds nobody: only Linux shows what a process waits for.
func (s *supervisor) blocked() (killtree.Process, bool, bool) {
	return killtree.Process{}, false, false
}

func arguments(killtree.Process) []string { return nil }
