//go:build !linux

package machine

// holders knows nothing here that would make a difference.
func holders() string { return "" }

// bootID is not known here.
func bootID() string { return "" }

// CoversProc reports whether something is mounted over parts of /proc.
func CoversProc() bool { return false }
