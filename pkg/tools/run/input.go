package run

import (
	"context"
	_ "embed"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/job"
	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/shellparse"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

//go:embed input.md
var inputDoc string

// Input types into a job.
var Input = tool.Tool{
	Name:      "input",
	Summary:   "type into a job, and read what it answers",
	Doc:       &inputDoc,
	New:       func() tool.Call { return &inputCall{YieldMS: 250} },
	OpenWorld: true,

	Others: []string{"writestdin", "sendinput", "sendkeys", "stdin"},

	Examples: []string{
		"agentkit input j7k2 --text 'print(1)' --keys enter",
		"agentkit input j7k2 --keys ctrl-c",
	},

	IDs: jobIDs,

	Metadata: (*jobOutput)(nil),
}

type inputCall struct {
	ID      string
	Text    string
	Keys    []string
	Close   bool
	YieldMS int
	Rows    *int
	Cols    *int

	keys []string // as bytes
	job  *job.Job
}

// Params implements tool.Call.
func (i *inputCall) Params(p *param.Set) {
	jobID(p, &i.ID)
	p.String(&i.Text, "text", "what to type").FromStdin().Alias("chars", "input")
	p.Strings(&i.Keys, "keys", "keys to press after the text")
	p.Bool(&i.Close, "close", "end its input").Alias("eof")
	p.Millis(&i.YieldMS, "yield_ms", "how long to wait for its answer").Between(0, 600_000).Alias("yield_time_ms", "timeout", "timeout_ms")
	p.OptionalInt(&i.Rows, "rows", "resize its terminal").Between(1, 1000).Shown("as it is").Rare()
	p.OptionalInt(&i.Cols, "cols", "resize its terminal").Between(1, 1000).Shown("as it is").Rare()
}

// Needs implements tool.Call. What is typed into a shell runs like any other
// command, so it is decided like one; what cannot be followed, such as half a
// line or a key that calls up an older one, counts as unknown.
func (i *inputCall) Needs(ctx context.Context, env *tool.Env) ([]policy.Access, error) {
	if (i.Rows == nil) != (i.Cols == nil) {
		return nil, tool.Errorf(tool.BadInput, "rows and cols belong together").WithHint("give both, or neither")
	}
	for _, name := range i.Keys {
		key, err := job.Key(name)
		if err != nil {
			return nil, tool.Errorf(tool.BadInput, "keys: %w", err).WithHint("use enter, tab, esc, up, down, ctrl-c and the like; plain text belongs in text")
		}
		i.keys = append(i.keys, key)
	}
	var err error
	if i.job, err = openJob(env, i.ID); err != nil {
		return nil, err
	}
	needs := []policy.Access{{Kind: policy.Tool, Tool: "input", Name: i.ID}}
	info, err := i.job.Live(ctx)
	if info.Silent {
		return nil, jobError(job.ErrSilent)
	}
	if err != nil || !info.Alive() || i.Text == "" && len(i.keys) == 0 {
		return needs, nil // nothing is typed, or Run says why
	}
	kind, why := typedInto(info)
	if kind != "" {
		why = i.unclear(info)
	}
	switch {
	case why != "":
		return append(needs, policy.Access{
			Kind: policy.Exec, Tool: "bash", Argv: []string{i.Text}, Dynamic: []bool{true}, Source: i.Text, Opaque: why,
		}), nil
	case kind == "":
		return needs, nil
	}
	// Where the shell stands and what it has defined nobody knows.
	world := newWorld(env, info.Dir, newEnvironment(env, info.Dir, info.TTY, nil).list)
	typed := shellparse.Analyze(ctx, i.Text, kind, world).Accesses
	for n := range typed {
		typed[n].Tool = "bash"
	}
	return policy.Append(needs, typed...), nil
}

// typedInto tells which kind of shell takes what is typed into a job as commands;
// unknown says why that cannot be told. Both are empty when none does: the
// text is data then, as what a script reads with read is.
func typedInto(info job.Info) (kind, unknown string) {
	if info.Waiting != nil && len(info.Waiting.Argv) > 0 {
		return commandReader(info.Waiting.Argv), ""
	}
	command := strings.FieldsFunc(commandOf(info), func(r rune) bool { return strings.ContainsRune(" \t\n;&|()/'\"`$", r) })
	for _, word := range command {
		if slices.Contains(machine.Shells(), word) || word == "su" || word == "sudo" || word == "ssh" {
			return "", "which program reads the input is not known before it does, and it may be a shell"
		}
	}
	return "", ""
}

// commandReader is the kind of the shell that argv starts to read commands from
// its input; "" when it reads them from elsewhere, or is no shell.
func commandReader(argv []string) string {
	kind := strings.TrimPrefix(filepath.Base(argv[0]), "-")
	if !slices.Contains(machine.Shells(), kind) {
		return ""
	}
	value := false
	for _, word := range argv[1:] {
		switch {
		case value:
			value = false
		case word == "-o", word == "+o", word == "-O", word == "+O", word == "--rcfile", word == "--init-file":
			value = true
		case strings.HasPrefix(word, "--"):
		case len(word) > 1 && (word[0] == '-' || word[0] == '+'):
			if strings.ContainsRune(word, 'c') {
				return ""
			}
		default:
			return "" // a script
		}
	}
	if kind == "dash" || kind == "ksh" {
		return "sh"
	}
	return kind
}

// unclear says why the text is not a command line of its own.
func (i *inputCall) unclear(info job.Info) string {
	switch {
	case slices.ContainsFunc(i.keys, func(k string) bool { return k != "\r" && k != "\n" && k != "\x03" && k != "\x04" }):
		return "keys that edit the line or call up an older one"
	case strings.TrimSpace(i.Text) == "":
		return ""
	case !strings.HasSuffix(i.Text, "\n") && !slices.Contains(i.keys, "\r"):
		return "the line is not whole: what is typed next belongs to it"
	case strings.ContainsFunc(i.Text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }):
		return "control characters, which the shell's line editor acts on"
	case strings.ContainsRune(i.Text, '\t') && info.TTY:
		return "tabs, which the shell's line editor completes"
	case strings.Contains(i.Text, "!") && info.TTY:
		return "an exclamation mark, which calls up an older line"
	}
	return ""
}

