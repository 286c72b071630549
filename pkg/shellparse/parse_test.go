package shellparse

import (
	"context"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// deepTexts nest in all the ways a shell's text can, n times.
func deepTexts(n int) map[string]string {
	s := func(piece string) string { return strings.Repeat(piece, n) }
	return map[string]string{
		"index":             s("a["),
		"arithmetic index":  "echo $((" + s("a[") + "1" + s("]") + "))",
		"let":               "let " + s("a[") + "1" + s("]"),
		"ternary":           "echo $((" + s("1?") + "1" + s(":1") + "))",
		"arithmetic not":    "echo $((" + s("! ") + "1))",
		"assignments":       "echo $((" + s("a=") + "1))",
		"old arithmetic":    s("$["),
		"tests":             "[[ " + s("! ") + "a ]]",
		"test and":          "[[ " + s("a && ") + "a ]]",
		"and":               s("a && ") + "a",
		"pipes":             s("a | ") + "a",
		"coproc":            s("coproc ") + "ls",
		"time":              s("time ") + "ls",
		"functions":         s("f()\n") + "{ ls; }",
		"elif":              "if a; then b; " + s("elif a; then b; ") + "fi",
		"substitutions":     s("$("),
		"quoted":            s("\"$("),
		"backquotes":        s("`\\"),
		"groups":            s("{ "),
		"parameter default": s("${a:-"),
		"extended glob":     s("@("),
		"loops":             s("while a; do "),
		"choices":           s("case x in x) "),
		"first words":       s("repeat "),
	}
}

// TestDeep checks that no text ends the process by its depth, which a parser
// that calls itself does beyond a gigabyte of stack, that none is held for
// understood, and that what comes before is.
func TestDeep(t *testing.T) {
	world := newBench(t).world()
	a := Analyze(context.Background(), "rm -r docs\n"+deepTexts(30_000)["index"], "bash", world)
	if !slices.Contains(a.Opaque, errDeep.Error()) || a.Broken != "" {
		t.Fatalf("a deep text is opaque for %q, broken for %q", a.Opaque, a.Broken)
	}
	if !slices.ContainsFunc(a.Accesses, func(x policy.Access) bool { return x.Argv != nil && x.Argv[0] == "rm" }) {
		t.Errorf("what comes before a deep text is not seen: %v", a.Accesses)
	}
	for name, text := range deepTexts(12_000) {
		shells := []string{"bash", "sh", "zsh"}
		if os.Getenv("CASES") != "all" { // another one each time
			shells = shells[rand.IntN(3):][:1]
		}
		for _, shell := range shells {
			if a := Analyze(context.Background(), text, shell, world); len(a.Opaque) == 0 && len(text) > MaxText {
				t.Errorf("%s in %s: not opaque", name, shell)
			}
		}
		Decider(text)
	}
	for name, text := range deepTexts(1_100_000) {
		if a := Analyze(context.Background(), text, "bash", world); len(a.Opaque) == 0 {
			t.Errorf("%s: not opaque", name)
		}
		if name != "and" && name != "pipes" && name != "elif" { // they are long, not deep
			ApplyPatch("apply_patch " + text)
		}
	}
}

// TestNestedIndex checks that an index within an index is walked once, not
// twice for each of its levels.
func TestNestedIndex(t *testing.T) {
	text := "echo $((" + strings.Repeat("a[", 40) + "1" + strings.Repeat("]", 40) + "))"
	a := Analyze(context.Background(), text, "bash", newBench(t).world())
	if slices.Contains(a.Opaque, "too much to follow") {
		t.Errorf("forty indexes: %q", a.Opaque)
	}
}

// TestDoubling checks that what a short text makes of its variables stays small,
// and that none whose words nobody knows is held for understood.
func TestDoubling(t *testing.T) {
	world := newBench(t).world()
	s := strings.Repeat
	for name, text := range map[string]string{
		"value":             "a=x; " + s(`a="$a$a"; `, 28) + "ls $a",
		"function":          `f() { a="$a$a"; }; a=x; ` + s("f; ", 28) + "ls $a",
		"appended":          "a=x; " + s("a+=$a; ", 28) + "ls $a",
		"array":             "a=(x); " + s(`a=("${a[@]}" "${a[@]}"); `, 22) + `ls "${a[@]}"`,
		"appended array":    "a=(x); " + s(`a+=("${a[@]}"); `, 22) + `ls "${a[@]}"`,
		"output of echo":    "a=x; " + s("a=$(echo $a$a); ", 28) + "ls $a",
		"output of printf":  "a=x; " + s(`a=$(printf %s "$a$a"); `, 28) + "ls $a",
		"default":           "a=x; " + s("a=${b:-$a$a}; ", 28) + "ls $a",
		"joined parameters": "set -- x x; " + s(`set -- "$*$*"; `, 26) + "ls $1",
		"used often":        "a=x; " + s(`a="$a$a"; `, 15) + s("ls $a$a; ", 2000),
		"words used often":  `a="x "; ` + s(`a="$a$a"; `, 14) + s("ls $a; ", 2000),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		a := Analyze(context.Background(), text, "bash", world)
		runtime.ReadMemStats(&after)
		if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 1000 { // of all that is made, not at once
			t.Errorf("%s: %d bytes of text take %d MB", name, len(text), n)
		}
		known := slices.ContainsFunc(a.Accesses, func(x policy.Access) bool {
			return x.Argv != nil && x.Argv[0] == "ls" && x.Opaque == "" && !slices.Contains(x.Dynamic, true) && len(x.Argv) > 1
		})
		if len(a.Opaque) == 0 && known {
			t.Errorf("%s: the command counts as understood", name)
		}
	}
	a := Analyze(context.Background(), "a=x; "+s(`a="$a$a"; `, 10)+"ls $a", "bash", world)
	if i := len(a.Commands) - 1; i < 0 || len(a.Commands[i].Words) != 2 || a.Commands[i].Words[1] != s("x", 1<<10) {
		t.Errorf("a word of a kilobyte is not known: %v", a.Commands)
	}
}
