//go:build unix

package policy

import (
	"fmt"
	"strings"
	"testing"
)

// manyRules is a policy of n rules, as people write them.
func manyRules(n int) string {
	var b strings.Builder
	b.WriteString("version: 1\nprofile: workspace\nallow:\n")
	for i := range n / 2 {
		fmt.Fprintf(&b, "  - bash(tool%d sub *)\n", i)
	}
	for i := range n / 4 {
		fmt.Fprintf(&b, "  - edit(gen%d/**)\n", i)
	}
	b.WriteString("deny:\n")
	for i := range n / 8 {
		fmt.Fprintf(&b, "  - read(private%d/**/*.pem)\n", i)
	}
	for i := range n / 8 {
		fmt.Fprintf(&b, "  - bash(git push * --flag%d *)\n", i)
	}
	return b.String()
}

func BenchmarkDecide(b *testing.B) {
	kinds := []struct {
		name string
		a    Access
	}{{"exec", run("git push origin main")}, {"read", read("src/pkg/file.go")}, {"write", write("src/pkg/file.go")}, {"net", get("https://pkg.go.dev/net/http")}}
	for _, n := range []int{10, 200, 2000} {
		p := policyOf(b, manyRules(n))
		for _, k := range kinds {
			b.Run(fmt.Sprintf("%s/%d", k.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					p.Decide(&k.a)
				}
			})
		}
	}
	p := policyOf(b, manyRules(200))
	argv := []string{"git", "status", "-sb"}
	b.Run("DecideExec/200", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p.DecideExec("/usr/bin/git", argv, testRoot, ExecFacts{})
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	for _, c := range []struct{ name, file, text string }{
		{"none", "", ""}, {"small.yaml", "p.yaml", yamlSample}, {"small.toml", "p.toml", tomlSample}, {"small.json", "p.json", jsonSample}, {"200.yaml", "p.yaml", manyRules(200)},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := sources()
			if c.text != "" {
				s.Files = []string{put(b, c.file, c.text)}
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Load(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
