package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// opencode is the tools of OpenCode, and those that it had.
func opencode() *Dialect {
	return &Dialect{
		Name: "opencode", Of: "OpenCode", Loose: true, Later: "skill, task, lsp",
		Tools: slices.Concat(opencodeRun(), opencodeChanges(), opencodeSearch()),
	}
}

// opencodeRun are the tools that run and read.
func opencodeRun() []Tool {
	return []Tool{
		{
			Name: "bash", To: "bash", Told: "Runs a command line and returns what it prints, standard output and error together. Set workdir, rather than using cd.",
			Params: []Param{
				{Name: "command", To: "command", Usage: "the command line", Must: true},
				{Name: "timeout", To: "timeout_ms", Usage: "time limit in milliseconds", Kind: Whole, Least: 1, Most: 1 << 40},
				{Name: "workdir", To: "workdir", Usage: "the directory it runs in (default: the project)", Kind: Path},
				{Name: "description", To: "description", Usage: "what it does, in five to ten words"},
			},
			Show: opencodeBash, Differs: "the status of a command that fails stands behind its output; what is left running is ended",
		},
		{
			Name: "read", To: "read", Told: "Reads a file or lists a directory. Lines are numbered from 1; without offset and limit the first 2000 are shown.",
			Params: []Param{
				fileParam("filePath", "", "the file or directory"),
				{Name: "offset", To: "offset", Usage: "the line to begin at, from 1", Kind: Whole, Least: 0, Most: 1 << 50},
				{Name: "limit", To: "limit", Usage: "how many lines to show (default: 2000)", Kind: Whole, Least: 0, Most: 1 << 50},
			},
			Const: Args{"number_style": "colon", "instructions": true}, Map: fromOne, Show: opencodeRead,
			Differs: "instruction files are shown behind the lines; names of binary files that hold text are read",
		},
	}
}

// opencodeChanges are the tools that change files.
func opencodeChanges() []Tool {
	file := fileParam("filePath", "", "the file")
	all := Param{Name: "replaceAll", To: "replace_all", Usage: "replace it wherever it stands (default: false)", Kind: Truth}
	return []Tool{
		{
			Name: "write", To: "write", Told: "Writes a file, and replaces the one that is there.",
			Params: []Param{{Name: "content", To: "content", Usage: "its whole content", Must: true}, file},
			Show:   done("Wrote file successfully."), Differs: "files are replaced whole, or not at all",
		},
		{
			Name: "edit", To: "edit", Told: "Replaces a text in a file. The old text must stand there once, unless replaceAll is set.",
			Params: []Param{
				file,
				{Name: "oldString", To: "old_string", Usage: "the text to replace", Must: true},
				{Name: "newString", To: "new_string", Usage: "the text to put in its place, another one", Must: true},
				all,
			},
			Map: createsWhereEmpty, Show: done("Edit applied successfully."), Differs: "syntax errors that an edit brings are named",
		},
		{
			Name: "multiedit", To: "edit", Told: "Makes several replacements in one file: all of them, or none.",
			Params: []Param{file, {Name: "edits", Usage: "the replacements, in order", Must: true, Kind: JSON, Schema: listOf("",
				member("filePath", "string", "the same file", false), member("oldString", "string", "the text to replace", true),
				member("newString", "string", "the text to put in its place", true), member("replaceAll", "boolean", "replace it wherever it stands", false))}},
			Map: func(c *Call) error {
				c.Out["edits"] = renamed(c.list("edits"), map[string]string{"oldString": "old_string", "newString": "new_string", "replaceAll": "replace_all"})
				return nil
			},
			Show: done("Edit applied successfully."), Hidden: true,
		},
		{
			Name: "apply_patch", Also: "patch", To: "patch", Told: "Changes files as a patch says: *** Begin Patch, sections *** Add File, *** Update File or *** Delete File, *** End Patch.",
			Params: []Param{{Name: "patchText", To: "patch", Usage: "the patch", Must: true}},
			Show: func(v *View) string {
				if v.Error != nil {
					return v.unpatched()
				}
				return strings.TrimSuffix("Success. Updated the following files:\n"+v.changes(), "\n")
			},
			Differs: "all files change, or none; a hunk that fits in two places is refused, and so is Add File of a file that is there with another content",
		},
	}
}

