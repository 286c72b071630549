package change

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// carry makes the steps happen: old contents and record to the disk, every
// file, the record done. With force read-only files are no obstacle.
func (h *History) carry(ctx context.Context, lock *workspace.Lock, r Record, steps []*step, force bool) (Record, error) {
	steps = slices.DeleteFunc(steps, func(s *step) bool {
		closed := force && s.Before.Kind == Dir && s.Before.Mode&0o300 != 0o300 // it is opened for what changes in it
		return s.From == "" && s.After.sameContent(s.Before) && s.After.sameMode(s.Before) && !closed
	})
	if len(steps) == 0 && r.Undoes == "" { // an undo counts even when the files were put back by hand
		return Record{}, nil
	}
	slices.SortFunc(steps, func(a, b *step) int { return cmp.Compare(a.Path, b.Path) })
	b := h.store.batch()
	defer b.close()
	atomic := len(steps) == 1 && !steps[0].InPlace
	for _, s := range steps {
		if err := h.keep(b, s, steps, atomic); err != nil {
			return Record{}, err
		}
		h.reach("kept")
	}
	now := h.o.Now()
	r.ID, r.Time, r.added = session.NewSortableID("", now), now, b.size
	for _, s := range steps {
		r.Files = append(r.Files, s.File)
	}
	p, err := h.store.begin(&r, b)
	if err != nil {
		return Record{}, fmt.Errorf("recording the change: %w", err)
	}
	h.reach("recorded")
	if err := h.apply(ctx, lock, steps, force); err != nil {
		return Record{}, h.back(ctx, lock, p, err)
	}
	h.reach("applied")
	for i, s := range steps {
		r.Files[i].Result = s.Result
	}
	rewrite := h.dropLarge(&r)
	// Should the mark get lost, the files themselves say that it was done: of
	// several, only as long as none of them has changed again.
	if err := p.finish(rewrite, !atomic); err != nil {
		// The files are changed. The next Recover finishes the record.
		r.Gaps = append(r.Gaps, Gap{Why: err.Error()})
	}
	h.reach("done")
	return r, nil
}

// keep puts what a step destroys into the batch, and for a file that is
// overwritten what it gets too: only with both can a half-written one be told.
func (h *History) keep(b *batch, s *step, steps []*step, atomic bool) error {
	if s.Before.Kind != Regular || s.Before.sameContent(s.After) || movedWhole(s, steps) {
		return h.keepMoved(b, s, steps)
	}
	if atomic && s.Before.Size > h.o.Limits.Bytes {
		return nil // it happens at once, and is too large to undo
	}
	if err := h.keepFile(b, s); err != nil {
		return err
	}
	if s.InPlace && s.After.Kind == Regular {
		return h.keepNew(b, s)
	}
	return nil
}

// keepMoved keeps the old content of a file that is moved and changed, which
// stands under its new name.
func (h *History) keepMoved(b *batch, s *step, steps []*step) error {
	if s.From == "" {
		return nil
	}
	from := steps[slices.IndexFunc(steps, func(t *step) bool { return t.Path == s.From })]
	if from.Before.Kind != Regular || from.Before.sameContent(s.After) {
		return nil
	}
	if err := h.keepFile(b, from); err != nil {
		return err
	}
	if s.InPlace {
		return h.keepNew(b, s)
	}
	return nil
}

func movedWhole(s *step, steps []*step) bool {
	return slices.ContainsFunc(steps, func(t *step) bool { return t.From == s.Path })
}

// keepFile puts the content that the step's file has into the batch.
func (h *History) keepFile(b *batch, s *step) error {
	if s.old != nil {
		err := b.addBytes(s.old, s.Before.Hash)
		s.Before.Kept = err == nil
		return err
	}
	f, err := h.w.OpenFile(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	hash, _, err := b.addFile(f, s.Before.Size)
	if err == nil && hash != s.Before.Hash {
		err = &workspace.ConflictError{Path: s.Path, Have: State{Hash: hash}.Version(), Want: s.Before.Version()}
	}
	s.Before.Kept = err == nil
	return err
}

func (h *History) keepNew(b *batch, s *step) error {
	r, err := h.newContent(s)
	if err != nil {
		return err
	}
	defer r.Close()
	data, err := io.ReadAll(r) // the workspace too holds it in memory to overwrite a file
	if err != nil {
		return err
	}
	err = b.addBytes(data, s.After.Hash)
	s.After.Kept = err == nil
	return err
}

// newContent opens what the step's file is to hold. What is not in memory is checked as
// it is read.
func (h *History) newContent(s *step) (io.ReadCloser, error) {
	open := s.open
	switch {
	case open != nil:
	case s.After.Hash == s.dataHash(): // an empty one too has no data
		return io.NopCloser(bytes.NewReader(s.data)), nil
	default:
		open = func() (io.ReadCloser, error) { return h.store.content(s.After.Hash) }
	}
	r, err := open()
	if err != nil {
		return nil, err
	}
	return check(r, s.After.Hash), nil
}

// dropLarge gives up what exceeds all of the limit by itself. The record says
// so; tidy removes it.
func (h *History) dropLarge(r *Record) (dropped bool) {
	for i := range r.Files {
		f := &r.Files[i]
		if f.Before.Kind != Regular || f.Before.Size <= h.o.Limits.Bytes || f.From != "" {
			continue
		}
		if f.After.sameContent(f.Before) || slices.ContainsFunc(r.Files, func(t File) bool { return t.From == f.Path && t.After.sameContent(f.Before) }) {
			continue // nothing of it is needed
		}
		f.Before.Kept, dropped = false, true
		r.Gaps = append(r.Gaps, Gap{f.Path, fmt.Sprintf("its old content, %d bytes, is larger than the journal may be (%d)", f.Before.Size, h.o.Limits.Bytes)})
	}
	return dropped
}
