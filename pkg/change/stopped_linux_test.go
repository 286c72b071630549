package change

import (
	"context"
	"errors"
	"testing"
)

// TestStoppedBetween: a change that is stopped when one of its files has changed already
// is taken back at once, and leaves no record.
func TestStoppedBetween(t *testing.T) {
	s := newSite(t)
	s.put("a", "one")
	s.put("b", "two")
	before := s.image()
	ctx, cancel := context.WithCancel(t.Context())
	s.at = func(point string) {
		if point == s.abs("a") {
			cancel()
		}
	}
	targets := []Target{{Path: s.abs("a"), Was: Regular, Bytes: 3}, {Path: s.abs("b"), Was: Regular, Bytes: 3}}
	if _, err := s.Become(ctx, Record{}, targets, func() error { return nil }); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	same(t, "stopped", s.image(), before)
	if list, err := s.List(t.Context(), 10); err != nil || len(list) != 0 {
		t.Errorf("%+v %v", list, err)
	}
}
