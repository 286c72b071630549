package dialect

import (
	"fmt"
	"net"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// claude is the tools of Claude Code.
func claude() *Dialect {
	return &Dialect{
		Name: "claude", Of: "Claude Code, and the tools bash and text_editor of Anthropic's API",
		Tools: slices.Concat(claudeShell(), claudeFiles(), claudeSearch(), hidden(anthropic().Tools)),
		Later: "Task, ExitPlanMode",
	}
}

// claudeShell are the tools that run commands.
func claudeShell() []Tool {
	job := func(name, also string) Param {
		return Param{Name: name, Also: also, To: "id", Usage: "the background command, as Bash named it", Must: true}
	}
	return []Tool{
		{
			Name: "Bash", To: "bash",
			Told: "Runs a command line in bash and returns what it prints. The working directory stays from one call to the next; variables and functions do not. " +
				"A command that ends after its time limit is stopped; one that is to go on, such as a server, belongs into the background.",
			Params: []Param{
				{Name: "command", To: "command", Usage: "the command line", Must: true},
				{Name: "timeout", To: "timeout_ms", Usage: "time limit in milliseconds, at most 600000", Kind: Whole},
				{Name: "description", To: "description", Usage: "what it does, in five to ten words"},
				{Name: "run_in_background", To: "background", Usage: "start it and return at once", Kind: Truth},
				{Name: "dangerouslyDisableSandbox", Usage: "changes nothing: the policy decides what is confined", Kind: Truth},
				cwd(),
			},
			Const: Args{"keep_workdir": true}, Map: onceIn, Show: claudeBash, Room: claudeRoom,
			Differs: "the directory is kept by the session, and begins anew at the root where it is no longer there or lies outside the root; cwd is for one call; aliases and variables are not kept",
		},
		{
			Name: "BashOutput", Also: "TaskOutput", To: "output",
			Told: "Returns what a background command has printed since it was asked last, and whether it still runs.",
			Params: []Param{
				job("bash_id", "task_id shell_id"),
				{Name: "filter", To: "grep", Usage: "only the lines that match this regular expression"},
				{Name: "block", To: "wait", Usage: "wait for its end, or for news", Kind: Truth, Default: false},
				{Name: "timeout", To: "timeout_ms", Usage: "how long to wait at most, in milliseconds", Kind: Whole},
			},
			Show: claudeOutput, Room: claudeRoom,
		},
		{
			Name: "KillShell", Also: "KillBash TaskStop", To: "kill", Told: "Ends a background command and what it has started.",
			Params: []Param{job("shell_id", "task_id bash_id")},
			Show: func(v *View) string {
				return failedOr(v, func() string {
					if killed, _ := v.Meta.Killed.(bool); !killed && v.Meta.Status != "running" {
						return fmt.Sprintf("Shell %s is not running, so cannot be killed (status: %s)\n", v.text("shell_id"), claudeStatus(v))
					}
					return "Successfully killed shell: " + v.text("shell_id") + "\n"
				})
			},
		},
	}
}

// cwd is a parameter that models add to a shell whose directory stays, because other agents have it.
func cwd() Param {
	return Param{Name: "cwd", To: "workdir", Usage: "the directory that this call begins in", Kind: Path, Silent: true}
}

// onceIn has a call in a directory of its own leave alone which one stays.
func onceIn(c *Call) error {
	if c.given["cwd"] {
		delete(c.Out, "keep_workdir")
	}
	return nil
}

// claudeFiles are the tools that read and change files.
func claudeFiles() []Tool {
	file := Param{Name: "file_path", To: "path", Usage: "the file, by its absolute path", Kind: Path, Must: true}
	old := Param{Name: "old_string", To: "old_string", Usage: "the text to replace", Must: true}
	now := Param{Name: "new_string", To: "new_string", Usage: "the text to put in its place, another one", Must: true}
	return []Tool{
		{
			Name: "Read", To: "read",
			Told: "Reads a file and shows its lines numbered as cat -n does: the number, an arrow, the line. Images, PDF files and notebooks can be read, too. Without offset and limit it shows the first 2000 lines.",
			Params: []Param{
				file,
				{Name: "offset", To: "offset", Usage: "the line to begin at", Kind: Whole},
				{Name: "limit", To: "limit", Usage: "how many lines to show", Kind: Whole},
				{Name: "pages", To: "pages", Usage: "the pages of a PDF file, such as 1-5"},
			},
			Const: Args{"number_style": "arrow"}, Map: fromOne,
			Differs: "what was left out, and how to go on, stands behind the last line; a directory is listed; of a notebook a line above each cell names it",
		},
		{
			Name: "Write", To: "write", Told: "Writes a file, and replaces the one that is there.",
			Params: []Param{file, {Name: "content", To: "content", Usage: "its whole content", Must: true}},
			Show:   claudeWrite, Differs: "a file need not have been read before",
		},
		{
			Name: "Edit", To: "edit", Told: "Replaces a text in a file. The old text must stand there once, unless replace_all is set.",
			Params: []Param{file, old, now, {Name: "replace_all", To: "replace_all", Usage: "replace it wherever it stands", Kind: Truth}},
			Map:    createsWhereEmpty, Show: claudeWrite, Differs: "text whose blanks differ a little is found all the same; a file need not have been read before",
		},
		{
			Name: "MultiEdit", To: "edit", Told: "Makes several replacements in one file, one after the other: all of them, or none.",
			Params: []Param{file, {Name: "edits", To: "edits", Usage: "the replacements, in order", Must: true, Kind: JSON, Schema: listOf("",
				member("old_string", "string", "the text to replace", true), member("new_string", "string", "the text to put in its place", true),
				member("replace_all", "boolean", "replace it wherever it stands", false))}},
			Map: createsByEdits, Show: claudeWrite, Differs: "no edit may touch what an earlier one has written, but in a new file, which the first makes by an empty old_string",
		},
		{
			Name: "NotebookEdit", To: "edit", Told: "Replaces the whole text of a cell of a Jupyter notebook, inserts a new cell behind it, or deletes it.",
			Params: []Param{
				{Name: "notebook_path", To: "path", Usage: "the notebook, by its absolute path", Kind: Path, Must: true},
				{Name: "cell_id", To: "cell", Usage: "the cell, by its id; a new one stands behind it, without it at the beginning"},
				{Name: "new_source", To: "new_string", Usage: "the text of the cell", Must: true},
				{Name: "cell_type", To: "cell_type", Usage: "what it becomes; needed to insert", Enum: "code markdown"},
				{Name: "edit_mode", To: "cell_mode", Usage: "what to do", Enum: "replace insert delete", Default: "replace"},
			},
			Show: func(v *View) string {
				return failedOr(v, func() string {
					if len(v.Meta.Cells) == 0 {
						return v.Output
					}
					id := v.Meta.Cells[0].ID
					switch v.text("edit_mode") {
					case "insert":
						return "Inserted cell " + id + " with " + v.text("new_source")
					case "delete":
						return "Deleted cell " + id
					}
					return "Updated cell " + id + " with " + v.text("new_source")
				})
			},
			Differs: "a notebook need not have been read before",
		},
	}
}

// claudeSearch are the tools that look for files, and the todo list.
func claudeSearch() []Tool {
	return []Tool{
		{
			Name: "Glob", To: "glob", Told: "Finds files by a pattern such as **/*.ts, the newest first.",
			Params: []Param{
				{Name: "pattern", To: "pattern", Usage: "what the paths match", Must: true},
				{Name: "path", To: "path", Usage: "the directory to search; left out, the present one", Kind: Path},
			},
			Show: claudeGlob, Differs: "what .gitignore excludes is left out",
		},
		claudeGrep(),
		{
			Name: "LS", To: "ls", Told: "Lists the files and directories below a directory.",
			Params: []Param{
				{Name: "path", To: "path", Usage: "the directory, by its absolute path", Kind: Path, Must: true},
				{Name: "ignore", Usage: "patterns of what to leave out", Kind: Texts},
			},
			Const: Args{"depth": 3, "limit": 1000, "hidden": false}, Show: listing("- ", "  "), Differs: "three levels are shown",
		},
		{
			Name: "WebFetch", To: "fetch", Told: "Gets a page of the web as Markdown.",
			Params: []Param{
				{Name: "url", To: "url", Usage: "the address, in full", Must: true},
				{Name: "prompt", Usage: "what is looked for on the page"},
			},
			Map: func(c *Call) error { c.Out["url"] = secured(c.text("url")); return nil }, Room: claudeRoom,
			Differs: "the page itself is shown, and no model's answer to prompt; redirects are followed where the policy lets them go",
		},
		{
			Name: "WebSearch", To: "websearch", Told: "Searches the web, and returns the titles and addresses of pages with a piece of each.",
			Params: []Param{
				{Name: "query", To: "query", Usage: "what to search for", Must: true},
				{Name: "allowed_domains", To: "domains", Usage: "only results from these sites", Kind: Texts},
				{Name: "blocked_domains", To: "exclude_domains", Usage: "no results from these sites", Kind: Texts},
			},
			Show: claudeWeb, Differs: "the search engines are ours, and what they have found is no model's summary; both lists of sites may be given",
		},
		{
			Name: "AskUserQuestion", To: "question", Told: "Asks the user, and waits for the answers.",
			Params: []Param{questions("multiSelect")}, Map: ask("multiSelect"), Show: answered,
			Differs: "where nobody is there the call ends with the questions, for the caller to ask",
		},
		{
			Name: "TodoWrite", To: "todo", Told: "Keeps the list of what is to be done. Each call gives the whole list.",
			Params: []Param{{Name: "todos", Usage: "the whole list", Must: true, Kind: JSON, Schema: listOf("",
				member("content", "string", "what is to be done", true), member("status", "string", "", true, "pending", "in_progress", "completed"),
				member("activeForm", "string", "what is being done, for people to see", true))}},
			Map: todos(map[string]string{"id": "id", "content": "content", "status": "status", "priority": "priority"}),
			Show: func(v *View) string {
				return failedOr(v, func() string { return "The todo list is kept: " + v.Title + ".\n" })
			},
			Differs: "activeForm is for a screen, and not kept",
		},
	}
}

// claudeRoom is how much of an output Claude Code shows.
const claudeRoom = 30_000

func claudeGrep() Tool {
	count := func(name, usage string, to string) Param {
		return Param{Name: name, To: to, Usage: usage, Kind: Whole}
	}
	return Tool{
		Name: "Grep", To: "grep", Told: "Searches the content of files for a regular expression, as ripgrep does.",
		Params: []Param{
			{Name: "pattern", To: "pattern", Usage: "the regular expression", Must: true},
			{Name: "path", To: "path", Usage: "a file or directory to search; left out, the present one", Kind: Path},
			{Name: "glob", To: "include", Usage: "only the files that match, such as *.{ts,tsx}"},
			{Name: "type", To: "type", Usage: "only files of this kind, such as js or go"},
			{Name: "output_mode", To: "mode", Usage: "the matching lines, the paths of the files, or the number of matches in each", Enum: "content files_with_matches count", Default: "files_with_matches"},
			count("-A", "lines to show after a match", "after"), count("-B", "lines to show before it", "before"),
			{Name: "-C", Also: "context", To: "context", Usage: "lines to show before and after it", Kind: Whole},
			{Name: "-n", Usage: "show line numbers", Kind: Truth, Default: true},
			{Name: "-i", To: "ignore_case", Usage: "ignore case", Kind: Truth},
			{Name: "multiline", To: "multiline", Usage: "let a match span lines, and . a line end", Kind: Truth},
			{Name: "head_limit", To: "limit", Usage: "only the first so many lines or files", Kind: Whole},
			{Name: "offset", Usage: "leave out so many lines or files in front of them", Kind: Whole},
		},
		Map: func(c *Call) error {
			if n, ok := c.Out["limit"].(int); ok && n < 1 {
				c.Out["limit"] = 100_000 // 0 is for no limit
			}
			if skip := c.number("offset"); skip > 0 {
				n, ok := c.Out["limit"].(int)
				if !ok {
					n = 100
				}
				c.Out["limit"] = n + skip
			}
			return nil
		},
		Show: claudeFound, Differs: "files are ordered by their age in every mode; head_limit is 100 unless it is given",
	}
}

// fromOne has 0 mean the first line.
func fromOne(c *Call) error {
	if n, ok := c.Out["offset"].(int); ok && n < 1 {
		delete(c.Out, "offset")
	}
	if n, ok := c.Out["limit"].(int); ok && n < 1 {
		delete(c.Out, "limit")
	}
	return nil
}

// secured is an address with https in place of http, as Claude Code asks for it, but for
// this machine's own servers and those with a port of their own, which speak no TLS.
func secured(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" || u.Port() != "" || !strings.Contains(u.Hostname(), ".") || net.ParseIP(u.Hostname()) != nil {
		return address
	}
	u.Scheme = "https"
	return u.String()
}

