package dialect

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// anthropic is the tools that Anthropic's API declares by their type: models know them
// without a schema.
func anthropic() *Dialect {
	return &Dialect{
		Name: "anthropic", Of: "Anthropic's API: bash and text_editor",
		Tools: []Tool{
			{
				Name: "bash", Also: "bash_20250124 bash_20241022", To: "bash", Told: "Runs a command line in a shell whose directory stays.",
				Params: []Param{
					{Name: "command", To: "command", Usage: "the command line"},
					{Name: "restart", Usage: "begin anew at the root", Kind: Truth},
					cwd(),
				},
				Const: Args{"keep_workdir": true},
				Map: func(c *Call) error {
					if c.truth("restart") {
						c.Out["command"], c.Out["workdir"] = "true", "."
						return nil
					}
					return onceIn(c)
				},
				Show: func(v *View) string {
					if v.truth("restart") && v.Error == nil {
						return "tool has been restarted."
					}
					return claudeBash(v)
				},
				Room:   claudeRoom,
				Native: map[string]any{"type": "bash_20250124", "name": "bash"}, Format: "anthropic", Differs: "the directory is kept from call to call, variables and functions are not",
			},
			{
				Name: "str_replace_based_edit_tool", Also: "text_editor_20250728 text_editor_20250429 str_replace_editor text_editor_20250124 text_editor_20241022 text_editor",
				To: "read", Told: "Shows, creates and changes files.",
				Params: []Param{
					{Name: "command", Usage: "what to do", Must: true, Enum: "view create str_replace insert"},
					{Name: "path", To: "path", Usage: "the file or directory", Kind: Path, Must: true},
					{Name: "view_range", Usage: "of view: the first line and the last, -1 for the end", Kind: JSON, Schema: ints()},
					{Name: "file_text", Usage: "of create: the whole content"},
					{Name: "old_str", Usage: "of str_replace: the text to replace"},
					{Name: "new_str", Usage: "of str_replace: the text to put in its place; left out, nothing"},
					{Name: "insert_line", Usage: "of insert: the line behind which the text goes, 0 for the beginning", Kind: Whole, Least: 0, Most: 1 << 31},
					{Name: "insert_text", Usage: "of insert: the text"},
				},
				Map: editorCommand, Show: editorText,
				Native: map[string]any{"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"}, Format: "anthropic",
				Differs: "str_replace finds text whose blanks differ a little; undo_edit is not there, as in the newest version",
			},
		},
	}
}

// editorCommand sends each command of the text editor to the tool that does it.
func editorCommand(c *Call) error {
	path := c.text("path")
	needs := func(names ...string) error {
		for _, name := range names {
			if !c.given[name] {
				return tool.Errorf(tool.BadInput, "%s is required for the command %s", name, c.text("command")).WithHint("give it, and call again")
			}
		}
		return nil
	}
	switch c.text("command") {
	case "view":
		c.Out["number_style"] = "colon"
		return lineRange(c)
	case "create":
		c.To, c.Out = "write", Args{"path": path, "content": c.text("file_text")}
		return needs("file_text")
	case "str_replace":
		c.To, c.Out = "edit", Args{"path": path, "old_string": c.text("old_str"), "new_string": c.text("new_str")}
		return needs("old_str")
	}
	text, at := c.text("insert_text"), c.number("insert_line")
	if !c.given["insert_text"] {
		text = c.text("new_str") // as older versions have it
	}
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	patch := fmt.Sprintf("--- %s\n+++ %s\n@@ -%d,0 +%d,%d @@\n+%s\n", path, path, at, at+1, len(lines), strings.Join(lines, "+"))
	c.To, c.Out = "patch", Args{"patch": patch, "strip": 0}
	return needs("insert_line")
}

// lineRange reads the lines that view_range names.
func lineRange(c *Call) error {
	raw, ok := c.In["view_range"].(json.RawMessage)
	if !ok {
		return nil
	}
	var span []int
	if json.Unmarshal(raw, &span) != nil || len(span) != 2 || span[0] < 1 || span[1] < span[0] && span[1] != -1 {
		return tool.Errorf(tool.BadInput, "view_range: want the first line and the last, got %s", raw).WithHint("send [10, 20], or [10, -1] for all from line 10 on")
	}
	if c.Out["offset"] = span[0]; span[1] != -1 {
		c.Out["limit"] = span[1] - span[0] + 1
	}
	return nil
}

func editorText(v *View) string {
	if v.Error != nil {
		return "Error: " + v.wrong()
	}
	path := v.text("path")
	switch v.To {
	case "write":
		return "File created successfully at: " + path
	case "edit":
		return "The file " + path + " has been edited successfully."
	case "patch":
		return fmt.Sprintf("The text has been inserted into %s behind line %d.", path, v.number("insert_line"))
	}
	return v.whole()
}

