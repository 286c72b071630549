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

func BenchmarkRecoverNothing(b *testing.B) {
	s := newSite(b)
	s.put("a", "x")
	s.commit(Change{Op: Write, Path: s.p("a"), Data: []byte("y")})
	for b.Loop() {
		if _, err := s.Recover(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
