package files

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/job"
	"github.com/agentkit-go/agentkit/pkg/lsp"
	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// A server is a language server of the session: one that runs, or one that may be
// started.
type server struct {
	lsp.Server
	program string
	keeper  *job.Job        // nil while it does not run
	needs   []policy.Access // of its start; none where it runs
}

// jobsOf is the jobs of the session, among which servers are.
func jobsOf(env *tool.Env) *job.Registry {
	return &job.Registry{Session: env.Session, Options: env.Session.Options(), Self: env.Self()}
}

// findServer finds the server for a file: the first of those that know its language
// which is installed.
func findServer(ctx context.Context, env *tool.Env, path workspace.Path) (*server, error) {
	known := lsp.For(path.Real)
	if len(known) == 0 {
		return nil, tool.Errorf(tool.Unsupported, "no language server is known for %s", tool.Shown(path)).
			WithHint("use {grep} and {outline}")
	}
	var names, install []string
	why := ""
	for _, one := range known {
		program, not := installed(env, &one)
		if program == "" {
			names, install, why = append(names, one.Name), append(install, one.Install), why+not
			continue
		}
		s := &server{Server: one, program: program}
		var err error
		if s.keeper, err = lsp.Running(jobsOf(env), &one, env.Workspace.Root()); err != nil {
			return nil, err
		}
		asks := *env
		asks.DryRun = asks.DryRun || s.keeper != nil // nothing is prepared for a start
		if err := s.plan(ctx, &asks); err != nil {
			return nil, err
		}
		if s.keeper != nil && env.Policy.DecideAll(s.needs).Verdict != policy.Deny {
			s.needs = nil // as for any job, the yes to its start counts
		}
		return s, nil
	}
	return nil, tool.Errorf(tool.Unsupported, "no language server for %s is installed: looked for %s on PATH%s", known[0].Language, strings.Join(names, " and "), why).
		WithHint("whoever runs the machine can install one: %s", strings.Join(install, ", or "))
}

// installed is the program of a server, or why it cannot be used. What lies in the
// workspace, or where it keeps temporary files, does not count: a repository must not
// choose what runs.
func installed(env *tool.Env, s *lsp.Server) (program, why string) {
	for _, dir := range filepath.SplitList(env.Getenv("PATH")) {
		found, ok := machine.LookPath(s.Name, dir, env.Workspace.Root())
		if !ok {
			continue
		}
		if at, err := env.Workspace.Resolve(found); err != nil || at.Inside || at.Temp {
			why = "; " + found + " does not count, for a repository could bring it along"
			continue
		}
		if missing := s.Missing(found); missing != "" {
			return "", "; " + missing
		}
		return found, ""
	}
	return "", why
}

// start is the call that starts a command as a job: a server is confined, decided and
// recorded as any other command.
func (s *server) start(argv []string) json.RawMessage {
	raw, _ := json.Marshal(map[string]any{"argv": argv, "background": true, "description": "language server for " + s.Language})
	return raw
}

// plan finds out what starting the server needs: the policy is asked about the server,
// not about the keeper that starts it, which is we ourselves.
func (s *server) plan(ctx context.Context, env *tool.Env) error {
	t, err := env.Tools.Find("bash")
	if err != nil {
		return err
	}
	in, err := tool.Decode(t, s.start(s.Command(s.program)))
	if err == nil {
		s.needs, err = in.Needs(ctx, env)
	}
	return err
}

// allowed is why the server may not be started without asking; "" where it may, or runs.
func (s *server) allowed(env *tool.Env) string {
	if len(s.needs) == 0 {
		return ""
	}
	out := env.Policy.DecideAll(s.needs)
	if out.Verdict == policy.Allow {
		return ""
	}
	d := out.Deciding()
	return fmt.Sprintf("%s is not started: the policy says %s: %s", s.Name, out.Verdict, d.Why)
}