// opencodeSearch are the tools that look for files, and the todo list.
func opencodeSearch() []Tool {
	return []Tool{
		{
			Name: "glob", To: "glob", Told: "Finds files by a pattern such as **/*.ts, the newest first.",
			Params: []Param{
				{Name: "pattern", To: "pattern", Usage: "what the paths match", Must: true},
				{Name: "path", To: "path", Usage: "the directory to search (default: the project)", Kind: Path},
			},
			Const: Args{"limit": 100}, Show: opencodeGlob, Differs: "the newest file comes first; what .gitignore excludes is left out whatever the pattern",
		},
		{
			Name: "grep", To: "grep", Told: "Searches the content of files for a regular expression and shows the lines by file.",
			Params: []Param{
				{Name: "pattern", To: "pattern", Usage: "the regular expression", Must: true},
				{Name: "path", To: "path", Usage: "where to search (default: the project)", Kind: Path},
				{Name: "include", To: "include", Usage: "only the files that match, such as *.{ts,tsx}"},
			},
			Const: Args{"hidden": true, "limit": 100}, Show: opencodeGrep, Differs: "a file can be searched; no line is blank between the matches",
		},
		{
			Name: "webfetch", To: "fetch", Told: "Gets a page of the web as Markdown, text or HTML.",
			Params: []Param{
				{Name: "url", To: "url", Usage: "the address, in full", Must: true},
				{Name: "format", To: "format", Usage: "what to make of it (default: markdown)", Enum: "text markdown html"},
				{Name: "timeout", Usage: "time limit in seconds, at most 120", Kind: Whole},
			},
			Map: func(c *Call) error {
				if n := c.number("timeout"); n > 0 {
					c.Out["timeout_ms"] = min(n, 120) * 1000
				}
				return nil
			},
			Differs: "of a page its main part is shown; what is longer than an output is cut between blocks",
		},
		{
			Name: "websearch", To: "websearch", Told: "Searches the web, and returns the titles and addresses of pages with a piece of each.",
			Params: []Param{
				{Name: "query", To: "query", Usage: "what to search for", Must: true},
				{Name: "numResults", To: "num_results", Usage: "most results (default: 8)", Kind: Whole},
				{Name: "livecrawl", Usage: "fallback or preferred: it means nothing here", Enum: "fallback preferred"},
				{Name: "type", Usage: "auto, fast or deep: it means nothing here", Enum: "auto fast deep"},
				{Name: "contextMaxCharacters", Usage: "it means nothing here: the usual limits of output hold", Kind: Whole},
			},
			Map: func(c *Call) error {
				if n, ok := c.Out["num_results"].(int); ok {
					c.Out["num_results"] = min(max(n, 1), 20)
				}
				return nil
			},
			Differs: "the search engines are ours, and at most 20 results are shown; their pieces of text are short, and webfetch reads a page",
		},
		{
			Name: "batch", To: "batch", Told: "Makes several calls at once; those that only read run side by side.",
			Params: []Param{{Name: "tool_calls", Usage: "the calls", Must: true, Kind: JSON, Schema: listOf("",
				member("tool", "string", "the tool", true), param.Property{Name: "parameters", Schema: &param.Schema{Type: "object", Description: "its parameters", Open: true}})}},
			Map: opencodeBatch, Show: opencodeBatched, Hidden: true, Differs: "more than ten are taken; all are decided before the first is made; the results stand in the answer",
		},
		{
			Name: "list", Also: "ls", To: "ls", Told: "Lists the files and directories below a directory.",
			Params: []Param{
				{Name: "path", To: "path", Usage: "the directory (default: the project)", Kind: Path},
				{Name: "ignore", Usage: "patterns of what to leave out, or true for what .gitignore excludes", Kind: JSON, Schema: &param.Schema{}},
			},
			Const: Args{"depth": 4, "limit": 1000}, Map: opencodeIgnore, Show: opencodeList, Hidden: true,
		},
		{
			Name: "question", To: "question", Told: "Asks the user, and waits for the answers.",
			Params: []Param{questions("multiple")}, Map: ask("multiple"), Show: answered,
			Differs: "where nobody is there the call ends with the questions, for the caller to ask",
		},
		{
			Name: "todowrite", To: "todo", Told: "Keeps the list of what is to be done. Each call gives the whole list.",
			Params: []Param{{Name: "todos", Usage: "the whole list", Must: true, Kind: JSON, Schema: listOf("",
				member("content", "string", "what is to be done", true), member("status", "string", "pending, in_progress, completed or cancelled", true),
				member("priority", "string", "high, medium or low", true))}},
			Map: todos(map[string]string{"id": "id", "content": "content", "status": "status", "priority": "priority"}), Show: opencodeTodos,
		},
		{Name: "todoread", To: "todo", Told: "Shows the list of what is to be done.", Show: opencodeTodos, Hidden: true},
	}
}

