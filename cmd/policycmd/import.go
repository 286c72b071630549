package policycmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

func (h Host) importCommand() *cobra.Command {
	var from string
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "print another agent's permission settings as a policy",
		Long: strings.TrimSpace(`
Reads Claude Code's settings.json, OpenCode's opencode.json, Codex's config.toml or
a file of its rules, and prints a policy that never allows what these do not. Comments say what
could not be said exactly, and what became of it. Nothing is written: read it,
and put it where you want it, as with
agentkit policy import .claude/settings.json -o text > policy.yaml`),
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			data, err := os.ReadFile(name)
			if err != nil {
				return tool.Errorf(tool.NotFound, "reading the settings: %w", err).WithHint("name a settings.json, an opencode.json, a config.toml or a file of rules")
			}
			out, err := policy.Import(name, data, from, h.Tools.Names())
			if err != nil {
				return tool.Errorf(tool.BadInput, "%w", err).WithHint("say whose settings these are with --from claude, opencode or codex")
			}
			h.Emit(&tool.Result{
				Title: fmt.Sprintf("%d rules from %s, %d notes", out.Rules, out.From, len(out.Notes)), Output: out.Text, Trimmed: true,
				Metadata: map[string]any{"from": out.From, "rules": out.Rules, "notes": append([]string{}, out.Notes...)},
			})
			return nil
		},
	}
	c.Flags().StringVar(&from, "from", "", "whose settings they are: claude, opencode or codex (default: found out)")
	return c
}
