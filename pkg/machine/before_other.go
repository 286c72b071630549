//go:build !cgo || !unix

package machine

// StdoutClosed reports whether this process was started with its standard output
// closed. Builds without cgo cannot tell.
func StdoutClosed() bool { return false }
