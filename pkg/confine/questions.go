package confine

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/gate"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// Questions are about programs inside a command that someone was asked about while
// it ran: they did not stand in the call, and wait for the answer.
type Questions struct {
	mu    sync.Mutex
	list  []AskedProgram
	total time.Duration // of questions that were answered
	since time.Time     // when the open question was asked; zero for none
	Over  context.Context
	// Starts is told of each program before it does; nil for nobody
	Starts func(context.Context, *sandbox.Exec)
	Keeps  gate.Keeper // nil for none
	// Order is for whoever keeps instead, the supervisor of a job; nil for nobody
	Order   func() (json.RawMessage, error)
	cloning *cloning // is told, too
}

// maxWaited bounds by how much questions prolong a command's time limit: it can
// keep one open by itself.
const maxWaited = 10 * time.Minute

// An AskedProgram is one of them, for the metadata.
type AskedProgram struct {
	Program  string `json:"program" doc:"with its words"`
	Approved bool   `json:"approved" doc:"the answer was yes"`
	Reason   string `json:"reason,omitempty" doc:"why not"`
}

// Build is how the gate of a command decides. What is about to be taken away by what it
// lets start is kept first.
func (q *Questions) Build(env *tool.Env) func(json.RawMessage) (sandbox.Decider, error) {
	build := q.gate(env)
	if q.Starts == nil && !q.cloning.others() {
		return build
	}
	return func(order json.RawMessage) (sandbox.Decider, error) {
		built := sync.OnceValues(func() (sandbox.Decider, error) { return build(order) })
		return func(ctx context.Context, e *sandbox.Exec) sandbox.Answer {
			if e.Emptied != "" {
				return q.emptied(ctx, e)
			}
			decide, err := built()
			if err != nil {
				return sandbox.Unreadable(err)
			}
			a := decide(ctx, e)
			if a.Allow && q.Starts != nil {
				q.Starts(ctx, e)
			}
			if a.Allow {
				q.cloning.starts(e)
			}
			return a
		}, nil
	}
}

// emptied has a file kept that is about to be emptied or replaced. That needs no gate.
func (q *Questions) emptied(ctx context.Context, e *sandbox.Exec) sandbox.Answer {
	q.Starts(ctx, e)
	return sandbox.Answer{Allow: true}
}

func (q *Questions) gate(env *tool.Env) func(json.RawMessage) (sandbox.Decider, error) {
	if env.Ask == nil {
		return gate.BuildWith(nil, q.Keeps)
	}
	return gate.BuildWith(func(ctx context.Context, a policy.Access, dir string) (bool, string) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(q.Over, cancel)()
		q.begin()
		answer := env.Approve(ctx, "bash", a, dir)
		q.end(&a, answer)
		return answer.Yes, answer.Reason
	}, q.Keeps)
}

func (q *Questions) begin() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.since = time.Now()
}

func (q *Questions) end(a *policy.Access, answer tool.Answer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.total += time.Since(q.since)
	q.since = time.Time{}
	q.list = append(q.list, AskedProgram{policy.Subject(a), answer.Yes, answer.Reason})
}

// waited is for how long questions have been open until now.
func (q *Questions) waited() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	waited := q.total
	if !q.since.IsZero() {
		waited += time.Since(q.since)
	}
	return min(waited, maxWaited)
}

// Programs are those that were asked about, in their order.
func (q *Questions) Programs() []AskedProgram {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.list
}
