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

func badHost(string, []string) string { return "" }

func trueVolume(vol string) string { return vol }

func trueName(path, _ string) (string, error) { return path, nil }
