package dialect

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// codex is the tools of OpenAI's Codex.
func codex() *Dialect {
	d := &Dialect{
		Name: "codex", Of: "OpenAI's Codex", Loose: true,
		Later: "spawn_agent and its like",
		Tools: slices.Concat(codexCommands(), codexChanges(), codexFiles()),
	}
	for i := range d.Tools { // the names that platforms have: those of this one only
		if name, ok := strings.CutSuffix(d.Tools[i].Also, "-unix"); ok {
			t := d.Tools[i]
			d.Tools[i].Only, t.Only, t.Also = "unix", "windows", name+"-win"
			if t.Told += " The shell is PowerShell."; t.To != "bash" {
				t.Told = d.Tools[i].Told
			}
			d.Tools = append(d.Tools, t)
		}
	}
	return d
}

// openloaf is Codex's tools under the names that OpenLoaf has for each platform: only
// those of this one are there.
func openloaf() *Dialect {
	d := codex()
	d.Name, d.Of, d.Later = "openloaf", "OpenLoaf: Codex's, with names for each platform", ""
	for i := range d.Tools {
		t := &d.Tools[i]
		if t.Only != "" {
			t.Name, t.Also = t.Also, ""
		} else {
			t.Name, t.Also = strings.ReplaceAll(t.Name, "_", "-"), t.Name
		}
		t.Params = openloafParams(t.Params)
	}
	return d
}

// openloafParams are parameters of Codex's as OpenLoaf spells them. A block's are not in
// an object of their own.
func openloafParams(list []Param) []Param {
	var own []Param
	for _, p := range list {
		switch {
		case p.Name == "indentation":
			own = append(own, []Param{
				{Name: "anchorLine", Also: "anchor_line", To: "anchor_line", Usage: "with mode indentation: the line whose block is shown", Kind: Whole},
				{Name: "maxLevels", Also: "max_levels", To: "max_levels", Usage: "how many blocks to climb; 0 for all", Kind: Whole},
				{Name: "includeSiblings", Also: "include_siblings", To: "include_siblings", Usage: "show its neighbours, too", Kind: Truth},
				{Name: "includeHeader", Also: "include_header", To: "include_header", Usage: "show the comments above it, too", Kind: Truth},
				{Name: "maxLines", Also: "max_lines", To: "max_lines", Usage: "most lines of the block", Kind: Whole},
			}...)
			continue
		case p.To == "path" && p.Name != "path":
			p.Name, p.Also = "path", p.Name
		}
		for other := range strings.FieldsSeq(p.Also) {
			if strings.ToLower(other) != other {
				p.Name, p.Also = other, p.Also+" "+p.Name
			}
		}
		own = append(own, p)
	}
	return own
}