// openai is the tools that OpenAI's Responses API has calls of their own for.
func openai() *Dialect {
	native := func(kind string) map[string]any { return map[string]any{"type": kind} }
	return &Dialect{
		Name: "openai", Of: "OpenAI's Responses API: shell, local_shell and apply_patch", Loose: true,
		Tools: []Tool{
			{
				Name: "shell", Also: "shell_call", To: "bash", Told: "Runs command lines in a shell.",
				Params: []Param{
					{Name: "commands", Usage: "the command lines", Kind: Texts, Must: true},
					{Name: "timeout_ms", To: "timeout_ms", Usage: "time limit in milliseconds", Kind: Whole, Least: 1, Most: 1 << 40},
					{Name: "max_output_length", Usage: "most characters of output", Kind: Whole},
				},
				Const: Args{"split": true},
				Map:   func(c *Call) error { c.Out["command"] = strings.Join(c.texts("commands"), "\n"); return nil },
				Show:  shellOutcome, Room: codexRetained, Native: native("shell"), Format: "openai-responses",
				Differs: "several commands run one after the other in one shell, and make one answer",
			},
			{
				Name: "local_shell", Also: "local_shell_call", To: "bash", Told: "Runs a program with its arguments.",
				Params: []Param{
					{Name: "command", To: "argv", Usage: "the program and its arguments", Kind: Texts, Must: true},
					{Name: "working_directory", To: "workdir", Usage: "where it runs", Kind: Path},
					{Name: "env", To: "env", Usage: "variables to set", Kind: JSON, Schema: object()},
					{Name: "timeout_ms", To: "timeout_ms", Usage: "time limit in milliseconds", Kind: Whole, Least: 1, Most: 1 << 40},
					{Name: "user", Usage: "as whom; it is always run as the user of agentkit"},
				},
				Const: Args{"split": true}, Map: codexArgv, Show: codexShell, Room: codexRetained, Native: native("local_shell"), Format: "openai-responses",
			},
			{
				Name: "apply_patch", Also: "apply_patch_call", To: "patch", Told: "Creates, changes or deletes a file.",
				Params: []Param{
					{Name: "type", Usage: "what to do", Must: true, Enum: "create_file update_file delete_file"},
					{Name: "path", Usage: "the file", Must: true, Kind: Path},
					{Name: "diff", Usage: "the lines of the new file, each behind a +, or the hunks"},
					{Name: "move_to", Usage: "its new name", Kind: Path},
				},
				Map: operation, Native: native("apply_patch"), Format: "openai-responses",
				Show: func(v *View) string {
					if v.Error != nil {
						return v.Output + operationWords(v.Error.Words())
					}
					return strings.TrimSuffix(v.changes(), "\n")
				},
			},
		},
	}
}

// operation makes a patch of an operation on one file.
func operation(c *Call) error {
	head := map[string]string{"create_file": "Add", "update_file": "Update", "delete_file": "Delete"}[c.text("type")]
	patch := "*** Begin Patch\n*** " + head + " File: " + c.text("path") + "\n"
	if to := c.text("move_to"); to != "" {
		patch += "*** Move to: " + to + "\n"
	}
	if diff := c.text("diff"); diff != "" && head != "Delete" {
		patch += strings.TrimSuffix(diff, "\n") + "\n"
	}
	c.Out["patch"] = patch + "*** End Patch\n"
	return nil
}

// operationWords are what is said of a patch, for a model that gives the operation and the
// file beside it.
func operationWords(said string) string {
	said = strings.ReplaceAll(said, "*** Add File", "create_file")
	if before, _, ok := strings.Cut(said, "a patch is *** Begin Patch"); ok {
		return before + "diff holds hunks that begin with @@ and whose lines begin with a blank, - or +; of create_file each line begins with +\n"
	}
	return said
}

// A shellResult is what the Responses API wants to know of a command.
type shellResult struct {
	Stdout  string         `json:"stdout"`
	Stderr  string         `json:"stderr"`
	Outcome map[string]any `json:"outcome"`
}

// shellAnswer is a shellResult where no command was run.
func shellAnswer(text string, failed bool) shellResult {
	if failed {
		return shellResult{Stderr: text, Outcome: map[string]any{"type": "exit", "exit_code": 1}}
	}
	return shellResult{Stdout: text, Outcome: map[string]any{"type": "exit", "exit_code": 0}}
}

func shellOutcome(v *View) string {
	var out shellResult
	switch text, status := v.printed(); v.Meta.Status {
	case "":
		out = shellAnswer(text, v.Error != nil)
	case "timed_out":
		out.Stdout, out.Stderr = v.streams()
		out.Outcome = map[string]any{"type": "timeout"}
	default:
		out.Stdout, out.Stderr = v.streams()
		out.Outcome = map[string]any{"type": "exit", "exit_code": status}
	}
	if most := v.number("max_output_length"); most > 0 {
		out.Stdout, _ = middle(out.Stdout, most/4)
		out.Stderr, _ = middle(out.Stderr, most/4)
	}
	raw, _ := tool.Encode([]shellResult{out})
	return string(raw)
}
