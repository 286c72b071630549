package change

import (
	"context"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// An applier makes steps happen, in an order that needs no more than the
// steps say.
type applier struct {
	h     *History
	lock  *workspace.Lock
	force bool
	by    map[string]*step
}

func (h *History) apply(ctx context.Context, lock *workspace.Lock, steps []*step, force bool) error {
	a := &applier{h: h, lock: lock, force: force, by: map[string]*step{}}
	for _, s := range steps {
		a.by[s.Path] = s
	}
	now := map[*step]State{}
	for _, s := range steps {
		now[s] = s.Before
	}
	for _, phase := range []struct {
		upward bool // what lies deeper comes first
		want   func(*step, State) bool
		do     func(context.Context, *step, State) error
	}{
		{false, a.locked, a.unlock},
		{false, a.removes, a.remove},
		{false, a.makes, a.mkdir},
		{false, a.moves, a.move},
		{true, a.unmakes, a.rmdir},
		{false, a.fills, a.fill},
		{true, a.remodes, a.dirMode},
	} {
		order := slices.Clone(steps)
		if phase.upward {
			slices.SortFunc(order, func(a, b *step) int { return strings.Compare(b.Path, a.Path) })
		}
		for _, s := range order {
			if !phase.want(s, now[s]) {
				continue
			}
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if err := a.locate(s); err != nil {
				return err
			}
			if err := phase.do(ctx, s, now[s]); err != nil {
				return err
			}
			a.h.reach(s.Path)
			if from := a.by[s.From]; from != nil && now[s].Kind == Missing && s.After.Kind != Dir {
				now[s], now[from] = now[from], State{}
				continue
			}
			now[s] = a.next(s, now[s])
		}
	}
	return nil
}

// locate finds the path of a step whose directory was none before.
func (a *applier) locate(s *step) (err error) {
	if s.path.Real == "" {
		s.path, err = a.h.path(s.Path)
	}
	return err
}

// next is what a step's name stands for after a phase that took it on.
func (a *applier) next(s *step, was State) State {
	if a.locked(s, was) {
		was.Mode |= 0o700
		return was
	}
	if was.Kind != Missing && was.Kind != s.After.Kind {
		return State{}
	}
	return s.After
}

func (a *applier) source(s *step) bool {
	for _, t := range a.by {
		if t.From == s.Path {
			return true
		}
	}
	return false
}

// locked: a directory must be writable while things in it change.
func (a *applier) locked(_ *step, now State) bool {
	return a.force && now.Kind == Dir && now.Mode&0o300 != 0o300 && !now.AnyMode
}

func (a *applier) removes(s *step, now State) bool {
	return (now.Kind == Regular || now.Kind == Link) && now.Kind != s.After.Kind && !a.source(s)
}

func (a *applier) makes(s *step, now State) bool {
	return s.After.Kind == Dir && now.Kind == Missing
}

func (a *applier) moves(s *step, now State) bool {
	from := a.by[s.From]
	return from != nil && now.Kind == Missing && s.After.Kind != Dir
}

func (a *applier) unmakes(s *step, now State) bool { return now.Kind == Dir && s.After.Kind != Dir }

func (a *applier) fills(s *step, now State) bool {
	return (s.After.Kind == Regular || s.After.Kind == Link) && (!now.sameContent(s.After) || !now.sameMode(s.After))
}

func (a *applier) remodes(s *step, now State) bool {
	return s.After.Kind == Dir && !s.After.AnyMode && now.Kind == Dir
}
