package change

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// BenchmarkWrite compares a change of one file of 8 KiB with a plain write of
// it. The content is another one each time, as in life.
func BenchmarkWrite(b *testing.B) {
	ctx := context.Background()
	content := func(i int) []byte { return fmt.Appendf(bytes.Repeat([]byte("some text\n"), 800), "%d", i) }
	b.Run("workspace", func(b *testing.B) {
		s := newSite(b)
		s.put("a", "x")
		for i := 0; b.Loop(); i++ {
			if _, err := s.w.WriteFile(ctx, s.p("a"), content(i), workspace.WriteOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, sync := range []bool{true, false} {
		b.Run(fmt.Sprintf("change/sync=%v", sync), func(b *testing.B) {
			s := newSite(b)
			h := s.again(Options{NoSync: !sync})
			s.put("a", "x")
			for i := 0; b.Loop(); i++ {
				if _, err := h.Commit(ctx, One("bench", Change{Op: Write, Path: s.p("a"), Data: content(i)})); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTen changes ten files of 8 KiB at once.
func BenchmarkTen(b *testing.B) {
	for _, sync := range []bool{true, false} {
		b.Run(fmt.Sprintf("sync=%v", sync), func(b *testing.B) {
			s := newSite(b)
			h := s.again(Options{NoSync: !sync})
			for i := 0; b.Loop(); i++ {
				var set Set
				for f := range 10 {
					data := fmt.Appendf(bytes.Repeat([]byte("some text\n"), 800), "%d %d", i, f)
					set.Changes = append(set.Changes, Change{Op: Write, Path: s.p(fmt.Sprint("f", f)), Data: data})
				}
				if _, err := h.Commit(context.Background(), set); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRecover looks for changes that killed processes have left, where
// there are none, in a workspace with so many sessions.
func BenchmarkRecover(b *testing.B) {
	for _, sessions := range []int{1, 100} {
		b.Run(fmt.Sprint(sessions), func(b *testing.B) {
			s := newSite(b)
			for i := range sessions {
				h := s.of(fmt.Sprint("s", i), Options{NoSync: true})
				if _, err := h.Commit(context.Background(), One("t", Change{Op: Create, Path: s.p(fmt.Sprint("f", i))})); err != nil {
					b.Fatal(err)
				}
			}
			h := s.again(Options{NoSync: true})
			for b.Loop() {
				if left, err := h.Recover(context.Background()); err != nil || len(left) > 0 {
					b.Fatal(left, err)
				}
			}
		})
	}
}
