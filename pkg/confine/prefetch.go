package confine

import (
	"slices"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/wall"
)

// A Prefetch is what a command's sandbox depends on in the root and on the machine.
// It is looked for while the command's text is read, and once for the decision
// and the sandbox. Nothing is changed by it.
type Prefetch struct {
	begun  time.Time
	moving bool // a call that moves what is looked for runs beside
	home   string
	Wall   func() *wall.Wall // what the policy keeps from commands
	caches func() []toolCache
}

// maxPrefetch is the age up to which a sandbox is made of it. A call that waited for
// a person's answer looks again: the root may be another by then.
const maxPrefetch = 100 * time.Millisecond

// Old reports whether no sandbox is made of it any more.
func (p *Prefetch) Old() bool { return time.Since(p.begun) > maxPrefetch }

// NewPrefetch returns nil where no sandbox of ours confines commands.
func NewPrefetch(env *tool.Env) *Prefetch {
	if !env.Policy.Confines() || env.Policy.Level() < int(sandbox.L2) {
		return nil
	}
	o := wall.Options{
		Policy: env.Policy, Root: env.Workspace.Root(), Mounts: env.Policy.Level() >= int(sandbox.L3),
		Cache: wall.Dir(env.Session.StateDir()), Committed: env.Sources.Committed, After: env.After, Moved: env.Git, Temp: env.Temp,
	}
	if !o.Mounts {
		o.Temp = append(slices.Clone(o.Temp), "/dev/shm") // with mounts a command has one of its own
	}
	p := &Prefetch{begun: time.Now(), moving: moving(env), home: machine.RealDir(env.Getenv("HOME"))}
	p.Wall = sync.OnceValue(func() *wall.Wall { return wall.Compile(o) })
	p.caches = sync.OnceValue(func() []toolCache {
		return findCaches(env, p.home, append(slices.Clone(env.Temp), o.Root))
	})
	return p
}

// Start begins to look; p may be nil.
func (p *Prefetch) Start() {
	if p != nil {
		go p.Wall()
		go p.caches()
	}
}

// hidden lists the files in the root that the sandbox of a command hides from
// it; none where it hides none.
func (p *Prefetch) hidden(env *tool.Env) []string {
	if p == nil || env.Policy.Level() < int(sandbox.L3) {
		return nil
	}
	return p.Wall().Hidden
}

// Hides reports whether the sandbox keeps a file from commands.
func (p *Prefetch) Hides(env *tool.Env, path string) bool {
	return slices.ContainsFunc(p.hidden(env), func(h string) bool { return safefile.Below(h, path) })
}
