package edit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// memory is a set of files to patch.
type memory map[string]string

func (m memory) read(name string) ([]byte, Meta, error) {
	if s, ok := m[name]; ok {
		return []byte(s), Meta{Mode: 0o644}, nil
	}
	for k := range m {
		if strings.HasPrefix(k, name+"/") {
			return nil, Meta{Mode: fs.ModeDir | 0o755}, nil
		}
	}
	return nil, Meta{}, fs.ErrNotExist
}

// patched is what the files are after a patch.
func (m memory) patched(c *Changes) memory {
	out := maps.Clone(m)
	for _, f := range c.Files {
		if f.Action == Delete {
			delete(out, f.Path)
			continue
		}
		if f.Action == Move {
			delete(out, f.From)
		}
		out[f.Path] = string(f.After)
	}
	return out
}

func applyPatch(text string, read func(string) ([]byte, Meta, error)) (*Changes, error) {
	p, err := ParsePatch(text)
	if err != nil {
		return nil, err
	}
	return p.Apply(read)
}

func code(err error) string {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r.Code
	}
	if err != nil {
		return "error: " + err.Error()
	}
	return ""
}

// patchWant says what must become of a labelled case whose label is in words:
// a refusal with a code, or files.
type patchWant struct {
	code  string
	after memory
	warns bool
	hunk  string // strategy of the first hunk
}

func patchWants() map[string]patchWant {
	return map[string]patchWant{
		"P005": {code: BadInput},
		"P006": {code: NoMatch},
		"P007": {code: NotFound},
		"P009": {code: NotFound},
		"P010": {code: Conflict},
		"P011": {code: Conflict},
		"P012": {code: BadInput},
		"P013": {code: BadInput},
		"P015": {code: NotFound},
		"P027": {after: memory{"x": "a\r\n", "y": "a\nb\n"}},
		"P028": {after: memory{"a": "\ufeffONE\ntwo\n"}},
		"P030": {after: memory{"a": "foo   \nBAR\n"}, hunk: LineTrimmed},
		"P031": {after: memory{"a": "    foo\n    BAR\n"}, hunk: IndentationFlexible},
		"P032": {after: memory{"a": "\tbar\n"}, hunk: IndentationFlexible},
		"P034": {code: Ambiguous},
		"P036": {after: memory{"a": "class A\n  def f\n    x\nclass B\n  def f\n    Y\n"}},
		"P041": {after: memory{"a": "one\n2\n3\nfour\n"}},
		"P042": {after: memory{"a": "1\ntwo\nthree\n"}},
		"P043": {code: AlreadyApplied},
		"P045": {code: Conflict},
		"P047": {after: memory{"a": "two\n"}},
		"P048": {after: memory{"a": "two\n"}},
		"P050": {after: memory{"b": "two\n"}},
		"P052": {after: memory{"l": "two\n", "t": "two\n"}},
		"P054": {code: NotFound},
		"P055": {code: NoMatch},
		"P057": {after: memory{"a": "two\n"}},
		"P058": {after: memory{"a": "two\n"}},
		"P059": {after: memory{"a": "two\n"}, warns: true},
		"P060": {after: memory{"a": "two\n"}},
		"P061": {after: memory{"a": "two\n"}, warns: true},
		"P062": {after: memory{"a": "two\n"}},
		"P063": {after: memory{"a": "two\n"}},
		"P064": {after: memory{"a": "1\n\n2\n"}},
		"P066": {after: memory{"a": ""}},
		"P067": {after: memory{"a": "one\nTWO\n"}},
		"P069": {after: memory{"a": "two\n"}},
		"P073": {code: BadInput},
		"P074": {after: memory{"a": "two\n"}},
	}
}

// patchCase is a labelled patch.
type patchCase struct {
	ID, Name, Patch, Want string
	Files, Links, Modes   map[string]string
	Codex                 struct {
		After map[string]json.RawMessage
	} `json:"codex_0_169"`
}

