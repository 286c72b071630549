package edit

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A hunk of git's that has less context on one side stands at that end of the file,
// whatever has become of the other lines of its context.
func TestPatchEdges(t *testing.T) {
	files := sources(t)
	r := rand.New(rand.NewPCG(1, 44))
	for _, end := range []bool{true, false} {
		made, right := 0, 0
		for range 2000 {
			lines := strings.Split(strings.TrimSuffix(files[r.IntN(len(files))], "\n"), "\n")
			behind := r.IntN(3) // lines between the change and the end
			in := []string{fmt.Sprintf("added(%d)", r.IntN(1000)), "at_the_edge()"}
			at, far, near := len(lines)-behind, len(lines)-behind-3, len(lines)-behind-1
			if !end {
				at, far, near = behind, behind+2, behind
			}
			kept := lines[near:]
			if !end {
				kept = lines[:near+1]
			}
			if strings.TrimSpace(strings.Join(kept, "")) == "" {
				continue
			}
			ours := strings.Split(with(lines, at, at, in...), "\n")
			theirs := strings.Split(strings.Join(lines, "\n"), "\n")
			for _, k := range []int{min(far, far+1), (far + near) / 2} { // two lines of the side with more of them
				if k != near {
					theirs[k] = lead(theirs[k]) + fmt.Sprintf("rewritten(%d)", r.IntN(1000))
				}
			}
			text := func(s []string) string { return strings.Join(s, "\n") + "\n" }
			diff := "diff --git a/f b/f\n" + Diff("a/f", "b/f", []byte(text(lines)), []byte(text(ours)), 3)
			made++
			c, err := applyPatch(diff, memory{"f": text(theirs)}.read)
			want := with(theirs, at, at, in...) + "\n"
			switch {
			case err == nil && string(c.Files[0].After) == want:
				right++
			case err == nil:
				t.Errorf("wrong:\n%s\n%s", diff, Diff("want", "have", []byte(want), c.Files[0].After, 2))
			case made-right < 5:
				t.Logf("missed: %v\n%s", err, diff)
			}
			if made == 300 {
				break
			}
		}
		t.Logf("at the end: %v: %d of %d right", end, right, made)
		if made < 300 || 100*right < 95*made {
			t.Errorf("at the end: %v: %d of %d right", end, right, made)
		}
	}
}

// What a hunk without its outer context does is done once, and to the last line.
func TestPatchEdgeCases(t *testing.T) {
	const git = "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n"
	for _, c := range []struct{ name, file, patch, want, code string }{
		{"the last line gets its ending", "other\nnot()\n  }\n}", git + "@@ -7,4 +7,4 @@\n     return true;\n     go();\n   }\n-}\n\\ No newline at end of file\n+}\n", "other\nnot()\n  }\n}\n", ""},
		{"not one that has lines behind it now", "a();\n}\nmore\nb", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a();\n-}\n\\ No newline at end of file\n+}\n", "", AlreadyApplied},
		{"a model's diff, little is left", "x\ny\n}\n", "--- a/f\n+++ b/f\n@@ -7,3 +7,4 @@\n one();\n two();\n }\n+three();\n", "", NoMatch},
		{"git's, the same", "x\ny\n}\n", git + "@@ -7,3 +7,4 @@\n one();\n two();\n }\n+three();\n", "x\ny\n}\nthree();\n", ""},
		{"there already", "x\n}\n\nfunction three() {\n  go_on_with_it();\n}\n", git + "@@ -7,3 +7,7 @@\n one();\n two();\n }\n+\n+function three() {\n+  go_on_with_it();\n+}\n", "", AlreadyApplied},
		{"an end of file in an envelope", "x\nlast_of_all(1)\n}\n", "*** Begin Patch\n*** Update File: f\n@@\n gone()\n last_of_all(1)\n }\n+three();\n*** End of File\n*** End Patch", "x\nlast_of_all(1)\n}\nthree();\n", ""},
	} {
		got, err := applyPatch(c.patch, memory{"f": c.file}.read)
		if code(err) != c.code || err == nil && string(got.Files[0].After) != c.want {
			after := ""
			if got != nil {
				after = string(got.Files[0].After)
			}
			t.Errorf("%s: %v %q, want %q %q", c.name, err, after, c.want, c.code)
		}
	}
}

// What stands to the letter but for one line of context is not taken for what is only
// alike elsewhere.
func TestNearer(t *testing.T) {
	const file = "a(function(){\n  b(function(){\n    c(function(){\n      d(function(){\n        e()\n          .expect([], done);\n        })\n      })\n    })\n  })\n})\n"
	const old = "        .expect('[]', done);\n      })\n    })\n  })\n})"
	out, err := Plan([]byte(file), []Edit{{Old: old, New: strings.Replace(old, "    })\n", "    })\n\n    f(function(){\n    })\n", 1)}}, Options{})
	if code(err) != Ambiguous {
		t.Errorf("%v %+v", err, out)
	}
}