// opencodeWrong says in OpenCode's words what is wrong with a change, and behind that
// in ours what helps to mend it.
func opencodeWrong(v *View) string {
	path := v.abs(v.text("filePath"))
	said := map[tool.Code]string{
		tool.NotFound:  "File " + path + " not found",
		tool.NoMatch:   "Could not find oldString in the file. It must match exactly, including whitespace, indentation, and line endings.",
		tool.Ambiguous: "Found multiple matches for oldString. Provide more surrounding context to make the match unique.",
	}[v.Error.Code]
	old, replaces := v.In["oldString"].(string)
	switch e := v.Error; {
	case e.Code == tool.BadInput && v.text("filePath") == "" && (len(v.In) > 0 || strings.HasPrefix(e.Message, "filePath:") || strings.HasPrefix(e.Message, "filePath is required")):
		said = "filePath is required"
	case e.Code == tool.BadInput && strings.HasSuffix(e.Message, " is a directory"):
		said = "Path is a directory, not a file: " + path
	case e.Code == tool.Conflict && replaces && old == "":
		return "oldString cannot be empty when editing an existing file. Provide the exact text to replace, or use write for an intentional full-file replacement."
	case said == "":
		return e.Words()
	}
	return said + "\n\n" + v.Error.Words()
}

// done is what is said of a change that was made, with the syntax errors it brings.
func done(text string) func(*View) string {
	return func(v *View) string {
		if v.Error != nil {
			return opencodeWrong(v)
		}
		if _, more, ok := strings.Cut(v.Output, "\nsyntax"); ok {
			return text + "\n\nsyntax" + more
		}
		return text
	}
}

func opencodeBash(v *View) string {
	if v.patched() || v.Meta.Status == "" {
		return asItIs(v)
	}
	text := v.Output
	if text == "" {
		text = "(no output)"
	}
	said := strings.TrimSuffix(v.notes(false), "\n")
	switch {
	case v.Meta.Status == "timed_out":
		said = strings.TrimPrefix(fmt.Sprintf("%s\nshell tool terminated command after exceeding timeout %d ms. If this command is expected to take longer and is not waiting for interactive input, retry with a larger timeout value in milliseconds.", said, v.limit()), "\n")
	case v.Meta.Status == "aborted":
		said = strings.TrimPrefix(said+"\nUser aborted the command", "\n")
	case v.Meta.ExitCode != nil && *v.Meta.ExitCode != 0:
		said = strings.TrimPrefix(fmt.Sprintf("%s\nexit status %d", said, *v.Meta.ExitCode), "\n")
	}
	if said == "" {
		return text
	}
	return text + "\n\n<shell_metadata>\n" + strings.TrimSpace(said) + "\n</shell_metadata>"
}

// limit is the time limit of a command, in milliseconds.
func (v *View) limit() int {
	if n := v.number("timeout"); n > 0 {
		return n
	}
	return 120_000
}

func opencodeRead(v *View) string {
	if e := v.Error; e != nil {
		path := v.abs(v.text("filePath"))
		switch {
		case e.Code == tool.NotFound:
			near := []string{"File not found: " + path}
			for i, s := range e.Suggestions[:min(len(e.Suggestions), 3)] {
				if i == 0 {
					near = append(near, "", "Did you mean one of these?")
				}
				near = append(near, v.abs(s))
			}
			return strings.Join(near, "\n")
		case e.Code == tool.Binary:
			return "Cannot read binary file: " + path
		case e.Code == tool.BadInput && strings.Contains(e.Message, "behind the end"):
			var lines int
			_, total, _ := strings.Cut(e.Message, "which has ")
			_, _ = fmt.Sscan(total, &lines)
			return fmt.Sprintf("Offset %d is out of range for this file (%d lines)", v.number("offset"), lines)
		}
		return e.Words()
	}
	m := &v.Meta
	switch {
	case m.MIMEType == "application/pdf" && len(v.Attachments) > 0:
		return "PDF read successfully\n" + v.Output
	case strings.HasPrefix(m.MIMEType, "image/") && len(v.Attachments) > 0:
		return "Image read successfully"
	}
	lines := v.content()
	total := int64(len(lines))
	if m.TotalLines != nil {
		total = *m.TotalLines
	}
	var b strings.Builder
	if m.Type == "directory" {
		fmt.Fprintf(&b, "<path>%s</path>\n<type>directory</type>\n<entries>\n%s\n\n", v.abs(m.Path), strings.Join(lines, "\n"))
		if m.NextOffset > 0 {
			fmt.Fprintf(&b, "(Showing %d of %d entries. Use 'offset' parameter to read beyond entry %d)", len(lines), total, m.NextOffset-1)
		} else {
			fmt.Fprintf(&b, "(%d entries)", total)
		}
		return b.String() + "\n</entries>"
	}
	fmt.Fprintf(&b, "<path>%s</path>\n<type>file</type>\n<content>\n%s\n\n", v.abs(m.Path), strings.Join(lines, "\n"))
	switch {
	case m.NextOffset > 0 && m.TotalLines != nil:
		fmt.Fprintf(&b, "(Showing lines %d-%d of %d. Use offset=%d to continue.)", m.Offset, m.NextOffset-1, total, m.NextOffset)
	case m.NextOffset > 0:
		fmt.Fprintf(&b, "(Output capped at 50 KB. Showing lines %d-%d. Use offset=%d to continue.)", m.Offset, m.NextOffset-1, m.NextOffset)
	default:
		fmt.Fprintf(&b, "(End of file - total %d lines)", total)
	}
	b.WriteString("\n</content>")
	for _, part := range strings.Split(v.Output, "\n[instructions from ")[1:] {
		name, text, _ := strings.Cut(part, "]\n")
		fmt.Fprintf(&b, "\n\n<system-reminder>\nInstructions from: %s\n%s\n</system-reminder>", v.abs(name), strings.TrimSpace(text))
	}
	return b.String()
}