// codexCommands are the tools that run commands.
func codexCommands() []Tool {
	workdir := Param{Name: "workdir", To: "workdir", Usage: "the directory it runs in; always set it", Kind: Path}
	limit := Param{Name: "timeout_ms", Also: "timeout timeoutMs", To: "timeout_ms", Usage: "time limit in milliseconds", Kind: Whole, Default: 10_000, Least: 1, Most: 1 << 40}
	login := Param{Name: "login", To: "login", Usage: "read the start-up files of a login shell", Kind: Truth}
	approval := []Param{
		{Name: "sandbox_permissions", Also: "sandboxPermissions", Usage: "whether it is to run without a sandbox; that is decided by the policy", Enum: "use_default with_additional_permissions require_escalated"},
		{Name: "justification", To: "description", Usage: "why it is to run so"},
		{Name: "prefix_rule", Usage: "what could be allowed for later", Kind: Texts},
	}
	most := Param{Name: "max_output_tokens", Also: "maxOutputTokens", Usage: "most tokens of output", Kind: Whole, Default: codexTokens}
	const decided = "sandbox_permissions and prefix_rule change nothing: the policy decides, and its answer says how to ask; "
	return []Tool{
		{
			Name: "shell", Also: "shell-unix", To: "bash", Told: "Runs a program with its arguments and returns what it prints. Set workdir, rather than using cd.",
			Params: append([]Param{{Name: "command", To: "argv", Usage: "the program and its arguments", Kind: Texts, Must: true}, workdir, limit}, approval...),
			Const:  Args{"split": true}, Map: codexArgv, Show: codexShell, Room: codexRetained,
			Differs: decided + "what was printed before a time limit is shown",
		},
		{
			Name: "shell_command", Also: "shell-command-unix", To: "bash", Told: "Runs a command line in the user's shell and returns what it prints. Set workdir, rather than using cd.",
			Params: append([]Param{{Name: "command", To: "command", Usage: "the command line", Must: true}, workdir, limit, login}, approval...),
			Const:  Args{"split": true}, Map: func(c *Call) error { return notBare(c.text("command")) }, Show: codexFreeform, Room: codexRetained, Differs: decided + "start-up files are read only where login is set",
		},
		{
			Name: "exec_command", Also: "exec-command-unix", To: "bash", Told: "Runs a command in a PTY, returning output or a session ID for ongoing interaction.",
			Params: append([]Param{
				{Name: "cmd", To: "command", Usage: "the command line", Must: true},
				workdir,
				{Name: "shell", To: "shell", Usage: "the shell that reads it"},
				{Name: "tty", To: "tty", Usage: "give it a terminal", Kind: Truth},
				{Name: "yield_time_ms", Also: "yieldTimeMs", To: "yield_ms", Usage: "how long to wait for its output, in milliseconds", Kind: Whole, Default: 10_000},
				most, login,
			}, approval...),
			Map: codexExec, Show: codexUnified, Room: codexRetained,
			Differs: decided + "sessions outlive the program that started them; the wall time is exact; start-up files are read only where login is set",
		},
		{
			Name: "write_stdin", Also: "write-stdin-unix", To: "input", Told: "Writes characters to an existing unified exec session and returns recent output.",
			Params: []Param{
				{Name: "session_id", Also: "sessionId", To: "id", Usage: "the session that exec_command named", Must: true},
				{Name: "chars", To: "text", Usage: "what to write; nothing, to look only"},
				{Name: "yield_time_ms", Also: "yieldTimeMs", To: "yield_ms", Usage: "how long to wait for output, in milliseconds", Kind: Whole, Default: 250},
				most,
			},
			Map: codexInput, Show: codexUnified, Room: codexRetained, Differs: "a session that has ended can still be asked",
		},
	}
}

// codexChanges are the tools that change files, and the plan.
func codexChanges() []Tool {
	return []Tool{
		{
			Name: "apply_patch", Also: "applypatch", To: "patch", Told: "Changes files as a patch says: *** Begin Patch, then for each file *** Add File: PATH, *** Delete File: PATH or *** Update File: PATH with hunks behind @@, then *** End Patch.",
			Params: []Param{{Name: "input", Also: "patch", To: "patch", Usage: "the patch", Must: true}},
			Show:   codexPatch, Differs: "all files change, or none; a hunk that fits in two places is refused, and so is Add File of a file that is there with another content",
		},
		{
			Name: "update_plan", To: "todo", Told: "Keeps the plan. At most one step is in progress at a time.",
			Params: []Param{
				{Name: "explanation", Usage: "why it changes"},
				{Name: "plan", Usage: "the steps", Must: true, Kind: JSON, Schema: listOf("", member("step", "string", "what is to be done", true), member("status", "string", "", true, "pending", "in_progress", "completed"))},
			},
			Map:  todos(map[string]string{"step": "content", "status": "status"}),
			Show: func(v *View) string { return failedOr(v, func() string { return "Plan updated" }) },
		},
		asked("request_user_input", codexAnswers),
		{
			Name: "web_search", To: "websearch", Told: "Searches the web.", Hidden: true,
			Params:  []Param{{Name: "query", To: "query", Usage: "what to search for", Must: true}},
			Differs: "the search engines are ours",
		},
	}
}

// The limits of Codex.
const (
	codexTokens   = 10_000  // of an output, at 4 bytes each
	codexRetained = 1 << 20 // bytes of an output that are looked at
	codexTimedOut = 124     // the status of a command whose time is over
)

// bare is what is wrong with a command line that is a patch. A shell would take its
// first line for a pattern of names, and run what it finds.
const bare = `patch detected without explicit call to apply_patch. Rerun as ["apply_patch", "<patch>"]`

