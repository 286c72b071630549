//go:build linux || darwin

package workspace

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// keepAttrs copies the extended attributes of old, ACLs on Linux among them,
// and returns the names of those that could not be kept.
func keepAttrs(f, old *os.File) (lost []string) {
	names, err := attrNames(int(old.Fd()))
	if err != nil {
		return []string{"extended attributes"}
	}
	for _, name := range names {
		if !worthKeeping(name) {
			continue
		}
		value, err := attr(int(old.Fd()), name)
		if err != nil {
			lost = append(lost, name)
			continue
		}
		if now, err := attr(int(f.Fd()), name); err == nil && bytes.Equal(now, value) {
			continue
		}
		if err := unix.Fsetxattr(int(f.Fd()), name, value, 0); err != nil {
			lost = append(lost, name)
		}
	}
	return lost
}

// worthKeeping leaves out what belongs to the old content (capabilities,
// integrity hashes) or to the file system itself.
func worthKeeping(name string) bool {
	return runtime.GOOS == "darwin" || strings.HasPrefix(name, "user.") ||
		name == "system.posix_acl_access" || name == "security.selinux"
}

func attrNames(fd int) ([]string, error) {
	var buf []byte
	for {
		n, err := unix.Flistxattr(fd, buf)
		switch {
		case errors.Is(err, unix.ENOTSUP), n == 0 && err == nil:
			return nil, nil
		case errors.Is(err, unix.ERANGE):
			buf = nil
		case err != nil:
			return nil, err
		case len(buf) == 0:
			buf = make([]byte, n)
		default:
			return strings.FieldsFunc(string(buf[:n]), func(r rune) bool { return r == 0 }), nil
		}
	}
}

func attr(fd int, name string) ([]byte, error) {
	var buf []byte
	for {
		n, err := unix.Fgetxattr(fd, name, buf)
		switch {
		case errors.Is(err, unix.ERANGE):
			buf = nil
		case err != nil:
			return nil, err
		case len(buf) == 0 && n > 0:
			buf = make([]byte, n)
		default:
			return buf[:n], nil
		}
	}
}
