package run

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

// questions are about programs inside a command that someone was asked about while
// it ran: they did not stand in the call, and wait for the answer.
type questions struct {
	mu    sync.Mutex
	list  []askedProgram
	total time.Duration // of questions that were answered
	since time.Time     // when the open question was asked; zero for none
	over  context.Context
	// starts is told of each program before it does; nil for nobody
	starts func(context.Context, *sandbox.Exec)
	keeps  gate.Keeper // nil for none
	// order is for whoever keeps instead, the supervisor of a job; nil for nobody
	order   func() (json.RawMessage, error)
	cloning *cloning // is told, too
}

// maxWaited bounds by how much questions prolong a command's time limit: it can
// keep one open by itself.
const maxWaited = 10 * time.Minute

// An askedProgram is one of them, for the metadata.
type askedProgram struct {
	Program  string `json:"program" doc:"with its words"`
	Approved bool   `json:"approved" doc:"the answer was yes"`
	Reason   string `json:"reason,omitempty" doc:"why not"`
}

// build is how the gate of a command decides. What is about to be taken away by what it
// lets start is kept first.
func (q *questions) build(env *tool.Env) func(json.RawMessage) (sandbox.Decider, error) {
	build := q.gate(env)
	if q.starts == nil && !q.cloning.others() {
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
			if a.Allow && q.starts != nil {
				q.starts(ctx, e)
			}
			if a.Allow {
				q.cloning.starts(e)
			}
			return a
		}, nil
	}
}

// emptied has a file kept that is about to be emptied or replaced. That needs no gate.
func (q *questions) emptied(ctx context.Context, e *sandbox.Exec) sandbox.Answer {
	q.starts(ctx, e)
	return sandbox.Answer{Allow: true}
}

func (q *questions) gate(env *tool.Env) func(json.RawMessage) (sandbox.Decider, error) {
	if env.Ask == nil {
		return gate.BuildWith(nil, q.keeps)
	}
	return gate.BuildWith(func(ctx context.Context, a policy.Access, dir string) (bool, string) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(q.over, cancel)()
		q.begin()
		answer := env.Approve(ctx, "bash", a, dir)
		q.end(&a, answer)
		return answer.Yes, answer.Reason
	}, q.keeps)
}

func (q *questions) begin() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.since = time.Now()
}

func (q *questions) end(a *policy.Access, answer tool.Answer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.total += time.Since(q.since)
	q.since = time.Time{}
	q.list = append(q.list, askedProgram{policy.Subject(a), answer.Yes, answer.Reason})
}

// waited is for how long questions have been open until now.
func (q *questions) waited() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	waited := q.total
	if !q.since.IsZero() {
		waited += time.Since(q.since)
	}
	return min(waited, maxWaited)
}

// programs are those that were asked about, in their order.
func (q *questions) programs() []askedProgram {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.list
}
