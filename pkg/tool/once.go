package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/once"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/session"
)

// Do runs one call of t with JSON input: read, ask the policy, record, run,
// trim. The Result is never nil; a failure stands in its Error, a panic too.
func Do(ctx context.Context, env *Env, t *Tool, input json.RawMessage) *Result {
	in, err := Decode(t, input)
	if err != nil {
		return t.Fail(err)
	}
	return Run(ctx, env, in)
}

// Run is Do for a call whose parameters are already filled in and checked.
func Run(ctx context.Context, env *Env, in *Invocation) (r *Result) {
	defer func() {
		if v := recover(); v != nil {
			r = in.Tool.Fail(Panicked(v))
		}
	}()
	in = env.Meant(in)
	id := session.NewID("c")
	if env.Emit != nil {
		env.emit("start", StartEvent{in.Tool.Name, id, in.Set.Canonical()})
	}
	if env.Key != "" && !in.Tool.ReadOnly && !env.DryRun && !in.dry() {
		return env.once(ctx, in, id)
	}
	return env.all(ctx, in, id)
}

// Meant is the call that in really is; see StandIn.
func (env *Env) Meant(in *Invocation) *Invocation {
	if env.StandIn == nil {
		return in
	}
	return env.StandIn(in)
}

// maxKey bounds an idempotency key, in bytes.
const maxKey = 256

// CheckKey reports, as an error, that a text cannot be an idempotency key.
func CheckKey(key string) error {
	if len(key) > maxKey {
		return Errorf(BadInput, "the idempotency key has %d bytes", len(key)).WithHint("use at most %d", maxKey)
	}
	return nil
}

// dry reports whether a call only tells what it would do.
func (in *Invocation) dry() bool {
	p := in.Set.Lookup("dry_run")
	return p != nil && p.String() == "true"
}

// An about is what the record of a call says of it beside what it is.
type about struct {
	Verdict policy.Verdict  `json:"verdict"`
	Needs   []policy.Access `json:"needs"`

	// The rules that the call was made under: what a program, a script or a batch met
	// while it ran was decided by them, and stands in no need.
	Basis string   `json:"basis"`
	Allow []string `json:"allow"`
}

// covers reports whether the policy of now allows what that of the call did: it has the
// same rules, and perhaps more that allow.
func (a *about) covers(p *policy.Policy) bool {
	basis, allow := p.Basis()
	return basis == a.Basis && !slices.ContainsFunc(a.Allow, func(rule string) bool { return !slices.Contains(allow, rule) })
}

// A whole is a result as a record keeps it.
type whole struct {
	Result json.RawMessage `json:"result"`
	Exit   int             `json:"exit"`
	Own    int             `json:"own"` // bytes of the output that are the tool's own; -1 for none
}

// once makes a call with a key, or tells what became of the one that was made with it.
func (env *Env) once(ctx context.Context, in *Invocation, id string) *Result {
	if err := CheckKey(env.Key); err != nil {
		return in.Tool.Fail(err)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s", in.Tool.Name, in.Set.Canonical()))
	call := hex.EncodeToString(sum[:])
	rec, err := once.Take(ctx, env.Session, env.Key)
	if err != nil {
		return in.Tool.Fail(ended(ctx, Errorf(IO, "looking for an earlier call: %w", err).WithHint("check the state directory")))
	}
	if rec.Begun != nil {
		defer rec.Close() //nolint:errcheck // it was only read
		return env.repeated(ctx, in, id, rec, call)
	}
	own := *env
	own.begin = func(out *policy.Outcome) error {
		basis, allow := env.Policy.Basis()
		raw, err := json.Marshal(about{out.Verdict, out.Accesses, basis, allow})
		if err == nil {
			err = rec.Begin(&once.Begun{Call: call, At: env.Now(), About: raw})
		}
		if err != nil {
			return Errorf(IO, "recording that the call begins: %w", err).WithHint("nothing was run; check the disk, or choose another --state")
		}
		return nil
	}
	r := own.all(ctx, in, id)
	if rec.Begun == nil {
		_ = rec.Close() // what was refused may be asked for again
		return r
	}
	if err := keep(rec, in.Tool, r); err != nil {
		r.beside().Incomplete = fmt.Sprintf("the result is not kept for its idempotency key: %v", err)
	}
	_ = rec.Close() // at once: the next call of a batch may wait for it
	env.After(func() { _ = rec.Forget(env.Now()) })
	return r
}

// keep has a record keep a result, or that there was one.
func keep(rec *once.Record, t *Tool, r *Result) error {
	result, err := r.MarshalJSON()
	if err != nil {
		return err
	}
	if n := len(result); n > once.MaxResult {
		return keep(rec, t, t.Fail(Errorf(TooLarge, "the call was made; its result of %d bytes was not kept", n).WithHint("look at what is there")))
	}
	raw, err := Encode(whole{result, r.Exit(), r.Own()})
	if err != nil {
		return err
	}
	return rec.End(raw)
}

// Own is how many bytes of what a result says are the tool's own output; -1 where it is only
// the words of the error.
func (r *Result) Own() int {
	if r.Error != nil && r.Text() == "" {
		return -1
	}
	return len(r.Output)
}

// repeated is the result of a call that was made before. It is not shown where the policy of
// now is stricter about what that one needed, or is another one.
func (env *Env) repeated(ctx context.Context, in *Invocation, id string, rec *once.Record, call string) *Result {
	t, at := in.Tool, rec.Begun.At.Format("15:04:05")
	if rec.Begun.Call != call {
		return t.Fail(Errorf(BadInput, "another call was made with this idempotency key, at %s", at).WithHint("give each call a key of its own, and repeat one as it was"))
	}
	var before about
	if err := json.Unmarshal(rec.Begun.About, &before); err != nil {
		return t.Fail(Errorf(IO, "reading the record of the earlier call: %w", err).WithHint("look at what is there, and call with another key"))
	}
	out := env.Policy.DecideAll(before.Needs)
	decision := "allow"
	if out.Verdict < before.Verdict || !before.covers(env.Policy) {
		decision = "deny"
	}
	if err := env.record(ctx, in, id, &out, decision, "nothing was run: an earlier call's result was asked for"); err != nil {
		return t.Fail(err)
	}
	switch {
	case decision == "allow":
	case out.Verdict == policy.Deny:
		return t.Fail(env.denied(&out))
	case out.Verdict >= before.Verdict:
		return t.Fail(Errorf(Denied, "this call was made at %s under another policy; its result is not shown", at).
			WithHint("nothing was run now; look at what is there, repeat the call under the policy of then, or call with another key to make it again"))
	default:
		return t.Fail(Errorf(Denied, "the policy asks now about what the earlier call did unasked; its result is not shown").WithHint("call with another key, which asks"))
	}
	if rec.Result == nil {
		r := t.Fail(Errorf(Interrupted, "this call began at %s and was cut off: what it has done is not known", at).
			WithHint("nothing was run now; look at what is there, and call with another key to do it again"))
		r.beside().Repeated = true
		return r
	}
	var kept whole
	err := json.Unmarshal(rec.Result, &kept)
	var r *Result
	if err == nil {
		r, err = Receive(kept.Result, "", kept.Exit, kept.Own)
	}
	if err != nil {
		return t.Fail(Errorf(IO, "reading the result of the earlier call: %w", err).WithHint("look at what is there, and call with another key"))
	}
	r.Passes, r.beside().Repeated = t.Passes, true
	return r
}
