//go:build linux || darwin

package session

import "syscall"

// scarce reports whether less than a twentieth of the disk that dir lies on is
// free, and less than 1 GiB.
func scarce(dir string) bool {
	var st syscall.Statfs_t
	if syscall.Statfs(dir, &st) != nil {
		return false
	}
	free := int64(st.Bavail) * int64(st.Bsize) //nolint:unconvert // the types differ between systems
	return free < 1<<30 && st.Bavail < st.Blocks/20
}

// free is how many bytes are free on the disk that dir lies on; ok is false where that is
// not known.
func free(dir string) (bytes uint64, ok bool) {
	var st syscall.Statfs_t
	if syscall.Statfs(dir, &st) != nil {
		return 0, false
	}
	return st.Bavail * uint64(st.Bsize), true
}
