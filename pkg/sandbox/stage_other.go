//go:build !linux || (!amd64 && !arm64)

package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// stage is not used here: nothing needs a gatekeeper.
func stage(_, _ []string, _ func(json.RawMessage) (Decider, error), stderr io.Writer) int {
	fmt.Fprintln(stderr, "agentkit: error: there is no sandbox stage on this system")
	return 125
}

func unnamed([]byte) (*os.File, error) {
	return nil, fmt.Errorf("%w: there is no sandbox stage on this system", ErrLevel)
}
