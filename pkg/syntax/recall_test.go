package syntax

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// tag is one line of what ctags prints.
type tag struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Line  int    `json:"line"`
	Kind  string `json:"kind"`
	Scope string `json:"scope"`
	Inner string `json:"scopeKind"`
}

// ctags lists the tags of files, by file.
func ctags(t *testing.T, files []string) map[string][]tag {
	cmd := exec.Command("ctags", "--options=NONE", "--output-format=json", "--fields=NFnKsZ", "--langmap=C++:+.h.hpp.ipp.inl", "-L", "-", "-f", "-")
	cmd.Stdin = strings.NewReader(strings.Join(files, "\n"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	tags := map[string][]tag{}
	for line := range bytes.Lines(out) {
		var g tag
		if json.Unmarshal(line, &g) == nil && g.Path != "" {
			tags[g.Path] = append(tags[g.Path], g)
		}
	}
	return tags
}

// counts says whether an outline should have what ctags found: not imports,
// locals, anonymous things and what ctags itself cannot name.
func counts(g tag) bool {
	if g.Kind == "typedef" && filepath.Ext(g.Path) == ".cs" || g.Kind == "namespace" && filepath.Ext(g.Path) == ".py" {
		return false // using A = B; import a as b
	}
	switch g.Kind {
	case "unknown", "package", "alias", "local", "label", "header", "file", "parameter", "anchor", "script", "heredoc", "typedParameter", "source", "include", "nsprefix", "use", "import":
		return false
	}
	switch g.Inner {
	case "function", "method", "member", "singletonMethod", "macro", "generator", "test", "getter", "setter", "constructor":
		return false // what a function holds is its own affair
	}
	return !strings.Contains(g.Name, "__anon") && !strings.HasPrefix(g.Name, "anonymous") && !strings.HasPrefix(g.Name, "Anonymous") && g.Name != ""
}

// bareName makes two spellings of a name comparable.
func bareName(name string) string {
	name = strings.NewReplacer(" ", "", "::", ".", ":", ".", `\`, ".", "\"", "", "'", "").Replace(name)
	return strings.TrimSuffix(name[strings.LastIndexByte(name, '.')+1:], "=")
}

// isGuard knows the #define of a header's guard.
func isGuard(lines [][]byte, g tag) bool {
	return g.Kind == "macro" && g.Line > 1 && g.Line <= len(lines) &&
		bytes.Equal(bytes.Join(bytes.Fields(bytes.TrimPrefix(lines[g.Line-2], []byte("#ifndef "))), nil), []byte(g.Name))
}

// inDocument knows what ctags takes for code in a text of several lines.
func inDocument(lines [][]byte, g tag) bool {
	if ext := filepath.Ext(g.Path); ext != ".ex" && ext != ".exs" && ext != ".py" {
		return false
	}
	inside := false
	for _, l := range lines[:min(g.Line-1, len(lines))] {
		inside = inside != (bytes.Count(l, []byte(`"""`))%2 == 1)
	}
	return inside
}

// local knows what belongs to a function, however deep: it is its own affair. Where ctags
// does not say so the text does. In JavaScript and TypeScript ctags knows no callback as
// a scope, so a variable on an indented line is one of a callback's; and of an object
// it lists every key, of which an outline has those that are functions.
func local(lines [][]byte, g tag, functions map[string]bool) bool {
	for i, c := range g.Scope {
		if c == '.' && functions[g.Scope[:i]] {
			return true
		}
	}
	line := lines[min(g.Line-1, len(lines)-1)]
	indented := bytes.HasPrefix(line, []byte(" ")) || bytes.HasPrefix(line, []byte("\t"))
	switch filepath.Ext(g.Path) {
	case ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx":
		switch g.Kind {
		case "constant", "variable":
			return g.Inner != "namespace" && (indented || bytes.Contains(line, []byte(" satisfies ")) || ctagsMisreads(line, g))
		case "function":
			return g.Scope == "" && indented
		case "property":
			return true
		case "field": // as in { name }
			return bytes.HasSuffix(line, []byte(",")) || bytes.Contains(line, []byte("{ "+g.Name))
		case "class": // class extends B has no name
			return !bytes.Contains(line, []byte("class")) || g.Name == "extends"
		case "method": // new (): A says how one is made
			return g.Name == "new" && bytes.HasPrefix(bytes.TrimSpace(line), []byte("new "))
		}
	case ".cpp", ".cc", ".cxx":
		// TEST_CASE("…") { … } is no function to ctags.
		return g.Kind == "variable" && g.Scope == "" && indented
	case ".py":
		// What the program does when it is run, not what it defines.
		return g.Kind == "variable" && g.Scope == "" && indented && !bytes.Contains(line, []byte(g.Name+" ="))
	}
	return false
}

// typed is a constant or variable that is declared with its type, of which ctags takes a
// word for the name: const a: core.B = c.
var typed = regexp.MustCompile(`^\s*(?:export )?(?:declare )?(?:const|let|var) ([\w$]+)\s*:`)

// ctagsMisreads knows words of the language that ctags takes for names.
func ctagsMisreads(line []byte, g tag) bool {
	if m := typed.FindSubmatch(line); m != nil && string(m[1]) != g.Name {
		return true
	}
	return slices.Contains([]string{"satisfies", "import", "from", "as", "export"}, g.Name) || !bytes.Contains(line, []byte(g.Name))
}

// functionsOf are the functions among tags, by their whole names.
func functionsOf(tags []tag) map[string]bool {
	list := map[string]bool{}
	for _, g := range tags {
		switch g.Kind {
		case "function", "method", "member", "generator", "getter", "setter":
			name := g.Name
			if g.Scope != "" {
				name = g.Scope + "." + name
			}
			list[name] = true
		}
	}
	return list
}

type recall struct{ all, found int }

func compare(_ *testing.T, file string, tags []tag, total map[string]*recall, report func(g tag)) {
	data, err := os.ReadFile(file)
	if err != nil || len(data) > maxSize {
		return
	}
	symbols, _ := Outline(file, data)
	lines := bytes.Split(data, []byte("\n"))
	key := filepath.Ext(file)
	if total[key] == nil {
		total[key] = &recall{}
	}
	seen, functions := map[tag]bool{}, functionsOf(tags)
	for _, g := range tags {
		if !counts(g) || seen[g] || isGuard(lines, g) || inDocument(lines, g) || local(lines, g, functions) {
			continue
		}
		seen[g] = true
		total[key].all++
		want := bareName(g.Name)
		if slices.ContainsFunc(symbols, func(s Symbol) bool {
			if g.Line == s.Line && strings.HasPrefix(s.Signature, g.Name+"(") {
				return true // TEST(Suite, Case)
			}
			if hasWord("struct union enum", g.Kind) && g.Line == s.Line && strings.HasPrefix(s.Signature, "typedef") {
				return true // the same thing under two names
			}
			if g.Kind == "macro" && s.Kind == Function && g.Line > s.Line && g.Line < s.EndLine {
				return true // its own affair
			}
			return (bareName(s.Name) == want || strings.Contains(s.Name, g.Name)) && g.Line >= s.First-2 && g.Line <= max(s.Line+8, s.EndLine)
		}) {
			total[key].found++
			continue
		}
		report(g)
	}
}

// TestRecall wants what ctags finds in the files of testdata.
func TestRecall(t *testing.T) {
	if _, err := exec.LookPath("ctags"); err != nil {
		t.Skip("NOT TESTED: ctags is not installed, so nothing is compared with it")
	}
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(f string) bool {
		l := languageOf(f, nil)
		return l == nil || !l.outlined() || strings.HasPrefix(l.name, "JSON") || l.name == "Markdown" || l.name == "YAML" || l.name == "TOML"
	})
	tags := ctags(t, files)
	if len(tags) == 0 {
		t.Skip("NOT TESTED: this ctags prints no JSON, or this build has no grammar for the files")
	}
	total := map[string]*recall{}
	for _, f := range files {
		compare(t, f, tags[f], total, func(g tag) { t.Logf("%s:%d: %s %s is missing", f, g.Line, g.Kind, g.Name) })
	}
	for ext, r := range total {
		if r.all > 0 && float64(r.found) < 0.97*float64(r.all) {
			t.Errorf("%s: %d of the %d symbols that ctags finds", ext, r.found, r.all)
		}
	}
}

// TestRecallCorpora measures the same over a directory of real sources.
func TestRecallCorpora(t *testing.T) {
	root := os.Getenv("AGENTKIT_CTAGS_CORPUS")
	if root == "" {
		t.Skip("AGENTKIT_CTAGS_CORPUS names no directory of sources")
	}
	only := os.Getenv("AGENTKIT_CTAGS_ONLY")
	limit := 80
	if only != "" {
		limit = 400
	}
	var files []string
	byExt := map[string]int{}
	_ = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		lang := languageOf(name, nil)
		ext := filepath.Ext(name)
		if lang == nil || lang.name == "JSON" || lang.name == "YAML" || byExt[ext] >= limit || only != "" && ext != only || strings.Contains(name, ".min.") {
			return nil
		}
		byExt[ext]++
		files = append(files, name)
		return nil
	})
	tags := ctags(t, files)
	total := map[string]*recall{}
	missed := map[string]int{}
	for _, f := range files {
		n := 0
		compare(t, f, tags[f], total, func(g tag) {
			missed[filepath.Ext(f)+" "+g.Kind]++
			if n++; only != "" && n <= 6 {
				t.Logf("%s:%d: %s %s", f, g.Line, g.Kind, g.Name)
			}
		})
	}
	for _, ext := range sortedKeys(total) {
		r := total[ext]
		if r.all > 0 {
			t.Logf("%-8s files %4d tags %6d recall %.3f", ext, byExt[ext], r.all, float64(r.found)/float64(r.all))
		}
	}
	for _, k := range sortedKeys(missed) {
		t.Logf("missed %-30s %d", k, missed[k])
	}
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
