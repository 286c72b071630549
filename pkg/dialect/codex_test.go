package dialect

import (
	"runtime"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// TestMiddle checks where an output is cut: in its middle, at four bytes a token, on
// the borders of characters.
func TestMiddle(t *testing.T) {
	for _, test := range []struct {
		text   string
		tokens int
		want   string
	}{
		{"abcdefgh", 2, "abcdefgh"},
		{"abcdefghi", 2, "abcd…1 tokens truncated…fghi"},
		{"abcdefghi", 0, "…3 tokens truncated…"},
		{"äöüäöüäöü", 2, "äö…3 tokens truncated…öü"},
		{"aäöüäöüäöü", 2, "aä…3 tokens truncated…öü"},
		{"", 0, ""},
	} {
		if got, cut := middle(test.text, test.tokens); got != test.want || cut != (got != test.text) {
			t.Errorf("%q in %d: got %q, want %q", test.text, test.tokens, got, test.want)
		}
	}
}

// TestSessions checks that the number of a session leads back to its job.
func TestSessions(t *testing.T) {
	for _, job := range []string{"jxaz32x0ztqkaxext", "j0000000000000000", "j00a9zzzzzzzzzzzz", "jzzzzzzzzzzzzzzzz"} {
		id := sessionID(job)
		if strings.Trim(id, "0123456789") != "" || !strings.HasPrefix(job, jobID(id)) || len(jobID(id)) != 5 {
			t.Errorf("%s is session %s, which is %s", job, id, jobID(id))
		}
	}
	for _, id := range []string{"-1", "9999999999", "99999999", "x"} {
		if jobID(id) != id {
			t.Errorf("%s is no number of a session, and became %s", id, jobID(id))
		}
	}
}

// TestSeconds checks the wall time that Codex writes.
func TestSeconds(t *testing.T) {
	for ms, want := range map[int64]string{0: "0", 49: "0", 50: "0.1", 2300: "2.3", 12000: "12"} {
		if got := seconds(ms); got != want {
			t.Errorf("%d ms: got %s, want %s", ms, got, want)
		}
	}
}

// TestLeft checks what patterns leave out of a listing.
func TestLeft(t *testing.T) {
	for _, test := range []struct {
		name, pattern string
		want          bool
	}{
		{"a/b.txt", "*.txt", true},
		{"a/b.txt", "a", true},
		{"a/b.txt", "a/", true},
		{"a/b.txt", "a/**", true},
		{"x/a/b.txt", "**/a", true},
		{"a/b.txt", "b", false},
		{"ab/c", "a", false},
		{"a", "[", false},
	} {
		if got := left(test.name, []string{test.pattern}); got != test.want {
			t.Errorf("%s with %s: %v", test.name, test.pattern, got)
		}
	}
}

// TestPlatforms checks that each system has its own names for what runs commands, that a
// model on Windows is told of its shell, and that only the names of this system are there.
func TestPlatforms(t *testing.T) {
	for _, d := range []*Dialect{codex(), openloaf()} {
		told, count := map[string]string{}, map[string]int{}
		for i := range d.Tools {
			if one := &d.Tools[i]; one.Only != "" {
				count[one.Only]++
				told[one.To+one.Only] += one.Told
			}
		}
		if count["unix"] != 4 || count["windows"] != 4 {
			t.Errorf("%s: %v", d.Name, count)
		}
		if strings.Count(told["bashwindows"], "PowerShell") != 3 || strings.Contains(told["bashunix"]+told["inputwindows"], "PowerShell") {
			t.Errorf("%s tells %q", d.Name, told)
		}
		for _, one := range d.Listed() {
			if one.Only != "" && (one.Only == "windows") != (runtime.GOOS == "windows") {
				t.Errorf("%s lists %s", d.Name, one.Name)
			}
		}
	}
	for name, want := range map[string]bool{"shell-unix": true, "shell-win": false, "exec-command-unix": true, "write-stdin-win": false} {
		if _, err := openloaf().Find(name); (err == nil) != (want == (runtime.GOOS != "windows")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUnknownStatus checks that a command whose status nobody knows has -1.
func TestUnknownStatus(t *testing.T) {
	c, err := codex().Decode("shell", []byte(`{"command":["true"]}`))
	if err != nil {
		t.Fatal(err)
	}
	v := &View{Call: c, Result: &tool.Result{Output: "so far\n"}, Meta: meta{Status: "running"}}
	if got, want := codexShell(v), `{"output":"so far\n","metadata":{"exit_code":-1,"duration_seconds":0.0}}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
