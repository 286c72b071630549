package policy

import "slices"

// DecideStart answers for a program that starts inside a call which was
// allowed, with its final words: the exec gate asks it. starts are the accesses
// of the start, its own exec access first, and approved are those of the call.
//
// What a rule denies stays denied. What a rule asks about, and what is
// dangerous, needs to have stood in the call, word for word; a dangerous start
// that touches only files which may be changed freely needs not. Anything else
// is a child of something that was allowed, and runs: the sandbox holds it. So
// the levels and the profile's defaults have no say here, but for that.
func (p *Policy) DecideStart(starts, approved []Access) Decision {
	if p == nil {
		return Decision{Verdict: Deny, Rule: "no policy", Why: "the policy did not load"}
	}
	if len(starts) == 0 || starts[0].Kind != Exec {
		return Decision{Verdict: Deny, Rule: "no program", Why: "nothing is known about what starts"}
	}
	best := Decision{Verdict: Allow, Why: "a child of what was allowed", Default: true}
	for i := range starts {
		d := p.decidePart(starts, i, approved)
		if d.Verdict < best.Verdict || d.Verdict == best.Verdict && best.Default && !d.Default {
			best = d
		}
		if best.Verdict == Deny {
			break
		}
	}
	return best
}

// decidePart answers for one access of a start.
func (p *Policy) decidePart(starts []Access, i int, approved []Access) Decision {
	a := &starts[i]
	var d Decision
	if a.Kind == Exec {
		var f facts
		p.programFacts(a, &f)
		d = p.decideProgram(a, &f)
	} else {
		d = p.Decide(a)
	}
	free := Decision{Verdict: Allow, Why: "a child of what was allowed", Default: true}
	switch own := i == 0; {
	case d.Default && own && a.Danger != "" && d.Verdict != Allow:
		if a.stoodIn(approved) || p.harmlessDanger(starts) {
			return free
		}
		d.Verdict, d.Why = Ask, a.Danger
		return d
	case d.Default, d.Layer == BuiltIn && !own, d.Verdict == Ask && !own && (d.Doubt || a.Kind == Exec):
		return free // the sandbox's business, or seen when it starts itself
	case d.Verdict == Ask && a.stoodIn(approved):
		return free
	}
	return d
}

// harmlessDanger reports whether a dangerous start does no more than change
// files that it may change: a script that clears its own output.
func (p *Policy) harmlessDanger(starts []Access) bool {
	files := 0
	for i := 1; i < len(starts); i++ {
		a := &starts[i]
		if a.Parent != 1 || a.Kind != Write {
			continue
		}
		if d := p.Decide(a); d.Verdict != Allow || a.Opaque != "" || a.Danger != "" {
			return false
		}
		files++
	}
	return files > 0 && starts[0].Opaque == ""
}

// stoodIn reports whether an access stood in the call: the very same, or, for
// a program, one whose words were not known, which was allowed as that.
func (a *Access) stoodIn(approved []Access) bool {
	return slices.ContainsFunc(approved, func(b Access) bool {
		switch {
		case a.Kind != b.Kind:
			return false
		case a.Kind == Exec:
			if a.Program != b.Program || len(a.Argv) == 0 || len(b.Argv) == 0 {
				return false
			}
			return slices.Contains(b.Dynamic, true) && !b.Dynamic[0] || slices.Equal(a.Argv[1:], b.Argv[1:])
		case a.Kind == Net:
			return a.Host == b.Host && a.Port == b.Port
		}
		return a.Path == b.Path && (a.Op == b.Op || a.Op == Create && b.Op == Change || a.Op == Change && b.Op == Create) && (b.Tree || !a.Tree)
	})
}
