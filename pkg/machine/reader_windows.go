package machine

import "os"

// ReaderGone cannot be told here without writing.
func ReaderGone(*os.File) bool { return false }
