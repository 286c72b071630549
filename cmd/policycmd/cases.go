package policycmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A testCase is a line of a cases file: a call, and what it should get.
type testCase struct {
	checkRequest
	Bash string         `json:"bash"` // short for a call of bash
	Want policy.Verdict `json:"want"`
}

func (h Host) testCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "test FILE...",
		Short: "check policy files with the tests in them, and files of cases",
		Long: strings.TrimSpace(`
A policy file is loaded with its tests. A file ending in .jsonl holds one case a
line, {"tool": TOOL, "arguments": {...}, "want": "allow"} or {"bash": COMMAND,
"want": "deny"}, which are decided by the policy in force. The exit status is 1
when a test fails.`),
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			env, err := h.Env(c.Context())
			if err != nil {
				return err
			}
			var failed []string
			tests := 0
			for _, name := range args {
				n, wrong, err := h.testFile(c, env, name)
				if err != nil {
					return err
				}
				tests, failed = tests+n, append(failed, wrong...)
			}
			out := strings.Join(failed, "\n")
			if out == "" {
				out = "all as expected"
			}
			h.Emit(&tool.Result{
				Title: fmt.Sprintf("%d of %d failed", len(failed), tests), Output: out + "\n", No: len(failed) > 0,
				Metadata: map[string]any{"tests": tests, "failed": len(failed), "failures": append([]string{}, failed...)},
			})
			return nil
		},
	}
}

// testFile checks one file; wrong names what is not as it should be.
func (h Host) testFile(c *cobra.Command, env *tool.Env, name string) (tests int, wrong []string, err error) {
	if name, err = filepath.Abs(name); err != nil {
		return 0, nil, err
	}
	switch info, err := os.Stat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil, tool.Errorf(tool.NotFound, "there is no file %s", name).
			WithHint("check the path; agentkit doctor says which files are in force, and agentkit policy init writes one")
	case err != nil:
		return 0, nil, err
	case info.IsDir():
		return 0, nil, tool.Errorf(tool.BadInput, "%s is a directory", name).WithHint("name the files: %s", filepath.Join(name, "policy.yaml"))
	}
	if !strings.HasSuffix(name, ".jsonl") {
		if err := policy.CheckFile(name, policy.CommandLine, env.Sources); err != nil {
			return 1, strings.Split(err.Error(), "\n"), nil
		}
		return 1, nil, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return 0, nil, err
	}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var one testCase
		if err := json.Unmarshal(line, &one); err != nil {
			return tests, wrong, tool.Errorf(tool.BadInput, "%s:%d: %w", name, n, err).WithHint(`a case is {"bash": COMMAND, "want": "allow"}`)
		}
		if one.Bash != "" {
			one.Tool = "bash"
			one.Arguments, _ = json.Marshal(map[string]string{"command": one.Bash})
		}
		raw, _ := json.Marshal(one.checkRequest)
		tests++
		if got := h.checkLine(c, env, raw); got.Decision != one.Want {
			wrong = append(wrong, fmt.Sprintf("%s:%d: %s: want %s, got %s%s", name, n, one.subject(), one.Want, got.Decision, because(got)))
		}
	}
	return tests, wrong, nil
}

// subject is the call of a case, short and on one line.
func (t *testCase) subject() string {
	text := t.Bash
	if text == "" {
		text = t.Tool + " " + string(t.Arguments)
	}
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > 80 {
		return string(runes[:79]) + "…"
	}
	return text
}

// because is what decided an answer: an access and its rule, or the error.
func because(got checkAnswer) string {
	if got.Error != nil {
		return " (" + got.Error.Message + ")"
	}
	for _, a := range got.Accesses {
		if a.Decision == got.Decision && a.Decision != policy.Allow {
			return fmt.Sprintf(" (%s %s: %s, %s)", a.Kind, a.Subject, a.Why, a.Rule)
		}
	}
	return ""
}
