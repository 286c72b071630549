package cmd

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// placed reports whether a call can have put a program where it lies: see [tool.Placed]. The
// directory that calls here would have as their root counts, unless it is the home or one above,
// where people have programs of their own; then it does once calls were made in it.
func (a *app) placed(program string) bool {
	dirs := machine.TempDirs(a.getenv)
	for _, root := range []string{".", a.Root, a.origins["root"].value} {
		if abs, err := filepath.Abs(root); err == nil && root != "" {
			if real := machine.RealDir(abs); !safefile.Below(real, machine.RealDir(a.home())) {
				dirs = append(dirs, real)
			}
		}
	}
	state, _ := a.stateDir() // without one nothing is known of calls before
	return tool.Placed(state, dirs, program)
}

// program finds a program on PATH that no call can have put there, to be started without the
// sandbox; "" where there is none.
func (a *app) program(name string) string {
	return machine.FirstOnPath(name, a.getenv("PATH"), func(program string) bool { return !a.placed(program) })
}

// ownPath is PATH without the directories where a call can have put a program.
func (a *app) ownPath() string {
	return strings.Join(slices.DeleteFunc(filepath.SplitList(a.getenv("PATH")), func(dir string) bool {
		return !filepath.IsAbs(dir) || a.placed(dir)
	}), string(filepath.ListSeparator))
}
