package dialect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// several makes one call of batch of calls of the dialect; what names them by their
// position is for errors.
func (c *Call) several(list []part, where string) error {
	if n := len(list); n == 0 || n > maxCalls {
		return tool.Errorf(tool.BadInput, "%s: want 1 to %d, got %d", where, maxCalls, n).WithHint("make several calls of them")
	}
	calls := []Args{}
	for i, one := range list {
		if one.tool == c.Tool.Name {
			return tool.Errorf(tool.BadInput, "%s[%d]: %s cannot be called in itself", where, i, one.tool).WithHint("make its calls in this one")
		}
		call, err := c.Dialect.Decode(one.tool, one.parameters)
		if err != nil {
			return tool.Errorf(tool.BadInput, "%s[%d]: %w", where, i, err).WithHint("correct it, and call again: nothing was done")
		}
		c.inner = append(c.inner, call)
		calls = append(calls, Args{"name": call.To, "arguments": call.Out})
	}
	c.Out = Args{"calls": calls}
	return nil
}

// maxCalls is how many calls our batch makes at most.
const maxCalls = 100

// A part is the name and the parameters of a call within a call.
type part struct {
	tool       string
	parameters json.RawMessage
}

// each shows the results of the calls within v, and how many of them failed.
func (v *View) each(show func(c *Call, text string)) (failed int) {
	for i, r := range v.Inner[:min(len(v.Inner), len(v.inner))] {
		one := v.inner[i].Show(r, Place{Root: v.Root})
		if one.Error != nil {
			failed++
		}
		show(v.inner[i], strings.TrimSuffix(one.Said(), "\n"))
	}
	return failed
}

// opencodeBatch makes the calls of OpenCode's batch.
func opencodeBatch(c *Call) error {
	var list []part
	for _, one := range c.list("tool_calls") {
		name, _ := one["tool"].(string)
		raw, err := json.Marshal(one["parameters"])
		if err != nil {
			return err
		}
		list = append(list, part{name, raw})
	}
	return c.several(list, "tool_calls")
}

func opencodeBatched(v *View) string {
	if len(v.Inner) == 0 && v.Error != nil {
		return v.Error.Words()
	}
	var b strings.Builder
	n := 0
	failed := v.each(func(c *Call, text string) {
		n++
		fmt.Fprintf(&b, "[%d] %s\n%s\n\n", n, c.Tool.Name, text)
	})
	if failed > 0 {
		fmt.Fprintf(&b, "Executed %d/%d tools successfully. %d failed.", n-failed, n, failed)
	} else {
		fmt.Fprintf(&b, "All %d tools executed successfully.", n)
	}
	return b.String()
}

// geminiMany reads several files. Where one is named by a pattern, or some are left out, a script
// finds them first.
func geminiMany(c *Call) error {
	wanted, without := slices.Concat(c.texts("paths"), c.texts("include")), c.texts("exclude")
	if len(wanted) == 0 {
		return tool.Errorf(tool.BadInput, "paths is required: the files, or patterns of them").WithHint("give paths, such as docs/**/*.md")
	}
	if len(without) > 0 || slices.ContainsFunc(wanted, func(path string) bool { return strings.ContainsAny(path, "*?[{") }) {
		c.To = "script"
		args := []string{strconv.FormatBool(c.truth("respect_git_ignore"))}
		for _, pattern := range without {
			args = append(args, "-"+pattern)
		}
		for _, pattern := range wanted {
			args = append(args, "+"+pattern)
		}
		c.Out = Args{"code": geminiManyScript, "args": args}
		return nil
	}
	var list []part
	for _, path := range wanted {
		raw, _ := tool.Encode(map[string]string{"file_path": path})
		list = append(list, part{"read_file", raw})
	}
	return c.several(list, "paths")
}

// geminiManyScript reads the files of patterns: the first argument says whether .gitignore
// counts; of the others each is a pattern behind a + for those that are wanted or a - for
// those that are left out, which come first. It returns what was read.
const geminiManyScript = `
local seen, files, read, skipped, none = {}, {}, {}, {}, {}
for i = 2, #args do
  local found = tools.glob{pattern = args[i]:sub(2), limit = 100000, sort = "path", ignore = args[1] == "true"}
  if found.error and found.error.code ~= "not_found" then error(found.error.message, 0) end
  local list = found.metadata.files or {}
  if #list == 0 and args[i]:sub(1, 1) == "+" then none[#none + 1] = args[i]:sub(2) .. ": no file" end
  for _, file in ipairs(list) do
    if not seen[file] and args[i]:sub(1, 1) == "+" then files[#files + 1] = file end
    seen[file] = true
  end
end
if #files > 0 then skipped = none end
for i, file in ipairs(files) do
  if i > 100 then
    skipped[#skipped + 1] = (#files - 100) .. " more files: call again with narrower patterns"
    break
  end
  local r = tools.read{path = file, number_style = "none"}
  if r.error then
    skipped[#skipped + 1] = file .. ": " .. r.error.code
  else
    read[#read + 1] = file
    print("--- " .. file .. " ---\n\n" .. r.output:gsub("\n$", "") .. "\n")
  end
end
if #skipped > 0 then print("Skipped " .. #skipped .. ":\n- " .. table.concat(skipped, "\n- ") .. "\n") end
if #read > 0 then return read end`

func geminiContents(v *View) string {
	if v.To == "script" {
		return geminiFound(v)
	}
	if len(v.Inner) == 0 && v.Error != nil {
		return v.Error.Words()
	}
	var b strings.Builder
	v.each(func(c *Call, text string) {
		fmt.Fprintf(&b, "--- %s ---\n\n%s\n\n", v.abs(c.text("file_path")), text)
	})
	return b.String() + "--- End of content ---"
}

// geminiFound shows what the script of geminiMany has read.
func geminiFound(v *View) string {
	if v.Error != nil {
		if v.Error.Hint == "correct the script" { // which nobody has seen
			_ = v.Error.WithHint("correct the pattern, or name the files")
		}
		return v.Error.Words()
	}
	text := v.Output
	for _, file := range v.Meta.names() {
		text = strings.Replace(text, "--- "+file+" ---\n", "--- "+v.abs(file)+" ---\n", 1)
	}
	if text == "" {
		return "No files matching the criteria were found or all were skipped."
	}
	return text + "--- End of content ---"
}
