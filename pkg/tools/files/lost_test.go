package files

import (
	"strings"
	"testing"
)

// What could not be kept of a file is said, not only noted.
func TestLost(t *testing.T) {
	r := &changeReport{Lines: 1, Lost: []string{"owner", "user.tag"}}
	if got := r.output("Edited f"); !strings.Contains(got, "\nnot kept: owner, user.tag\n") {
		t.Errorf("%q does not say what was lost", got)
	}
}
