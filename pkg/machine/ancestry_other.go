//go:build !linux

package machine

// StartedByUs knows nothing here; the environment alone tells.
func StartedByUs() bool { return false }

// MarkCommands has no mark here that a command could not take off.
func MarkCommands() {}
