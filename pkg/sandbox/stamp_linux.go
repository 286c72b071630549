package sandbox

import (
	"fmt"
	"io/fs"
	"syscall"
)

// stampOf tells one state of a file from another by what no program can set back:
// the time of its last change of any kind. It is false where there is none.
func stampOf(i fs.FileInfo) (string, bool) {
	st, ok := i.Sys().(*syscall.Stat_t)
	if !ok {
		return "", false
	}
	return fmt.Sprint(st.Ino, " ", st.Size, " ", st.Ctim.Nano()), true
}
