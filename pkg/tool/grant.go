package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/session"
)

// GrantsFile holds, in the session's state, the rules that were granted for
// the session: one a line.
const GrantsFile = "grants"

// Granted are the rules that were granted for a session.
func Granted(s *session.Session) (rules []string) {
	raw, err := s.ReadFile(GrantsFile)
	if err != nil {
		return nil // none were given, or none can be shown to have been
	}
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" {
			rules = append(rules, line)
		}
	}
	return rules
}

// Grant makes the rules of an answer to a request last as long as it is meant to:
// for the session, or for always, in the user's policy. Rules that do not cover
// what was asked about grant nothing.
func (a *Answer) Grant(ctx context.Context, env *Env, r *Request) error {
	if !a.Yes || a.Scope == Once || a.Scope == "" {
		return nil
	}
	left, err := r.Uncovered(a.Rules)
	switch {
	case a.Scope != Session && a.Scope != Always:
		err = fmt.Errorf("the scope is %q", a.Scope)
	case err == nil && len(left) > 0:
		err = fmt.Errorf("its rules do not cover %s", left[0])
	}
	if err != nil {
		return Errorf(ApprovalRequired, "the answer grants nothing: %w", err).
			WithHint("the scope is once, session or always, and the rules are those of a suggestion, or cover the call")
	}
	return a.grant(ctx, env.Session, env.Sources)
}

// GrantFrom grants the rules for the session of another root and ID, in the same state,
// whatever they cover.
func (a *Answer) GrantFrom(ctx context.Context, env *Env, root, id string) error {
	s, err := session.Open(session.Options{State: env.Session.StateDir(), Root: root, ID: id})
	if err != nil {
		return err
	}
	return errors.Join(a.grant(ctx, s, env.Sources), s.Close())
}

func (a *Answer) grant(ctx context.Context, s *session.Session, sources *policy.Sources) error {
	switch {
	case !a.Yes || len(a.Rules) == 0:
		return nil
	case a.Scope == Session:
		have := Granted(s)
		return s.Update(ctx, GrantsFile, func(old []byte) ([]byte, error) {
			if len(old) > 0 && !bytes.HasSuffix(old, []byte("\n")) {
				old = append(old, '\n')
			}
			for _, rule := range a.Rules {
				if !slices.Contains(have, rule) {
					old = append(old, rule+"\n"...)
				}
			}
			return old, nil
		})
	case a.Scope != Always:
		return nil
	}
	file, err := policy.UserFile(sources.User)
	for _, rule := range a.Rules {
		if err == nil {
			err = policy.AddRule(ctx, sources, file, policy.Allow, rule)
		}
	}
	if err != nil {
		return Errorf(BadInput, "writing the rule: %w", err).WithHint("correct the rule or %s, and repeat the call", file)
	}
	return nil
}
