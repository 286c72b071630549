package edit

import (
	"errors"
	"testing"
)

// A patch of any text is refused or applied; it never panics, and what it
// does not name stays.
func FuzzPatch(f *testing.F) {
	f.Add("*** Begin Patch\n*** Update File: a\n@@ x\n-one\n+two\n*** End Patch", "x\none\n")
	f.Add("--- a/a\n+++ b/a\n@@ -1,2 +1 @@\n-one\n x\n\\ No newline at end of file\n", "one\nx")
	f.Add("diff --git a/a b/b\nrename from a\nrename to b\n@@ -0,0 +1 @@\n+x\n", "one\r\n")
	f.Add("*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n+x\n*** End of File\n", "")
	f.Fuzz(func(t *testing.T, patch, file string) {
		if len(patch)+len(file) > 4000 {
			t.Skip()
		}
		c, err := applyPatch(patch, memory{"a": file}.read)
		var r *Refusal
		if err != nil && (!errors.As(err, &r) || r.Hint == "") {
			t.Fatalf("poor refusal %+v of %q", err, patch)
		}
		if err == nil && len(c.Files) == 0 {
			t.Fatalf("nothing done, nothing refused: %q on %q", patch, file)
		}
	})
}

// A diff of any two texts makes the one of the other.
func FuzzDiff(f *testing.F) {
	f.Add("a\nb\n", "a\nc\n", 3)
	f.Add("a", "a\n", 0)
	f.Fuzz(func(t *testing.T, before, after string, context int) {
		if len(before)+len(after) > 4000 || before == after || before == "" || after == "" {
			t.Skip()
		}
		for i := range before {
			if before[i] == '\r' {
				t.Skip()
			}
		}
		for i := range after {
			if after[i] == '\r' {
				t.Skip()
			}
		}
		diff := Diff("a/a", "b/a", []byte(before), []byte(after), max(0, context%5))
		c, err := applyPatch(diff, memory{"a": before}.read)
		if err != nil || string(c.Files[0].After) != after {
			t.Fatalf("%q to %q: %v\n%s", before, after, err, diff)
		}
	})
}
