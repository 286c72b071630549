package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/remote"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A gcCall is what gc is told.
type gcCall struct {
	Free int64 `json:"free"` // bytes
}

func (a *app) gcCommand() *cobra.Command {
	var free string
	c := &cobra.Command{
		Use:   "gc",
		Short: "remove what sessions have left behind",
		Long: strings.TrimSpace(`
Removes spill and cache files of more than 7 days, sessions that were idle for
30 days, and the oldest of the rest while all state takes more than 4 GiB. With
--free 500M so much goes now, of whatever age: spill files, which hold what did
not fit into results, cache files, and finished jobs, the oldest first; what
undo and log need stays. Of sessions in use and of those with running jobs only
spill files go that nobody writes any more. Calls do the same now and then by
themselves, and keep such files for ten minutes while the disk is nearly full.
With --on it does so at another place, and removes the programs that calls have
brought there, too. With --dry-run nothing is removed.`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.check(); err != nil {
				return err
			}
			bytes, err := size(free)
			if err != nil {
				return err
			}
			result, err := a.collectAt(c.Context(), &gcCall{bytes})
			if err != nil {
				return err
			}
			a.emit(result)
			return nil
		},
	}
	c.Flags().StringVar(&free, "free", "", "free `SIZE` bytes now, as 500M or 2G")
	return c
}

// collectAt collects at the place of --on, or here.
func (a *app) collectAt(ctx context.Context, g *gcCall) (*tool.Result, error) {
	if a.On == "" {
		return a.collect(ctx, g)
	}
	a.alone = true // else the program was there again, for the calls that follow
	there, err := a.reach(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer there.Close()
	args, err := json.Marshal(g)
	if err != nil {
		return nil, err
	}
	if state := a.shared(); state != "" && !a.DryRun {
		remote.Forget(filepath.Join(state, "kept")) // whose programs go
	}
	return there.call(ctx, tool.Peer{}, "/"+gcName, args), nil
}

const gcName = "gc"

// collect is gc on this machine.
func (a *app) collect(ctx context.Context, g *gcCall) (*tool.Result, error) {
	state, err := a.stateDir()
	if err != nil {
		return nil, err
	}
	report, err := session.Collect(ctx, session.CollectOptions{State: state, Now: time.Now(), Free: g.Free, DryRun: a.DryRun})
	report.Removed = append([]session.Removal{}, report.Removed...)
	if a.carried != nil {
		gone, problem := remote.DropPrograms(state, a.DryRun)
		for _, one := range gone {
			report.Removed = append(report.Removed, session.Removal{Path: one.Path, Bytes: one.Bytes, Why: "carried"})
			report.Freed += one.Bytes
		}
		err = errors.Join(err, problem)
	}
	r := &tool.Result{Title: fmt.Sprintf("%d removed", len(report.Removed)), Metadata: report}
	var out strings.Builder
	for _, gone := range report.Removed {
		fmt.Fprintf(&out, "%s (%s, %d bytes)\n", gone.Path, gone.Why, gone.Bytes)
	}
	fmt.Fprintf(&out, "%d bytes freed, %d kept, %d sessions, %d in use\n", report.Freed, report.Kept, report.Sessions, report.InUse)
	if report.Freed < g.Free {
		out.WriteString("there is no more that may go: the rest are records and contents for undo and log, and what is in use\n")
	}
	r.Output = out.String()
	if err != nil {
		r.Error = tool.AsError(err)
	}
	return r, nil
}

// size reads a number of bytes: with K, M, G or T behind it in units of 1024.
func size(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	digits := strings.TrimRight(strings.ToUpper(text), "IB")
	unit := strings.Index("KMGT", digits[max(0, len(digits)-1):])
	if unit >= 0 && digits != "" {
		digits = digits[:len(digits)-1]
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n<<(10*(unit+1))>>(10*(unit+1)) != n {
		return 0, tool.Errorf(tool.BadInput, "%q is no number of bytes", text).WithHint("write it as 500M or 2G")
	}
	return n << (10 * (unit + 1)), nil
}
