package run

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A file that is emptied under a name that nobody knew, by the shell's > or by a program that opens it for writing, or that
// another file takes the place of, is kept right before, where it is nowhere else.

// emptied has such a file kept by add, unless has says that it is, and says what is not kept, and why. Who else empties it
// meanwhile waits.
func (l *late) emptied(e *sandbox.Exec, has func() (kept, other bool), add func([]change.Doomed)) (lacks string) {
	m, path := &l.emptying, e.Emptied
	m.Lock()
	defer m.Unlock()
	if m.seen == nil {
		m.seen, m.left = map[[2]uint64]bool{}, min(maxNamedBytes, l.o.MaxBytes/4)
	}
	if m.seen[e.Inode] || l.made(path) {
		return ""
	}
	m.seen[e.Inode] = true
	rel, _ := safefile.Rel(l.env.Workspace.Root(), path)
	switch kept, other := has(); {
	case kept && other:
		return fmt.Sprintf("not what was called %s by then, as what had that name before is kept", tool.VisibleName(filepath.ToSlash(rel)))
	case kept:
		return ""
	}
	names := l.nowhereElse(l.repository(path), []change.Doomed{{Path: path, Written: !e.Replaced}})
	info, err := os.Lstat(path)
	switch {
	case len(names) == 0 || err != nil:
	case e.Replaced:
		add(names)
	case info.Size() <= min(maxNamed, m.left):
		m.left -= info.Size()
		add(names)
	default:
		return fmt.Sprintf("not %s, as of what a program empties no more than %d MiB of a file and %d MiB of a call are copied", tool.VisibleName(filepath.ToSlash(rel)), maxNamed>>20, maxNamedBytes>>20)
	}
	return ""
}
