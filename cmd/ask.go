package cmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// grantsFile holds, in the session's state, the rules that were granted for
// the session: one a line.
const grantsFile = "grants"

// asker returns who answers for accesses that need approval, one question at a
// time; nil for nobody. The text is the program that does, if one does.
func (a *app) asker(c console) (tool.Asker, string) {
	switch {
	case strings.HasPrefix(a.Ask, "cmd:"):
		program := approver(strings.TrimPrefix(a.Ask, "cmd:"))
		return func(ctx context.Context, r *tool.Request) (tool.Answer, error) {
			return askProgram(ctx, a.stderr, program, r)
		}, program
	case a.attended():
		return func(ctx context.Context, r *tool.Request) (tool.Answer, error) {
			return onTerminal(ctx, c, func(tty machine.Terminal) (tool.Answer, error) {
				if r.Dir != "" {
					tty.Flush() // what was typed before nobody meant for this question
				}
				return whileOpen(ctx, tty, func() (tool.Answer, error) { return askPerson(tty, r) })
			})
		}, ""
	}
	return nil, ""
}

// approver is the file behind the name of a program that answers, found once: a
// command must not be able to put another one in its place.
func approver(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		name = path
	}
	if path, err := filepath.Abs(name); err == nil {
		name = path
	}
	if path, err := filepath.EvalSymlinks(name); err == nil {
		name = path
	}
	return name
}

// askPerson shows the request on a terminal and reads the answer.
//
// The rules of the prompt: every access stands on a line of its own with its
// decision; what the model wrote is shown with control and invisible characters
// escaped, and more than one line of it behind bars; the rule that "always" would write
// is shown before it is chosen; anything but a clear yes is no.
func askPerson(tty io.ReadWriter, r *tool.Request) (tool.Answer, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "agentkit: %s needs approval\n", r.Tool)
	if r.Dir != "" {
		fmt.Fprintf(&b, "  a program that the running command starts in %s\n", tool.Visible(r.Dir))
	}
	tell(&b, r.Details.Request.Metadata)
	for i := range r.Outcome.Accesses {
		d := &r.Outcome.Decisions[i]
		fmt.Fprintf(&b, "  %-5s %s %s\n", d.Verdict, r.Outcome.Accesses[i].Kind, policy.Subject(&r.Outcome.Accesses[i]))
		if d.Verdict == policy.Ask {
			fmt.Fprintf(&b, "        %s (%s)\n", tool.Visible(d.Why), tool.Visible(d.Rule))
		}
	}
	choices := []string{"[y]es once"}
	if len(r.Grants) > 0 {
		fmt.Fprintf(&b, "  rule for the session: %s\n", tool.Visible(r.Grants[0]))
		choices = append(choices, "[s]ession")
	}
	if len(r.Rules) > 0 {
		fmt.Fprintf(&b, "  rule for always: %s\n", tool.Visible(r.Rules[0]))
		choices = append(choices, "[a]lways", "[e]dit the rule")
	}
	fmt.Fprintf(&b, "agentkit: allow? %s, [n]o: ", strings.Join(choices, ", "))
	if _, err := io.WriteString(tty, b.String()); err != nil {
		return tool.Answer{}, err
	}
	in := bufio.NewReader(tty)
	line, err := in.ReadString('\n')
	if err != nil && line == "" {
		return tool.Answer{}, nil //nolint:nilerr // the terminal went away: nobody said yes
	}
	return interpret(tty, in, r, strings.TrimSpace(line))
}

// maxAbout and mostAbout bound what the prompt shows of each thing that a call tells
// of itself, in bytes and lines.
const (
	maxAbout  = 4000
	mostAbout = 60
)

// tell shows what a call tells of itself. What has several lines, as a command line
// may have, is shown as it was typed, each line behind a bar.
func tell(b *strings.Builder, about map[string]any) {
	for _, m := range []struct{ name, label string }{
		{"root", "root"},
		{"cwd", "directory"},
		{"command", "command"},
		{"description", "description"},
		{"file_path", "file"},
		{"would_fail", "would fail"},
		{"diff", "diff"},
		{"diff_withheld", "no diff"},
		{"new_content", "new content"},
	} {
		text, _ := about[m.name].(string)
		if text == "" {
			continue
		}
		shown := text[:min(len(text), maxAbout)]
		lines := strings.SplitAfterN(shown, "\n", mostAbout+1)
		shown = strings.ToValidUTF8(strings.Join(lines[:min(len(lines), mostAbout)], ""), "")
		more := ""
		if left := len(text) - len(shown); left > 0 {
			more = fmt.Sprintf("… %s more, %d in all", tool.Count(int64(left), "byte"), len(text))
		}
		shown = tool.Visible(shown)
		if !strings.Contains(shown, "\n") {
			fmt.Fprintf(b, "  %s: %s%s\n", m.label, shown, more)
			continue
		}
		shown = strings.TrimSuffix(shown+more, "\n")
		fmt.Fprintf(b, "  %s:\n  | %s\n", m.label, strings.ReplaceAll(shown, "\n", "\n  | "))
	}
}

