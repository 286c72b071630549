package policy

import "github.com/agentkit-go/agentkit/pkg/safefile"

// Below is what a yes to a call that looks through directories says of what it comes
// upon there. A nil Below says yes to nothing.
type Below struct {
	dirs []Access
	by   []Decision // why each of them was asked about
	with *Policy    // as if they had been allowed
}

// Below returns what a yes to the outcome says of what lies in its directories; nil for
// nothing.
func (p *Policy) Below(o *Outcome) *Below {
	b := &Below{with: p}
	for i := range o.Accesses {
		a := &o.Accesses[i]
		if a.Kind != Read || a.Tool == commandTool || a.File != Dir || o.Decisions[i].Verdict != Ask {
			continue
		}
		rule := grantSpec()
		rule.text = "read(" + p.shortPath(a) + ")"
		if with, err := b.with.adding(rule); err == nil {
			b.with, b.dirs, b.by = with, append(b.dirs, *a), append(b.by, o.Decisions[i])
		}
	}
	if len(b.dirs) == 0 {
		return nil
	}
	return b
}

// Allows reports whether a, for which d is decided by itself, was said yes to with a
// directory above it: the same rule asks about both, and no other protection about a, as
// that of secrets.
func (b *Below) Allows(a *Access, d *Decision) bool {
	if b == nil || a.Kind != Read || d.Verdict != Ask {
		return false
	}
	for i := range b.dirs {
		if b.dirs[i].Tool == a.Tool && b.by[i] == *d && safefile.Below(b.dirs[i].Path, a.Path) {
			return b.with.Decide(a).Verdict == Allow
		}
	}
	return false
}
