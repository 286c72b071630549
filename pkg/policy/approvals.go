package policy

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// DefaultApprovalTTL is how long a request, and then its answer, lives.
const DefaultApprovalTTL = 15 * time.Minute

// Bounds of how many requests there are at a time: in one root, where the oldest gives way, so that what runs there does not keep
// others from asking, and in all.
const (
	maxOfRoot    = 100
	maxApprovals = 500
)

// ErrNoApproval says that there is no such request, or no longer, ErrAnswered
// that someone has answered it.
var (
	ErrNoApproval = errors.New("no such request, or it has expired")
	ErrAnswered   = errors.New("it is answered already")
)

// Approvals is a directory of requests that wait for a person. An answer is
// bound to the very call: session, tool, arguments, root, policy and what was asked
// about, which may change while the arguments do not (the address of a remote, the
// files that a pattern finds). It counts once, whichever process of the session comes first. Its methods wait for other processes until ctx
// ends.
type Approvals struct {
	Dir string           // made when needed
	TTL time.Duration    // 0 means DefaultApprovalTTL
	Now func() time.Time // nil means time.Now

	DryRun bool // Approve and Refuse say what they would do, and do nothing
}

// An Answer is what became of a request.
type Answer string

// The answers.
const (
	Pending  Answer = "pending"
	Approved Answer = "approved"
	Refused  Answer = "refused"
)

// An Approval is one request and its answer.
type Approval struct {
	ID        string          `json:"id"`
	Hash      string          `json:"hash"` // of the call, see CallHash
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Root      string          `json:"root"`
	Session   string          `json:"session,omitempty"` // that the call belongs to

	Report  Report    `json:"report"` // what was asked about, for the person
	Answer  Answer    `json:"answer"`
	Reason  string    `json:"reason,omitempty"` // of a refusal, for the model
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
}

