package run

import (
	"bytes"
	"testing"
)

// TestFarewell cuts what a shell prints in every two and three pieces: the output comes
// through without the farewell, and the directory out of it.
func TestFarewell(t *testing.T) {
	first := newFarewell()
	for _, test := range []struct{ text, out, dir string }{
		{"out\n" + first.mark + "/a dir" + farewellEnd, "out\n", "/a dir"},
		{first.mark + "/x" + farewellEnd + "later\n", "later\n", "/x"},
		{"no farewell \x1e here\n" + first.mark[:6], "no farewell \x1e here\n" + first.mark[:6], ""},
		{"", "", ""},
	} {
		for i := 0; i <= len(test.text); i++ {
			for k := i; k <= len(test.text); k++ {
				var out bytes.Buffer
				f := &farewell{mark: first.mark, to: &out}
				for _, part := range []string{test.text[:i], test.text[i:k], test.text[k:]} {
					if n, err := f.Write([]byte(part)); n != len(part) || err != nil {
						t.Fatalf("%q: %d, %v", part, n, err)
					}
				}
				f.close()
				if out.String() != test.out || f.over && string(f.dir) != test.dir || f.over != (test.dir != "") {
					t.Fatalf("%q cut at %d and %d: %q, %q", test.text, i, k, out.String(), f.dir)
				}
			}
		}
	}
}
