//go:build unix && !linux

package machine

import "os"

// flushInput is needed only where questions are asked while a command runs.
func flushInput(*os.File) {}