// run starts the server where it does not run. Two calls at a time start one.
func (s *server) run(ctx context.Context, env *tool.Env) error {
	if s.keeper != nil {
		return nil
	}
	unlock, err := env.Session.Lock(ctx, "server-"+s.Name)
	if err != nil {
		return err
	}
	defer unlock()
	reg := jobsOf(env)
	if s.keeper, err = lsp.Running(reg, &s.Server, env.Workspace.Root()); err != nil || s.keeper != nil {
		return err
	}
	own := *env
	own.Emit = nil
	argv := s.Argv(env.Self())
	own.Granted = func(a *policy.Access) bool { // what starts the server was said yes to with it
		keeper := a.Kind == policy.Read && !a.Tree && cmp.Or(a.Named, a.Path) == argv[0] // it may lie outside PATH
		return keeper || a.Kind == policy.Exec && slices.Equal(a.Argv, argv)
	}
	r := own.Inner(ctx, "bash", s.start(argv))
	if r.Error != nil {
		return r.Error
	}
	var meta struct {
		Job string `json:"job"`
	}
	raw, err := json.Marshal(r.Metadata)
	if err == nil {
		err = json.Unmarshal(raw, &meta)
	}
	if err == nil {
		s.keeper, err = reg.Open(meta.Job)
	}
	return err
}

// ask asks the server, which is started where it does not run.
func (s *server) ask(ctx context.Context, env *tool.Env, q lsp.Request) (*lsp.Answer, error) {
	q.Program = s.program
	for again := false; ; again = true {
		running := s.keeper != nil
		if err := s.run(ctx, env); err != nil {
			return nil, err
		}
		a, err := lsp.Ask(ctx, s.keeper, q)
		switch {
		case errors.Is(err, lsp.ErrGone) && running && !again && s.idle(ctx, env): // it had ended by itself
			s.keeper = nil
			continue
		case errors.Is(err, lsp.ErrGone):
			return nil, s.failed("it has ended")
		case err != nil:
			return nil, tool.Errorf(tool.IO, "%s: %w", s.Name, err).WithHint("end it with {kill}, and repeat the call: {jobs} shows it")
		case a.Error != "":
			return nil, s.failed(a.Error).
				WithHint("look at the place and the name that were given; {bash} shows whether the project builds, and {grep} and {outline} need no server")
		}
		return a, nil
	}
}

// idle reports whether the server may be started again for this call: it was allowed to
// before, and nobody has to be asked.
func (s *server) idle(ctx context.Context, env *tool.Env) bool {
	return s.plan(ctx, env) == nil && s.allowed(env) == ""
}

func (s *server) failed(why string) *tool.Error {
	return tool.Errorf(tool.Unsupported, "%s: %s", s.Name, strings.ToValidUTF8(why, "\ufffd")).
		WithHint("{bash} shows whether the project builds; {grep} and {outline} need no server")
}

// late is the error of a server that has not answered in time.
func (s *server) late(ms int) error {
	return tool.Errorf(tool.Timeout, "%s has not answered within %d ms", s.Name, ms).
		WithHint("it goes on with its work: repeat the call later, or with a longer {.timeout_ms}")
}

// shownFile is the file of a server's answer, by the name that results show, and whether its
// content may be shown.
func shownFile(env *tool.Env, name, path string) (p workspace.Path, shown string, may bool) {
	p, err := env.Workspace.Resolve(path)
	if err != nil {
		return p, filepath.ToSlash(path), false
	}
	return p, tool.Shown(p), p.Inside && env.May(p.Read(name)) == nil
}

// linesOf are the lines of a file; none where it cannot be read.
func linesOf(env *tool.Env, p workspace.Path) []string {
	data, err := env.Workspace.ReadFile(p, maxSibling)
	if err != nil {
		return nil
	}
	return strings.Split(strings.ReplaceAll(string(readable(data)), "\r\n", "\n"), "\n")
}

// lineAt is one of them, from 0; "" where there is none.
func lineAt(lines []string, n int) string {
	if n < 0 || n >= len(lines) {
		return ""
	}
	return lines[n]
}
