//go:build linux && !amd64

package job

// Where there are older calls than ppoll and pselect6, libraries use the new.
const (
	sysPoll      = -1
	sysSelect    = -2
	sysEpollWait = -3
)
