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

// TestAdvice checks that advice names what a model has, leaves out what it has not, and
// reads no names in what is filled in.
func TestAdvice(t *testing.T) {
	has := map[string]string{"bash": "Bash", "bash.timeout_ms": "timeout", ".limit": "head_limit"}
	names := func(tool, param string) string {
		if param != "" {
			tool += "." + param
		}
		return has[tool]
	}
	for _, test := range []struct{ format, ours, theirs string }{
		{"see {jobs}; start it again with {bash}", "see jobs; start it again with bash", "start it again with Bash"},
		{"give {.limit}, or {.cursor}; {bash} helps", "give limit, or cursor; bash helps", "give head_limit; Bash helps"},
		{"{jobs} shows them", "jobs shows them", ""},
		{"a larger {bash.timeout_ms}, or {bash.tty}", "a larger timeout_ms, or tty", "a larger timeout"},
		{"*.{ts,tsx} or {a,b}", "*.{ts,tsx} or {a,b}", "*.{ts,tsx} or {a,b}"},
		{"100%% of {bash}", "100% of bash", "100% of Bash"},
	} {
		a := Advise(test.format)
		if a.String() != test.ours || a.In(names) != test.theirs {
			t.Errorf("%q: got %q and %q, want %q and %q", test.format, a.String(), a.In(names), test.ours, test.theirs)
		}
	}
	if got := Advise("read %s", "{jobs}").In(names); got != "read {jobs}" {
		t.Errorf("a name was read in an argument: %q", got)
	}
}
