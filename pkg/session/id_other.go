//go:build !unix

package session

import (
	"path/filepath"
	"strings"
)

// platformID refuses device names and what the file system would shorten.
func platformID(id string) bool {
	return filepath.IsLocal(id) && !strings.HasSuffix(id, ".")
}
