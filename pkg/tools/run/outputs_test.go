package run

import (
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// TestHears: who wants to hear only the beginning of an output is not told the rest,
// which still gets where it belongs.
func TestHears(t *testing.T) {
	heard, line := 0, strings.Repeat("x", 99)+"\n"
	emit := func(e tool.Event) {
		if said, ok := e.Value.(tool.OutputEvent); ok {
			heard += len(said.Text)
		}
	}
	for most, want := range map[int64]int{0: 1000, 100: 100, 150: 200, 5000: 1000} {
		var all strings.Builder
		heard = 0
		l := newLiveOutput(&all, &tool.Env{Emit: emit, Hears: most})
		for range 10 {
			if _, err := l.Write([]byte(line)); err != nil {
				t.Fatal(err)
			}
		}
		if l.close(); heard != want || all.String() != strings.Repeat(line, 10) {
			t.Errorf("of %d: %d bytes heard, %d passed on", most, heard, all.Len())
		}
	}
}