func opencodeGlob(v *View) string {
	return failedOr(v, func() string {
		list := v.paths()
		if len(list) == 0 {
			return "No files found"
		}
		text := strings.Join(list, "\n")
		if v.Meta.Truncated {
			text += "\n\n(Results are truncated: showing first 100 results. Consider using a more specific path or pattern.)"
		}
		return text
	})
}

func opencodeGrep(v *View) string {
	if v.Error != nil {
		return v.Error.Words()
	}
	if len(v.Meta.Results) == 0 {
		return "No files found"
	}
	more, left := "", v.Meta.NextCursor != "" || v.Meta.Partial != ""
	if left {
		more = " (more matches available)"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Found %d matches%s", v.Meta.Matches, more)
	for i, f := range v.Meta.Results {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "\n%s:", v.abs(f.Path))
		for _, l := range f.Lines {
			fmt.Fprintf(&b, "\n  Line %d: %s", l.Line, l.Text)
			if l.Partial {
				b.WriteString("...")
			}
		}
	}
	if left {
		b.WriteString("\n\n(Results truncated. Consider using a more specific path or pattern.)")
	}
	return b.String()
}

// opencodeIgnore reads ignore as a list of patterns, or as a switch.
func opencodeIgnore(c *Call) error {
	raw, _ := c.In["ignore"].(json.RawMessage)
	var list []string
	var on bool
	switch {
	case len(raw) == 0:
	case json.Unmarshal(raw, &list) == nil:
		c.In["ignore"] = list
	case json.Unmarshal(raw, &on) == nil:
		c.Out["ignore"] = on
	default:
		return tool.Errorf(tool.BadInput, "ignore: want a list of patterns, or true or false")
	}
	return nil
}

func opencodeList(v *View) string {
	return failedOr(v, func() string {
		var b strings.Builder
		fmt.Fprintf(&b, "%s/\n", strings.TrimSuffix(v.abs(v.Meta.Path), "/"))
		list := slices.DeleteFunc(sorted(v.Meta.Entries), func(e entry) bool { return left(e.Name, v.texts("ignore")) })
		opencodeTree(&b, list, "", "  ")
		return b.String()
	})
}

// opencodeTree shows what lies in a directory: the directories with what lies in them,
// then the files.
func opencodeTree(b *strings.Builder, list []entry, dir, indent string) {
	for _, dirs := range []bool{true, false} {
		for _, e := range list {
			above := path.Dir(e.Name)
			if above == "." {
				above = ""
			}
			if above != dir || dirs != (e.Type == "dir") {
				continue
			}
			b.WriteString(indent + path.Base(e.Name))
			if dirs {
				b.WriteString("/")
			}
			b.WriteString("\n")
			if dirs {
				opencodeTree(b, list, e.Name, indent+"  ")
			}
		}
	}
}

func opencodeTodos(v *View) string {
	return failedOr(v, func() string {
		if len(v.Meta.Todos) == 0 {
			return "[]"
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		_ = enc.Encode(v.Meta.Todos)
		return strings.TrimSuffix(b.String(), "\n")
	})
}
