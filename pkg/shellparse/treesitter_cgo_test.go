//go:build cgo

package shellparse

import (
	"context"
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// BenchmarkParsers reads the commands of the cases with both parsers in the
// same run: ns a command for each, and how many times the first the second
// takes.
func BenchmarkParsers(b *testing.B) {
	texts := corpus(b)
	var first, second time.Duration
	for b.Loop() {
		start := time.Now()
		for _, s := range texts {
			_, _ = syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(s), "")
		}
		first += time.Since(start)
		start = time.Now()
		for _, s := range texts {
			secondRead(context.Background(), s)
		}
		second += time.Since(start)
	}
	n := float64(b.N * len(texts))
	b.ReportMetric(float64(first.Nanoseconds())/n, "mvdan-ns")
	b.ReportMetric(float64(second.Nanoseconds())/n, "treesitter-ns")
	b.ReportMetric(float64(second)/float64(first), "ratio")
}
