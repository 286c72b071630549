// Package compose holds the tools that make several calls of other tools.
package compose

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/truncate"
)

//go:embed batch.md
var batchDoc string

// Batch makes several calls.
var Batch = tool.Tool{
	Name:    "batch",
	Summary: "make several calls at once",
	Doc:     &batchDoc,
	New:     func() tool.Call { return &batchCall{Parallel: true} },
	Nests:   true,

	OpenWorld: true,

	Others: []string{"multitool", "paralleltools", "multitooluse", "multitooluseparallel", "parallel"},

	Examples: []string{
		`agentkit batch '[{"name":"read","arguments":{"path":"a.go"}},{"name":"grep","arguments":{"pattern":"TODO"}}]'`,
		`agentkit batch --stop-on-error '[{"name":"write","arguments":{"path":"a","content":"x"}},{"name":"bash","arguments":{"command":"make"}}]'`,
	},

	Metadata: (*batchMeta)(nil),
	Plan:     (*batchPlan)(nil),
}

type batchCall struct {
	Calls       []inner
	Parallel    bool
	StopOnError bool

	steps []step
	asked bool // somebody is shown them
}

// Params implements tool.Call.
func (b *batchCall) Params(p *param.Set) {
	param.Objects(p, &b.Calls, "calls", "in order").Required().Alias("tool_calls", "tool_uses", "invocations").Arg()
	p.Bool(&b.Parallel, "parallel", "false: one by one").Rare()
	p.Bool(&b.StopOnError, "stop_on_error", "end at the first that fails")
}

// An inner is one of its calls.
type inner struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Key       string          `json:"idempotency_key,omitempty"`
}

// Params declares the members of a call.
func (c *inner) Params(p *param.Set) {
	c.Arguments = json.RawMessage("{}")
	p.String(&c.Name, "name", "the tool").Required().Alias("tool", "tool_name", "recipient_name")
	p.Raw(&c.Arguments, "arguments", "its parameters").Alias("parameters", "input", "args")
	p.String(&c.Key, "idempotency_key", "make it only once").Unlisted()
}

// A step is a call as it was decided before anything runs.
type step struct {
	name   string
	in     *tool.Invocation
	out    policy.Outcome
	reads  bool  // it only reads
	failed error // what it needs could not be found out yet
	fails  bool  // whoever was asked was told that it would fail, and not shown what it does
}

// maxCalls bounds a batch.
const maxCalls = 100

// Needs implements tool.Call: all that its calls need, but for those that are denied.
func (b *batchCall) Needs(ctx context.Context, env *tool.Env) (needs []policy.Access, err error) {
	if n := len(b.Calls); n == 0 || n > maxCalls {
		return nil, tool.Errorf(tool.BadInput, "calls: want 1 to %d, got %d", maxCalls, n).WithHint("make several of them")
	}
	b.steps = nil
	for i, c := range b.Calls {
		s, err := decode(env, c)
		if err != nil {
			e := *tool.AsError(err)
			e.Message = fmt.Sprintf("calls[%d]: %s", i, e.Message)
			return nil, &e
		}
		s.decide(ctx, env)
		if s.out.Verdict != policy.Deny || b.StopOnError {
			needs = policy.Append(needs, s.out.Accesses...)
		}
		b.steps = append(b.steps, s)
	}
	return append(slices.Clip(needs), policy.Access{Kind: policy.Tool, Tool: "batch"}), nil
}

// decode reads one of the calls.
func decode(env *tool.Env, c inner) (step, error) {
	t, err := env.Tools.Find(c.Name)
	if err != nil {
		return step{}, err
	}
	if t.Nests {
		return step{}, tool.Errorf(tool.BadInput, "%s makes calls itself", t.Name).WithHint("call %s by itself", t.Name)
	}
	in, err := tool.Decode(t, c.Arguments)
	if err != nil {
		return step{}, err
	}
	return step{name: t.Name, in: env.Meant(in)}, nil
}

// decide finds out what a call needs, and what the policy says of it. What cannot be
// known before the calls in front of it have run is decided then.
func (s *step) decide(ctx context.Context, env *tool.Env) {
	needs, err := s.in.Needs(ctx, env)
	if err != nil {
		s.failed = err
		return
	}
	s.out = env.Policy.DecideAll(needs)
	s.reads = !slices.ContainsFunc(needs, func(a policy.Access) bool { return !reads(s.in.Tool, &a) })
}

