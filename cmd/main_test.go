package cmd

import (
	"os"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/job"
)

// TestMain makes the test binary the stage that a call may start: it would run
// the tests again, and they start calls.
func TestMain(m *testing.M) {
	if code, ok := job.Stage(os.Args[1:], nil); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}
