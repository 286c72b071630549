//go:build !windows

package workspace

import "runtime"

const (
	backslashSeparates = false
	nameInBytes        = runtime.GOOS == "linux"
)

func isAbs(name string) bool { return name != "" && name[0] == '/' }

func badVolume(string) string { return "" }

func badFileName(string) string { return "" }
