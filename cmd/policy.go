package cmd

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

func (a *app) policyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "policy",
		Short: "ask and change what calls may do",
		Args:  cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && a.format() == "text" {
				return c.Help()
			}
			var known []string
			for _, sub := range c.Commands() {
				known = append(known, sub.Name())
			}
			what := "no policy command is named"
			if len(args) > 0 {
				what = fmt.Sprintf("unknown policy command %q", args[0])
			}
			return tool.Errorf(tool.BadInput, "%s", what).WithHint("use one of %s", strings.Join(known, ", "))
		},
	}
	c.AddCommand(a.checkCommand(), a.explainCommand(), a.policyTestCommand(), a.lintCommand(), a.initCommand(), a.importCommand(), a.trustCommand())
	for _, v := range []policy.Verdict{policy.Allow, policy.Ask, policy.Deny} {
		c.AddCommand(a.ruleCommand(v))
	}
	c.AddCommand(a.approvalsCommand(), a.approveCommand(), a.refuseCommand())
	return c
}

// A checkRequest is a line of policy check --batch.
type checkRequest struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

func (a *app) checkCommand() *cobra.Command {
	var object string
	var batch bool
	c := &cobra.Command{
		Use:   "check TOOL [ARG]... | --batch",
		Short: "say what a call would get, and run nothing",
		Long: strings.TrimSpace(`
Prints the decision about a call, with every access, the rule that decides it,
its file and line. With --batch, standard input holds one call a line as
{"tool": TOOL, "arguments": {...}}, and one decision a line comes back. The exit
status is 0 whatever the decision, 2 for a call that could not be made.`),
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			env, err := a.env(c.Context())
			if err != nil {
				return err
			}
			if batch {
				return a.checkBatch(c, env)
			}
			_, out, err := a.decide(c, env, args, object)
			a.emit(checked(env, out, err))
			return nil
		},
	}
	c.Flags().StringVar(&object, "json", "", "the call's parameters as one JSON `object`; - reads standard input")
	c.Flags().BoolVar(&batch, "batch", false, "read calls from standard input, one a line")
	return c
}

// decide asks the policy about a call without making it.
func (a *app) decide(c *cobra.Command, env *tool.Env, args []string, object string) (*tool.Invocation, *policy.Outcome, error) {
	if len(args) == 0 {
		return nil, nil, tool.Errorf(tool.BadInput, "no tool is named").WithHint("agentkit policy check TOOL --json '{…}'")
	}
	t, err := lookup(args[0])
	if err != nil {
		return nil, nil, err
	}
	in := tool.New(t)
	switch {
	case c.Flags().Changed("json"):
		raw := []byte(object)
		if object == "-" {
			if raw, err = a.readStdin(); err != nil {
				return nil, nil, err
			}
		}
		in, err = tool.Decode(t, raw)
	default:
		err = in.Set.Fill(args[1:])
	}
	if err != nil {
		return nil, nil, err
	}
	out, err := outcome(c, env, in)
	return in, out, err
}

func outcome(c *cobra.Command, env *tool.Env, in *tool.Invocation) (*policy.Outcome, error) {
	needs, err := in.Call.Needs(c.Context(), env)
	if err != nil {
		return nil, err
	}
	out := env.Policy.DecideAll(needs)
	return &out, nil
}

// checked is the result of policy check. A call that is refused before the
// policy is asked, such as one with an impossible path, counts as denied.
func checked(env *tool.Env, out *policy.Outcome, err error) *tool.Result {
	if err != nil {
		e := tool.AsError(err)
		return &tool.Result{Title: "refused", Error: e, Trimmed: true, Metadata: policy.Report{
			Decision: policy.Deny, Accesses: []policy.AccessReport{}, Level: env.Policy.Level(),
		}}
	}
	report := env.Policy.Report(out)
	var b strings.Builder
	for _, one := range report.Accesses {
		fmt.Fprintf(&b, "%-5s %s %s", one.Decision, one.Kind, one.Subject)
		if one.Rule != "" {
			fmt.Fprintf(&b, " (%s", tool.Visible(one.Rule))
			if one.File != "" {
				fmt.Fprintf(&b, ", %s:%d", one.File, one.Line)
			}
			b.WriteByte(')')
		}
		b.WriteByte('\n')
	}
	return &tool.Result{Title: out.Verdict.String(), Output: out.Verdict.String() + "\n" + b.String(), Metadata: report, Trimmed: true}
}

