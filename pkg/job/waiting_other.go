//go:build !linux

package job

import "github.com/agentkit-go/agentkit/pkg/killtree"

// blocked finds nobody: only Linux shows what a process waits for.
func (s *supervisor) blocked([]killtree.Process) blocking { return blocking{} }

// A sleep is one wait of a thread.
type sleep struct{}

func (s *supervisor) wakes([]byte) {}

func arguments(killtree.Process) []string { return nil }
