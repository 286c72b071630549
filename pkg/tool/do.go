package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/truncate"
)

// all is the call itself, with its result as it is told.
func (env *Env) all(ctx context.Context, in *Invocation, id string) (r *Result) {
	defer func() {
		if v := recover(); v != nil {
			r = in.Tool.Fail(Panicked(v))
		}
	}()
	r = env.run(ctx, in, id)
	if !r.Trimmed {
		env.Fit(r, env.Limits)
	}
	r.Told(in)
	return r
}

// Told adds what was understood of the call's parameters: what means nothing, and what was
// read otherwise than it was written.
func (r *Result) Told(in *Invocation) {
	if names := in.Set.Ignored(); len(names) > 0 {
		r.beside().Ignored = names[:min(len(names), maxIgnored)]
	}
	if notes := in.Set.Notes(); len(notes) > 0 {
		r.beside().Notes = notes
	}
}

// maxIgnored bounds how many parameters without a meaning are named.
const maxIgnored = 20

// Panicked is the error for a panic with the value v: a bug.
func Panicked(v any) error {
	return Errorf(Internal, "panic: %v", v).
		WithHint("this is a bug in agentkit; please report it with the stack in details").
		With(PanicDetails{string(debug.Stack())})
}

func (env *Env) run(ctx context.Context, in *Invocation, id string) *Result {
	t, call, begin := in.Tool, in.Call, env.Now()
	needs, err := in.Needs(ctx, env)
	if err != nil {
		return t.Fail(ended(ctx, err))
	}
	out := env.Policy.DecideAll(needs)
	if env.DryRun {
		return env.planned(in, &out)
	}
	grant, err := env.settle(ctx, in, id, &out)
	if err != nil {
		return t.Fail(ended(ctx, err))
	}
	if env.begin != nil {
		if err := env.begin(&out); err != nil {
			return t.Fail(err)
		}
	}
	inner := *env // calls that this one makes are not it
	inner.Key, inner.Caller, inner.begin, inner.below = "", "", nil, nil
	if grant != "" {
		inner.below = env.Policy.Below(&out)
	}
	r, err := call.Run(within(ctx, id), &inner)
	if r == nil {
		r = &Result{Title: t.Name, Passes: t.Passes}
	}
	if err != nil {
		r.Error = env.failure(ended(ctx, err))
	}
	if grant != "" {
		r.beside().Approved = grant
	}
	if err := env.recordResult(ctx, t, id, r, env.Now().Sub(begin)); err != nil && r.Error == nil {
		r.Error = AsError(err)
	}
	return r
}

// failure is err as an error of a call in this environment.
func (env *Env) failure(err error) *Error {
	e := AsError(err)
	if e.Hint == stateFull && env.Session.Roomier(env.Workspace.Root()) {
		_ = e.Next(otherFull)
	}
	return e
}

// ended is err, or the signal or the words with which the context was cancelled, which
// say more than that it was.
func ended(ctx context.Context, err error) error {
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	cause := context.Cause(ctx)
	if signal, ok := errors.AsType[*Signal](cause); ok {
		return signal
	}
	if said, ok := errors.AsType[*Error](cause); ok {
		return said
	}
	return err
}

// plannedMeta is the metadata of a dry run.
type plannedMeta struct {
	policy.Report
	DryRun bool `json:"dry_run" doc:"nothing was run"`
	Plan   any  `json:"plan,omitempty" doc:"what else the tool can tell of the call"`
}

// planned is the Result of a dry run.
func (env *Env) planned(in *Invocation, out *policy.Outcome) *Result {
	report := env.Policy.Report(out)
	text := ""
	for i, a := range report.Accesses {
		if out.Accesses[i].Kind == policy.Tool && out.Verdict == policy.Allow {
			continue
		}
		text += fmt.Sprintf("%s %s %s", a.Decision, a.Kind, a.Subject)
		if a.Rule != "" {
			text += " by " + a.Rule
		}
		text += "\n"
	}
	if text == "" {
		text = "the call touches nothing\n"
	}
	meta := &plannedMeta{Report: report, DryRun: true}
	if p, ok := in.Call.(Planner); ok {
		meta.Plan = p.Plan(env)
	}
	return &Result{Title: in.Tool.Name + ": " + out.Verdict.String(), Output: text, Metadata: meta}
}

