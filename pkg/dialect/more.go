package dialect

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// ints is the schema of a list of whole numbers.
func ints() *param.Schema {
	return &param.Schema{Type: "array", Items: &param.Schema{Type: "integer"}}
}

// gemini is the tools of the Gemini CLI.
func gemini() *Dialect {
	return &Dialect{
		Name: "gemini", Of: "the Gemini CLI", Loose: true, Later: "save_memory",
		Tools: slices.Concat(geminiRun(), geminiChanges(), geminiSearch()),
	}
}

// geminiRun are the tools that run and read.
func geminiRun() []Tool {
	return []Tool{
		{
			Name: "run_shell_command", To: "bash", Told: "Runs a command line with bash -c and returns what it prints and how it ended.",
			Params: []Param{
				{Name: "command", To: "command", Usage: "the command line", Must: true},
				{Name: "description", To: "description", Usage: "what it does"},
				{Name: "directory", Also: "dir_path", To: "workdir", Usage: "the directory it runs in, from the root", Kind: Path},
				{Name: "is_background", To: "background", Usage: "start it and return at once", Kind: Truth},
			},
			Show: geminiShell, Differs: "& in a command does not keep it running; is_background does",
		},
		{
			Name: "read_file", To: "read", Told: "Reads a file. Images and PDF files can be read, too.",
			Params: []Param{
				fileParam("file_path", "absolute_path path", "the file"),
				{Name: "start_line", Usage: "the first line to show, from 1", Kind: Whole},
				{Name: "end_line", Usage: "the last line to show", Kind: Whole},
				{Name: "offset", Usage: "as older versions have it: the line to begin at, from 0", Kind: Whole, Least: 0, Most: 1 << 50},
				{Name: "limit", To: "limit", Usage: "with offset: how many lines to show", Kind: Whole},
			},
			Const: Args{"number_style": "none"}, Show: geminiRead, Map: geminiLines,
		},
		{
			Name: "read_many_files", To: "batch", Told: "Reads several files.",
			Params: []Param{
				{Name: "paths", Usage: "the files, and patterns of files such as docs/**/*.md", Kind: Texts},
				{Name: "include", Usage: "more of them", Kind: Texts},
				{Name: "exclude", Usage: "patterns of files that are left out", Kind: Texts},
				{Name: "recursive", Usage: "look below directories; ** does", Kind: Truth},
				{Name: "useDefaultExcludes", Usage: "leave out what nobody reads; .gitignore says what", Kind: Truth},
				{Name: "respect_git_ignore", Usage: "leave out what .gitignore excludes", Kind: Truth, Default: true},
			},
			Map: geminiMany, Show: geminiContents, Differs: "directories are listed; hidden files are read where they are named",
		},
		asked("ask_user", geminiAnswers),
	}
}

// geminiChanges are the tools that change files.
func geminiChanges() []Tool {
	file := fileParam("file_path", "", "the file")
	return []Tool{
		{
			Name: "write_file", To: "write", Told: "Writes a file, and replaces the one that is there.",
			Params: []Param{file, {Name: "content", To: "content", Usage: "its whole content", Must: true}},
			Show: func(v *View) string {
				return failedOr(v, func() string {
					if v.Meta.Created {
						return "Successfully created and wrote to new file: " + v.text("file_path") + "."
					}
					return "Successfully overwrote file: " + v.text("file_path") + "."
				})
			},
		},
		{
			Name: "replace", To: "edit", Told: "Replaces a text in a file.",
			Params: []Param{
				file,
				{Name: "instruction", Usage: "what the change is for"},
				{Name: "old_string", To: "old_string", Usage: "the text to replace", Must: true},
				{Name: "new_string", To: "new_string", Usage: "the text to put in its place", Must: true},
				{Name: "expected_replacements", Usage: "how often it stands there", Kind: Whole, Least: 1, Most: 1 << 31},
				{Name: "allow_multiple", To: "replace_all", Usage: "replace it wherever it stands", Kind: Truth},
			},
			Map: func(c *Call) error {
				if c.number("expected_replacements") > 1 {
					c.Out["replace_all"] = true
				}
				return createsWhereEmpty(c)
			},
			Show: func(v *View) string {
				return failedOr(v, func() string {
					if v.Meta.Created {
						return "Created new file: " + v.text("file_path") + " with provided content."
					}
					return fmt.Sprintf("Successfully modified file: %s (%d replacements).", v.text("file_path"), v.Meta.Replacements)
				})
			},
			Differs: "expected_replacements above 1 means every place; the number is not compared",
		},
	}
}

