package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// swapBack takes back what a change that failed has done, and returns why it failed.
func (h *History) swapBack(p *places, on *pending, cause error) error {
	kept, err := h.unswap(p, on)
	for _, g := range kept {
		cause = errors.Join(cause, fmt.Errorf("%s stays as it is: %s", g.Path, g.Why))
	}
	if err != nil {
		_ = on.f.Close() // it stays: who comes next tries again
		return errors.Join(cause, fmt.Errorf("%w: %w", ErrUnfinished, err))
	}
	return cause
}

// unswap gives each file of the record its place back. What somebody else has put there
// since stays; the record then is of these files alone, so that they can be undone.
func (h *History) unswap(p *places, on *pending) (kept []Gap, err error) {
	var stay []File
	back := slices.Clone(on.r.Files)
	for i := range back {
		back[i] = inverseOf(back[i])
	}
	slices.Reverse(back)
	if err := p.unlock(back); err != nil {
		return kept, err
	}
	for i := range back {
		f := &back[i]
		if f.Stash == "" {
			if err := p.do(f); err != nil && !missing(err) {
				return kept, err
			}
			continue
		}
		e, err := p.entry(f.Stash)
		if err != nil {
			return kept, err
		}
		if e.Ino != f.After.Ino { // it has not changed places, or has them back
			continue
		}
		now, err := p.look(f.Path)
		if err != nil {
			return kept, err
		}
		if now.Ino != f.Before.Ino {
			kept, stay = append(kept, Gap{f.Path, "it has changed since"}), append(stay, inverseOf(*f))
			continue
		}
		switch err := p.do(f); {
		case missing(err): // what is kept of it can be undone, which makes the directory again
			kept, stay = append(kept, Gap{f.Path, "it, or its directory, is gone"}), append(stay, inverseOf(*f))
			continue
		case err != nil:
			return kept, err
		}
		h.reach(f.Path)
	}
	if err := p.modes(back); err != nil {
		return kept, err
	}
	if len(stay) == 0 {
		return kept, on.forget()
	}
	slices.Reverse(stay)
	on.r.Files = stay
	return kept, on.replaced()
}

// allSwapped reports whether every file of the record has changed places, and the
// directories that it makes are there.
func (p *places) allSwapped(r *Record) bool {
	for i := range r.Files {
		f := &r.Files[i]
		if f.Stash != "" {
			if e, err := p.entry(f.Stash); err != nil || e.Ino != f.Before.Ino {
				return false
			}
			continue
		}
		if now, err := p.look(f.Path); err != nil || f.After.Kind == Dir && now.Kind != Dir {
			return false
		}
	}
	return true
}

// settleSwap finishes the exchange of a process that is dead, or takes it back.
func (h *History) settleSwap(ctx context.Context, on *pending) (*Recovery, error) {
	lock, err := h.w.LockAll(ctx)
	if err != nil {
		return nil, err
	}
	defer lock.Unlock()
	p, err := h.stash(on.r.Stash, false)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if p.allSwapped(on.r) {
		if err := p.modes(on.r.Files); err != nil {
			return nil, err
		}
		return &Recovery{Record: *on.r, Finished: true}, h.swapped(p, on)
	}
	kept, err := h.unswap(p, on)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(on.r.Stash, on.r.ID) && len(kept) == 0 {
		err = h.store.removeStash(on.r.Stash)
	}
	return &Recovery{Record: *on.r, Kept: kept}, err
}