// createsWhereEmpty has an edit without an old text write a new file, as models do.
func createsWhereEmpty(c *Call) error {
	if c.Out["old_string"] == "" {
		c.To, c.Out = "write", Args{"path": c.Out["path"], "content": c.Out["new_string"], "create_only": true}
	}
	return nil
}

// mostMade is how many bytes edits make of a new file, beside the text that they bring.
const mostMade = 64 << 20

// createsByEdits has edits of which the first has no old text write a new file: with what
// the others make of it.
func createsByEdits(c *Call) error {
	list := renamed(c.list("edits"), map[string]string{"old_string": "old_string", "new_string": "new_string", "replace_all": "replace_all"})
	if len(list) == 0 {
		return nil
	}
	if list[0]["old_string"] != "" {
		if slices.ContainsFunc(list, func(e Args) bool { return e["replace_all"] != nil }) {
			c.Out["edits"] = list
		}
		return nil
	}
	text, _ := list[0]["new_string"].(string)
	for i, e := range list[1:] {
		old, _ := e["old_string"].(string)
		now, _ := e["new_string"].(string)
		all, _ := e["replace_all"].(bool)
		switch n := strings.Count(text, old); {
		case old == "" || n == 0:
			return tool.Errorf(tool.BadInput, "edits[%d]: the old text is not in the new file", i+1).WithHint("correct it, and call again: nothing was done")
		case n > 1 && !all:
			return tool.Errorf(tool.BadInput, "edits[%d]: the old text occurs %d times in the new file", i+1, n).WithHint("quote more of it, or set replace_all: nothing was done")
		case int64(n)*int64(len(now)-len(old)) > int64(mostMade+len(now)-len(text)):
			return tool.Errorf(tool.TooLarge, "edits[%d]: the new file would have more than %d MiB", i+1, mostMade>>20).WithHint("make it with fewer or smaller edits: nothing was done")
		}
		text = strings.ReplaceAll(text, old, now)
	}
	c.To, c.Out = "write", Args{"path": c.Out["path"], "content": text, "create_only": true}
	return nil
}