// geminiSearch are the tools that look for files, and the todo list.
func geminiSearch() []Tool {
	git := Param{Name: "respect_git_ignore", To: "ignore", Usage: "leave out what .gitignore excludes", Kind: Truth, Default: true}
	return []Tool{
		{
			Name: "glob", To: "glob", Told: "Finds files by a pattern, the newest first.",
			Params: []Param{
				{Name: "pattern", To: "pattern", Usage: "what the paths match", Must: true},
				{Name: "dir_path", Also: "path", To: "path", Usage: "the directory to search", Kind: Path},
				git,
				{Name: "case_sensitive", Usage: "tell capitals from small letters; they always are", Kind: Truth},
			},
			Show: func(v *View) string {
				return failedOr(v, func() string {
					list := v.paths()
					if len(list) == 0 {
						return fmt.Sprintf("No files found matching pattern %q", v.text("pattern"))
					}
					return fmt.Sprintf("Found %d file(s) matching %q, sorted by modification time (newest first):\n%s", len(list), v.text("pattern"), strings.Join(list, "\n"))
				})
			},
			Differs: "capitals always matter",
		},
		{
			Name: "search_file_content", Also: "grep_search", To: "grep", Told: "Searches the content of files for a regular expression.",
			Params: []Param{
				{Name: "pattern", To: "pattern", Usage: "the regular expression", Must: true},
				{Name: "dir_path", Also: "path", To: "path", Usage: "where to search", Kind: Path},
				{Name: "include_pattern", Also: "include", To: "include", Usage: "only the files that match"},
				{Name: "names_only", Usage: "only the paths of the files", Kind: Truth},
				{Name: "case_sensitive", Usage: "tell capitals from small letters", Kind: Truth},
				{Name: "fixed_strings", To: "literal", Usage: "pattern is a text, not an expression", Kind: Truth},
				{Name: "context", To: "context", Usage: "lines to show before and after a match", Kind: Whole},
				{Name: "before", To: "before", Usage: "lines to show before it", Kind: Whole},
				{Name: "after", To: "after", Usage: "lines to show after it", Kind: Whole},
				{Name: "no_ignore", Usage: "search what .gitignore excludes, too", Kind: Truth},
				{Name: "total_max_matches", To: "limit", Usage: "most matches", Kind: Whole},
			},
			Map: func(c *Call) error {
				c.Out["ignore_case"] = !c.truth("case_sensitive")
				if c.truth("names_only") {
					c.Out["mode"] = "files"
				}
				if c.truth("no_ignore") {
					c.Out["ignore"] = false
				}
				return nil
			},
			Show: geminiGrep, Differs: "exclude_pattern and max_matches_per_file are passed over",
		},
		{
			Name: "list_directory", To: "ls", Told: "Lists a directory: directories first.",
			Params: []Param{
				{Name: "dir_path", Also: "path", To: "path", Usage: "the directory", Kind: Path, Must: true},
				{Name: "ignore", Usage: "patterns of what to leave out", Kind: Texts},
				git,
			},
			Const: Args{"depth": 1, "limit": 10_000}, Show: geminiList,
		},
		{
			Name: "web_fetch", To: "fetch", Told: "Gets a page of the web as Markdown.",
			Params: []Param{
				{Name: "prompt", Usage: "the address, and what is looked for there"},
				{Name: "url", To: "url", Usage: "the address, where prompt holds none"},
			},
			Map: func(c *Call) error {
				if c.text("url") == "" {
					c.Out["url"] = regexp.MustCompile(`https?://[^\s<>"'\x60]+[^\s<>"'\x60.,;:!?)\]]`).FindString(c.text("prompt"))
				}
				if c.Out["url"] == "" {
					return tool.Errorf(tool.BadInput, "prompt holds no address").WithHint("name one that begins with https://")
				}
				return nil
			},
			Differs: "the first address is fetched, and the page itself is shown, no model's answer to prompt",
		},
		{
			Name: "google_web_search", To: "websearch", Told: "Searches the web, and returns what was found with its sources.",
			Params: []Param{{Name: "query", To: "query", Usage: "what to search for", Must: true}},
			Show: func(v *View) string {
				return failedOr(v, func() string {
					if len(v.Meta.Results) == 0 {
						return fmt.Sprintf("No search results or information found for query: %q", v.text("query"))
					}
					var b strings.Builder
					fmt.Fprintf(&b, "Web search results for %q:\n\n%s\nSources:\n", v.text("query"), v.Output)
					for i, r := range v.Meta.Results {
						fmt.Fprintf(&b, "[%d] %s (%s)\n", i+1, r.Title, r.URL)
					}
					return b.String()
				})
			},
			Differs: "what the pages say stands there as it was found; no model has written a summary",
		},
		{
			Name: "write_todos", To: "todo", Told: "Keeps the list of what is to be done. Each call gives the whole list.",
			Params: []Param{{Name: "todos", Usage: "the whole list", Must: true, Kind: JSON, Schema: listOf("",
				member("description", "string", "what is to be done", true), member("status", "string", "", true, "pending", "in_progress", "completed", "cancelled", "blocked"))}},
			Map: func(c *Call) error {
				list := renamed(c.list("todos"), map[string]string{"description": "content", "status": "status"})
				for _, t := range list {
					if t["status"] == "blocked" {
						t["status"] = "pending"
					}
				}
				c.Out["todos"] = list
				return nil
			},
			Show: geminiTodos, Differs: "what is blocked is kept as pending",
		},
	}
}