func (a *app) checkBatch(c *cobra.Command, env *tool.Env) error {
	if a.stdin == nil {
		return nil
	}
	w := bufio.NewWriter(a.stdout)
	in := bufio.NewReader(a.stdin)
	for {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			raw, fail := json.Marshal(checkLine(c, env, line))
			if fail != nil {
				return fail
			}
			_, _ = w.Write(append(raw, '\n'))
		}
		if err == io.EOF {
			a.deliver(w.Flush())
			return nil
		}
		if err != nil {
			return tool.Errorf(tool.IO, "reading standard input: %w", err).WithHint("check what is connected to it")
		}
	}
}

// A checkAnswer is a decision of policy check --batch.
type checkAnswer struct {
	policy.Report
	Error *tool.Error `json:"error,omitempty"`
}

func checkLine(c *cobra.Command, env *tool.Env, line []byte) checkAnswer {
	var req checkRequest
	err := json.Unmarshal(line, &req)
	var out *policy.Outcome
	if err != nil {
		err = tool.Errorf(tool.BadInput, "not a call: %w", err).WithHint(`send {"tool": TOOL, "arguments": {…}}`)
	} else {
		var t *tool.Tool
		var in *tool.Invocation
		if t, err = lookup(req.Tool); err == nil {
			if in, err = tool.Decode(t, req.Arguments); err == nil {
				out, err = outcome(c, env, in)
			}
		}
	}
	if err != nil {
		return checkAnswer{policy.Report{Decision: policy.Deny, Accesses: []policy.AccessReport{}, Level: env.Policy.Level()}, tool.AsError(err)}
	}
	return checkAnswer{Report: env.Policy.Report(out)}
}

func (a *app) explainCommand() *cobra.Command {
	var object string
	c := &cobra.Command{
		Use:   "explain TOOL [ARG]...",
		Short: "show as a tree what a call would do and which rule decides each part",
		RunE: func(c *cobra.Command, args []string) error {
			env, err := a.env(c.Context())
			if err != nil {
				return err
			}
			in, out, err := a.decide(c, env, args, object)
			if err != nil {
				a.emit(checked(env, nil, err))
				return nil
			}
			text := env.Policy.Explain(in.Tool.Name, subject(in), out).String()
			a.emit(&tool.Result{Title: out.Verdict.String(), Output: text, Metadata: env.Policy.Report(out), Trimmed: true})
			return nil
		},
	}
	c.Flags().StringVar(&object, "json", "", "the call's parameters as one JSON `object`; - reads standard input")
	return c
}

// subject is what a call is about, for a heading: its first parameter.
func subject(in *tool.Invocation) string {
	for _, p := range in.Set.Params {
		if p.Given() {
			return p.String()
		}
	}
	return ""
}

// A policyCase is a line of a cases file: a call, and what it should get.
type policyCase struct {
	checkRequest
	Bash string         `json:"bash"` // short for a call of bash
	Want policy.Verdict `json:"want"`
}

func (a *app) policyTestCommand() *cobra.Command {
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
			env, err := a.env(c.Context())
			if err != nil {
				return err
			}
			var failed []string
			tests := 0
			for _, name := range args {
				n, wrong, err := a.testFile(c, env, name)
				if err != nil {
					return err
				}
				tests, failed = tests+n, append(failed, wrong...)
			}
			out := strings.Join(failed, "\n")
			if out == "" {
				out = "all as expected"
			}
			a.emit(&tool.Result{
				Title: fmt.Sprintf("%d of %d failed", len(failed), tests), Output: out + "\n", No: len(failed) > 0,
				Metadata: map[string]any{"tests": tests, "failed": len(failed), "failures": append([]string{}, failed...)},
			})
			return nil
		},
	}
}

// testFile checks one file; wrong names what is not as it should be.
func (a *app) testFile(c *cobra.Command, env *tool.Env, name string) (tests int, wrong []string, err error) {
	name = absolute([]string{name})[0]
	if !strings.HasSuffix(name, ".jsonl") {
		if err := policy.CheckFile(name, policy.CommandLine, a.sources(env)); err != nil {
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
		var one policyCase
		if err := json.Unmarshal(line, &one); err != nil {
			return tests, wrong, tool.Errorf(tool.BadInput, "%s:%d: %w", name, n, err).WithHint(`a case is {"bash": COMMAND, "want": "allow"}`)
		}
		if one.Bash != "" {
			one.Tool = "bash"
			one.Arguments, _ = json.Marshal(map[string]string{"command": one.Bash})
		}
		raw, _ := json.Marshal(one.checkRequest)
		tests++
		if got := checkLine(c, env, raw); got.Decision != one.Want {
			wrong = append(wrong, fmt.Sprintf("%s:%d: want %s, got %s", name, n, one.Want, got.Decision))
		}
	}
	return tests, wrong, nil
}

func (a *app) lintCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lint",
		Short: "find rules that do nothing, or more than they should",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			env, err := a.env(c.Context())
			if err != nil {
				return err
			}
			list := policy.Lint(env.Policy)
			var b strings.Builder
			for _, f := range list {
				fmt.Fprintf(&b, "%s:%d: %s: %s: %s\n", f.File, f.Line, f.Kind, tool.Visible(f.Rule), f.Message)
			}
			if len(list) == 0 {
				b.WriteString("nothing found\n")
			}
			a.emit(&tool.Result{
				Title: fmt.Sprintf("%d findings", len(list)), Output: b.String(), No: len(list) > 0,
				Metadata: map[string]any{"findings": append([]policy.Finding{}, list...)},
			})
			return nil
		},
	}
}

