package change

import (
	"os"

	"golang.org/x/sys/unix"
)

// abandoned reports whether nobody but us has the file open: only then does
// the kernel grant a lease on it.
func abandoned(f *os.File) bool {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK)
	return err == nil
}
