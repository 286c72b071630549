package cmd

import (
	"bytes"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			a.printVersion()
			return nil
		},
	}
}

// printVersion prints it as a line, or as a result where that is asked for.
func (a *app) printVersion() {
	if a.Output == "json" || a.Output == "events" {
		a.emit(&tool.Result{
			Title: "version", Output: version(),
			Metadata: map[string]any{"version": build(), "os": runtime.GOOS, "arch": runtime.GOARCH, "go": runtime.Version()},
		})
		return
	}
	a.print(version())
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
Prints a script that completes commands, flags and values. Where each shell looks for it,
from its next start on:

    agentkit completion bash >~/.local/share/bash-completion/completions/agentkit
    agentkit completion zsh >"${fpath[1]}/_agentkit"        # in zsh, with compinit in ~/.zshrc
    agentkit completion fish >~/.config/fish/completions/agentkit.fish
    agentkit completion powershell | Out-String | Invoke-Expression   # a line of $PROFILE`),
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