func (c patchCase) codexAfter(t *testing.T) memory {
	out := make(memory)
	for k, v := range c.Codex.After {
		var s string
		var o struct{ Text string }
		if json.Unmarshal(v, &s) != nil {
			if err := json.Unmarshal(v, &o); err != nil {
				t.Fatal(err)
			}
			s = o.Text
		}
		out[k] = s
	}
	return out
}

func TestPatchCases(t *testing.T) {
	f, err := os.Open(filepath.Join(shared(t, "patch"), "cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	wants := patchWants()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 0; lines.Scan(); n++ {
		var c patchCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		t.Run(c.ID, func(t *testing.T) { c.check(t, wants) })
	}
}

func (c patchCase) check(t *testing.T, wants map[string]patchWant) {
	want, ok := wants[c.ID]
	if !ok {
		if c.Want != "same result" {
			t.Fatalf("no expectation for %q: %s", c.Name, c.Want)
		}
		want.after = c.codexAfter(t)
	}
	files := memory(maps.Clone(c.Files))
	read := func(name string) ([]byte, Meta, error) {
		if to, ok := c.Links[name]; ok {
			name = to // the caller follows links
		}
		data, meta, err := files.read(name)
		if m, err := strconv.ParseUint(strings.TrimPrefix(c.Modes[name], "0o"), 8, 32); err == nil {
			meta.Mode = fs.FileMode(m)
		}
		return data, meta, err
	}
	got, err := applyPatch(c.Patch, read)
	if code(err) != want.code {
		t.Fatalf("%s: code %q (%v), want %q: %s", c.Name, code(err), err, want.code, c.Want)
	}
	if err != nil {
		var r *Refusal
		if errors.As(err, &r); r.Hint == "" || r.Message == "" {
			t.Errorf("refusal without message or hint: %+v", r)
		}
		return
	}
	after := files.patched(got)
	for link, to := range c.Links {
		if s, ok := after[link]; ok {
			after[to] = s // as the caller writes through a link
		}
		after[link] = after[to]
	}
	if !maps.Equal(after, want.after) {
		t.Errorf("%s: %q, want %q: %s", c.Name, after, want.after, c.Want)
	}
	if want.warns != (len(got.Warnings) > 0) && (want.warns || c.Want == "same result") {
		t.Errorf("warnings %q, want some: %v", got.Warnings, want.warns)
	}
	if len(c.Modes) > 0 && len(got.Files) == 1 {
		for _, m := range c.Modes {
			if fmt.Sprintf("0o%o", got.Files[0].Mode) != m {
				t.Errorf("mode %o, want %s", got.Files[0].Mode, m)
			}
		}
	}
	if want.hunk != "" && got.Files[0].Hunks[0].Strategy != want.hunk {
		t.Errorf("strategy %q, want %q", got.Files[0].Hunks[0].Strategy, want.hunk)
	}
}

// Whatever Diff writes, ParsePatch and Apply make the same of it.
func TestPatchOfDiff(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 400 {
		before := randomText(r, r.IntN(80))
		after := mutated(r, before)
		if len(before) == 0 || string(before) == string(after) {
			continue
		}
		context := r.IntN(4)
		if context == 0 { // without context, nothing tells the endings around an insertion
			before, after = bytes.ReplaceAll(before, []byte{'\r'}, nil), bytes.ReplaceAll(after, []byte{'\r'}, nil)
		}
		diff := Diff("a/f", "b/f", before, after, context)
		if len(after) == 0 {
			diff = Diff("a/f", devNull, before, after, 3)
		}
		c, err := applyPatch(diff, memory{"f": string(before)}.read)
		if err != nil {
			t.Fatalf("case %d: %v\n%s", i, err, diff)
		}
		got := memory{"f": string(before)}.patched(c)
		if len(after) == 0 {
			if len(got) != 0 {
				t.Fatalf("case %d: the file is still there", i)
			}
			continue
		}
		if got["f"] != string(after) {
			t.Fatalf("case %d: %q, want %q\n%s", i, got["f"], after, diff)
		}
	}
}

// What git says of a change of several files, with renames, copies, modes and
// odd names, Apply makes.
func TestPatchOfGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: no git here")
	}
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b.c", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b.c")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	body := strings.Repeat("a line of it\n", 3) + "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	before := memory{"keep": body, "old name": body + "x\n", "gone": "bye\n", "crlf": "a\r\nb\r\nc\r\n", "no eol": "a\nb", "a\"q": "1\n", "sub/d\u00e9j\u00e0": body + "y\n"}
	after := memory{
		"keep": strings.Replace(body, "5\n", "five\n", 1), "new name": body + "X\n", "crlf": "a\r\nB\r\nc\r\n", "no eol": "a\nb\n", "a\"q": "2\n",
		"sub/d\u00e9j\u00e0": "0\n" + body + "y\n", "fresh": "new\nfile", "keep too": body,
	}
	write := func(m memory) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			full := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(full, []byte(m[name]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	git("init", "-q")
	write(before)
	git("add", "-A")
	git("commit", "-qm", "1")
	for name := range before {
		if _, ok := after[name]; !ok {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(after)
	if err := os.Chmod(filepath.Join(dir, "keep"), 0o755); err != nil {
		t.Fatal(err)
	}
	git("add", "-A")
	for _, args := range [][]string{{"diff", "--cached", "-M", "-C", "--find-copies-harder"}, {"diff", "--cached", "--no-renames", "-U0"}, {"-c", "diff.mnemonicPrefix=true", "diff", "--cached", "-M"}, {"diff", "--cached", "--no-prefix", "-M"}} {
		diff := git(args...)
		c, err := applyPatch(diff, before.read)
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, diff)
		}
		if got := before.patched(c); !maps.Equal(got, after) {
			t.Errorf("%v: %q, want %q\n%s", args, got, after, diff)
		}
		for _, f := range c.Files {
			if f.Path == "keep" && f.Mode != 0o755 {
				t.Errorf("%v: mode %o, want 755", args, f.Mode)
			}
			if f.Path == "new name" && slices.Contains(args, "-C") && (f.Action != Move || f.From != "old name") {
				t.Errorf("%v: %s from %q, want a move", args, f.Action, f.From)
			}
		}
	}
}

func TestPatchForms(t *testing.T) {
	const update = "*** Begin Patch\n*** Update File: a\n@@\n-one\n+two\n*** End Patch"
	quoted, _ := json.Marshal(update)
	for name, text := range map[string]string{
		"heredoc with a command": "cd x && apply_patch <<\"XYZ\"\n" + update + "\nXYZ\n",
		"heredoc with dash":      "apply_patch <<-END\n" + update + "\nEND",
		"fence with a language":  "```diff\n" + update + "\n```",
		"JSON string":            string(quoted),
		"JSON list":              `["apply_patch", ` + string(quoted) + `]`,
		"JSON in JSON":           `{"arguments": {"patch": ` + string(quoted) + `}}`,
		"escaped":                strings.ReplaceAll(update, "\n", `\n`),
		"indented":               "  " + strings.ReplaceAll(update, "\n", "\n  "),
		"no markers":             "*** Update File: a\n@@\n-one\n+two\n",
		"fence without an end":   "```\n*** Begin Patch\n*** Update File: a\n@@\n-one\n+two\n```",
		"quoted path":            strings.Replace(update, ": a", ": `a`", 1),
		"line numbers":           strings.Replace(update, "@@", "@@ -1,1 +1,1 @@", 1),
		"headers inside":         strings.Replace(update, "@@", "--- a/a\n+++ b/a\n@@", 1),
		"unified in a fence":     "Here:\n```diff\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n```\nDone.",
		"unified, bad counts":    "--- a/a\n+++ b/a\n@@ -7,9 +7,9 @@\n-one\n+two\n",
		"unified, no numbers":    "--- a/a\n+++ b/a\n@@\n-one\n+two\n",
		"unified, CRLF":          "--- a/a\r\n+++ b/a\r\n@@ -1 +1 @@\r\n-one\r\n+two\r\n",
		"unified, times":         "--- a\t2024-01-01 10:00:00\n+++ a\t2024-01-01 10:00:00\n@@ -1 +1 @@\n-one\n+two\n",
		"unified, Index":         "Index: a\n=====\n--- a\n+++ a\n@@ -1 +1 @@\n-one\n+two\n",
	} {
		t.Run(name, func(t *testing.T) {
			c, err := applyPatch(text, memory{"a": "one\n"}.read)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if len(c.Files) != 1 || c.Files[0].Path != "a" || string(c.Files[0].After) != "two\n" {
				t.Errorf("%+v", c.Files)
			}
		})
	}
	for _, text := range []string{"", "hello", "*** Begin Patch", "*** Begin Patch\n*** Update File: a\n*** End Patch", "--- a\n+++ b\n", "{\"x\": 1}", "diff --git a/x b/x\nBinary files a/x and b/x differ\n", "*** Begin Patch\nfoo\n*** End Patch"} {
		if p, err := ParsePatch(text); code(err) != BadInput {
			t.Errorf("ParsePatch(%q) = %+v, %v, want bad input", text, p, err)
		}
	}
}

func TestPatchStrip(t *testing.T) {
	p, err := ParsePatch("--- x/y/a\n+++ x/y/a\n@@ -1 +1 @@\n-one\n+two\n")
	if err != nil {
		t.Fatal(err)
	}
	for strip, want := range map[int]string{-1: "x/y/a", 0: "x/y/a", 1: "y/a", 2: "a", 9: "a"} {
		p.Strip = strip
		if got := p.Paths(); !slices.Equal(got, []string{want}) {
			t.Errorf("strip %d: %q, want %q", strip, got, want)
		}
	}
	git, err := ParsePatch("diff --git a/x/y/a b/x/y/a\n--- a/x/y/a\n+++ b/x/y/a\n@@ -1 +1 @@\n-one\n+two\ndiff --git a/x/y/b b/x/y/c\nsimilarity index 100%\nrename from x/y/b\nrename to x/y/c\n")
	if err != nil {
		t.Fatal(err)
	}
	for strip, want := range map[int]string{-1: "x/y/a x/y/b x/y/c", 0: "x/y/a x/y/b x/y/c", 1: "x/y/a x/y/b x/y/c", 2: "y/a y/b y/c", 3: "a b c"} {
		git.Strip = strip
		if got := strings.Join(git.Paths(), " "); got != want {
			t.Errorf("git's diff, strip %d: %q, want %q", strip, got, want)
		}
	}
}

// A hunk whose lines occur more than once goes where its own anchor says, or
// nowhere.
func TestPatchAnchors(t *testing.T) {
	const file = "func a() {\n\tx()\n}\nfunc b() {\n\tx()\n}\nfunc c() {\n\tx()\n}\n"
	hunk := func(head, tail string) string {
		return "*** Begin Patch\n*** Update File: f\n" + head + "\n-\tx()\n+\ty()\n" + tail + "*** End Patch\n"
	}
	for _, c := range []struct {
		patch string
		want  string // which function is changed; "" a refusal
	}{
		{hunk("@@", ""), ""},
		{hunk("@@ ... @@", ""), ""},
		{hunk("@@ … @@", " }\n*** End of File\n"), "c"},
		{hunk("@@ func b() {", ""), "b"},
		{hunk("@@ func c", ""), "c"},
		{hunk("@@ func b() { @@", ""), "b"},
		{hunk("@@ @@ func b() {", ""), "b"},
		{hunk("@@ ... @@ func b() {", ""), "b"},
		{hunk("@@ -5,1 +5,1 @@", ""), "b"},
		{hunk("@@ -4,1 +4,1 @@ func b() {", ""), "b"},
		{hunk("@@ func d() {", ""), ""},
		{hunk("@@", " }\n*** End of File\n"), "c"},
		{"--- f\n+++ f\n@@ -8 +8 @@\n-\tx()\n+\ty()\n", "c"},
		{"--- f\n+++ f\n@@ -9 +9 @@\n-\tx()\n+\ty()\n", "c"},
	} {
		got, err := applyPatch(c.patch, memory{"f": file}.read)
		if c.want == "" {
			if code(err) != Ambiguous {
				t.Errorf("%s\n%v, want ambiguous", c.patch, err)
			}
			continue
		}
		if len(got.Warnings) > 0 && strings.Contains(c.patch, "…") {
			t.Errorf("%s\n%q", c.patch, got.Warnings)
		}
		want := strings.Replace(file, "func "+c.want+"() {\n\tx()", "func "+c.want+"() {\n\ty()", 1)
		if err != nil || string(got.Files[0].After) != want {
			t.Errorf("%s\n%v %+v, want %s", c.patch, err, got, c.want)
		}
	}
}

func TestPatchComposes(t *testing.T) {
	for _, c := range []struct {
		name, patch string
		files, want memory
		code        string
	}{
		{"two sections", "*** Begin Patch\n*** Update File: a\n@@\n-1\n+one\n*** Update File: ./a\n@@\n-2\n+two\n*** End Patch", memory{"a": "1\n2\n"}, memory{"a": "one\ntwo\n"}, ""},
		{"update, then move", "*** Begin Patch\n*** Update File: a\n@@\n-1\n+one\n*** Update File: a\n*** Move to: b\n@@\n-2\n+two\n*** End Patch", memory{"a": "1\n2\n"}, memory{"b": "one\ntwo\n"}, ""},
		{"pure move", "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch", memory{"a": "1\n"}, memory{"b": "1\n"}, ""},
		{"delete, then add", "*** Begin Patch\n*** Delete File: a\n*** Add File: a\n+2\n*** End Patch", memory{"a": "1\n"}, memory{"a": "2\n"}, ""},
		{"swap", "*** Begin Patch\n*** Update File: a\n*** Move to: t\n*** Update File: b\n*** Move to: a\n*** Update File: t\n*** Move to: b\n*** End Patch", memory{"a": "1\n", "b": "2\n"}, memory{"a": "2\n", "b": "1\n"}, ""},
		{"add equal", "*** Begin Patch\n*** Add File: a\n+1\n*** Update File: b\n@@\n-2\n+3\n*** End Patch", memory{"a": "1\n", "b": "2\n"}, memory{"a": "1\n", "b": "3\n"}, ""},
		{"only add equal", "*** Begin Patch\n*** Add File: a\n+1\n*** End Patch", memory{"a": "1\n"}, nil, AlreadyApplied},
		{"add, then update", "*** Begin Patch\n*** Add File: a\n+1\n*** Update File: a\n@@\n-1\n+2\n*** End Patch", memory{}, memory{"a": "2\n"}, ""},
		{"update of a deleted one", "*** Begin Patch\n*** Delete File: a\n*** Update File: a\n@@\n-1\n+2\n*** End Patch", memory{"a": "1\n"}, nil, Conflict},
		{"same lines twice", "*** Begin Patch\n*** Update File: a\n@@\n-1\n+one\n@@\n-1\n+uno\n*** End Patch", memory{"a": "1\n2\n"}, nil, Conflict},
		{"insert behind the end", "--- a\n+++ b\n@@ -9,0 +10,1 @@\n+x\n", memory{"b": "1\n2\n"}, nil, NoMatch},
		{"insert at the end", "--- b\n+++ b\n@@ -2,0 +3,1 @@\n+x\n", memory{"b": "1\n2\n"}, memory{"b": "1\n2\nx\n"}, ""},
		{"insert behind the anchor", "*** Begin Patch\n*** Update File: a\n@@ 1\n+x\n*** End Patch", memory{"a": "1\n2\n"}, memory{"a": "1\nx\n2\n"}, ""},
		{"append", "*** Begin Patch\n*** Update File: a\n@@\n+x\n*** End Patch", memory{"a": "1\n2"}, memory{"a": "1\n2\nx"}, ""},
		{"append to nothing", "*** Begin Patch\n*** Update File: a\n@@\n+x\n*** End Patch", memory{"a": ""}, memory{"a": "x\n"}, ""},
		{"delete of other content", "--- a\n+++ /dev/null\n@@ -1 +0,0 @@\n-2\n", memory{"a": "1\n"}, nil, Conflict},
		{"applied in part", "*** Begin Patch\n*** Update File: a\n@@\n-1\n+one\n@@\n-2\n+two\n*** End Patch", memory{"a": "1\ntwo\n"}, nil, Conflict},
		{"applied", "*** Begin Patch\n*** Update File: a\n@@\n-1\n+one\n*** Update File: b\n@@\n-2\n+two\n*** End Patch", memory{"a": "one\n", "b": "two\n"}, nil, AlreadyApplied},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := applyPatch(c.patch, c.files.read)
			if code(err) != c.code {
				t.Fatalf("%v, want %q", err, c.code)
			}
			if err == nil && !maps.Equal(c.files.patched(got), c.want) {
				t.Errorf("%q, want %q", c.files.patched(got), c.want)
			}
		})
	}
}

