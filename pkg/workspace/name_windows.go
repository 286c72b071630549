package workspace

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/windows"
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

// badHost says why a directory is not to be looked at: it is a share of a
// machine that none of ours lies on. Windows answers for the user there, in a
// form that the password can be guessed from.
func badHost(dir string, ours []string) string {
	host := hostOf(dir)
	if host == "" || slices.ContainsFunc(ours, func(o string) bool { return strings.EqualFold(hostOf(o), host) }) {
		return ""
	}
	return "it is on another machine, which would learn who you are"
}

// hostOf is the machine whose share a path lies on; "" for none.
func hostOf(abs string) string {
	rest, ok := strings.CutPrefix(filepath.VolumeName(abs), `\\`)
	if !ok {
		return ""
	}
	host, _, _ := strings.Cut(rest, `\`)
	return host
}

// trueVolume is the one spelling of a volume that we use.
func trueVolume(vol string) string {
	if len(vol) == 2 {
		return strings.ToUpper(vol) // a drive
	}
	return vol
}

// trueName is the path of an existing file in dir by the name that dir has for
// it: the one in path may differ by case, or be the short one, such as
// PROGRA~1, which no rule about the file mentions.
func trueName(path, dir string) (string, error) {
	name, err := windows.UTF16PtrFromString(path)
	var found windows.Win32finddata
	if err == nil {
		var h windows.Handle
		if h, err = windows.FindFirstFile(name, &found); err == nil {
			err = windows.FindClose(h)
		}
	}
	switch {
	case err == nil:
		return join(dir, windows.UTF16ToString(found.FileName[:])), nil
	case strings.Contains(filepath.Base(path), "~"):
		return "", fmt.Errorf("finding the long name of %s: %w", path, err)
	}
	return path, nil // the directory cannot be listed, and rules do not mind the case
}
