//go:build !windows

package cmd

func longName(path string) string { return path }

func remote(string) bool { return false }
