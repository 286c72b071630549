//go:build !linux

package job

import "github.com/agentkit-go/agentkit/pkg/killtree"

// blocked finds nobody: only Linux shows what a process waits for.
func (s *supervisor) blocked([]killtree.Process) blocking { return blocking{} }

func arguments(killtree.Process) []string { return nil }
