package edit

import "testing"

// TestPatchLastLine holds what a patch says of a file's last line, and of lines of
// context that are not there.
func TestPatchLastLine(t *testing.T) {
	for _, c := range []struct{ name, hunks, file, want string }{
		{"an insertion at the end takes the line ending away", "@@ -2,0 +3 @@\n+c\n\\ No newline at end of file\n", "a\n\n", "a\n\nc"},
		{"so it does behind another hunk", "@@ -1 +0,0 @@\n-a\n@@ -2,0 +2 @@\n+c\n\\ No newline at end of file\n", "a\n\n", "\nc"},
		{"the line before the last is empty, and the last goes", "@@ -2 +1,0 @@\n-b\n\\ No newline at end of file\n", "\nb", "\n"},
		{"the only line goes", "@@ -1 +0,0 @@\n-b\n\\ No newline at end of file\n", "b", ""},
		{"the only line becomes empty", "@@ -1 +1 @@\n-b\n\\ No newline at end of file\n+\n", "b", "\n"},
		{"an insertion behind a last line without one", "@@ -1,0 +2 @@\n+c\n\\ No newline at end of file\n", "a", "a\nc"},
		{"an empty line of context behind the change that is not there", "@@ -1,3 +1,3 @@\n-a\n+x\n b\n \n", "a\nb\nc\n", "x\nb\nc\n"},
		{"an empty line that goes is no context", "@@ -1,3 +1,2 @@\n a\n-b\n-\n+x\n", "a\nb\nc\n", "a\nx\nc\n"},
		{"nor is one in front of an added one", "@@ -1,2 +1,4 @@\n a\n+x\n \n+y\n", "a\nc\n", "a\nx\n\ny\nc\n"},
	} {
		got, err := applyPatch("--- a/f\n+++ b/f\n"+c.hunks, memory{"f": c.file}.read)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if string(got.Files[0].After) != c.want {
			t.Errorf("%s: %q, want %q", c.name, got.Files[0].After, c.want)
		}
	}
}

// A carriage return at the very end of a file is a part of its last line, as for git.
func TestPatchBareReturn(t *testing.T) {
	const none = "\n\\ No newline at end of file\n"
	for _, c := range []struct{ before, hunk, after string }{
		{"x\n", "@@ -1 +1,2 @@\n x\n+y\r" + none, "x\ny\r"},
		{"x\r\n", "@@ -1 +1,2 @@\n x\r\n+y\r" + none, "x\r\ny\r"},
		{"x\ny", "@@ -1,2 +1,2 @@\n x\n-y" + none + "+y\r" + none, "x\ny\r"},
		{"x\ny\r", "@@ -1,2 +1,2 @@\n x\n-y\r" + none + "+z\r" + none, "x\nz\r"},
		{"x\ny\r", "@@ -1,2 +1,2 @@\n x\n-y\r" + none + "+y\r\n", "x\ny\r\n"},
		{"x\ny\r\n", "@@ -1,2 +1,2 @@\n x\n-y\r\n+y" + none, "x\ny"},
		{"x\ny\r", "@@ -1,2 +1,3 @@\n+w\n x\n y\r" + none, "w\nx\ny\r"},
	} {
		got, err := applyPatch("--- a/f\n+++ b/f\n"+c.hunk, memory{"f": c.before}.read)
		if err != nil {
			t.Errorf("%q: %v", c.hunk, err)
		} else if string(got.Files[0].After) != c.after {
			t.Errorf("%q: %q, want %q", c.hunk, got.Files[0].After, c.after)
		}
	}
}