// todos sends the list of todos under our names.
func todos(names map[string]string) func(*Call) error {
	return func(c *Call) error {
		for _, name := range []string{"todos", "plan"} {
			if c.given[name] {
				c.Out["todos"] = renamed(c.list(name), names)
			}
		}
		return nil
	}
}

// failedOr is what a failure says, or what show does.
func failedOr(v *View, show func() string) string {
	if v.Error != nil {
		return v.Output + v.Error.Words()
	}
	return show()
}

func claudeBash(v *View) string {
	switch {
	case v.patched():
		return asItIs(v)
	case v.Meta.Status == "":
		return v.Error.Words()
	}
	said := v.notes(false)
	switch {
	case v.Meta.Status == "running":
		return v.Output + fmt.Sprintf("Command running in background with ID: %s\n", v.Meta.Job) + said
	case v.Meta.Status == "timed_out":
		limit := time.Duration(v.Meta.DurationMS) * time.Millisecond
		return fmt.Sprintf("Command timed out after %s\n", limit.Round(100*time.Millisecond)) + v.Output + said
	case v.Meta.ExitCode == nil:
		return "Command was aborted before completion\n" + v.Output + said
	case *v.Meta.ExitCode != 0:
		return fmt.Sprintf("Exit code %d\n", *v.Meta.ExitCode) + v.Output + said
	case v.Output+said == "":
		return "(Bash completed with no output)\n"
	}
	return v.Output + said
}