func geminiShell(v *View) string {
	if v.Meta.Status == "" {
		return asItIs(v)
	}
	or := func(s, none string) string {
		if s = strings.TrimSuffix(s, "\n"); s == "" {
			return none
		}
		return s
	}
	status, failure := "(none)", "(none)"
	if v.Meta.ExitCode != nil {
		status = fmt.Sprint(*v.Meta.ExitCode)
	}
	if v.Error != nil {
		failure = v.Error.Message
	}
	text := fmt.Sprintf("Command: %s\nDirectory: %s\nOutput: %s\nError: %s\nExit Code: %s\nSignal: %s\nBackground PIDs: ", v.text("command"), or(v.text("directory"), "(root)"),
		or(v.Output, "(empty)"), failure, status, or(v.Meta.Signal, "(none)"))
	return text + or(v.Meta.Job, "(none)") + "\n" + v.notes(false)
}

// geminiLines says which lines are read, by either version's parameters.
func geminiLines(c *Call) error {
	first, last := c.number("start_line"), c.number("end_line")
	if first == 0 {
		first = c.number("offset") + 1
	}
	c.Out["offset"] = first
	if c.given["end_line"] {
		if first < 1 || last < first {
			return tool.Errorf(tool.BadInput, "end_line: %d is before start_line, %d", last, first).WithHint("give the first and the last line, from 1")
		}
		c.Out["limit"] = last - first + 1
	}
	return nil
}

func geminiRead(v *View) string {
	if v.Error != nil {
		return v.Error.Words()
	}
	if v.Meta.NextOffset == 0 || v.Meta.TotalLines == nil {
		return v.Output
	}
	on := fmt.Sprintf("start_line: %d", v.Meta.NextOffset)
	if v.given["offset"] {
		on = fmt.Sprintf("offset: %d", v.Meta.NextOffset-1)
	}
	return fmt.Sprintf("IMPORTANT: the file is shown in part: lines %d-%d of %d. To read on, use %s.\n\n--- FILE CONTENT (truncated) ---\n%s",
		v.Meta.Offset, v.Meta.NextOffset-1, *v.Meta.TotalLines, on, strings.Join(v.content(), "\n"))
}

func geminiGrep(v *View) string {
	if v.Error != nil {
		return v.Error.Words()
	}
	where := v.text("dir_path")
	if where == "" {
		where = "."
	}
	if len(v.Meta.Results) == 0 {
		return fmt.Sprintf("No matches found for pattern %q in path %q.", v.text("pattern"), where)
	}
	var b strings.Builder
	if v.truth("names_only") {
		fmt.Fprintf(&b, "Found %d files with matches for pattern %q in path %q:\n", len(v.Meta.Results), v.text("pattern"), where)
		for _, f := range v.Meta.Results {
			b.WriteString(f.Path + "\n")
		}
		return b.String()
	}
	fmt.Fprintf(&b, "Found %d matches for pattern %q in path %q:\n---\n", v.Meta.Matches, v.text("pattern"), where)
	for i, lines := range v.shown() {
		fmt.Fprintf(&b, "File: %s\n", v.Meta.Results[i].Path)
		for _, l := range lines {
			mark := ":"
			if l.context {
				mark = "-"
			}
			fmt.Fprintf(&b, "L%s%s %s\n", l.line, mark, l.text)
		}
		b.WriteString("---\n")
	}
	if v.Meta.Truncated {
		b.WriteString("There are more: narrow the pattern or the path.\n")
	}
	return b.String()
}

