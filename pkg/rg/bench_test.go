package rg

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var benchPatterns = []struct{ name, pattern, args string }{
	{"literal", "PM_RESUME", ""},
	{"common", "return", ""},
	{"icase", "spin_lock_irqsave", "-i"},
	{"alternation", "PM_SUSPEND|PM_RESUME|dev_pm_ops|ErrUnexpectedEOF", ""},
	{"class", "[A-Z]+_SUSPEND", ""},
	{"word", "PM_RESUME", "-w"},
	{"nomatch", "zqxjk_never_there", ""},
	{"icasealt", "todo|fixme|xxx", "-i"},
	{"nonascii", "é", ""},
	{"files", "mutex_lock", "-l"},
	{"multiline", `struct \w+ \{\n\s+int`, "-U"},
	{"noliteral", `[0-9]+\.[0-9]+\.[0-9]+`, ""},
	{"wordclass", `\w{5}\s+\w{5}\s+\w{5}`, ""},
}

// benchRoots are the trees to measure on: BENCH_ROOTS names them, else Go's
// source and a repository of 40 files.
func benchRoots(b *testing.B) []string {
	if named := os.Getenv("BENCH_ROOTS"); named != "" {
		return filepath.SplitList(named)
	}
	small := b.TempDir()
	for i := range 40 {
		put(b, small, fmt.Sprintf("d%d/f%d.go", i%5, i), strings.Repeat("package main // some text\n", 40))
	}
	put(b, small, ".git/HEAD", "", ".gitignore", "*.o\n")
	return []string{small, goSource(b)}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// BenchmarkBesideRipgrep runs each search in turn here and in ripgrep, as a
// process that prints its matches, and reports the median of the ratios of all turns.
func BenchmarkBesideRipgrep(b *testing.B) {
	rg := findTestRipgreps(b)[0]
	for _, root := range benchRoots(b) {
		for _, p := range benchPatterns {
			args := append(strings.Fields(p.args), "-n", "-e", p.pattern, "--", "./")
			q := Query{Root: root, Pattern: p.pattern}
			if p.args == "-l" {
				q.Mode = Files
			} else {
				applyArgs(&q, p.args)
			}
			b.Run(filepath.Base(root)+"/"+p.name, func(b *testing.B) { pair(b, rg, root, args, func() { find(b, q) }) })
		}
		q := Query{Root: root, Pattern: "PM_RESUME", Sort: ByModified}
		args := []string{"--sortr=modified", "-n", "-e", q.Pattern, "--", "./"}
		b.Run(filepath.Base(root)+"/modified", func(b *testing.B) { pair(b, rg, root, args, func() { find(b, q) }) })
		b.Run(filepath.Base(root)+"/walk", func(b *testing.B) {
			pair(b, rg, root, []string{"--files", "./"}, func() {
				if _, err := Walk(b.Context(), nil, WalkOptions{Root: root}, func(Entry) error { return nil }); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

func pair(b *testing.B, rg, root string, args []string, ours func()) {
	var native, theirs []time.Duration
	var ratios []float64
	for b.Loop() {
		began := time.Now()
		ours()
		native = append(native, time.Since(began))
		cmd := exec.Command(rg, append([]string{"--no-config"}, args...)...)
		cmd.Dir = root
		began = time.Now()
		_ = cmd.Run() // no match is an error status
		theirs = append(theirs, time.Since(began))
		ratios = append(ratios, float64(native[len(native)-1])/float64(theirs[len(theirs)-1]))
	}
	slices.Sort(ratios)
	b.ReportMetric(float64(median(native).Microseconds())/1000, "native-ms")
	b.ReportMetric(float64(median(theirs).Microseconds())/1000, "rg-ms")
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
	b.ReportMetric(0, "ns/op")
}

func BenchmarkFinders(b *testing.B) {
	text := []byte(strings.Repeat("static int some_function(struct device *dev, int flags)\n\treturn dev->power.state;\n", 30_000))
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				f()
			}
		})
	}
	one, folded := newLiteralFinder("PM_RESUME", false), newLiteralFinder("pm_resume", true)
	many := newManyFinder([]string{"PM_RESUME", "mutex_lock", "dev_pm_ops"}, false)
	run("literal", func() { one.index(text, 0) })
	run("literal-portable", func() { one.indexPortable(text, 0) })
	run("folded", func() { folded.index(text, 0) })
	run("folded-portable", func() { folded.indexPortable(text, 0) })
	run("several", func() { many.index(text, 0) })
	run("several-portable", func() { many.indexPortable(text, 0) })
	q := Query{Root: "/", Pattern: `\w{40}\s`}
	p, err := newPlan(&q)
	if err != nil {
		b.Fatal(err)
	}
	m := newMatcher(p, nil)
	run("automaton", func() { m.nextLine(text, 0) })
}
