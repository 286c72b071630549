package workspace

import "io/fs"

// LinkCount is how many names (hard links) a file has, as far as info tells; 0
// where it does not.
func LinkCount(info fs.FileInfo) uint64 { return linkCount(info) }
