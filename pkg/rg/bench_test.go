package rg

import (
	"strings"
	"testing"
)

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
