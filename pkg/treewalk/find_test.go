package treewalk

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
)

// TestFoundLies: what is said of an expression of find's holds for all that find itself prints: the
// patterns of names, and the places in which nothing lies.
func TestFoundLies(t *testing.T) {
	find, err := exec.LookPath("find")
	if err != nil {
		t.Skip("there is no find")
	}
	root := t.TempDir()
	for _, name := range []string{
		".git/hooks/x", ".git/HEAD", "a/.git/config", "a/b.git/y.go", "a/b/c.go", "node_modules/p/i.js", "node_modules/.bin/q", "src/gen/z.go", "src/.hidden/q.go", "src/x.go",
		"build/a/build/o", "x", ".env", "a/.env", "\xff", ".git/\xff.go", "a/né/x.go", "src/gen/\xff/x.go", "with blank/x.go", "a/gen", "b/.git", "src/.gitignore",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Skipf("names here are text: %v", err)
		}
	}
	r := rand.New(rand.NewPCG(1, 9))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	names := []string{".git", "*.git", ".*", "node_modules", "gen", "build", "*", "g*", "?en", "[b]uild", "x.go"}
	places := []string{"./.git", "*/.git", "./src", "./src/gen", "*/gen", "*git", "./a*", "*/.*", `*/\.*`, "src/gen", "./*/gen", "a", "./a/b.git", ".", "*/build", "*/src/gen", "./build/a/build"}
	var some func(depth int) []string
	term := func(depth int) []string {
		switch r.IntN(9) {
		case 0, 1:
			return []string{"-name", pick(names...)}
		case 2, 3:
			return []string{pick("-path", "-path", "-wholename"), pick(places...) + pick("", "/*", "/*", "*", "/**")}
		case 4:
			return []string{"-type", pick("f", "f", "d", "l")}
		case 5:
			return []string{"-prune"}
		case 6:
			return []string{pick("-print", "-print0", "-true", "-empty", "-readable")}
		case 7:
			if depth > 0 {
				return append(append([]string{"("}, some(depth-1)...), ")")
			}
		}
		return []string{"-name", "*.go"}
	}
	some = func(depth int) (words []string) {
		for i := range 1 + r.IntN(4) {
			if i > 0 {
				words = append(words, pick("-o", "-o", "-a", "-and")) // -a is what stands between parts, too
			}
			if r.IntN(4) == 0 {
				words = append(words, pick("!", "-not"))
			}
			words = append(words, term(depth)...)
		}
		return words
	}
	idioms := [][]string{
		strings.Fields("-name .git -prune -o -type f -print"), strings.Fields("-path ./.git -prune -o -type f -print"), strings.Fields("( -name .git -o -name node_modules ) -prune -o -type f -print"),
		strings.Fields("-type f -not -path */.git/*"), strings.Fields("-not -path ./.git/* -type f -print0"), strings.Fields(`-type f -not -path */\.*`), strings.Fields("-type d ( -name gen -o -path ./a ) -prune -o -type f -print"),
	}
	usual := func() (words []string) { // a part that prunes, or nearly, and one that finds files
		for range r.IntN(3) {
			switch r.IntN(5) {
			case 0:
				words = append(words, "-type", pick("d", "f"))
			case 1:
				words = append(append(append(words, "("), some(0)...), ")")
			case 2:
				words = append(words, "(", "-name", pick(names...), "-o", "-path", pick(places...), ")")
			default:
				words = append(words, term(0)...)
			}
		}
		words = append(words, "-name", pick(names...), "-prune", "-o")
		parts := [][]string{{"-type", "f"}, {"-not", "-path", pick(places...) + pick("/*", "*", "")}, {"!", "-path", pick(places...) + "/*"}, term(1)}
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		for _, part := range parts[:2+r.IntN(3)] {
			words = append(words, part...)
		}
		return append(words, "-print")
	}
	const runs = 500
	said := 0
	for n := range runs + len(idioms) {
		words := usual()
		if n%4 == 0 {
			words = some(2)
		}
		if n < len(idioms) {
			words = idioms[n]
		}
		if r.IntN(6) == 0 {
			words = append([]string{pick("-mindepth", "-maxdepth"), pick("0", "1", "2"), "-and"}[:2], words...)
		}
		if r.IntN(8) == 0 {
			words = append([]string{"-depth"}, words...)
		}
		at := []string{pick(".", ".", ".", "./", "src", "a", root)}
		if r.IntN(8) == 0 {
			at = append(at, pick("src", "a/.git", ".git"))
		}
		if n < len(idioms) {
			at = at[:1]
		}
		args := append(at, words...)
		var list []programs.Word
		for _, w := range args {
			list = append(list, programs.Word{Text: w})
		}
		under, found, _, ok := programs.Found(list)
		if ok && strings.Contains(found, "!") {
			said++
		}
		cmd := exec.Command(find, args...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "LC_ALL=C.UTF-8")
		out, err := cmd.Output()
		if err != nil || !ok {
			continue // find refuses it
		}
		only, except := Patterns(&policy.Access{Names: found})
		for path := range bytes.FieldsFuncSeq(out, func(r rune) bool { return r == '\n' || r == 0 }) {
			below := ""
			for _, u := range under {
				if rest, ok := strings.CutPrefix(string(path), strings.TrimSuffix(u, "/")+"/"); ok && below == "" {
					below = rest
				}
			}
			if below == "" {
				continue
			}
			if Meant(only, below) == "" || LeftOut(except, below) {
				t.Fatalf("find %q prints %s, but %q is said of it", args, path, found)
			}
		}
	}
	if said < runs/5 {
		t.Errorf("of %d expressions only %d say where nothing lies", runs, said)
	}
	for n, words := range idioms {
		var list []programs.Word
		for _, w := range append([]string{"."}, words...) {
			list = append(list, programs.Word{Text: w})
		}
		if _, found, _, ok := programs.Found(list); !ok || !strings.Contains(found, "!") {
			t.Errorf("idiom %d, %q: %q is said", n, words, found)
		}
	}
}
