package syntax

import (
	"runtime"
	"strings"
	"testing"
)

// A file that is nested deeply costs no more than its size says, and its keys are listed
// as deep as somebody would read them.
func TestOutlineDeep(t *testing.T) {
	const levels = 20000
	for name, text := range map[string]string{
		"a.json":  strings.Repeat(`{"key":`, levels),
		"b.json":  strings.Repeat(`{"key":`, levels) + "1" + strings.Repeat("}", levels),
		"a.ipynb": strings.Repeat(`{"key":`, levels),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		symbols, _ := Outline(name, []byte(text))
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
			t.Errorf("%s: %d MiB for %d levels", name, n>>20, levels)
		}
		if len(symbols) != maxNesting+1 {
			t.Errorf("%s: %d keys, want %d", name, len(symbols), maxNesting+1)
		}
	}
	symbols, _ := Outline("a.json", []byte(strings.Repeat(`{"key":`, levels)+"1"+strings.Repeat("}", levels-1)+`,"last":1}`))
	if last := symbols[len(symbols)-1]; last.Path() != "last" {
		t.Errorf("behind what is deep: %s, want last", last.Path())
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Outline("a.json", []byte(strings.Repeat("[", 3_000_000)))
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; err == nil || !strings.Contains(err.Error(), "brackets in 100000 others") || n > 64<<20 {
		t.Errorf("brackets alone: %v, with %d MiB", err, n>>20)
	}
}

// Keys behind a part of a broken YAML file that is nested too deeply are listed.
func TestOutlineDeepYAML(t *testing.T) {
	var b strings.Builder
	b.WriteString("first: {{ broken\n")
	for i := range maxNesting + 20 {
		b.WriteString(strings.Repeat(" ", i) + "key:\n")
	}
	b.WriteString("last: 1\n")
	symbols, _ := Outline("a.yaml", []byte(b.String()))
	if len(symbols) == 0 || symbols[len(symbols)-1].Path() != "last" {
		t.Errorf("%d keys, want the last one too", len(symbols))
	}
}
