package workspace

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// isMagic reports whether the link is one of /proc that the kernel follows by
// itself rather than by its text: cwd, root, exe, fd/N, ns/*, map_files/*.
// The plain ones there (self, mounts, net …) are relative and hold no colon.
func isMagic(link, target string) bool {
	if !filepath.IsAbs(target) && !strings.ContainsRune(target, ':') {
		return false
	}
	var st unix.Statfs_t
	err := unix.Statfs(filepath.Dir(link), &st)
	return err != nil || st.Type == unix.PROC_SUPER_MAGIC
}