// notBare refuses a patch that stands where a command line should.
func notBare(line string) error {
	if strings.HasPrefix(strings.TrimSpace(line), "*** Begin Patch") {
		return tool.Errorf(tool.BadInput, bare)
	}
	return nil
}

// codexArgv has a command line that came as one word be one.
func codexArgv(c *Call) error {
	words := c.texts("command")
	if n := len(words); n == 1 || n > 2 && slices.Contains([]string{"-c", "-lc", "-command", "/c"}, strings.ToLower(words[n-2])) {
		if err := notBare(words[n-1]); err != nil {
			return err
		}
	}
	if len(words) == 1 && strings.ContainsAny(words[0], " \t\n") {
		delete(c.Out, "argv")
		c.Out["command"] = words[0]
	}
	return nil
}

func codexExec(c *Call) error {
	if err := notBare(c.text("cmd")); err != nil {
		return err
	}
	c.Out["yield_ms"] = min(max(c.number("yield_time_ms"), 250), 30_000)
	if !c.truth("tty") {
		c.Out["stdin"] = "" // closed
	}
	if shell := c.text("shell"); shell != "" && !strings.HasSuffix(shell, "sh") {
		delete(c.Out, "shell") // what is no shell is not used
	}
	return nil
}

// codexInput writes to a session, or looks at what it has printed.
func codexInput(c *Call) error {
	id := c.text("session_id")
	c.Out["id"] = jobID(id)
	wait := c.number("yield_time_ms")
	if c.text("chars") == "" {
		c.To = "output"
		delete(c.Out, "yield_ms")
		delete(c.Out, "text")
		c.Out["timeout_ms"] = min(max(wait, 5000), 300_000)
		return nil
	}
	c.Out["yield_ms"] = min(max(wait, 250), 30_000)
	return nil
}

// sessionID is the number that stands for a job: the first four characters behind
// its letter, which are enough to find it among the jobs of a session.
func sessionID(job string) string {
	if len(job) >= 5 {
		if n, err := strconv.ParseInt(job[1:5], 36, 32); err == nil {
			return strconv.FormatInt(n, 10)
		}
	}
	return job
}

// jobID is the job that a number stands for, as a beginning of its name.
func jobID(session string) string {
	n, err := strconv.ParseInt(session, 10, 32)
	if err != nil || n < 0 || n >= 36*36*36*36 {
		return session
	}
	text := strconv.FormatInt(n, 36)
	return "j" + strings.Repeat("0", 4-len(text)) + text
}

// printed is what a command printed, standard output first, and its status.
func (v *View) printed() (text string, status int) {
	out, errs := v.streams()
	text = out + errs
	switch {
	case v.patched() && v.Error == nil:
		return "Success. Updated the following files:\n" + v.changes(), 0
	case v.Meta.Status == "":
		return v.Error.Words(), 1
	case v.Meta.Status == "timed_out":
		return fmt.Sprintf("command timed out after %d milliseconds\n", v.Meta.DurationMS) + text, codexTimedOut
	case v.Meta.ExitCode != nil:
		return text, *v.Meta.ExitCode
	}
	return text, -1
}

// seconds are a time as Codex writes it: to a tenth, without a point where there is
// none.
func seconds(ms int64) string {
	return strconv.FormatFloat(math.Round(float64(ms)/100)/10, 'f', -1, 32)
}

// unrun is what a command says that was not run, as it was none or a patch that failed.
func (v *View) unrun() string {
	switch {
	case v.Title == "patch":
		return v.unpatched()
	case v.Error.Message == bare:
		return unpatchable + bare
	}
	return v.Error.Words()
}

func codexShell(v *View) string {
	if v.Error != nil && v.Meta.Status == "" {
		return v.unrun()
	}
	text, status := v.printed()
	text, cut := middle(text, v.tokens(codexTokens))
	if cut {
		text = fmt.Sprintf("Total output lines: %d\n\n", v.lines()) + text
	}
	type metadata struct {
		ExitCode int         `json:"exit_code"`
		Seconds  json.Number `json:"duration_seconds"`
	}
	number := seconds(v.Meta.DurationMS)
	if !strings.Contains(number, ".") {
		number += ".0" // as serde writes a float
	}
	raw, _ := tool.Encode(struct {
		Output   string   `json:"output"`
		Metadata metadata `json:"metadata"`
	}{text, metadata{status, json.Number(number)}})
	return string(raw)
}