// settle turns the policy's outcome into a yes or an error, and puts it on
// record first: a decision that cannot be recorded is no permission. The text
// says how an access that had to be approved was.
func (env *Env) settle(ctx context.Context, in *Invocation, id string, out *policy.Outcome) (string, error) {
	switch out.Verdict {
	case policy.Allow:
		return "", env.record(ctx, in, id, out, "allow", "")
	case policy.Deny:
		if err := env.record(ctx, in, id, out, "deny", ""); err != nil {
			return "", err
		}
		return "", env.denied(out)
	}
	if env.granted(out) {
		return string(Once), env.record(ctx, in, id, out, "allow", "approved beforehand, with the calls beside it")
	}
	answer, err := env.answer(ctx, in, id, out)
	if err != nil {
		if failed := env.record(ctx, in, id, out, "ask", err.Error()); failed != nil {
			return "", failed
		}
		return "", err
	}
	if !answer.Yes {
		if err := env.record(ctx, in, id, out, "deny", withReason("refused by a person", answer.Reason)); err != nil {
			return "", err
		}
		return "", refused(answer)
	}
	note := strings.TrimSpace(string(answer.Scope) + " " + strings.Join(answer.Rules, " "))
	return note, env.record(ctx, in, id, out, "allow", "approved by a person: "+note)
}

// withReason adds a reason to what it is one of, where there is one.
func withReason(what, reason string) string {
	if reason == "" {
		return what
	}
	return what + ": " + reason
}

// granted reports whether all that has to be approved was so beforehand.
func (env *Env) granted(out *policy.Outcome) bool {
	if env.Granted == nil {
		return false
	}
	for i := range out.Accesses {
		if out.Decisions[i].Verdict == policy.Ask && !env.Granted(&out.Accesses[i]) {
			return false
		}
	}
	return true
}

// versions is the versions of files in one text.
func versions(shown map[string]string) string {
	var list []string
	for _, path := range slices.Sorted(maps.Keys(shown)) {
		list = append(list, path+" "+shown[path])
	}
	return strings.Join(list, "\n")
}

// answer finds someone's answer: one that was given from elsewhere for this
// very call, else that of whoever can be asked now.
func (env *Env) answer(ctx context.Context, in *Invocation, id string, out *policy.Outcome) (Answer, error) {
	args, why, about := in.Set.Canonical(), "", map[string]any(nil)
	if call, ok := in.Call.(Shower); ok {
		about = call.Describe(ctx, env)
		out.Shown = versions(call.Shown())
	}
	given, reason, err := env.Approvals.Consume(ctx, env.Policy, in.Tool.Name, args, env.Session.ID(), out)
	switch {
	case err != nil:
		return Answer{}, Errorf(IO, "looking for an approval: %w", err).WithHint("check the state directory")
	case given == policy.Approved:
		return Answer{Yes: true, Scope: Once}, nil
	case given == policy.Refused:
		return Answer{Reason: reason}, nil
	}
	if call, ok := in.Call.(Describer); ok && about == nil {
		about = call.Describe(ctx, env)
	}
	if env.Ask != nil {
		details := env.details(id, about, out)
		env.emit("ask", AskEvent{in.Tool.Name, id, details})
		answer, err := env.Ask(ctx, &Request{ID: id, Tool: in.Tool.Name, Outcome: *out, Details: details, Uncovered: env.uncovered(out.Accesses)})
		nobody, ok := errors.AsType[*NobodyError](err)
		if !ok {
			return answer, err
		}
		why = nobody.Why
	}
	wait, err := env.Approvals.Request(ctx, env.Policy, in.Tool.Name, args, env.Session.ID(), out)
	if err != nil {
		return Answer{}, Errorf(IO, "recording the request: %w", err).WithHint("check the state directory")
	}
	return Answer{}, env.approvalRequired(in.Tool, env.details(wait.ID, about, out), out, why)
}

// May reports, as an error, that a tool may not touch something that it comes
// upon while it runs, such as a file below a directory that it searches.
// Whatever would have to be asked about counts as no, unless the call was approved to
// read a directory above it that the same rule asked about.
func (env *Env) May(a policy.Access) error {
	d := env.Policy.Decide(&a)
	if d.Verdict == policy.Allow || env.below.Allows(&a, &d) {
		return nil
	}
	return Errorf(Denied, "the policy does not allow %s %s: %s", a.Kind, policy.Subject(&a), d.Why).
		WithHint("name the file itself to ask for it")
}

// Approve lets someone decide about an access that turns up while a call of
// the named tool runs, in directory dir, and puts the decision on record. Where
// nobody can be asked, or the record cannot be written, the answer is no.
func (env *Env) Approve(ctx context.Context, name string, a policy.Access, dir string) Answer {
	answer, err := env.approve(ctx, name, dir, []policy.Access{a}, map[string]any{"cwd": dir})
	if err != nil && !errors.Is(err, ErrNobody) {
		answer.Reason = err.Error()
	}
	return answer
}

