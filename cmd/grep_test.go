package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// TestInterruptedSearch: what a search has found until a signal ends it is
// shown, and said to be a part.
func TestInterruptedSearch(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&tool.Signal{Number: syscall.SIGINT})
	for _, args := range [][]string{{"grep", "x"}, {"glob", "**"}} {
		var out, errs bytes.Buffer
		status := Main(ctx, func() {}, append([]string{"--root", dir, "--state", filepath.Join(t.TempDir(), "state"), "-o", "json"}, args...), strings.NewReader(""), &out, &errs)
		var r struct {
			Output   string
			Metadata struct{ Partial string }
			Error    struct{ Code string }
		}
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		if status != 130 || r.Error.Code != "interrupted" || r.Metadata.Partial != "canceled" || !strings.Contains(r.Output, "ended early") {
			t.Errorf("%q: status %d, %+v", args, status, r)
		}
	}
}