func interpret(tty io.Writer, in *bufio.Reader, r *tool.Request, line string) (tool.Answer, error) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "y", "yes":
		return tool.Answer{Yes: true, Scope: tool.Once}, nil
	case "s", "session":
		if len(r.Grants) > 0 {
			return tool.Answer{Yes: true, Scope: tool.Session, Rule: r.Grants[0]}, nil
		}
	case "a", "always":
		if len(r.Rules) > 0 {
			return tool.Answer{Yes: true, Scope: tool.Always, Rule: r.Rules[0]}, nil
		}
	case "e", "edit":
		if len(r.Rules) == 0 {
			break
		}
		if _, err := fmt.Fprintf(tty, "agentkit: rule to allow always (empty for no): "); err != nil {
			return tool.Answer{}, err
		}
		own, _ := in.ReadString('\n')
		if own = strings.TrimSpace(own); own != "" {
			return tool.Answer{Yes: true, Scope: tool.Always, Rule: own}, nil
		}
	case "n", "no":
		return tool.Answer{Reason: strings.TrimSpace(rest)}, nil
	}
	return tool.Answer{}, nil
}

// keep makes the rule of an answer last as long as it is meant to.
func keep(ctx context.Context, env *tool.Env, answer tool.Answer) (tool.Answer, error) {
	switch {
	case !answer.Yes || answer.Rule == "":
		return answer, nil
	case answer.Scope == tool.Session:
		return answer, env.Session.Update(ctx, grantsFile, func(old []byte) ([]byte, error) {
			if len(old) > 0 && !bytes.HasSuffix(old, []byte("\n")) {
				old = append(old, '\n')
			}
			return append(old, answer.Rule+"\n"...), nil
		})
	}
	file, err := policy.UserFile(env.Sources.User)
	if err == nil {
		err = policy.AddRule(ctx, env.Sources, file, policy.Allow, answer.Rule)
	}
	if err != nil {
		return answer, tool.Errorf(tool.BadInput, "writing the rule: %w", err).WithHint("correct the rule or %s, and repeat the call", file)
	}
	return answer, nil
}

// A programRequest is what the program of --ask=cmd: reads on standard input.
type programRequest struct {
	Request   policy.Request        `json:"request"`
	Tool      string                `json:"tool"`
	Accesses  []policy.AccessReport `json:"accesses"`
	Rules     []string              `json:"rules"`
	Questions []tool.Question       `json:"questions,omitempty" doc:"what a model asks, where it is that"`
}

// A programAnswer is what it prints.
type programAnswer struct {
	Decision string          `json:"decision"` // allow or deny
	Reason   string          `json:"reason"`   // of a deny, for the model
	Answers  json.RawMessage `json:"answers"`  // to questions
}

func askProgram(ctx context.Context, stderr io.Writer, program string, r *tool.Request) (tool.Answer, error) {
	answer, err := runProgram(ctx, stderr, program, programRequest{Request: r.Details.Request, Tool: r.Tool, Accesses: r.Details.Accesses, Rules: r.Grants})
	return tool.Answer{Yes: answer.Decision == "allow", Scope: tool.Once, Reason: answer.Reason}, err
}

func runProgram(ctx context.Context, stderr io.Writer, program string, r programRequest) (answer programAnswer, err error) {
	in, err := json.Marshal(r)
	if err != nil {
		return answer, err
	}
	c := exec.CommandContext(ctx, program)
	c.Stdin, c.Stderr, c.WaitDelay = bytes.NewReader(in), stderr, time.Second
	out, err := c.Output()
	if err != nil {
		return answer, tool.Errorf(tool.ApprovalRequired, "asking %s: %w", program, err).WithHint("the program must exit with 0 and print {\"decision\":\"allow\"} or deny")
	}
	if err := json.Unmarshal(out, &answer); err != nil || answer.Decision != "allow" && answer.Decision != "deny" {
		return answer, tool.Errorf(tool.ApprovalRequired, "%s answered neither allow nor deny", program).
			WithHint("the program must print {\"decision\":\"allow\"} or {\"decision\":\"deny\",\"reason\":…}")
	}
	return answer, nil
}

// grants are the rules that were granted for the session.
func grants(env *tool.Env) []string {
	raw, err := env.Session.ReadFile(grantsFile)
	if err != nil {
		return nil // none were given, or none can be shown to have been
	}
	var rules []string
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" {
			rules = append(rules, line)
		}
	}
	return rules
}
