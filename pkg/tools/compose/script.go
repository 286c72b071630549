package compose

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/script"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/truncate"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

//go:embed script.md
var scriptDoc string

// Script runs Lua that calls tools.
var Script = tool.Tool{
	Name:    "script",
	Summary: "run Lua that calls tools",
	Doc:     &scriptDoc,
	New:     func() tool.Call { return &scriptCall{TimeoutMS: 120_000} },
	Nests:   true,

	OpenWorld: true,

	Others: []string{"lua", "codemode", "runscript", "exec"},

	Examples: []string{
		`agentkit script 'for _, f in ipairs(tools.glob("*.go").metadata.files) do print(f) end'`,
		"agentkit script --path count.lua --args src",
	},

	Metadata: (*scriptMeta)(nil),
}

type scriptCall struct {
	Code      string
	Path      string
	Args      []string
	TimeoutMS int

	path workspace.Path
}

// Params implements tool.Call.
func (s *scriptCall) Params(p *param.Set) {
	p.String(&s.Code, "code", "the Lua").Alias("script", "lua", "source").Arg().FromStdin()
	p.Path(&s.Path, "path", param.File, "a file of it instead").Alias("file", "file_path").Rare()
	p.Strings(&s.Args, "args", "the table args").Rare()
	p.Millis(&s.TimeoutMS, "timeout_ms", "time limit").Between(1, 600_000).Alias("timeout", "timeoutMs").Rare()
}

// Needs implements tool.Call: a file that it reads. What the script calls is asked about
// when it does.
func (s *scriptCall) Needs(_ context.Context, env *tool.Env) ([]policy.Access, error) {
	needs := []policy.Access{{Kind: policy.Tool, Tool: "script"}}
	switch {
	case (s.Code == "") == (s.Path == ""):
		return nil, tool.Errorf(tool.BadInput, "want either code or a path").WithHint("give the Lua itself, or the file that holds it")
	case s.Path == "":
		return needs, nil
	}
	p, err := env.Workspace.Resolve(s.Path)
	if err != nil {
		return nil, err
	}
	s.path = p
	return append(needs, p.Read("script")), nil
}

type scriptMeta struct {
	Value any        `json:"value" doc:"what the script returned; null for nothing"`
	Calls []madeCall `json:"calls" doc:"the calls that it made, in order"`
}

type madeCall struct {
	Name  string    `json:"name"`
	Error tool.Code `json:"error,omitempty" doc:"the error's code, of one that failed"`
}

// The limits of a script.
const (
	maxScript = 1 << 20 // bytes of its text
	maxHeld   = 256 << 20
	maxMade   = 1000
	maxPrint  = 1 << 20
)

// Run implements tool.Call.
func (s *scriptCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	self := env.Self()
	if self == "" {
		return nil, tool.Errorf(tool.Unsupported, "this program cannot start itself again").WithHint("make the calls one by one")
	}
	code := s.Code
	if s.Path != "" {
		raw, err := env.Workspace.ReadFile(s.path, maxScript)
		if err != nil {
			return nil, err
		}
		code = string(raw)
	}
	own := *env
	own.Limits = truncate.Limits{Lines: 1 << 20, Bytes: 4 << 20, LineChars: 1 << 20}
	if emit := env.Emit; emit != nil {
		own.Emit = func(e tool.Event) {
			if e.Name == "ask" {
				emit(e)
			}
		}
	}
	meta := &scriptMeta{Calls: []madeCall{}}
	out, err := script.Run(ctx, script.Options{
		Self: self, Code: code, Args: s.Args, Tools: functions(env),
		Limits: script.Limits{Time: time.Duration(s.TimeoutMS) * time.Millisecond, Memory: maxHeld, Calls: maxMade, Output: maxPrint},
		Call: func(ctx context.Context, name string, args json.RawMessage) json.RawMessage {
			r := callable(ctx, &own, name, args)
			made := madeCall{Name: name}
			if r.Error != nil {
				made.Error = r.Error.Code
			}
			meta.Calls = append(meta.Calls, made)
			raw, err := r.MarshalJSON()
			if err != nil {
				raw, _ = tool.Fail(name, err).MarshalJSON()
			}
			return raw
		},
		Values: env.Session.Values, SetValue: env.Session.SetValue,
	})
	r := &tool.Result{Title: "script: " + tool.Count(int64(len(meta.Calls)), "call"), Output: out.Printed, Metadata: meta}
	if len(out.Value) > 0 {
		if err := json.Unmarshal(out.Value, &meta.Value); err != nil {
			return r, err
		}
	}
	if text, is := meta.Value.(string); r.Output == "" && is {
		r.Output = text
	} else if r.Output == "" && meta.Value != nil {
		r.Output = string(out.Value) + "\n"
	}
	return r, explained(err)
}

// callable makes one of the script's calls.
func callable(ctx context.Context, env *tool.Env, name string, args json.RawMessage) *tool.Result {
	if t, err := env.Tools.Find(name); err == nil && t.Nests {
		return tool.Fail(name, tool.Errorf(tool.BadInput, "%s makes calls itself", name).WithHint("call %s by itself", name))
	}
	return env.Inner(ctx, name, args)
}

// functions are the tools that a script can call.
func functions(env *tool.Env) []script.Function {
	var list []script.Function
	for _, t := range env.Tools {
		if t.Nests {
			continue
		}
		f := script.Function{Name: t.Name, Plain: []string{}}
		for _, p := range param.Of(t.New()).Params {
			if p.Pos {
				f.Plain = append(f.Plain, p.Name)
			}
		}
		list = append(list, f)
	}
	return list
}

// explained is what ended a script, with the next step.
func explained(err error) error {
	if e, ok := errors.AsType[*script.Error](err); ok {
		hint := "correct the script"
		if strings.HasPrefix(e.Message, "script:") {
			hint += "; the line stands behind its name"
		}
		return tool.Errorf(tool.BadInput, "%s", e.Message).WithHint("%s", hint)
	}
	l, ok := errors.AsType[*script.Limit](err)
	if !ok {
		return err
	}
	code := tool.TooLarge
	if l.What == "time" {
		code = tool.Timeout
	}
	return tool.Errorf(code, "%s", strings.TrimSpace(fmt.Sprint(l))).WithHint("have the script do less at a time")
}
