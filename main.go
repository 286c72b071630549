// Agentkit gives coding agents their tools, one subcommand each.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/agentkit-go/agentkit/cmd"
	"github.com/agentkit-go/agentkit/pkg/gate"
	"github.com/agentkit-go/agentkit/pkg/job"
	"github.com/agentkit-go/agentkit/pkg/lsp"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/script"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

func main() {
	if code, handled := job.Stage(os.Args[1:], sandbox.NewConfiner(cmd.Gate, gate.Found)); handled {
		os.Exit(code) // this process was the stage or the supervisor of a command
	}
	if script.Work(os.Args[1:], os.Stdin, os.Stdout) {
		return // it ran a script, and did what it was told
	}
	if lsp.Work(os.Args[1:], os.Stdin, os.Stdout) {
		return // it kept a language server
	}
	log.SetOutput(io.Discard) // net/http prints with it what servers send, as words of ours
	ctx, listen := interruptible(context.Background())
	time.AfterFunc(brief, listen)
	os.Exit(cmd.Main(ctx, listen, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// brief is how long this process ends by a signal as any program does. To listen for
// signals takes the runtime a thread and some twenty switches to it, a third of a
// millisecond, which calls that change nothing are mostly done without.
const brief = 10 * time.Millisecond

// interruptible returns a context that the first signal to end cancels, once listen
// was called; its cause says which one it was. The second one has a command killed
// that takes its time to end; the third ends this process at once. A signal that whoever
// started this process has it ignore ends nothing.
func interruptible(ctx context.Context) (_ context.Context, listen func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, sync.OnceFunc(func() {
		ends := make(chan os.Signal, 1)
		for _, s := range [...]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
			if !signal.Ignored(s) { // else it stays so, as under nohup and behind a shell's &
				signal.Notify(ends, s)
			}
		}
		go func() {
			again := make(chan struct{})
			if s, ok := (<-ends).(syscall.Signal); ok {
				cancel(&tool.Signal{Number: s, Again: again})
			}
			<-ends
			close(again)
			signal.Stop(ends)
		}()
		// A reader that went away shows as a failed write, not as sudden death
		// with half of the work done. Ignoring the signal instead would be
		// inherited by every command we start.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	})
}
