package policy

import (
	"fmt"
	"strings"
)

// An Explanation is why a call is decided as it is: a tree of what the
// command does, each with the rule that decides it.
type Explanation struct {
	Tool    string
	Command string // as the caller gave it
	Verdict Verdict
	Level   int
	Steps   []Step
}

// A Step is one access, with those that it causes.
type Step struct {
	Access   Access
	Decision Decision
	Decides  bool // the outcome is this step's
	Steps    []Step
}

// Explain arranges an outcome as a tree.
func (p *Policy) Explain(tool, command string, o *Outcome) Explanation {
	e := Explanation{Tool: tool, Command: command, Verdict: o.Verdict, Level: p.Level()}
	e.Steps = steps(o, 0, 0)
	return e
}

// steps returns the accesses caused by parent. Whatever claims to be caused
// by a later access, or by none that exists, stands at the top.
func steps(o *Outcome, parent, depth int) (out []Step) {
	for i := range o.Accesses {
		cause := o.Accesses[i].Parent
		if cause < 0 || cause > i || depth > maxDepth {
			cause = 0
		}
		if cause != parent {
			continue
		}
		s := Step{Access: o.Accesses[i], Decision: o.Decisions[i], Decides: i == o.By}
		if depth < maxDepth && s.Access.Kind == Exec {
			s.Steps = steps(o, i+1, depth+1)
		}
		out = append(out, s)
	}
	return out
}

// String renders the explanation for people:
//
//	deny  bash: git push --force (sandbox level 3)
//	  deny  exec git push --force
//	        bash(git push * --force *) at policy.yaml:12 (user): matches …
func (e Explanation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-5s %s: %s (sandbox level %d)\n", e.Verdict, visible(e.Tool), visible(e.Command), e.Level)
	writeSteps(&b, e.Steps, "  ")
	return b.String()
}

func writeSteps(b *strings.Builder, steps []Step, indent string) {
	for i := range steps {
		s := &steps[i]
		mark := ""
		if s.Decides {
			mark = "  <- decides"
		}
		fmt.Fprintf(b, "%s%-5s %s %s%s\n", indent, s.Decision.Verdict, s.Access.Kind, Subject(&s.Access), mark)
		fmt.Fprintf(b, "%s      %s\n", indent, s.Decision.line())
		if s.Decision.Reason != "" {
			fmt.Fprintf(b, "%s      reason: %s\n", indent, visible(s.Decision.Reason))
		}
		writeSteps(b, s.Steps, indent+"  ")
	}
}

// line says in one line what decided.
func (d *Decision) line() string {
	where := "(" + d.Layer.String() + ")"
	if d.File != "" {
		where = "at " + d.Where() + " " + where
	}
	return visible(d.Rule) + " " + where + ": " + visible(d.Why)
}