// ErrNobody says that there is nobody who could be asked.
var ErrNobody = errors.New("nobody can be asked")

// ApproveAll lets someone decide about what a call of the named tool has found that it
// would do, and puts the decision on record; about is what they are shown besides. It is
// ErrNobody where nobody can be asked.
func (env *Env) ApproveAll(ctx context.Context, name string, list []policy.Access, about map[string]any) (Answer, error) {
	return env.approve(ctx, name, "", list, about)
}

func (env *Env) approve(ctx context.Context, name, dir string, list []policy.Access, about map[string]any) (Answer, error) {
	t, id := &Tool{Name: name}, session.NewID("c")
	out := env.Policy.DecideAll(list)
	switch {
	case out.Verdict == policy.Allow:
		return Answer{Yes: true, Scope: Once}, nil
	case out.Verdict == policy.Deny:
		return Answer{}, nil
	case env.Ask == nil:
		return Answer{}, ErrNobody
	}
	details := env.details(id, about, &out)
	answer, asked := env.Ask(ctx, &Request{ID: id, Tool: name, Dir: dir, Outcome: out, Details: details, Uncovered: env.uncovered(list)})
	if asked != nil {
		answer = Answer{Reason: asked.Error()}
		if _, nobody := errors.AsType[*NobodyError](asked); nobody {
			asked = fmt.Errorf("%w: %w", ErrNobody, asked)
		}
	}
	decision, note := "deny", withReason("refused by a person while the call ran", answer.Reason)
	if answer.Yes {
		decision, note = "allow", "approved by a person while the call ran: "+string(answer.Scope)
	}
	if err := env.record(ctx, &Invocation{Tool: t}, id, &out, decision, note); err != nil {
		return Answer{Reason: err.Error()}, err
	}
	return answer, asked
}

// MayShow reports whether what a file holds may be shown.
func (env *Env) MayShow(path string) bool {
	a := policy.Access{Kind: policy.Read, Tool: "read", Path: path, File: policy.Regular}
	return env.Policy.Decide(&a).Verdict == policy.Allow
}

// maxDiff bounds what is shown of all diffs of a call, in bytes.
const maxDiff = 16 << 10

// DiffRoom is how many bytes of diffs a call shows.
func (env *Env) DiffRoom() int { return min(maxDiff, env.Limits.Resolved().Bytes/2) }

func (env *Env) denied(out *policy.Outcome) error {
	d := out.Deciding()
	what := "the call"
	if out.By >= 0 {
		a := &out.Accesses[out.By]
		what = string(a.Kind) + " " + touched(a)
	}
	e := Errorf(Denied, "the policy denies %s: %s", what, because(&d)).With(DeniedDetails{env.Policy.Report(out)}).
		WithHint("choose another way; agentkit policy check shows what every part of the call would get")
	switch {
	case d.Reason != "":
		_ = e.WithHint("%s", d.Reason)
	case out.By >= 0 && out.Accesses[out.By].Source == "git submodule" && strings.HasSuffix(out.Accesses[out.By].Path, "/.git/config"):
		_ = e.WithHint("a submodule that is at a path of this machine a person sets up, outside: git submodule init, or git submodule sync; then git submodule update works here, and asks to read that path")
	case out.By >= 0 && out.Accesses[out.By].Kind == policy.Write && strings.HasSuffix(out.Accesses[out.By].Path, "/.git/config"):
		_ = e.WithHint("a setting for one command needs no file: git -c KEY=VALUE; what makes git run something a person sets outside")
	case out.By >= 0 && out.Accesses[out.By].Kind == policy.Write && strings.HasSuffix(out.Accesses[out.By].Path, "/.git/config.worktree"):
		_ = e.WithHint("a worktree's settings, which git sparse-checkout changes too, a person sets outside; git log, diff and ls-files take -- DIR to be about a part of the tree, and git worktree add gives another")
	case out.By >= 0 && d.Default && out.Accesses[out.By].Kind == policy.Net && out.Accesses[out.By].Host != "":
		_ = e.WithHint("--allow %q would allow it; that is for whoever may decide", out.Accesses[out.By].HostRule())
		if out.Accesses[out.By].Local() {
			_ = e.WithHint("what a job of {bash} serves is asked by {bash}, with curl; else --allow %q would allow it, which is for whoever may decide", out.Accesses[out.By].HostRule())
		}
	}
	return e
}

// touched is what an access is about, and by what where the command does not name it.
func touched(a *policy.Access) string {
	if a.Kind == policy.Write && strings.HasPrefix(a.Source, "git ") {
		return policy.Subject(a) + ", which " + a.Source + " would change"
	}
	if dir, ok := strings.CutPrefix(a.Source, repositorySource); ok && a.Kind == policy.Write {
		return a.Named + ", as " + policy.Subject(a) + ", for " + dir + " is a repository, or becomes one: it has HEAD, with objects and refs or commondir"
	}
	return policy.Subject(a)
}

