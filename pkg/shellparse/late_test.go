package shellparse

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestSecondReadingEnds: text on which tree-sitter does not end is opaque, and
// holds nobody up. Without a limit it takes many seconds.
func TestSecondReadingEnds(t *testing.T) {
	begin := time.Now()
	a := Analyze(context.Background(), strings.Repeat("do |x| ", 8000), "bash", &World{})
	if len(a.Opaque) == 0 {
		t.Error("it is clear to us")
	}
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}