// geminiTodos shows the list as it was given.
func geminiTodos(v *View) string {
	return failedOr(v, func() string {
		list := v.list("todos")
		if len(list) == 0 {
			return "Successfully cleared the todo list."
		}
		var b strings.Builder
		b.WriteString("Successfully updated the todo list. The current list is now:")
		for i, t := range list {
			fmt.Fprintf(&b, "\n%d. [%v] %v", i+1, t["status"], t["description"])
		}
		return b.String()
	})
}

func geminiList(v *View) string {
	return failedOr(v, func() string {
		if v.Meta.Type == "file" {
			v.Error = tool.Errorf(tool.BadInput, "Path is not a directory: %s", v.abs(v.Meta.Path)).WithHint("%s shows a file", v.Names()("read", ""))
			return "Error: " + v.wrong()
		}
		var dirs, files strings.Builder
		for _, e := range sorted(v.Meta.Entries) {
			switch {
			case left(e.Name, v.texts("ignore")):
			case e.Type == "dir":
				dirs.WriteString("\n[DIR] " + path.Base(e.Name))
			default:
				files.WriteString("\n" + path.Base(e.Name))
			}
		}
		if dirs.Len()+files.Len() == 0 {
			return "Directory " + v.abs(v.Meta.Path) + " is empty."
		}
		return "Directory listing for " + v.abs(v.Meta.Path) + ":" + dirs.String() + files.String()
	})
}

// jido is the tools of Jido Code: results are JSON.
func jido() *Dialect {
	shell := Param{Name: "shell_id", To: "id", Usage: "the command, as bash_background named it", Must: true}
	command := Param{Name: "command", To: "command", Usage: "the command line", Must: true}
	about := Param{Name: "description", To: "description", Usage: "what it does, in five to ten words"}
	return &Dialect{
		Name: "jido", Of: "Jido Code",
		Tools: []Tool{
			{
				Name: "grep_search", To: "grep", Told: "Searches the content of files for a regular expression.",
				Params: []Param{
					{Name: "pattern", To: "pattern", Usage: "the regular expression", Must: true},
					{Name: "path", To: "path", Usage: "the directory to search", Kind: Path},
					{Name: "output_mode", To: "mode", Usage: "lines, files or counts", Enum: "content files_with_matches count"},
					{Name: "context_before", To: "before", Usage: "lines to show before a match", Kind: Whole},
					{Name: "context_after", To: "after", Usage: "lines to show after a match", Kind: Whole},
					{Name: "context", To: "context", Usage: "lines to show before and after it", Kind: Whole},
					{Name: "file_type", To: "type", Usage: "only files of this kind, such as ex or js"},
					{Name: "case_insensitive", To: "ignore_case", Usage: "ignore case", Kind: Truth},
					{Name: "multiline", To: "multiline", Usage: "let a match span lines", Kind: Truth},
					{Name: "head_limit", Also: "max_results", To: "limit", Usage: "most results", Kind: Whole},
				},
			},
			{
				Name: "bash_execute", Also: "run_command", To: "bash", Told: "Runs a command and returns what it prints, standard error apart, and its exit code.",
				Params: []Param{
					command, about,
					{Name: "timeout", To: "timeout_ms", Usage: "time limit in milliseconds (default: 120000)", Kind: Whole, Least: 1, Most: 1 << 40},
					{Name: "working_directory", To: "workdir", Usage: "the directory it runs in", Kind: Path},
				},
				Const: Args{"split": true}, Room: claudeRoom, Show: jidoShell, Differs: "which programs are allowed is the policy's, as the profile argv has it",
			},
			{
				Name: "bash_background", To: "bash", Told: "Starts a command in the background and returns at once.", Params: []Param{command, about},
				Const: Args{"background": true},
				Show: jsonOr(func(v *View) any {
					return struct {
						Shell       string `json:"shell_id"`
						Description string `json:"description"`
					}{v.Meta.Job, v.text("description")}
				}),
			},
			{
				Name: "bash_output", To: "output", Told: "Returns what a background command prints, and how it stands.",
				Params: []Param{
					shell,
					{Name: "block", To: "wait", Usage: "wait for its end, or for news", Kind: Truth, Default: true},
					{Name: "timeout", To: "timeout_ms", Usage: "how long to wait at most, in milliseconds", Kind: Whole, Default: 30_000},
				},
				Const: Args{"since_last": false}, Room: claudeRoom,
				Show: jsonOr(func(v *View) any {
					status := v.Meta.Status
					if status != "running" && status != "completed" {
						status = "failed"
					}
					return struct {
						Output string `json:"output"`
						Status string `json:"status"`
						Exit   *int   `json:"exit_code"`
					}{v.Output, status, v.Meta.ExitCode}
				}),
			},
			{Name: "kill_shell", To: "kill", Told: "Ends a background command.", Params: []Param{shell}, Show: jsonOr(func(*View) any { return true })},
		},
	}
}

