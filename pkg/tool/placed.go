package tool

import (
	"path/filepath"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
)

// Placed reports whether a call can have put a program where it lies: see the function
// [Placed]. Here the root counts, and the directories for temporary files.
func (env *Env) Placed(program string) bool {
	return Placed(env.Session.StateDir(), append(slices.Clone(env.Temp), env.Workspace.Root()), program)
}

// Placed reports whether a call can have put a program, or a directory of PATH, where it lies: in one of dirs, or in a
// root in which calls were made before, by what is kept in the state directory. A link counts
// as well as what it leads to. What lies in a directory of the system's programs was not put
// there by a call, though a root is above it. A program that cannot be found counts as placed.
//
// Only a program that was not placed may be started without the sandbox.
func Placed(state string, dirs []string, program string) bool {
	real, err := filepath.EvalSymlinks(program)
	if err != nil || !filepath.IsAbs(program) {
		return true
	}
	return placed(state, dirs, filepath.Clean(program)) || placed(state, dirs, real)
}

func placed(state string, dirs []string, program string) bool {
	if Installed(program) {
		return false
	}
	if slices.ContainsFunc(dirs, func(dir string) bool { return safefile.Below(dir, program) }) {
		return true
	}
	dir := machine.RealDir(program) // as roots are; it may be one itself
	for ; !session.Used(state, dir); dir = filepath.Dir(dir) {
		if dir == filepath.Dir(dir) {
			return false
		}
	}
	return true
}

// Installed reports whether a file lies in a directory of the system's programs.
func Installed(path string) bool {
	return slices.ContainsFunc(policy.TrustedDirs(), func(dir string) bool {
		return safefile.Below(machine.Spelled(filepath.FromSlash(dir)), machine.Spelled(path))
	})
}
