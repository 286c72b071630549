//go:build !linux || (!amd64 && !arm64)

package killtree

// A Confiner confines commands. Where nothing is forked it only has to start them.
type Confiner = Starter