// claudeStatus is how a background command stands, in Claude Code's words.
func claudeStatus(v *View) string {
	if s := v.Meta.Status; s != "timed_out" && s != "aborted" {
		return s
	}
	return "killed"
}

func claudeOutput(v *View) string {
	if v.Meta.Status == "" {
		return failedOr(v, func() string { return v.Output })
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<status>%s</status>\n", claudeStatus(v))
	if v.Meta.ExitCode != nil {
		fmt.Fprintf(&b, "\n<exit_code>%d</exit_code>\n", *v.Meta.ExitCode)
	}
	if v.Output != "" {
		fmt.Fprintf(&b, "\n<stdout>\n%s\n</stdout>\n", strings.TrimSuffix(v.Output, "\n"))
	}
	return b.String() + v.notes(false)
}

func claudeWrite(v *View) string {
	return failedOr(v, func() string {
		_, rest, _ := strings.Cut(v.Output, "\n")
		if rest = strings.TrimSuffix(rest, "\n"); rest != "" {
			rest = "\n" + rest
		}
		path := v.text("file_path")
		if v.Meta.Created {
			return "File created successfully at: " + path + rest + "\n"
		}
		return "The file " + path + " has been updated." + rest + "\n"
	})
}

func claudeGlob(v *View) string {
	return failedOr(v, func() string {
		list := v.paths()
		if len(list) == 0 {
			return "No files found\n"
		}
		text := strings.Join(list, "\n") + "\n"
		if v.Meta.Truncated {
			text += "(Results are truncated. Consider using a more specific path or pattern.)\n"
		}
		return text
	})
}

func claudeFound(v *View) string {
	if v.Error != nil {
		return v.Error.Words()
	}
	if len(v.Meta.Results) == 0 {
		if v.text("output_mode") == "files_with_matches" {
			return "No files found\n"
		}
		return "No matches found\n"
	}
	var list []string
	switch v.text("output_mode") {
	case "content":
		for i, lines := range v.shown() {
			for _, l := range lines {
				sep, number := ":", ""
				if l.context {
					sep = "-"
				}
				if v.truth("-n") {
					number = l.line + sep
				}
				list = append(list, v.Meta.Results[i].Path+sep+number+l.text)
			}
		}
	case "count":
		for _, f := range v.Meta.Results {
			list = append(list, fmt.Sprintf("%s:%d", f.Path, f.Matches))
		}
	default:
		list = v.paths()
	}
	if list = list[min(max(v.number("offset"), 0), len(list)):]; len(list) == 0 {
		return "No more than were left out by offset\n"
	}
	var b strings.Builder
	if v.text("output_mode") == "files_with_matches" {
		fmt.Fprintf(&b, "Found %d files\n", len(list))
	}
	b.WriteString(strings.Join(list, "\n") + "\n")
	if v.text("output_mode") == "count" {
		fmt.Fprintf(&b, "\nFound %d total occurrences across %d files.\n", v.Meta.Matches, len(v.Meta.Results))
	}
	if v.Meta.Truncated {
		b.WriteString("\n(Results are truncated: head_limit shows more, a narrower path or pattern fewer.)\n")
	}
	return b.String()
}

func claudeWeb(v *View) string {
	return failedOr(v, func() string {
		links := []link{}
		for _, r := range v.Meta.Results {
			links = append(links, link{r.Title, r.URL})
		}
		raw, _ := tool.Encode(links)
		return fmt.Sprintf("Web search results for query: %q\n\nLinks: %s\n\n%s", v.text("query"), strings.TrimSpace(string(raw)), v.Output)
	})
}

// A link is a result of a search on the web.
type link struct {
	Title string `json:"title"`
	URL   string `json:"url"`
}

// listing shows a tree with a mark before each name, below the path of its root; what
// the parameter ignore names is left out.
func listing(mark, indent string) func(*View) string {
	return func(v *View) string {
		return failedOr(v, func() string {
			var b strings.Builder
			fmt.Fprintf(&b, "%s%s/\n", mark, strings.TrimSuffix(v.abs(v.Meta.Path), "/"))
			for _, e := range sorted(v.Meta.Entries) {
				if left(e.Name, v.texts("ignore")) {
					continue
				}
				name := path.Base(e.Name)
				if e.Type == "dir" {
					name += "/"
				}
				b.WriteString(strings.Repeat(indent, strings.Count(e.Name, "/")+1) + mark + name + "\n")
			}
			if v.Meta.NextOffset > 0 {
				fmt.Fprintf(&b, "(%d of %d are shown)\n", v.Meta.NextOffset-1, v.Meta.Total)
			}
			return b.String()
		})
	}
}

// sorted has each directory's entries follow it.
func sorted(list []entry) []entry {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b entry) int {
		return slices.Compare(strings.Split(a.Name, "/"), strings.Split(b.Name, "/"))
	})
	return list
}

