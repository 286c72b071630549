package job

import (
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// socketName is a name of the job's socket that fits into an address, however
// long the path of the directory is: one by way of an open descriptor.
func socketName(dir string) (name string, done func(), err error) {
	if long := filepath.Join(dir, socketFile); len(long) < 100 {
		return long, func() {}, nil
	}
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return "", nil, err
	}
	return "/proc/self/fd/" + strconv.Itoa(fd) + "/" + socketFile, func() { _ = unix.Close(fd) }, nil
}
