package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// asker returns who answers for accesses that need approval, one question at a
// time; nil for nobody. The text is the program that does, if one does.
func (a *app) asker(c *console) (tool.Asker, string) {
	switch {
	case strings.HasPrefix(a.Ask, "cmd:"):
		program := a.approver(strings.TrimPrefix(a.Ask, "cmd:"))
		return func(ctx context.Context, r *tool.Request) (tool.Answer, error) {
			return askProgram(ctx, a.stderr, program, r)
		}, program
	case a.attended():
		return func(ctx context.Context, r *tool.Request) (tool.Answer, error) {
			return onTerminal(ctx, c, func(tty machine.Terminal) (tool.Answer, error) {
				return whileOpen(ctx, tty, func() (tool.Answer, error) { return askPerson(tty, r) })
			})
		}, ""
	}
	return nil, ""
}

// approver is the file behind the name of a program that answers, found once: a
// command must not be able to put another one in its place, nor one of that name
// into a directory of PATH.
func (a *app) approver(name string) string {
	name = a.approverName(name)
	if path, err := filepath.EvalSymlinks(name); err == nil {
		name = path
	}
	return name
}

// approverName is the path by which that file is found; links may be on its way.
func (a *app) approverName(name string) string {
	if !strings.ContainsAny(name, `/`+string(filepath.Separator)) {
		if path := a.program(name); path != "" {
			name = path
		}
	} else if path, err := exec.LookPath(name); err == nil {
		name = path
	}
	if path, err := filepath.Abs(name); err == nil {
		name = path
	}
	return name
}

// A programRequest is what the program of --ask=cmd: reads on standard input.
type programRequest struct {
	Request   policy.Request        `json:"request"`
	Tool      string                `json:"tool"`
	On        string                `json:"on,omitempty" doc:"the place where the call is made; absent for this machine"`
	Accesses  []policy.AccessReport `json:"accesses"`
	Rules     []string              `json:"rules"`
	Questions []tool.Question       `json:"questions,omitempty" doc:"what a model asks, where it is that"`
}

// A programAnswer is what it prints.
type programAnswer struct {
	Decision string          `json:"decision"` // allow or deny
	Reason   string          `json:"reason"`   // of a deny, for the model
	Scope    tool.Scope      `json:"scope"`    // of an allow: once, session or always; once where it is not said
	Rules    []string        `json:"rules"`    // for session and always: what is granted, such as the rules of a suggestion
	Answers  json.RawMessage `json:"answers"`  // to questions
}

func askProgram(ctx context.Context, stderr io.Writer, program string, r *tool.Request) (tool.Answer, error) {
	answer, err := runProgram(ctx, stderr, program, programRequest{Request: r.Details.Request, Tool: r.Tool, On: r.On, Accesses: r.Details.Accesses, Rules: r.Details.Request.Narrowest()})
	a := tool.Answer{Yes: answer.Decision == "allow", Scope: tool.Once, Reason: answer.Reason}
	if a.Yes && answer.Scope != "" {
		a.Scope, a.Rules = answer.Scope, answer.Rules
	}
	return a, err
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
