package dialect

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// codexWidth is how many bytes of a line or a name Codex shows.
const codexWidth = 500

// codexFiles are the tools of Codex that look at files.
func codexFiles() []Tool {
	whole := func(name, to, usage string, usual any) Param {
		return Param{Name: name, To: to, Usage: usage, Kind: Whole, Default: usual}
	}
	block := object(
		member("anchor_line", "integer", "the line whose block is shown (default: offset)", false),
		member("max_levels", "integer", "how many blocks to climb; 0 for all", false),
		member("include_siblings", "boolean", "show its neighbours, too", false),
		member("include_header", "boolean", "show the comments above it, too", false),
		member("max_lines", "integer", "most lines of the block", false))
	return []Tool{
		{
			Name: "read_file", To: "read", Told: "Reads a local file with 1-indexed line numbers, supporting slice and indentation-aware block modes.",
			Params: []Param{
				{Name: "file_path", To: "path", Usage: "the file, by its absolute path", Kind: Path, Must: true},
				whole("offset", "offset", "the line to begin at, from 1", 1), whole("limit", "limit", "how many lines to show", 2000),
				{Name: "mode", To: "mode", Usage: "show lines, or the block around a line", Enum: "slice indentation"},
				{Name: "indentation", Usage: "the block, with mode indentation", Kind: JSON, Schema: block},
			},
			Const: Args{"number_style": "L"}, Map: codexRead, Show: codexLines, Room: codexRetained,
			Differs: "file_path may be relative; decorators count as headers, and what ends a block is known of languages without braces",
		},
		{
			Name: "list_dir", To: "ls", Told: "Lists entries in a local directory with 1-indexed entry numbers and simple type labels.",
			Params: []Param{
				{Name: "dir_path", To: "path", Usage: "the directory, by its absolute path", Kind: Path, Must: true},
				whole("offset", "offset", "the entry to begin at, from 1", 1), whole("limit", "limit", "how many entries to show", 25), whole("depth", "depth", "how many levels", 2),
			},
			Map: codexPositive, Show: codexDir, Differs: "dir_path may be relative; an entry never stands below another's parent; what cannot be read is left out; what .git, node_modules and caches hold is not listed",
		},
		{
			Name: "grep_files", To: "grep", Told: "Finds files whose contents match the pattern and lists them by modification time.",
			Params: []Param{
				{Name: "pattern", To: "pattern", Usage: "the regular expression", Must: true},
				{Name: "include", To: "include", Usage: "only the files that match, such as *.rs"},
				{Name: "path", To: "path", Usage: "where to search; left out, the present directory", Kind: Path},
				whole("limit", "limit", "how many files to list, at most 2000", 100),
			},
			Const: Args{"mode": "files"}, Map: codexPattern, Show: codexGrep,
			Differs: "files that are binary or may not be read are passed over",
		},
		{
			Name: "view_image", To: "read", Told: "Attaches a local image, for you to look at.",
			Params: []Param{{Name: "path", To: "path", Usage: "the image file", Kind: Path, Must: true}},
			Show: func(v *View) string {
				switch {
				case v.Error != nil:
					return "unable to locate image at `" + v.text("path") + "`: " + v.wrong()
				case len(v.Attachments) == 0:
					return "`" + v.text("path") + "` is no image that can be attached"
				}
				return "attached local image path"
			},
			Differs: "a large image is made smaller",
		},
	}
}

// codexPositive refuses numbers below 1 in the words that Codex has for it.
func codexPositive(c *Call) error {
	what := map[string]string{"read": "line number", "ls": "entry number"}[c.To]
	if c.given["offset"] && c.number("offset") < 1 {
		return tool.Errorf(tool.BadInput, "offset must be a 1-indexed %s", what)
	}
	for _, name := range []string{"limit", "depth"} {
		if c.given[name] && c.number(name) < 1 {
			return tool.Errorf(tool.BadInput, "%s must be greater than zero", name)
		}
	}
	if n, ok := c.Out["limit"].(int); ok && c.To == "grep" {
		c.Out["limit"] = min(n, 2000)
	}
	return nil
}

// codexPattern takes the blanks off a pattern, as Codex does.
func codexPattern(c *Call) error {
	pattern := strings.TrimSpace(c.text("pattern"))
	if pattern == "" {
		return tool.Errorf(tool.BadInput, "pattern must not be empty")
	}
	c.Out["pattern"] = pattern
	return codexPositive(c)
}