// CallHash identifies a call under the rules of a policy, together with what has
// to be asked about: equal calls, equal hash, in whatever order the arguments'
// keys and the accesses stand.
func (p *Policy) CallHash(tool string, arguments json.RawMessage, o *Outcome) (string, error) {
	if p == nil {
		return "", errors.New("there is no policy to be approved under")
	}
	canonical, err := canonicalJSON(arguments)
	if err != nil {
		return "", fmt.Errorf("reading the arguments: %w", err)
	}
	h := sha256.New()
	var asked []string
	for i := range o.Accesses {
		if o.Decisions[i].Verdict == Ask {
			asked = append(asked, string(o.Accesses[i].Kind)+" "+Subject(&o.Accesses[i]))
		}
	}
	slices.Sort(asked)
	if o.Shown != "" {
		asked = append(asked, "shown "+o.Shown)
	}
	for _, part := range append([]string{tool, string(canonical), p.root, p.rulesHash}, slices.Compact(asked)...) {
		fmt.Fprintf(h, "%d:%s\n", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (s *Approvals) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

func (s *Approvals) ttl() time.Duration {
	if s.TTL > 0 {
		return s.TTL
	}
	return DefaultApprovalTTL
}

// Request records that a call waits for a person, and returns the request.
// Asked again before it is answered, it is the same request.
func (s *Approvals) Request(ctx context.Context, p *Policy, tool string, arguments json.RawMessage, session string, o *Outcome) (got Approval, err error) {
	hash, err := p.CallHash(tool, arguments, o)
	if err != nil {
		return got, err
	}
	err = s.with(ctx, func(all []Approval) error {
		for _, a := range all {
			if a.Hash == hash && a.Session == session && a.Answer == Pending {
				got = a
				return nil
			}
		}
		if len(all) >= maxApprovals {
			return fmt.Errorf("%d requests wait already; agentkit policy approvals lists them", len(all))
		}
		if err := s.makeRoom(all, p.root); err != nil {
			return err
		}
		now := s.now()
		got = Approval{
			ID: strings.ToLower(rand.Text()[:10]), Hash: hash, Tool: tool, Arguments: arguments, Root: p.root, Session: session,
			Report: p.Report(o), Answer: Pending, Created: now.UTC(), Expires: now.Add(s.ttl()).UTC(),
		}
		if len(arguments) == 0 {
			got.Arguments = json.RawMessage("{}")
		}
		return s.save(&got)
	})
	return got, err
}

// makeRoom drops the oldest request of a root that nobody has answered, where there are as many as there may be.
func (s *Approvals) makeRoom(all []Approval, root string) error {
	here := slices.DeleteFunc(slices.Clone(all), func(a Approval) bool { return a.Root != root })
	if len(here) < maxOfRoot {
		return nil
	}
	oldest := slices.IndexFunc(here, func(a Approval) bool { return a.Answer == Pending })
	if oldest < 0 {
		return fmt.Errorf("%d answers wait already in %s; agentkit policy approvals lists them", len(here), root)
	}
	return os.Remove(s.file(here[oldest].ID))
}

// List returns the requests that have not expired, oldest first.
func (s *Approvals) List(ctx context.Context) (all []Approval, err error) {
	err = s.with(ctx, func(have []Approval) error {
		all = have
		return nil
	})
	return all, err
}

// Approve lets the very call of a request pass once, within the lifetime that
// starts now.
func (s *Approvals) Approve(ctx context.Context, id string) (Approval, error) {
	return s.answer(ctx, id, Approved, "")
}

// Refuse makes the very call of a request fail once; reason is for the model.
func (s *Approvals) Refuse(ctx context.Context, id, reason string) (Approval, error) {
	return s.answer(ctx, id, Refused, reason)
}

func (s *Approvals) answer(ctx context.Context, id string, answer Answer, reason string) (got Approval, err error) {
	err = s.with(ctx, func(all []Approval) error {
		i := slices.IndexFunc(all, func(a Approval) bool { return a.ID == id })
		if i < 0 {
			return fmt.Errorf("answering %q: %w", id, ErrNoApproval)
		}
		if all[i].Answer != Pending {
			return fmt.Errorf("answering %q: %w: %s", id, ErrAnswered, all[i].Answer)
		}
		got = all[i]
		got.Answer, got.Reason, got.Expires = answer, reason, s.now().Add(s.ttl()).UTC()
		if s.DryRun {
			return nil
		}
		return s.save(&got)
	})
	return got, err
}

// Consume looks for an answer to the call of a session. An approval or refusal is
// used up by this; of several processes one gets it. Pending with a nil error means
// that nobody has answered, or nobody was asked.
func (s *Approvals) Consume(ctx context.Context, p *Policy, tool string, arguments json.RawMessage, session string, o *Outcome) (answer Answer, reason string, err error) {
	hash, err := p.CallHash(tool, arguments, o)
	if err != nil {
		return Pending, "", err
	}
	answer = Pending
	err = s.with(ctx, func(all []Approval) error {
		for _, a := range all {
			if a.Hash != hash || a.Session != session || a.Answer == Pending {
				continue
			}
			if err := os.Remove(s.file(a.ID)); err != nil {
				return err
			}
			answer, reason = a.Answer, a.Reason
			return nil
		}
		return nil
	})
	if err != nil {
		answer = Pending
	}
	return answer, reason, err
}

func (s *Approvals) file(id string) string { return filepath.Join(s.Dir, id+".json") }

func (s *Approvals) save(a *Approval) error {
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return safefile.WriteFile(s.file(a.ID), append(data, '\n'), true)
}

// with runs f under the directory's lock with the requests that still live.
func (s *Approvals) with(ctx context.Context, f func([]Approval) error) error {
	return locked(ctx, filepath.Join(s.Dir, "lock"), func() error {
		entries, err := os.ReadDir(s.Dir)
		if err != nil {
			return err
		}
		var all []Approval
		for _, e := range entries {
			if a, ok, err := s.load(e); err != nil {
				return err
			} else if ok {
				all = append(all, a)
			}
		}
		slices.SortFunc(all, func(a, b Approval) int { return a.Created.Compare(b.Created) })
		return f(all)
	})
}

// load reads one request and removes it when its time is over, or when it is
// no request at all: what cannot be read approves nothing.
func (s *Approvals) load(e fs.DirEntry) (a Approval, ok bool, err error) {
	id, isRequest := strings.CutSuffix(e.Name(), ".json")
	if !isRequest || !e.Type().IsRegular() {
		return a, false, nil
	}
	data, err := os.ReadFile(s.file(id))
	if err != nil {
		return a, false, err
	}
	if json.Unmarshal(data, &a) != nil || a.ID != id || !s.now().Before(a.Expires) {
		return a, false, os.Remove(s.file(id))
	}
	return a, true, nil
}
