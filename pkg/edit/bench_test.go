package edit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// sourceLines makes text that looks like source: indented, some lines often,
// most words shared, few lines unique.
func sourceLines(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("count index value result error buffer reader writer length offset parent child node token parse render update config option handler request response session context")
	out := make([]string, n)
	for i := range out {
		w := func() string { return words[r.IntN(len(words))] }
		tabs := strings.Repeat("\t", 1+r.IntN(3))
		switch r.IntN(8) {
		case 0:
			out[i] = tabs + "}"
		case 1:
			out[i] = ""
		case 2:
			out[i] = tabs + "if err != nil {"
		case 3:
			out[i] = tabs + "return err"
		default:
			out[i] = fmt.Sprintf("%s%s.%s(%s, %d)", tabs, w(), w(), w(), r.IntN(100_000))
		}
	}
	return out
}

// benchCall is an edit of lines a to b of a file.
type benchCall struct {
	name string
	file []byte
	edit Edit
}

func benchCalls() []benchCall {
	var out []benchCall
	add := func(name string, file []string, old, new []string) {
		out = append(out, benchCall{name, []byte(strings.Join(file, "\n") + "\n"), Edit{Old: strings.Join(old, "\n"), New: strings.Join(new, "\n")}})
	}
	change := func(old []string) []string {
		new := append([]string(nil), old...)
		new[len(new)/2] = "\tchanged(1)"
		return new
	}
	for _, n := range [...]int{1000, 10_000, 100_000} {
		file := sourceLines(n)
		for _, k := range [...]int{20, 200} {
			block := func() []string { return append([]string(nil), file[n/2:n/2+k]...) }
			name := func(s string) string { return fmt.Sprintf("%dx%d/%s", n, k, s) }
			old := block()
			add(name("exact"), file, old, change(old))
			old = block()
			for i := range old {
				old[i] = strings.ReplaceAll(old[i], "\t", "    ")
			}
			add(name("indent"), file, old, change(old))
			old = block()
			old[0], old[k-1] = "\tfirst line wrong", "\tlast line wrong"
			add(name("anchors"), file, old, change(old))
			old = block()
			for i := 3; i < k; i += 7 {
				if len(old[i]) > 12 {
					old[i] = old[i][:6] + "x" + old[i][7:]
				}
			}
			add(name("inner"), file, old, change(old))
			old = nil
			for i, l := range sourceLines(n + 7*k)[n+k:][:k] {
				old = append(old, fmt.Sprintf("%s other%d", strings.TrimRight(l, "0123456789)"), i*7919))
			}
			add(name("none"), file, old, change(old))
		}
	}
	long := strings.Repeat("var a=function(x){return x+1};", 700)
	wrong := []byte(long)
	for i := 0; i < len(wrong); i += 97 {
		wrong[i] = 'Q'
	}
	file := []string{"start of it()", long, "end of it()", "more()"}
	add("longline", file, []string{"start of it()", string(wrong), "end of it()"}, []string{"start of it()", string(wrong), "end of that()"})
	equal := strings.Split(strings.Repeat("\tsame line everywhere\n", 100_000), "\n")
	old := append([]string(nil), equal[:500]...)
	old[250] = "\tsame lime everywhere"
	add("equal", equal, old, change(old))
	add("equal exact", equal, equal[:500], change(equal[:500]))
	return out
}

func BenchmarkPlan(b *testing.B) {
	for _, c := range benchCalls() {
		b.Run(c.name, func(b *testing.B) {
			start := cpuTime()
			for b.Loop() {
				out, err := Plan(c.file, []Edit{c.edit}, Options{})
				if out == nil && err == nil {
					b.Fatal("nothing")
				}
			}
			b.ReportMetric(float64((cpuTime()-start).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
	b.Run("100MB", func(b *testing.B) {
		file := bytes.Repeat([]byte(strings.Join(sourceLines(10_000), "\n")), 400)
		file = append(file, "\nthe one and only line\n"...)
		b.ReportAllocs()
		start := cpuTime()
		for b.Loop() {
			if _, err := Plan(file, []Edit{{Old: "the one and only line", New: "another"}}, Options{}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64((cpuTime()-start).Microseconds())/1000/float64(b.N), "cpu-ms/op")
	})
}
