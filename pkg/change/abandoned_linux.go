package change

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// abandoned reports whether nobody but us has the file open: only then does
// the kernel grant a lease on it. It is not known where there are no leases.
func abandoned(f *os.File) (yes, known bool) {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK)
	return err == nil, err == nil || errors.Is(err, unix.EAGAIN)
}