func codexGrep(v *View) string {
	list := v.paths()
	switch e := v.Error; {
	case e != nil && len(list) == 0 && e.Code == tool.NotFound:
		return "unable to access `" + v.text("path") + "`: " + v.wrong()
	case e != nil && len(list) == 0 && e.Code == tool.BadInput && strings.HasPrefix(e.Message, "parsing pattern"):
		return "rg failed: " + v.wrong()
	case e != nil && len(list) == 0 && e.Code == tool.BadInput:
		return v.wrong()
	case e != nil:
		return v.Output + e.Words()
	case len(list) == 0:
		return "No matches found."
	}
	return strings.Join(list, "\n")
}

// codexBlock are the parameters of a block.
var codexBlock = [...]string{"anchor_line", "max_levels", "include_siblings", "include_header", "max_lines"}

func codexRead(c *Call) error {
	if err := codexPositive(c); err != nil {
		return err
	}
	block := Args{}
	raw, _ := c.In["indentation"].(json.RawMessage)
	_ = json.Unmarshal(raw, &block) // an object, as it was checked
	for _, name := range codexBlock {
		if v, ok := c.Out[name]; ok { // not in an object of their own
			block[name] = v
			delete(c.Out, name)
		}
	}
	if c.text("mode") != "indentation" {
		return nil
	}
	below := func(name string) bool {
		switch n := block[name].(type) {
		case int:
			return n < 1
		case float64:
			return n < 1
		}
		return false
	}
	switch {
	case below("anchor_line"):
		return tool.Errorf(tool.BadInput, "anchor_line must be a 1-indexed line number")
	case below("max_lines"):
		return tool.Errorf(tool.BadInput, "max_lines must be greater than zero")
	}
	for _, name := range codexBlock {
		if v, ok := block[name]; ok && v != nil {
			c.Out[name] = v
		}
	}
	return nil
}

// unread is what is wrong with a file or directory that cannot be read: behind Codex's words
// for it, where the machine is to blame.
func (v *View) unread(what string) string {
	if v.Error.Code == tool.NotFound || v.Error.Code == tool.IO {
		return "failed to read " + what + ": " + v.wrong()
	}
	return v.wrong()
}

func codexLines(v *View) string {
	if e := v.Error; e != nil {
		if e.Code == tool.BadInput && strings.Contains(e.Message, "behind the end") {
			if v.Out["anchor_line"] != nil {
				return "anchor_line exceeds file length"
			}
			return "offset exceeds file length"
		}
		return v.unread("file")
	}
	if v.Meta.Type == "directory" {
		return v.text("file_path") + " is a directory:\n" + v.whole()
	}
	lines := v.content()
	for i, l := range lines {
		number, text, _ := strings.Cut(l, ": ")
		lines[i] = number + ": " + clip(text)
	}
	return strings.Join(lines, "\n")
}

// clip is the beginning of a line or a name, as much as Codex shows.
func clip(s string) string {
	if len(s) <= codexWidth {
		return s
	}
	n := codexWidth
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func codexDir(v *View) string {
	if e := v.Error; e != nil {
		if e.Code == tool.BadInput && strings.Contains(e.Message, "behind the last") {
			return "offset exceeds directory entry count"
		}
		return v.unread("directory")
	}
	if v.Meta.Type == "file" {
		v.Error = tool.Errorf(tool.BadInput, "%s is no directory", v.Meta.Path).WithHint("%s shows it", v.Names()("read", ""))
		return "failed to read directory: " + v.wrong()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Absolute path: %s", filepath.Clean(v.abs(v.Meta.Path)))
	list := sorted(v.Meta.Entries)
	for _, e := range list {
		mark := map[string]string{"dir": "/", "symlink": "@", "file": ""}
		m, ok := mark[e.Type]
		if !ok {
			m = "?"
		}
		b.WriteString("\n" + strings.Repeat("  ", strings.Count(e.Name, "/")) + clip(path.Base(e.Name)) + m)
	}
	if v.Meta.NextOffset > 0 {
		fmt.Fprintf(&b, "\nMore than %d entries found", len(list))
	}
	return b.String()
}
