package workspace

import (
	"path/filepath"
	"strings"
)

const (
	backslashSeparates = true
	nameInBytes        = false
)

func isAbs(name string) bool { return filepath.IsAbs(name) }

func badVolume(name string) string {
	vol := filepath.VolumeName(name)
	switch {
	case strings.HasPrefix(vol, `\\.`) || strings.HasPrefix(vol, `\\?`) || strings.HasPrefix(vol, `\??`):
		return "it is a device path"
	case !filepath.IsAbs(name) && (vol != "" || name[0] == '\\' || name[0] == '/'):
		return "it depends on the current directory of a drive: write the whole path"
	}
	return ""
}

func badFileName(c string) string {
	switch {
	case strings.ContainsRune(c, ':'):
		return "a colon in a name opens another stream of the file"
	case strings.TrimRight(c, ". ") != c:
		return "the system drops dots and blanks at the end of a name"
	case !filepath.IsLocal(c):
		return "the name is reserved for a device"
	}
	return ""
}
