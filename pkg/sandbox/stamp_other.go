//go:build !linux

package sandbox

import "io/fs"

func stampOf(fs.FileInfo) (string, bool) { return "", false }
