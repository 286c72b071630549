//go:build cgo && unix

package machine

/*
#include <fcntl.h>

static int out_closed;

// Go's runtime opens /dev/null for standard streams that are closed, before any of
// our code runs but after this.
__attribute__((constructor)) static void look_at_stdout(void) { out_closed = fcntl(1, F_GETFD) < 0; }

static int was_closed(void) { return out_closed; }
*/
import "C"

// StdoutClosed reports whether this process was started with its standard output
// closed. Builds without cgo cannot tell.
func StdoutClosed() bool { return C.was_closed() != 0 }
