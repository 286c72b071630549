package programs_test

import (
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/programs"
)

// TestPathsAlone: what is not known of a call of git are paths only behind "--". A word that
// begins with $ is not known.
func TestPathsAlone(t *testing.T) {
	for command, want := range map[string]int{
		"git checkout -- $f":           3,
		"git restore -q -- a $f":       4,
		"git checkout --ours -- $f":    4,
		"git checkout -3 -- $f":        4,
		"git checkout HEAD~1 -- $f":    0,
		"git checkout --ours $f -- $f": 0,
		"git restore HEAD -- $f":       0,
		"git checkout HEAD -- $f":      0, // it may be one that the index no longer has
		"git clean --ours -- $f":       0,
		"git clean HEAD -- $f":         0,
		"git restore -s x -- $f":       0,
		"git checkout $x -- a":         0,
		"git checkout $f":              0,
		"git stash drop -- $x":         0,
		"git -C d checkout -- $f":      0,
		"rm -rf -- $f":                 0,
	} {
		argv := strings.Fields(command)
		dynamic := make([]bool, len(argv))
		for i, word := range argv {
			dynamic[i] = word[0] == '$'
		}
		if got := programs.PathsAlone(argv, dynamic); got != want {
			t.Errorf("%s: %d, want %d", command, got, want)
		}
	}
	// What is known of a word may look like an option: -q$x.
	if got := programs.PathsAlone([]string{"git", "checkout", "-q", "--", "f"}, []bool{false, false, true, false, false}); got != 0 {
		t.Errorf("an option of which only the beginning is known: %d, want 0", got)
	}
}
