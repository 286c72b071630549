package killtree

import (
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/agentkit-go/agentkit/pkg/fork"
)

// A line is what a tree has of its stage, started or forked: the link to it,
// and how far it is.
type line struct {
	link  *os.File
	ended atomic.Bool
	left  atomic.Bool   // something else ran when the command ended
	gone  chan struct{} // closed when the stage has ended
	mu    sync.Mutex    // orders messages to the stage
}

// close lets go of the link when the stage has ended.
func (l *line) close() {
	<-l.gone
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.link.Close()
}

// lost is how the command ended when the stage was killed: with it, and with all
// that the stage held together by method m.
func (l *line) lost(m string) *State {
	<-l.gone
	if !namespaces(m) {
		sweep()
	}
	l.ended.Store(true)
	l.close()
	return &State{ExitCode: -1, Signal: syscall.SIGKILL}
}

// finished notes that the command has ended. A stage that has nothing left to
// do ends by itself.
func (l *line) finished(left bool) {
	l.left.Store(left)
	l.ended.Store(true)
	go l.close()
}

func (l *line) collected() <-chan struct{} { return l.gone }

// notice passes on that the command was stopped.
func (t *Tree) notice(s syscall.Signal) {
	select {
	case t.stopped <- s:
	default:
	}
}

func (l *line) alive(bool) bool {
	if l.ended.Load() && !l.left.Load() {
		return false
	}
	select {
	case <-l.gone:
		return false
	default:
		return true
	}
}

func (l *line) tell(what byte, n syscall.Signal) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.link.Write([]byte{what, byte(n)})
	return err
}

func (l *line) signal(n syscall.Signal, all bool) {
	what := byte(fork.SignalGroup)
	if all {
		what = fork.SignalAll
	}
	_ = l.tell(what, n)
}

// killed has the stage kill everything, and reports whether that was so within
// half a second: then it could still say how the command ended.
func (l *line) killed() bool {
	if l.tell(fork.KillAll, 0) != nil {
		return false
	}
	select {
	case <-l.gone:
		return true
	case <-time.After(500 * time.Millisecond):
		return false
	}
}
