//go:build linux && (amd64 || arm64)

package killtree

import (
	"github.com/agentkit-go/agentkit/pkg/fork"
	"golang.org/x/sys/unix"
)

// takeOver goes on in the place of a forked init: what descends from that
// descends from us.
func takeOver(group, task string) int {
	t, ok := fork.ReadTask(task)
	if !ok {
		return 125
	}
	// The start of a program undid it.
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	unix.CloseOnExec(fork.LinkFd)
	p := &init1{order: order{method: Subreaper}, link: fork.LinkFd, head: t.Head}
	p.tell = p.tellForked
	if group != "" {
		p.method, p.group = Cgroup, &cgroup{path: group, fd: -1}
		defer p.group.remove()
	}
	p.ended.Store(t.Ended)
	go func() {
		p.do(t.What, t.Signal)
		p.listen()
	}()
	p.reap()
	return 0
}

// tellForked tells of the command as a forked init does.
func (p *init1) tellForked(r record) {
	m := fork.Record{Kind: r.kind, Left: r.left, Status: int32(r.n), User: r.user, System: r.system, MaxRSS: r.rss}
	_, _ = unix.Write(int(p.link), m.Bytes())
}
