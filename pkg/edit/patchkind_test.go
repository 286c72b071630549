package edit

import (
	"errors"
	"strings"
	"testing"
)

// What cannot be applied is called by its name, and the hint says what can be done.
func TestPatchKinds(t *testing.T) {
	link := func(headers string) string {
		return "diff --git a/l b/l\n" + headers + "--- a/l\n+++ b/l\n@@ -1 +1 @@\n-old\n\\ No newline at end of file\n+to/new\n\\ No newline at end of file\n"
	}
	const combined = "index 1,2..3\n--- a/f\n+++ b/f\n@@@ -1,2 -1,2 +1,2 @@@\n  one\n- two\n -zwei\n++deux\n"
	commit := strings.Repeat("2", 40)
	for name, c := range map[string]struct{ patch, path, message, hint string }{
		"new link":                {strings.Replace(link("new file mode 120000\n"), "--- a/l", "--- /dev/null", 1), "l", "l is to be made a symbolic link", "ln -s to/new l"},
		"changed link":            {link("index 1..2 120000\n"), "l", "l is a symbolic link, and the patch changes where it leads", "ln -sfn to/new l"},
		"a file becomes a link":   {"diff --git a/l b/l\nold mode 100644\nnew mode 120000\n", "l", "l is to be made a symbolic link", "ln -s"},
		"a link to an odd name":   {strings.Replace(link("index 1..2 120000\n"), "to/new", "$(x)", 1), "l", "l is a symbolic link", "make the link with ln -sfn"},
		"changed submodule":       {"diff --git a/s b/s\nindex 1..2 160000\n--- a/s\n+++ b/s\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit " + commit + "\n", "s", "s is a submodule", "git -C s checkout " + commit},
		"new submodule":           {"diff --git a/s b/s\nnew file mode 160000\n--- /dev/null\n+++ b/s\n@@ -0,0 +1 @@\n+Subproject commit 2\n", "s", "to be made a submodule", "git submodule add"},
		"deleted submodule":       {"diff --git a/s b/s\ndeleted file mode 160000\n--- a/s\n+++ /dev/null\n@@ -1 +0,0 @@\n-Subproject commit 2\n", "s", "cannot delete", "git rm"},
		"combined, --cc":          {"diff --cc f\n" + combined, "f", "combined", "git diff PARENT MERGE"},
		"combined, --combined":    {"diff --combined f\n" + combined, "f", "combined", "git diff HEAD"},
		"combined, binary":        {"diff --cc f\nindex 1,2..3\nBinary files differ\n", "", "combined", "git diff PARENT MERGE"},
		"combined, behind others": {"--- a/g\n+++ b/g\n@@ -1 +1 @@\n-1\n+2\ndiff --cc f\nmode 1,2..3\n", "g", "combined", "git diff PARENT MERGE"},
		"binary with its bytes":   {"diff --git a/b b/b\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmZQzWMTkd\n", "b", "the change of b is binary", "git apply"},
		"binary without":          {"diff --git a/b b/b\nindex 1..2 100644\nBinary files a/b and b/b differ\n", "b", "does not hold the bytes", "git diff --binary"},
		"binary of diff":          {"Binary files a/b and b/b differ\n", "", "does not hold the bytes", "git diff --binary"},
		"words":                   {"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\none\n[-two-]{+zwei+}\nthree\n", "f", "marks words", "without --word-diff"},
		"coloured":                {"\x1b[1mdiff --git a/f b/f\x1b[m\n\x1b[1m--- a/f\x1b[m\n\x1b[1m+++ b/f\x1b[m\n\x1b[36m@@ -1 +1 @@\x1b[m\n\x1b[31m-1\x1b[m\n\x1b[32m+2\x1b[m\n", "", "coloured", "--color=never"},
		"a hunk alone":            {"@@ -1 +1 @@\n-1\n+2\n", "", "does not say of which file", "+++ b/PATH"},
		"context alone":           {"*** 1,3 ***\n  one\n! zwei\n--- 1,3 ---\n  one\n! two\n", "", "context diff without its headers", "diff -u"},
		"default form of diff":    {"2,3c2\n< zwei\n< drei\n---\n> two\n", "", "default form of diff", "diff -u"},
		"ed script":               {"3c\ndrei\n.\n1,2d\n", "", "ed script", "diff -u"},
		"RCS":                     {"d2 1\na2 1\nzwei\n", "", "RCS", "diff -u"},
		"summary":                 {" a.txt | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n", "", "summary", "--stat"},
		"blocks":                  {"<<<<<<< SEARCH\none\n=======\nuno\n>>>>>>> REPLACE\n", "", "SEARCH/REPLACE", "*** Update File"},
		"blank":                   {"\n \n", "", "the patch is empty", "*** Begin Patch"},
	} {
		_, err := ParsePatch(c.patch)
		r, ok := errors.AsType[*Refusal](err)
		if !ok || r.Code != BadInput {
			t.Errorf("%s: %v, want bad input", name, err)
			continue
		}
		if r.Path != c.path || !strings.Contains(r.Message, c.message) || !strings.Contains(r.Hint, c.hint) {
			t.Errorf("%s: %q, %q, %q", name, r.Path, r.Message, r.Hint)
		}
	}
}

// Lines of files that look like another form of diff are lines of files.
func TestPatchOfPatches(t *testing.T) {
	const file = "diff --cc x\n@@@ -1,2 -1,2 +1,2 @@@\n[-a-]{+b+}\n2c3\n*** 1,3 ****\n"
	const diff = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,5 +1,5 @@\n diff --cc x\n @@@ -1,2 -1,2 +1,2 @@@\n-[-a-]{+b+}\n+[-c-]{+d+}\n 2c3\n *** 1,3 ****\n"
	c, err := applyPatch(diff, memory{"f": file}.read)
	if want := strings.Replace(file, "[-a-]{+b+}", "[-c-]{+d+}", 1); err != nil || string(c.Files[0].After) != want {
		t.Errorf("%v, %+v", err, c)
	}
}
