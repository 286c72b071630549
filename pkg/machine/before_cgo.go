//go:build cgo && unix

package machine

/*
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static int out_closed;

// This runs before Go's runtime, which opens /dev/null for standard streams that are
// closed. It also has all threads share one heap of the C library: otherwise each
// new thread maps one of 128 MiB first, only to free the words it was started with.
__attribute__((constructor)) static void before_go(void) {
	out_closed = fcntl(1, F_GETFD) < 0;
#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, 1);
#endif
}

static int was_closed(void) { return out_closed; }
*/
import "C"

// StdoutClosed reports whether this process was started with its standard output
// closed. Builds without cgo cannot tell.
func StdoutClosed() bool { return C.was_closed() != 0 }
