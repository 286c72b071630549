package edit

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A historical drift is a change of one revision and the file of another that has
// gone on since, or was not so far yet.
type historical struct {
	Name, Target, Patch, Want string
}

// histories are drifts of this repository: a sample, or as many as DRIFTS says, drawn
// from the history of the repository that DRIFT_REPOSITORY names, or of this one.
func histories(t *testing.T) []historical {
	n, err := strconv.Atoi(os.Getenv("DRIFTS"))
	if err != nil {
		return readJSONLines[historical](t, "testdata/drift.jsonl.gz")
	}
	repository := os.Getenv("DRIFT_REPOSITORY")
	if repository == "" {
		repository = "."
	}
	git := func(args ...string) (string, error) {
		cmd := exec.Command("git", args...)
		cmd.Dir = repository
		out, err := cmd.Output()
		return string(out), err
	}
	commits, err := git("log", "--format=%H")
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(commits)
	r := rand.New(rand.NewPCG(18, 81))
	var out []historical
	for tries := 0; len(out) < n && tries < 60*n; tries++ {
		k := r.IntN(len(all) - 1)
		changed, err := git("diff-tree", "--no-commit-id", "--name-only", "--diff-filter=M", "-r", all[k])
		names := strings.Split(strings.TrimSpace(changed), "\n")
		if err != nil || names[0] == "" {
			continue
		}
		name := names[r.IntN(len(names))]
		old, theirs := all[k+1], all[max(0, k-1-r.IntN(120))] // the change taken back in a later file
		base, ours := all[k], old
		if r.IntN(2) == 0 { // the change in an earlier file
			base, ours, theirs = old, all[k], all[min(len(all)-1, k+2+r.IntN(120))]
		}
		texts := map[string]string{"base": "", "ours": "", "f": ""}
		for into, commit := range map[string]string{"base": base, "ours": ours, "f": theirs} {
			if texts[into], err = git("show", commit+":"+name); err != nil || strings.Contains(texts[into], "\x00") {
				texts = nil
				break
			}
		}
		if d, ok := drawn(t, texts); ok {
			d.Name = name + " " + base[:9] + " to " + ours[:9] + " on " + theirs[:9]
			out = append(out, d)
		}
	}
	if len(out) < n {
		t.Fatalf("only %d of %d drifts were drawn", len(out), n)
	}
	return out
}

