//go:build !windows && !darwin

package policy

// foldsCase: file names that differ by case alone are different files here.
const foldsCase = false

func slashed(p string) string { return p }