// reads reports whether an access of a call of t changes nothing.
func reads(t *tool.Tool, a *policy.Access) bool {
	switch a.Kind {
	case policy.Read:
		return true
	case policy.Exec:
		return a.Class == policy.ReadOnly && a.Opaque == "" && a.Danger == "" && !a.Publishes
	case policy.Net:
		return a.Tool == t.Name && !a.Publishes
	case policy.Tool:
		return t.ReadOnly
	}
	return false
}

type batchPlan struct {
	Calls []plannedCall `json:"calls" doc:"each call, in order"`
}

type plannedCall struct {
	Name     string `json:"name"`
	Decision string `json:"decision" doc:"allow, ask or deny; unknown where that shows when its turn comes"`
	Reads    bool   `json:"reads" doc:"it only reads"`
	Why      string `json:"why,omitempty" doc:"why it is unknown"`
}

// Plan implements tool.Planner.
func (b *batchCall) Plan(*tool.Env) any {
	var plan batchPlan
	for _, s := range b.steps {
		p := plannedCall{Name: s.name, Decision: s.out.Verdict.String(), Reads: s.reads}
		if s.failed != nil {
			p.Decision, p.Why = "unknown", s.failed.Error()
		}
		plan.Calls = append(plan.Calls, p)
	}
	return plan
}

// Describe implements tool.Describer. A yes is for the files as they were shown.
func (b *batchCall) Describe(ctx context.Context, env *tool.Env) map[string]any {
	var list []map[string]any
	for i := range b.steps {
		s, about := &b.steps[i], map[string]any{}
		if d, ok := s.in.Call.(tool.Describer); ok && s.failed == nil {
			about = d.Describe(ctx, env)
		}
		_, s.fails = about["would_fail"]
		about["name"], about["decision"] = s.name, s.out.Verdict.String()
		list = append(list, about)
	}
	return map[string]any{"calls": list}
}

// Shown implements tool.Shower.
func (b *batchCall) Shown() map[string]string {
	b.asked = true
	all := map[string]string{}
	for i := range b.steps {
		maps.Copy(all, b.seen(i))
		if b.steps[i].fails {
			all[fmt.Sprint("call ", i)] = "would fail"
		}
	}
	return all
}

// seen are the versions of the files that a call was shown to change, but for those that calls in front of
// it may change; nil where nobody was shown any.
func (b *batchCall) seen(i int) map[string]string {
	shower, ok := b.steps[i].in.Call.(tool.Shower)
	if !ok || !b.asked || b.steps[i].failed != nil {
		return nil
	}
	seen := shower.Shown()
	for j := range b.steps[:i] {
		for k := range b.steps[j].out.Accesses {
			switch a := &b.steps[j].out.Accesses[k]; {
			case a.Kind == policy.Exec && !b.steps[j].reads, a.Kind == policy.Write && a.Tree: // it may change any
				return nil
			case a.Kind == policy.Write:
				delete(seen, a.Path)
			}
		}
	}
	return seen
}

type batchMeta struct {
	Results []*tool.Result `json:"results" doc:"the whole result of each call that was made, in order"`
	Made    int            `json:"made" doc:"calls that were made"`
	Failed  int            `json:"failed" doc:"of these, those with an error, or whose command has another status than 0"`
	Skipped int            `json:"skipped" doc:"calls that were not made, because of stop_on_error or because the batch was ended"`
}

// Run implements tool.Call.
func (b *batchCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	own := *env
	if emit := env.Emit; emit != nil { // what the calls print stands in their results
		own.Emit = func(e tool.Event) {
			if e.Name == "ask" {
				emit(e)
			}
		}
	}
	results := make([]*tool.Result, len(b.steps))
	done, stop := 0, false
	for done < len(b.steps) && !stop && ctx.Err() == nil {
		from := done
		done = tool.InOrder(from, len(b.steps), func(i int) bool { return b.Parallel && !b.StopOnError && b.steps[i].reads }, func(i int) {
			keyed := own
			keyed.Key, keyed.Seen, keyed.Granted = b.Calls[i].Key, b.seen(i), b.steps[i].granted
			results[i] = keyed.Inner(ctx, b.Calls[i].Name, b.Calls[i].Arguments)
		})
		stop = b.StopOnError && slices.ContainsFunc(results[from:done], failed)
	}
	r := b.result(env, results[:done])
	if err := context.Cause(ctx); err != nil && done < len(b.steps) {
		return r, err
	}
	return r, nil
}

