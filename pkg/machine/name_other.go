//go:build !windows

package machine

func longName(path string) string { return path }

func remote(string) bool { return false }