// drawn is the drift of the texts of base, ours and f, where git refuses the patch and
// merges the files.
func drawn(t *testing.T, texts map[string]string) (historical, bool) {
	t.Helper()
	if texts == nil || texts["base"] == texts["f"] {
		return historical{}, false
	}
	dir := t.TempDir()
	run := func(args ...string) (string, error) {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		out, err := cmd.Output()
		return string(out), err
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	patch, _ := run("diff", "--no-index", "base", "ours") // its status says that they differ
	patch = strings.NewReplacer(" a/base", " a/f", " b/base", " b/f", " a/ours", " a/f", " b/ours", " b/f").Replace(patch)
	if err := os.WriteFile(filepath.Join(dir, "patch"), []byte(patch), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := run("apply", "--check", "patch"); patch == "" || err == nil {
		return historical{}, false
	}
	want, err := run("merge-file", "-p", "--diff3", "f", "base", "ours")
	return historical{Target: texts["f"], Patch: patch, Want: want}, err == nil && want != texts["f"]
}

// TestDriftHistories applies changes of a real history to files of other revisions:
// what comes out is what git merges. So does the patch without what git writes before
// the names.
func TestDriftHistories(t *testing.T) {
	right, wrong, n := 0, 0, 0
	for _, d := range histories(t) {
		plain := d.Patch[strings.Index(d.Patch, "--- a/"):]
		for _, patch := range [...]string{d.Patch, plain} {
			n++
			c, err := applyPatch(patch, memory{"f": d.Target}.read)
			switch {
			case err != nil:
				t.Logf("missed: %s: %v", d.Name, err)
			case string(c.Files[0].After) == d.Want:
				right++
			default:
				wrong++
				t.Errorf("wrong: %s\n%s\nhave, want\n%s", d.Name, d.Patch, Diff("f", "f", c.Files[0].After, []byte(d.Want), 2))
			}
		}
	}
	t.Logf("%d of %d right, %d wrong", right, n, wrong)
	least := 90 // a quarter of the sample are those that were the hardest of 700
	if os.Getenv("DRIFTS") != "" {
		least = 97
	}
	if 100*right < least*n {
		t.Errorf("%d of %d right", right, n)
	}
}

// A hunk that is made where it stands does not refuse the others, is named, and is made
// no second time; where all are made nothing is left to do.
func TestDriftMade(t *testing.T) {
	const base = "package cmd\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc one() {\n\tfirst()\n\tsecond()\n\tthird()\n}\n\nfunc two() {\n\tfourth()\n\tfifth()\n\tsixth()\n}\n"
	const patch = "--- a/f\n+++ b/f\n@@ -1,6 +1,7 @@\n package cmd\n \n import (\n+\t\"errors\"\n \t\"fmt\"\n \t\"os\"\n )\n@@ -13,6 +14,6 @@\n \n func two() {\n \tfourth()\n-\tfifth()\n+\tnewFifth()\n \tsixth()\n }\n"
	change := strings.NewReplacer("\t\"fmt\"", "\t\"errors\"\n\t\"fmt\"", "\tfirst()", "\tfirst()\n\tand()").Replace(base)
	want := strings.Replace(change, "\tfifth()", "\tnewFifth()", 1)
	c, err := applyPatch(patch, memory{"f": change}.read)
	if err != nil || string(c.Files[0].After) != want || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "hunk 1 of 2 is made already") {
		t.Errorf("%v %+v", err, c)
	}
	if _, err := applyPatch(patch, memory{"f": want}.read); code(err) != AlreadyApplied {
		t.Errorf("all of it is made: %v", err)
	}
	// A line inside the change that is another is in the way.
	if c, err := applyPatch(patch, memory{"f": strings.Replace(change, "\tfifth()", "\tothers()", 1)}.read); err == nil {
		t.Errorf("a line that is not there is changed: %s", c.Files[0].After)
	}
	// What is to come first in a file and stands there already is not put there again.
	added := "one line of it()\nand another one()\n"
	for _, head := range [...]string{"@@ -1,3 +1,5 @@", "@@"} {
		first := "--- a/f\n+++ b/f\n" + head + "\n+" + strings.Replace(strings.TrimSuffix(added, "\n"), "\n", "\n+", 1) + "\n package cmd\n \n-import (\n+import(\n"
		c, err = applyPatch(first, memory{"f": added + base}.read)
		if want := added + strings.Replace(base, "import (", "import(", 1); err != nil || string(c.Files[0].After) != want {
			t.Errorf("%s: %v %+v", head, err, c)
		}
	}
}

// What a hunk removes may stand below another heading by now: that is no place for it, as
// little as one where nothing beside a change says that it is meant.
func TestDriftUncertain(t *testing.T) {
	const patch = "--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n ## Examples\n \n-Every example is part of the tests.\n+Each of them is run.\n \n search the content of all files:\n \n-    program grep greet --sort path\n+    program grep kurtosis\n \n only the files, or a count for each:\n"
	for name, target := range map[string]string{
		"another heading":     "## Examples\n\nEvery example is part of the tests.\n\nText that is no regular expression:\n\n    program grep greet --sort path\n",
		"another definition":  "## Examples\n\nEvery example is part of the tests.\n\nother words\n\n    program grep greet --sort path\n\nmore\n\nsearch the content of all files:\n",
		"a line that is gone": "## Examples\n\n\nsearch the content of all files:\n\n    program grep greet\n\nonly the files, or a count for each:\n",
	} {
		if c, err := applyPatch(patch, memory{"f": target}.read); err == nil {
			t.Errorf("%s: %s", name, c.Files[0].After)
		}
	}
}