// left reports whether a path, or a directory above it, matches one of patterns.
func left(name string, patterns []string) bool {
	for _, p := range patterns {
		p = strings.Trim(strings.TrimPrefix(strings.TrimSuffix(strings.TrimSuffix(p, "/**"), "/"), "**/"), "/")
		for part := name; part != "."; part = path.Dir(part) {
			if ok, _ := path.Match(p, path.Base(part)); ok {
				return true
			}
			if ok, _ := path.Match(p, part); ok {
				return true
			}
		}
	}
	return false
}

// hidden are tools that are understood and not declared.
func hidden(list []Tool) []Tool {
	for i := range list {
		list[i].Hidden = true
	}
	return list
}

// listOf is the schema of a list of objects.
func listOf(about string, members ...param.Property) *param.Schema {
	return &param.Schema{Type: "array", Description: about, Items: object(members...)}
}

// object is the schema of an object; the members of which Rare is not set are
// required.
func object(members ...param.Property) *param.Schema {
	o := &param.Schema{Type: "object"}
	for _, m := range members {
		if !m.Rare {
			o.Required = append(o.Required, m.Name)
		}
		m.Rare = false
		o.Properties = append(o.Properties, m)
	}
	return o
}

// member is a member of an object, which words limit.
func member(name, kind, about string, must bool, words ...string) param.Property {
	return param.Property{Name: name, Schema: &param.Schema{Type: kind, Description: about, Enum: words}, Rare: !must}
}