func (a *app) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "write a starting policy for this repository",
		Long: strings.TrimSpace(`
Looks at what the repository is made of (Go, Node, Python, Rust, Make) and writes
.agentkit/policy.yaml with comments. What it allows counts once you have read it
and said "agentkit policy trust".`),
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := a.personOnly(); err != nil {
				return err
			}
			w, _, err := a.place()
			if err != nil {
				return err
			}
			name := filepath.Join(w.Root(), ".agentkit", "policy.yaml")
			have, err := policy.UserFile(filepath.Dir(name))
			if err != nil {
				return err
			}
			if _, err := os.Lstat(have); err == nil {
				return tool.Errorf(tool.Conflict, "%s exists already", have).WithHint("edit it, or move it away first")
			}
			text := policy.InitFile(repoFacts(w.Root()))
			if !a.DryRun {
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					return err
				}
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					return err
				}
			}
			a.emit(&tool.Result{Title: "wrote " + name, Output: text, Metadata: map[string]string{"path": name}})
			return nil
		},
	}
}

// repoFacts looks at what lies in a repository's root.
func repoFacts(root string) policy.RepoFacts {
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(root, name))
		return err == nil
	}
	f := policy.RepoFacts{Go: has("go.mod"), Rust: has("Cargo.toml"), Make: has("Makefile")}
	for _, n := range [][2]string{{"package-lock.json", "npm"}, {"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"package.json", "npm"}} {
		if has(n[0]) && has("package.json") {
			f.Node = n[1]
			break
		}
	}
	for _, p := range [][2]string{{"uv.lock", "uv"}, {"poetry.lock", "poetry"}, {"pyproject.toml", "pytest"}, {"setup.py", "pytest"}, {"pytest.ini", "pytest"}} {
		if has(p[0]) {
			f.Python = p[1]
			break
		}
	}
	var pkg struct {
		Scripts map[string]string `json:"scripts"`
	}
	if data, err := os.ReadFile(filepath.Join(root, "package.json")); err == nil && json.Unmarshal(data, &pkg) == nil {
		for name := range pkg.Scripts {
			f.Scripts = append(f.Scripts, name)
		}
		slices.Sort(f.Scripts)
	}
	if data, err := os.ReadFile(filepath.Join(root, "Makefile")); err == nil {
		f.Targets = makeTargets(string(data))
	}
	return f
}

