package edit

import (
	"fmt"
	"strings"
	"testing"
)

// benchPatches are large patches: many hunks, and hunks on equal lines.
func benchPatches() map[string][2]string {
	lines := sourceLines(100_000)
	changed := append([]string(nil), lines...)
	for i := 50; i < len(changed); i += 100 {
		changed[i] = fmt.Sprintf("\tchanged(%d)", i)
	}
	before, after := strings.Join(lines, "\n")+"\n", strings.Join(changed, "\n")+"\n"
	var envelope strings.Builder
	envelope.WriteString("*** Begin Patch\n*** Update File: f\n")
	for i := 50; i < len(changed); i += 100 {
		envelope.WriteString("@@\n")
		for k := i - 5; k < i+6; k++ {
			if k == i {
				envelope.WriteString("-" + lines[k] + "\n+" + changed[k] + "\n")
			} else {
				envelope.WriteString(" " + lines[k] + "\n")
			}
		}
	}
	envelope.WriteString("*** End Patch\n")
	equal := strings.Repeat("same line\n", 100_000)
	hunk := "--- f\n+++ f\n@@ -50000,501 +50000,501 @@\n" + strings.Repeat(" same line\n", 250) + "-same line\n+other line\n" + strings.Repeat(" same line\n", 250)
	return map[string][2]string{
		"unified 1000 hunks":     {before, Diff("f", "f", []byte(before), []byte(after), 3)},
		"envelope 1000 hunks":    {before, envelope.String()},
		"equal lines":            {equal, hunk},
		"equal lines, no number": {equal, strings.Replace(hunk, "@@ -50000,501 +50000,501 @@", "@@", 1)},
	}
}

func BenchmarkPatch(b *testing.B) {
	for name, c := range benchPatches() {
		b.Run(name, func(b *testing.B) {
			start := cpuTime()
			for b.Loop() {
				got, err := applyPatch(c[1], memory{"f": c[0]}.read)
				if err != nil && code(err) != Ambiguous {
					b.Fatal(err)
				}
				_ = got
			}
			b.ReportMetric(float64((cpuTime()-start).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
}