func jidoShell(v *View) string {
	if v.Meta.Status == "" {
		return asItIs(v)
	}
	out, errs := v.streams()
	if v.Error != nil {
		errs += v.Error.Message + "\n"
	}
	raw, _ := tool.Encode(struct {
		Output string `json:"output"`
		Exit   *int   `json:"exit_code"`
		Errors string `json:"stderr"`
	}{out, v.Meta.ExitCode, errs})
	return string(raw)
}

// jsonOr is a result as JSON, or what a failure says.
func jsonOr(value func(*View) any) func(*View) string {
	return func(v *View) string {
		return failedOr(v, func() string {
			raw, _ := tool.Encode(value(v))
			return string(raw)
		})
	}
}

// codepilot is the core tools of Codepilot: results are JSON.
func codepilot() *Dialect {
	where := Param{Name: "path", To: "path", Usage: "the path, from the root of the project", Kind: Path, Must: true}
	return &Dialect{
		Name: "codepilot", Of: "Codepilot",
		Tools: []Tool{
			{
				Name: "read_file", To: "read", Told: "Reads a file.", Params: []Param{where}, Const: Args{"number_style": "none"},
				Show: jsonOr(func(v *View) any {
					return struct {
						Path    string `json:"path"`
						Content string `json:"content"`
					}{v.text("path"), v.whole()}
				}),
				Differs: "of a long file the first 2000 lines are shown, and where to go on",
			},
			{
				Name: "write_file", To: "write", Told: "Writes a file, and replaces the one that is there.",
				Params: []Param{where, {Name: "content", To: "content", Usage: "its whole content", Must: true}},
				Show: jsonOr(func(v *View) any {
					return struct {
						Path   string `json:"path"`
						Status string `json:"status"`
					}{v.text("path"), "ok"}
				}),
			},
			{
				Name: "list_dir", To: "ls", Told: "Lists a directory.", Params: []Param{where}, Const: Args{"depth": 1, "limit": 10_000},
				Show: jsonOr(func(v *View) any {
					list := []entry{}
					for _, e := range sorted(v.Meta.Entries) {
						if e.Type != "dir" {
							e.Type = "file"
						}
						list = append(list, e)
					}
					return list
				}),
			},
			{
				Name: "run_shell", To: "bash", Told: "Runs a command line and returns what it prints and its exit code.",
				Params: []Param{{Name: "command", To: "command", Usage: "the command line", Must: true}, {Name: "cwd", To: "workdir", Usage: "the directory it runs in", Kind: Path}},
				Const:  Args{"split": true}, Room: codexRetained, Show: codepilotShell,
			},
		},
	}
}

func codepilotShell(v *View) string {
	if v.Meta.Status == "" {
		return asItIs(v)
	}
	out, errs := v.streams()
	raw, _ := tool.Encode(struct {
		Command string `json:"command"`
		Cwd     string `json:"cwd"`
		Stdout  string `json:"stdout"`
		Stderr  string `json:"stderr"`
		Exit    *int   `json:"exitCode"`
	}{v.text("command"), v.Meta.Cwd, out, errs, v.Meta.ExitCode})
	return string(raw)
}
