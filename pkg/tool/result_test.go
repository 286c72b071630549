package tool

import (
	"encoding/json"
	"testing"
)

// TestNotes checks that what is said of an output stands on lines of its own behind
// it, and never in it.
func TestNotes(t *testing.T) {
	for _, test := range []struct {
		output string
		notes  []string
		want   string
	}{
		{"a\n", nil, "a\n"},
		{"a", nil, "a"},
		{"a", []string{"exit status 1"}, "a\n[exit status 1]\n"},
		{"a\n", []string{"one", "two"}, "a\n[one]\n[two]\n"},
		{"", []string{"no output"}, "[no output]\n"},
	} {
		r := &Result{Output: test.output}
		for _, n := range test.notes {
			r.Notes = append(r.Notes, Note{Advice: Advise("%s", n)})
		}
		raw, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Output string }
		if err := json.Unmarshal(raw, &got); err != nil || got.Output != test.want || r.Output != test.output {
			t.Errorf("%q with %q: got %q (%v), want %q", test.output, test.notes, got.Output, err, test.want)
		}
	}
}
