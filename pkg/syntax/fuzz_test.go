package syntax

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// names has one file name a language.
func names() []string {
	var all []string
	for _, l := range Languages() {
		all = append(all, "a"+l.Endings[0])
	}
	return all
}

// FuzzSyntax reads any bytes as every language: nothing may panic, and what
// comes out must lie within the file.
func FuzzSyntax(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for i := range names() {
			f.Add(byte(i), data)
		}
	}
	f.Fuzz(func(t *testing.T, which byte, data []byte) { holds(t, names()[int(which)%len(names())], data) })
}

func holds(t *testing.T, name string, data []byte) {
	t.Helper()
	symbols, _ := Outline(name, data)
	lines := strings.Count(string(data), "\n") + 1
	for _, s := range symbols {
		if s.First < 1 || s.First > s.Line || s.Line > s.EndLine || s.EndLine > lines || s.Depth < 0 {
			t.Fatalf("%s %q: %+v in %d lines", name, clip(string(data)), s, lines)
		}
	}
	for _, p := range Check(name, data) {
		if p.Line < 1 || p.Message == "" {
			t.Fatalf("%s %q: %+v", name, clip(string(data)), p)
		}
	}
	text := strings.Split(string(data), "\n")
	if first, last := Block(text, len(text)/2, BlockOptions{IncludeHeader: true}); first < 1 || last > len(text) {
		t.Fatalf("%q: block %d-%d", clip(string(data)), first, last)
	}
}

// TestRandom tears the files of testdata and mixes bytes, with a fixed seed.
func TestRandom(t *testing.T) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	var texts [][]byte
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, data)
	}
	rounds := 40
	if testing.Short() {
		rounds = 4
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, name := range names() {
		for range rounds {
			data := append([]byte{}, texts[r.IntN(len(texts))]...)
			for range r.IntN(30) {
				at := r.IntN(len(data) + 1)
				switch r.IntN(3) {
				case 0:
					data = data[:at]
				case 1:
					data = append(data[:at:at], append([]byte{byte(r.IntN(256))}, data[at:]...)...)
				case 2:
					other := texts[r.IntN(len(texts))]
					from := r.IntN(len(other))
					data = append(data[:at:at], append(other[from:min(len(other), from+r.IntN(200)):len(other)], data[at:]...)...)
				}
			}
			holds(t, name, data)
		}
	}
}

// TestExtremes gives every language what wears scanners with fixed buffers
// and recursive code out.
func TestExtremes(t *testing.T) {
	const n = 1000
	word := strings.Repeat("W", 5000)
	var stairs strings.Builder
	for i := range 600 {
		stairs.WriteString(strings.Repeat(" ", i) + "if x:\n")
	}
	var docs strings.Builder
	for i := range 400 {
		docs.WriteString("cat <<E" + strings.Repeat("x", i) + "\n")
	}
	texts := []string{
		strings.Repeat("(", n), strings.Repeat("{", n), strings.Repeat("[", n), strings.Repeat("<a>", n), strings.Repeat("<"+word[:300]+">", 50),
		strings.Repeat("> ", n), strings.Repeat("a: ", n), strings.Repeat("- ", n), strings.Repeat("fn() { ", n), strings.Repeat("<div>", n),
		stairs.String(), docs.String(), strings.Repeat("`${", n), strings.Repeat("f'{", n), strings.Repeat("#{", n), strings.Repeat(`"#{`, n), strings.Repeat("%w(", n),
		"cat <<" + word + "\n" + word + "\n", "x = <<~" + word + "\n" + word + "\n", "<?php $x = <<<" + word + "\n" + word + ";\n", `R"` + word + `(x)` + word + `"`,
		"local s = [" + strings.Repeat("=", 5000) + "[x]" + strings.Repeat("=", 5000) + "]", "r" + strings.Repeat("#", 5000) + `"x"` + strings.Repeat("#", 5000),
		"SELECT $" + word + "$ x $" + word + "$;", strings.Repeat("/*", n), strings.Repeat("\n", n), strings.Repeat("\x00", 100), strings.Repeat("\xff\xfe", n), "<" + word + ">", strings.Repeat("*", n), strings.Repeat("$(", n), strings.Repeat("if ", n), strings.Repeat("<<A ", 500), strings.Repeat("do |x| ", n),
	}
	step := 8 // other ones of them for each language; CASES=all tries all
	if os.Getenv("CASES") == "all" {
		step = 1
	}
	for i, name := range names() {
		for k := i % step; k < len(texts); k += step {
			holds(t, name, []byte(texts[k]))
		}
	}
}

// TestEndless wants an answer where the parser does not stop in time. What it
// left running ends with the test.
func TestEndless(t *testing.T) {
	_, err := Outline("a.sh", []byte(strings.Repeat("do |x| ", 8000)))
	if errors.Is(err, ErrNoGrammar) {
		t.Skip("no grammars without cgo")
	}
	if _, ok := errors.AsType[*PartialError](err); !ok {
		t.Errorf("endless: %v", err)
	}
	_, err = Outline("a.py", []byte(strings.Repeat("(", 100_000)))
	if _, ok := errors.AsType[*PartialError](err); !ok {
		t.Errorf("deep: %v", err)
	}
}

// TestCancelled wants a parse to end with its context.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	_, err := OutlineContext(ctx, "a.py", []byte(strings.Repeat("def f(a):\n    return [a, 1]\n", 120_000)))
	if !errors.Is(err, context.Canceled) && !errors.Is(err, ErrNoGrammar) {
		t.Errorf("cancelled: %v", err)
	}
}
