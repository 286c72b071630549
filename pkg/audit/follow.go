package audit

import (
	"context"
	"iter"
	"os"
	"time"
)

// Follow yields the records that f selects, all at once, and then those that are added,
// until ctx ends. It looks for them once in each interval.
func (a *Audit) Follow(ctx context.Context, f Filter, interval time.Duration) iter.Seq[iter.Seq2[Record, error]] {
	added := func(yield func(Record, error) bool) {
		for r, err := range a.Read(ctx, f) {
			f.AfterSeq = max(f.AfterSeq, r.Seq)
			if ctx.Err() != nil || !yield(r, err) {
				return
			}
		}
	}
	return func(yield func(iter.Seq2[Record, error]) bool) {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		var before os.FileInfo
		for {
			now, err := os.Stat(a.Path())
			if err == nil && (before == nil || now.Size() != before.Size() || !os.SameFile(now, before)) {
				before = now
				if !yield(added) {
					return
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}
}