// makeTargets are the plain names in front of a colon at the start of a line.
func makeTargets(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		name, rest, ok := strings.Cut(line, ":")
		if ok && name != "" && !strings.HasPrefix(rest, "=") && !strings.ContainsAny(name, " \t.#$%=/\\") && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

func (a *app) trustCommand() *cobra.Command {
	var list, remove bool
	c := &cobra.Command{
		Use:   "trust",
		Short: "let the allow rules of this repository's policy count",
		Long: strings.TrimSpace(`
A repository's policy only tightens until you trust its content. Any change of
the file ends the trust. Read the file first: it decides what runs unasked.`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.personOnly(); err != nil {
				return err
			}
			store := a.trust()
			if store == nil {
				return tool.Errorf(tool.BadInput, "there is no place to remember it").WithHint("set HOME or XDG_CONFIG_HOME")
			}
			if list {
				return a.trustList(store)
			}
			env, err := a.env(c.Context())
			if err != nil {
				return err
			}
			for _, f := range env.Policy.Files() {
				if f.Layer != policy.Project {
					continue
				}
				verb := "trusted"
				if remove {
					verb, err = "no longer trusted", store.Remove(c.Context(), f.Path)
				} else {
					err = store.Add(c.Context(), f.Path, f.SHA256, time.Now())
				}
				if err != nil {
					return err
				}
				a.emit(&tool.Result{Title: verb + " " + f.Path, Output: fmt.Sprintf("%s: %s (sha256 %s)\n", verb, f.Path, f.SHA256), Metadata: map[string]string{"path": f.Path, "sha256": f.SHA256}})
				return nil
			}
			return tool.Errorf(tool.NotFound, "this repository has no policy of its own").WithHint("agentkit policy init writes one")
		},
	}
	c.Flags().BoolVar(&list, "list", false, "print what is trusted")
	c.Flags().BoolVar(&remove, "remove", false, "end the trust")
	return c
}

func (a *app) trustList(store *policy.TrustStore) error {
	all, err := store.List()
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, t := range all {
		fmt.Fprintf(&b, "%s sha256 %s since %s\n", t.Path, t.SHA256, t.Time.Format(time.DateOnly))
	}
	a.emit(&tool.Result{Title: fmt.Sprintf("%d trusted", len(all)), Output: b.String(), Metadata: map[string]any{"trusted": append([]policy.Trust{}, all...)}})
	return nil
}

func (a *app) ruleCommand(v policy.Verdict) *cobra.Command {
	return &cobra.Command{
		Use:   v.String() + " RULE",
		Short: fmt.Sprintf("add a rule to the %s list of the user's policy", v),
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.personOnly(); err != nil {
				return err
			}
			env, err := a.env(c.Context())
			if err != nil {
				return err
			}
			file, err := policy.UserFile(a.configDir())
			if err != nil {
				return err
			}
			if err := policy.AddRule(c.Context(), a.sources(env), file, v, args[0]); err != nil {
				return tool.Errorf(tool.BadInput, "adding the rule: %w", err).WithHint("a rule is tool(pattern), such as 'bash(go test *)'; the file is unchanged")
			}
			a.emit(&tool.Result{Title: "added to " + file, Output: fmt.Sprintf("%s: %s\n", v, args[0]), Metadata: map[string]string{"path": file, "rule": args[0]}})
			return nil
		},
	}
}

func (a *app) approvalsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "approvals",
		Short: "list the calls that wait for a person",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			env, err := a.env(c.Context())
			if err != nil {
				return err
			}
			all, err := env.Approvals.List(c.Context())
			if err != nil {
				return err
			}
			var b strings.Builder
			for _, one := range all {
				fmt.Fprintf(&b, "%s %s %s in %s\n", one.ID, one.Answer, one.Tool, tool.Visible(one.Root))
				for _, access := range one.Report.Accesses {
					fmt.Fprintf(&b, "    %-5s %s %s\n", access.Decision, access.Kind, access.Subject)
				}
			}
			if len(all) == 0 {
				b.WriteString("nothing waits\n")
			}
			a.emit(&tool.Result{Title: fmt.Sprintf("%d requests", len(all)), Output: b.String(), Metadata: map[string]any{"approvals": append([]policy.Approval{}, all...)}})
			return nil
		},
	}
}

func (a *app) approveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "approve ID",
		Short: "let the very call of a request pass once",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.answer(c, func(s *policy.Approvals) (policy.Approval, error) { return s.Approve(c.Context(), args[0]) })
		},
	}
}

func (a *app) refuseCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "refuse ID [REASON]",
		Short: "make the very call of a request fail, with a reason for the model",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			reason := strings.Join(args[1:], " ")
			return a.answer(c, func(s *policy.Approvals) (policy.Approval, error) { return s.Refuse(c.Context(), args[0], reason) })
		},
	}
}

func (a *app) answer(c *cobra.Command, do func(*policy.Approvals) (policy.Approval, error)) error {
	if err := a.personOnly(); err != nil {
		return err
	}
	env, err := a.env(c.Context())
	if err != nil {
		return err
	}
	one, err := do(env.Approvals)
	if err != nil && !errors.Is(err, policy.ErrNoApproval) && !errors.Is(err, policy.ErrAnswered) {
		return err
	}
	if err != nil {
		return tool.Errorf(tool.NotFound, "%w", err).WithHint("agentkit policy approvals lists the requests")
	}
	a.emit(&tool.Result{Title: string(one.Answer) + " " + one.ID, Output: fmt.Sprintf("%s: %s in %s\n", one.Answer, one.Tool, tool.Visible(one.Root)), Metadata: one})
	return nil
}

// personOnly refuses what only a person may decide when a command that an
// agent runs asks for it.
func (a *app) personOnly() error {
	if a.getenv("AGENTKIT") == "" && !machine.StartedByUs() {
		return nil
	}
	return tool.Errorf(tool.Denied, "this is for a person: it is refused to commands that agentkit runs").
		WithHint("run it in a terminal of your own")
}