// granted reports whether a was among what the call was allowed before the batch began. A yes to
// the batch is none to what nobody was shown: a call that only the calls in front of it let pass
// is asked about when its turn comes.
func (s *step) granted(a *policy.Access) bool {
	return s.failed == nil && !s.fails && s.out.Verdict == policy.Ask &&
		slices.ContainsFunc(s.out.Accesses, func(known policy.Access) bool { return known.Same(a) })
}

// failed reports whether a call did not do what it was for.
func failed(r *tool.Result) bool { return r.Error != nil || r.Passes && r.Status != 0 }

// result puts the results together, within the limits of one call.
func (b *batchCall) result(env *tool.Env, results []*tool.Result) *tool.Result {
	meta := batchMeta{Results: []*tool.Result{}, Made: len(results), Skipped: len(b.steps) - len(results)}
	all := &tool.Result{Trimmed: true}
	heads := make([]string, len(results))
	sizes := make([]truncate.Limits, len(results))
	left := env.Limits
	for i, r := range results {
		heads[i] = fmt.Sprintf("[%d] %s: %s\n", i+1, b.steps[i].name, r.Title)
		said := r.Said()
		sizes[i] = truncate.Limits{Bytes: len(r.Output), Lines: strings.Count(r.Output, "\n") + 1}
		left.Bytes -= len(heads[i]) + 2 + len(said) - len(r.Output) // notes and errors are not cut
		left.Lines -= 3 + strings.Count(said, "\n") - strings.Count(r.Output, "\n")
	}
	var out strings.Builder
	each := share(left, sizes)
	for i, r := range results {
		env.Fit(r, each)
		out.WriteString(heads[i])
		text := r.Said()
		out.WriteString(text)
		if text != "" && !strings.HasSuffix(text, "\n") {
			out.WriteByte('\n')
		}
		if i < len(results)-1 {
			out.WriteByte('\n')
		}
		if failed(r) {
			meta.Failed++
		}
		all.Attachments = append(all.Attachments, r.Attachments...)
		own := *r
		own.Attachments = nil
		meta.Results = append(meta.Results, &own)
	}
	all.Title = fmt.Sprintf("%d of %s done", meta.Made-meta.Failed, tool.Count(int64(len(b.steps)), "call"))
	if meta.Skipped > 0 {
		fmt.Fprintf(&out, "\n%s not made.\n", tool.Count(int64(meta.Skipped), "call"))
	}
	all.Output, all.Metadata, all.Inner, all.No = out.String(), meta, results, meta.Failed > 0
	if at := slices.IndexFunc(results, failed); b.StopOnError && at >= 0 && results[at].Error != nil {
		e := *results[at].Error
		e.Message = fmt.Sprintf("calls[%d], %s: %s", at, b.steps[at].name, e.Message)
		all.Error = &e
	}
	return all
}

// share is how much each of some outputs may have, so that together they stay within
// the limits: those that are small have all they need, the others the same.
func share(all truncate.Limits, sizes []truncate.Limits) truncate.Limits {
	divide := func(total int, size func(truncate.Limits) int) int {
		list := make([]int, len(sizes))
		for i, s := range sizes {
			list[i] = size(s)
		}
		slices.Sort(list)
		for i, n := range list {
			if each := total / (len(list) - i); n > each {
				return max(each, 1)
			}
			total -= n
		}
		return max(all.Bytes, all.Lines) // they all fit
	}
	return truncate.Limits{
		Bytes:     divide(all.Bytes, func(l truncate.Limits) int { return l.Bytes }),
		Lines:     divide(all.Lines, func(l truncate.Limits) int { return l.Lines }),
		LineChars: all.LineChars,
	}
}
