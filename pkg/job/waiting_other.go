//go:build !linux

package job

import "github.com/agentkit-go/agentkit/pkg/killtree"

// blocked finds nobody: only Linux shows what a process waits for.
func (s *supervisor) blocked([]killtree.Process) blocking { return blocking{} }

// A sleep is what nobody sees here.
type sleep struct{}

// wakes notes nothing: nobody is taken for waiting.
func (s *supervisor) wakes([]byte) {}

// hidden is not known.
func (s *supervisor) hidden() bool { return false }

// readers are not known.
func (s *supervisor) readers() ([]Reader, bool) { return nil, false }

func arguments(killtree.Process) []string { return nil }
