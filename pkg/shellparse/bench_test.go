package shellparse

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// corpus gives every command of the labelled cases that bash could run.
func corpus(t testing.TB) []string {
	var out []string
	for _, f := range []string{"policy/cases.jsonl", "benign/cases.jsonl"} {
		for _, c := range load(t, f) {
			out = append(out, c.Input)
		}
	}
	for _, c := range load(t, "safety/cases.jsonl") {
		out = append(out, c.Command)
	}
	return slices.DeleteFunc(out, func(s string) bool { return len(s) > 4096 || strings.Contains(s, "\x00") })
}

// BenchmarkCorpus analyses every command of the cases; p50-ns and p99-ns are
// over the commands, each by its best of several rounds.
func BenchmarkCorpus(b *testing.B) {
	bench := newBench(b)
	var texts []string
	for _, s := range corpus(b) {
		texts = append(texts, bench.fill(s))
	}
	world := bench.world()
	best := make([]time.Duration, len(texts))
	for b.Loop() {
		for i, s := range texts {
			start := time.Now()
			Analyze(context.Background(), s, "bash", world)
			if d := time.Since(start); best[i] == 0 || d < best[i] {
				best[i] = d
			}
		}
	}
	slices.Sort(best)
	b.ReportMetric(float64(best[len(best)/2].Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(best[len(best)*99/100].Nanoseconds()), "p99-ns")
	b.ReportMetric(float64(best[len(best)-1].Nanoseconds()), "max-ns")
}

// BenchmarkDecision analyses and decides every command of the cases, under a
// policy with rules of every kind, and has bash parse some of them (bash -n) in
// the same run. Each command counts by its best of several rounds: p50-ns,
// p99-ns and max-ns are over the commands, bash-ns is the median of bash, and
// of-bash is our p99 by it.
func BenchmarkDecision(b *testing.B) {
	bench := newBench(b)
	var texts []string
	for _, s := range corpus(b) {
		texts = append(texts, bench.fill(s))
	}
	texts = append(texts, long(4000))
	bash := bashPath(b)
	world := bench.world()
	p := strict(b, bench, `
allow: ["bash(git status *)", "bash(go test *)", "bash(npm run *)", "edit(src/**)"]
ask: ["bash(git push *)", "bash(docker *)"]
deny: ["bash(rm * -rf *)", "bash(git push * --force *)", "bash(curl *)", "read(**/*.pem)", "edit(deploy/**)"]
`)
	best := make([]time.Duration, len(texts))
	var theirs []time.Duration
	for b.Loop() {
		for i, s := range texts {
			start := time.Now()
			p.DecideAll(Analyze(context.Background(), s, "bash", world).Accesses)
			if d := time.Since(start); best[i] == 0 || d < best[i] {
				best[i] = d
			}
		}
		for i := range 40 {
			start := time.Now()
			_ = exec.Command(bash, "-n", "-c", texts[i*len(texts)/40]).Run() // many do not parse
			theirs = append(theirs, time.Since(start))
		}
	}
	slices.Sort(best)
	slices.Sort(theirs)
	p99 := best[len(best)*99/100]
	b.ReportMetric(float64(best[len(best)/2].Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(p99.Nanoseconds()), "p99-ns")
	b.ReportMetric(float64(best[len(best)-1].Nanoseconds()), "max-ns")
	b.ReportMetric(float64(theirs[len(theirs)/2].Nanoseconds()), "bash-ns")
	b.ReportMetric(float64(p99)/float64(theirs[len(theirs)/2]), "of-bash")
}

// long makes a text of n bytes of every kind of line.
func long(n int) string {
	var s strings.Builder
	for s.Len() < n {
		s.WriteString("if [ -f \"$x\" ]; then cp src/a.ts \"out/${y:-b}\" && grep -rn 'foo bar' src | head -5; fi\nx=$(git rev-parse HEAD); for i in 1 2 3; do echo \"$i $x\" >> log; done\n")
	}
	return s.String()
}

func BenchmarkLong(b *testing.B) {
	bench := newBench(b)
	for _, kb := range []int{1, 4, 16, 64} {
		s := long(kb << 10)
		b.Run(strings.Repeat("k", 0)+itoa(kb)+"kB", func(b *testing.B) {
			world := bench.world()
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				Analyze(context.Background(), s, "bash", world)
			}
		})
	}
}

// Hostile texts of 100 kB take a second at most, whatever they are made of.
func TestLinear(t *testing.T) {
	if os.Getenv("AGENTKIT_SLOW") == "" && testing.Short() {
		t.Skip("slow")
	}
	bench := newBench(t)
	world := bench.world()
	for _, piece := range []string{
		"pwn;", "(", "((", "{ ", "$(", "`", "\"$(", "${x:-", "if ", "while ", "case x in ", "a && ", "a | ", "! ", "time ", "x=1 ", "f() { f; }; f; ", "<<E ", "<<E\n", "{a,b}", "{1..9}", "[[ a && ", "a[", "$((", "'", "\"", "\\", "\n", "x=(", "f() {", "eval '", "for i in 1 2 3; do ",
		"x=$x$x;", "alias a=b;", "a;b&c|d\n", "$x ", "~", "*", ">o ", "cd a;", "cd a||cd b;", "bash -c \"", "find . -exec ", "env ", "xargs ", "set -- $@ $@;", "echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b};", "f(){ g;g; };g(){ h;h; };h(){ f;i;i; };i(){ ls;ls; };f;",
	} {
		s := strings.Repeat(piece, 100_000/len(piece)+1)
		start := time.Now()
		a := Analyze(context.Background(), s, "bash", world)
		if d := time.Since(start); d > time.Minute { // a second on a free machine; quadratic time would take minutes
			t.Errorf("%q repeated takes %v", piece, d)
		} else if d > 300*time.Millisecond {
			t.Logf("%q repeated takes %v", piece, d)
		}
		if len(a.Opaque) == 0 {
			t.Errorf("%q repeated is not opaque", piece)
		}
	}
}

func FuzzAnalyze(f *testing.F) {
	for _, s := range fragments() {
		f.Add(s, "bash")
	}
	f.Add("echo $((1+", "zsh")
	f.Add("ls | sh", "sh")
	world := newBench(f).world()
	f.Fuzz(func(t *testing.T, src, shell string) {
		start := time.Now()
		a := Analyze(context.Background(), src, shell, world)
		if d := time.Since(start); d > 30*time.Second {
			t.Errorf("%d bytes take %v", len(src), d)
		}
		for _, o := range a.Opaque {
			if strings.HasPrefix(o, "the analysis failed") {
				t.Errorf("%q: %s", src, o)
			}
		}
	})
}