// TestHunkNumber: the line that a hunk names decides among equal places, and
// only what stands there to the letter is taken without looking further. Where
// nothing stands at that very line, a heading that names one place goes before.
func TestHunkNumber(t *testing.T) {
	const (
		two   = "func a() {\n\tx()\n}\n\nfunc b() {\n\tx()\n}\n"
		twice = "func b() {\n\tx()\n\tz()\n\tx()\n}\n"
		macro = "int f() {\n\tx();\n#ifdef A\n\tz();\n\tx();\n}\n" // which ends the block to the indentation
	)
	for _, c := range []struct{ file, hunk, want string }{
		{"x001\nx002\nx003\nx004\n", "@@ -2,1 +2,1 @@\n-x004\n+new\n", "x001\nx002\nx003\nnew\n"},
		{"same\nsame\nsame\n", "@@ -2,1 +2,1 @@\n-same\n+new\n", "same\nnew\nsame\n"},
		{"same\nother\nsame\n", "@@ -1,1 +1,2 @@\n-same\n+1\n+2\n@@ -3,1 +4,1 @@\n-same\n+new\n", "1\n2\nother\nnew\n"},
		{"a\nb\n", "@@ -9,1 +9,1 @@\n-b\n+new\n", "a\nnew\n"},
		{two, "@@ -1,1 +1,1 @@ func b() {\n-\tx()\n+\ty()\n", "func a() {\n\tx()\n}\n\nfunc b() {\n\ty()\n}\n"},
		{two, "@@ -2,1 +2,1 @@ func b() {\n-\tx()\n+\ty()\n", "func a() {\n\ty()\n}\n\nfunc b() {\n\tx()\n}\n"},
		{two, "@@ -0,0 +1,1 @@ func b() {\n-\tx()\n+\ty()\n", "func a() {\n\tx()\n}\n\nfunc b() {\n\ty()\n}\n"},
		{two, "@@ -1,1 +1,1 @@ func c() {\n-\tx()\n+\ty()\n", "func a() {\n\ty()\n}\n\nfunc b() {\n\tx()\n}\n"},
		{"\tx()\ny()\n\n" + twice, "@@ -2,1 +2,1 @@ func b() {\n-\tx()\n+\ty()\n", ""},
		{macro, "@@ -6,1 +6,1 @@ int f() {\n-\tx();\n+\ty();\n", "int f() {\n\tx();\n#ifdef A\n\tz();\n\ty();\n}\n"},
		{"  b\nb\n", "@@ -1,1 +1,1 @@\n-b\n+new\n", "  b\nnew\n"},
	} {
		got, err := applyPatch("--- f\n+++ f\n"+c.hunk, memory{"f": c.file}.read)
		if c.want == "" {
			if code(err) != Ambiguous {
				t.Errorf("%q: %v, want ambiguous", c.hunk, err)
			}
		} else if err != nil {
			t.Errorf("%q: %v", c.hunk, err)
		} else if have := string(got.Files[0].After); have != c.want {
			t.Errorf("%q: %q, want %q", c.hunk, have, c.want)
		}
	}
}
