package policy

import "strings"

// foldsCase: file names differ by more than case here.
const foldsCase = true

// slashed returns a path with forward slashes.
func slashed(p string) string { return strings.ReplaceAll(p, `\`, "/") }