// echo is how many bytes a terminal shows of what is typed, at most.
func (i *inputCall) echo(info job.Info) int64 {
	if !info.TTY {
		return 0
	}
	n := len(i.Text) + strings.Count(i.Text, "\n")
	for _, key := range i.keys {
		n += 2 * len(key)
	}
	return int64(n)
}

// Run implements tool.Call.
func (i *inputCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	if i.Rows != nil {
		if err := i.job.Resize(ctx, uint16(*i.Rows), uint16(*i.Cols)); err != nil {
			return nil, jobError(err)
		}
	}
	before, err := i.job.Info()
	if err != nil {
		return nil, jobError(err)
	}
	if i.Text != "" || len(i.keys) > 0 || i.Close {
		if err := i.job.Input(ctx, []byte(i.Text), i.keys, i.Close); err != nil {
			return nil, jobError(err)
		}
	}
	wait, cancel := context.WithTimeout(ctx, time.Duration(i.YieldMS)*time.Millisecond)
	defer cancel()
	// At first it still waits for what it is just being sent.
	settle, enough := context.WithTimeout(wait, 200*time.Millisecond)
	_, err = i.job.Wait(settle, job.WaitFor{})
	enough()
	if err == nil {
		_, err = i.job.Wait(wait, job.WaitFor{Input: true, Quiet: true, Ready: true, From: before.Total, Echo: i.echo(before)})
	}
	if err != nil {
		return nil, jobError(err)
	}
	r, err := readJob(ctx, env, i.job, jobView{Query: job.Query{SinceLast: true}})
	if r != nil {
		r.Passes = false
	}
	return r, errors.Join(err, context.Cause(ctx))
}
