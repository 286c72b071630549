//go:build !(linux || darwin)

package session

// scarce is not known here.
func scarce(string) bool { return false }

// free is not known here.
func free(string) (bytes uint64, ok bool) { return 0, false }
