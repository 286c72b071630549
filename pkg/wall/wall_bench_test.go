package wall

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// BenchmarkCompile measures the walk at the start and that at the end, with
// what is remembered and without.
func BenchmarkCompile(b *testing.B) {
	for _, files := range []int{5000, 100_000} {
		root := b.TempDir()
		for i := range files / 20 {
			dir := filepath.Join(root, fmt.Sprintf("a%d/b%d/c%d", i%20, i%7, i))
			if err := os.MkdirAll(dir, 0o755); err != nil {
				b.Fatal(err)
			}
			for j := range 20 {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", j)), nil, 0o600); err != nil {
					b.Fatal(err)
				}
			}
		}
		p, err := policy.Load(&policy.Sources{Root: root, Home: "/home/me", Level: 3})
		if err != nil {
			b.Fatal(err)
		}
		cache := b.TempDir()
		for _, run := range []struct {
			name  string
			cache string
		}{{"new", ""}, {"remembered", cache}} {
			o := Options{Policy: p, Root: root, Mounts: true, Cache: run.cache}
			w := Compile(o)
			b.Run(fmt.Sprintf("%d/%s", files, run.name), func(b *testing.B) {
				for b.Loop() {
					w = Compile(o)
				}
			})
			b.Run(fmt.Sprintf("%d/%s/end", files, run.name), func(b *testing.B) {
				for b.Loop() {
					w.Appeared()
				}
			})
		}
	}
}
