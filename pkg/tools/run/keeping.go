package run

import (
	"fmt"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/overlay"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// Where the policy's undo.commands is all, a command that does not only read is a
// transaction: it runs in a view of the root, and when it has ended, what it changed there
// is made of the root all or none, as a change that undo takes back. Where there can be no
// view, what its text tells is kept by links, or the root is walked before and after.

// The ways in which what a command changes is kept for undo.
const (
	byView    = "overlay" // a transaction
	byLinks   = "links"   // what the text is known to take away has a second name
	byWalk    = "walk"    // the root is compared with what it was
	byNothing = "nothing"
)

// keepMeta says which of them it was, where the policy wants all commands to be kept.
type keepMeta struct {
	By  string `json:"undo_by,omitempty" doc:"where the policy's undo.commands is all, how what it changes is kept: overlay, links, walk or nothing"`
	Why string `json:"undo_why,omitempty" doc:"why it was not an overlay"`
}

// A noViewError says why there is no view of the root; nothing was run.
type noViewError struct{ why string }

func (e *noViewError) Error() string { return e.why }

// A keeper chooses the way for a call.
type keeper struct {
	try, track bool
	ends       bool // within the call
	publishes  bool // a port
	confined   bool // by a sandbox
	told       bool // its text says that it takes something away
	named      bool // or names files to programs that may
	late       bool // and programs in it may, which is known when they start
	needs      []policy.Access
}

// choose returns the way, and what is said of it.
func (k *keeper) choose(env *tool.Env) (by string, m keepMeta) {
	switch {
	case k.try:
		return "", m
	case k.track:
		return byWalk, m
	case env.Policy.Undo().Commands != policy.UndoAll || onlyReads(k.needs):
		if k.told || k.named || k.late && k.confined {
			return byLinks, m
		}
		return "", m
	case !k.ends || k.publishes:
		return k.otherwise("jobs, terminals and what publishes a port run in the workspace itself")
	}
	if why := k.noView(env); why != "" {
		return k.otherwise(why)
	}
	return byView, keepMeta{By: byView}
}

// otherwise is the next best way where there is no view.
func (k *keeper) otherwise(why string) (by string, m keepMeta) {
	switch {
	case k.told:
		by = byLinks
	case k.ends:
		by = byWalk
	default:
		by = byNothing
	}
	return by, keepMeta{by, why}
}

// noView says why a command cannot run in a view of the root; "" where nothing speaks
// against it.
func (k *keeper) noView(env *tool.Env) string {
	switch {
	case !k.confined || env.Policy.Level() < int(sandbox.L3):
		return fmt.Sprintf("it takes the sandbox's level %s, and this is %s", sandbox.L3, env.Policy.Wall())
	case env.Session.InsideRoot():
		return overlay.ErrInside.Error()
	case !env.History.Renames():
		return "the state directory is not on the workspace's file system"
	}
	return ""
}

// lift takes from a transaction the danger that its code deletes something: undo brings
// that back. It reports whether there was one.
func (k *keeper) lift(env *tool.Env) (lifted bool) {
	if by, _ := k.choose(env); by != byView || !env.Policy.Holds() {
		return false
	}
	for i := range k.needs {
		if a := &k.needs[i]; a.Kind == policy.Exec && programs.CodeLoses(a.Danger) {
			a.Danger, lifted = "", true
		}
	}
	return lifted
}

// onlyReads reports whether a command is known to change nothing.
func onlyReads(needs []policy.Access) bool {
	return !slices.ContainsFunc(needs, func(a policy.Access) bool {
		return a.Kind == policy.Write || a.Kind == policy.Exec && a.Class != policy.ReadOnly
	})
}
