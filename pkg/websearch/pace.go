package websearch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A pace is when a provider may be asked, as all processes know it.
type pace struct {
	Next  time.Time `json:"next"`           // not before
	Until time.Time `json:"until,omitzero"` // it said that it will not answer before
	Kind  Failure   `json:"code,omitempty"` // why
	Why   string    `json:"why,omitempty"`  // in words
}

// longestQueue bounds what is believed of a time in the file: clocks are set back.
const longestQueue = time.Minute

// update changes what is known of a provider's pace under its lock.
func (e *Engine) update(ctx context.Context, p *Provider, change func(*pace) error) error {
	dir, err := safefile.MakeDir(e.Pace)
	if err != nil {
		return err
	}
	defer dir.Close()
	where := sha256.Sum256([]byte(p.Base + "\n" + p.Key))
	name := p.Name + "-" + hex.EncodeToString(where[:6])
	lock, err := dir.Lock(ctx, name+".lock")
	if err != nil {
		return err
	}
	defer lock.Close()
	var known pace
	if raw, err := dir.ReadFile(name + ".json"); err == nil {
		_ = json.Unmarshal(raw, &known) // a file that is damaged says nothing
	}
	if err := change(&known); err != nil {
		return err
	}
	raw, err := json.Marshal(known)
	if err != nil {
		return err
	}
	return dir.WriteFile(name+".json", raw, false)
}

// await waits until it is this call's turn to ask the provider. It takes the turn first
// and sleeps then, so that nobody waits for the lock.
func (e *Engine) await(ctx context.Context, p *Provider) error {
	var turn time.Time
	err := e.update(ctx, p, func(known *pace) error {
		now := e.Now()
		if left := known.Until.Sub(now); left > 0 && left <= longestRest {
			return &Error{Kind: known.Kind, Message: known.Why + " (it was not asked again)", RetryAfter: left}
		}
		turn = now
		if left := known.Next.Sub(now); left > 0 && left <= longestQueue {
			turn = known.Next
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < turn.Sub(now) {
			return &Error{Kind: Limit, Message: "other calls come before this one", RetryAfter: turn.Sub(now)}
		}
		*known = pace{Next: turn.Add(e.Gap)}
		return nil
	})
	if err != nil {
		return err
	}
	timer := time.NewTimer(turn.Sub(e.Now()))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// rest has all processes leave a provider alone that said for how long.
func (e *Engine) rest(ctx context.Context, p *Provider, failed *Error) {
	if failed.RetryAfter <= 0 {
		return
	}
	why, _, _ := strings.Cut(failed.Message, " (HTTP ")
	_ = e.update(context.WithoutCancel(ctx), p, func(known *pace) error { // at worst it is asked once more
		known.Until, known.Kind, known.Why = e.Now().Add(failed.RetryAfter), failed.Kind, why
		return nil
	})
}

// fresh is how long an answer is used again.
const fresh = 15 * time.Minute

// key is the name of the file that holds the answer to a query.
func (e *Engine) key(q Query) string {
	h := sha256.New()
	for _, p := range e.Providers {
		_, _ = fmt.Fprintf(h, "%s %s\n", p.Name, p.Base)
	}
	_, _ = fmt.Fprintf(h, "%q %d %q %q %s", q.Text, q.Max, q.Domains, q.Exclude, day(q.Since))
	return hex.EncodeToString(h.Sum(nil)[:16]) + ".json"
}

// cached is the answer to a query that was given a short time ago; nil for none.
func (e *Engine) cached(key string) *Answer {
	if e.Cache == "" {
		return nil
	}
	dir, err := safefile.OpenDir(e.Cache)
	if err != nil {
		return nil
	}
	defer dir.Close()
	raw, err := dir.ReadFile(key)
	if err != nil {
		return nil
	}
	a := new(Answer)
	if json.Unmarshal(raw, a) != nil {
		return nil
	}
	if age := e.Now().Sub(a.Asked); age < 0 || age >= fresh {
		return nil
	}
	a.Cached = true
	return a
}

// keep stores an answer and removes those that are old. What cannot be stored is asked
// for again.
func (e *Engine) keep(key string, a *Answer) {
	if e.Cache == "" {
		return
	}
	dir, err := safefile.MakeDir(e.Cache)
	if err != nil {
		return
	}
	defer dir.Close()
	list, _ := dir.ReadDir()
	for _, f := range list {
		if info, err := f.Info(); err == nil && e.Now().Sub(info.ModTime()) > fresh {
			_ = dir.Remove(f.Name())
		}
	}
	if raw, err := json.Marshal(a); err == nil {
		_ = dir.WriteFile(key, raw, false)
	}
}