// because is why a decision fell: what made the rule decide, and the rule with
// its place.
func because(d *policy.Decision) string {
	switch told := strings.Contains(d.Why, d.Rule); {
	case told && d.File == "":
		return d.Why
	case told:
		return d.Why + ", " + d.Where()
	case d.File == "":
		return fmt.Sprintf("%s (%s)", d.Why, d.Rule)
	}
	return fmt.Sprintf("%s (%s, %s)", d.Why, d.Rule, d.Where())
}

// details are what a request for approval holds, however it is asked: about is what
// the call tells of itself.
func (env *Env) details(id string, about map[string]any, out *policy.Outcome) ApprovalDetails {
	req := env.Policy.Request(id, env.Session.ID(), out)
	req.Metadata["root"] = env.Sources.Root
	if env.Sources.Caller == "" { // else it is a copy
		req.AlwaysFile, _ = policy.UserFile(env.Sources.User)
	}
	for name, value := range about {
		if _, taken := req.Metadata[name]; !taken {
			req.Metadata[name] = value
		}
	}
	return ApprovalDetails{Request: req, Accesses: env.Policy.Report(out).Accesses}
}

// uncovered is what rules leave of a call to be asked about.
func (env *Env) uncovered(list []policy.Access) func([]string) ([]string, error) {
	return func(rules []string) ([]string, error) { return env.Policy.Uncovered(list, rules) }
}

// approvalRequired is the error of a call that waits for a yes. The text is why
// nobody could be asked, where somebody should have been.
func (env *Env) approvalRequired(t *Tool, details ApprovalDetails, out *policy.Outcome, why string) error {
	d := out.Deciding()
	if why != "" {
		why = "; " + why
	}
	e := Errorf(ApprovalRequired, "%s needs approval: %s: %s%s", t.Name, touched(&out.Accesses[out.By]), because(&d), why).
		With(details).
		Suggest(env.Policy.Suggest(out.Accesses)...)
	grant := ""
	for _, rule := range env.Policy.Narrowest(out.Accesses) {
		grant += fmt.Sprintf(" --allow %q", rule)
	}
	if grant != "" {
		grant = "repeat it with" + grant + "; or "
	}
	there := ""
	if env.Far {
		there = " there, where agentkit is " + cmp.Or(env.Self(), "what was carried")
	}
	return e.WithHint("nothing was run. Whoever may decide can %srun agentkit policy approve %s%s, after which the same call passes once", grant, details.Request.ID, there)
}

func refused(a Answer) error {
	if a.Reason == "" {
		return Errorf(Denied, "a person refused the call").WithHint("ask what to do instead, or choose another way")
	}
	return Errorf(Denied, "a person refused the call: %s", a.Reason).WithHint("do as the answer says")
}

// Fit cuts the output of r to limits.
func (env *Env) Fit(r *Result, limits truncate.Limits) {
	cut := truncate.String(r.Output, truncate.Options{Limits: limits, Spill: env.Spill, ReadOn: env.ReadOn})
	r.Output, r.Trimmed = cut.Text, true
	if cut.Truncated {
		r.Pretty = nil
		m := r.beside()
		m.Truncated, m.TotalLines, m.TotalBytes, m.CutAt = true, cut.TotalLines, cut.TotalBytes, cut.TruncatedAtLine
		m.SpillPath, m.Incomplete = cut.SpillPath, cut.Incomplete
	}
}

// ReadOn is the call that shows a spill file from a line onwards.
func (env *Env) ReadOn(path string, line int64) string {
	if path == "" {
		return ""
	}
	return env.Say(Advise(`{read} {"{read.path}":%q,"{read.offset}":%d}`, path, line))
}

// Say is advice in the names of the model that called.
func (env *Env) Say(a Advice) string {
	if env.Names == nil {
		return a.String()
	}
	return a.In(env.Names)
}

// Spill opens a file of the session for a complete output.
func (env *Env) Spill() (truncate.SpillFile, error) {
	s, err := env.Session.Spill("out")
	if err != nil {
		return nil, err
	}
	return spillFile{s}, nil
}

// A spillFile tells a Writer in its own words when the session's file is full.
type spillFile struct{ *session.Spill }

func (s spillFile) Write(p []byte) (int, error) {
	n, err := s.Spill.Write(p)
	if errors.Is(err, session.ErrSpillFull) {
		err = truncate.ErrSpillFull
	}
	return n, err
}