func codexFreeform(v *View) string {
	if v.Error != nil && v.Meta.Status == "" {
		return v.unrun()
	}
	text, status := v.printed()
	text, cut := middle(text, v.tokens(codexTokens))
	total := ""
	if cut {
		total = fmt.Sprintf("Total output lines: %d\n", v.lines())
	}
	return fmt.Sprintf("Exit code: %d\nWall time: %s seconds\n%sOutput:\n%s", status, seconds(v.Meta.DurationMS), total, text)
}

func codexUnified(v *View) string {
	switch {
	case v.Error != nil && v.Error.Code == tool.NotFound && v.Tool.To == "input":
		return "write_stdin failed: Unknown process id " + v.text("session_id")
	case v.Error != nil && v.Error.Code == tool.Conflict && v.Tool.To == "input":
		return "write_stdin failed: stdin is closed for this session; rerun exec_command with tty=true to keep stdin open"
	case v.Error != nil && v.Meta.Status == "" && (v.Title == "patch" || v.Error.Message == bare || v.Error.Code == tool.ApprovalRequired):
		return v.unrun()
	case v.Error != nil && v.Meta.Status == "":
		return v.Tool.Name + " failed: " + v.wrong()
	}
	text, status := v.Output, -1
	if v.patched() || v.Meta.Status == "timed_out" {
		text, status = v.printed()
	} else if v.Meta.ExitCode != nil {
		status = *v.Meta.ExitCode
	}
	size := max(int64(len(text)), v.Meta.TotalBytes)
	if v.To == "output" || v.To == "input" {
		size = int64(len(text)) // the total is that of the session
	}
	text, cut := middle(text, v.tokens(v.number("max_output_tokens")))
	if cut {
		text = fmt.Sprintf("Total output lines: %d\n\n", v.lines()) + text
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Chunk ID: %s\nWall time: %.4f seconds\n", v.chunkID(), float64(v.Meta.DurationMS)/1000)
	if v.Meta.Status == "running" {
		fmt.Fprintf(&b, "Process running with session ID %s\n", sessionID(v.Meta.Job))
	} else {
		fmt.Fprintf(&b, "Process exited with code %d\n", status)
	}
	fmt.Fprintf(&b, "Original token count: %d\nOutput:\n%s", (size+3)/4, text)
	return b.String()
}

func codexPatch(v *View) string {
	if v.Error != nil {
		return v.unpatched()
	}
	text, status := v.printed()
	return fmt.Sprintf("Exit code: %d\nWall time: %s seconds\nOutput:\n%s", status, seconds(v.Meta.DurationMS), text)
}

// chunkID names an answer: six hexadecimal digits, or a UUID where OpenLoaf reads it.
func (v *View) chunkID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	if v.Dialect.Name != "openloaf" {
		return hex.EncodeToString(b[:3])
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// tokens are how many of an output are shown: what was asked for, at most the usual
// number, and what whoever runs the program allows.
func (v *View) tokens(asked int) int {
	n := min(max(asked, 0), codexTokens)
	if v.Max > 0 {
		n = min(n, v.Max/4)
	}
	return n
}

// lines are how many the whole output has.
func (v *View) lines() int64 {
	if v.Meta.TotalLines != nil {
		return *v.Meta.TotalLines
	}
	return int64(strings.Count(v.Output, "\n"))
}

// middle cuts text in its middle to so many tokens of four bytes, and reports whether
// it did.
func middle(text string, tokens int) (string, bool) {
	budget := 4 * tokens
	if len(text) <= budget {
		return text, false
	}
	left, right := budget/2, len(text)-(budget-budget/2)
	for left > 0 && !utf8.RuneStart(text[left]) {
		left--
	}
	for right < len(text) && !utf8.RuneStart(text[right]) {
		right++
	}
	return fmt.Sprintf("%s…%d tokens truncated…%s", text[:left], (right-left+3)/4, text[right:]), true
}
