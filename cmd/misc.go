package cmd

import (
	"bytes"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			a.print(version())
			return nil
		},
	}
}

// version is the line that says what this is.
func version() string {
	return fmt.Sprintf("agentkit %s %s/%s %s\n", build(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// build is the module's version, or the commit it was built from.
func build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return "devel"
}

func (a *app) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "print the completion script of a shell",
		Long: strings.TrimSpace(`
Prints a script that completes commands, flags and values. For bash:

    agentkit completion bash >~/.local/share/bash-completion/completions/agentkit`),
		ValidArgs: shells,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		RunE: func(c *cobra.Command, args []string) error {
			var b bytes.Buffer
			var err error
			switch root := c.Root(); args[0] {
			case "bash":
				err = root.GenBashCompletionV2(&b, true)
			case "zsh":
				err = root.GenZshCompletion(&b)
			case "fish":
				err = root.GenFishCompletion(&b, true)
			case "powershell":
				err = root.GenPowerShellCompletionWithDesc(&b)
			}
			if err != nil {
				return err
			}
			a.print(b.String())
			return nil
		},
	}
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
With --dry-run nothing is removed.`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.check(); err != nil {
				return err
			}
			bytes, err := size(free)
			if err != nil {
				return err
			}
			state, err := a.stateDir()
			if err != nil {
				return err
			}
			report, err := session.Collect(c.Context(), session.CollectOptions{State: state, Now: time.Now(), Free: bytes, DryRun: a.DryRun})
			report.Removed = append([]session.Removal{}, report.Removed...)
			r := &tool.Result{Title: fmt.Sprintf("%d removed", len(report.Removed)), Metadata: report}
			var out strings.Builder
			for _, gone := range report.Removed {
				fmt.Fprintf(&out, "%s (%s, %d bytes)\n", gone.Path, gone.Why, gone.Bytes)
			}
			fmt.Fprintf(&out, "%d bytes freed, %d kept, %d sessions, %d in use\n", report.Freed, report.Kept, report.Sessions, report.InUse)
			if report.Freed < bytes {
				out.WriteString("there is no more that may go: the rest are records and contents for undo and log, and what is in use\n")
			}
			r.Output = out.String()
			if err != nil {
				r.Error = tool.AsError(err)
			}
			a.emit(r)
			return nil
		},
	}
	c.Flags().StringVar(&free, "free", "", "free `SIZE` bytes now, as 500M or 2G")
	return c
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
