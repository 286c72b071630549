package machine

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// longName is the path of a file without short names, such as TERRAF~1.EXE,
// which no rule about a program mentions.
func longName(path string) string {
	from, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return path
	}
	buf := make([]uint16, windows.MAX_LONG_PATH)
	n, err := windows.GetLongPathName(from, &buf[0], uint32(len(buf)))
	if err != nil || int(n) > len(buf) {
		return path
	}
	return windows.UTF16ToString(buf[:n])
}

// remote reports whether a path is on another machine, which would learn who
// the user is if it were asked, or is that of a device.
func remote(path string) bool {
	return strings.HasPrefix(filepath.VolumeName(path), `\\`)
}
