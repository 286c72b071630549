package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/agentkit-go/agentkit/pkg/gate"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/steps"
	"github.com/agentkit-go/agentkit/pkg/wall"
)

// A cloning is a call that has git fill directories of the root with what another host has.
// What the policy protects of that stays as it is when the first program starts that could
// have made it otherwise. A nil one is every other call.
type cloning struct {
	dirs     []string        // not there before, or empty
	harmless map[string]bool // programs in the text that cannot make it, see gate.Key
	more     bool            // there are others

	mu   sync.Mutex
	seen bool   // starts of programs are told
	over bool   // one has started that could have made it
	note func() // notes what is there; nil before the command
}

// newCloning returns nil where the shell itself may write into the directories, or nothing is
// cloned. Argv is how the call starts.
func newCloning(needs []policy.Access, argv []string, root string) *cloning {
	c := &cloning{harmless: map[string]bool{strings.Join(argv, "\x00"): true}}
	reaches := map[int]bool{} // whose source is on another host
	for i := range needs {
		if a := &needs[i]; a.Address() != "" {
			reaches[a.Parent] = true
		}
	}
	var written []*policy.Access
	for i := range needs {
		a := &needs[i]
		var by *policy.Access
		if a.Parent > 0 {
			by = &needs[a.Parent-1]
		}
		switch {
		case a.Kind == policy.Env, a.Opaque != "" && (a.Kind == policy.Write || a.Builtin || a.Kind == policy.Exec && a.Program == "" || a.Kind != policy.Exec && (by == nil || by.Builtin)):
			return nil
		case a.Kind == policy.Exec && a.Builtin:
		case a.Kind == policy.Exec:
			if a.Opaque == "" && (a.Class == policy.ReadOnly || clones(a) || makesDir(a)) {
				c.harmless[gate.Key(a.Program, a.Argv)] = true
			} else {
				c.more = true
			}
		case a.Kind != policy.Write, by != nil && makesDir(by):
		case by != nil && clones(by) && reaches[a.Parent] && safefile.Below(root, a.Path) && (a.File == policy.Missing || safefile.Empty(os.ReadDir(a.Path))):
			c.dirs = append(c.dirs, a.Path)
		default:
			written = append(written, a)
		}
	}
	if len(c.dirs) == 0 || slices.ContainsFunc(written, func(a *policy.Access) bool {
		return slices.ContainsFunc(c.dirs, func(dir string) bool { return safefile.Below(dir, a.Path) || a.Tree && safefile.Below(a.Path, dir) })
	}) {
		return nil
	}
	return c
}

// clones reports whether a program is git clone, of which all that it does is known. One with a reference
// takes from that what the host does not send, and git looks at no content again.
func clones(a *policy.Access) bool {
	return a.Opaque == "" && own(a, "git") && len(a.Argv) > 1 && a.Argv[1] == "clone" &&
		!slices.ContainsFunc(a.Argv, func(word string) bool { return strings.HasPrefix(word, "--ref") })
}

func makesDir(a *policy.Access) bool { return a.Opaque == "" && own(a, "mkdir") }

// own reports whether a program is the system's own of that name.
func own(a *policy.Access, name string) bool {
	return a.Kind == policy.Exec && steps.Name(a) == name && steps.OfSystem(a)
}

// others reports whether programs start that could have made what is cloned.
func (c *cloning) others() bool { return c != nil && c.more }

// begin is called before the command starts.
func (c *cloning) begin(p *policy.Policy, w *wall.Wall) {
	if c == nil || !c.more {
		return
	}
	start := w.Start()
	start.Cloned = c.dirs
	c.note = func() { wall.Since(p, start, w.Alone) }
}

// starts is called before a program starts.
func (c *cloning) starts(e *sandbox.Exec) {
	if c == nil || c.note == nil || e.Host != "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = true
	if !c.over && !c.harmless[gate.Key(e.Path, e.Argv)] && !c.harmless[strings.Join(e.Argv, "\x00")] && !transfers(e) {
		c.over = true
		c.note()
	}
}

// transfers reports whether git has started a program of its own that fetches, which writes
// nothing but objects then, or ssh.
func transfers(e *sandbox.Exec) bool {
	above := e.Parents()
	if len(above) == 0 || len(e.Argv) < 2 {
		return false
	}
	by, err := os.Readlink("/proc/" + strconv.Itoa(above[0]) + "/exe")
	switch name := filepath.Base(e.Path); {
	case err != nil || !ofGit(by):
		return false
	case name == "git":
		return ofGit(e.Path) && programs.Has("remote-http remote-https index-pack unpack-objects fetch-pack rev-list", e.Argv[1])
	case name == "ssh":
		return slices.Contains(policy.TrustedDirs(), filepath.Dir(e.Path))
	}
	return ofGit(e.Path)
}

// ofGit reports whether a program is git, or what it reaches hosts by.
func ofGit(path string) bool {
	dir := filepath.Dir(path)
	return programs.Has("git git-remote-http git-remote-https", filepath.Base(path)) &&
		(dir == "/usr/lib/git-core" || dir == "/usr/libexec/git-core" || slices.Contains(policy.TrustedDirs(), dir))
}

// left lists the directories of which what is there at the end was cloned: before the command
// starts those of a call that starts nothing else.
func (c *cloning) left() []string {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over || c.more && !c.seen {
		return nil
	}
	return c.dirs
}
