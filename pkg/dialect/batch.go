package dialect

import (
	"encoding/json"
	"fmt"
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

// geminiMany reads several files.
func geminiMany(c *Call) error {
	var list []part
	for _, path := range c.texts("paths") {
		raw, _ := tool.Encode(map[string]string{"file_path": path})
		list = append(list, part{"read_file", raw})
	}
	return c.several(list, "paths")
}

func geminiContents(v *View) string {
	if len(v.Inner) == 0 && v.Error != nil {
		return v.Error.Words()
	}
	var b strings.Builder
	v.each(func(c *Call, text string) {
		fmt.Fprintf(&b, "--- %s ---\n\n%s\n\n", v.abs(c.text("file_path")), text)
	})
	return b.String() + "--- End of content ---"
}
