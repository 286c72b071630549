package workspace

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// fileLinks counts the hard links of a file; f is nil when it cannot be read.
func fileLinks(f *os.File, _ fs.FileInfo) uint64 {
	if f == nil {
		return 0
	}
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info); err != nil {
		return 0
	}
	return uint64(info.NumberOfLinks)
}
