package cmd

import (
	"bytes"
	"fmt"
	"runtime"
	"runtime/debug"
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
			a.print(fmt.Sprintf("agentkit %s %s/%s %s\n", version(), runtime.GOOS, runtime.GOARCH, runtime.Version()))
			return nil
		},
	}
}

// version is the module's version, or the commit it was built from.
func version() string {
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
	return &cobra.Command{
		Use:   "gc",
		Short: "remove what sessions have left behind",
		Long: strings.TrimSpace(`
Removes spill and cache files of more than 7 days, sessions that were idle for
30 days, and the oldest of the rest while all state takes more than 4 GiB.
Sessions in use and running jobs are left alone. Calls do the same now and
then by themselves. With --dry-run nothing is removed.`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.check(); err != nil {
				return err
			}
			state, err := a.stateDir()
			if err != nil {
				return err
			}
			report, err := session.Collect(c.Context(), session.CollectOptions{State: state, Now: time.Now(), DryRun: a.DryRun})
			report.Removed = append([]session.Removal{}, report.Removed...)
			r := &tool.Result{Title: fmt.Sprintf("%d removed", len(report.Removed)), Metadata: report}
			var out strings.Builder
			for _, gone := range report.Removed {
				fmt.Fprintf(&out, "%s (%s, %d bytes)\n", gone.Path, gone.Why, gone.Bytes)
			}
			fmt.Fprintf(&out, "%d bytes freed, %d kept, %d sessions, %d in use\n", report.Freed, report.Kept, report.Sessions, report.InUse)
			r.Output = out.String()
			if err != nil {
				r.Error = tool.AsError(err)
			}
			a.emit(r)
			return nil
		},
	}
}
